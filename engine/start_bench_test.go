package engine

import (
	"fmt"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// startDirectory makes a data directory of so many parts, in ten tables, and of a log of so many bytes that is in none
// of them.
func startDirectory(b *testing.B, parts int, logBytes int64) (dir string) {
	b.Helper()
	dir = b.TempDir()
	e := mustOpen(b, Options{FS: vfs.OS(), Dir: dir, NoBackground: true, WALSync: "never", FlushBytes: 1 << 40,
		MemtableLimit: 1 << 40, WALPurgeThreshold: 1 << 40})
	h := hintOf(appendOnly)
	h.Tags = nil
	var err error
	if h.Options, err = schema.ParseOptions(map[string]string{"append_mode": "true"}); err != nil {
		b.Fatal(err)
	}
	write := func(table, rows, at int) {
		var set WriteSet
		if err := accessRows(set.Rows(public(fmt.Sprint("log", table)), h), rows, int64(at)*1000); err != nil {
			b.Fatal(err)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			b.Fatal(err)
		}
	}
	for i := range parts {
		write(i%10, 2000, i)
		if err := e.Flush(ctx, public(fmt.Sprint("log", i%10))); err != nil {
			b.Fatal(err)
		}
	}
	for i := parts; e.log.Size() < logBytes; i++ {
		write(i%10, 10_000, i)
	}
	if err := e.Close(ctx, false); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkStart opens a store of 1,000 parts with 1 GiB of log to replay, as after a crash: until it serves.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name  string
		parts int
		log   int64
	}{{"1000 parts", 1000, 0}, {"1000 parts, 1 GiB of log", 1000, 1 << 30}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := startDirectory(b, c.parts, c.log)
				b.StartTimer()
				e := mustOpen(b, Options{FS: vfs.OS(), Dir: dir})
				b.StopTimer()
				r := e.Recovery()
				if r.Parts != c.parts || r.ReplayedBytes < c.log || len(r.SetAside) > 0 {
					b.Errorf("%d parts, %d bytes replayed, set aside: %v", r.Parts, r.ReplayedBytes, r.SetAside)
				}
				b.ReportMetric(float64(r.ReplayedRows), "rows")
				mustClose(b, e)
				b.StartTimer()
			}
		})
	}
}
