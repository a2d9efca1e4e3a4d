package flatten

import (
	"strconv"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// TimeKind says where the time index of a row comes from.
type TimeKind uint8

// Now fills the column service_timestamp with the clock; Epoch reads a count of units from a field; DateStr reads
// text with an offset through a layout.
const (
	Now TimeKind = iota
	Epoch
	DateStr
)

// DefaultTimeColumn is the time index of tables whose writer named none.
const DefaultTimeColumn = "service_timestamp"

// TimeIndex is a custom_time_index after parsing. The zero value is Now. Immutable.
type TimeIndex struct {
	Kind TimeKind
	// Field is the flattened name of the field that holds the time, and the column's name. Empty for Now.
	Field string
	// Unit is the precision of an Epoch column: 0, 3, 6 or 9.
	Unit uint8
	// Format is the strftime pattern of DateStr as given; Layout is it compiled.
	Format string
	Layout *timefmt.Layout
}

// Column is the name of the time index column.
func (t *TimeIndex) Column() string {
	if t.Kind == Now {
		return DefaultTimeColumn
	}
	return t.Field
}

// Type is the type of the time index column.
func (t *TimeIndex) Type() vector.Type {
	if t.Kind == Epoch {
		return vector.Timestamp(t.Unit)
	}
	return vector.Timestamp(9)
}

// ParseTimeIndex reads a custom_time_index: <field>;epoch;<s|ms|us|ns> or <field>;datestr;<format>. Empty text is Now.
// Errors are InvalidArguments.
func ParseTimeIndex(config string) (TimeIndex, error) {
	if config == "" {
		return TimeIndex{}, nil
	}
	bad := func(reason string) (TimeIndex, error) {
		return TimeIndex{}, status.New(status.InvalidArguments, "Invalid custom time index config: %s, reason: %s",
			config, reason)
	}
	parts := strings.Split(config, ";")
	if len(parts) != 3 || parts[0] == "" {
		return bad("config format: '<field>;<type>;<config>'")
	}
	if err := schema.CheckColumnName(parts[0]); err != nil {
		return bad(err.Error())
	}
	t := TimeIndex{Field: parts[0]}
	switch parts[1] {
	case "epoch":
		t.Kind = Epoch
		switch parts[2] {
		case "s":
			t.Unit = 0
		case "ms":
			t.Unit = 3
		case "us":
			t.Unit = 6
		case "ns":
			t.Unit = 9
		default:
			return bad("epoch type must be one of ns, us, ms, s")
		}
	case "datestr":
		t.Kind, t.Format = DateStr, parts[2]
		layout, err := timefmt.Compile(t.Format)
		if err != nil {
			return bad(err.Error())
		}
		t.Layout = layout
	default:
		return bad("identity time index type must be one of epoch, datestr")
	}
	return t, nil
}

// fromText reads the time of a field that holds text, in the column's unit.
func (t *TimeIndex) fromText(text []byte) (x int64, ok bool) {
	if t.Kind == Epoch {
		return parseInt(text)
	}
	x, hasOffset, err := t.Layout.Parse(view(text), nil)
	return x, err == nil && hasOffset
}

// fromClock returns ns in the column's unit.
func (t *TimeIndex) fromClock(ns int64) int64 {
	if t.Kind == Epoch {
		for range 9 - t.Unit {
			ns /= 10
		}
	}
	return ns
}

// parseInt reads a signed 64-bit integer: an optional sign and digits, nothing else.
func parseInt(text []byte) (x int64, ok bool) {
	x, err := strconv.ParseInt(view(text), 10, 64)
	return x, err == nil
}
