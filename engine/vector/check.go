package vector

import "varve/engine/invariant"

// Check holds what every batch must be: each column has a value, or is NULL, for each row. For builds with invariants.
func (b *Batch) Check() {
	invariant.Check(b.N > 0 && b.N <= Size, "a batch of %d rows", b.N)
	for _, c := range b.Cols {
		c.Check(b.N)
	}
}

// Check holds that a vector has n rows.
func (v *Vector) Check(n int) {
	if v.Form == Const {
		n = 1
	}
	invariant.Check(v.Valid == nil || len(v.Valid) >= Words(n), "%s of %d rows has validity for %d", v.Type, n,
		len(v.Valid)*64)
	if v.Form == Dict {
		invariant.Check(len(v.Codes) >= n && v.Values.Form == Flat && v.Values.Valid == nil,
			"%s of %d rows has %d codes", v.Type, n, len(v.Codes))
		for i, code := range v.Codes[:n] {
			invariant.Check(int(code) < v.Values.Len() || v.Values.Len() == 0 && v.IsNull(i), "code %d of %d values",
				code, v.Values.Len())
		}
		return
	}
	switch v.Type.Kind() {
	case Bool:
		invariant.Check(len(v.Bools) >= Words(n), "%s of %d rows has %d", v.Type, n, len(v.Bools)*64)
	case Int64:
		invariant.Check(len(v.Ints) >= n, "%s of %d rows has %d", v.Type, n, len(v.Ints))
	case Uint64:
		invariant.Check(len(v.Uints) >= n, "%s of %d rows has %d", v.Type, n, len(v.Uints))
	case Float64:
		invariant.Check(len(v.Floats) >= n, "%s of %d rows has %d", v.Type, n, len(v.Floats))
	default:
		invariant.Check(len(v.Views) >= n, "%s of %d rows has %d", v.Type, n, len(v.Views))
		for i, w := range v.Views[:n] {
			invariant.Check(v.IsNull(i) || int(w.Off)+int(w.Len) <= len(v.Heap), "row %d is %d bytes at %d of %d", i,
				w.Len, w.Off, len(v.Heap))
		}
	}
}
