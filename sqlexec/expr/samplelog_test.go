package expr

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
)

// sampled feeds batches of values of some groups into a percentile, and into another that puts nothing off.
func sampled(t testing.TB, r *rand.Rand, rows, groups int, exact bool) (got, want *samples) {
	got, want = &samples{t: f64, p: 0.9, exact: exact}, &samples{t: f64, p: 0.9, exact: exact}
	got.Grow(groups)
	want.Grow(groups)
	ids := make([]uint32, vector.Size)
	for from := 0; from < rows; from += vector.Size {
		v := &vector.Vector{Type: f64, Floats: make([]float64, vector.Size)}
		for i := range ids {
			ids[i] = uint32(r.IntN(groups) * r.IntN(groups) / groups)
			v.Floats[i] = math.Exp(r.NormFloat64()*3) - 0.01
			if r.IntN(5000) == 0 {
				v.Floats[i] = []float64{math.NaN(), math.Inf(-1), 0, math.Copysign(0, -1)}[r.IntN(4)]
			}
			want.put(&want.groups[ids[i]], v.Floats[i])
		}
		if err := got.Add(vector.Size, ids, []*vector.Vector{v}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return got, want
}

// TestPercentilesPutOff: values that are put off give what they give one by one, for few groups and many, and when two
// workers' are merged.
func TestPercentilesPutOff(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for _, groups := range []int{1, minLogGroups - 1, minLogGroups, 700, maxLogGroups + 1} {
		for _, exact := range []bool{false, true} {
			rows := logRows
			if groups < minLogGroups || groups > maxLogGroups {
				rows /= 8 // no log fills
			}
			got, want := sampled(t, r, 3*rows/2, groups, exact)
			other, otherWant := sampled(t, r, rows/2, groups, exact)
			to := make([]uint32, groups)
			for g := range to {
				to[g] = uint32(groups - 1 - g)
			}
			for _, m := range []struct{ into, from *samples }{{got, other}, {want, otherWant}} {
				if err := m.into.Merge(m.from, upTo(groups), to); err != nil {
					t.Fatal(err)
				}
			}
			a, err := got.Result(groups)
			if err != nil {
				t.Fatal(err)
			}
			b, err := want.Result(groups)
			if err != nil {
				t.Fatal(err)
			}
			for g := range groups {
				if a.IsNull(g) != b.IsNull(g) || !a.IsNull(g) && fmt.Sprint(a.Float(g)) != fmt.Sprint(b.Float(g)) {
					t.Fatalf("%d groups, exact %v: group %d has %v, want %v", groups, exact, g, a.Float(g), b.Float(g))
				}
			}
		}
	}
}

// TestBucketsOfFarValues: values far apart take little memory, and what is between them comes out in order.
func TestBucketsOfFarValues(t *testing.T) {
	values := []float64{0, -1, 1, 1e-300, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), 5, 1000}
	s, other := &samples{t: f64, p: 0.5}, &samples{t: f64, p: 0.5}
	for _, part := range []*samples{s, other} {
		part.Grow(1)
		for i := range 200 * len(values) {
			if err := part.put(&part.groups[0], values[i%len(values)]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Merge(other, []uint32{0}, []uint32{0}); err != nil {
		t.Fatal(err)
	}
	if s.Bytes() > 64<<10 {
		t.Errorf("%d different values take %d bytes", len(values), s.Bytes())
	}
	b := s.groups[0].buckets
	slices.SortFunc(values, func(x, y float64) int { return cmp.Compare(SortableFloat(x), SortableFloat(y)) })
	for i, want := range values {
		got := b.quantile((float64(i) + 0.5) / float64(len(values)))
		far := math.Abs(got - want)
		if got != want && far > math.Abs(want)*0.01+1e-300 && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("value %d of %v comes out as %v", i, values, got)
		}
	}
}

// BenchmarkPercentile: values of as many groups.
func BenchmarkPercentile(b *testing.B) {
	for _, groups := range []int{1, 20, 1440, 20_000} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			v := &vector.Vector{Type: f64, Floats: make([]float64, vector.Size)}
			ids := make([]uint32, vector.Size)
			const rows = 1 << 20
			for b.Loop() {
				s := &samples{t: f64, p: 0.99}
				s.Grow(groups)
				for range rows / vector.Size {
					for i := range ids {
						ids[i], v.Floats[i] = uint32(r.IntN(groups)), float64(10+r.IntN(100_000))/16
					}
					if err := s.Add(vector.Size, ids, []*vector.Vector{v}, nil); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.Result(groups); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

// TestPercentilesShare: aggregates whose states are made together give what each gives alone.
func TestPercentilesShare(t *testing.T) {
	x, y := &Column{Index: 0, T: f64}, &Column{Index: 1, T: f64}
	p := func(at float64) Expr { return &Const{Value: vector.ConstFloat(f64, at)} }
	aggs := []*Agg{
		bind(t, "approx_percentile_cont", false, x, p(0.5)),
		bind(t, "approx_percentile_cont", false, &Column{Index: 0, T: f64}, p(0.99)),
		bind(t, "approx_percentile_cont", false, y, p(0.5)), bind(t, "percentile_cont", false, x, p(0.5)),
		bind(t, "approx_percentile_cont", true, x, p(0.9)), bind(t, "median", false, x),
		bind(t, "approx_percentile_cont", false, x, p(0.9)),
	}
	filtered := *aggs[1]
	filtered.Filter = &Const{Value: vector.ConstBool(true)}
	aggs = append(aggs, &filtered)
	const groups, n = 90, vector.Size
	r := rand.New(rand.NewPCG(2, 2))
	together, shared := States(aggs, nil), 0
	alone := make([]Accumulator, len(aggs))
	for i, a := range aggs {
		alone[i] = a.New()
		if _, ok := together[i].acc.(*furtherPercentile); ok {
			shared++
		}
		alone[i].Grow(groups)
		together[i].Grow(groups)
	}
	if shared != 3 {
		t.Errorf("%d states are shared, want 3: two approximate ones and an exact one", shared)
	}
	ids, keep := make([]uint32, n), vector.MakeBitmap(n)
	for range 40 {
		vs := []*vector.Vector{{Type: f64, Floats: make([]float64, n)}, {Type: f64, Floats: make([]float64, n)}}
		for i := range ids {
			ids[i], vs[0].Floats[i], vs[1].Floats[i] = uint32(r.IntN(groups)), r.ExpFloat64(), r.NormFloat64()
		}
		keep.Fill(n / 2)
		for i, a := range aggs {
			rows := keep
			if a.Filter == nil {
				rows = nil
			}
			arg := vs[a.Args[0].(*Column).Index : a.Args[0].(*Column).Index+1]
			for _, acc := range []Accumulator{alone[i], together[i].acc} {
				if err := acc.Add(n, ids, arg, rows); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i := range aggs {
		want, err := alone[i].Result(groups)
		if err != nil {
			t.Fatal(err)
		}
		got, err := together[i].Result(groups)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Floats) != fmt.Sprint(want.Floats) {
			t.Errorf("aggregate %d: %v, alone %v", i, got.Floats[:5], want.Floats[:5])
		}
	}
}
