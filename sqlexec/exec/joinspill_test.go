package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// tally is a sink that counts rows and adds up a hash of each, so that the order of rows is all that does not count.
type tally struct {
	mu   sync.Mutex
	rows int
	sum  uint64
}

func (c *tally) Step(int) Step {
	var row []byte
	return func(b *vector.Batch) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i := range b.N {
			row = row[:0]
			for _, v := range b.Cols {
				row = expr.AppendKey(row, v, i)
			}
			c.rows++
			c.sum += xxhash.Sum64(row)
		}
		return nil
	}
}

func (c *tally) Finish(context.Context) (Source, error) { return Values(&vector.Batch{}), nil }
func (c *tally) String() string                         { return "Tally" }

func (c *tally) text() string { return fmt.Sprintf("%d rows, sum %016x", c.rows, c.sum) }

// joinCase is a join of two tables by their first columns, perhaps with a residual over the column behind the keys.
type joinCase struct {
	kind                JoinKind
	probe, build        *vector.Batch
	specs               []spec
	keys                int
	residual, nullEqual bool
	figures             *Figures
	batch               int // rows that come at a time
}

// into runs the join into a sink.
func (c *joinCase) into(ctx context.Context, t testing.TB, budget *Budget, sink Sink) (*Join, error) {
	cols := columns(c.specs...)
	js := JoinSpec{Kind: c.kind, Probe: cols[:c.keys], Build: cols[:c.keys], NullEqual: c.nullEqual,
		ProbeTypes: typesOf(c.specs), BuildTypes: typesOf(c.specs), Budget: budget}
	if c.residual {
		right := &expr.Column{Index: len(c.specs) + c.keys, T: vector.Int64Type, Null: true}
		js.Residual = call(t, "<", cols[c.keys], right)
	}
	j, err := NewJoin(js)
	if err != nil {
		return nil, err
	}
	build := j.Build()
	if c.figures != nil {
		build = MeasureSink(build, c.figures, budget, true)
	}
	if _, err := (&Pipeline{Stream{Source: newMixed(c.build, c.batch)}, build}).Run(ctx, 2); err != nil {
		return nil, err
	}
	_, err = (&Pipeline{Stream{Source: newMixed(c.probe, c.batch+7), Ops: []Operator{j.Probe()}}, sink}).Run(ctx, 2)
	return j, err
}

// padded is a table with one more column of long texts.
func padded(b *vector.Batch, bytes int) *vector.Batch {
	v := &vector.Vector{Type: vector.StringType}
	for i := range b.N {
		v.Append(i, vector.ConstString(fmt.Sprint(i, strings.Repeat("x", bytes))), 0, 1)
	}
	return &vector.Batch{N: b.N, Cols: append(b.Cols[:len(b.Cols):len(b.Cols)], v)}
}

// TestJoinSpills: every kind of join in little memory gives the rows that it gives in memory, keeps to its budget, and
// leaves no file: large sides, a small probe side, which is kept in its turn, and keys with more rows than fit.
func TestJoinSpills(t *testing.T) {
	const limit = 256 << 10
	r := newRand(21)
	sets := [][]spec{nil, {{vector.StringType, 30, true}, {vector.FloatType, 30, true}}}
	for _, k := range keyTypes {
		sets = append(sets, []spec{{k, 1500, true}})
	}
	for _, set := range sets {
		for _, size := range []struct {
			name                            string
			probe, build, distinct, padding int
		}{{"large sides", 700, 1100, 0, 200}, {"a small probe side", 20, 1100, 0, 200},
			{"hot keys", 90, 100, 1, 3000}} {
			if size.name == "large sides" && (len(set) == 0 || set[0].t == vector.BoolType) {
				continue // more pairs than a test has time for
			}
			specs := append(append([]spec{}, set...), spec{vector.Int64Type, 40, true})
			for i := range set {
				if size.distinct > 0 {
					specs[i].distinct = size.distinct
				}
			}
			c := &joinCase{specs: append(specs, spec{vector.StringType, 0, false}), keys: len(set),
				batch: 30_000 / size.padding,
				probe: padded(randomTable(r, size.probe, specs...), size.padding),
				build: padded(randomTable(r, size.build, specs...), size.padding)}
			for c.kind = Inner; c.kind <= BuildAnti; c.kind++ {
				flags := r.IntN(4)
				c.residual, c.nullEqual = flags&1 != 0, flags&2 != 0
				name := fmt.Sprintf("kind %d, keys %v, %s, flags %d", c.kind, typesOf(set), size.name, flags)
				c.spilled(t, name, limit)
			}
		}
	}
}

