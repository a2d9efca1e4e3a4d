package sst

import (
	"bytes"
	"errors"
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
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// Columns of the test tables.
var (
	tsColumn      = schema.Column{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}
	levelColumn   = schema.Column{ID: 2, Name: "level", Type: vector.StringType, Nullable: true}
	latencyColumn = schema.Column{ID: 3, Name: "latency", Type: vector.FloatType, Nullable: true}
	messageColumn = schema.Column{ID: 4, Name: "message", Type: vector.StringType, Nullable: true}
	bytesColumn   = schema.Column{ID: 5, Name: "bytes", Type: vector.Int64Type, Nullable: true}
	cachedColumn  = schema.Column{ID: 6, Name: "cached", Type: vector.BoolType, Nullable: true}
	hostColumn    = schema.Column{ID: 7, Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true}
	addedColumn   = schema.Column{ID: 9, Name: "added", Type: vector.Int64Type, Nullable: true,
		Default: vector.ConstInt(vector.Int64Type, 42)}
	lackedColumn = schema.Column{ID: 10, Name: "lacked", Type: vector.StringType, Nullable: true}

	fieldColumns = []schema.Column{tsColumn, levelColumn, latencyColumn, messageColumn, bytesColumn, cachedColumn}
)

// table is a random table in memory: the model of a part. series[i] are the rows of one series, in order.
type table struct {
	series []seriesRows
	hidden bool
}

type seriesRows struct {
	key  []byte
	host string // empty: the tag is absent
	rows []row
}

// row is one row as values that can be compared and printed; nil is NULL.
type row map[schema.ColumnID]any

// newTable makes series of rows.
func newTable(r *rand.Rand, series, rows int, hidden bool) *table {
	t := &table{hidden: hidden}
	for s := range series {
		x := seriesRows{}
		if series == 1 {
			x.key = schema.AppendSeriesKey(nil, 7, nil, nil)
		} else {
			x.host = fmt.Sprintf("host-%03d", s/3)
			shard := schema.AppendKeyInt(nil, int64(s%3)-1)
			if s%5 == 0 {
				x.host = ""
				x.key = schema.AppendSeriesKey(nil, schema.TableID(7+s%2), []schema.ColumnID{7, 8},
					[][]byte{nil, schema.AppendKeyInt(nil, int64(s))})
			} else {
				x.key = schema.AppendSeriesKey(nil, schema.TableID(7+s%2), []schema.ColumnID{7, 8},
					[][]byte{[]byte(x.host), shard})
			}
		}
		n := rows
		if series > 1 {
			n = 1 + r.IntN(2*rows)
		}
		at := int64(1000)
		for i := range n {
			at += int64(r.IntN(3))
			w := row{1: at, schema.SequenceID: uint64(r.IntN(1000) + 1), schema.KindID: uint64(r.IntN(2))}
			if r.IntN(10) > 0 {
				w[2] = []string{"info", "warn", "error", "debug"}[min(r.IntN(40)/13, 3)]
			}
			if i/3000%2 == 0 && r.IntN(5) > 0 {
				w[3] = float64(r.IntN(100000)) / 1000
			}
			w[4] = fmt.Sprintf("user %d did thing %d", r.IntN(1000), i)
			if i%1000 == 777 {
				w[4] = "a needle in the hay"
			}
			w[5] = int64(r.IntN(1000)) - 500
			if i > n/2 {
				w[6] = r.IntN(2) == 0
			}
			x.rows = append(x.rows, w)
		}
		t.series = append(t.series, x)
	}
	slices.SortFunc(t.series, func(a, b seriesRows) int { return bytes.Compare(a.key, b.key) })
	t.series = slices.CompactFunc(t.series, func(a, b seriesRows) bool { return bytes.Equal(a.key, b.key) })
	return t
}

// batch makes rows [from, to) of a series a batch in the order that Write wants.
func (t *table) batch(s *seriesRows, from, to int) *vector.Batch {
	cols := append([]schema.Column(nil), fieldColumns...)
	if t.hidden {
		cols = append(cols, schema.SequenceColumn, schema.KindColumn)
	}
	b := vector.NewBuilder()
	var builders []*vector.ColumnBuilder
	for _, c := range cols {
		x, err := b.Column(c.Name, c.Type)
		if err != nil {
			panic(err)
		}
		builders = append(builders, x)
	}
	b.Pin()
	for _, w := range s.rows[from:to] {
		for i, c := range cols {
			switch x := w[c.ID].(type) {
			case int64:
				builders[i].SetInt(x)
			case uint64:
				builders[i].SetUint(x)
			case float64:
				builders[i].SetFloat(x)
			case bool:
				builders[i].SetBool(x)
			case string:
				builders[i].SetString(x)
			}
		}
		b.EndRow()
	}
	_, batch := b.Finish()
	return batch
}

// write writes the table as a part.
func (t *table) write(tb testing.TB, fs vfs.FS, name string, r *rand.Rand, o WriterOptions) Meta {
	tb.Helper()
	f, err := fs.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	o.Columns, o.Hidden = fieldColumns, t.hidden
	w := NewWriter(f, o)
	for i := range t.series {
		s := &t.series[i]
		if err := w.Series(s.key); err != nil {
			tb.Fatal(err)
		}
		for from := 0; from < len(s.rows); {
			to := min(len(s.rows), from+1+r.IntN(5000))
			if err := w.Write(t.batch(s, from, to)); err != nil {
				tb.Fatal(err)
			}
			from = to
		}
	}
	w.Describe([]byte(partOrigin))
	m, err := w.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return m
}

// value is row i of a vector as a comparable value; nil for NULL.
func value(v *vector.Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return v.Bool(i)
	case vector.Int64:
		return v.Int(i)
	case vector.Uint64:
		return v.Uint(i)
	case vector.Float64:
		return v.Float(i)
	}
	return string(v.Bytes(i))
}

