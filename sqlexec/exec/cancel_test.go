package exec

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// doomed is a context that is cancelled when it has been asked n times; it counts how often it is asked after that.
type doomed struct {
	context.Context
	left, after atomic.Int64
}

func doom(n int64) *doomed {
	d := &doomed{Context: context.Background()}
	d.left.Store(n)
	return d
}

func (d *doomed) Err() error {
	if d.left.Add(-1) >= 0 {
		return nil
	}
	d.after.Add(1)
	return context.Canceled
}

func (d *doomed) Deadline() (time.Time, bool) { return time.Time{}, false }

// TestCancelAnywhere runs heavy plans of every kind of operator and cancels each at every one of the first, then at
// many of the places where it asks whether it still runs: it always ends with the context's error, and each worker asks
// at most twice more, so that no loop goes on. The number of questions of the whole run shows that they come every few
// thousand rows.
func TestCancelAnywhere(t *testing.T) {
	const rows = 1 << 17
	specs := []spec{{vector.Int64Type, rows, false}, {vector.StringType, 50_000, false}}
	table := randomTable(newRand(3), rows, specs...)
	cols, types := columns(specs...), typesOf(specs)
	order := []expr.SortKey{{Expr: cols[1]}}
	twice := []expr.Expr{call(t, "+", cols[0], cols[0])}
	drop := each{func(*vector.Batch) error { return nil }}
	join := func(ctx context.Context, keys []expr.Expr, residual bool, build *vector.Batch) error {
		budget := NewPool(0).Budget(ctx)
		defer budget.Close()
		js := JoinSpec{Kind: Inner, Probe: keys, Build: keys, ProbeTypes: types, BuildTypes: types, Budget: budget}
		if residual {
			js.Residual = call(t, "<", cols[0], &expr.Const{Value: vector.ConstInt(vector.Int64Type, -1<<62)})
		}
		j, err := NewJoin(js)
		if err != nil {
			return err
		}
		if _, err := (&Pipeline{Stream{Source: Values(build)}, j.Build()}).Run(ctx, 2); err != nil {
			return err
		}
		_, err = (&Pipeline{Stream{Source: Values(table), Ops: []Operator{j.Probe()}}, drop}).Run(ctx, 2)
		return err
	}
	into := func(make func(b *Budget) (Sink, error)) func(context.Context) error {
		return func(ctx context.Context) error {
			budget := NewPool(0).Budget(ctx)
			defer budget.Close()
			sink, err := make(budget)
			if err != nil {
				return err
			}
			_, err = (&Pipeline{Stream{Source: Values(table)}, sink}).Run(ctx, 2)
			return err
		}
	}
	places := int64(12)
	if testing.Short() {
		places = 4
	}
	few := &vector.Batch{N: 256, Cols: []*vector.Vector{table.Cols[0].Slice(0, 256), table.Cols[1].Slice(0, 256)}}
	for name, plan := range map[string]func(context.Context) error{
		"aggregate": into(func(b *Budget) (Sink, error) {
			return Aggregate(cols[:1], []*expr.Agg{aggregateOf(t, "count", false, nil)}, b)
		}),
		"groups of two keys": into(func(b *Budget) (Sink, error) {
			return Aggregate(cols, []*expr.Agg{aggregateOf(t, "count", false, nil)}, b)
		}),
		"sort":                    into(func(b *Budget) (Sink, error) { return Sort(order, types, b) }),
		"top":                     into(func(b *Budget) (Sink, error) { return TopK(order, 50_000, types, nil, b) }),
		"join":                    func(ctx context.Context) error { return join(ctx, cols[:1], false, table) },
		"join of a computed key":  func(ctx context.Context) error { return join(ctx, twice, false, table) },
		"join that keeps nothing": func(ctx context.Context) error { return join(ctx, nil, true, few) },
	} {
		t.Run(name, func(t *testing.T) {
			whole := doom(1 << 60)
			if err := plan(whole); err != nil {
				t.Fatal(err)
			}
			asked := 1<<60 - whole.left.Load()
			if least := int64(rows / 4096); asked < least {
				t.Errorf("it asks %d times for %d rows", asked, rows)
			}
			for n := int64(0); n < asked; n += max(1, asked/places) {
				ctx := doom(n)
				err := plan(ctx)
				if ctx.after.Load() == 0 { // this run came with fewer questions: workers share the rows differently
					continue
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("cancelled at question %d of %d: %v", n, asked, err)
				}
				if after := ctx.after.Load(); after > 8 {
					t.Errorf("cancelled at question %d of %d, it asks %d times more", n, asked, after)
				}
			}
		})
	}
}
