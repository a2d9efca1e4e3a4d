package expr

import (
	"varve/engine/convert"
	"varve/engine/vector"
)

// AppendText appends row i of v as CAST(.. AS STRING) gives it. The row is not NULL.
func AppendText(dst []byte, v *vector.Vector, i int) []byte {
	if v.Type.ID == vector.TypeList {
		return appendList(dst, v.Type.Elem(), v.Bytes(i))
	}
	return convert.AppendText(dst, v, i)
}

// appendList: [a, b], the elements as text, nothing for NULL.
func appendList(dst []byte, elem vector.Type, list []byte) []byte {
	v := &vector.Vector{}
	dst = append(dst, '[')
	for i, m := range listItems(list) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if v.Reset(elem); appendFromJSON(v, elem, 0, m) {
			dst = AppendText(dst, v, 0)
		}
	}
	return append(dst, ']')
}
