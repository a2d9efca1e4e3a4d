package exec

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/expr"
)

// manyKeyed is a table in which rows are alike in many columns, and an order by all of them and by the row's number.
func manyKeyed(rows, columns int) (*vector.Batch, []vector.Type, []expr.SortKey) {
	r := newRand(uint64(rows))
	var specs []spec
	for i := range columns {
		specs = append(specs, spec{keyTypes[i%len(keyTypes)], 1 + i%3, true})
	}
	b := withRowNumber(randomTable(r, rows, specs...))
	order := append(orders(r, specs),
		expr.SortKey{Expr: &expr.Column{Index: len(specs), T: vector.Int64Type}, Desc: true})
	return b, append(typesOf(specs), vector.Int64Type), order
}

// TestSortByManyKeys: an order of more keys than rows have from the start is that of a naive sort, in memory and in
// files, whatever rows are alike in.
func TestSortByManyKeys(t *testing.T) {
	for _, c := range []struct {
		columns int
		limit   int64
		rows    int
	}{
		{leadKeys, 0, 900}, {leadKeys + 1, 0, 900}, {2*leadKeys - 1, 0, 5000}, {40, 0, 300}, {20, 1 << 20, 6000},
	} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprint(c.columns, c.rows, workers), func(t *testing.T) {
				b, types, order := manyKeyed(c.rows, c.columns)
				all := showRows(b)
				var want [][]string
				for _, i := range naiveOrder(b, order) {
					want = append(want, all[i])
				}
				fs := vfs.NewMem()
				d := disk(t, fs, 1<<30)
				pool := NewPool(c.limit)
				budget := pool.Budget(context.Background())
				budget.SpillTo(d.Space())
				sink, err := Sort(order, types, budget)
				if err != nil {
					t.Fatal(err)
				}
				sameRows(t, "sort", run(t, Pipeline{Stream{Source: newMixed(b, 200)}, sink}, workers), want)
				if _, files := d.Written(); (files > 1) != (c.limit > 0) {
					t.Errorf("%d files", files)
				}
				if budget.Peak() > pool.limit {
					t.Errorf("%d bytes of memory, the limit is %d", budget.Peak(), pool.limit)
				}
				budget.Close()
				if names := left(t, fs); len(names) > 0 || pool.Used() != 0 {
					t.Errorf("left behind: %v, %d bytes in memory", names, pool.Used())
				}
			})
		}
	}
}

// TestSortByManyKeysKeepsOrder: rows that are alike in all keys keep the order they came in.
func TestSortByManyKeysKeepsOrder(t *testing.T) {
	b, types, order := manyKeyed(3000, 20)
	order = order[:len(order)-1]
	all := showRows(b)
	var want [][]string
	for _, i := range naiveOrder(b, order) {
		want = append(want, all[i])
	}
	sink, err := Sort(order, types, NewBudget(0))
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "sort", run(t, Pipeline{Stream{Source: newMixed(b, 200)}, sink}, 1), want)
}

// asked counts how often a context is asked whether it is done, and is done after so many times.
type asked struct {
	context.Context
	left atomic.Int64
}

func (a *asked) Err() error {
	if a.left.Add(-1) >= 0 {
		return nil
	}
	return context.Canceled
}

// TestSortByManyKeysStops: the ordering of rows that are alike asks at least once a batch and set of keys whether the
// query still runs, and ends where it does not.
func TestSortByManyKeysStops(t *testing.T) {
	const rows, columns = 8 * vector.Size, 12 * leadKeys
	v := &vector.Vector{Type: vector.Int64Type, Ints: make([]int64, rows)}
	s := newSorter(keysOfColumn(columns), leadKeys, []vector.Type{v.Type}, NewBudget(0))
	for from := 0; from < rows; from += vector.Size {
		b := sliceOf(&vector.Batch{N: rows, Cols: []*vector.Vector{v}}, from, from+vector.Size)
		if err := errors.Join(s.eval.Eval(b, s.out), s.add(b)); err != nil {
			t.Fatal(err)
		}
	}
	whole := &asked{Context: context.Background()}
	whole.left.Store(1 << 40)
	if _, err := s.sorted(whole, 1); err != nil {
		t.Fatal(err)
	}
	n := 1<<40 - whole.left.Load()
	if least := int64(rows / vector.Size * (columns/leadKeys - 1)); n < least {
		t.Errorf("asked %d times, want %d at least", n, least)
	}
	for at := int64(0); at < n; at += 1 + n/20 {
		some := &asked{Context: context.Background()}
		some.left.Store(at)
		if _, err := s.sorted(some, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("gone when asked for the %dth time of %d: %v", at, n, err)
		}
	}
	if used := s.budget.Used(); used != 0 {
		t.Errorf("%d bytes are still reserved", used)
	}
}

// keysOfColumn orders by the first column, again and again.
func keysOfColumn(n int) (order []expr.SortKey) {
	for range n {
		order = append(order, expr.SortKey{Expr: &expr.Column{T: vector.Int64Type}})
	}
	return order
}

// TestSortCountsBefore: what a batch takes is reserved before it is kept.
func TestSortCountsBefore(t *testing.T) {
	b := &vector.Batch{N: vector.Size,
		Cols: []*vector.Vector{{Type: vector.Int64Type, Ints: make([]int64, vector.Size)}}}
	budget := NewBudget(64 << 10) // a batch with its keys takes 16 + 18 + 88 KiB
	sink, err := Sort(keysOfColumn(1), []vector.Type{vector.Int64Type}, budget)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Step(0)(b); err == nil {
		t.Error("a batch was taken that the budget has no room for")
	}
	if w := sink.(*sortSink).workers[0]; w.n != 0 || len(w.chunks) != 0 {
		t.Errorf("%d rows are kept", w.n)
	}
}
