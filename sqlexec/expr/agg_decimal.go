package expr

import (
	"encoding/binary"
	"math/bits"

	"varve/engine/vector"
)

// Int128 is the unscaled value of a DECIMAL.
type Int128 struct {
	Hi int64
	Lo uint64
}

// readInt128 reads the 16 bytes of a DECIMAL.
func readInt128(b []byte) Int128 {
	return Int128{int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b)}
}

// Add returns x + y, wrapped; ok is false where it does not fit.
func (x Int128) Add(y Int128) (sum Int128, ok bool) {
	lo, carry := bits.Add64(x.Lo, y.Lo, 0)
	hi := x.Hi + y.Hi + int64(carry)
	return Int128{hi, lo}, (x.Hi >= 0) != (y.Hi >= 0) || (hi >= 0) == (x.Hi >= 0)
}

// Append appends the 16 bytes of a DECIMAL; ok is false where the value has more than 38 digits.
func (x Int128) Append(dst []byte) (_ []byte, ok bool) {
	dst = binary.LittleEndian.AppendUint64(dst, x.Lo)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(x.Hi))
	hi, lo := uint64(x.Hi), x.Lo
	if x.Hi < 0 {
		var carry uint64
		lo, carry = bits.Add64(^lo, 1, 0)
		hi = ^hi + carry
	}
	const limitHi, limitLo = 5421010862427522170, 687399551400673280 // 10^38
	return dst, hi < limitHi || hi == limitHi && lo < limitLo
}

// sumOfDecimal is the type of a sum of decimals of type t.
func sumOfDecimal(t vector.Type) vector.Type {
	return vector.Type{ID: vector.TypeDecimal, Precision: 38, Scale: t.Scale}
}

// decimalSums adds decimals. A sum of more than 38 digits is an error.
type decimalSums struct {
	t    vector.Type
	sum  []Int128
	some []bool
	flat vector.Vector
}

func (s *decimalSums) Grow(n int) {
	s.sum, s.some = vector.Extended(s.sum, n), vector.Extended(s.some, n)
}
func (s *decimalSums) Bytes() int64 { return int64(17 * cap(s.sum)) }

func (s *decimalSums) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	fits := true
	eachRow(n, v, keep, func(i int) {
		g := groups[i]
		var ok bool
		s.sum[g], ok = s.sum[g].Add(readInt128(v.Bytes(i)))
		s.some[g] = true
		fits = fits && ok
	})
	return s.check(fits)
}

func (s *decimalSums) check(fits bool) error {
	if !fits {
		return execError("Decimal overflow in sum")
	}
	return nil
}

func (s *decimalSums) Merge(o Accumulator, from, to []uint32) error {
	other, fits := o.(*decimalSums), true
	for i, g := range to {
		var ok bool
		s.sum[g], ok = s.sum[g].Add(other.sum[from[i]])
		s.some[g] = s.some[g] || other.some[from[i]]
		fits = fits && ok
	}
	return s.check(fits)
}

func (s *decimalSums) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: s.t, Valid: validOf(s.some[:n])}
	for g, x := range s.sum[:n] {
		v.Views = append(v.Views, vector.View{Off: uint32(16 * g), Len: 16})
		var ok bool
		if v.Heap, ok = x.Append(v.Heap); !ok {
			return nil, s.check(false)
		}
	}
	return v, nil
}