// text prints a row of a batch.
func text(b *vector.Batch, i int) string {
	var s strings.Builder
	for _, c := range b.Cols {
		fmt.Fprintf(&s, "%v|", value(c, i))
	}
	return s.String()
}

// want returns the lines that a scan must give, per series.
func (t *table) want(spec *scan.Spec, pass func(s *seriesRows, w row) bool) (lines []string, keys []string) {
	for i := range t.series {
		s := &t.series[i]
		found := false
		if !bytes.HasPrefix(s.key, spec.KeyPrefix) {
			continue
		}
		for _, w := range s.rows {
			if !spec.Time.Holds(w[1].(int64)) || !pass(s, w) {
				continue
			}
			var line strings.Builder
			for _, c := range spec.Columns {
				x := w[c.ID]
				switch {
				case c.ID == 7 && s.host != "":
					x = s.host
				case c.ID == 9:
					x = int64(42)
				case !t.hidden && c.ID == schema.SequenceID:
					x = uint64(99)
				case !t.hidden && c.ID == schema.KindID:
					x = uint64(0)
				}
				fmt.Fprintf(&line, "%v|", x)
			}
			lines = append(lines, line.String())
			found = true
		}
		if found {
			keys = append(keys, string(s.key))
		}
	}
	return lines, keys
}

// cond makes a condition.
func cond(c schema.Column, op filter.Op, args ...any) filter.Cond {
	v := &vector.Vector{Type: c.Type}
	for i, a := range args {
		switch x := a.(type) {
		case int64:
			v.Append(i, vector.ConstInt(c.Type, x), 0, 1)
		case float64:
			v.Append(i, vector.ConstFloat(c.Type, x), 0, 1)
		case bool:
			v.Append(i, vector.ConstBool(x), 0, 1)
		case string:
			v.Append(i, vector.ConstBytes(c.Type, []byte(x)), 0, 1)
		}
	}
	return filter.Cond{Column: c.ID, Op: op, Args: v, NArgs: len(args)}
}

