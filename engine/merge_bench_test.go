package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// mergeShape is what the parts of a merge look like to each other.
type mergeShape struct {
	name    string
	options map[string]string
	hosts   int // series; 0: no tag
	// spread: the parts lie among each other row by row, else one behind the other.
	spread bool
	// same: of a hundred rows, how many have the key of a row of the part before.
	same    int
	deletes int // of a hundred
}

var mergeShapes = []mergeShape{
	{name: "append/one series/behind", options: map[string]string{"append_mode": "true"}},
	{name: "append/one series/among", options: map[string]string{"append_mode": "true"}, spread: true},
	{name: "append/1000 series/behind", options: map[string]string{"append_mode": "true"}, hosts: 1000},
	{name: "append/1000 series/among", options: map[string]string{"append_mode": "true"}, hosts: 1000, spread: true},
	{name: "last_row/one series/behind"},
	{name: "last_row/one series/among", spread: true},
	{name: "last_row/one series/half replaced", spread: true, same: 50},
	{name: "last_row/1000 series/among", hosts: 1000, spread: true},
	{name: "last_row/1000 series/half replaced", hosts: 1000, spread: true, same: 50},
	{name: "last_row/1000 series/deletes", hosts: 1000, spread: true, same: 30, deletes: 10},
	{name: "last_non_null/one series/half replaced", options: map[string]string{"merge_mode": "last_non_null"},
		spread: true, same: 50},
	{name: "last_non_null/1000 series/half replaced", options: map[string]string{"merge_mode": "last_non_null"},
		hosts: 1000, spread: true, same: 50},
}

const (
	mergePartRows = 50_000
	mergePartsOf  = 8
)

// fillPart fills the builder with the rows of part k and the bytes of their values.
func (s *mergeShape) fillPart(b *vector.Builder, k int) (size int64, err error) {
	r := rand.New(rand.NewPCG(1, uint64(k)))
	column := func(name string, t vector.Type) *vector.ColumnBuilder {
		c, failed := b.Column(name, t)
		if failed != nil {
			err = failed
		}
		return c
	}
	var host *vector.ColumnBuilder
	if s.hosts > 0 {
		host = column("host", vector.StringType)
	}
	ts := column("ts", vector.Timestamp(3))
	var numbers, words, texts [5]*vector.ColumnBuilder
	for i := range 5 {
		numbers[i] = column(fmt.Sprint("n", i), vector.Int64Type)
		words[i] = column(fmt.Sprint("w", i), vector.StringType)
		if i < 4 {
			texts[i] = column(fmt.Sprint("s", i), vector.StringType)
		}
	}
	if err != nil {
		return 0, err
	}
	text := func(c *vector.ColumnBuilder, v string) {
		c.SetString(v)
		size += int64(len(v))
	}
	for i := range mergePartRows {
		at := int64(k*mergePartRows + i)
		if s.spread {
			at = int64(i*mergePartsOf + k)
			if k > 0 && r.IntN(100) < s.same {
				at--
			}
		}
		if host != nil {
			text(host, fmt.Sprintf("host-%04d", at/mergePartsOf*7919%int64(s.hosts)))
		}
		ts.SetInt(at)
		for k := range 5 {
			numbers[k].SetInt(r.Int64N(1 << (4 * k)))
			text(words[k], fmt.Sprint("word-", r.IntN(8<<k)))
			if k < 4 {
				text(texts[k], fmt.Sprintf("/some/path/%08x?of=%08x&request", r.Uint32N(1<<20), r.Uint32()))
			}
		}
		size += 6 * 8
		b.EndRow()
	}
	return size, nil
}

// BenchmarkMerge flushes and compacts parts that lie to each other in several ways. Bytes are those of the values in
// memory; the merge runs on one goroutine.
func BenchmarkMerge(b *testing.B) {
	for i := range mergeShapes {
		s := &mergeShapes[i]
		b.Run(s.name, func(b *testing.B) {
			h := hintOf(lastRow)
			h.Tags = nil
			if s.hosts > 0 {
				h.Tags = []string{"host"}
			}
			var err error
			if h.Options, err = schema.ParseOptions(s.options); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				e := mustOpen(b, Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true, FlushBytes: 1 << 40,
					MemtableLimit: 1 << 40})
				size := int64(0)
				for k := range mergePartsOf {
					var set WriteSet
					n, err := s.fillPart(set.Rows(public("t"), h), k)
					if err != nil {
						b.Fatal(err)
					}
					size += n
					if _, err := e.Write(ctx, &set); err != nil {
						b.Fatal(err)
					}
					if s.deletes > 0 {
						if err := s.deleteSome(e, k); err != nil {
							b.Fatal(err)
						}
					}
					if err := e.Flush(ctx, public("t")); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(size)
				b.StartTimer()
				if err := e.Compact(ctx, public("t")); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				mustClose(b, e)
				b.StartTimer()
			}
		})
	}
}

// deleteSome deletes keys of the part before.
func (s *mergeShape) deleteSome(e *Engine, k int) error {
	host, ts := &vector.Vector{Type: vector.StringType}, &vector.Vector{Type: vector.Timestamp(3)}
	n := 0
	for i := 0; i < mergePartRows; i += 100 / s.deletes {
		at := int64(i*mergePartsOf + k)
		name := fmt.Sprintf("host-%04d", at/mergePartsOf*7919%int64(s.hosts))
		host.Views = append(host.Views, vector.View{Off: uint32(len(host.Heap)), Len: uint32(len(name))})
		host.Heap = append(host.Heap, name...)
		ts.Ints = append(ts.Ints, at)
		n++
	}
	tab, err := e.Table(public("t"))
	if err != nil {
		return err
	}
	_, err = e.Delete(ctx, tab.Schema, &vector.Batch{N: n, Cols: []*vector.Vector{host, ts}})
	return err
}
