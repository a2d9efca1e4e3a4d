package sst

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// oneColumn writes a part of ts and one more column, whose values set gives, and opens it.
func oneColumn(tb testing.TB, c schema.Column, n int, set func(b *vector.ColumnBuilder, i int)) *Part {
	tb.Helper()
	fs := vfs.NewMem()
	f, err := fs.Create("p")
	if err != nil {
		tb.Fatal(err)
	}
	b := vector.NewBuilder()
	ts, err := b.Column("ts", tsColumn.Type)
	if err != nil {
		tb.Fatal(err)
	}
	x, err := b.Column(c.Name, c.Type)
	if err != nil {
		tb.Fatal(err)
	}
	b.Pin()
	for i := range n {
		ts.SetInt(int64(i))
		set(x, i)
		b.EndRow()
	}
	_, batch := b.Finish()
	w := NewWriter(f, WriterOptions{Table: &schema.Table{ID: 7}, Columns: []schema.Column{tsColumn, c},
		BlockRows: 2048})
	if err := w.Series(schema.AppendSeriesKey(nil, 7, nil, nil)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Finish(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	if errs := checkFile(fs, "p"); len(errs) > 0 {
		tb.Fatal(errs)
	}
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// find counts the rows that pass, and the blocks that were read for them.
func find(tb testing.TB, p *Part, c schema.Column, op filter.Op, args *vector.Vector) (rows, blocks int) {
	tb.Helper()
	var stats scan.Stats
	spec := &scan.Spec{Columns: []schema.Column{tsColumn}, TimeColumn: tsColumn, Time: scan.All,
		FilterColumns: []schema.Column{c},
		Filter:        filter.And{{Column: c.ID, Op: op, Args: args, NArgs: 1}}, Stats: &stats}
	cur, err := p.Run().Scan(spec)
	if err != nil {
		tb.Fatal(err)
	}
	defer cur.Close()
	var b vector.Batch
	for {
		ok, err := cur.Next(&b)
		if err != nil {
			tb.Fatal(err)
		}
		if !ok {
			return rows, int(stats.BlocksRead.Load())
		}
		rows += b.N
	}
}

// TestFilterNeedles looks for single values in columns of ids of all forms: one block is read, and not many more.
func TestFilterNeedles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, at = 40 * 2048, 33_333
	for _, c := range []struct {
		name  string
		value func(i int) string
	}{
		{"trace ids", func(int) string { return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()) }},
		{"UUIDs", func(int) string {
			return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12),
				r.Uint64()>>16)
		}},
		{"addresses", func(int) string {
			return fmt.Sprintf("%d.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256))
		}},
		{"numbers", func(i int) string { return fmt.Sprint(1_000_000_007 * int64(i)) }},
		{"paths", func(i int) string { return fmt.Sprintf("/api/v1/orders/%x/status", 0x9E3779B97F4A7C15*uint64(i)) }},
		{"mail addresses", func(i int) string {
			return fmt.Sprintf("user.%c%d@example.com", 'a'+i%26, r.Uint64()>>20)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var values []string
			for i := range n {
				values = append(values, c.value(i))
			}
			p := oneColumn(t, messageColumn, n, func(b *vector.ColumnBuilder, i int) { b.SetString(values[i]) })
			defer p.Close()
			want := 0
			for _, v := range values {
				if v == values[at] {
					want++
				}
			}
			rows, blocks := find(t, p, messageColumn, filter.Equal,
				vector.ConstBytes(vector.StringType, []byte(values[at])))
			if rows != want || blocks > 5 {
				t.Errorf("%q: %d rows in %d blocks read, want %d", values[at], rows, blocks, want)
			}
			if rows, blocks := find(t, p, messageColumn, filter.Equal,
				vector.ConstBytes(vector.StringType, []byte("nothing like it"))); rows != 0 || blocks > 3 {
				t.Errorf("an absent value: %d rows in %d blocks read", rows, blocks)
			}
		})
	}
}

