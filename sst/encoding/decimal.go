package encoding

import (
	"encoding/binary"
	"math"
	"slices"

	"varve/engine/filter"
	"varve/engine/vector"
)

// Decimal floats: digits 1B | exceptions | ID and integers (ints.go) | [packed positions, 8B values]
//
// A value is integer / 10^digits, correctly rounded; what does not come back bit for bit is an exception. With flag
// 0x80 in digits the quotient is rounded to a float32, for columns of that type.

const (
	maxDigits   = 15
	singleFlag  = 0x80
	maxMantissa = 1 << 53
)

var powers = [maxDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// scale returns the integer whose quotient by p is x; ok reports whether it comes back exactly.
func scale(x, p float64, single bool) (int64, bool) {
	y := x * p
	if !(math.Abs(y) < maxMantissa) {
		return 0, false
	}
	i := int64(math.RoundToEven(y))
	back := float64(i) / p
	if single {
		back = float64(float32(back))
	}
	return i, math.Float64bits(back) == math.Float64bits(x)
}

// fewestDigits finds the fewest digits that bring nearly all of a sample back.
func fewestDigits(v []float64, single bool) (digits int, ok bool) {
	n := min(len(v), 128)
	for digits = 0; digits <= maxDigits; digits++ {
		bad := 0
		for i := range n {
			if _, exact := scale(v[i*len(v)/n], powers[digits], single); !exact {
				if bad++; bad*16 > n {
					break
				}
			}
		}
		if bad*16 <= n {
			return digits, true
		}
	}
	return 0, false
}

// leastDecimal: the head, and the fewest bytes that differing integers take.
func leastDecimal(_ *Encoder, b *floatBlock) int {
	if b.runs < 2 {
		return never
	}
	return 3 + frameHead + len(b.values)*floatCost
}

// planDecimal appends the floats when most of them are short decimals.
func planDecimal(e *Encoder, dst []byte, b *floatBlock) (out []byte, cost int) {
	v, single := b.values, b.single
	digits, ok := fewestDigits(v, single)
	if !ok {
		return dst, never
	}
	mark := len(dst)
	p := powers[digits]
	e.texts = vector.Sized(e.texts, len(v))
	e.positions = e.positions[:0]
	var last int64
	for i, x := range v {
		y, ok := scale(x, p, single)
		if !ok {
			e.positions = append(e.positions, uint32(i))
			y = last // costs nothing in any packing
		}
		last = y
		e.texts[i] = uint64(y)
	}
	if len(e.positions) > len(v)/8 {
		return dst, never
	}
	exceptions := append([]uint32(nil), e.positions...)
	head := byte(digits)
	if single {
		head |= singleFlag
	}
	dst = append(dst, head)
	dst = binary.AppendUvarint(dst, uint64(len(exceptions)))
	for _, i := range exceptions {
		dst = binary.LittleEndian.AppendUint32(dst, i)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v[i]))
	}
	dst = e.appendInts(dst, e.texts, true)
	return dst, len(dst) - mark + len(v)*floatCost
}

func decodeDecimal(d *Decoder, r *reader, dst []float64) {
	head, patches := r.decimal(len(dst))
	if d.decodeTexts(r, len(dst)); r.err != nil {
		return
	}
	quotients(dst, d.texts, head)
	for ; len(patches) > 0; patches = patches[patchSize:] {
		i := binary.LittleEndian.Uint32(patches)
		if int(i) >= len(dst) {
			r.fail("exception at row %d of %d", i, len(dst))
			return
		}
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(patches[4:]))
	}
}

