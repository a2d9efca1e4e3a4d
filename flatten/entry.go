package flatten

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// The general reader: an entry as a tree, in the order in which the interface promises columns and errors.

// entry makes the row of the entry at buf[start:end], which is valid. Nothing of the row is left after an error; see
// dropRow.
func (d *Decoder) entry(start, end int) error {
	v, err := parseTree(d.buf[start:end], d.grow)
	if err != nil {
		return err
	}
	if v.kind != objectValue {
		return notObject(d.buf[start:end])
	}
	return d.row(v.fields(d.o.MaxDepth))
}

// row makes the row of flattened fields, which are in byte order of their names.
func (d *Decoder) row(fs []field) error {
	d.group.set = 0
	d.set = append(d.set[:0], d.time)
	err := d.setFields(fs)
	if err != nil {
		d.dropRow(d.set...)
		return err
	}
	return d.endRow()
}

// dropRow undoes the row in hand. The columns that it introduced stay, as pipelines promise, unless entries fail alone:
// there one must not take the places of columns from those behind it. set is as in vector.Builder.DropRow.
func (d *Decoder) dropRow(set ...*vector.ColumnBuilder) {
	if !d.o.AllFailures {
		d.b.DropRow(set...)
		return
	}
	if d.b.AbandonRow(set...) > 0 {
		d.unbindRow()
	}
}

func (d *Decoder) setFields(fs []field) error {
	if d.o.Time.Kind != Now {
		if err := d.setTime(fs); err != nil {
			return err
		}
	}
	for i := range fs {
		f := &fs[i]
		n := node{name: f.name}
		d.special(&n)
		switch n.kind {
		case unbound:
			if err := d.setColumn(f.name, &f.value); err != nil {
				return err
			}
		case isOption:
			if text, ok := f.value.optionText(); ok {
				d.group.take(n.option, text)
			}
		}
	}
	return nil
}

// optionText is the value of an option variable as text; null is none.
func (v *value) optionText() (text []byte, ok bool) {
	if v.kind == stringValue {
		return []byte(v.text), true
	}
	return v.appendText(nil), v.kind != nullValue
}

// setColumn puts a value into its column. null makes none.
func (d *Decoder) setColumn(name string, v *value) error {
	if v.kind == nullValue {
		return nil
	}
	if d.b.Lookup(name) == nil {
		if err := schema.CheckColumnName(name); err != nil {
			// name may lie in the buffer that is read into
			return &Subject{Err: err, Field: strings.Clone(name), Value: v.shown()}
		}
		if d.b.Columns() >= schema.MaxColumns {
			return status.New(status.InvalidArguments, "column %q: a request can have at most %d columns", name,
				schema.MaxColumns)
		}
		if !d.room() {
			return d.err
		}
	}
	c, err := d.column(name, v)
	if err != nil {
		return &Subject{Err: err, Field: strings.Clone(name), Value: v.shown(),
			Hint: clashHint(d.b.Lookup(name), v.columnType())}
	}
	d.set = append(d.set, c)
	switch v.kind {
	case boolValue:
		c.SetBool(v.int != 0)
	case intValue:
		c.SetInt(v.int)
	case floatValue:
		c.SetFloat(v.float)
	default:
		c.SetString(v.text)
	}
	return nil
}

// column finds or adds the column of a value. An integer is a float if its column is one, and a column of integers
// becomes one of floats with the first float, unless numbers are strict.
func (d *Decoder) column(name string, v *value) (*vector.ColumnBuilder, error) {
	c := d.b.Lookup(name)
	if c == nil {
		return d.newColumn(name, v)
	}
	if !d.o.StrictNumbers {
		switch {
		case v.kind == intValue && c.Type() == vector.FloatType:
			v.kind, v.float = floatValue, float64(v.int)
		case v.kind == floatValue && c.Type() == vector.Int64Type:
			d.widen(c)
		}
	}
	return d.b.Column(name, v.columnType())
}

