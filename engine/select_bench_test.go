package engine

import (
	"fmt"
	"math"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
)

// manySeries writes a sample of each of some series of six labels into a table.
func manySeries(t testing.TB, e *Engine, name schema.Name, series int, at int64) {
	t.Helper()
	h := hintOf(lastRow)
	h.Tags = []string{"dc", "host", "job", "mode", "pod", "zone"}
	var set WriteSet
	for from := 0; from < series; from += 100_000 {
		set.Reset()
		b := set.Rows(name, h)
		ts, err := b.Column("ts", vector.Timestamp(3))
		if err != nil {
			t.Fatal(err)
		}
		value, err := b.Column("v", vector.FloatType)
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i < min(from+100_000, series); i++ {
			ts.SetInt(at)
			value.SetFloat(float64(i))
			for k, v := range []string{fmt.Sprint("dc", i%3), fmt.Sprint("host-", i/10), fmt.Sprint("job", i%50),
				fmt.Sprint("mode", i%10), podOf(i), fmt.Sprint("zone", i%7)} {
				c, err := b.Column(h.Tags[k], vector.StringType)
				if err != nil {
					t.Fatal(err)
				}
				c.SetString(v)
			}
			b.EndRow()
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
	}
}

func podOf(i int) string { return fmt.Sprint("pod-", uint32(i)*2654435761) }

// BenchmarkSelectOne finds one series of a million: the first time in a store that was opened, after a flush and after
// a write, and again and again.
func BenchmarkSelectOne(b *testing.B) {
	const series = 1_000_000
	dir := b.TempDir()
	o := Options{Dir: dir, MemtableLimit: 1 << 30, FlushBytes: 1 << 30, NoBackground: true}
	e := mustOpen(b, o)
	name := public("m")
	manySeries(b, e, name, series, 1000)
	one := func(b *testing.B) {
		table, err := e.Table(name)
		if err != nil {
			b.Fatal(err)
		}
		sel, err := e.Select(ctx,
			SelectRequest{Tables: []SelectTable{{table,
				[]schema.ColumnID{table.Schema.Columns[table.Schema.Column("v")].ID}}},
				Matchers: []Matcher{{"pod", MatchEqual, podOf(777_777)}, {"mode", MatchRegex, "mode.*"}}, From: 0,
				To: math.MaxInt64})
		if err != nil {
			b.Fatal(err)
		}
		var block SampleBlock
		if err := sel.Read(0, sel.Len(), &block); err != nil || sel.Len() != 1 || sampleCount(&block) == 0 {
			b.Fatalf("%d series, %d samples, %v", sel.Len(), sampleCount(&block), err)
		}
		block.Release()
		sel.Close()
	}
	for _, c := range []struct {
		name   string
		before func()
	}{
		{"memory", func() { manySeries(b, e, name, 1, 2000) }},
		{"part/first", func() {
			if err := e.Flush(ctx, name); err != nil {
				b.Fatal(err)
			}
			mustClose(b, e)
			e = mustOpen(b, o)
		}},
		{"part/again", func() {}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				c.before()
				b.StartTimer()
				one(b)
			}
		})
	}
	mustClose(b, e)
}

// sampleCount is the number of samples at hand, of all series and columns.
func sampleCount(b *SampleBlock) (n int) {
	for i := range b.spans {
		n += b.spans[i].n
	}
	return n
}

// BenchmarkSelectAll reads all samples of 2,000 series: from memory, from one part, from five that lie one behind the
// other in time but are listed in another order, and from five that overlap.
func BenchmarkSelectAll(b *testing.B) {
	const series, samples = 2000, 500
	inTurn := func(at int) bool { return at%(samples/5) == samples/5-1 }
	for _, c := range []struct {
		name    string
		order   func(k int) int // the k'th sample that is written
		flushed func(k int) bool
	}{
		{"memory", func(k int) int { return k }, func(int) bool { return false }},
		{"part", func(k int) int { return k }, func(k int) bool { return k == samples-1 }},
		{"five parts", func(k int) int { return (k + samples/2/100*100) % samples }, inTurn},
		{"overlapping", func(k int) int { return k%(samples/5)*5 + k/(samples/5) }, inTurn},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := mustOpen(b, Options{Dir: b.TempDir(), MemtableLimit: 1 << 30, FlushBytes: 1 << 30, NoBackground: true})
			defer mustClose(b, e)
			name := public("m")
			for k := range samples {
				manySeries(b, e, name, series, 15_000*int64(c.order(k)))
				if !c.flushed(k) {
					continue
				}
				if err := e.Flush(ctx, name); err != nil {
					b.Fatal(err)
				}
			}
			var block SampleBlock
			defer block.Release()
			for b.Loop() {
				if n := readSamples(b, e, name, &block); n != series*samples {
					b.Fatalf("%d samples", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/series/samples, "ns/sample")
		})
	}
}

// readSamples reads the samples of a table's column v and counts them.
func readSamples(b *testing.B, e *Engine, name schema.Name, block *SampleBlock) (n int) {
	table, err := e.Table(name)
	if err != nil {
		b.Fatal(err)
	}
	columns := []schema.ColumnID{table.Schema.Columns[table.Schema.Column("v")].ID}
	sel, err := e.Select(ctx, SelectRequest{Tables: []SelectTable{{table, columns}}, From: 0, To: math.MaxInt64})
	if err != nil {
		b.Fatal(err)
	}
	defer sel.Close()
	cut := cutSeries(sel, 64<<10)
	for k := 1; k < len(cut); k++ {
		if err := sel.Read(cut[k-1], cut[k], block); err != nil {
			b.Fatal(err)
		}
		n += sampleCount(block)
	}
	return n
}
