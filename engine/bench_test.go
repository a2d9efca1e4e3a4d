package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/scan"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// accessRows fills a builder with rows like those of an access log: 6 numbers, 5 words of small choice, 4 of large.
func accessRows(b *vector.Builder, n int, from int64) error {
	r := rand.New(rand.NewPCG(1, uint64(from)))
	column := func(name string, t vector.Type) *vector.ColumnBuilder {
		c, err := b.Column(name, t)
		if err != nil {
			panic(err)
		}
		return c
	}
	ts := column("ts", vector.Timestamp(3))
	b.Pin()
	var numbers, words, texts [6]*vector.ColumnBuilder
	for i := range 5 {
		numbers[i] = column(fmt.Sprint("n", i), vector.Int64Type)
		words[i] = column(fmt.Sprint("w", i), vector.StringType)
		if i < 4 {
			texts[i] = column(fmt.Sprint("s", i), vector.StringType)
		}
	}
	for i := range n {
		ts.SetInt(from + int64(i)/10)
		for k := range 5 {
			numbers[k].SetInt(r.Int64N(1 << (4 * k)))
			words[k].SetString(fmt.Sprint("word-", r.IntN(8<<k)))
			if k < 4 {
				texts[k].SetString(fmt.Sprintf("/some/path/%08x?of=%08x&request", r.Uint32N(1<<20), r.Uint32()))
			}
		}
		b.EndRow()
	}
	return nil
}

// BenchmarkWrite is the write door with everything behind it: log with fsync, memtables, flushes and merges.
func BenchmarkWrite(b *testing.B) {
	for _, sync := range []string{"always", "never"} {
		b.Run("sync="+sync, func(b *testing.B) {
			o := Options{FS: vfs.OS(), Dir: b.TempDir(), WALSync: sync}
			e := mustOpen(b, o)
			const size = 10_000
			sets := make([]*WriteSet, 8)
			for i := range sets {
				sets[i] = &WriteSet{}
				if err := accessRows(sets[i].Rows(public("log"), hintOf(appendOnly)), size, int64(i)*size/10); err !=
					nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(size * 300)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := e.Write(ctx, sets[i%len(sets)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(i*size)/b.Elapsed().Seconds(), "rows/s")
			b.StopTimer()
			if err := e.Flush(ctx, public("log")); err != nil {
				b.Fatal(err)
			}
			t, err := e.Table(public("log"))
			if err != nil {
				b.Fatal(err)
			}
			st := t.Stats()
			b.ReportMetric(float64(st.DiskBytes)/float64(st.Rows), "disk-bytes/row")
			b.ReportMetric(float64(len(st.Parts)), "parts")
			mustClose(b, e)
		})
	}
}

// BenchmarkScan reads two columns of a table that keeps all rows and of one that keeps the last of each key.
func BenchmarkScan(b *testing.B) {
	for _, kind := range []modelKind{appendOnly, lastRow} {
		for _, flushed := range []bool{false, true} {
			b.Run(fmt.Sprintf("append=%v/flushed=%v", kind == appendOnly, flushed), func(b *testing.B) {
				e := mustOpen(b, Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true, MemtableLimit: 1 << 40})
				var set WriteSet
				h := hintOf(kind)
				h.Tags = nil
				const rows = 200_000
				if err := accessRows(set.Rows(public("log"), h), rows, 0); err != nil {
					b.Fatal(err)
				}
				if _, err := e.Write(ctx, &set); err != nil {
					b.Fatal(err)
				}
				if flushed {
					if err := e.Flush(ctx, public("log")); err != nil {
						b.Fatal(err)
					}
				}
				t, err := e.Table(public("log"))
				if err != nil {
					b.Fatal(err)
				}
				q := Request{Table: t, Time: scan.All}
				for _, name := range []string{"ts", "n3"} {
					q.Columns = append(q.Columns, t.Schema.Columns[t.Schema.Column(name)].ID)
				}
				b.ReportAllocs()
				for b.Loop() {
					readAll(b, e, q, func(*vector.Batch) {})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
				mustClose(b, e)
			})
		}
	}
}

// readAll reads a scan to its end and shows its batches.
func readAll(t testing.TB, e *Engine, q Request, each func(*vector.Batch)) {
	t.Helper()
	s, err := e.Scan(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var batch vector.Batch
	for {
		c, _, ok, err := s.Cursor()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		for {
			if ok, err = c.Next(&batch); err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			each(&batch)
		}
		c.Close()
	}
}
