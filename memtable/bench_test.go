package memtable

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// access is a table like an access log: 15 fields beside the time, half of them text; tags of them are tags.
func access(tags int) *schema.Table {
	t := &schema.Table{ID: 9, Columns: []schema.Column{ts}, NextColumn: 50}
	for i := range 15 {
		c := schema.Column{ID: schema.ColumnID(10 + i), Name: fmt.Sprint("c", i), Type: vector.StringType,
			Nullable: true}
		if i < tags {
			c.Semantic = schema.Tag
			t.Tags = append(t.Tags, i+1)
		} else if i >= 8 {
			c.Type = vector.Int64Type
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// accessRows makes n rows of about 300 bytes whose times rise.
func accessRows(t *schema.Table, n int, start int64) ([]vector.Field, *vector.Batch) {
	r := rand.New(rand.NewPCG(1, uint64(start)))
	b := &vector.Batch{N: n}
	var fields []vector.Field
	for i, c := range t.Columns {
		v := &vector.Vector{Type: c.Type}
		for row := range n {
			switch {
			case i == 0:
				v.Ints = append(v.Ints, start+int64(row))
			case c.Type.Kind() == vector.Int64:
				v.Ints = append(v.Ints, r.Int64N(1000))
			default:
				s := fmt.Sprintf("value-%d", r.IntN(10))
				if c.Semantic == schema.Field {
					s = fmt.Sprintf("some text of column %d: %08d", i, r.IntN(1e8))
				}
				v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(s))})
				v.Heap = append(v.Heap, s...)
			}
		}
		b.Cols, fields = append(b.Cols, v), append(fields, vector.Field{Name: c.Name, Type: c.Type})
	}
	return fields, b
}

