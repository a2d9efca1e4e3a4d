package sst

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// accessColumns are the columns of rows like those of an access log.
var accessColumns = []schema.Column{
	{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
	{ID: 2, Name: "level", Type: vector.StringType}, {ID: 3, Name: "service", Type: vector.StringType},
	{ID: 4, Name: "host", Type: vector.StringType}, {ID: 5, Name: "method", Type: vector.StringType},
	{ID: 6, Name: "path", Type: vector.StringType}, {ID: 7, Name: "status", Type: vector.Uint64Type},
	{ID: 8, Name: "bytes", Type: vector.Uint64Type}, {ID: 9, Name: "latency_ms", Type: vector.FloatType},
	{ID: 10, Name: "client_ip", Type: vector.StringType}, {ID: 11, Name: "user_id", Type: vector.Uint64Type},
	{ID: 12, Name: "user_agent", Type: vector.StringType}, {ID: 13, Name: "trace_id", Type: vector.StringType},
	{ID: 14, Name: "cached", Type: vector.BoolType}, {ID: 15, Name: "message", Type: vector.StringType},
}

// accessBatch makes n rows from a time on, and tells how many bytes they take as JSON.
func accessBatch(tb testing.TB, r *rand.Rand, n int, from int64) (_ *vector.Batch, raw int64) {
	tb.Helper()
	b := vector.NewBuilder()
	var c []*vector.ColumnBuilder
	for _, col := range accessColumns {
		x, err := b.Column(col.Name, col.Type)
		if err != nil {
			tb.Fatal(err)
		}
		c = append(c, x)
		raw += int64(n) * int64(len(col.Name)+4)
	}
	b.Pin()
	text := func(i int, s string) {
		c[i].SetString(s)
		raw += int64(len(s)) + 2
	}
	for i := range n {
		c[0].SetInt(from + int64(i)*9 + r.Int64N(9))
		service := r.IntN(20)
		text(1, []string{"info", "info", "info", "warn", "error", "debug"}[r.IntN(6)])
		text(2, fmt.Sprint("service-", service))
		text(3, fmt.Sprintf("service-%d-%03d", service, r.IntN(12)))
		text(4, []string{"GET", "GET", "POST", "PUT"}[r.IntN(4)])
		text(5, accessPath(r))
		status, size, latency, user := []uint64{200, 200, 200, 304, 404, 500}[r.IntN(6)], r.Uint64N(1<<r.IntN(20)),
			float64(r.IntN(100_000))/1000, r.Uint64N(1<<20)
		c[6].SetUint(status)
		c[7].SetUint(size)
		c[8].SetFloat(latency)
		text(9, fmt.Sprintf("%d.%d.%d.%d", 11+r.IntN(100), r.IntN(256), r.IntN(256), r.IntN(16)))
		c[10].SetUint(user)
		text(11,
			fmt.Sprintf(
				"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
				90+r.IntN(50)))
		text(12, fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()))
		c[13].SetBool(r.IntN(3) == 0)
		text(14, accessMessage(r, latency, user))
		raw += int64(len(fmt.Sprint(from, status, size, latency, user))) + 5
		b.EndRow()
	}
	_, batch := b.Finish()
	return batch, raw
}

func accessPath(r *rand.Rand) string {
	switch r.IntN(5) {
	case 0:
		return fmt.Sprint("/api/v1/products/", r.IntN(200_000))
	case 1:
		return fmt.Sprintf("/api/v2/cart/%d/items", r.IntN(1_000_000))
	case 2:
		return fmt.Sprintf("/api/v1/orders/%016x/status", r.Uint64())
	case 3:
		return fmt.Sprintf("/search?q=w%c%c+w%c", 'a'+rune(r.IntN(12)), 'a'+rune(r.IntN(12)), 'a'+rune(r.IntN(26)))
	}
	return "/checkout"
}

func accessMessage(r *rand.Rand, latency float64, user uint64) string {
	switch r.IntN(40) {
	case 0:
		return fmt.Sprintf("failed to acquire lock order_%d: lease held by another node", r.IntN(1_000_000))
	case 1, 2:
		return fmt.Sprintf("Failed password for invalid user u%d from 10.0.%d.%d port %d", r.IntN(3000), r.IntN(256),
			r.IntN(256), 1024+r.IntN(60_000))
	case 3, 4, 5, 6, 7:
		return fmt.Sprintf("Received block blk_%d of size %d from storage backend", r.Uint64()>>1, r.IntN(64<<20))
	case 8, 9, 10, 11, 12, 13, 14:
		return "health check ok, all dependencies reachable"
	case 15, 16, 17, 18, 19, 20:
		return fmt.Sprintf("session %c%d%c%d%c renewed for user %d", 'a'+rune(r.IntN(26)), r.IntN(10),
			'a'+rune(r.IntN(26)), r.IntN(1000), 'a'+rune(r.IntN(26)), user)
	}
	return fmt.Sprintf("request completed in %.3f ms for user %d", latency, user)
}