func str(x any) string { s, _ := x.(string); return s }

// scans are the conditions that parts are read with, and what they mean.
var scans = []struct {
	name string
	and  filter.And
	pass func(s *seriesRows, w row) bool
}{
	{"all", nil, func(*seriesRows, row) bool { return true }},
	{"level", filter.And{cond(levelColumn, filter.Equal, "warn")},
		func(_ *seriesRows, w row) bool { return w[2] == "warn" }},
	{"not level", filter.And{cond(levelColumn, filter.NotEqual, "warn")},
		func(_ *seriesRows, w row) bool { return w[2] != nil && w[2] != "warn" }},
	{"no such level", filter.And{cond(levelColumn, filter.Equal, "fatal")},
		func(*seriesRows, row) bool { return false }},
	{"levels", filter.And{cond(levelColumn, filter.In, "debug", "error", "zzz")},
		func(_ *seriesRows, w row) bool { return w[2] == "debug" || w[2] == "error" }},
	{"null", filter.And{cond(latencyColumn, filter.IsNull)}, func(_ *seriesRows, w row) bool { return w[3] == nil }},
	{"not null", filter.And{cond(latencyColumn, filter.IsNotNull)},
		func(_ *seriesRows, w row) bool { return w[3] != nil }},
	{"needle", filter.And{cond(messageColumn, filter.Contains, "needle")},
		func(_ *seriesRows, w row) bool { return strings.Contains(str(w[4]), "needle") }},
	{"like", filter.And{cond(messageColumn, filter.Like, "user 7%thing _1")}, func(_ *seriesRows, w row) bool {
		s := str(w[4])
		return strings.HasPrefix(s, "user 7") && len(s) > 8 && strings.HasSuffix(s[:len(s)-2], "thing ") &&
			strings.HasSuffix(s, "1")
	}},
	{"two", filter.And{cond(bytesColumn, filter.Greater, int64(400)), cond(latencyColumn, filter.Less, 20.0)},
		func(_ *seriesRows, w row) bool {
			l, ok := w[3].(float64)
			return w[5].(int64) > 400 && ok && l < 20
		}},
	{"zone refutes", filter.And{cond(bytesColumn, filter.Greater, int64(500))},
		func(*seriesRows, row) bool { return false }},
	{"zone proves", filter.And{cond(bytesColumn, filter.Less, int64(500))},
		func(*seriesRows, row) bool { return true }},
	{"bool", filter.And{cond(cachedColumn, filter.Equal, true)},
		func(_ *seriesRows, w row) bool { return w[6] == true }},
	{"tag", filter.And{cond(hostColumn, filter.Equal, "host-001")},
		func(s *seriesRows, _ row) bool { return s.host == "host-001" }},
	{"tag and field", filter.And{cond(hostColumn, filter.NotEqual, "host-001"),
		cond(levelColumn, filter.Equal, "error")}, func(s *seriesRows, w row) bool {
		return s.host != "" && s.host != "host-001" && w[2] == "error"
	}},
	{"tag is null", filter.And{cond(hostColumn, filter.IsNull)},
		func(s *seriesRows, _ row) bool { return s.host == "" }},
	{"tag is not null", filter.And{cond(hostColumn, filter.IsNotNull)},
		func(s *seriesRows, _ row) bool { return s.host != "" }},
	{"no such tag", filter.And{cond(hostColumn, filter.Equal, "host")}, func(*seriesRows, row) bool { return false }},
	{"tags", filter.And{cond(hostColumn, filter.In, "host-001", "nowhere", "host-004", "host-001")},
		func(s *seriesRows, _ row) bool {
			return s.host == "host-001" || s.host == "host-004"
		}},
	{"other tags", filter.And{cond(hostColumn, filter.NotIn, "host-001", "host-004")}, func(s *seriesRows, _ row) bool {
		return s.host != "" && s.host != "host-001" && s.host != "host-004"
	}},
	{"tag by expression", filter.And{cond(hostColumn, filter.Regex, "-0[01]2$")},
		func(s *seriesRows, _ row) bool { return s.host == "host-002" || s.host == "host-012" }},
	{"tag in lower case", filter.And{filter.Cond{Column: 7, Op: filter.Equal,
		Args: vector.ConstBytes(vector.StringType, []byte("host-003")), NArgs: 1, Lower: true}},
		func(s *seriesRows, _ row) bool { return s.host == "host-003" }},
	{"many tags", filter.And{cond(hostColumn, filter.Less, "host-010")},
		func(s *seriesRows, _ row) bool { return s.host != "" && s.host < "host-010" }},
	{"two on tags", filter.And{cond(hostColumn, filter.GreaterEqual, "host-002"),
		cond(hostColumn, filter.In, "host-001", "host-002", "host-005"), cond(levelColumn, filter.Equal, "info")},
		func(s *seriesRows, w row) bool {
			return (s.host == "host-002" || s.host == "host-005") && w[2] == "info"
		}},
	{"lacked", filter.And{cond(lackedColumn, filter.Equal, "x")}, func(*seriesRows, row) bool { return false }},
	{"added", filter.And{cond(addedColumn, filter.Equal, int64(42))}, func(*seriesRows, row) bool { return true }},
	{"time", filter.And{cond(tsColumn, filter.LessEqual, int64(1500))},
		func(_ *seriesRows, w row) bool { return w[1].(int64) <= 1500 }},
	{"either of two columns", filter.And{either(filter.And{cond(levelColumn, filter.Equal, "error")},
		filter.And{cond(bytesColumn, filter.Less, int64(30))})}, func(_ *seriesRows, w row) bool {
		return w[2] == "error" || w[5].(int64) < 30
	}},
	{"two choices", filter.And{
		either(filter.And{cond(levelColumn, filter.Equal, "warn")},
			filter.And{cond(messageColumn, filter.Contains, "needle")}),
		either(filter.And{cond(latencyColumn, filter.IsNull)},
			filter.And{cond(latencyColumn, filter.Less, 20.0), cond(cachedColumn, filter.Equal, true)})},
		func(_ *seriesRows, w row) bool {
			l, ok := w[3].(float64)
			return (w[2] == "warn" || strings.Contains(str(w[4]), "needle")) && (!ok || l < 20 && w[6] == true)
		}},
	{"either of tag and field",
		filter.And{either(filter.And{cond(hostColumn, filter.Equal, "host-001")},
			filter.And{cond(levelColumn, filter.Equal, "error")})}, func(s *seriesRows, w row) bool {
			return s.host == "host-001" || w[2] == "error"
		}},
	{"either, one lacked", filter.And{either(filter.And{cond(lackedColumn, filter.Equal, "x")},
		filter.And{cond(levelColumn, filter.Equal, "fatal")})}, func(*seriesRows, row) bool { return false }},
	{"either, zone proves", filter.And{either(filter.And{cond(levelColumn, filter.Equal, "fatal")},
		filter.And{cond(bytesColumn, filter.Less, int64(500))})}, func(*seriesRows, row) bool { return true }},
	{"either within either", filter.And{either(
		filter.And{cond(bytesColumn, filter.Greater, int64(400)),
			either(filter.And{cond(levelColumn, filter.Equal, "warn")},
				filter.And{cond(addedColumn, filter.Equal, int64(41))})},
		filter.And{cond(messageColumn, filter.Equal, "no such message")})}, func(_ *seriesRows, w row) bool {
		return w[5].(int64) > 400 && w[2] == "warn"
	}},
}

