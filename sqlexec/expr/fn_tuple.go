package expr

import (
	"varve/engine/convert"
	"varve/engine/vector"
)

// Tuples have no type of their own: where different ones are counted, bytes that are equal for equal tuples stand for them.

func init() {
	for name, some := range map[string]bool{"tuple key": false, "tuple key without null": true} {
		register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: func(_ *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			return args, vector.BinaryType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				for i := range n {
					if some && anyNull(a, i) {
						out.AppendNulls(i, 1)
						continue
					}
					at := len(out.Heap)
					for _, v := range a {
						out.Heap = AppendKey(out.Heap, v, i)
					}
					out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
					if out.Valid != nil {
						out.Valid = growBit(out.Valid, i)
					}
				}
				return nil
			}, nil
		}}, name)
	}
}

func anyNull(list []*vector.Vector, i int) bool {
	for _, v := range list {
		if v.IsNull(i) {
			return true
		}
	}
	return false
}

// Elements gives a JSON value, or a text of one, as the list of its elements, which are of type t: NULL where it is no array.
func Elements(x Expr, t vector.Type) Expr {
	return &Call{Fn: elementsFunction, Args: []Expr{x}, T: vector.List(t), k: elementsOf}
}

var elementsFunction = &Function{Name: "elements", makesNull: true}

func elementsOf(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	for i := range n {
		if valid == nil || valid.Get(i) {
			if b, ok := convert.CompactJSON(a[0].Bytes(i)); ok && len(b) > 0 && b[0] == '[' {
				pushBytes(out, b)
				if out.Valid != nil {
					out.Valid = growBit(out.Valid, i)
				}
				continue
			}
		}
		out.AppendNulls(i, 1)
	}
	return nil
}
