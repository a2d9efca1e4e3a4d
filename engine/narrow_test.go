package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// tightening calls f before each batch of a cursor.
type tightening struct {
	scan.Cursor
	f func()
}

func (c *tightening) Next(b *vector.Batch) (bool, error) {
	c.f()
	return c.Cursor.Next(b)
}

// compareBounds reads a table while a bound is tightened, by pieces or by series: every row within the bound comes
// once, and what comes besides are rows that the table has, no version that was replaced or deleted.
func compareBounds(t *testing.T, e *Engine, table *Table, rows []modelRow, r *rand.Rand, when string) {
	t.Helper()
	tighten, within := drawBound(r, table)
	if tighten == nil {
		return
	}
	q := Request{Table: table, Time: scan.All, Newest: r.IntN(2) == 0}
	for _, c := range table.Schema.Columns {
		q.Columns = append(q.Columns, c.ID)
	}
	b, step := tighten()
	q.Bounds = []*scan.Bound{b}
	if r.IntN(3) == 0 {
		step() // known when the scan begins
	}
	s, err := e.Scan(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	how, read := "pieces", readPieces
	if r.IntN(2) == 0 {
		how, read = "series", readBySeries
	}
	got, err := read(s, step)
	if err != nil {
		t.Fatalf("%s: %s by %s: %v", when, table.Schema.Name, how, err)
	}
	count := map[string]int{}
	for _, line := range got {
		count[line]++
	}
	for _, row := range rows {
		line := row.String()
		if count[line]--; count[line] < 0 && within(row) {
			t.Fatalf("%s: %s by %s: row %s lies within the bound and did not come", when, table.Schema.Name, how, line)
		}
	}
	for line, n := range count {
		if n > 0 {
			t.Fatalf("%s: %s by %s: row %s came %d times too often", when, table.Schema.Name, how, line, n)
		}
	}
}

// drawBound draws a bound on the time, a tag or a field, which gets tighter with each step; within tells what it says
// then.
func drawBound(r *rand.Rand, table *Table) (begin func() (*scan.Bound, func()), within func(modelRow) bool) {
	name := []string{"ts", "host", "v", "value"}[r.IntN(4)]
	p := table.Schema.Column(name)
	if p < 0 {
		return nil, nil
	}
	b := &scan.Bound{Column: table.Schema.Columns[p].ID}
	least := int64(-1) // of times and integers; hosts are h0 to h4
	condition := func() (scan.Range, filter.And) {
		c := filter.Cond{Column: b.Column, Op: filter.GreaterEqual, NArgs: 1}
		switch name {
		case "ts":
			return scan.Range{From: least, To: scan.All.To}, nil
		case "host":
			c.Args = vector.ConstString(fmt.Sprint("h", least)).Flatten(1)
		case "v":
			c.Args = &vector.Vector{Type: vector.Int64Type, Ints: []int64{least}}
		default:
			c.Args = &vector.Vector{Type: vector.FloatType, Floats: []float64{float64(least)}}
		}
		return scan.All, filter.And{c}
	}
	most := map[string]int64{"ts": 600, "host": 2, "v": 15, "value": 20}[name]
	step := func() {
		if least += r.Int64N(most); name == "host" {
			least = min(least, 9)
		}
		b.Tighten(condition())
	}
	within = func(row modelRow) bool {
		switch x := row[name].(type) {
		case int64:
			return x >= least
		case float64:
			return x >= float64(least)
		case string:
			return x >= fmt.Sprint("h", least)
		}
		return false
	}
	return func() (*scan.Bound, func()) { return b, step }, within
}

// readPieces reads a scan piece by piece.
func readPieces(s *Scan, step func()) (lines []string, err error) {
	for {
		c, span, ok, err := s.Cursor()
		if err != nil || !ok {
			return lines, err
		}
		if lines, err = appendRows(lines, s.t, &tightening{c, step}, span); err != nil {
			return nil, err
		}
	}
}

// readBySeries reads a scan series by series.
func readBySeries(s *Scan, step func()) (lines []string, err error) {
	w, err := s.Series(0, 1)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for {
		if _, ok, err := w.Next(); err != nil || !ok {
			return lines, err
		}
		if lines, err = appendRows(lines, s.t, &tightening{&seriesRows{w}, step}, scan.All); err != nil {
			return nil, err
		}
	}
}

// TestSeriesOfRunsAlone: of a table of one series, runs that overlap no other are read by themselves, whole and within
// bounds.
func TestSeriesOfRunsAlone(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 51))
		e := mustOpen(t, testOptions(vfs.NewMem()))
		m := &modelTable{kind: noTags, keys: map[string]modelRow{}}
		for round := range 8 {
			var rows, gone []modelRow
			from := r.Int64N(12) * 400
			for i := range 1 + r.Int64N(500) {
				rows = append(rows, modelRow{"ts": from + i, "v": r.Int64N(100), "row": int64(round)})
			}
			m.put(rows)
			must(t, put(e, "t", noTags, rows))
			if round%3 == 2 {
				for i := range r.Int64N(40) {
					gone = append(gone, modelRow{"ts": from + 3*i})
				}
				m.remove(gone)
				must(t, remove(e, "t", gone))
			}
			if r.IntN(4) > 0 {
				must(t, e.Flush(ctx, public("t")))
			}
			table, err := e.Table(public("t"))
			must(t, err)
			for range 6 {
				compareBounds(t, e, table, m.all(), r, fmt.Sprint("seed ", seed, " round ", round))
			}
			compareWalk(t, e, m, randomQuery(r, table.Schema))
		}
		mustClose(t, e)
	}
}

