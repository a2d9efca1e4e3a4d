package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// The columns of windowTable.
const (
	ofPartition = iota
	ofKey
	ofInt
	ofFloat
	ofText
	ofFlag
	ofUint
	ofNumber
)

var windowSpecs = []spec{{vector.Int64Type, 1, true}, {vector.Int64Type, 1, true}, {vector.Int64Type, 400, true},
	{vector.FloatType, 300, true}, {vector.StringType, 300, true}, {vector.BoolType, 2, true},
	{vector.Uint64Type, 300, true}, {vector.Int64Type, 1, false}}

// windowTable is rows sorted by partition and key, with NULLs and ties of both. sizes are those of the partitions, the
// last of which is that of NULL. Keys are whole numbers, or seconds, some of which are at the ends of months.
func windowTable(key vector.Type, ties int, desc, nullsFirst bool, sizes ...int) *vector.Batch {
	rows := 0
	for _, n := range sizes {
		rows += n
	}
	b := randomTable(newRand(uint64(rows)), rows, windowSpecs...)
	part, keys := &vector.Vector{Type: vector.Int64Type}, &vector.Vector{Type: key}
	step := int64(1)
	if key.IsTimestamp() {
		step = 40_000 // s
	}
	at := 0
	for p, n := range sizes {
		for i := range n {
			if p == len(sizes)-1 && p > 0 {
				part.AppendNulls(at, 1)
			} else {
				part.Append(at, vector.ConstInt(vector.Int64Type, int64(p)), 0, 1)
			}
			value := int64(i/ties) * step
			if desc {
				value = -value
			}
			if nulls := n / 9; nullsFirst && i < nulls || !nullsFirst && i >= n-nulls {
				keys.AppendNulls(at, 1)
			} else {
				keys.Append(at, vector.ConstInt(key, value), 0, 1)
			}
			at++
		}
	}
	number := &vector.Vector{Type: vector.Int64Type}
	for i := range rows {
		number.Append(i, vector.ConstInt(vector.Int64Type, int64(i%7-1)), 0, 1)
	}
	b.Cols[ofPartition], b.Cols[ofKey], b.Cols[ofNumber] = part, keys, number
	return b
}

// windowCase is windows over sorted rows.
type windowCase struct {
	w     WindowSpec
	types []vector.Type
	b     *vector.Batch
}

// read computes the windows.
func (c *windowCase) read(ctx context.Context, budget *Budget, workers int, figures *Figures,
	each func(*vector.Batch)) error {
	r := Windows(ctx, c.w, Stream{Source: newMixed(c.b, 97)}, c.types, workers, budget, figures).Reader(0)
	defer r.Close()
	for b := (vector.Batch{}); ; {
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return err
		}
		each(&b)
	}
}

// windowFuncs are all functions over a frame: those with loops of their own, and some aggregates.
func windowFuncs(t testing.TB, cols []expr.Expr, frame Frame, targets []expr.Expr) (list []WindowFunc) {
	add := func(name string, typ vector.Type, nulls bool, args ...expr.Expr) {
		for _, filter := range []expr.Expr{nil, cols[ofFlag]} {
			list = append(list, WindowFunc{Name: name, Args: append(args[:len(args):len(args)], targets...), Type: typ,
				Frame: frame, IgnoreNulls: nulls, Filter: filter, Targets: len(targets), Star: len(args) == 0})
		}
	}
	number, float := cols[ofInt], cols[ofFloat]
	n := func(i int64) expr.Expr { return &expr.Const{Value: vector.ConstInt(vector.Int64Type, i)} }
	for _, nulls := range []bool{false, true} {
		add("first_value", vector.StringType, nulls, cols[ofText])
		add("last_value", vector.Int64Type, nulls, number)
		add("nth_value", vector.StringType, nulls, cols[ofText], n(3))
		add("nth_value", vector.FloatType, nulls, float, call(t, "+", call(t, "abs", cols[ofNumber]), n(1)))
	}
	for _, name := range []string{"count", "sum", "avg", "min", "max", "bool_or", "bool_and"} {
		args := []expr.Expr{number, float, cols[ofUint], call(t, "+", number, number)}
		switch name {
		case "bool_or", "bool_and":
			args = cols[ofFlag : ofFlag+1]
		case "min", "max", "count":
			args = append(args, cols[ofText])
		}
		for _, arg := range args {
			a := aggregateOf(t, name, false, nil, arg)
			add(name, a.Type(), false, a.Inputs()...)
		}
	}
	add("count", vector.Int64Type, false)
	if frame.Exclude != "" { // aggregates are computed by their states
		kept := list[:0]
		for _, f := range list {
			if WindowFunctionOf(f.Name).Picks {
				kept = append(kept, f)
			}
		}
		list = kept
	}
	for _, a := range []*expr.Agg{aggregateOf(t, "count", true, nil, cols[ofText]),
		aggregateOf(t, "stddev", false, nil, float),
		aggregateOf(t, "string_agg", false, nil, cols[ofText], &expr.Const{Value: vector.ConstString(",")}),
		aggregateOf(t, "median", false, nil, call(t, "+", number, number))} {
		list = append(list, WindowFunc{Name: a.String(), Agg: a, Type: a.Type(), Frame: frame, Targets: len(targets),
			Args: append(a.Inputs(), targets...), Filter: cols[ofFlag]})
	}
	return list
}

