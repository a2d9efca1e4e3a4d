package memtable

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

var (
	ts   = schema.Column{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}
	host = schema.Column{ID: 2, Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true}
	msg  = schema.Column{ID: 3, Name: "msg", Type: vector.StringType, Nullable: true}
	num  = schema.Column{ID: 4, Name: "num", Type: vector.Int64Type, Nullable: true,
		Default: vector.ConstInt(vector.Int64Type, -1)}
)

var logs = &schema.Table{ID: 1, Columns: []schema.Column{ts, msg, num}}
var tagged = &schema.Table{ID: 2, Columns: []schema.Column{ts, host, msg, num}, Tags: []int{1}}

// row is a row of the naive model; fields print as text, NULL as "-".
type row struct {
	time     int64
	seq      uint64
	host     string
	msg, num string
}

func (r row) String() string { return fmt.Sprintf("%s|%d|%s|%s", r.host, r.time, r.msg, r.num) }

// batch makes n random rows; num is left out of some batches altogether.
func batch(r *rand.Rand, t *schema.Table, seq uint64, n int) ([]vector.Field, *vector.Batch, []row) {
	b := vector.NewBuilder()
	withNum := r.IntN(3) > 0
	rows := make([]row, n)
	for i := range rows {
		x := row{time: r.Int64N(1000), seq: seq, host: "-", msg: "-", num: "-"}
		c, _ := b.Column("ts", ts.Type)
		c.SetInt(x.time)
		if len(t.Tags) > 0 && r.IntN(4) > 0 {
			x.host = []string{"", "h", "h0", "h1", "h2"}[r.IntN(5)]
			c, _ := b.Column("host", host.Type)
			c.SetString(x.host)
		}
		if r.IntN(3) > 0 {
			x.msg = strings.Repeat("m", r.IntN(6))
			c, _ := b.Column("msg", msg.Type)
			c.SetString(x.msg)
		}
		if withNum {
			c, _ := b.Column("num", num.Type)
			if r.IntN(3) > 0 {
				v := r.Int64N(10)
				x.num = fmt.Sprint(v)
				c.SetInt(v)
			}
		}
		b.EndRow()
		rows[i] = x
	}
	fields, out := b.Finish()
	return fields, out, rows
}

// read drains a batch reader into printed rows; the columns are host, ts, msg, num.
func read(b *vector.Batch) []string {
	var out []string
	text := func(v *vector.Vector, i int) string {
		if v.IsNull(i) {
			return "-"
		}
		if v.Type.Kind() == vector.Int64 {
			return fmt.Sprint(v.Int(i))
		}
		return string(v.Bytes(i))
	}
	for i := range b.N {
		out = append(out, fmt.Sprintf("%s|%s|%s|%s", text(b.Cols[0], i), text(b.Cols[1], i), text(b.Cols[2], i),
			text(b.Cols[3], i)))
	}
	return out
}

func spec(r *rand.Rand, tags bool) *scan.Spec {
	s := &scan.Spec{Columns: []schema.Column{host, ts, msg, num}, TimeColumn: ts, Time: scan.All}
	if r.IntN(2) == 0 {
		from := r.Int64N(900)
		s.Time = scan.Range{From: from, To: from + r.Int64N(400)}
	}
	s.Newest = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		s.Filter = append(s.Filter,
			filter.Cond{Column: msg.ID, Op: filter.Equal, Args: vector.ConstString("mm"), NArgs: 1})
	}
	if tags && r.IntN(2) == 0 {
		s.Filter = append(s.Filter,
			filter.Cond{Column: host.ID, Op: filter.Prefix, Args: vector.ConstString("h"), NArgs: 1})
	}
	if len(s.Filter) == 2 && r.IntN(2) == 0 {
		s.Filter = filter.And{{Op: filter.AnyOf, Any: []filter.And{s.Filter[:1], s.Filter[1:]}}}
	} else if tags && r.IntN(4) == 0 { // a choice among tags alone
		one := filter.Cond{Column: host.ID, Op: filter.Equal, Args: vector.ConstString("no"), NArgs: 1}
		two := filter.Cond{Column: host.ID, Op: filter.Prefix, Args: vector.ConstString("h"), NArgs: 1}
		s.Filter = append(s.Filter, filter.Cond{Op: filter.AnyOf, Any: []filter.And{{one}, {two}}})
	}
	if tags && r.IntN(4) == 0 {
		s.KeyPrefix = schema.AppendSeriesKey(nil, 2, []schema.ColumnID{host.ID}, [][]byte{[]byte("h1")})
	}
	s.FilterColumns = []schema.Column{msg, host}
	return s
}

