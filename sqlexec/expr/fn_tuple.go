package expr

import (
	"varve/engine/vector"
)

// Tuples have no type of their own: where different ones are counted, bytes that are equal for equal tuples stand for
// them.

func init() {
	for name, some := range map[string]bool{"tuple key": false, "tuple key without null": true} {
		register(&Function{lazy: true, makesNull: true, min: 1, max: -1,
			bind: func(_ *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
				return args, vector.BinaryType,
					func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
						for i := range n {
							if some && anyNull(a, i) {
								out.AppendNulls(i, 1)
								continue
							}
							if err := makeRoom(out, joined(a, 0, i)); err != nil {
								return err
							}
							at := len(out.Heap)
							for _, v := range a {
								out.Heap = AppendKey(out.Heap, v, i)
							}
							if err := endText(out, at); err != nil {
								return err
							}
							if out.Valid != nil {
								out.Valid = out.Valid.With(i)
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