func either(any ...filter.And) filter.Cond { return filter.Cond{Op: filter.AnyOf, Any: any} }

var allColumns = []schema.Column{hostColumn, tsColumn, messageColumn, levelColumn, latencyColumn, bytesColumn,
	cachedColumn, addedColumn, lackedColumn, schema.SequenceColumn, schema.KindColumn}

// read collects what a cursor gives.
func read(tb testing.TB, c scan.Cursor) (lines []string) {
	tb.Helper()
	defer c.Close()
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil {
			tb.Fatal(err)
		}
		if !ok {
			return lines
		}
		if b.N == 0 || b.N > vector.Size {
			tb.Fatalf("batch of %d rows", b.N)
		}
		for i := range b.N {
			lines = append(lines, text(&b, i))
		}
	}
}

func compareLines(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

// TestScan holds every way of reading parts of several shapes against the model.
func TestScan(t *testing.T) {
	for _, shape := range []struct {
		name         string
		series, rows int
		hidden       bool
		o            WriterOptions
	}{
		{"one row", 1, 1, false, WriterOptions{MaxSeq: 99}},
		{"log", 1, 10000, false, WriterOptions{MaxSeq: 99}},
		{"log, small blocks, two workers", 1, 5000, true, WriterOptions{BlockRows: 2048, Workers: 2}},
		{"series", 40, 200, true, WriterOptions{BlockRows: 2048}},
		{"many series", 300, 3, true, WriterOptions{BlockRows: 2048}},
		{"large blocks", 5, 4000, false, WriterOptions{BlockRows: 1 << 16, MaxSeq: 99}},
	} {
		t.Run(shape.name, func(t *testing.T) {
			if testing.Short() { // as under the race detector
				shape.rows = (shape.rows + 7) / 8
			}
			r := rand.New(rand.NewPCG(1, uint64(shape.rows)))
			model := newTable(r, shape.series, shape.rows, shape.hidden)
			fs := vfs.NewMem()
			meta := model.write(t, fs, "p", r, shape.o)
			cache := NewCache(64 << 20)
			p, err := Open(fs, "p", OpenOptions{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if got := p.Meta(); got.Rows != meta.Rows || got.Checksum != meta.Checksum || got.MaxSeq != meta.MaxSeq ||
				got.MinTime != meta.MinTime || got.Bytes != meta.Bytes {
				t.Errorf("meta %+v, the writer said %+v", got, meta)
			}
			for round := range 2 { // the cache fills, then serves
				for _, s := range scans {
					for _, span := range []scan.Range{scan.All, {From: 1100, To: 1399}, {From: 5000, To: 5000},
						{From: 0, To: 0}} {
						for _, prefix := range [][]byte{nil, {0, 0, 0, 7}, {0, 0, 0, 8}} {
							if prefix != nil && (shape.series == 1 || span != scan.All) {
								continue
							}
							spec := &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: span, Filter: s.and,
								FilterColumns: allColumns, KeyPrefix: prefix}
							if round == 1 {
								spec.Memo = &scan.Memo{}
							}
							t.Run(fmt.Sprintf("%s/%d/%v/%x", s.name, round, span, prefix), func(t *testing.T) {
								checkScan(t, p, model, spec, s.pass)
							})
						}
					}
				}
			}
			if shape.rows > 100 && cache.Hits.Load() == 0 {
				t.Error("the cache was never hit")
			}
		})
	}
}

// checkScan reads in all ways: whole, in pieces, newest first, by series.
func checkScan(t *testing.T, p *Part, model *table, spec *scan.Spec, pass func(*seriesRows, row) bool) {
	want, keys := model.want(spec, pass)
	run := p.Run()
	c, err := run.Scan(spec)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, read(t, c), want)
	var got []string
	for i := range run.Blocks() {
		piece := *spec
		piece.Pieces = &scan.Pieces{From: i, To: i + 1}
		c, err := run.Scan(&piece)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, read(t, c)...)
	}
	compareLines(t, got, want)
	newest := *spec
	newest.Newest = true
	if c, err = run.Scan(&newest); err != nil {
		t.Fatal(err)
	}
	got = read(t, c)
	slices.Sort(got)
	sorted := slices.Sorted(slices.Values(want))
	compareLines(t, got, sorted)

	walk, err := run.Series(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer walk.Close()
	got = nil
	var b vector.Batch
	for i := 0; ; i++ {
		key, ok, err := walk.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if i != len(keys) {
				t.Fatalf("%d series, want %d", i, len(keys))
			}
			break
		}
		if i >= len(keys) || string(key) != keys[i] {
			t.Fatalf("series %d is %x", i, key)
		}
		for {
			ok, err := walk.Rows(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			for i := range b.N {
				got = append(got, text(&b, i))
			}
		}
	}
	compareLines(t, got, want)
}

// TestScanEnds: reading a tag of many series and testing its values end with the scan.
func TestScanEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fs := vfs.NewMem()
	newTable(r, 30, 10, true).write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(2 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	gone := errors.New("the client left")
	spec := &scan.Spec{TimeColumn: tsColumn, Time: scan.All,
		Filter: filter.And{cond(hostColumn, filter.Prefix, "host")}, FilterColumns: allColumns}
	asked := 0
	for ends := range 2 { // when the tag is read, when its values are tested
		asked = 0
		spec.Context = endingContext{ctx, func() error {
			if asked++; asked > ends {
				return gone
			}
			return nil
		}}
		if _, err := p.Run().Scan(spec); !errors.Is(err, gone) {
			t.Errorf("a scan that ends at question %d: %v", ends, err)
		}
	}
}

// TestTagOfManyBytes reads a tag whose values together are beyond what offsets can tell: the query fails, the part is
// as good as before.
func TestTagOfManyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fs := vfs.NewMem()
	newTable(r, 30, 10, true).write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(2 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	spec := &scan.Spec{TimeColumn: tsColumn, Time: scan.All,
		Filter: filter.And{cond(hostColumn, filter.Prefix, "host")}, FilterColumns: allColumns}
	mostTagBytes = 20
	_, err = p.Run().Scan(spec)
	mostTagBytes = math.MaxUint32
	if status.Of(err) != status.RuntimeResourcesExhausted || errors.Is(err, ErrCorrupt) {
		t.Errorf("a tag of too many bytes: %v", err)
	}
	if _, err := p.Run().Scan(spec); err != nil {
		t.Errorf("the same tag within the bound: %v", err)
	}
}

// TestKeyBytes bounds the bytes of keys: closely where the series section is large, from above where it is small.
func TestKeyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	fs := vfs.NewMem()
	model := newTable(r, 100, 3, true)
	model.write(t, fs, "p", r, WriterOptions{})
	exact := int64(0)
	for _, s := range model.series {
		exact += int64(len(s.key))
	}
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if n, err := p.KeyBytes(); err != nil || n < exact {
		t.Errorf("%d bytes are bounded by %d: %v", exact, n, err)
	}
	defer func(few int64) { fewKeyBytes = few }(fewKeyBytes)
	fewKeyBytes = 0
	if n, err := p.KeyBytes(); err != nil || n != exact {
		t.Errorf("%d bytes, want %d: %v", n, exact, err)
	}
}

// TestConcurrentScans reads one part by many goroutines that share its cache, dictionaries and tags.
func TestConcurrentScans(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	model := newTable(r, 12, 600, true)
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(2 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 8 {
				s := scans[(g+i)%len(scans)]
				spec := &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All, Filter: s.and,
					FilterColumns: allColumns}
				want, _ := model.want(spec, s.pass)
				c, err := p.Run().Scan(spec)
				if err != nil {
					t.Error(err)
					return
				}
				var b vector.Batch
				got := 0
				for {
					ok, err := c.Next(&b)
					if err != nil {
						t.Error(err)
						return
					}
					if !ok {
						break
					}
					for k := range b.N {
						if got < len(want) && text(&b, k) != want[got] {
							t.Errorf("%s: row %d differs", s.name, got)
							return
						}
						got++
					}
				}
				if got != len(want) {
					t.Errorf("%s: %d rows, want %d", s.name, got, len(want))
				}
			}
		})
	}
	wait.Wait()
}
