package expr

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/convert"
	"varve/engine/vector"
)

// run returns the result of an aggregate over rows in two workers' states that are merged.
func run(t *testing.T, a *Agg, groups []uint32, n int, args ...*vector.Vector) *vector.Vector {
	t.Helper()
	rows := len(groups)
	x, y := a.New(), a.New()
	x.Grow(n)
	y.Grow(n)
	for from := 0; from < rows; from += 64 {
		to := min(from+64, rows)
		part := make([]*vector.Vector, len(args))
		for i, v := range args {
			part[i] = v.Slice(from, to)
		}
		acc := []Accumulator{x, y}[from/64%2]
		if err := acc.Add(to-from, groups[from:to], part, nil); err != nil {
			t.Fatal(err)
		}
	}
	same := make([]uint32, n)
	for i := range same {
		same[i] = uint32(i)
	}
	if err := x.Merge(y, same, same); err != nil {
		t.Fatal(err)
	}
	v, err := x.Result(n)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// bind binds an aggregate over columns of the given types.
func bind(t *testing.T, name string, distinct bool, args ...Expr) *Agg {
	t.Helper()
	a, err := (&Context{}).Aggregate(name, args, distinct, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAggregatesAgainstNaive(t *testing.T) {
	const n, groups = 5000, 7
	r := rand.New(rand.NewPCG(1, 2))
	v := &vector.Vector{Type: vector.FloatType}
	ids := make([]uint32, n)
	byGroup := make([][]float64, groups)
	for i := range n {
		ids[i] = uint32(r.IntN(groups - 1)) // the last group stays empty
		if r.IntN(5) == 0 {
			v.AppendNulls(i, 1)
			continue
		}
		x := math.Round(math.Exp(r.NormFloat64()*2)*8) / 8
		if r.IntN(10) == 0 {
			x = -x
		}
		v.Append(i, vector.ConstFloat(v.Type, x), 0, 1)
		byGroup[ids[i]] = append(byGroup[ids[i]], x)
	}
	col := &Column{T: vector.FloatType, Null: true}
	results := map[string]*vector.Vector{}
	for _, name := range []string{"count", "sum", "avg", "min", "max", "stddev", "median"} {
		results[name] = run(t, bind(t, name, false, col), ids, groups, v)
	}
	results["distinct"] = run(t, bind(t, "count", true, col), ids, groups, v)
	results["p99"] = run(t, bind(t, "approx_percentile_cont", false, col,
		&Const{Value: vector.ConstFloat(vector.FloatType, 0.99)}), ids, groups, v)
	for g, xs := range byGroup {
		slices.Sort(xs)
		want := map[string]float64{"count": float64(len(xs)),
			"distinct": float64(len(slices.Compact(slices.Clone(xs))))}
		if len(xs) > 0 {
			for _, x := range xs {
				want["sum"] += x
			}
			want["avg"] = want["sum"] / float64(len(xs))
			for _, x := range xs {
				want["stddev"] += (x - want["avg"]) * (x - want["avg"])
			}
			want["stddev"] = math.Sqrt(want["stddev"] / float64(len(xs)-1))
			want["min"], want["max"] = xs[0], xs[len(xs)-1]
			want["median"] = (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
			want["p99"] = xs[int(0.99*float64(len(xs)-1))]
		}
		for name, v := range results {
			w, some := want[name]
			if v.IsNull(g) == some {
				t.Errorf("%s of group %d: NULL is %v", name, g, v.IsNull(g))
				continue
			}
			if !some {
				continue
			}
			got, slack := convert.Number(v, g), 1e-9*math.Max(1, math.Abs(w))
			if name == "p99" {
				slack = 0.05 * math.Abs(w)
			}
			if math.Abs(got-w) > slack {
				t.Errorf("%s of group %d: got %v, want %v", name, g, got, w)
			}
		}
	}
}

// TestGroupsOfManyShapes counts and adds up rows of one group, of few of which one has most rows, and of many.
func TestGroupsOfManyShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	column := func(v vector.Type) Expr { return &Column{Index: 0, T: v} }
	for _, groups := range []int{1, 2, 255, 256, 257, 5000} {
		for _, n := range []int{0, 1, 63, 64, 511, 512, 1025, vector.Size} {
			ids := make([]uint32, n)
			ints, floats := &vector.Vector{Type: i64}, &vector.Vector{Type: f64}
			counts, sums := make([]int64, groups), make([]int64, groups)
			for i := range ids {
				if r.IntN(4) == 0 {
					ids[i] = uint32(r.IntN(groups))
				}
				x := r.Int64N(1000)
				ints.Ints, floats.Floats = append(ints.Ints, x), append(floats.Floats, float64(x))
				counts[ids[i]]++
				sums[ids[i]] += x
			}
			count, sum, mean := bind(t, "count", false).New(), bind(t, "sum", false, column(i64)).New(),
				bind(t, "avg", false, column(f64)).New()
			for _, a := range []struct {
				acc  Accumulator
				args []*vector.Vector
			}{{count, nil}, {sum, []*vector.Vector{ints}}, {mean, []*vector.Vector{floats}}} {
				a.acc.Grow(groups)
				if err := a.acc.Add(n, ids, a.args, nil); err != nil {
					t.Fatal(err)
				}
			}
			c, _ := count.Result(groups)
			s, _ := sum.Result(groups)
			m, _ := mean.Result(groups)
			for g := range groups {
				if c.Int(g) != counts[g] || s.IsNull(g) != (counts[g] == 0) || s.Int(g) != sums[g] ||
					!m.IsNull(g) && m.Float(g) != float64(sums[g])/float64(counts[g]) {
					t.Fatalf("%d groups, %d rows: group %d has count %d, sum %d, mean %v; want %d, %d", groups, n, g,
						c.Int(g), s.Int(g), m.Float(g), counts[g], sums[g])
				}
			}
		}
	}
}