func passes(s *scan.Spec, x row) bool {
	var holds func(and filter.And) bool
	holds = func(and filter.And) bool {
		for _, c := range and {
			switch {
			case c.Op == filter.AnyOf && !slices.ContainsFunc(c.Any, holds),
				c.Column == msg.ID && x.msg != "mm",
				c.Column == host.ID && c.Op == filter.Prefix && !strings.HasPrefix(x.host, "h"),
				c.Column == host.ID && c.Op == filter.Equal && x.host != "no":
				return false
			}
		}
		return true
	}
	if !holds(s.Filter) {
		return false
	}
	return s.Time.Holds(x.time) && (len(s.KeyPrefix) == 0 || x.host == "h1")
}

func TestScanAgainstModel(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		table := []*schema.Table{logs, tagged}[seed%2]
		m := New(NewRegistry(), nil)
		var model []row
		for seq := range uint64(1 + r.IntN(30)) {
			fields, b, rows := batch(r, table, seq, r.IntN(1+r.IntN(3000)))
			m.Append(seq, table, fields, b)
			model = append(model, rows...)
		}
		run := m.Live()
		if run.Rows() != len(model) || m.Rows() != len(model) {
			t.Fatalf("seed %d: %d rows, want %d", seed, run.Rows(), len(model))
		}
		s := spec(r, len(table.Tags) > 0)
		var want []string
		for _, x := range model {
			if passes(s, x) {
				want = append(want, x.String())
			}
		}
		slices.Sort(want)
		got := scanAll(t, run, s)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: scan gives %d rows, want %d", seed, len(got), len(want))
		}
		checkSeries(t, seed, run, s, model)
	}
}

func scanAll(t *testing.T, run scan.Run, s *scan.Spec) []string {
	t.Helper()
	c, err := run.Scan(s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got []string
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return got
		}
		got = append(got, read(&b)...)
	}
}