// newColumn adds the column of a value: of its type, or of the type that the table has for it.
func (d *Decoder) newColumn(name string, v *value) (*vector.ColumnBuilder, error) {
	t := v.columnType()
	if d.o.TableType != nil {
		if of, ok := d.o.TableType(name); ok && of != t && slices.Contains(kindTypes[isInt:isString+1], of) {
			if _, err := d.b.Column(name, of); err != nil {
				return nil, err
			}
			return d.column(name, v)
		}
	}
	return d.b.Column(name, t)
}

// widen makes a column of integers one of floats.
func (d *Decoder) widen(c *vector.ColumnBuilder) {
	d.wide = true
	c.Widen()
	if n := d.paths[c.Name()]; n != nil && n.kind == isInt {
		n.kind = isFloat
	}
}

// clashHint is what helps against the clash of a value of type t with a column of numbers; nothing elsewhere.
func clashHint(c *vector.ColumnBuilder, t vector.Type) string {
	if c == nil {
		return ""
	}
	return NumbersHint(c.Type(), t)
}

// NumbersHint is what helps where a value of type got meets a column of type want, if both are numbers: they clash only
// where somebody wants it.
func NumbersHint(want, got vector.Type) string {
	if want == vector.FloatType && got == vector.Int64Type || want == vector.Int64Type && got == vector.FloatType {
		return "integers and floats are two kinds because of widen_numbers=false, of the request or as " +
			"ingest.widen_numbers of the configuration"
	}
	return ""
}

// shown is the value as error texts show it.
func (v *value) shown() string { return string(v.appendText(nil)) }

func (v *value) columnType() vector.Type {
	switch v.kind {
	case boolValue:
		return vector.BoolType
	case intValue:
		return vector.Int64Type
	case floatValue:
		return vector.FloatType
	}
	return vector.StringType
}

// setTime puts the time of a custom time index into its column.
func (d *Decoder) setTime(fs []field) error {
	t := &d.o.Time
	x, reason, shown := int64(0), "missing field", ""
	for i := range fs {
		if fs[i].name == t.Field {
			if x, reason = t.fromValue(&fs[i].value); reason != "" {
				shown = fs[i].value.shown()
			}
			break
		}
	}
	if reason != "" {
		if !d.o.IgnoreErrors {
			err := status.New(status.InvalidArguments, "Failed to cast type, msg: %s", reason)
			return &Subject{Err: err, Field: t.Field, Value: shown, Hint: t.tried()}
		}
		x = t.fromClock(d.now())
	}
	d.time.SetInt(x)
	return nil
}

// fromValue reads the time in the column's unit. reason says why it cannot be read; empty when it can.
func (t *TimeIndex) fromValue(v *value) (x int64, reason string) {
	switch {
	case v.kind == stringValue:
		if x, ok := t.fromText([]byte(v.text)); ok {
			return x, ""
		}
		if t.Kind == Epoch {
			return 0, fmt.Sprintf("failed to convert %s to number", Cut(v.text))
		}
		return 0, fmt.Sprintf("failed to parse date string: %s, format: %s", Cut(v.text), t.Format)
	case t.Kind == DateStr:
		return 0, fmt.Sprintf("unsupported value type to convert to date string: %s", Cut(v.shown()))
	case v.kind == intValue:
		return v.int, ""
	case v.kind == floatValue && v.float == math.Trunc(v.float) && math.Abs(v.float) < 1<<63:
		return int64(v.float), ""
	}
	return 0, fmt.Sprintf("unsupported value type to convert to timestamp: %s", Cut(v.shown()))
}

// tried says how a time was read.
func (t *TimeIndex) tried() string {
	if t.Kind == DateStr {
		return fmt.Sprintf("read by the format %s, which must give an offset from UTC", t.Format)
	}
	return "read as a whole number of " +
		map[uint8]string{0: "seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}[t.Unit] +
		" since 1970; a pipeline's epoch processor reads fractions"
}
