package sst

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// textTable is a table of one series with rows of log text, from a time on.
func textTable(r *rand.Rand, rows int, from int64) *table {
	t := newTable(r, 1, rows, false)
	levels := []string{"info", "warn", "error", "debug", "trace", "fatal"}
	r.Shuffle(len(levels), func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
	for i := range t.series[0].rows {
		w := t.series[0].rows[i]
		w[tsColumn.ID] = from + int64(i)
		w[messageColumn.ID] = logLine(r)
		if w[levelColumn.ID] != nil {
			w[levelColumn.ID] = levels[r.IntN(len(levels))]
		}
	}
	return t
}

// splice writes the blocks of parts one after the other as a new part, and rows in between where given.
func splice(tb testing.TB, fs vfs.FS, name string, o WriterOptions, parts []*Part, between *table) Meta {
	tb.Helper()
	f, err := fs.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	o.Table, o.Columns = &schema.Table{ID: 7}, fieldColumns
	w := NewWriter(f, o)
	key, err := parts[0].SoleSeries(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Series(key); err != nil {
		tb.Fatal(err)
	}
	for i, p := range parts {
		if i == 1 && between != nil {
			s := &between.series[0]
			if err := w.Write(between.batch(s, 0, len(s.rows))); err != nil {
				tb.Fatal(err)
			}
		}
		for block := range p.blocks {
			if ok, err := w.Splice(ctx, p, block); !ok || err != nil {
				tb.Fatal(ok, err)
			}
		}
	}
	m, err := w.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return m
}

// TestSplice takes the blocks of two parts over, with rows in between: the new part checks out, holds all rows, and its
// filters and postings find them.
func TestSplice(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	fs := vfs.NewMem()
	a, between, b := textTable(r, 5000, 1000), textTable(r, 100, 10_000), textTable(r, 3000, 20_000)
	var parts []*Part
	for i, m := range []*table{a, b} {
		name := fmt.Sprint("p", i)
		m.write(t, fs, name, r, WriterOptions{BlockRows: 2048})
		p, err := Open(fs, name, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		parts = append(parts, p)
	}
	m := splice(t, fs, "all", WriterOptions{BlockRows: 2048, MaxSeq: 99}, parts, between)
	if m.Rows != 8100 {
		t.Errorf("%d rows", m.Rows)
	}
	for _, c := range m.Columns {
		if c.ID == messageColumn.ID && c.FilterBytes == 0 {
			t.Error("the filters are gone")
		}
	}
	if errs := checkFile(fs, "all"); len(errs) > 0 {
		t.Fatal(errs)
	}
	p, err := Open(fs, "all", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	model := &table{series: []seriesRows{{key: a.series[0].key}}}
	for _, x := range []*table{a, between, b} {
		model.series[0].rows = append(model.series[0].rows, x.series[0].rows...)
	}
	checkScan(t, p, model, &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All},
		func(*seriesRows, row) bool { return true })
	checkScan(t, p, model, &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All,
		Filter: filter.And{cond(levelColumn, filter.Equal, "fatal")}, FilterColumns: allColumns},
		func(_ *seriesRows, w row) bool { return w[levelColumn.ID] == "fatal" })
	checkScan(t, p, model, &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All,
		Filter: filter.And{cond(messageColumn, filter.Term, "password")}, FilterColumns: allColumns},
		func(_ *seriesRows, w row) bool {
			return filter.NewTerm([]byte("password")).Match([]byte(w[messageColumn.ID].(string)))
		})
}

// TestSpliceRefuses: parts that are not alike are not taken over, and nothing of them is.
func TestSpliceRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 6))
	fs := vfs.NewMem()
	for name, m := range map[string]*table{"several series": newTable(r, 4, 50, false),
		"hidden columns": newTable(r, 1, 50, true)} {
		t.Run(name, func(t *testing.T) {
			m.write(t, fs, name, r, WriterOptions{})
			p, err := Open(fs, name, OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			f, err := fs.Create("new")
			if err != nil {
				t.Fatal(err)
			}
			w := NewWriter(f, WriterOptions{Table: &schema.Table{ID: 7}, Columns: fieldColumns})
			if err := w.Series(schema.AppendSeriesKey(nil, 7, nil, nil)); err != nil {
				t.Fatal(err)
			}
			if ok, err := w.Splice(ctx, p, 0); ok || err != nil {
				t.Errorf("taken over: %t, %v", ok, err)
			}
		})
	}
}

// TestBlocksOfPart walks some blocks of a part.
func TestBlocksOfPart(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 6))
	fs := vfs.NewMem()
	m := textTable(r, 9000, 1000)
	m.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct{ from, to int }{{0, 1}, {1, 3}, {4, 5}, {0, 5}} {
		x := p.Blocks(c.from, c.to)
		want := min(c.to*2048, 9000) - c.from*2048
		if x.Rows() != want || x.Span().From != 1000+int64(c.from)*2048 {
			t.Errorf("blocks %v: %d rows from %d", c, x.Rows(), x.Span().From)
		}
		walk, err := x.Series(&scan.Spec{Columns: []schema.Column{tsColumn}, TimeColumn: tsColumn, Time: scan.All})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for {
			_, ok, err := walk.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			var b vector.Batch
			for {
				ok, err := walk.Rows(&b)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				if at := b.Cols[0].Ints[0]; rows == 0 && at != 1000+int64(c.from)*2048 {
					t.Errorf("blocks %v begin at %d", c, at)
				}
				rows += b.N
			}
		}
		walk.Close()
		if rows != want {
			t.Errorf("blocks %v: %d rows, want %d", c, rows, want)
		}
	}
}
