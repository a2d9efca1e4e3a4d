package rowfile

import (
	"bytes"
	"io"
	"math"
	"strings"
	"time"

	"varve/engine/convert"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// writeAt is the size of the text that is written at once.
const writeAt = 256 << 10

// textWriter writes CSV and JSON.
type textWriter struct {
	out   io.WriteCloser
	times Times
	rows  func(t *textWriter, b *vector.Batch)
	csv   csvForm
	buf   []byte
}

// Write appends the rows of a batch.
func (t *textWriter) Write(b *vector.Batch) error {
	t.rows(t, b)
	if len(t.buf) < writeAt {
		return nil
	}
	return t.flush()
}

func (t *textWriter) flush() error {
	_, err := t.out.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}

// Close writes the rest and ends the compression.
func (t *textWriter) Close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.out.Close()
}

// cell appends row i of a column, which is not NULL.
type cell func(dst []byte, i int) []byte

// text prints the values of a column as text.
func (t *textWriter) text(v *vector.Vector) cell {
	var layout *timefmt.Layout
	switch v.Type.ID {
	case vector.TypeTimestamp:
		layout = t.times.Timestamp
	case vector.TypeDate:
		layout = t.times.Date
	case vector.TypeTime:
		layout = t.times.Time
	case vector.TypeList: // as JSON
		return func(dst []byte, i int) []byte { return append(dst, v.Bytes(i)...) }
	}
	if layout == nil {
		return func(dst []byte, i int) []byte { return expr.AppendText(dst, v, i) }
	}
	unit := v.Type.UnitsPerSecond()
	return func(dst []byte, i int) []byte {
		x := v.Int(i)
		if unit == 0 {
			return layout.AppendSeconds(dst, x*86400, 0, time.UTC)
		}
		sec, rest := timefmt.FloorDiv(x, unit), timefmt.FloorMod(x, unit)
		return layout.AppendSeconds(dst, sec, int32(rest*(1e9/unit)), time.UTC)
	}
}

// csvForm has the separator of CSV fields, and the characters that require quotes.
type csvForm struct {
	comma   byte
	special string
}

// newCSVForm is the form with a delimiter; 0 is the comma.
func newCSVForm(delimiter byte) csvForm {
	if delimiter == 0 {
		delimiter = ','
	}
	return csvForm{delimiter, string(delimiter) + "\"\r\n"}
}

func (c csvForm) appendNames(dst []byte, fields []vector.Field) []byte {
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, c.comma)
		}
		from := len(dst)
		dst = c.quote(append(dst, f.Name...), from)
	}
	return append(dst, '\n')
}

// csvRows appends rows as lines.
func csvRows(t *textWriter, b *vector.Batch) {
	cells := make([]cell, len(b.Cols))
	for c, v := range b.Cols {
		cells[c] = t.text(v)
	}
	dst := t.buf
	for i := range b.N {
		for c, v := range b.Cols {
			if c > 0 {
				dst = append(dst, t.csv.comma)
			}
			if v.IsNull(i) {
				continue
			}
			from := len(dst)
			dst = t.csv.quote(cells[c](dst, i), from)
		}
		dst = append(dst, '\n')
	}
	t.buf = dst
}

// quote puts the field dst[from:] in quotes where it needs them. The empty text does: an empty field is NULL.
func (c csvForm) quote(dst []byte, from int) []byte {
	field := dst[from:]
	if len(field) > 0 && !bytes.ContainsAny(field, c.special) {
		return dst
	}
	text := strings.ReplaceAll(string(field), `"`, `""`)
	return append(append(append(dst[:from], '"'), text...), '"')
}

// jsonRows makes the printer of rows as objects.
func jsonRows(fields []vector.Field) func(*textWriter, *vector.Batch) {
	names := make([][]byte, len(fields))
	for k, f := range fields {
		names[k] = append(convert.AppendString(nil, []byte(f.Name)), ':')
	}
	return func(t *textWriter, b *vector.Batch) {
		cells := make([]cell, len(b.Cols))
		for c, v := range b.Cols {
			cells[c] = t.json(v)
		}
		dst := t.buf
		for i := range b.N {
			dst = append(dst, '{')
			for c, v := range b.Cols {
				if c > 0 {
					dst = append(dst, ',')
				}
				dst = append(dst, names[c]...)
				if v.IsNull(i) {
					dst = append(dst, "null"...)
				} else {
					dst = cells[c](dst, i)
				}
			}
			dst = append(dst, '}', '\n')
		}
		t.buf = dst
	}
}

// json prints the values of a column as JSON: what has no form of its own there as text.
func (t *textWriter) json(v *vector.Vector) cell {
	text := t.text(v)
	switch {
	case v.Type.ID == vector.TypeBool, v.Type.IsInteger(), v.Type.ID == vector.TypeJSON, v.Type.ID == vector.TypeList:
		return text
	case v.Type.Kind() == vector.Float64:
		return func(dst []byte, i int) []byte {
			if f := v.Float(i); math.IsNaN(f) || math.IsInf(f, 0) {
				return append(text(append(dst, '"'), i), '"')
			}
			return text(dst, i)
		}
	case v.Type.IsText():
		return func(dst []byte, i int) []byte { return convert.AppendString(dst, v.Bytes(i)) }
	}
	var scratch []byte
	return func(dst []byte, i int) []byte {
		scratch = text(scratch[:0], i)
		return convert.AppendString(dst, scratch)
	}
}