// pickDecimal picks floats: only their quotients are computed.
func pickDecimal(d *Decoder, r *reader, v *vector.Vector, n int, rows []uint32) bool {
	if v.Type.Kind() != vector.Float64 {
		return false
	}
	head, patches := r.decimal(n)
	if d.pickTexts(r, n, rows); r.err != nil {
		return false
	}
	v.Floats = vector.Sized(v.Floats, len(rows))
	quotients(v.Floats, d.texts, head)
	if len(patches) == 0 {
		return true
	}
	d.want(n, rows)
	for ; len(patches) > 0; patches = patches[patchSize:] {
		i := binary.LittleEndian.Uint32(patches)
		if int(i) >= n {
			r.fail("exception at row %d of %d", i, n)
			return false
		}
		if d.hits.Get(int(i)) {
			at, _ := slices.BinarySearch(rows, i)
			v.Floats[at] = math.Float64frombits(binary.LittleEndian.Uint64(patches[4:]))
		}
	}
	return true
}

// patchSize is the size of an exception: its row and its value.
const patchSize = 12

// decimal reads the header before the integers of n decimals.
func (r *reader) decimal(n int) (head byte, patches []byte) {
	head = r.byte()
	patches = r.take(r.count(n, "exceptions") * patchSize)
	if head&^singleFlag > maxDigits {
		r.fail("%d digits", head&^singleFlag)
	}
	return head, patches
}

// quotients makes floats of integers.
func quotients(dst []float64, texts []uint64, head byte) {
	dst = dst[:len(texts)]
	p := powers[head&^singleFlag]
	switch {
	case head&singleFlag != 0:
		for i, x := range texts {
			dst[i] = float64(float32(float64(int64(x)) / p))
		}
	case p == 1:
		for i, x := range texts {
			dst[i] = float64(int64(x))
		}
	default:
		for i, x := range texts {
			dst[i] = float64(int64(x)) / p
		}
	}
}

// mostHeld returns the greatest integer whose quotient is within a bound, among the integers of blocks. Quotients rise
// with the integers, but those rounded to a float32 are equal for many integers.
func mostHeld(b *filter.FloatBound, value func(int64) float64) int64 {
	lo, hi := int64(-maxMantissa-1), int64(maxMantissa) // lo: none does
	for lo < hi {
		m := lo + (hi-lo+1)/2
		if b.Holds(value(m)) {
			lo = m
		} else {
			hi = m - 1
		}
	}
	return lo
}

// keepDecimals compares the integers instead of their quotients.
func keepDecimals(d *Decoder, r *reader, n int, b *filter.FloatBound, keep vector.Bitmap) bool {
	if math.Abs(b.K) > maxMantissa {
		return false
	}
	head, patches := r.decimal(n)
	if r.err != nil {
		return false
	}
	p := powers[head&^singleFlag]
	most := mostHeld(b, func(m int64) float64 {
		if v := float64(m) / p; head&singleFlag == 0 {
			return v
		}
		return float64(float32(float64(m) / p))
	})
	hit := d.hitInts(r, n, most, keep)
	if r.err != nil {
		return false
	}
	for ; len(patches) > 0; patches = patches[patchSize:] {
		i := int(binary.LittleEndian.Uint32(patches))
		if i >= n {
			r.fail("exception at row %d of %d", i, n)
			return false
		}
		if hit.Clear(i); b.Holds(math.Float64frombits(binary.LittleEndian.Uint64(patches[4:]))) {
			hit.Set(i)
		}
	}
	take(keep, hit, b.Negate)
	return true
}

// hitInts returns the rows of n integers, with their ID in front, that are at most most; of words of keep without a row
// it says nothing.
func (d *Decoder) hitInts(r *reader, n int, most int64, keep vector.Bitmap) vector.Bitmap {
	if len(r.b) > 0 && ID(r.b[0]).scheme().hits != nil {
		return ID(r.byte()).scheme().hits(d, r, n, filter.Interval{Least: 1 << 63, Span: uint64(most) - 1<<63}, keep)
	}
	d.decodeTexts(r, n)
	if r.err != nil {
		return nil
	}
	d.hits = append(d.hits[:0], make(vector.Bitmap, len(keep))...)
	for w := range d.hits {
		var m uint64
		for i, x := range d.texts[w*64 : min(w*64+64, n)] {
			m |= vector.Bit(int64(x) <= most) << i
		}
		d.hits[w] = m
	}
	return d.hits
}
