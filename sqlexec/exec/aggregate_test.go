package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

func aggregateOf(t testing.TB, name string, distinct bool, filter expr.Expr, args ...expr.Expr) *expr.Agg {
	t.Helper()
	a, err := (&expr.Context{}).Aggregate(name, args, distinct, nil, filter)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// naiveGroup is what TestAggregate counts by hand for a group.
type naiveGroup struct {
	rows, values, kept int64
	sum                int64
	min, max           int
	texts              map[string]bool
}

// naiveGroups groups rows by the texts of their first columns. x is the column that is added up, s the one whose
// distinct values are counted, both at the end.
func naiveGroups(b *vector.Batch, keys int, bound int64) map[string]*naiveGroup {
	x, s := b.Cols[keys], b.Cols[keys+1]
	groups := map[string]*naiveGroup{}
	for i := range b.N {
		key := ""
		for _, v := range b.Cols[:keys] {
			key += show(v, i) + "|"
		}
		g := groups[key]
		if g == nil {
			g = &naiveGroup{min: -1, max: -1, texts: map[string]bool{}}
			groups[key] = g
		}
		g.rows++
		if !s.IsNull(i) {
			g.texts[show(s, i)] = true
		}
		if x.IsNull(i) {
			continue
		}
		g.values++
		g.sum += x.Int(i)
		if x.Int(i) > bound {
			g.kept++
		}
		if g.min < 0 || x.Int(i) < x.Int(g.min) {
			g.min = i
		}
		if g.max < 0 || x.Int(i) > x.Int(g.max) {
			g.max = i
		}
	}
	return groups
}

// checkGroups runs the aggregation of naiveGroups on the executor and compares.
func checkGroups(t *testing.T, b *vector.Batch, specs []spec, workers int) {
	t.Helper()
	keys := len(specs) - 2
	cols := columns(specs...)
	x, s := cols[keys], cols[keys+1]
	const bound = 1000
	aggs := []*expr.Agg{
		aggregateOf(t, "count", false, nil), aggregateOf(t, "count", false, nil, x),
		aggregateOf(t, "count", false, call(t, ">", x, expr.Int(bound)), x), aggregateOf(t, "sum", false, nil, x),
		aggregateOf(t, "min", false, nil, x), aggregateOf(t, "max", false, nil, x),
		aggregateOf(t, "count", true, nil, s),
		aggregateOf(t, "sum", false, call(t, "is null", s), x),
	}
	sink, err := Aggregate(cols[:keys], aggs, NewBudget(0))
	if err != nil {
		t.Fatal(err)
	}
	rows := run(t, Pipeline{Stream{Source: newMixed(b, 700)}, sink}, workers)
	want := naiveGroups(b, keys, bound)
	if keys == 0 && b.N == 0 {
		want[""] = &naiveGroup{min: -1, max: -1}
	}
	if len(rows) != len(want) {
		t.Fatalf("%d groups, want %d", len(rows), len(want))
	}
	for _, row := range rows {
		key := ""
		for _, k := range row[:keys] {
			key += k + "|"
		}
		g := want[key]
		if g == nil {
			t.Fatalf("group %q is none or there twice", key)
		}
		delete(want, key)
		sum, least, most := "NULL", "NULL", "NULL"
		if g.values > 0 {
			sum, least, most = strconv.FormatInt(g.sum, 10), show(b.Cols[keys], g.min), show(b.Cols[keys], g.max)
		}
		should := []string{fmt.Sprint(g.rows), fmt.Sprint(g.values), fmt.Sprint(g.kept), sum, least, most,
			fmt.Sprint(len(g.texts))}
		if got := row[keys : keys+len(should)]; strings.Join(got, " ") != strings.Join(should, " ") {
			t.Fatalf("group %q: got %q, want %q", key, got, should)
		}
	}
}

// TestAggregate groups by every type, by several columns and by none, with one worker and with two.
func TestAggregate(t *testing.T) {
	tail := []spec{{vector.Int64Type, 300, true}, {vector.StringType, 25, true}}
	var sets [][]spec
	for _, k := range keyTypes {
		sets = append(sets, []spec{{k, 60, true}}, []spec{{k, 60, false}})
	}
	sets = append(sets, nil,
		[]spec{{vector.StringType, 8, true}, {vector.FloatType, 12, true}},
		[]spec{{vector.BoolType, 2, true}, {vector.Interval, 9, true}, {vector.StringType, 5, true},
			{vector.Timestamp(9), 4, false}})
	r := rand.New(rand.NewPCG(3, 3))
	for _, keys := range sets {
		specs := append(append([]spec{}, keys...), tail...)
		for _, n := range []int{0, 1, 63, 64, 65, 5000} {
			for workers := 1; workers <= 2; workers++ {
				t.Run(fmt.Sprintf("%v/%d rows/%d workers", typesOf(keys), n, workers), func(t *testing.T) {
					checkGroups(t, randomTable(r, n, specs...), specs, workers)
				})
			}
		}
	}
}

// TestManyGroups has more groups than a worker keeps for itself: the workers number them together.
func TestManyGroups(t *testing.T) {
	if testing.Short() {
		defer func(n int) { shareGroups = n }(shareGroups)
		shareGroups = min(shareGroups, 1<<12)
	}
	r := rand.New(rand.NewPCG(4, 4))
	for _, k := range []spec{{vector.Int64Type, 3 * shareGroups, true}, {vector.StringType, 3 * shareGroups, true},
		{vector.FloatType, 3 * shareGroups, false}} {
		specs := []spec{k, {vector.Int64Type, 300, true}, {vector.StringType, 3, true}}
		b := randomTable(r, 5*shareGroups, specs...)
		for workers := 1; workers <= 2; workers++ {
			if workers == 1 && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d workers", k.t, workers), func(t *testing.T) { checkGroups(t, b, specs, workers) })
		}
	}
	t.Run("two keys", func(t *testing.T) {
		specs := []spec{{vector.Int64Type, 400, true}, {vector.StringType, 400, true}, {vector.Int64Type, 300, true},
			{vector.StringType, 3, true}}
		checkGroups(t, randomTable(r, 6*shareGroups, specs...), specs, 2)
	})
	t.Run("four keys", func(t *testing.T) {
		specs := []spec{{vector.StringType, 300, true}, {vector.BoolType, 2, true}, {vector.FloatType, 30, true},
			{vector.StringType, 30, false},
			{vector.Int64Type, 300, true}, {vector.StringType, 3, true}}
		checkGroups(t, randomTable(r, 6*shareGroups, specs...), specs, 2)
	})
}

// TestDistinct keeps one of each set of equal rows, NULLs equal.
func TestDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	specs := []spec{{vector.FloatType, 9, true}, {vector.StringType, 9, true}}
	b := randomTable(r, 4000, specs...)
	seen := map[string]bool{}
	var want [][]string
	for _, row := range showRows(b) {
		if key := strings.Join(row, "|"); !seen[key] {
			seen[key] = true
			want = append(want, row)
		}
	}
	sink, err := Distinct(typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "distinct", sorted(run(t, Pipeline{Stream{Source: newMixed(b, 100)}, sink}, 2)), sorted(want))
}