// spilled compares the join in so much memory with the join in memory.
func (c *joinCase) spilled(t *testing.T, name string, limit int64) {
	t.Helper()
	var want, got tally
	c.figures = nil
	if _, err := c.into(context.Background(), t, NewBudget(0), &want); err != nil {
		t.Fatal(err)
	}
	fs, pool := vfs.NewMem(), NewPool(limit)
	d := disk(t, fs, 1<<30)
	budget := pool.Budget(context.Background())
	budget.SpillTo(d.Space())
	c.figures = new(Figures)
	j, err := c.into(context.Background(), t, budget, &got)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got.text() != want.text() {
		t.Fatalf("%s: %s, want %s", name, got.text(), want.text())
	}
	if j.spill.Load() == nil || c.figures.Spilled.Load() == 0 || c.figures.Partitions.Load() == 0 {
		t.Errorf("%s: it fits into memory", name)
	}
	if names := left(t, fs); len(names) > 0 || d.Held() != 0 || pool.Used() != 0 {
		t.Errorf("%s: left behind at the end: %v, %d bytes on disk, %d in memory", name, names, d.Held(), pool.Used())
	}
	if budget.Peak() > limit {
		t.Errorf("%s: %d bytes of memory, the limit is %d", name, budget.Peak(), limit)
	}
	budget.Close()
	if names := left(t, fs); len(names) > 0 || d.Held() != 0 || pool.Used() != 0 {
		t.Errorf("%s: left behind: %v, %d bytes on disk, %d in memory", name, names, d.Held(), pool.Used())
	}
}

// twoSides is a join of texts, with a hot key besides, whose every phase has files: rows of both sides, pairs that are
// cut again, and blocks.
func twoSides(r *rand.Rand) *joinCase {
	specs := []spec{{vector.StringType, 3000, true}, {vector.Int64Type, 40, true}}
	hot := []spec{{vector.StringType, 1, false}, {vector.Int64Type, 40, true}}
	table := func(rows, same int) *vector.Batch {
		b := randomTable(r, rows, specs...)
		b.Append(randomTable(r, same, hot...), 0, same)
		return padded(b, 600)
	}
	return &joinCase{kind: FullOuter, specs: append(specs, spec{vector.StringType, 0, false}), keys: 1, batch: 50,
		probe: table(500, 60), build: table(700, 80), residual: true}
}

// on runs the join in little memory with a disk.
func (c *joinCase) on(ctx context.Context, t *testing.T, d *spill.Disk) (string, error) {
	budget := NewPool(256 << 10).Budget(ctx)
	defer budget.Close()
	budget.SpillTo(d.Space())
	var got tally
	_, err := c.into(ctx, t, budget, &got)
	return got.text(), err
}

