package vector

// Pick names row Row of source number Src.
type Pick struct{ Src, Row uint32 }

// Interleave appends picked rows of several vectors, in the order of the picks, to the Flat vector v that holds n rows.
// The sources have any form and v's kind; those that are not picked may be nil. Strings are copied into v's heap.
func (v *Vector) Interleave(n int, srcs []*Vector, picks []Pick) {
	if len(picks) == 0 {
		return
	}
	v.interleaveValid(n, srcs, picks)
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(n + len(picks))
		for i, p := range picks {
			if s, r := srcs[p.Src].index(int(p.Row)); r>>6 < len(s.Bools) && s.Bools.Get(r) {
				v.Bools.Set(n + i)
			}
		}
	case Int64:
		v.Ints = interleave(v.Ints, srcs, func(s *Vector) []int64 { return s.Ints }, picks)
	case Uint64:
		v.Uints = interleave(v.Uints, srcs, func(s *Vector) []uint64 { return s.Uints }, picks)
	case Float64:
		v.Floats = interleave(v.Floats, srcs, func(s *Vector) []float64 { return s.Floats }, picks)
	default:
		v.interleaveStrings(srcs, picks)
	}
}

// lane is where a source's values lie: row r is vals[r&mask], of a Dict vector vals[codes[r]].
type lane[T any] struct {
	vals  []T
	codes []uint32
	mask  uint32 // 0: Const
}

// fewLanes need no memory of their own: a merge of series of two or three samples comes here once a series.
const fewLanes = 8

// appendLanes appends the lanes of sources; those of a source that is nil are empty.
func appendLanes[T any](dst []lane[T], srcs []*Vector, values func(*Vector) []T) []lane[T] {
	for _, s := range srcs {
		var l lane[T]
		if s != nil {
			l = laneOf(s, values)
		}
		dst = append(dst, l)
	}
	return dst
}

func laneOf[T any](s *Vector, values func(*Vector) []T) lane[T] {
	switch s.Form {
	case Const:
		return lane[T]{vals: values(s)}
	case Dict:
		return lane[T]{values(s.Values), s.Codes, ^uint32(0)}
	}
	return lane[T]{vals: values(s), mask: ^uint32(0)}
}

func interleave[T any](dst []T, srcs []*Vector, values func(*Vector) []T, picks []Pick) []T {
	var few [fewLanes]lane[T]
	lanes := appendLanes(few[:0], srcs, values)
	at := len(dst)
	if cap(dst) < at+len(picks) {
		dst = append(make([]T, 0, max(at+len(picks), 2*at)), dst...)
	}
	dst = dst[:at+len(picks)]
	out := dst[at:]
	for i, p := range picks {
		l := &lanes[p.Src]
		r := p.Row & l.mask
		if l.codes != nil {
			if r = l.codes[r]; int(r) >= len(l.vals) { // NULL, in a vector without any value
				out[i] = *new(T)
				continue
			}
		}
		out[i] = l.vals[r]
	}
	return dst
}

// interleaveStrings copies the strings one by one, because neighbours come from different heaps.
func (v *Vector) interleaveStrings(srcs []*Vector, picks []Pick) {
	at := len(v.Views)
	v.Views = interleave(v.Views, srcs, func(s *Vector) []View { return s.Views }, picks)
	heaps := make([][]byte, len(srcs))
	for i, s := range srcs {
		if s != nil {
			if heaps[i] = s.Heap; s.Form == Dict {
				heaps[i] = s.Values.Heap
			}
		}
	}
	views := v.Views[at:]
	size := 0
	for i := range views {
		size += int(views[i].Len)
	}
	heap := v.Heap
	if cap(heap) < len(heap)+size {
		heap = append(make([]byte, 0, max(len(heap)+size, 2*len(heap))), heap...)
	}
	for i, p := range picks {
		w := views[i]
		views[i].Off = uint32(len(heap))
		heap = append(heap, heaps[p.Src][w.Off:w.Off+w.Len]...)
	}
	v.Heap = heap
}

func (v *Vector) interleaveValid(n int, srcs []*Vector, picks []Pick) {
	nulls := v.Valid != nil
	for _, s := range srcs {
		nulls = nulls || s != nil && s.Valid != nil
	}
	if !nulls {
		return
	}
	if v.Valid == nil {
		v.Valid = MakeBitmap(n)
		v.Valid.Fill(n)
	}
	v.Valid = v.Valid.resize(n + len(picks))
	for i, p := range picks {
		if !srcs[p.Src].IsNull(int(p.Row)) {
			v.Valid.Set(n + i)
		}
	}
}