// rankingFuncs are the functions of places.
func rankingFuncs(cols []expr.Expr) (list []WindowFunc) {
	n := func(i int64) expr.Expr { return &expr.Const{Value: vector.ConstInt(vector.Int64Type, i)} }
	for _, name := range RankingNames() {
		f := WindowFunc{Name: name, Type: WindowFunctionOf(name).Type}
		switch {
		case name == "ntile":
			f.Args = []expr.Expr{n(7)}
		case f.Type == vector.NullType: // lag and lead
			for _, nulls := range []bool{false, true} {
				for _, d := range []int64{0, 1, -2, 60, 1 << 45} {
					g := f
					g.IgnoreNulls, g.Type = nulls, vector.StringType
					g.Args = []expr.Expr{cols[ofText], n(d), &expr.Const{Value: vector.ConstString("none")}}
					list = append(list, g)
				}
			}
			f.Type, f.Args = vector.Int64Type, cols[ofInt:ofInt+1]
		}
		list = append(list, f)
	}
	return list
}

// windowShapes are sizes of partitions: one, many small ones, a large one among small ones, some large ones.
var windowShapes = [][]int{{900}, {3, 1, 1, 9, 2, 1, 30, 4, 1, 1, 1, 1, 5, 8, 20, 1, 1}, {5, 1, 2, 700, 3, 1, 40, 2},
	{300, 301, 2, 260}, {1}}

