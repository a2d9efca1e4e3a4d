package result

import (
	"bytes"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// csvCell writes the values of v as RFC 4180 fields: NULL is empty, a text is quoted only when it must be, and other
// values are their JSON text without the quotes of strings.
func csvCell(v *vector.Vector) cell {
	write := valueCell(v)
	switch {
	case v.Type.ID == vector.TypeString:
		write = func(dst []byte, i int) []byte { return appendCSV(dst, v.Bytes(i)) }
	case v.Type.ID == vector.TypeDecimal:
		write = func(dst []byte, i int) []byte { return appendDecimal(dst, v.Bytes(i), v.Type.Scale) }
	case v.Type.ID == vector.TypeInterval:
		write = func(dst []byte, i int) []byte { return expr.AppendText(dst, v, i) }
	case v.Type.ID == vector.TypeNull:
		write = func(dst []byte, _ int) []byte { return dst }
	case v.Type.Kind() == vector.Float64:
		write = func(dst []byte, i int) []byte { return convert.AppendFloat(dst, v.Float(i), 64) }
	case v.Type.Kind() == vector.Bytes:
		value := write
		var text []byte
		write = func(dst []byte, i int) []byte {
			text = value(text[:0], i)
			return appendCSV(dst, text)
		}
	}
	if v.Valid == nil {
		return write
	}
	return func(dst []byte, i int) []byte {
		if v.IsNull(i) {
			return dst
		}
		return write(dst, i)
	}
}

// tableCell writes the values of v as jsonCell does, but also NaN and the infinities, for which JSON has no number.
func tableCell(v *vector.Vector) cell {
	if v.Type.Kind() != vector.Float64 {
		return jsonCell(v)
	}
	return func(dst []byte, i int) []byte {
		if v.IsNull(i) {
			return append(dst, "null"...)
		}
		return convert.AppendFloat(dst, v.Float(i), 64)
	}
}

// appendCSV appends a field, quoted when it holds a quote, a comma or a line end.
func appendCSV(dst, text []byte) []byte {
	if bytes.IndexByte(text, '"') < 0 {
		if bytes.IndexByte(text, ',') < 0 && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
			return append(dst, text...)
		}
		return append(append(append(dst, '"'), text...), '"')
	}
	dst = append(dst, '"')
	for _, b := range text {
		if b == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, b)
	}
	return append(dst, '"')
}

// appendLine appends a line of texts made of the fields.
func appendLine(dst []byte, fields []vector.Field, text func(vector.Field) string) []byte {
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCSV(dst, []byte(text(f)))
	}
	return append(dst, '\r', '\n')
}