// checkSeries wants the rows of every series by (time, sequence), series by key: NULL first, then rising hosts.
func checkSeries(t *testing.T, seed uint64, run scan.Run, s *scan.Spec, model []row) {
	t.Helper()
	var want []string
	sorted := slices.Clone(model)
	slices.SortStableFunc(sorted, func(a, b row) int {
		if d := strings.Compare(hostRank(a.host), hostRank(b.host)); d != 0 {
			return d
		}
		if a.time != b.time {
			return int(a.time - b.time)
		}
		return int(a.seq) - int(b.seq)
	})
	for _, x := range sorted {
		if passes(s, x) {
			want = append(want, x.String())
		}
	}
	w, err := run.Series(s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got []string
	last := ""
	for {
		key, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if string(key) <= last {
			t.Fatalf("seed %d: keys do not rise", seed)
		}
		last = string(key)
		for {
			var b vector.Batch
			ok, err := w.Rows(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, read(&b)...)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: walk differs: %d rows, want %d", seed, len(got), len(want))
	}
}

// hostRank compares as series keys do: no tag, then the empty one, then others.
func hostRank(host string) string {
	if host == "-" {
		return ""
	}
	return "+" + host
}

func TestColumnsYoungerThanTheirRows(t *testing.T) {
	old := &schema.Table{ID: 1, Columns: []schema.Column{ts, msg}}
	m := New(NewRegistry(), nil)
	b := vector.NewBatch(ts.Type)
	b.Cols[0].Ints, b.N = []int64{1}, 1
	m.Append(1, old, []vector.Field{{Name: "ts", Type: ts.Type}}, b)
	m.Append(2, logs, []vector.Field{{Name: "ts", Type: ts.Type}}, b)
	got := scanAll(t, m.Live(), &scan.Spec{Columns: []schema.Column{msg, ts, msg, num}, TimeColumn: ts, Time: scan.All})
	if want := []string{"-|1|-|-1", "-|1|-|-"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: the default is for rows written before the column", got, want)
	}
}

func TestTombstonesAndSequences(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := New(NewRegistry(), nil)
	fields, b, _ := batch(r, logs, 5, 10)
	m.Append(5, logs, fields, b)
	keys := vector.NewBatch(ts.Type)
	keys.Cols[0].Ints, keys.N = []int64{7}, 1
	m.AppendDelete(9, logs, []vector.Field{{Name: "ts", Type: ts.Type}}, keys)
	run := m.Freeze()
	if lo, hi := run.Sequences(); lo != 5 || hi != 9 {
		t.Errorf("sequences %d to %d", lo, hi)
	}
	w, err := run.Series(&scan.Spec{Columns: []schema.Column{ts, schema.SequenceColumn, schema.KindColumn},
		TimeColumn: ts, Time: scan.All})
	if err != nil {
		t.Fatal(err)
	}
	deletes, rows := 0, 0
	for {
		_, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		for {
			var b vector.Batch
			if ok, err := w.Rows(&b); err != nil || !ok {
				break
			}
			for i := range b.N {
				rows++
				if b.Cols[2].Uint(i) == schema.KindDelete {
					deletes++
					if b.Cols[1].Uint(i) != 9 || b.Cols[0].Int(i) != 7 {
						t.Errorf("tombstone at %d has sequence %d", b.Cols[0].Int(i), b.Cols[1].Uint(i))
					}
				}
			}
		}
	}
	if deletes != 1 || rows != 11 {
		t.Errorf("%d tombstones in %d rows", deletes, rows)
	}
}

func TestReadersBesideWriters(t *testing.T) {
	m := New(NewRegistry(), nil)
	var writers, readers sync.WaitGroup
	for g := range 4 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 9))
			for i := range 50 {
				seq := uint64(g*100 + i)
				fields, b, _ := batch(r, tagged, seq, 100)
				m.Append(seq, tagged, fields, b)
			}
		})
	}
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			last := 0
			for {
				select {
				case <-stop:
					return
				default:
				}
				run := m.Live()
				n := len(scanAll(t, run,
					&scan.Spec{Columns: []schema.Column{host, ts, msg, num}, TimeColumn: ts, Time: scan.All}))
				if n != run.Rows() || n < last {
					t.Errorf("%d rows read of %d, %d before", n, run.Rows(), last)
					return
				}
				last = n
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if m.Rows() != 4*50*100 {
		t.Errorf("%d rows", m.Rows())
	}
}

func TestManySmallAppendsLeaveFewChunks(t *testing.T) {
	m := New(NewRegistry(), nil)
	r := rand.New(rand.NewPCG(1, 1))
	for seq := range uint64(3000) {
		fields, b, _ := batch(r, logs, seq, 1)
		m.Append(seq, logs, fields, b)
	}
	// Those stay as they are that would be too large together: of two neighbours one has half of chunkLimit.
	if n := m.Live().Blocks(); n > 14+2*3000/chunkLimit {
		t.Errorf("3,000 rows in %d chunks of at most %d", n, chunkLimit)
	}
}