// TestWindowsSpill: every function over every frame gives the rows in little memory that it gives in memory, whatever
// the partitions and the number of workers, keeps to its budget, and leaves no file.
func TestWindowsSpill(t *testing.T) {
	rows := func(n int64) FrameBound { return FrameBound{Offset: n} }
	all, here := FrameBound{Unbounded: true}, FrameBound{}
	spilled, turn, fs := 0, 0, vfs.NewMem()
	d := disk(t, fs, 1<<30)
	check := func(key vector.Type, frame Frame, targets func(key expr.Expr) []expr.Expr) {
		turn++
		desc, nullsFirst := turn%2 == 0, turn%3 == 0
		specs := append([]spec(nil), windowSpecs...)
		specs[ofKey].t = key
		cols := columns(specs...)
		c := &windowCase{types: typesOf(specs), b: windowTable(key, 1+turn%4*turn%5, desc, nullsFirst,
			windowShapes[turn%len(windowShapes)]...)}
		c.w = WindowSpec{Partition: cols[:1],
			Order: []expr.SortKey{{Expr: cols[ofKey], Desc: desc, NullsFirst: nullsFirst}}}
		var ends []expr.Expr
		list := rankingFuncs(cols)
		if targets != nil {
			ends = targets(cols[ofKey])
		}
		if turn%3 > 0 {
			list = nil
		}
		for i, f := range append(list, windowFuncs(t, cols, frame, ends)...) {
			if (i+turn)%4 > 0 && os.Getenv("VARVE_LONG") == "" {
				continue
			}
			c.w.Funcs = []WindowFunc{f}
			name := fmt.Sprintf("%s(%v) filter %v nulls %v, frame %+v, key %s, desc %v, table %v", f.Name, f.Args,
				f.Filter, f.IgnoreNulls, f.Frame, key, desc, windowShapes[turn%len(windowShapes)])
			if c.spilled(t, d, fs, name, []int{1, 2, 4}[(i+turn/4)%3]) {
				spilled++
			}
		}
	}
	for _, mode := range []string{"rows", "groups"} {
		for _, ends := range [][2]FrameBound{{all, here}, {all, all}, {here, all}, {rows(-3), rows(2)},
			{rows(-100), rows(90)}, {all, rows(-4)}, {rows(5), all}, {rows(4), rows(9)},
			{rows(-9), rows(-4)}, {rows(4), rows(-4)}, {rows(-300), here}} {
			check(vector.Int64Type, Frame{Mode: mode, From: ends[0], To: ends[1]}, nil)
		}
		for _, exclude := range []string{"current row", "group", "ties"} {
			check(vector.Int64Type, Frame{Mode: mode, From: rows(-20), To: rows(3), Exclude: exclude}, nil)
			check(vector.Int64Type, Frame{Mode: mode, From: all, To: here, Exclude: exclude}, nil)
		}
	}
	check(vector.Int64Type, Frame{Mode: "range", From: all}, nil)
	month := func(key expr.Expr) []expr.Expr {
		return []expr.Expr{call(t, "-", key, monthsOf(1)), call(t, "+", key, monthsOf(1))}
	}
	near := func(key expr.Expr) []expr.Expr {
		n := &expr.Const{Value: vector.ConstInt(vector.Int64Type, 17)}
		return []expr.Expr{call(t, "-", key, n), call(t, "+", key, n)}
	}
	for range 4 {
		check(vector.Timestamp(0), Frame{Mode: "range", From: FrameBound{Target: 1}, To: FrameBound{Target: 2}}, month)
		check(vector.Int64Type, Frame{Mode: "range", From: FrameBound{Target: 1, Side: -1},
			To: FrameBound{Target: 2, Side: 1}}, near)
		check(vector.Int64Type, Frame{Mode: "range", From: all, To: FrameBound{Target: 2, Side: 1}}, near)
		check(vector.Timestamp(0), Frame{Mode: "range", From: FrameBound{Target: 1}, To: all}, month)
	}
	if spilled < 100 {
		t.Errorf("%d cases put rows into files", spilled)
	}
}

func monthsOf(n int32) expr.Expr {
	return &expr.Const{Value: vector.ConstBytes(vector.Interval, convert.AppendIntervalBytes(nil, n, 0, 0))}
}

// spilled compares the windows in little memory with those in memory, and reports whether they have put rows into
// files.
func (c *windowCase) spilled(t *testing.T, d *spill.Disk, fs vfs.FS, name string, workers int) bool {
	t.Helper()
	const limit = 512 << 10
	var want, got [][]string
	keep := func(to *[][]string) func(*vector.Batch) {
		return func(b *vector.Batch) { *to = append(*to, showRows(b)...) }
	}
	if err := c.read(context.Background(), NewBudget(0), 1, nil, keep(&want)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(want) != c.b.N {
		t.Fatalf("%s: %d rows", name, len(want))
	}
	pool := NewPool(limit)
	budget := pool.Budget(context.Background())
	budget.SpillTo(d.Space())
	bytesBefore, filesBefore := d.Written()
	var figures Figures
	err := c.read(context.Background(), budget, workers, &figures, keep(&got))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	sameRows(t, name, got, want)
	if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
		t.Errorf("%s: left behind at the end: %v, %d bytes on disk", name, names, d.Held())
	}
	if budget.Used() > 0 {
		t.Errorf("%s: %d bytes in memory at the end", name, budget.Used())
	}
	bytes, files := d.Written()
	bytes, files = bytes-bytesBefore, files-filesBefore
	if f := &figures; f.Spilled.Load() != bytes || f.Files.Load() != files || f.In.Load() != int64(c.b.N) ||
		f.Out.Load() != int64(c.b.N) || f.Memory.Load() == 0 {
		t.Errorf("%s: %d bytes in %d files, the figures are %d, %d, %d rows in, %d out, %d of memory", name, bytes,
			files, f.Spilled.Load(), f.Files.Load(), f.In.Load(), f.Out.Load(), f.Memory.Load())
	}
	budget.Close()
	if names := left(t, fs); len(names) > 0 || pool.Used() != 0 {
		t.Errorf("%s: left behind: %v, %d bytes in memory", name, names, pool.Used())
	}
	return files > 0
}

