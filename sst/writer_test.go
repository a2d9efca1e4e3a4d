package sst

import (
	"errors"
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

// create makes a writer of a part of ts and message.
func create(t *testing.T, fs vfs.FS, name string) *Writer {
	t.Helper()
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	return NewWriter(f, WriterOptions{Columns: []schema.Column{tsColumn, messageColumn}})
}

// rowsOf makes a batch of times, all with one message.
func rowsOf(message string, times ...int64) *vector.Batch {
	return &vector.Batch{N: len(times),
		Cols: []*vector.Vector{{Type: tsColumn.Type, Ints: times}, vector.ConstString(message)}}
}

func TestWriterRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(w *Writer) error
	}{
		{"rows before a series", "before the first series", func(w *Writer) error { return w.Write(rowsOf("x", 1)) }},
		{"falling keys", "are out of order", func(w *Writer) error {
			return errors.Join(w.Series([]byte("b")), w.Series([]byte("a")))
		}},
		{"the same key twice", "are out of order",
			func(w *Writer) error { return errors.Join(w.Series([]byte("b")), w.Series([]byte("b"))) }},
		{"falling times", "time 4 after 5", func(w *Writer) error {
			return errors.Join(w.Series([]byte("b")), w.Write(rowsOf("x", 5, 4)))
		}},
		{"falling times of two batches", "time 4 after 5", func(w *Writer) error {
			return errors.Join(w.Series([]byte("b")), w.Write(rowsOf("x", 5)), w.Write(rowsOf("x", 4)))
		}},
		{"no rows", "needs rows", func(w *Writer) error { _, err := w.Finish(); return err }},
		{"too few columns", "batch of 1 columns", func(w *Writer) error {
			b := rowsOf("x", 1)
			b.Cols = b.Cols[:1]
			return errors.Join(w.Series([]byte("b")), w.Write(b))
		}},
		{"another type", `column "message": Int64 given`, func(w *Writer) error {
			b := rowsOf("x", 1)
			b.Cols[1] = vector.ConstInt(vector.Int64Type, 1)
			return errors.Join(w.Series([]byte("b")), w.Write(b))
		}},
		{"time is NULL", "has no NULL", func(w *Writer) error {
			b := rowsOf("x", 1)
			b.Cols[0] = vector.ConstNull(tsColumn.Type)
			return errors.Join(w.Series([]byte("b")), w.Write(b))
		}},
		{"finished twice", "is finished", func(w *Writer) error {
			err := errors.Join(w.Series([]byte("b")), w.Write(rowsOf("x", 1)))
			if _, e := w.Finish(); e != nil || err != nil {
				return errors.Join(err, e)
			}
			_, err = w.Finish()
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.do(create(t, vfs.NewMem(), "p")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	f, err := vfs.NewMem().Create("p")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []WriterOptions{{Columns: []schema.Column{messageColumn}},
		{Columns: []schema.Column{tsColumn}, BlockRows: 1000}} {
		if err := NewWriter(f, o).Series([]byte("a")); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestWriteFault fails every write of a part once: the error comes out, and again from later calls.
func TestWriteFault(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	model := newTable(r, 3, 20, true)
	boom := errors.New("disk is gone")
	for fail := 0; ; fail++ {
		writes := 0
		fs := vfs.WithFaults(vfs.NewMem(), func(op vfs.Op, name string) error {
			if op == vfs.OpWrite {
				if writes++; writes == fail+1 {
					return boom
				}
			}
			return nil
		})
		f, err := fs.Create("p")
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(f, WriterOptions{Columns: fieldColumns, Hidden: true})
		for i := range model.series {
			s := &model.series[i]
			err = errors.Join(err, w.Series(s.key), w.Write(model.batch(s, 0, len(s.rows))))
		}
		_, e := w.Finish()
		if err = errors.Join(err, e); err == nil {
			if fail < 10 {
				t.Fatalf("only %d writes failed", fail)
			}
			return
		}
		if !errors.Is(err, boom) {
			t.Fatalf("write %d: %v", fail, err)
		}
		if _, err := w.Finish(); !errors.Is(err, boom) {
			t.Fatalf("write %d, later: %v", fail, err)
		}
	}
}

// TestLongStrings closes blocks early when the strings of one column grow large.
func TestLongStrings(t *testing.T) {
	fs := vfs.NewMem()
	w := create(t, fs, "p")
	if err := w.Series([]byte{0, 0, 0, 1}); err != nil {
		t.Fatal(err)
	}
	const size = 3 << 20
	for i := range 8 {
		if err := w.Write(rowsOf(strings.Repeat(string(rune('a'+i)), size), int64(2*i), int64(2*i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if n := p.Run().Blocks(); n != 16/(maxBlockHeap/size) {
		t.Errorf("%d blocks", n)
	}
	held, most, limit := int64(0), int64(0), int64(64<<20)
	tooMuch := errors.New("too much")
	spec := scan.Spec{Columns: []schema.Column{tsColumn, messageColumn}, TimeColumn: tsColumn, Time: scan.All,
		Reserve: func(bytes int64) error {
			if held+bytes > limit {
				return tooMuch
			}
			held += bytes
			most = max(most, held)
			return nil
		}}
	cursor, err := p.Run().Scan(&spec)
	if err != nil {
		t.Fatal(err)
	}
	var b vector.Batch
	row := 0
	for {
		ok, err := cursor.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		for i := range b.N {
			if s := b.Cols[1].Bytes(i); len(s) != size || s[0] != byte('a'+row/2) || b.Cols[0].Int(i) != int64(row) {
				t.Fatalf("row %d: %d bytes", row, len(s))
			}
			row++
		}
	}
	if row != 16 {
		t.Errorf("%d rows", row)
	}
	cursor.Close()
	if want := int64(size); most < want || most > maxBlockHeap+want || held != 0 {
		t.Errorf("a cursor counts %d bytes, want %d, and keeps %d of them", most, want, held)
	}
	limit = size
	if cursor, err = p.Run().Scan(&spec); err != nil {
		t.Fatal(err)
	}
	if _, err := cursor.Next(&b); !errors.Is(err, tooMuch) {
		t.Errorf("a block without room: %v", err)
	}
	if cursor.Close(); held != 0 {
		t.Errorf("%d bytes are kept", held)
	}
	if errs := checkFile(fs, "p"); len(errs) > 0 {
		t.Error(errs)
	}
}

// TestStat holds the statistics of columns against the model.
func TestStat(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	model := newTable(r, 4, 3000, false)
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []schema.Column{tsColumn, levelColumn, latencyColumn, bytesColumn} {
		count := 0
		var lo, hi any
		less := func(a, b any) bool {
			switch x := a.(type) {
			case int64:
				return x < b.(int64)
			case float64:
				return x < b.(float64)
			}
			return a.(string) < b.(string)
		}
		for _, s := range model.series {
			for _, w := range s.rows {
				x := w[c.ID]
				if x == nil {
					continue
				}
				count++
				if lo == nil || less(x, lo) {
					lo = x
				}
				if hi == nil || less(hi, x) {
					hi = x
				}
			}
		}
		s, ok, err := p.Run().Stat(ctx, c)
		if err != nil || !ok || s.Count != count || value(s.Min, 0) != lo || value(s.Max, 0) != hi {
			t.Errorf("%s: %v %d %v %v, want %d %v %v", c.Name, ok, s.Count, s.Min, s.Max, count, lo, hi)
		}
	}
	if _, ok, err := p.Run().Stat(ctx, lackedColumn); ok || err != nil {
		t.Error("statistics of a column that the part lacks")
	}
}

// TestScanAllocations holds that a warm cursor allocates nothing per batch, as long as its blocks are within what it
// may have in hand.
func TestScanAllocations(t *testing.T) {
	defer func(most int64) { maxHeld = most }(maxHeld)
	maxHeld = 8 << 20
	r := rand.New(rand.NewPCG(7, 7))
	model := newTable(r, 1, 40000, false)
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{})
	for _, cache := range []*Cache{nil, NewCache(64 << 20)} {
		p, err := Open(fs, "p", OpenOptions{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		columns := []schema.Column{tsColumn, levelColumn, messageColumn, bytesColumn, latencyColumn}
		spec := &scan.Spec{Columns: columns, TimeColumn: tsColumn, Time: scan.All, Filter: nil}
		for range 3 {
			c, err := p.Run().Scan(spec)
			if err != nil {
				t.Fatal(err)
			}
			read(t, c)
		}
		c, err := p.Run().Scan(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b vector.Batch
		next := func() {
			if ok, err := c.Next(&b); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		for range 10 { // blocks with and without NULLs
			next()
		}
		if a := testing.AllocsPerRun(2, next); a > 0 && cache != nil {
			t.Errorf("%.0f allocations a batch", a)
		}
		c.Close()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkScan reads one column of a part, from the file and from the cache.
func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 7))
	model := newTable(r, 1, 50_000, false)
	fs := vfs.NewMem()
	model.write(b, fs, "p", r, WriterOptions{})
	for _, from := range []string{"file", "cache"} {
		size := int64(0)
		if from == "cache" {
			size = 256 << 20
		}
		p, err := Open(fs, "p", OpenOptions{Cache: NewCache(size)})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range fieldColumns {
			b.Run(fmt.Sprintf("%s/%s", from, c.Name), func(b *testing.B) {
				b.ReportAllocs()
				rows := 0
				var batch vector.Batch
				for b.Loop() {
					cursor, err := p.Run().Scan(&scan.Spec{Columns: []schema.Column{c}, TimeColumn: tsColumn,
						Time: scan.All})
					if err != nil {
						b.Fatal(err)
					}
					for {
						ok, err := cursor.Next(&batch)
						if err != nil {
							b.Fatal(err)
						}
						if !ok {
							break
						}
						rows += batch.N
					}
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite encodes a part of generated rows: six columns, about 60 bytes a row.
func BenchmarkWrite(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 7))
	const rows = 40_000
	model := newTable(r, 1, rows, false)
	s := &model.series[0]
	batch := model.batch(s, 0, len(s.rows))
	size := int64(0)
	for _, c := range batch.Cols {
		size += c.Bytes64(rows)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			fs := vfs.NewMem()
			var m Meta
			for b.Loop() {
				f, err := fs.Create("p")
				if err != nil {
					b.Fatal(err)
				}
				w := NewWriter(f, WriterOptions{Columns: fieldColumns, Workers: workers})
				if err := errors.Join(w.Series(s.key), w.Write(batch)); err != nil {
					b.Fatal(err)
				}
				if m, err = w.Finish(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.Bytes)/rows, "bytes/row")
		})
	}
}

// TestNeedle finds ids by equality, in blocks of packed digits, beside NULLs and beside other text.
func TestNeedle(t *testing.T) {
	const rows = 5 * 2048
	fs := vfs.NewMem()
	f, err := fs.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(f, WriterOptions{Columns: []schema.Column{tsColumn, messageColumn}, BlockRows: 2048})
	if err := w.Series([]byte{0, 0, 0, 1}); err != nil {
		t.Fatal(err)
	}
	id := func(i int) string { return fmt.Sprintf("%032x", uint64(i)*0x9E3779B97F4A7C15) }
	for i := range rows {
		b := rowsOf(id(i), int64(i))
		switch {
		case i/2048 == 3 && i%5 == 0:
			b.Cols[1] = vector.ConstNull(vector.StringType)
		case i/2048 == 4 && i%7 == 0:
			b.Cols[1] = vector.ConstString("-")
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct {
		needle string
		want   int64
	}{{id(0), 0}, {id(2047), 2047}, {id(5000), 5000}, {id(3*2048 + 2), 3*2048 + 2}, {id(rows - 1), rows - 1},
		{id(rows), -1}, {"", -1}, {strings.ToUpper(id(77)), -1}} {
		cursor, err := p.Run().Scan(&scan.Spec{Columns: []schema.Column{tsColumn, messageColumn}, TimeColumn: tsColumn,
			Time:          scan.All,
			Filter:        filter.And{cond(messageColumn, filter.Equal, c.needle)},
			FilterColumns: []schema.Column{messageColumn}})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if c.want >= 0 {
			want = []string{fmt.Sprintf("%d|%s|", c.want, c.needle)}
		}
		compareLines(t, read(t, cursor), want)
	}
}
