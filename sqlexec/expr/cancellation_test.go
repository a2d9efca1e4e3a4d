package expr

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
)

func never(int) error { return nil }

// TestNth holds the element at each place, and what lies before and after it, to the sorted list.
func TestNth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 126, 127, 128, 300, 5000} {
		for _, values := range []int{1, 2, 10, 1 << 40} {
			list := make([]float64, n)
			for i := range list {
				list[i] = float64(r.Int64N(int64(values)) - int64(values/2))
			}
			sorted := slices.Sorted(slices.Values(list))
			for k := 0; k < n; k += 1 + n/50 {
				got := slices.Clone(list)
				if err := nth(got, k, never); err != nil {
					t.Fatal(err)
				}
				if got[k] != sorted[k] || k > 0 && slices.Max(got[:k]) > got[k] ||
					k+1 < n && slices.Min(got[k+1:]) < got[k] {
					t.Fatalf("%d of %d values: place %d has %v, want %v", n, values, k, got[k], sorted[k])
				}
			}
		}
	}
}

// TestSortStable sorts around the ends of runs and keeps the order of equal elements.
func TestSortStable(t *testing.T) {
	type pair struct{ key, place int }
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, sortRun - 1, sortRun, sortRun + 1, 2 * sortRun, 3*sortRun + 7, 4*sortRun + 1} {
		list := make([]pair, n)
		for i := range list {
			list[i] = pair{r.IntN(100), i}
		}
		if err := sortStable(list, func(a, b pair) int { return cmp.Compare(a.key, b.key) }, never); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(list, func(a, b pair) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.place, b.place))
		}) {
			t.Errorf("%d elements are not sorted", n)
		}
	}
}

// TestAggregatesStop: the aggregates whose ends are long merge and give results in steps of a few thousand rows and
// stop at the next one when the query is gone. Others would do all of it.
func TestAggregatesStop(t *testing.T) {
	const rows = 8 * cancelRows
	c := &Context{}
	gone := errors.New("gone")
	texts, numbers := &Column{Index: 0, T: vector.StringType}, &Column{Index: 1, T: vector.FloatType}
	for _, k := range []struct {
		name     string
		args     []Expr
		distinct bool
		order    []SortKey
		groups   int
		merges   bool // whether merging is long, not only the result
	}{
		{"median", []Expr{numbers}, false, nil, 1, true},
		{"percentile_cont", []Expr{numbers, &Const{Value: vector.ConstFloat(vector.FloatType, 0.9)}}, false, nil, rows,
			true},
		{"array_agg", []Expr{texts}, false, []SortKey{{Expr: numbers}}, 1, false},
		{"string_agg", []Expr{texts}, true, nil, 1, true},
		{"count", []Expr{texts}, true, nil, 2, true},
		{"max", []Expr{texts}, false, nil, rows, true},
		{"last_value", []Expr{texts}, false, []SortKey{{Expr: numbers}}, rows, true},
		{"nth_value", []Expr{texts, Int(2)}, false, []SortKey{{Expr: numbers}}, 1, false},
		{"percentile_disc", []Expr{texts, &Const{Value: vector.ConstFloat(vector.FloatType, 0.9)}}, false, nil, rows,
			true},
		{"percentile_disc", []Expr{texts, &Const{Value: vector.ConstFloat(vector.FloatType, 0.9)}}, false, nil, 1,
			false},
		{"mode", []Expr{texts}, false, nil, 1, true},
		{"histogram", []Expr{texts}, false, nil, 1, true},
		{"arg_max", []Expr{texts, numbers}, false, nil, rows, true},
		{"approx_top_k", []Expr{texts, Int(3)}, false, nil, rows, true},
		{"json_object_agg", []Expr{texts, numbers}, false, nil, 1, false},
	} {
		t.Run(k.name, func(t *testing.T) {
			a, err := c.Aggregate(k.name, k.args, k.distinct, k.order, nil)
			if err != nil {
				t.Fatal(err)
			}
			left := 1 << 30
			cancelled := func() error {
				if left--; left < 0 {
					return gone
				}
				return nil
			}
			fill := func() *State {
				acc := a.Within(stopping(cancelled))
				acc.Grow(k.groups)
				program, err := Compile(a.Inputs())
				if err != nil {
					t.Fatal(err)
				}
				out, groups := make([]*vector.Vector, len(a.Inputs())), make([]uint32, 1024)
				for from := 0; from < rows; from += len(groups) {
					b := &vector.Batch{N: len(groups),
						Cols: []*vector.Vector{{Type: vector.StringType}, {Type: vector.FloatType}}}
					for i := range groups {
						row := (from + i) * 7919 % rows
						groups[i] = uint32((from + i) % k.groups)
						b.Cols[0].Append(i, vector.ConstString(
							string(AppendText(nil, vector.ConstInt(vector.Int64Type, int64(row)), 0))), 0, 1)
						b.Cols[1].Floats = append(b.Cols[1].Floats, float64(row))
					}
					if err := program.Eval(b, out); err != nil {
						t.Fatal(err)
					}
					if err := acc.Add(b.N, groups, out, nil); err != nil {
						t.Fatal(err)
					}
				}
				return acc
			}
			ids := make([]uint32, k.groups)
			for i := range ids {
				ids[i] = uint32(i)
			}
			all, other := fill(), fill()
			left = 1
			if err := all.Merge(other, ids); k.merges && (!errors.Is(err, gone) || left != -1) {
				t.Errorf("merging ends with %v, asked %d times after the end", err, -1-left)
			}
			if k.name == "count" {
				return // the result is a short loop
			}
			all, left = fill(), 1
			if _, err := all.Result(k.groups); !errors.Is(err, gone) || left != -1 {
				t.Errorf("the result ends with %v, asked %d times after the end", err, -1-left)
			}
		})
	}
}

// stopping is a memory without bounds of a query that ends with an error.
type stopping func() error

func (s stopping) Err() error          { return s() }
func (s stopping) Left() int64         { return 1 << 40 }
func (s stopping) Reserve(int64) error { return nil }
func (s stopping) Release(int64)       {}