// twoPasses is windows whose partition is written and read again, several times.
func twoPasses(t testing.TB) *windowCase {
	cols := columns(windowSpecs...)
	frame := Frame{Mode: "rows", From: FrameBound{Offset: -200}, To: FrameBound{Unbounded: true}}
	a := aggregateOf(t, "sum", false, nil, call(t, "+", cols[ofInt], cols[ofInt]))
	return &windowCase{types: typesOf(windowSpecs),
		b: windowTable(vector.Int64Type, 2, false, false, 40, 1000, 3, 600, 2),
		w: WindowSpec{Partition: cols[:1], Order: []expr.SortKey{{Expr: cols[ofKey]}}, Funcs: []WindowFunc{
			{Name: "sum", Args: a.Inputs(), Type: a.Type(), Frame: frame},
			{Name: "cume_dist", Type: vector.FloatType},
			{Name: "lag", Args: []expr.Expr{cols[ofText], expr.Int(300)}, Type: vector.StringType}}}}
}

// on computes the windows in little memory with a disk.
func (c *windowCase) on(ctx context.Context, d *spill.Disk, workers int, seen func(rows int)) (string, error) {
	budget := NewPool(512 << 10).Budget(ctx)
	defer budget.Close()
	budget.SpillTo(d.Space())
	var got tally
	rows, step := 0, got.Step(0)
	err := c.read(ctx, budget, workers, nil, func(b *vector.Batch) {
		_ = step(b) // it has no errors
		if rows += b.N; seen != nil {
			seen(rows)
		}
	})
	return got.text(), err
}