// TestJoinSpillFaults fails calls of the file system once, and the disk being full at them: the query ends with a clear
// error or the right rows, and no file stays.
func TestJoinSpillFaults(t *testing.T) {
	c := twoSides(newRand(31))
	ops := []vfs.Op{vfs.OpCreate, vfs.OpOpen, vfs.OpWrite, vfs.OpRead, vfs.OpRemove}
	count := vfs.FailAt(0, false, nil, ops...)
	want, err := c.on(context.Background(), t, disk(t, vfs.WithFaults(vfs.NewMem(), count.Before), 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, count.Count()/100)
	if os.Getenv("VARVE_LONG") != "" {
		step = 1
	}
	for n := 1; n <= count.Count(); n += step {
		for _, cause := range []error{errors.New("a broken disk"), vfs.ErrNoSpace} {
			mem := vfs.NewMem()
			faults := vfs.FailAt(n, false, cause, ops...)
			d := disk(t, vfs.WithFaults(mem, faults.Before), 1<<30)
			got, err := c.on(context.Background(), t, d)
			switch {
			case err == nil && (got == want):
			case err == nil:
				t.Fatalf("call %d of %d fails with %v: %s, want %s", n, count.Count(), cause, got, want)
			case !strings.Contains(err.Error(), "temporary file") && !strings.Contains(err.Error(), "no room"):
				t.Fatalf("call %d of %d fails with %v: %d %v", n, count.Count(), cause, status.Of(err), err)
			}
			if names := left(t, mem); len(names) > 0 && !strings.Contains(fmt.Sprint(err), "temporary file:") ||
				d.Held() != 0 {
				t.Fatalf("call %d fails: %v stay behind, %d bytes", n, names, d.Held())
			}
		}
	}
}

// TestJoinSpillLimit: past the limit of temporary files the query fails and nothing stays.
func TestJoinSpillLimit(t *testing.T) {
	c := twoSides(newRand(32))
	for _, limit := range []int64{4 << 10, 10 << 10, 20 << 10} {
		fs := vfs.NewMem()
		d := disk(t, fs, limit)
		_, err := c.on(context.Background(), t, d)
		if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "query.spill_limit") {
			t.Errorf("limit %d: %d %v", limit, status.Of(err), err)
		}
		if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
			t.Errorf("limit %d: %v stay behind", limit, names)
		}
	}
}

// TestJoinSpillCancelled cancels a join at many of the places where it asks whether it still runs: it ends at once, and
// no file stays.
func TestJoinSpillCancelled(t *testing.T) {
	c := twoSides(newRand(33))
	whole := doom(1 << 60)
	if _, err := c.on(whole, t, disk(t, vfs.NewMem(), 1<<30)); err != nil {
		t.Fatal(err)
	}
	asked := 1<<60 - whole.left.Load()
	for n := int64(0); n < asked; n += max(1, asked/60) {
		ctx, fs := doom(n), vfs.NewMem()
		d := disk(t, fs, 1<<30)
		_, err := c.on(ctx, t, d)
		after := ctx.after.Load()
		if after > 0 && !errors.Is(err, context.Canceled) || after > 16 {
			t.Errorf("cancelled at question %d of %d, it asks %d times more: %v", n, asked, after, err)
		}
		if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
			t.Fatalf("cancelled at question %d of %d: %v stay behind", n, asked, names)
		}
	}
}

// TestJoinSpillBounds: the keys of a build side in files bound the probe side.
func TestJoinSpillBounds(t *testing.T) {
	specs := []spec{{vector.Int64Type, 900, true}, {vector.Uint64Type, 900, true}, {vector.FloatType, 900, true}}
	b := randomTable(newRand(34), 4000, specs...)
	budget := NewPool(256 << 10).Budget(context.Background())
	defer budget.Close()
	budget.SpillTo(disk(t, vfs.NewMem(), 1<<30).Space())
	keys := columns(specs...)
	build := func(budget *Budget) *Join {
		j, err := NewJoin(JoinSpec{Probe: keys, Build: keys, ProbeTypes: typesOf(specs), BuildTypes: typesOf(specs),
			Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&Pipeline{Stream{Source: newMixed(b, 100)}, j.Build()}).Run(context.Background(), 2); err != nil {
			t.Fatal(err)
		}
		return j
	}
	files, memory := build(budget), build(NewBudget(0))
	if files.spill.Load() == nil || files.Empty() {
		t.Fatal("nothing is in files")
	}
	for k := range specs {
		got, ok := files.Bounds(k)
		want, wantOK := boundsOfAll(memory, k)
		if ok != wantOK || ok && (show(got.Lo, 0) != show(want.Lo, 0) || show(got.Hi, 0) != show(want.Hi, 0)) {
			t.Errorf("key %d: %v %v, want %v %v", k, got, ok, want, wantOK)
		}
	}
}

// boundsOfAll are the least and the greatest key of a join in memory.
func boundsOfAll(j *Join, k int) (KeyBounds, bool) {
	b, ok := j.Bounds(k)
	if ok && b.Values != nil {
		b.Lo, b.Hi = b.Values.Slice(0, 1), &vector.Vector{}
		b.Hi.Type = b.Values.Type
		b.Hi.Append(0, b.Values, b.N-1, b.N)
	}
	return b, ok
}
