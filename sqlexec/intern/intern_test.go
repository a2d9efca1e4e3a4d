package intern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/vector"
)

// TestInternAgainstMap numbers random values of every kind and form, with NULL, as a map does.
func TestInternAgainstMap(t *testing.T) {
	for _, typ := range []vector.Type{vector.BoolType, vector.Int64Type, vector.Uint64Type, vector.FloatType,
		vector.StringType} {
		r := rand.New(rand.NewPCG(1, uint64(typ.ID)))
		in := New(typ, nil)
		want := map[string]uint32{}
		for round := range 50 {
			v := &vector.Vector{Type: typ}
			n, run, last := 1+r.IntN(200), 1, vector.ConstNull(typ)
			if round%2 == 0 {
				run = 1 + r.IntN(60)
			}
			for i := range n {
				if i%run != 0 { // some values come in runs, as rounded times do
					v.Append(i, last, 0, 1)
					continue
				}
				last = value(r, typ, 1<<r.IntN(16))
				if r.IntN(20) == 0 && round > 3 {
					v.AppendNulls(i, 1)
					continue
				}
				v.Append(i, last, 0, 1)
			}
			if typ == vector.StringType && round%3 == 0 {
				v = &vector.Vector{Type: typ, Form: vector.Dict, Values: v.Flatten(n), Codes: make([]uint32, n)}
				v.Valid = v.Values.Valid
				for i := range n {
					v.Codes[i] = uint32(i)
				}
			}
			ids := make([]uint32, n)
			in.Intern(v, n, ids)
			for i, id := range ids {
				key := print(v, i)
				w, ok := want[key]
				if !ok {
					w = uint32(len(want))
					want[key] = w
				}
				if id != w || print(in.Values, int(id)) != key {
					t.Fatalf("%s: %s has number %d, want %d; the value of %d is %s", typ, key, id, w, id,
						print(in.Values, int(id)))
				}
			}
		}
		if in.Len() != len(want) {
			t.Errorf("%s: %d values, want %d", typ, in.Len(), len(want))
		}
	}
}

func value(r *rand.Rand, t vector.Type, distinct int) *vector.Vector {
	x := r.IntN(distinct)
	switch t.Kind() {
	case vector.Bool:
		return vector.ConstBool(x&1 == 0)
	case vector.Int64:
		return vector.ConstInt(t, int64(x)-5)
	case vector.Uint64:
		return vector.ConstUint(t, uint64(x))
	case vector.Float64:
		return vector.ConstFloat(t, float64(x)/4)
	}
	// shorter, as long as, and longer than words hold
	return vector.ConstString(strings.Repeat("long ", x%9) + fmt.Sprint(x))
}

func print(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return fmt.Sprint(v.Bool(i))
	case vector.Int64:
		return fmt.Sprint(v.Int(i))
	case vector.Uint64:
		return fmt.Sprint(v.Uint(i))
	case vector.Float64:
		return fmt.Sprint(v.Float(i))
	}
	return v.Str(i)
}

func TestFloatsOfOneKind(t *testing.T) {
	v := &vector.Vector{Type: vector.FloatType, Floats: []float64{0, math.Copysign(0, -1), math.NaN(), -math.NaN(), 1}}
	ids := make([]uint32, 5)
	in := New(vector.FloatType, nil)
	in.Intern(v, 5, ids)
	if ids[0] != ids[1] || ids[2] != ids[3] || in.Len() != 3 {
		t.Errorf("numbers %v of %d values: zeros are one value and so are NaNs", ids, in.Len())
	}
}

// TestTextsThatDifferByZeros: words are filled with zeros, which are bytes of texts too.
func TestTextsThatDifferByZeros(t *testing.T) {
	in := New(vector.StringType, nil)
	for n := range 40 {
		v := vector.ConstString(strings.Repeat("\x00", n))
		ids := make([]uint32, 2)
		in.Intern(v, 1, ids)
		in.Intern(v.Flatten(1), 1, ids[1:])
		if ids[0] != uint32(n) || ids[1] != uint32(n) {
			t.Fatalf("%d zeros have the numbers %v, want %d", n, ids, n)
		}
	}
}

func TestPairsAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, most := range []int{10, 1000, 100_000} { // a matrix, one that becomes a table, a table
		p, want := NewPairs(1), map[[2]uint32]uint32{}
		as, bs := 1, 1
		for range 60 {
			as, bs = min(as*2, most), min(bs+r.IntN(most), most)
			a, b := make([]uint32, 300), make([]uint32, 300)
			for i := range a {
				a[i], b[i] = uint32(r.IntN(as)), uint32(r.IntN(bs))
			}
			got := slices.Clone(a)
			p.Intern(got, b, as, bs)
			for i := range a {
				id, ok := want[[2]uint32{a[i], b[i]}]
				if !ok {
					id = uint32(len(want))
					want[[2]uint32{a[i], b[i]}] = id
				}
				if got[i] != id {
					t.Fatalf("up to %d: pair (%d, %d) has number %d, want %d", most, a[i], b[i], got[i], id)
				}
			}
			if p.Len() != len(want) {
				t.Fatalf("up to %d: %d pairs, want %d", most, p.Len(), len(want))
			}
		}
	}
}

func BenchmarkIntern(b *testing.B) {
	for _, distinct := range []int{100, 100_000, 2_000_000} {
		b.Run(fmt.Sprintf("text/distinct=%d", distinct), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			v := &vector.Vector{Type: vector.StringType}
			for range 1 << 20 {
				s := fmt.Sprintf("/api/v1/products/%d", r.IntN(distinct))
				v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(s))})
				v.Heap = append(v.Heap, s...)
			}
			in, ids := New(v.Type, nil), make([]uint32, 2048)
			part := &vector.Vector{Type: v.Type, Heap: v.Heap}
			at := 0
			for b.Loop() {
				part.Views = v.Views[at : at+2048]
				in.Intern(part, 2048, ids)
				at = (at + 2048) & (1<<20 - 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2048, "ns/row")
		})
	}
}
