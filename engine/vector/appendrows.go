package vector

// AppendRows appends the rows of src with the given numbers, in their order, to the Flat vector v that holds n rows.
// src has any form and the same kind. Strings are copied into v's heap.
func (v *Vector) AppendRows(n int, src *Vector, rows []uint32) {
	if len(rows) == 0 {
		return
	}
	if src.Form == Const {
		v.Append(n, src, 0, len(rows))
		return
	}
	v.appendValidRows(n, src, rows)
	if src.Form == Dict {
		if src.Values.rows() == 0 {
			v.growZero(n + len(rows))
			return
		}
		v.appendCoded(n, src, rows)
		return
	}
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(n + len(rows))
		for i, r := range rows {
			at := uint(n + i)
			v.Bools[at>>6] |= (src.Bools[r>>6] >> (r & 63) & 1) << (at & 63)
		}
	case Int64:
		v.Ints = appendGathered(v.Ints, src.Ints, rows)
	case Uint64:
		v.Uints = appendGathered(v.Uints, src.Uints, rows)
	case Float64:
		v.Floats = appendGathered(v.Floats, src.Floats, rows)
	default:
		for _, r := range rows {
			w := src.Views[r]
			v.Views = append(v.Views, View{uint32(len(v.Heap)), w.Len})
			v.Heap = append(v.Heap, src.Heap[w.Off:w.Off+w.Len]...)
		}
	}
}

// appendCoded appends the values behind the codes of a Dict vector.
func (v *Vector) appendCoded(n int, src *Vector, rows []uint32) {
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(n + len(rows))
		for i, r := range rows {
			if src.Values.Bools.Get(int(src.Codes[r])) {
				v.Bools.Set(n + i)
			}
		}
	case Int64:
		for _, r := range rows {
			v.Ints = append(v.Ints, src.Values.Ints[src.Codes[r]])
		}
	case Uint64:
		for _, r := range rows {
			v.Uints = append(v.Uints, src.Values.Uints[src.Codes[r]])
		}
	case Float64:
		for _, r := range rows {
			v.Floats = append(v.Floats, src.Values.Floats[src.Codes[r]])
		}
	default:
		for _, r := range rows {
			w := src.Values.Views[src.Codes[r]]
			v.Views = append(v.Views, View{uint32(len(v.Heap)), w.Len})
			v.Heap = append(v.Heap, src.Values.Heap[w.Off:w.Off+w.Len]...)
		}
	}
}

func (v *Vector) appendValidRows(n int, src *Vector, rows []uint32) {
	if src.Valid == nil && v.Valid == nil {
		return
	}
	if v.Valid == nil {
		v.Valid = MakeBitmap(n)
		v.Valid.Fill(n)
	}
	if src.Valid == nil {
		v.Valid = v.Valid.appendBits(n, nil, 0, len(rows))
		return
	}
	v.Valid = v.Valid.resize(n + len(rows))
	for i, r := range rows {
		at := uint(n + i)
		v.Valid[at>>6] |= (src.Valid[r>>6] >> (r & 63) & 1) << (at & 63)
	}
}

func appendGathered[T any](dst, src []T, rows []uint32) []T {
	at := len(dst)
	if cap(dst) < at+len(rows) {
		dst = append(make([]T, 0, max(at+len(rows), 2*at)), dst...)
	}
	dst = dst[:at+len(rows)]
	out := dst[at:]
	for i, r := range rows {
		out[i] = src[r]
	}
	return dst
}

// AppendAll appends all n rows of a Flat vector to the Flat vector v, which holds at rows. Strings that share bytes
// still share them: src's heap is copied as a whole.
func (v *Vector) AppendAll(at int, src *Vector, n int) {
	if v.Type.Kind() != Bytes {
		v.Append(at, src, 0, n)
		return
	}
	v.appendValid(at, src, 0, n)
	base := uint32(len(v.Heap))
	v.Heap = append(v.Heap, src.Heap...)
	for _, w := range src.Views[:n] {
		v.Views = append(v.Views, View{base + w.Off, w.Len})
	}
}
