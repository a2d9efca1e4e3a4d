package exec

import (
	"context"

	"varve/engine/vector"
)

// Keys that are whole numbers of a small range, as ids are, need no hash: the first row of a key stands at the key less
// the least one. Where the range is too large for that, a bit for each number of it still tells which keys there are.

const (
	directRange = 8  // numbers of the range for each row: 32 bytes, as three slots take more
	bitsRange   = 64 // the same for bits: 8 bytes, as the hash of a row took
	leastRange  = 1 << 12
)

// joinDirect finds keys by their distance from the least one.
type joinDirect struct {
	base uint64
	rows []uint32      // the first row of a key + 1; 0: none. nil: too many
	bits vector.Bitmap // without rows: the keys that there are
	span uint64        // keys are less than base + span
}

// directly finds n keys without hashes, if their range allows it; nil: it does not. The rows of a key are chained.
func (t *joinTable) directly(ctx context.Context, n int) (*joinDirect, error) {
	v := t.keys[0]
	var d *joinDirect
	switch kind := v.Type.Kind(); {
	case !t.exact || n == 0:
		return nil, nil
	case kind == vector.Int64:
		d = directOf(v, v.Ints[:n])
	case kind == vector.Uint64:
		d = directOf(v, v.Uints[:n])
	}
	if d == nil {
		return nil, nil
	}
	for i := n - 1; i >= 0; i-- {
		if i%chunkRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if v.IsNull(i) {
			continue
		}
		at := numberAt(v, i) - d.base
		if d.rows == nil {
			d.bits.Set(int(at))
			continue
		}
		if first := d.rows[at]; first != 0 {
			t.next[i], t.chained = first, true
		}
		d.rows[at] = uint32(i + 1)
		t.filled++
	}
	return d, nil
}

// directOf makes room for the range of numbers; nil: it is too large.
func directOf[T int64 | uint64](v *vector.Vector, values []T) *joinDirect {
	var lo, hi T
	some := 0
	for i, x := range values {
		if v.IsNull(i) {
			continue
		}
		if some++; some == 1 {
			lo, hi = x, x
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	span, n := uint64(hi)-uint64(lo)+1, uint64(len(values))
	d := &joinDirect{base: uint64(lo), span: span}
	switch {
	case some == 0 || span == 0:
		return nil
	case span <= max(directRange*n, leastRange):
		d.rows = make([]uint32, span)
	case span <= bitsRange*n:
		d.bits = vector.MakeBitmap(int(span))
	default:
		return nil
	}
	return d
}

// numberAt is the bits of the whole number of row i of a vector of any form.
func numberAt(v *vector.Vector, i int) uint64 {
	if v.Type.Kind() == vector.Uint64 {
		return v.Uint(i)
	}
	return uint64(v.Int(i))
}

// find is the first row + 1 of the key of row i, which is not NULL; 0: none. With bits it is 1 for a key that is
// there.
func (d *joinDirect) find(v *vector.Vector, i int) uint32 {
	at := numberAt(v, i) - d.base
	switch {
	case at >= d.span:
		return 0
	case d.rows != nil:
		return d.rows[at]
	}
	return uint32(vector.Bit(d.bits.Get(int(at))))
}

// lookup writes what find gives for n rows into first; 0 for NULL.
func (d *joinDirect) lookup(v *vector.Vector, n int, first []uint32) {
	first = first[:n]
	kind := v.Type.Kind()
	switch {
	case v.Form != vector.Flat || v.Valid != nil:
		for i := range first {
			if first[i] = 0; !v.IsNull(i) {
				first[i] = d.find(v, i)
			}
		}
	case kind == vector.Uint64 && d.rows != nil:
		directRows(first, v.Uints[:n], d.base, d.rows)
	case kind == vector.Uint64:
		directBits(first, v.Uints[:n], d.base, d.span, d.bits)
	case d.rows != nil:
		directRows(first, v.Ints[:n], d.base, d.rows)
	default:
		directBits(first, v.Ints[:n], d.base, d.span, d.bits)
	}
}

func directRows[T int64 | uint64](first []uint32, values []T, base uint64, rows []uint32) {
	first = first[:len(values)]
	for i, x := range values {
		row, at := uint32(0), uint64(x)-base
		if at < uint64(len(rows)) {
			row = rows[at]
		}
		first[i] = row
	}
}

func directBits[T int64 | uint64](first []uint32, values []T, base, span uint64, bits vector.Bitmap) {
	first = first[:len(values)]
	for i, x := range values {
		row, at := uint64(0), uint64(x)-base
		if w := at >> 6; at < span && w < uint64(len(bits)) {
			row = bits[w] >> (at & 63) & 1
		}
		first[i] = uint32(row)
	}
}
