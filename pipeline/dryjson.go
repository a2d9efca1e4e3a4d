package pipeline

import (
	"strconv"

	"varve/engine/jsontext"
	"varve/engine/vector"
)

// AppendSchema appends a table with its columns as JSON, its brace left open.
func (t *DryTable) AppendSchema(dst []byte) []byte {
	dst = jsontext.AppendString(append(dst, `{"table_name":`...), t.Name)
	dst = append(dst, `,"schema":[`...)
	for i, c := range t.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(append(dst, `{"name":`...), c.Name)
		dst = append(dst, `,"data_type":"`+WireName(c.Type)+`","column_type":"`+c.Semantic.String()+`","fulltext":`...)
		dst = append(strconv.AppendBool(dst, c.Fulltext), '}')
	}
	return append(dst, ']')
}

// AppendRow appends row r as JSON, each value with the name and the types of its column.
func (t *DryTable) AppendRow(dst []byte, r int) []byte {
	dst = append(dst, '[')
	for i, c := range t.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(append(dst, `{"key":`...), c.Name)
		dst = append(dst, `,"data_type":"`+WireName(c.Type)+`","semantic_type":"`+c.Semantic.String()+`","value":`...)
		dst = append(appendDryValue(dst, t.Rows.Cols[i], r), '}')
	}
	return append(dst, ']')
}

// appendDryValue appends row r of a column: times as numbers, JSON as it is.
func appendDryValue(dst []byte, v *vector.Vector, r int) []byte {
	if v.IsNull(r) {
		return append(dst, "null"...)
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.AppendBool(dst, v.Bool(r))
	case vector.Int64:
		return strconv.AppendInt(dst, v.Int(r), 10)
	case vector.Uint64:
		return strconv.AppendUint(dst, v.Uint(r), 10)
	case vector.Float64:
		return jsontext.AppendFloat(dst, v.Float(r))
	}
	if v.Type == vector.JSONType {
		return append(dst, v.Bytes(r)...)
	}
	return jsontext.AppendString(dst, v.Bytes(r))
}