func TestStatAgainstModel(t *testing.T) {
	floats := schema.Column{ID: 8, Name: "f", Type: vector.FloatType, Nullable: true}
	table := &schema.Table{ID: 1, Columns: []schema.Column{ts, msg, num, floats}}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 5))
		m := New(NewRegistry(), nil)
		var times, nums []int64
		var msgs []string
		nans := 0
		for seq := range uint64(1 + r.IntN(10)) {
			fields, b, rows := batch(r, table, seq, r.IntN(50))
			f := &vector.Vector{Type: vector.FloatType, Floats: make([]float64, b.N)}
			for i := range f.Floats {
				if f.Floats[i] = r.Float64(); r.IntN(9) == 0 {
					f.Floats[i] = math.NaN()
					nans++
				}
			}
			if b.N > 0 {
				fields, b = append(slices.Clone(fields), vector.Field{Name: "f", Type: vector.FloatType}),
					&vector.Batch{N: b.N, Cols: append(slices.Clone(b.Cols), f)}
			}
			m.Append(seq, table, fields, b)
			for _, x := range rows {
				times = append(times, x.time)
				if x.num != "-" {
					var n int64
					if _, err := fmt.Sscan(x.num, &n); err != nil {
						t.Fatal(err)
					}
					nums = append(nums, n)
				}
				if x.msg != "-" {
					msgs = append(msgs, x.msg)
				}
			}
		}
		run := m.Live()
		checkStat(t, run, ts, times, func(v *vector.Vector) int64 { return v.Int(0) })
		checkStat(t, run, num, nums, func(v *vector.Vector) int64 { return v.Int(0) })
		checkStat(t, run, msg, msgs, func(v *vector.Vector) string { return string(v.Bytes(0)) })
		if st, ok, err := run.Stat(context.Background(), floats); err != nil || !ok || st.Count != len(times) ||
			nans > 0 && !math.IsNaN(st.Max.Float(0)) {
			t.Errorf("seed %d: floats %+v", seed, st)
		}
	}
}

func checkStat[T cmp.Ordered](t *testing.T, run *Run, c schema.Column, want []T, value func(*vector.Vector) T) {
	t.Helper()
	st, ok, err := run.Stat(context.Background(), c)
	if err != nil || !ok || st.Count != len(want) {
		t.Fatalf("%s: count %d, %v, want %d", c.Name, st.Count, ok, len(want))
	}
	if len(want) > 0 && (value(st.Min) != slices.Min(want) || value(st.Max) != slices.Max(want)) {
		t.Errorf("%s: %v to %v, want %v to %v", c.Name, value(st.Min), value(st.Max), slices.Min(want),
			slices.Max(want))
	}
}

