package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// orderless are aggregates whose result does not depend on which of several workers brings a row first.
var orderless = []string{"count", "sum", "min", "max", "avg", "median", "approx_percentile_cont", "mode", "stddev",
	"skewness", "corr", "bool_or", "approx_distinct", "arg_max", "percentile_disc", "histogram"}

// byOrder depend on the order of rows.
var byOrder = []string{"first_value", "last_value", "array_agg", "string_agg", "nth_value", "json_agg"}

// groupedTable is rows with keys of several types, some of many values and some of few.
func groupedTable(seed uint64, rows, distinct int) (*vector.Batch, []spec) {
	specs := []spec{{vector.StringType, distinct, true}, {vector.Int64Type, distinct / 2, true},
		{vector.Interval, 40, true}, {vector.FloatType, 300, true}, {vector.BoolType, 2, true},
		{vector.Int64Type, 90, false}}
	return randomTable(newRand(seed), rows, specs...), specs
}

// aggregatesOf binds aggregates over the columns of a grouped table: plain, with DISTINCT, FILTER and ORDER BY.
func aggregatesOf(t testing.TB, specs []spec, names ...string) []*expr.Agg {
	t.Helper()
	cols := columns(specs...)
	number, half := cols[3], cols[4]
	var all []*expr.Agg
	bind := func(name string, args []expr.Expr, distinct bool, order []expr.SortKey, filter expr.Expr) {
		a, err := (&expr.Context{}).Aggregate(name, args, distinct, order, filter)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, a)
	}
	for i, name := range names {
		args := []expr.Expr{number}
		switch name {
		case "approx_percentile_cont", "percentile_disc":
			args = append(args, &expr.Const{Value: vector.ConstFloat(vector.FloatType, 0.3)})
		case "nth_value":
			args = append(args, &expr.Const{Value: vector.ConstInt(vector.Int64Type, 2)})
		case "arg_max", "corr":
			args = append(args, cols[5])
		case "bool_or":
			args = []expr.Expr{half}
		case "string_agg", "approx_distinct", "count", "histogram", "mode":
			args = []expr.Expr{cols[0]}
		}
		var filter expr.Expr
		if i%3 == 1 {
			filter = half
		}
		bind(name, args, false, nil, filter)
	}
	if slices.Contains(names, "sum") {
		bind("count", nil, false, nil, nil)
		bind("count", []expr.Expr{cols[1]}, true, nil, nil)
		bind("sum", []expr.Expr{cols[5]}, true, nil, half)
		bind("array_agg", []expr.Expr{cols[5]}, true, []expr.SortKey{{Expr: cols[5]}}, nil)
	}
	return all
}

// groupWithin groups rows in so much memory with disk space, reads the answer and closes everything.
func groupWithin(ctx context.Context, d *spill.Disk, limit int64, keys []expr.Expr, aggs []*expr.Agg, src Source,
	workers int, seen func(rows int)) (rows [][]string, figures *Figures, err error) {
	pool := NewPool(limit)
	budget := pool.Budget(ctx)
	defer func() {
		budget.Close()
		if pool.Used() != 0 {
			err = errors.Join(err, fmt.Errorf("%d bytes of memory stay behind", pool.Used()))
		}
		if budget.Peak() > pool.limit {
			err = errors.Join(err, fmt.Errorf("%d bytes of memory, the limit is %d", budget.Peak(), pool.limit))
		}
	}()
	if d != nil {
		budget.SpillTo(d.Space())
	}
	sink, err := Aggregate(keys, aggs, budget)
	if err != nil {
		return nil, nil, err
	}
	figures = &Figures{}
	out, err := (&Pipeline{Stream{Source: src}, MeasureSink(sink, figures, budget, false)}).Run(ctx, workers)
	if err != nil {
		return nil, figures, err
	}
	r := out.Reader(0)
	defer r.Close()
	for b := (vector.Batch{}); ; {
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return rows, figures, err
		}
		rows = append(rows, showRows(&b)...)
		if seen != nil {
			seen(len(rows))
		}
	}
}

// rounded are rows with floats of 11 digits, and 0 for what is left of none: several workers add them in any order.
func rounded(rows [][]string) [][]string {
	for _, row := range rows {
		for i, text := range row {
			var f float64
			if strings.Contains(text, ".") && !strings.ContainsAny(text, `"[{`) {
				if _, err := fmt.Sscan(text, &f); err == nil {
					if math.Abs(f) < 1e-9 {
						f = 0
					}
					row[i] = fmt.Sprintf("%.11g", f)
				}
			}
		}
	}
	return sorted(rows)
}