// TestMemoryBudget: each sink that keeps rows ends with the error of the contract when they do not fit.
func TestMemoryBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	specs := []spec{{vector.StringType, 20_000, false}}
	b := randomTable(r, 40_000, specs...)
	cols := columns(specs...)
	order := []expr.SortKey{{Expr: cols[0]}}
	sinks := map[string]func(*Budget) (Sink, error){
		"aggregate": func(m *Budget) (Sink, error) { return Aggregate(cols, nil, m) },
		"count distinct": func(m *Budget) (Sink, error) {
			return Aggregate(nil, []*expr.Agg{aggregateOf(t, "count", true, nil, cols[0])}, m)
		},
		"array_agg": func(m *Budget) (Sink, error) {
			return Aggregate(nil, []*expr.Agg{aggregateOf(t, "array_agg", false, nil, cols[0])}, m)
		},
		"sort":  func(m *Budget) (Sink, error) { return Sort(order, typesOf(specs), m) },
		"top k": func(m *Budget) (Sink, error) { return TopK(order, 30_000, typesOf(specs), nil, m) },
		"join": func(m *Budget) (Sink, error) {
			j, err := NewJoin(JoinSpec{Probe: cols, Build: cols, ProbeTypes: typesOf(specs), BuildTypes: typesOf(specs),
				Budget: m})
			return j.Build(), err
		},
	}
	for name, make := range sinks {
		t.Run(name, func(t *testing.T) {
			pool := NewPool(200_000)
			budget := pool.Budget(context.Background())
			sink, err := make(budget)
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&Pipeline{Stream{Source: newMixed(b, 2000)}, sink}).Run(context.Background(), 2)
			if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "memory") {
				t.Errorf("too little memory: %v", err)
			}
			if budget.Close(); pool.Used() != 0 {
				t.Errorf("%d bytes are still taken", pool.Used())
			}
		})
	}
}

// TestManyKeys groups by hundreds of keys, each of thousands of values: what is kept for each of them is small, and
// counted before a batch has been through all of them.
func TestManyKeys(t *testing.T) {
	const count = 400
	b := &vector.Batch{N: vector.Size}
	var keys []expr.Expr
	for k := range count {
		v := &vector.Vector{Type: vector.Int64Type}
		for i := range vector.Size {
			v.Ints = append(v.Ints, int64(i*(k+1)))
		}
		b.Cols = append(b.Cols, v)
		keys = append(keys, &expr.Column{Index: k, T: v.Type})
	}
	for _, c := range []struct {
		limit int64
		fails bool
	}{{160 << 20, false}, {8 << 20, true}} {
		budget := NewBudget(c.limit)
		sink, err := Aggregate(keys, nil, budget)
		if err != nil {
			t.Fatal(err)
		}
		err = sink.Step(0)(b)
		if (status.Of(err) == status.RuntimeResourcesExhausted) != c.fails {
			t.Errorf("%d MiB: %v", c.limit>>20, err)
		}
		groups := sink.(*aggregateSink).workers[0].groups
		if held := groups.bytes(); held > c.limit*2 {
			t.Errorf("%d MiB: groups hold %d MB", c.limit>>20, held>>20)
		}
		if !c.fails && groups.n != vector.Size {
			t.Errorf("%d groups", groups.n)
		}
	}
}