// accessPart writes a part of n rows.
func accessPart(tb testing.TB, fs vfs.FS, name string, batch *vector.Batch) Meta {
	tb.Helper()
	f, err := fs.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	w := NewWriter(f, WriterOptions{Columns: accessColumns})
	if err := errors.Join(w.Series(schema.AppendSeriesKey(nil, 7, nil, nil)), w.Write(batch)); err != nil {
		tb.Fatal(err)
	}
	m, err := w.Finish()
	if err := errors.Join(err, f.Close()); err != nil {
		tb.Fatal(err)
	}
	return m
}

// BenchmarkFlush writes a part of access rows with one goroutine; bytes are those of the rows as JSON.
func BenchmarkFlush(b *testing.B) {
	const rows = 10 * DefaultBlockRows
	batch, raw := accessBatch(b, rand.New(rand.NewPCG(1, 1)), rows, 0)
	fs := vfs.NewMem()
	var m Meta
	b.SetBytes(raw)
	for b.Loop() {
		m = accessPart(b, fs, "p", batch)
	}
	b.ReportMetric(float64(m.Bytes)/rows, "bytes/row")
	b.ReportMetric(float64(m.IndexBytes)/rows, "index-bytes/row")
	b.ReportMetric(100*m.IndexTime.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "index-%") // of one writer's time
}

// BenchmarkCompact makes one part of four whose blocks lie alone; bytes are those of the rows as JSON.
func BenchmarkCompact(b *testing.B) {
	const rows = 4 * DefaultBlockRows
	r := rand.New(rand.NewPCG(1, 1))
	fs := vfs.NewMem()
	var parts []*Part
	total := int64(0)
	for i := range 4 {
		batch, raw := accessBatch(b, r, rows, int64(i)*rows*10)
		total += raw
		name := fmt.Sprint("p", i)
		accessPart(b, fs, name, batch)
		p, err := Open(fs, name, OpenOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		parts = append(parts, p)
	}
	b.SetBytes(total)
	for b.Loop() {
		f, err := fs.Create("all")
		if err != nil {
			b.Fatal(err)
		}
		w := NewWriter(f, WriterOptions{Columns: accessColumns})
		if err := w.Series(schema.AppendSeriesKey(nil, 7, nil, nil)); err != nil {
			b.Fatal(err)
		}
		for _, p := range parts {
			for block := range p.blocks {
				if ok, err := w.Splice(ctx, p, block); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		}
		if _, err := w.Finish(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFind looks for needles and texts in a part of access rows, without a cache.
func BenchmarkFind(b *testing.B) {
	const rows = 40 * DefaultBlockRows
	batch, _ := accessBatch(b, rand.New(rand.NewPCG(1, 1)), rows, 0)
	fs := vfs.NewMem()
	accessPart(b, fs, "p", batch)
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	column := func(name string) schema.Column {
		for _, c := range accessColumns {
			if c.Name == name {
				return c
			}
		}
		panic(name)
	}
	for _, c := range []struct {
		name, column string
		op           filter.Op
		arg          string
	}{
		{"trace id", "trace_id", filter.Equal, "0123456789abcdef0123456789abcdef"},
		{"address", "client_ip", filter.Equal, "50.1.2.3"},
		{"rare word", "message", filter.Term, "nowhere"},
		{"phrase", "message", filter.Like, "%lease held by another node%"},
		{"part of a word", "message", filter.Like, "%OfMemory%"},
		{"any case", "message", filter.ILike, "%PASSWORD%"},
		{"regular expression", "path", filter.Regex, `^/api/v[12]/orders/[0-9a-f]*77/`},
	} {
		b.Run(c.name, func(b *testing.B) {
			found := 0
			for b.Loop() {
				found, _ = find(b, p, column(c.column), c.op, vector.ConstBytes(vector.StringType, []byte(c.arg)))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			b.ReportMetric(float64(found), "found")
		})
	}
}