// compareWalk holds a walk by series against the model: rows come by time.
func compareWalk(t *testing.T, e *Engine, m *modelTable, q query) {
	t.Helper()
	request := requestOf(t, e, public("t"))
	request.Time, request.Filter = q.time, q.filter
	s, err := e.Scan(ctx, request)
	must(t, err)
	defer s.Close()
	got, err := readBySeries(s, func() {})
	must(t, err)
	var want []modelRow
	for _, row := range m.all() {
		if q.test(row) {
			want = append(want, row)
		}
	}
	slices.SortFunc(want, func(a, b modelRow) int { return cmp.Compare(a["ts"].(int64), b["ts"].(int64)) })
	for i, row := range want {
		if i >= len(got) || got[i] != row.String() {
			t.Fatalf("filter %+v: row %d of %d is not %s", q.filter, i, len(got), row)
		}
	}
	if len(got) > len(want) {
		t.Fatalf("filter %+v: %d rows, want %d", q.filter, len(got), len(want))
	}
}

// TestConditionsOfRunsAlone: what zones refute of a run that is read alone is not read.
func TestConditionsOfRunsAlone(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for part := range int64(4) {
		var rows []modelRow
		for i := range int64(100) {
			rows = append(rows, modelRow{"ts": 1000*part + i, "v": 100*part + i})
		}
		must(t, put(e, "t", noTags, rows))
		must(t, e.Flush(ctx, public("t")))
	}
	must(t, put(e, "t", noTags, []modelRow{{"ts": int64(3050), "v": int64(7)}})) // replaces a row of the last part
	request := requestOf(t, e, public("t"))
	v := request.Table.Schema.Columns[request.Table.Schema.Column("v")].ID
	request.Stats = &scan.Stats{}
	request.Filter = filter.And{{Column: v, Op: filter.Less,
		Args: &vector.Vector{Type: vector.Int64Type, Ints: []int64{50}}, NArgs: 1}}
	s, err := e.Scan(ctx, request)
	must(t, err)
	defer s.Close()
	lines, err := readBySeries(s, func() {})
	if err != nil || len(lines) != 51 {
		t.Errorf("%d rows, %v", len(lines), err)
	}
	if n := request.Stats.PrunedByZones.Load(); n < 2 {
		t.Errorf("zones refuted %d blocks, want those of the second and third part", n)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
