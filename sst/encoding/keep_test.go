package encoding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
)

// randomKeep has all rows, some, or few of them.
func randomKeep(r *rand.Rand, n int) vector.Bitmap {
	keep := vector.MakeBitmap(n)
	share := []float64{1, 0.7, 0.01}[r.IntN(3)]
	for i := range n {
		if r.Float64() < share {
			keep.Set(i)
		}
	}
	return keep
}

// TestKeepInts holds comparisons on the bits of packed blocks against comparisons of the values: all widths, with and
// without exceptions, signed and unsigned, also at the ends of the range.
func TestKeepInts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	decided := 0
	for round := range 2000 {
		n := 1 + r.IntN(400)
		values := make([]uint64, n)
		base, width := r.Uint64()>>r.IntN(64), r.IntN(65)
		for i := range values {
			values[i] = base + r.Uint64()>>(64-width)
			if round%3 == 0 && r.IntN(60) == 0 {
				values[i] += uint64(1) << r.IntN(64)
			}
		}
		signed := round%2 == 0
		v := &vector.Vector{Type: vector.Uint64Type, Uints: values}
		if signed {
			v.Type, v.Uints = vector.Int64Type, nil
			for _, x := range values {
				v.Ints = append(v.Ints, int64(x))
			}
		}
		var e Encoder
		var d Decoder
		page := e.Append(nil, v, n, nil)
		for range 10 {
			in := filter.Interval{Least: values[r.IntN(n)] + r.Uint64N(3) - 1, Span: r.Uint64() >> r.IntN(65),
				Negate: r.IntN(2) == 0}
			switch r.IntN(4) {
			case 0:
				in.Span = 0
			case 1:
				in.Least, in.Span = 1<<63, values[r.IntN(n)]-1<<63
			case 2:
				in.Least, in.Span = 0, math.MaxUint64-r.Uint64N(2)
			}
			before := randomKeep(r, n)
			keep := slices.Clone(before)
			if round%2 == 0 { // a condition that comes again may be looked up in another way
				if _, err := d.compare(page, n, &filter.Comparison{Interval: &in}, slices.Clone(before)); err != nil {
					t.Fatal(err)
				}
			}
			ok, err := d.compare(page, n, &filter.Comparison{Interval: &in}, keep)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				decided++
			}
			for i, x := range values {
				want := before.Get(i) && (!ok || (x-in.Least <= in.Span) != in.Negate)
				if keep.Get(i) != want {
					t.Fatalf("round %d: %#x with %+v: kept %t, want %t", round, x, in, keep.Get(i), want)
				}
			}
		}
	}
	if decided < 5000 {
		t.Errorf("only %d comparisons were made on the bits", decided)
	}
}

// codesPage is a block of codes of a dictionary of some values, and the dictionary as readers see it.
func codesPage(t testing.TB, r *rand.Rand, n, values, from int) ([]byte, *vector.Vector) {
	d := NewShared(MaxInverted)
	fill := &vector.Vector{Type: vector.StringType}
	for i := range values {
		fill.Append(i, vector.ConstString(fmt.Sprint("value ", i)), 0, 1)
	}
	if _, ok := d.Codes(nil, fill.Views, fill.Heap); !ok {
		t.Fatal("the values do not fit")
	}
	v := &vector.Vector{Type: vector.StringType}
	most := r.IntN(2) * 90 // of a hundred rows these have the same value, which makes codes worth compressing
	for i := range n {
		x := from
		if r.IntN(100) >= most {
			x += r.IntN(values - from)
		}
		v.Append(i, vector.ConstString(fmt.Sprint("value ", x)), 0, 1)
	}
	var e Encoder
	return e.Append(nil, v, n, d), fill
}

