// Package index holds the indexes that let a part skip blocks: zone maps, postings and token filters. An index may
// claim that a block has a value that it lacks, never the opposite.
//
//	zone.go             least, greatest, number of values
//	postings.go         blocks by value of a dictionary
//	tokens.go bloom.go  words of texts, filters over them
//	grams.go            what is within words
package index

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"varve/engine/filter"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// MaxBound is the length to which bounds of strings are cut: a longer bound rarely excludes more.
const MaxBound = 32

// Zones are the bounds of one column in every block of a part.
type Zones struct {
	Type vector.Type
	// Nulls[i] is the number of NULLs in block i.
	Nulls []uint64
	// Min and Max are Flat, one row a block; NULL where a block has no value. Strings are cut at MaxBound bytes.
	Min, Max *vector.Vector
	// MaxCut are the blocks whose Max is cut.
	MaxCut vector.Bitmap
}

// NewZones are zones without blocks, to be added to.
func NewZones(t vector.Type) *Zones {
	return &Zones{Type: t, Min: &vector.Vector{Type: t}, Max: &vector.Vector{Type: t}}
}

// Add appends the zone of a block: n rows of the Flat vector v.
func (z *Zones) Add(v *vector.Vector, n int) {
	at := len(z.Nulls)
	nulls := 0
	if v.Valid != nil {
		nulls = n - v.Valid[:vector.Words(n)].Count()
	}
	z.Nulls = append(z.Nulls, uint64(nulls))
	if at>>6 == len(z.MaxCut) {
		z.MaxCut = append(z.MaxCut, 0)
	}
	if nulls == n {
		z.Min.AppendNulls(at, 1)
		z.Max.AppendNulls(at, 1)
		return
	}
	lo, hi := bounds(v, n, nulls > 0)
	if v.Type.Kind() == vector.Bytes {
		z.addBytes(at, v.Bytes(lo), v.Bytes(hi))
		return
	}
	one := *v // only Append looks at it; rows lo and hi are not NULL
	one.Valid = nil
	z.Min.Append(at, &one, lo, lo+1)
	z.Max.Append(at, &one, hi, hi+1)
}

// AddZone appends the zone of a block of other zones of the same type.
func (z *Zones) AddZone(o *Zones, block int) {
	at := len(z.Nulls)
	z.Nulls = append(z.Nulls, o.Nulls[block])
	if at>>6 == len(z.MaxCut) {
		z.MaxCut = append(z.MaxCut, 0)
	}
	if o.MaxCut.Get(block) {
		z.MaxCut.Set(at)
	}
	z.Min.Append(at, o.Min, block, block+1)
	z.Max.Append(at, o.Max, block, block+1)
}

func (z *Zones) addBytes(at int, lo, hi []byte) {
	z.Min.Append(at, vector.ConstBytes(z.Type, lo[:min(len(lo), MaxBound)]), 0, 1)
	z.Max.Append(at, vector.ConstBytes(z.Type, hi[:min(len(hi), MaxBound)]), 0, 1)
	if len(hi) > MaxBound {
		z.MaxCut.Set(at)
	}
}

// bounds returns the rows of the least and the greatest value of a block that has one.
func bounds(v *vector.Vector, n int, nulls bool) (lo, hi int) {
	switch v.Type.Kind() {
	case vector.Bool:
		return boundsBy(v, n, func(a, b int) bool { return !v.Bools.Get(a) && v.Bools.Get(b) })
	case vector.Int64:
		if !nulls {
			return boundsOf(v.Ints[:n])
		}
		return boundsBy(v, n, func(a, b int) bool { return v.Ints[a] < v.Ints[b] })
	case vector.Uint64:
		if !nulls {
			return boundsOf(v.Uints[:n])
		}
		return boundsBy(v, n, func(a, b int) bool { return v.Uints[a] < v.Uints[b] })
	case vector.Float64: // NaN is the greatest
		return boundsBy(v, n, func(a, b int) bool {
			x, y := v.Floats[a], v.Floats[b]
			return x < y || y != y && x == x
		})
	}
	if v.Type.ID == vector.TypeDecimal {
		order := filter.OrderOf(v.Type)
		return boundsBy(v, n, func(a, b int) bool { return order(v.Bytes(a), v.Bytes(b)) < 0 })
	}
	return boundsOfBytes(v, n, nulls)
}

// boundsOfBytes compares the first eight bytes as numbers, and the rest only where they are equal.
func boundsOfBytes(v *vector.Vector, n int, nulls bool) (lo, hi int) {
	first := 0
	for v.IsNull(first) {
		first++
	}
	lo, hi = first, first
	least, greatest := v.Bytes(lo), v.Bytes(hi)
	low := head(least)
	high := low
	for i := first + 1; i < n; i++ {
		if nulls && !v.Valid.Get(i) {
			continue
		}
		w := v.Views[i]
		x := v.Heap[w.Off : w.Off+w.Len]
		h := head(x)
		if h < low || h == low && bytes.Compare(x, least) < 0 {
			lo, least, low = i, x, h
		} else if h > high || h == high && bytes.Compare(x, greatest) > 0 {
			hi, greatest, high = i, x, h
		}
	}
	return lo, hi
}

// head is the first eight bytes as a number of the same order; shorter strings are filled up with zeros.
func head(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (56 - 8*i)
	}
	return x
}