// TestIndexesOfDDL: options of DDL decide which blocks get filters, and how large they are.
func TestIndexesOfDDL(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	number := schema.Column{ID: 5, Name: "n", Type: vector.Int64Type, Nullable: true}
	with := func(c schema.Column, kind schema.IndexKind, rate string) schema.Column {
		c.Indexes = []schema.Index{{Kind: kind}}
		if rate != "" {
			c.Indexes[0].Options = map[string]string{"false_positive_rate": rate}
		}
		return c
	}
	ints := func(b *vector.ColumnBuilder, i int) { b.SetInt(int64(r.Uint64())) }
	few := func(b *vector.ColumnBuilder, i int) { b.SetString(fmt.Sprint("v", r.IntN(10_000))) }
	size := func(c schema.Column, set func(*vector.ColumnBuilder, int)) (filters int64, dictionary int) {
		p := oneColumn(t, c, 8192, set)
		defer p.Close()
		for _, m := range metasOf(t, p) {
			if m.ID == c.ID {
				filters = m.FilterBytes
			}
		}
		return filters, p.set.Load().byID[c.ID].dictSize
	}
	if f, _ := size(number, ints); f != 0 {
		t.Errorf("a column of numbers that nobody asked to index has filters of %d bytes", f)
	}
	loose, _ := size(with(number, schema.Skipping, "0.1"), ints)
	strict, _ := size(with(number, schema.Skipping, "0.001"), ints)
	if loose == 0 || strict < 2*loose {
		t.Errorf("filters of %d bytes at a rate of 0.1 and of %d at 0.001", loose, strict)
	}
	if _, d := size(levelColumn, few); d > 4096 {
		t.Errorf("a dictionary of %d values", d)
	}
	if _, d := size(with(levelColumn, schema.Inverted, ""), few); d < 5000 {
		t.Errorf("an inverted index over a dictionary of %d values", d)
	}
	p := oneColumn(t, with(number, schema.Skipping, "0.01"), 20_000,
		func(b *vector.ColumnBuilder, i int) { b.SetInt(int64(i) * 7_777_777_777 % 1_000_003) })
	defer p.Close()
	if rows, blocks := find(t, p, number, filter.Equal,
		vector.ConstInt(vector.Int64Type, 7_777_777_777*5%1_000_003)); rows != 1 || blocks > 3 {
		t.Errorf("%d rows in %d blocks read", rows, blocks)
	}
}

func metasOf(t *testing.T, p *Part) []ColumnMeta {
	t.Helper()
	all, err := p.ColumnMetas()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFilterParts looks for parts of words: few blocks are read, and all rows are found, whatever their form.
func TestFilterParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	const n, at = 20 * 2048, 33_333
	id := func() string { return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()) }
	for _, c := range []struct {
		name     string
		value    func(i int) string
		from, to int
	}{
		{"ids in templates", func(i int) string { return fmt.Sprintf("user %d called %s in %d ms", i%977, id(), i%31) },
			-25, -10},
		{"ids in objects", func(i int) string { return fmt.Sprintf(`{"n":%d,"id":"%s","b":%t}`, i, id(), i%3 == 0) },
			-30, -12},
		{"upper case beside wide text", func(int) string { return "für " + strings.ToUpper(id()) + "ß" }, -28, -10},
		{"addresses", func(int) string { return "/orders/" + id()[:16] + "/status" }, 9, 22},
	} {
		t.Run(c.name, func(t *testing.T) {
			var values []string
			for i := range n {
				values = append(values, c.value(i))
			}
			p := oneColumn(t, messageColumn, n, func(b *vector.ColumnBuilder, i int) { b.SetString(values[i]) })
			defer p.Close()
			v := values[at]
			from, to := (c.from+len(v))%len(v), (c.to+len(v))%len(v)
			for op, part := range map[filter.Op]string{filter.Contains: v[from:to],
				filter.ContainsFold: strings.ToUpper(v[from:to]), filter.Like: "%" + v[from:to] + "%",
				filter.Regex: v[from:to] + ".?"} {
				rows, blocks := find(t, p, messageColumn, op, vector.ConstString(part))
				if rows != 1 || blocks > 5 {
					t.Errorf("op %d, %q: %d rows in %d blocks, want 1 in at most 5 of 20", op, part, rows, blocks)
				}
			}
		})
	}
}