// TestKeepCodes holds conditions on the bits of codes, of all widths, against conditions on decoded codes; and codes of
// few rows against those of all.
func TestKeepCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 11))
	decided, inflated := 0, 0
	for round := range 400 {
		values := 2 + r.IntN(1<<(1+r.IntN(11)))
		n := 100 + r.IntN(400)
		page, dict := codesPage(t, r, n, values, r.IntN(values-1))
		var d Decoder
		v := &vector.Vector{}
		if err := d.Decode(v, page, vector.StringType, n, dict); err != nil {
			t.Fatal(err)
		}
		passes := randomKeep(r, values)
		before := randomKeep(r, n)
		keep := slices.Clone(before)
		codes, ok, err := d.Codes(page, n, round%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		for range 1 + r.IntN(3) { // the same once more changes nothing, though it may be found in another way
			keep = slices.Clone(before)
			d.KeepCodes(&codes, passes, keep)
		}
		if decided++; codes.Inflated() {
			inflated++
		}
		some := &vector.Vector{}
		if err := d.PickCodes(some, &codes, vector.StringType, dict, before.AppendRows(nil)); err != nil {
			t.Fatalf("codes of some rows: %v", err)
		}
		for i, c := range v.Codes {
			if want := before.Get(i) && passes.Get(int(c)); keep.Get(i) != want {
				t.Fatalf("round %d: code %d of %d: kept %t, want %t", round, c, values, keep.Get(i), want)
			}
		}
		for i, row := range before.AppendRows(nil) {
			if some.Codes[i] != v.Codes[row] {
				t.Fatalf("round %d: row %d has code %d, want %d", round, row, some.Codes[i], v.Codes[row])
			}
		}
	}
	if decided < 200 || inflated < 20 {
		t.Errorf("only %d of the blocks were read as bits, of which %d were compressed", decided, inflated)
	}
}

// TestKeepOfDamage: whatever a page holds, there is an error or an answer about rows that are there.
func TestKeepOfDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 11))
	const n = 500
	ints := &vector.Vector{Type: vector.Int64Type}
	for i := range n {
		ints.Ints = append(ints.Ints, int64(r.IntN(90)))
		if i%50 == 7 {
			ints.Ints[i] = 1 << 40
		}
	}
	var e Encoder
	numbers := e.Append(nil, ints, n, nil)
	codes, dict := codesPage(t, r, n, 200, 0)
	var d Decoder
	for round := range 20000 {
		page := slices.Clone(numbers)
		if round%2 == 0 {
			page = slices.Clone(codes)
		}
		for range 1 + r.IntN(3) {
			page[2+r.IntN(len(page)-2)] = byte(r.IntN(256))
		}
		page = page[:len(page)-r.IntN(3)]
		keep := vector.MakeBitmap(n)
		keep.Fill(n)
		_, err := d.compare(page, n, &filter.Comparison{Interval: &filter.Interval{Least: 10, Span: 20}}, keep)
		codes, ok, err2 := d.Codes(page, n, false)
		if ok {
			d.KeepCodes(&codes, randomKeep(r, 200), keep)
			if err := d.PickCodes(&vector.Vector{}, &codes, vector.StringType, dict,
				randomKeep(r, n).AppendRows(nil)); err != nil {
				err2 = err
			}
		}
		if err == nil && err2 == nil && keep.Count() > n {
			t.Fatal("rows that are not there were kept")
		}
	}
}

func BenchmarkKeep(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 11))
	const n = 8192
	var e Encoder
	for _, width := range []int{0, 2, 11, 20} {
		v := &vector.Vector{Type: vector.Int64Type}
		for range n {
			x := r.Int64N(1 << width)
			if width == 0 && r.IntN(8) == 0 {
				x = r.Int64N(300)
			}
			v.Ints = append(v.Ints, 200+x)
		}
		page := e.Append(nil, v, n, nil)
		b.Run(fmt.Sprintf("ints/width=%d", width), func(b *testing.B) {
			keep := vector.MakeBitmap(n)
			var d Decoder
			for b.Loop() {
				keep.Fill(n)
				if ok, err := d.compare(page, n, &filter.Comparison{Interval: &filter.Interval{Least: 204, Span: 1000}},
					keep); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
	for _, values := range []int{5, 20, 240, 1300} {
		page, _ := codesPage(b, r, n, values, 0)
		passes := randomKeep(r, values)
		b.Run(fmt.Sprintf("codes/values=%d", values), func(b *testing.B) {
			keep := vector.MakeBitmap(n)
			var d Decoder
			for b.Loop() {
				keep.Fill(n)
				codes, ok, err := d.Codes(page, n, false)
				if d.KeepCodes(&codes, passes, keep); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