func BenchmarkAppend(b *testing.B) {
	for _, tags := range []int{0, 2} {
		for _, rows := range []int{10, 10000} {
			b.Run(fmt.Sprintf("tags=%d/rows=%d", tags, rows), func(b *testing.B) {
				t := access(tags)
				fields, batch := accessRows(t, rows, 0)
				b.ReportAllocs()
				m := New(NewRegistry(), nil)
				for b.Loop() {
					if m.Bytes() > 64<<20 {
						m = New(NewRegistry(), nil)
					}
					m.Append(1, t, fields, batch)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			})
		}
	}
}

func filled(t *schema.Table, rows int) *Memtable {
	m := New(NewRegistry(), nil)
	for at := 0; at < rows; at += 10000 {
		fields, b := accessRows(t, 10000, int64(at))
		m.Append(uint64(at), t, fields, b)
	}
	return m
}

// fresh is the snapshot without its order.
func (m *Memtable) fresh() *snapshot {
	s := m.snap.Load()
	return &snapshot{chunks: s.chunks, series: s.series, rows: s.rows}
}

// BenchmarkWalk is what a flush does: all columns of a fresh snapshot in order.
func BenchmarkWalk(b *testing.B) {
	for _, tags := range []int{0, 2} {
		b.Run(fmt.Sprintf("tags=%d", tags), func(b *testing.B) {
			const rows = 100000
			t := access(tags)
			m := filled(t, rows)
			spec := &scan.Spec{TimeColumn: ts, Time: scan.All,
				Columns: []schema.Column{schema.SequenceColumn, schema.KindColumn}}
			for _, c := range t.Columns {
				if c.Semantic != schema.Tag {
					spec.Columns = append(spec.Columns, c)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				w, err := (&Run{m.fresh()}).Series(spec)
				if err != nil {
					b.Fatal(err)
				}
				if n := drainSeries(b, w); n != rows {
					b.Fatalf("%d rows", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

func drainSeries(t testing.TB, w scan.Series) int {
	n := 0
	var out vector.Batch
	for {
		_, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			w.Close()
			return n
		}
		for {
			ok, err := w.Rows(&out)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			n += out.N
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for _, tags := range []int{0, 2} {
		t := access(tags)
		m := filled(t, 100000)
		run := m.Live()
		for _, c := range []struct {
			name   string
			filter filter.And
		}{
			{"all", nil},
			{"number=1%",
				filter.And{{Column: 20, Op: filter.Less, Args: vector.ConstInt(vector.Int64Type, 10), NArgs: 1}}},
			{"first=10%", filter.And{{Column: 10, Op: filter.Equal, Args: vector.ConstString("value-3"), NArgs: 1}}},
		} {
			b.Run(fmt.Sprintf("tags=%d/%s", tags, c.name), func(b *testing.B) {
				spec := &scan.Spec{TimeColumn: ts, Time: scan.All,
					Columns: []schema.Column{t.Columns[0], t.Columns[1], t.Columns[5], t.Columns[12]},
					Filter:  c.filter, FilterColumns: t.Columns}
				b.ReportAllocs()
				for b.Loop() {
					cur, err := run.Scan(spec)
					if err != nil {
						b.Fatal(err)
					}
					var out vector.Batch
					for {
						ok, err := cur.Next(&out)
						if err != nil {
							b.Fatal(err)
						}
						if !ok {
							break
						}
					}
					cur.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100000, "ns/row")
			})
		}
	}
}

// scrapes appends so many rows of 10,000 series, 2,000 series a request with a row each, as agents send metrics.
func scrapes(m *Memtable, rows int) {
	t := &schema.Table{ID: 9, Columns: []schema.Column{ts, {ID: 2, Name: "v", Type: vector.FloatType}}}
	fields := []vector.Field{{Name: "ts", Type: ts.Type}, {Name: "v", Type: vector.FloatType}}
	const series, request = 10_000, 2000
	refs, ends := make([]*Ref, series), make([]int, request)
	for i := range refs {
		host := fmt.Appendf(nil, "host-%d", i)
		refs[i] = &Ref{key: schema.AppendSeriesKey(nil, 9, []schema.ColumnID{3}, [][]byte{host})}
	}
	times, values := make([]int64, request), make([]float64, request)
	for i := range ends {
		ends[i], values[i] = i+1, float64(i)
	}
	for at := 0; at < rows; at += request {
		for i := range times {
			times[i] = int64(at / series)
		}
		first := at % series
		m.AppendSeries(uint64(at), t, fields, &vector.Batch{N: request, Cols: []*vector.Vector{
			{Type: ts.Type, Ints: times}, {Type: vector.FloatType, Floats: values}}}, refs[first:first+request], ends)
	}
}

// BenchmarkScrapes is what a sample costs in a memtable, its walk by a flush included, with sorted chunks and without.
func BenchmarkScrapes(b *testing.B) {
	defer func(n int) { sortRows = n }(sortRows)
	const rows = 1 << 20
	for _, least := range []int{rows + 1, 16 * ChunkRows, sortRows} {
		b.Run(fmt.Sprint("sort=", least), func(b *testing.B) {
			sortRows = least
			var written, walked time.Duration
			for b.Loop() {
				m := New(NewRegistry(), nil)
				start := time.Now()
				scrapes(m, rows)
				written += time.Since(start)
				start = time.Now()
				w, err := m.Live().Series(&scan.Spec{TimeColumn: ts, Time: scan.All, Columns: []schema.Column{ts,
					{ID: 2, Name: "v", Type: vector.FloatType}, schema.SequenceColumn, schema.KindColumn}})
				if err != nil {
					b.Fatal(err)
				}
				if n := drainSeries(b, w); n < rows {
					b.Fatalf("%d rows", n)
				}
				walked += time.Since(start)
			}
			b.ReportMetric(float64(written.Nanoseconds())/float64(b.N)/rows, "append-ns/row")
			b.ReportMetric(float64(walked.Nanoseconds())/float64(b.N)/rows, "walk-ns/row")
		})
	}
}