// TestGroupsSpill: groups in little memory are those in much, for one worker and several, one key and several, when
// partitions are divided once and again, and no file stays.
func TestGroupsSpill(t *testing.T) {
	b, specs := groupedTable(3, 40_000, 20_000)
	cols := columns(specs...)
	for name, c := range map[string]struct {
		keys  []expr.Expr
		limit int64
		names []string
		again bool
	}{
		"a text":         {cols[:1], 8 << 20, orderless, false},
		"three keys":     {cols[:3], 3 << 20, []string{"count", "sum", "median"}, false},
		"DISTINCT":       {cols[:3], 1 << 20, nil, false},
		"divided again":  {cols[:2], 1 << 20, []string{"count", "median"}, true},
		"few groups":     {cols[2:3], 256 << 10, []string{"median", "count"}, false},
		"order of rows":  {cols[:1], 2 << 20, byOrder, false},
		"a shared count": {cols[1:2], 700 << 10, []string{"sum", "first_value"}, false},
	} {
		for _, workers := range []int{1, 3} {
			if workers > 1 && (slices.Contains(c.names, "first_value")) {
				continue
			}
			t.Run(fmt.Sprint(name, workers), func(t *testing.T) {
				names := c.names
				if workers > 1 { // of few rows these depend on the order in which they are added
					names = slices.DeleteFunc(slices.Clone(names),
						func(name string) bool { return name == "skewness" || name == "corr" })
				}
				aggs := aggregatesOf(t, specs, names...)
				want, _, err := groupWithin(t.Context(), nil, 1<<30, c.keys, aggs, newMixed(b, 700), workers, nil)
				if err != nil {
					t.Fatal(err)
				}
				fs := vfs.NewMem()
				d := disk(t, fs, 1<<30)
				if c.again {
					defer func(least int64) { leastDivided = least }(leastDivided)
					leastDivided = 4 << 10
				}
				got, f, err := groupWithin(t.Context(), d, c.limit, c.keys, aggs, newMixed(b, 700), workers, nil)
				if err != nil {
					t.Fatal(err)
				}
				sameRows(t, "groups", rounded(got), rounded(want))
				if f.Spilled.Load() == 0 || f.Partitions.Load() < parts || c.again && f.Partitions.Load() == parts {
					t.Errorf("%d bytes on disk in %d partitions", f.Spilled.Load(), f.Partitions.Load())
				}
				if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
					t.Errorf("left behind: %v, %d bytes on disk", names, d.Held())
				}
			})
		}
	}
}

// TestCountDistinctSpills: one count(DISTINCT x) over all rows counts on disk, too.
func TestCountDistinctSpills(t *testing.T) {
	b, specs := groupedTable(4, 60_000, 30_000)
	a, err := (&expr.Context{}).Aggregate("count", columns(specs...)[:1], true, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		var rows [2][][]string
		for i, limit := range []int64{1 << 30, 512 << 10} {
			var f *Figures
			rows[i], f, err = groupWithin(t.Context(), disk(t, vfs.NewMem(), 1<<30), limit, nil, []*expr.Agg{a},
				newMixed(b, 700), workers, nil)
			if err != nil || (f.Spilled.Load() > 0) != (i == 1) {
				t.Fatalf("with %d bytes %d are on disk: %v", limit, f.Spilled.Load(), err)
			}
		}
		sameRows(t, "count", rows[1], rows[0])
	}
}

// TestGroupsSpillFaults fails calls of the file system once, each kind from the first to the last one, when partitions
// are divided once and again: the query ends with a clear error, and no file stays.
func TestGroupsSpillFaults(t *testing.T) {
	b, specs := groupedTable(5, 3000, 2000)
	keys, aggs := columns(specs...)[:1], aggregatesOf(t, specs, "count", "median")
	limit, faults := int64(80<<10), 24
	ops := []vfs.Op{vfs.OpCreate, vfs.OpOpen, vfs.OpWrite, vfs.OpRead}
	group := func(fs vfs.FS, d *spill.Disk) (*Figures, error) {
		_, f, err := groupWithin(t.Context(), d, limit, keys, aggs, newMixed(b, 300), 2, nil)
		if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
			t.Fatalf("%v stay behind, %d bytes", names, d.Held())
		}
		return f, err
	}
	for _, again := range []bool{false, true} {
		if again {
			defer func(least int64) { leastDivided = least }(leastDivided)
			leastDivided, limit, faults = 4<<10, 40<<10, 8
			b, _ = groupedTable(5, 9000, 9000)
		}
		for _, op := range ops {
			count := vfs.FailAt(0, false, nil, op)
			mem := vfs.NewMem()
			f, err := group(mem, disk(t, vfs.WithFaults(mem, count.Before), 1<<30))
			if err != nil || f.Spilled.Load() == 0 || (f.Partitions.Load() > parts) != again {
				t.Fatalf("%d bytes in %d partitions: %v", f.Spilled.Load(), f.Partitions.Load(), err)
			}
			for n := 0; n < count.Count(); n += count.Count()/faults + 1 {
				cause, code, word := errors.New("a broken disk"), status.StorageUnavailable, "temporary file"
				if n%2 == 0 {
					cause, code, word = vfs.ErrNoSpace, status.RuntimeResourcesExhausted, "no room"
				}
				mem, fault := vfs.NewMem(), vfs.FailAt(n+1, false, cause, op)
				_, err := group(mem, disk(t, vfs.WithFaults(mem, fault.Before), 1<<30))
				if err == nil && fault.Count() <= n {
					continue // the number of calls is not the same each time
				}
				if status.Of(err) != code || !strings.Contains(err.Error(), word) {
					t.Fatalf("%s %d of %d fails with %v: %d %v", op, n+1, count.Count(), cause, status.Of(err), err)
				}
			}
		}
	}
}