// TestTagsOfAllKinds reads tags back that are no text, NULL among them.
func TestTagsOfAllKinds(t *testing.T) {
	table := &schema.Table{ID: 3, Columns: []schema.Column{ts,
		{ID: 20, Name: "i", Type: vector.Int64Type, Semantic: schema.Tag, Nullable: true},
		{ID: 21, Name: "u", Type: vector.Uint64Type, Semantic: schema.Tag, Nullable: true},
		{ID: 22, Name: "f", Type: vector.FloatType, Semantic: schema.Tag, Nullable: true},
		{ID: 23, Name: "b", Type: vector.BoolType, Semantic: schema.Tag, Nullable: true}}, Tags: []int{1, 2, 3, 4}}
	var rows []string
	b := vector.NewBuilder()
	for i := range 100 {
		want := ""
		set := func(name string, typ vector.Type, f func(*vector.ColumnBuilder) any) {
			c, err := b.Column(name, typ)
			if err != nil {
				t.Fatal(err)
			}
			if name != "ts" && (i+len(name)+int(typ.ID))%5 == 0 {
				want += "- "
				return
			}
			want += fmt.Sprint(f(c), " ")
		}
		set("ts", ts.Type, func(c *vector.ColumnBuilder) any { c.SetInt(int64(i)); return i })
		set("i", vector.Int64Type, func(c *vector.ColumnBuilder) any { x := int64(i%7 - 3); c.SetInt(x); return x })
		set("u", vector.Uint64Type, func(c *vector.ColumnBuilder) any { x := uint64(i % 3); c.SetUint(x); return x })
		set("f", vector.FloatType, func(c *vector.ColumnBuilder) any {
			x := float64(i%4) - 1.5
			c.SetFloat(x)
			return x
		})
		set("b", vector.BoolType, func(c *vector.ColumnBuilder) any { x := i%2 == 0; c.SetBool(x); return x })
		b.EndRow()
		rows = append(rows, want)
	}
	fields, in := b.Finish()
	m := New(NewRegistry(), nil)
	m.Append(1, table, fields, in)
	spec := &scan.Spec{Columns: table.Columns, FilterColumns: table.Columns, TimeColumn: ts, Time: scan.All}
	got := printAll(t, m.Live(), spec)
	if !slices.Equal(got, rows) {
		t.Errorf("got  %v\nwant %v", got, rows)
	}
	spec.Filter = filter.And{{Column: 20, Op: filter.Less, Args: vector.ConstInt(vector.Int64Type, 0), NArgs: 1},
		{Column: 23, Op: filter.IsNull}}
	var want []string
	for _, r := range rows {
		if f := strings.Fields(r); strings.HasPrefix(f[1], "-") && f[1] != "-" && f[4] == "-" {
			want = append(want, r)
		}
	}
	if got := printAll(t, m.Live(), spec); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("filtered: got %v, want %v", got, want)
	}
	w, err := m.Live().Series(&scan.Spec{Columns: table.Columns, TimeColumn: ts, Time: scan.All})
	if err != nil {
		t.Fatal(err)
	}
	if n := drainSeries(t, w); n != 100 {
		t.Errorf("the walk gives %d rows", n)
	}
}

// printAll prints the rows of a scan, values apart by blanks.
func printAll(t *testing.T, run scan.Run, s *scan.Spec) []string {
	t.Helper()
	c, err := run.Scan(s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out []string
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		for i := range b.N {
			line := ""
			for k, v := range b.Cols {
				switch {
				case v.IsNull(i):
					line += "- "
				case s.Columns[k].Type.Kind() == vector.Int64:
					line += fmt.Sprint(v.Int(i), " ")
				case s.Columns[k].Type.Kind() == vector.Uint64:
					line += fmt.Sprint(v.Uint(i), " ")
				case s.Columns[k].Type.Kind() == vector.Float64:
					line += fmt.Sprint(v.Float(i), " ")
				case s.Columns[k].Type.Kind() == vector.Bool:
					line += fmt.Sprint(v.Bool(i), " ")
				}
			}
			out = append(out, line)
		}
	}
}

// TestSparseColumnsTakeNoRoom: a wide table whose batches fill few columns.
func TestSparseColumnsTakeNoRoom(t *testing.T) {
	table := &schema.Table{ID: 1, Columns: []schema.Column{ts}}
	b := &vector.Batch{N: 1000, Cols: []*vector.Vector{{Type: ts.Type, Ints: make([]int64, 1000)}}}
	fields := []vector.Field{{Name: "ts", Type: ts.Type}}
	for i := range 1000 {
		c := schema.Column{ID: schema.ColumnID(100 + i), Name: fmt.Sprint("c", i), Type: vector.StringType,
			Nullable: true}
		table.Columns = append(table.Columns, c)
		v := &vector.Vector{Type: c.Type}
		v.AppendNulls(0, 1000)
		b.Cols, fields = append(b.Cols, v), append(fields, vector.Field{Name: c.Name, Type: c.Type})
	}
	m := New(NewRegistry(), nil)
	m.Append(1, table, fields, b)
	chunks := int64((b.N + chunkLimit - 1) / chunkLimit) // one but for small chunks that invariants drew
	if m.Bytes() > chunks*64<<10 {
		t.Errorf("1,000 rows of one value take %d bytes in %d chunks", m.Bytes(), chunks)
	}
}