// TestWindowSpillFaults fails calls of the file system once, and the disk being full at them: the query ends with a
// clear error or the right rows, and no file stays.
func TestWindowSpillFaults(t *testing.T) {
	c := twoPasses(t)
	ops := []vfs.Op{vfs.OpCreate, vfs.OpOpen, vfs.OpWrite, vfs.OpRead, vfs.OpRemove}
	count := vfs.FailAt(0, false, nil, ops...)
	want, err := c.on(context.Background(), disk(t, vfs.WithFaults(vfs.NewMem(), count.Before), 1<<30), 2, nil)
	if err != nil || count.Count() < 50 {
		t.Fatal(count.Count(), err)
	}
	step := max(1, count.Count()/100)
	if os.Getenv("VARVE_LONG") != "" {
		step = 1
	}
	for n := 1; n <= count.Count(); n += step {
		for _, cause := range []error{errors.New("a broken disk"), vfs.ErrNoSpace} {
			mem := vfs.NewMem()
			d := disk(t, vfs.WithFaults(mem, vfs.FailAt(n, false, cause, ops...).Before), 1<<30)
			got, err := c.on(context.Background(), d, 2, nil)
			switch {
			case err == nil && got == want:
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

// TestWindowSpillLimit: past the limit of temporary files the query fails and nothing stays.
func TestWindowSpillLimit(t *testing.T) {
	c := twoPasses(t)
	for _, limit := range []int64{1 << 10, 4 << 10, 10 << 10} {
		fs := vfs.NewMem()
		d := disk(t, fs, limit)
		_, err := c.on(context.Background(), d, 1, nil)
		if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "query.spill_limit") {
			t.Errorf("limit %d: %d %v", limit, status.Of(err), err)
		}
		if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
			t.Errorf("limit %d: %v stay behind", limit, names)
		}
	}
}

// TestWindowSpillCancelled cancels windows at many of the places where they ask whether they still run, and leaves them
// at many rows: they end at once, and no file and no memory stays.
func TestWindowSpillCancelled(t *testing.T) {
	c := twoPasses(t)
	whole := doom(1 << 60)
	if _, err := c.on(whole, disk(t, vfs.NewMem(), 1<<30), 2, nil); err != nil {
		t.Fatal(err)
	}
	asked := 1<<60 - whole.left.Load()
	for n := int64(0); n < asked; n += max(1, asked/60) {
		ctx, fs := doom(n), vfs.NewMem()
		d := disk(t, fs, 1<<30)
		_, err := c.on(ctx, d, 2, nil)
		after := ctx.after.Load()
		if after > 0 && !errors.Is(err, context.Canceled) || after > 16 {
			t.Errorf("cancelled at question %d of %d, it asks %d times more: %v", n, asked, after, err)
		}
		if names := left(t, fs); len(names) > 0 || d.Held() != 0 {
			t.Fatalf("cancelled at question %d of %d: %v stay behind", n, asked, names)
		}
	}
	for most := 0; most < c.b.N; most += 130 {
		fs, pool := vfs.NewMem(), NewPool(512<<10)
		d := disk(t, fs, 1<<30)
		budget := pool.Budget(context.Background())
		budget.SpillTo(d.Space())
		r := Windows(context.Background(), c.w, Stream{Source: newMixed(c.b, 97)}, c.types, 2, budget, nil).Reader(0)
		for rows, b := 0, (vector.Batch{}); rows < most; rows += b.N {
			if ok, err := r.Next(&b); err != nil || !ok {
				t.Fatal(err)
			}
		}
		r.Close()
		budget.Close()
		if names := left(t, fs); len(names) > 0 || d.Held() != 0 || pool.Used() != 0 {
			t.Fatalf("left at row %d: %v stay behind, %d bytes in memory", most, names, pool.Used())
		}
	}
}

// TestWindowsStream: functions that look no farther than some rows need no file, however long the partition.
func TestWindowsStream(t *testing.T) {
	cols := columns(windowSpecs...)
	fs := vfs.NewMem()
	d := disk(t, fs, 1<<30)
	running := Frame{Mode: "range", From: FrameBound{Unbounded: true}}
	sliding := Frame{Mode: "rows", From: FrameBound{Offset: -10}, To: FrameBound{Offset: 3}}
	sum := aggregateOf(t, "sum", false, nil, cols[ofInt])
	for _, f := range []WindowFunc{{Name: "row_number", Type: vector.Int64Type},
		{Name: "rank", Type: vector.Int64Type}, {Name: "dense_rank", Type: vector.Int64Type},
		{Name: "lag", Args: cols[ofText : ofText+1], Type: vector.StringType},
		{Name: "lead", Args: []expr.Expr{cols[ofText], expr.Int(9)}, Type: vector.StringType},
		{Name: "first_value", Args: cols[ofText : ofText+1], Type: vector.StringType, Frame: running},
		{Name: "first_value", Args: cols[ofText : ofText+1], Type: vector.StringType, Frame: sliding},
		{Name: "last_value", Args: cols[ofText : ofText+1], Type: vector.StringType, Frame: sliding},
		{Name: "sum", Args: sum.Inputs(), Type: sum.Type(), Frame: running},
		{Name: "sum", Args: sum.Inputs(), Type: sum.Type(), Frame: sliding},
		{Name: "max", Args: cols[ofFloat : ofFloat+1], Type: vector.FloatType, Frame: sliding},
		{Name: "count", Star: true, Type: vector.Int64Type, Frame: running}} {
		c := &windowCase{types: typesOf(windowSpecs), b: windowTable(vector.Int64Type, 2, false, false, 5000),
			w: WindowSpec{Order: []expr.SortKey{{Expr: cols[ofKey]}}, Funcs: []WindowFunc{f}}}
		if c.spilled(t, d, fs, f.Name, 1) && f.Frame.Mode != "range" {
			t.Errorf("%s puts rows into files", f.Name)
		}
	}
}
