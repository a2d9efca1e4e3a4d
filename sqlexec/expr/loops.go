package expr

import (
	"bytes"

	"varve/engine/vector"
)

// The loops of this file compare two columns: each sets a word of bits for 64 rows, without a branch a row where values
// are numbers. Bits past the last row are zero.

// lessOf sets bit i of hit where x[i] < y[i]. Rows out of valid (nil: all) may get any bit.
func lessOf(hit vector.Bitmap, x, y *vector.Vector, valid vector.Bitmap, n int) {
	switch x.Type.Kind() {
	case vector.Bool:
		for w := range hit {
			hit[w] = ^x.Bools[w] & y.Bools[w]
		}
	case vector.Int64:
		lessIntegers(hit, x.Ints[:n], y.Ints[:n])
	case vector.Uint64:
		lessIntegers(hit, x.Uints[:n], y.Uints[:n])
	case vector.Float64:
		lessFloats(hit, x.Floats[:n], y.Floats[:n])
	default:
		compareRows(hit, x, y, valid, n, func(d int) bool { return d < 0 })
	}
}

// equalOf sets bit i of hit where x[i] = y[i]. Rows out of valid (nil: all) may get any bit.
func equalOf(hit vector.Bitmap, x, y *vector.Vector, valid vector.Bitmap, n int) {
	switch x.Type.Kind() {
	case vector.Bool:
		for w := range hit {
			hit[w] = ^(x.Bools[w] ^ y.Bools[w])
		}
		clearTail(hit, n)
	case vector.Int64:
		equalIntegers(hit, x.Ints[:n], y.Ints[:n])
	case vector.Uint64:
		equalIntegers(hit, x.Uints[:n], y.Uints[:n])
	case vector.Float64:
		equalFloats(hit, x.Floats[:n], y.Floats[:n])
	default:
		if x.Type.ID == vector.TypeInterval || x.Type.ID == vector.TypeDecimal {
			compareRows(hit, x, y, valid, n, func(d int) bool { return d == 0 })
			return
		}
		clear(hit)
		for i := range n {
			if (valid == nil || valid.Get(i)) && bytes.Equal(x.Bytes(i), y.Bytes(i)) {
				hit.Set(i)
			}
		}
	}
}

// compareRows decides row by row: texts, decimals, intervals.
func compareRows(hit vector.Bitmap, x, y *vector.Vector, valid vector.Bitmap, n int, want func(d int) bool) {
	clear(hit)
	for i := range n {
		if (valid == nil || valid.Get(i)) && want(Compare(x, i, y, i)) {
			hit.Set(i)
		}
	}
}

func lessIntegers[T int64 | uint64](hit []uint64, x, y []T) {
	for w := range hit {
		a := x[w*64 : min(w*64+64, len(x))]
		b := y[w*64:][:len(a)]
		var m uint64
		for i, k := range a {
			m |= vector.Bit(k < b[i]) << (i & 63)
		}
		hit[w] = m
	}
}

func equalIntegers[T int64 | uint64](hit []uint64, x, y []T) {
	for w := range hit {
		a := x[w*64 : min(w*64+64, len(x))]
		b := y[w*64:][:len(a)]
		var m uint64
		for i, k := range a {
			m |= vector.Bit(k == b[i]) << (i & 63)
		}
		hit[w] = m
	}
}

// lessFloats: NaN is greater than every number.
func lessFloats(hit []uint64, x, y []float64) {
	for w := range hit {
		a := x[w*64 : min(w*64+64, len(x))]
		b := y[w*64:][:len(a)]
		var m uint64
		for i, k := range a {
			m |= (vector.Bit(k < b[i]) | vector.Bit(k == k)&vector.Bit(b[i] != b[i])) << (i & 63)
		}
		hit[w] = m
	}
}

// equalFloats: NaN is equal to itself.
func equalFloats(hit []uint64, x, y []float64) {
	for w := range hit {
		a := x[w*64 : min(w*64+64, len(x))]
		b := y[w*64:][:len(a)]
		var m uint64
		for i, k := range a {
			m |= (vector.Bit(k == b[i]) | vector.Bit(k != k)&vector.Bit(b[i] != b[i])) << (i & 63)
		}
		hit[w] = m
	}
}