func TestWarmScanAllocatesNothing(t *testing.T) {
	for _, tags := range []int{0, 2} {
		table := access(tags)
		m := filled(table, 100000)
		spec := &scan.Spec{TimeColumn: ts, Time: scan.Range{From: 10, To: 99989}, Columns: table.Columns,
			FilterColumns: table.Columns,
			Filter: filter.And{{Column: 20, Op: filter.Less, Args: vector.ConstInt(vector.Int64Type, 500),
				NArgs: 1}}}
		c, err := m.Live().Scan(spec)
		if err != nil {
			t.Fatal(err)
		}
		w, err := m.Live().Series(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b, d vector.Batch
		if _, _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		step := func() {
			if ok, err := c.Next(&b); err != nil || !ok {
				t.Fatalf("scan ended: %v", err)
			}
			if _, err := w.Rows(&d); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 { // where invariants drew small chunks, the list of stretches grows for some batches
			step()
		}
		if n := testing.AllocsPerRun(10, step); n != 0 {
			t.Errorf("%d tags: %v allocations a batch", tags, n)
		}
	}
}

// TestLargeChunks holds that chunks of long rows are not merged without end: offsets of strings have 32 bits.
func TestLargeChunks(t *testing.T) {
	m := New(NewRegistry(), nil)
	const rows, size = 64, 1 << 20
	text := &vector.Vector{Type: vector.StringType, Views: []vector.View{{Len: size}}, Heap: make([]byte, size)}
	for i := range uint64(rows) {
		b := &vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstInt(ts.Type, int64(i)).Flatten(1), text}}
		m.Append(i+1, logs, []vector.Field{{Name: "ts", Type: ts.Type}, {Name: "msg", Type: vector.StringType}}, b)
	}
	run := m.Live()
	for _, c := range run.s.chunks {
		if c.bytes > maxChunkBytes {
			t.Errorf("a chunk of %d rows and %d bytes", c.n, c.bytes)
		}
	}
	if n := run.Blocks(); n > 2*rows*size/maxChunkBytes+8 {
		t.Errorf("%d chunks", n)
	}
}

// TestLongRowsComeInLightBatches: what a walk copies of long texts is bounded, and every row comes once.
func TestLongRowsComeInLightBatches(t *testing.T) {
	m := New(NewRegistry(), nil)
	const rows, size = 64, 1 << 20
	text := &vector.Vector{Type: vector.StringType, Views: []vector.View{{Len: size}}, Heap: make([]byte, size)}
	for i := range uint64(rows) {
		at := int64(rows - i) // not in order: they are gathered
		b := &vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstInt(ts.Type, at).Flatten(1), text}}
		m.Append(i+1, logs, []vector.Field{{Name: "ts", Type: ts.Type}, {Name: "msg", Type: vector.StringType}}, b)
	}
	w, err := m.Live().Series(&scan.Spec{TimeColumn: ts, Time: scan.Range{From: 0, To: rows}, Columns: logs.Columns})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, ok, err := w.Next(); err != nil || !ok {
		t.Fatalf("no series: %v", err)
	}
	var b vector.Batch
	last, seen := int64(0), 0
	for {
		ok, err := w.Rows(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		bytes := 0
		for i := range b.N {
			for _, c := range b.Cols {
				switch c.Type.Kind() {
				case vector.Bytes:
					bytes += len(c.Bytes(i))
				default:
					if c.Type.ID == ts.Type.ID {
						if at := c.Int(i); at != last+1 {
							t.Fatalf("time %d after %d", at, last)
						}
						last++
					}
				}
			}
		}
		if bytes > maxText {
			t.Errorf("a batch of %d rows has %d bytes of text", b.N, bytes)
		}
		seen += b.N
	}
	if seen != rows {
		t.Errorf("%d rows of %d", seen, rows)
	}
}
