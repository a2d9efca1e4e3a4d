package encoding

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
)

// hostileInts are integers whose differences, stretches and groups are at the ends of what 64 bits hold.
func hostileInts(n int, r *rand.Rand) map[string][]int64 {
	made := map[string][]int64{}
	fill := func(name string, at func(i int) int64) {
		v := make([]int64, n)
		for i := range v {
			v[i] = at(i)
		}
		made[name] = v
	}
	ends := []int64{math.MinInt64, math.MaxInt64, -1, 0, 1, math.MinInt64 + 1, math.MaxInt64 - 1}
	fill("ends in turn", func(i int) int64 { return ends[i%2] })
	fill("ends at random", func(int) int64 { return ends[r.IntN(len(ends))] })
	fill("any", func(int) int64 { return int64(r.Uint64()) })
	fill("up and down", func(i int) int64 { return int64(i&1) << 40 })
	fill("falling", func(i int) int64 { return math.MaxInt64 - int64(i)*1_000_003 })
	for _, l := range []int{1, 2, 7, 8, 9, 127, 128, 129, 1000} {
		fill(fmt.Sprint("stretches of ", l), func(i int) int64 { return int64(i%l)*15_000 + r.Int64N(90) })
		fill(fmt.Sprint("stretches that wrap after ", l), func(i int) int64 {
			return math.MinInt64 + int64(uint64(i%l)*(math.MaxUint64/uint64(l)))
		})
	}
	rising := func(most int) (v []int64) { // of any length, each with a shift of its own
		for len(v) < n {
			first := r.IntN(most)
			for j := range 1 + r.IntN(most) {
				v = append(v, int64(first+j)*15_000+r.Int64N(3))
			}
		}
		return v[:n]
	}
	made["short stretches with shifts"], made["stretches with shifts"] = rising(60), rising(700)
	sum := int64(0)
	fill("groups of any width", func(i int) int64 {
		if sum += int64(r.Uint64() >> (i / 128 * 7 % 64)); r.IntN(200) == 0 {
			sum = int64(r.Uint64())
		}
		return sum
	})
	return made
}

// writeBy encodes integers by one writer, whatever it costs, with its ID in front; nil: the values are not of its form.
func writeBy(e *Encoder, w *writer[intBlock], v []int64, signed bool) []byte {
	patterns := make([]uint64, len(v))
	for i, x := range v {
		patterns[i] = uint64(x)
	}
	var b intBlock
	b.analyse(patterns, signed)
	if w.least(e, &b) == never {
		return nil
	}
	out, cost := w.plan(e, []byte{byte(w.id), 0}, &b)
	if cost == never {
		return nil
	}
	return w.write(e, out, &b)
}

// TestHostileInts writes hostile integers by each writer that can, not only the cheapest, with one encoder for all:
// they come back, signed or not, and what is cut or changed is ErrMalformed or other values, and no panic.
func TestHostileInts(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	e := NewEncoder()
	var d Decoder
	written := map[ID]int{}
	for _, n := range []int{2, 3, 16, 17, 127, 257, 258, 385, 1000, 8192, 65_536} {
		for name, v := range hostileInts(n, r) {
			for _, typ := range []vector.Type{vector.Int64Type, vector.Uint64Type} {
				for _, w := range intWriters {
					b := writeBy(e, w, v, typ == vector.Int64Type)
					if b == nil {
						continue
					}
					written[w.id]++
					var got vector.Vector
					if err := d.Decode(&got, b, typ, n, nil); err != nil {
						t.Fatalf("%d %s by %s: %v", n, name, w.id, err)
					}
					same := slices.Equal(got.Ints, v)
					if typ == vector.Uint64Type {
						same = slices.EqualFunc(got.Uints, v, func(a uint64, b int64) bool { return a == uint64(b) })
					}
					if flat := got.Form == vector.Flat; flat && !same {
						t.Fatalf("%d %s by %s: other values come back", n, name, w.id)
					}
					if n <= 1000 && w.id >= Repeat {
						damage(t, r, &d, b, typ, n)
					}
				}
			}
		}
	}
	if written[Repeat] < 20 || written[Grouped] < 20 {
		t.Errorf("written: %v, want many by %s and %s", written, Repeat, Grouped)
	}
}

// damage decodes an encoded block that is cut, has other bytes, or is read as another number of rows.
func damage(t *testing.T, r *rand.Rand, d *Decoder, b []byte, typ vector.Type, n int) {
	t.Helper()
	try := func(bad []byte, rows int) (read bool) {
		t.Helper()
		var got vector.Vector
		err := d.Decode(&got, bad, typ, rows, nil)
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("damaged: %v, want ErrMalformed", err)
		}
		return err == nil
	}
	for range 8 {
		if cut := 2 + r.IntN(len(b)-2); try(b[:cut:cut], n) {
			t.Fatalf("%d rows are read from %d bytes of %d", n, cut, len(b))
		}
	}
	for _, rows := range []int{1, n - 1, n + 1, MaxRows} {
		try(b, rows)
	}
	for range 40 {
		bad := slices.Clone(b)
		for range 1 + r.IntN(3) {
			bad[2+r.IntN(min(len(bad)-2, 60))] = []byte{0, 1, 0x7F, 0x80, 0xFF, byte(r.Uint32())}[r.IntN(6)]
		}
		try(bad, n)
	}
}
