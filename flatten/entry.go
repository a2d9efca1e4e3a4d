package flatten

import (
	"fmt"

	"varve/engine/status"
	"varve/engine/vector"
)

// The general reader: an entry as a tree, in the order in which the interface promises columns and errors.

// entry makes the row of the entry at buf[start:end], which is valid. Nothing of the row is left after an error,
// except the columns that came before it.
func (d *Decoder) entry(start, end int) error {
	v, err := parseTree(d.buf[start:end])
	if err != nil {
		return err
	}
	if v.kind != objectValue {
		return errNotObject
	}
	return d.row(v.fields(d.o.MaxDepth))
}

// row makes the row of flattened fields, which are in byte order of their names.
func (d *Decoder) row(fs []field) error {
	d.group.set = 0
	d.set = append(d.set[:0], d.time)
	err := d.setFields(fs)
	if err != nil {
		d.b.DropRow(d.set...)
		return err
	}
	return d.endRow()
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
		if len(name) > maxNameBytes {
			return status.New(status.InvalidArguments, "column name of %d bytes is longer than %d: %.64s...", len(name), maxNameBytes, name)
		}
		if d.b.Columns() >= maxColumns {
			return status.New(status.InvalidArguments, "column %q: a request can have at most %d columns", name, maxColumns)
		}
	}
	c, err := d.b.Column(name, v.columnType())
	if err != nil {
		return err
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
	x, reason := int64(0), "missing field"
	for i := range fs {
		if fs[i].name == t.Field {
			x, reason = t.fromValue(&fs[i].value)
			break
		}
	}
	if reason != "" {
		if !d.o.IgnoreErrors {
			return status.New(status.InvalidArguments, "Failed to cast type, msg: %s", reason)
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
			return 0, fmt.Sprintf("failed to convert %s to number", v.text)
		}
		return 0, fmt.Sprintf("failed to parse date string: %s, format: %s", v.text, t.Format)
	case t.Kind == DateStr:
		return 0, fmt.Sprintf("unsupported value type to convert to date string: %s", v.appendText(nil))
	case v.kind == intValue:
		return v.int, ""
	}
	return 0, fmt.Sprintf("unsupported value type to convert to timestamp: %s", v.appendText(nil))
}