// AddDictionary appends the zone of a block whose values are some of a dictionary's: codes holds each that occurs,
// nulls is the number of NULLs.
func (z *Zones) AddDictionary(views []vector.View, heap []byte, codes []uint32, nulls int) {
	v := &vector.Vector{Type: z.Type, Heap: heap, Views: make([]vector.View, len(codes))}
	for i, c := range codes {
		v.Views[i] = views[c]
	}
	z.Add(v, len(codes))
	z.Nulls[len(z.Nulls)-1] = uint64(nulls)
}

func boundsOf[T int64 | uint64](v []T) (lo, hi int) {
	least, greatest := v[0], v[0]
	for i, x := range v {
		if x < least {
			lo, least = i, x
		}
		if x > greatest {
			hi, greatest = i, x
		}
	}
	return lo, hi
}

func boundsBy(v *vector.Vector, n int, less func(a, b int) bool) (lo, hi int) {
	lo = -1
	for i := range n {
		if v.IsNull(i) {
			continue
		}
		if lo < 0 {
			lo, hi = i, i
			continue
		}
		if less(i, lo) {
			lo = i
		}
		if less(hi, i) {
			hi = i
		}
	}
	return lo, hi
}

// Append appends the zones in their encoded form: NULL counts, least values, greatest values, cuts.
func (z *Zones) Append(dst []byte, e *encoding.Encoder) []byte {
	n := len(z.Nulls)
	dst = e.AppendUints(dst, z.Nulls)
	if n == 0 {
		return dst
	}
	dst = e.AppendVector(dst, z.Min, n)
	dst = e.AppendVector(dst, z.Max, n)
	return e.AppendVector(dst, &vector.Vector{Type: vector.BoolType, Bools: z.MaxCut}, n)
}

// ReadZones reads the zones of n blocks, and gives the bytes that follow; rows gives the rows of each block.
func ReadZones(src []byte, t vector.Type, n int, rows func(block int) int) (z *Zones, rest []byte, err error) {
	var d encoding.Decoder
	nulls, rest, err := d.Uints(src, n)
	if err != nil {
		return nil, nil, err
	}
	if len(nulls) != n {
		return nil, nil, fmt.Errorf("%w: zones of %d blocks, want %d", encoding.ErrMalformed, len(nulls), n)
	}
	z = &Zones{Type: t, Nulls: nulls, Min: &vector.Vector{Type: t}, Max: &vector.Vector{Type: t}}
	if n == 0 {
		return z, rest, nil
	}
	if z.Min, rest, err = d.Vector(rest, t, n); err != nil {
		return nil, nil, err
	}
	if z.Max, rest, err = d.Vector(rest, t, n); err != nil {
		return nil, nil, err
	}
	cuts, rest, err := d.Vector(rest, vector.BoolType, n)
	if err != nil {
		return nil, nil, err
	}
	z.MaxCut = cuts.Bools
	for i, k := range nulls {
		empty := k == uint64(rows(i))
		if k > uint64(rows(i)) || z.Min.IsNull(i) != empty || z.Max.IsNull(i) != empty {
			return nil, nil, fmt.Errorf("%w: zone of block %d does not fit its rows", encoding.ErrMalformed, i)
		}
	}
	return z, rest, nil
}

// Bytes64 is the memory held.
func (z *Zones) Bytes64() int64 {
	n := len(z.Nulls)
	return z.Min.Bytes64(n) + z.Max.Bytes64(n) + int64(8*n+8*len(z.MaxCut))
}

// Stat fills s from the zone of block i.
func (z *Zones) Stat(s *filter.Stat, i, rows int) {
	s.Rows, s.Nulls, s.At = rows, int(z.Nulls[i]), i
	s.Min, s.Max, s.MaxCut = z.Min, z.Max, z.MaxCut.Get(i)
}

// Extremes returns the blocks with the least and the greatest value of the part; ok is false if there is no value, or
// if strings are cut, so that the bounds are not values.
func (z *Zones) Extremes() (lo, hi int, ok bool) {
	n := len(z.Nulls)
	lo = -1
	for i := range n {
		if z.Min.IsNull(i) {
			continue
		}
		if lo < 0 {
			lo, hi = i, i
			continue
		}
		if filter.Compare(z.Min, i, z.Min, lo) < 0 {
			lo = i
		}
		if filter.Compare(z.Max, hi, z.Max, i) < 0 {
			hi = i
		}
	}
	if lo < 0 {
		return 0, 0, false
	}
	if z.Type.Kind() == vector.Bytes && (len(z.Min.Bytes(lo)) == MaxBound || len(z.Max.Bytes(hi)) == MaxBound) {
		return 0, 0, false
	}
	return lo, hi, true
}

// Equal compares zones for a check: the zones of the file with those of the values.
func (z *Zones) Equal(o *Zones) bool {
	if len(z.Nulls) != len(o.Nulls) {
		return false
	}
	for i := range z.Nulls {
		if z.Nulls[i] != o.Nulls[i] || z.Min.IsNull(i) != o.Min.IsNull(i) || z.MaxCut.Get(i) != o.MaxCut.Get(i) {
			return false
		}
		if z.Min.IsNull(i) {
			continue
		}
		if filter.Compare(z.Min, i, o.Min, i) != 0 || filter.Compare(z.Max, i, o.Max, i) != 0 {
			return false
		}
	}
	return true
}