// TestGroupsSpillLimit: past the limit of temporary files the query fails with its error, and nothing stays.
func TestGroupsSpillLimit(t *testing.T) {
	b, specs := groupedTable(6, 40_000, 30_000)
	fs := vfs.NewMem()
	d := disk(t, fs, 100<<10)
	_, _, err := groupWithin(t.Context(), d, 512<<10, columns(specs...)[:1], nil, newMixed(b, 700), 2, nil)
	if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "query.spill_limit") {
		t.Errorf("over the limit: %v", err)
	}
	if names := left(t, fs); len(names) > 0 {
		t.Errorf("%v stay behind", names)
	}
}

// TestOneLargeGroup: the list of one group that does not fit is a clear error.
func TestOneLargeGroup(t *testing.T) {
	b := randomTable(newRand(7), 200_000, spec{vector.Int64Type, 1, false}, spec{vector.StringType, 5000, false})
	cols := columns(spec{vector.Int64Type, 1, false}, spec{vector.StringType, 5000, false})
	a, err := (&expr.Context{}).Aggregate("array_agg", cols[1:], false, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fs := vfs.NewMem()
	_, _, err = groupWithin(t.Context(), disk(t, fs, 1<<30), 2<<20, cols[:1], []*expr.Agg{a}, newMixed(b, 2048), 2, nil)
	if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "2 MiB of memory") {
		t.Errorf("a list of 200,000 texts: %v", err)
	}
	if names := left(t, fs); len(names) > 0 {
		t.Errorf("%v stay behind", names)
	}
}

// TestGroupsSpillCancelled: a query that is gone while its rows are written or read ends, with its goroutines and
// files.
func TestGroupsSpillCancelled(t *testing.T) {
	b, specs := groupedTable(8, 60_000, 40_000)
	before := runtime.NumGoroutine()
	for _, op := range []vfs.Op{vfs.OpWrite, vfs.OpRead} {
		for _, at := range []int64{1, 40} {
			fs := vfs.NewMem()
			ctx, cancel := context.WithCancel(context.Background())
			var calls atomic.Int64
			d := disk(t, vfs.WithFaults(fs, func(o vfs.Op, _ string) error {
				if o == op && calls.Add(1) == at {
					cancel()
				}
				return nil
			}), 1<<30)
			_, _, err := groupWithin(ctx, d, 512<<10, columns(specs...)[:2], nil, newMixed(b, 700), 2, nil)
			cancel()
			if !errors.Is(err, context.Canceled) || calls.Load() > at+2*parts+2 {
				t.Errorf("cancelled at call %d of %s: %v, %d calls", at, op, err, calls.Load())
			}
			if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
				t.Errorf("%v stay behind, %d bytes", names, d.Held())
			}
		}
	}
	fs := vfs.NewMem()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	last := 0
	_, _, err := groupWithin(ctx, disk(t, fs, 1<<30), 512<<10, columns(specs...)[:2], nil, newMixed(b, 700), 2,
		func(rows int) {
			if last = rows; rows > 5000 {
				cancel()
			}
		})
	if !errors.Is(err, context.Canceled) || last > 5000+40_000/4 {
		t.Errorf("cancelled while the groups are read, at group %d: %v", last, err)
	}
	if names := left(t, fs); len(names) > 0 {
		t.Errorf("%v stay behind", names)
	}
	noMoreGoroutines(t, before)
}

// TestGroupsSpillPart: who reads a part of the groups leaves nothing behind.
func TestGroupsSpillPart(t *testing.T) {
	b, specs := groupedTable(9, 30_000, 20_000)
	fs := vfs.NewMem()
	d := disk(t, fs, 1<<30)
	pool := NewPool(512 << 10)
	budget := pool.Budget(t.Context())
	budget.SpillTo(d.Space())
	sink, err := Aggregate(columns(specs...)[:1], nil, budget)
	if err != nil {
		t.Fatal(err)
	}
	src, err := (&Pipeline{Stream{Source: newMixed(b, 700)}, sink}).Run(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	r := src.Reader(0)
	if ok, err := r.Next(&vector.Batch{}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r.Close()
	budget.Close()
	if names := left(t, fs); len(names) > 0 || d.Held() != 0 || pool.Used() != 0 {
		t.Errorf("left behind: %v, %d bytes on disk, %d in memory", names, d.Held(), pool.Used())
	}
}
