package encoding

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"testing"

	"varve/engine/vector"
)

// The fuzzers of this file take bytes for values of one kind, in the forms that draw each of the encodings: what is
// encoded comes back bit for bit.

// roundTrip encodes and decodes n rows.
func roundTrip(t *testing.T, v *vector.Vector, n int) {
	t.Helper()
	b := NewEncoder().Append(nil, v, n, nil)
	var d Decoder
	got := &vector.Vector{}
	if err := d.Decode(got, b, v.Type, n, nil); err != nil {
		t.Fatalf("%d rows by encoding %d: %v", n, b[0], err)
	}
	if diff := difference(got, v, n); diff != "" {
		t.Fatalf("%d rows by encoding %d: %s", n, b[0], diff)
	}
}

// numbers reads bytes as numbers of 1 to 8 bytes.
func numbers(b []byte, width int) (list []uint64) {
	for len(b) >= width && len(list) < 4*vector.Size {
		var x [8]byte
		copy(x[:], b[:width])
		list = append(list, binary.LittleEndian.Uint64(x[:]))
		b = b[width:]
	}
	return list
}

// nulls makes every row NULL whose bit is set in a pattern that repeats.
func nulls(v *vector.Vector, n int, pattern uint64) {
	if pattern == 0 {
		return
	}
	v.Valid = vector.MakeBitmap(n)
	for i := range n {
		if pattern>>(i&63)&1 == 0 {
			v.Valid.Set(i)
		}
	}
}

// FuzzInts: packed, delta, delta of delta, runs, local dictionary, constant, repeats, groups.
func FuzzInts(f *testing.F) {
	for shape := range uint8(7) {
		f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(1), shape, uint64(0))
		f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, uint8(8), shape, uint64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, width, shape uint8, pattern uint64) {
		list := numbers(b, 1+int(width%8))
		v := &vector.Vector{Type: vector.Int64Type}
		sum, step := int64(0), int64(0)
		for i, x := range list {
			switch shape % 7 {
			case 0:
				v.Ints = append(v.Ints, int64(x))
			case 1: // delta
				sum += int64(x)
				v.Ints = append(v.Ints, sum)
			case 2: // delta of delta
				step += int64(x % 5)
				sum += step
				v.Ints = append(v.Ints, sum)
			case 3: // runs
				for range 1 + x%40 {
					v.Ints = append(v.Ints, int64(i))
				}
			case 4: // few values
				v.Ints = append(v.Ints, int64(list[x%uint64(min(len(list), 7))]))
			case 6: // series that change by much and by little
				for j := range 60 + x%100 {
					sum += int64((j*j*0x9E3779B97F4A7C15 + x) >> (40 + x%20))
					v.Ints = append(v.Ints, sum)
				}
				sum -= int64(x)
			case 5: // stretches that begin and end at any place, some with a gap
				for j := x % 50; j < 60-x%11; j++ {
					if j != x%64 {
						v.Ints = append(v.Ints, int64(j*j<<(width%30)+x>>60))
					}
				}
			}
		}
		n := min(len(v.Ints), MaxRows)
		v.Ints = v.Ints[:n]
		nulls(v, n, pattern)
		roundTrip(t, v, n)
		u := &vector.Vector{Type: vector.Uint64Type, Valid: v.Valid}
		for _, x := range v.Ints {
			u.Uints = append(u.Uints, uint64(x))
		}
		roundTrip(t, u, n)
	})
}

// FuzzFloats: decimals, XOR and plain.
func FuzzFloats(f *testing.F) {
	for shape := range uint8(3) {
		f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(2), shape, uint64(0))
		f.Add([]byte{0, 0, 0, 0, 0, 0, 0xF8, 0x7F, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, 0xF0, 0xFF}, uint8(7),
			shape, uint64(2))
	}
	f.Fuzz(func(t *testing.T, b []byte, width, shape uint8, pattern uint64) {
		v := &vector.Vector{Type: vector.FloatType}
		sum := 0.0
		for _, x := range numbers(b, 1+int(width%8)) {
			switch shape % 3 {
			case 0:
				v.Floats = append(v.Floats, math.Float64frombits(x))
			case 1:
				v.Floats = append(v.Floats, float64(int64(x))/math.Pow10(int(width%20)))
			case 2:
				sum += float64(x) * 1.0000001
				v.Floats = append(v.Floats, sum)
			}
		}
		n := len(v.Floats)
		nulls(v, n, pattern)
		roundTrip(t, v, n)
		w := &vector.Vector{Type: vector.Float32Type, Valid: v.Valid}
		for _, x := range v.Floats {
			w.Floats = append(w.Floats, float64(float32(x)))
		}
		roundTrip(t, w, n)
	})
}

// FuzzStrings: plain, dictionaries, hex, UUIDs, addresses, numbers, and texts that look almost like them.
func FuzzStrings(f *testing.F) {
	for shape := range uint8(8) {
		f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"), uint8(4), shape,
			uint64(0), "x")
		f.Add([]byte{0, 0, 0, 0, 255, 255, 255, 255, 1, 2, 3, 4}, uint8(3), shape, uint64(4), "00")
	}
	f.Fuzz(func(t *testing.T, b []byte, width, shape uint8, pattern uint64, odd string) {
		list := numbers(b, 1+int(width%8))
		v := &vector.Vector{Type: vector.StringType}
		add := func(s string) {
			v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(s))})
			v.Heap = append(v.Heap, s...)
		}
		for i, x := range list {
			switch shape % 8 {
			case 0:
				add(string(b[:int(x%uint64(len(b)+1))]))
			case 1:
				add(fmt.Sprint(int64(x)))
			case 2:
				add(fmt.Sprintf("%016x%016x", x, ^x))
			case 3:
				add(hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, x)[:1+width%8]))
			case 4:
				add(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", uint32(x), uint16(x>>8), uint16(x>>16), uint16(x>>24),
					x>>16))
			case 5:
				add(netip.AddrFrom4([4]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24)}).String())
			case 6:
				add([]string{"info", "warn", "error", odd}[x%4])
			case 7:
				add(fmt.Sprintf("%s %d of %x", odd, i, x))
			}
			if x%97 == 13 {
				add(odd)
			}
		}
		n := len(v.Views)
		nulls(v, n, pattern)
		roundTrip(t, v, n)
	})
}
