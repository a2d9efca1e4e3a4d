package web

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// cell appends the value of row i as JSON text. The choice of the function is made once per column of a batch.
type cell func(dst []byte, i int) []byte

// jsonCell is how the values of v are written: numbers in full precision, timestamps as integers of their unit,
// floats that are not finite as null, BINARY as an array of byte numbers, JSON as it is, DECIMAL and INTERVAL as text.
func jsonCell(v *vector.Vector) cell {
	write := valueCell(v)
	if v.Valid == nil {
		return write
	}
	return func(dst []byte, i int) []byte {
		if v.IsNull(i) {
			return append(dst, "null"...)
		}
		return write(dst, i)
	}
}

func valueCell(v *vector.Vector) cell {
	flat := v.Form == vector.Flat
	switch v.Type.Kind() {
	case vector.Bool:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, v.Bool(i)) }
	case vector.Int64:
		if flat {
			ints := v.Ints
			return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, ints[i], 10) }
		}
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, v.Int(i), 10) }
	case vector.Uint64:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, v.Uint(i), 10) }
	case vector.Float64:
		if flat {
			floats := v.Floats
			return func(dst []byte, i int) []byte { return AppendJSONFloat(dst, floats[i]) }
		}
		return func(dst []byte, i int) []byte { return AppendJSONFloat(dst, v.Float(i)) }
	}
	switch v.Type.ID {
	case vector.TypeNull:
		return func(dst []byte, _ int) []byte { return append(dst, "null"...) }
	case vector.TypeBinary:
		return func(dst []byte, i int) []byte { return appendByteNumbers(dst, v.Bytes(i)) }
	case vector.TypeJSON, vector.TypeList:
		return func(dst []byte, i int) []byte { return append(dst, v.Bytes(i)...) }
	case vector.TypeDecimal:
		return func(dst []byte, i int) []byte {
			return append(appendDecimal(append(dst, '"'), v.Bytes(i), v.Type.Scale), '"')
		}
	case vector.TypeInterval:
		return func(dst []byte, i int) []byte { return append(expr.AppendText(append(dst, '"'), v, i), '"') }
	}
	if flat {
		views, heap := v.Views, v.Heap
		return func(dst []byte, i int) []byte {
			w := views[i]
			return AppendJSONString(dst, heap[w.Off:w.Off+w.Len])
		}
	}
	return func(dst []byte, i int) []byte { return AppendJSONString(dst, v.Bytes(i)) }
}

// appendRow appends [cell,cell,...].
func appendRow(dst []byte, cells []cell, i int) []byte {
	dst = append(dst, '[')
	for c, write := range cells {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = write(dst, i)
	}
	return append(dst, ']')
}

// cellsOf chooses the functions of all columns of a batch, reusing into.
func cellsOf(b *vector.Batch, into []cell, choose func(*vector.Vector) cell) []cell {
	into = into[:0]
	for _, v := range b.Cols {
		into = append(into, choose(v))
	}
	return into
}

// AppendJSONFloat appends f in the shortest form that reads back as f; whole values keep a fraction, NaN and the
// infinities are null. From 1e16 up and below 1e-5 the form is 1.5e16, 1e-7.
func AppendJSONFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if a := math.Abs(f); a != 0 && (a >= 1e16 || a < 1e-5) {
		from := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		// Go writes e+16 and e-07: the sign of + and the zero go.
		for e := len(dst) - 1; e > from; e-- {
			if dst[e] != 'e' {
				continue
			}
			to := e + 1
			digits := dst[e+2:]
			if dst[e+1] == '-' {
				to++
			}
			if len(digits) == 2 && digits[0] == '0' {
				digits = digits[1:]
			}
			return append(dst[:to], digits...)
		}
		return dst
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, b := range dst[from:] {
		if b == '.' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// AppendJSONString appends s quoted. What is not UTF-8 becomes U+FFFD: an answer is always valid JSON.
func AppendJSONString[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if plain[b] {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			switch b {
			case '"', '\\':
				dst = append(dst, '\\', b)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
			}
			i++
			from = i
			continue
		}
		r, n := decodeRune(s[i:])
		if r == utf8.RuneError && n <= 1 {
			dst = append(dst, s[from:i]...)
			dst = append(dst, "\uFFFD"...)
			i++
			from = i
			continue
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// decodeRune is utf8.DecodeRune for both kinds of text without a conversion that allocates.
func decodeRune[T string | []byte](s T) (rune, int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], s)])
}

// plain are the bytes below 0x80 that stand for themselves in a JSON string.
var plain = func() (t [utf8.RuneSelf]bool) {
	for b := range t {
		t[b] = b >= ' ' && b != '"' && b != '\\' && b != 0x7f
	}
	return t
}()

func appendByteNumbers(dst, b []byte) []byte {
	dst = append(dst, '[')
	for i, x := range b {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(x), 10)
	}
	return append(dst, ']')
}

// appendDecimal appends the number of 16 bytes, little endian two's complement, with scale digits after the point.
func appendDecimal(dst, b []byte, scale uint8) []byte {
	if len(b) != 16 {
		return dst
	}
	lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if int64(hi) < 0 {
		dst = append(dst, '-')
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	var digits []byte
	if hi == 0 {
		digits = strconv.AppendUint(nil, lo, 10)
	} else {
		n := new(big.Int).SetUint64(hi)
		digits = n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo)).Append(nil, 10)
	}
	s := int(scale)
	for len(digits) <= s {
		digits = append([]byte{'0'}, digits...)
	}
	dst = append(dst, digits[:len(digits)-s]...)
	if s > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-s:]...)
	}
	return dst
}
