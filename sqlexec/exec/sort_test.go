package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// naiveOrder orders rows of one batch as the contract says: NaN after every number, NULL by the key.
func naiveOrder(b *vector.Batch, order []expr.SortKey) []int {
	rows := make([]int, b.N)
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(x, y int) int {
		for _, k := range order {
			v := b.Cols[k.Expr.(*expr.Column).Index]
			switch xn, yn := v.IsNull(x), v.IsNull(y); {
			case xn && yn:
				continue
			case xn != yn:
				if xn == k.NullsFirst {
					return -1
				}
				return 1
			}
			d := naiveCompare(v, x, y)
			if k.Desc {
				d = -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return rows
}

func naiveCompare(v *vector.Vector, x, y int) int {
	less := func(a, b bool) int {
		switch {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	}
	switch v.Type.ID {
	case vector.TypeInterval:
		length := func(i int) int64 {
			m, d, ns := convert.Interval(v.Bytes(i))
			return (int64(m)*30+int64(d))*86400e9 + ns
		}
		return less(length(x) < length(y), length(x) > length(y))
	case vector.TypeDecimal:
		return convert.DecimalInt(v.Bytes(x)).Cmp(convert.DecimalInt(v.Bytes(y)))
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return less(!v.Bool(x) && v.Bool(y), v.Bool(x) && !v.Bool(y))
	case vector.Int64:
		return less(v.Int(x) < v.Int(y), v.Int(x) > v.Int(y))
	case vector.Uint64:
		return less(v.Uint(x) < v.Uint(y), v.Uint(x) > v.Uint(y))
	case vector.Float64:
		a, b := v.Float(x), v.Float(y)
		return less(a < b || a == a && b != b, a > b || a != a && b == b)
	}
	return less(v.Str(x) < v.Str(y), v.Str(x) > v.Str(y))
}

// withRowNumber adds a column that numbers the rows.
func withRowNumber(b *vector.Batch) *vector.Batch {
	v := &vector.Vector{Type: vector.Int64Type}
	for i := range b.N {
		v.Ints = append(v.Ints, int64(i))
	}
	b.Cols = append(b.Cols, v)
	return b
}

// orders are keys over all columns but the last, in both directions, NULL on both ends.
func orders(r *rand.Rand, specs []spec) []expr.SortKey {
	var keys []expr.SortKey
	for _, i := range r.Perm(len(specs)) {
		keys = append(keys, expr.SortKey{Expr: columns(specs...)[i], Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0})
	}
	return keys
}

// TestSort holds Sort to a stable naive sort for every type, direction and place of NULL, one and several keys.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var sets [][]spec
	for _, k := range keyTypes {
		sets = append(sets, []spec{{k, 40, true}},
			[]spec{{k, 6, false}, {vector.StringType, 9, true}, {vector.FloatType, 12, true}})
	}
	for _, specs := range sets {
		for range 4 {
			n := r.IntN(3 * vector.Size)
			b := withRowNumber(randomTable(r, n, specs...))
			order := orders(r, specs)
			types := append(typesOf(specs), vector.Int64Type)
			name := fmt.Sprintf("%s: %d rows by %s", specs[0].t, n, orderText(order))
			var want [][]string
			all := showRows(b)
			for _, i := range naiveOrder(b, order) {
				want = append(want, all[i])
			}
			sink, err := Sort(order, types, NewBudget(0))
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, name, run(t, Pipeline{Stream{Source: newMixed(b, 300)}, sink}, 1), want)
			for _, k := range []int{0, 1, 10, n, n + 1} {
				top, err := TopK(order, k, types, nil, NewBudget(0))
				if err != nil {
					t.Fatal(err)
				}
				sameRows(t, fmt.Sprintf("first %d of %s", k, name),
					run(t, Pipeline{Stream{Source: newMixed(b, 300)}, top}, 1), want[:min(k, n)])
			}
		}
	}
}

// TestSortWorkers: several workers give the same keys in the same order; rows of equal keys in any.
func TestSortWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	specs := []spec{{vector.StringType, 5000, true}, {vector.Int64Type, 3, false}}
	b := randomTable(r, 4*chunkRows+77, specs...)
	order := orders(r, specs)
	all := showRows(b)
	var want [][]string
	for _, i := range naiveOrder(b, order) {
		want = append(want, all[i])
	}
	sink, err := Sort(order, typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "sort", run(t, Pipeline{Stream{Source: newMixed(b, 1000)}, sink}, 2), want)
	for _, k := range []int{1, 100, 5000, 2 * chunkRows} {
		top, err := TopK(order, k, typesOf(specs), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, fmt.Sprint("top ", k), run(t, Pipeline{Stream{Source: newMixed(b, 1000)}, top}, 2), want[:k])
	}
}

// TestTopKMemory: the rows that have gone from a top-k need no memory. Every row of an ascending column is better than
// those before it when the order descends.
func TestTopKMemory(t *testing.T) {
	b := &vector.Batch{N: 400 * vector.Size, Cols: []*vector.Vector{{Type: vector.Int64Type}}}
	for i := range b.N {
		b.Cols[0].Ints = append(b.Cols[0].Ints, int64(i))
	}
	order := []expr.SortKey{{Expr: columns(spec{t: vector.Int64Type})[0], Desc: true}}
	top, err := TopK(order, 3, []vector.Type{vector.Int64Type}, nil, NewBudget(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	n := b.N
	want := [][]string{{fmt.Sprint(n - 1)}, {fmt.Sprint(n - 2)}, {fmt.Sprint(n - 3)}}
	sameRows(t, "top 3", run(t, Pipeline{Stream{Source: Values(b)}, top}, 2), want)
}

// TestFilterProjectLimit runs the streaming operators together against plain loops.
func TestFilterProjectLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	specs := []spec{{vector.Int64Type, 900, true}, {vector.StringType, 30, true}, {vector.FloatType, 50, false}}
	cols := columns(specs...)
	for range 20 {
		b := randomTable(r, r.IntN(5*vector.Size), specs...)
		bound := int64(r.IntN(2_000_000))
		conds := []expr.Expr{call(t, ">", cols[0], expr.Int(bound)), call(t, "is not null", cols[1])}
		filter, err := Filter(conds, nil)
		if err != nil {
			t.Fatal(err)
		}
		project, err := Project([]expr.Expr{cols[1], call(t, "+", cols[0], expr.Int(1))}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]string
		for i := range b.N {
			if x, s := b.Cols[0], b.Cols[1]; !x.IsNull(i) && x.Int(i) > bound && !s.IsNull(i) {
				want = append(want, []string{show(s, i), fmt.Sprint(x.Int(i) + 1)})
			}
		}
		offset, limit := int64(r.IntN(500)), int64(r.IntN(3000))-1 // -1: no limit
		ops := []Operator{filter, project, Limit(offset, limit)}
		got := run(t, Pipeline{Stream{Source: newMixed(b, 1+r.IntN(3000)), Ops: ops}, &collector{}}, 1)
		want = want[min(int(offset), len(want)):]
		if limit >= 0 {
			want = want[:min(int(limit), len(want))]
		}
		sameRows(t, fmt.Sprintf("%d rows, limit %d offset %d", b.N, limit, offset), got, want)
	}
}

// TestSortOfNothing: no rows give no rows, and a sink that never ran a worker's rows finishes.
func TestSortOfNothing(t *testing.T) {
	order := []expr.SortKey{{Expr: columns(spec{t: vector.StringType})[0]}}
	sink, err := Sort(order, []vector.Type{vector.StringType}, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := (&Pipeline{Stream{Source: Values(&vector.Batch{})}, sink}).Run(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if rows := readAll(t, src); len(rows) != 0 {
		t.Errorf("rows out of nothing: %q", rows)
	}
}

// TestSortIsCancelled: a sort of many rows ends when the query does, also once all rows are there.
func TestSortIsCancelled(t *testing.T) {
	specs := []spec{{vector.StringType, 5000, true}}
	b := randomTable(newRand(1), 3*chunkRows, specs...)
	sink, err := Sort([]expr.SortKey{{Expr: columns(specs...)[0]}}, typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	step := sink.Step(0)
	each := Values(b).Reader(0)
	for part := (vector.Batch{}); ; {
		if ok, err := each.Next(&part); err != nil {
			t.Fatal(err)
		} else if !ok {
			break
		}
		if err := step(&part); err != nil {
			t.Fatal(err)
		}
	}
	s := sink.(*sortSink).workers[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.sorted(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("sorting runs for a query that is gone: %v", err)
	}
	late := doom(4) // sorts the three chunks and goes while they are merged
	if _, err := s.sorted(late, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("merging runs for a query that is gone: %v", err)
	}
	if n := late.after.Load(); n != 1 {
		t.Errorf("it asks %d times more", n)
	}
}
