package engine

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/scan"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// wideShape is a table whose blocks of 8,192 rows, or even of some hundred, would be more than memory is for.
type wideShape struct {
	name    string
	kind    modelKind
	columns int
	text    int // bytes of a value; 0: integers
	rows    int // of a part
	hosts   int // series; 0: the table has no tag
}

const wideParts = 8

// write adds the rows of part k, whose times lie among those of the others, and flushes them.
func (s *wideShape) write(t *testing.T, e *Engine, k int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(k), 7))
	text := make([]byte, s.text)
	var set WriteSet
	b := set.Rows(public("wide"), hintOf(s.kind))
	ts, err := b.Column("ts", typeOf("ts"))
	must(t, err)
	b.Pin()
	for i := range s.rows {
		ts.SetInt(int64(i*wideParts + k))
		if s.hosts > 0 {
			host, err := b.Column("host", vector.StringType)
			must(t, err)
			host.SetString(fmt.Sprint("h", i%s.hosts))
		}
		for c := range s.columns {
			name, typ := fmt.Sprint("v", c), vector.Int64Type
			if s.text > 0 {
				typ = vector.StringType
			}
			col, err := b.Column(name, typ)
			must(t, err)
			switch {
			case r.IntN(16) == 0: // NULL
			case s.text == 0:
				col.SetInt(int64(r.Uint64()))
			default:
				for at := 0; at < len(text); at += 8 {
					var word [8]byte
					binary.LittleEndian.PutUint64(word[:], r.Uint64()|0x2020202020202020)
					copy(text[at:], word[:])
				}
				col.SetBytes(text)
			}
		}
		b.EndRow()
	}
	_, err = e.Write(ctx, &set)
	must(t, err)
}

// sum reads all rows: what it gives does not depend on their order. It also gives the bytes that the reader was told of
// at most.
func (s *wideShape) sum(t *testing.T, e *Engine) (sum uint64, rows int, held int64) {
	t.Helper()
	tab, err := e.Table(public("wide"))
	must(t, err)
	q := Request{Table: tab, Time: scan.All}
	for _, c := range tab.Schema.Columns {
		q.Columns = append(q.Columns, c.ID)
	}
	now := int64(0)
	q.Reserve = func(bytes int64) error {
		now += bytes
		held = max(held, now)
		return nil
	}
	at := tab.Schema.Time
	readAll(t, e, q, func(b *vector.Batch) {
		rows += b.N
		for c, v := range b.Cols {
			for i := range b.N {
				x := uint64(c+1) * 0x9E3779B97F4A7C15
				switch {
				case v.IsNull(i):
				case v.Type.Kind() == vector.Bytes:
					x += maphash.Bytes(wideSeed, v.Bytes(i))
				default:
					x += uint64(v.Int(i))
				}
				x ^= uint64(b.Cols[at].Int(i)) * 0xBF58476D1CE4E5B9
				sum += x * 0x94D049BB133111EB >> 7
			}
		}
	})
	if now != 0 {
		t.Errorf("%d bytes are held when the scan is over", now)
	}
	return sum, rows, held
}

var wideSeed = maphash.MakeSeed()

// heapWatch measures what lives on the heap, whenever the store looks at the clock or writes a file.
type heapWatch struct {
	on   atomic.Bool
	mu   sync.Mutex // protects what follows
	last time.Time
	peak int64
}

func (w *heapWatch) look() {
	if !w.on.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.last) > 50*time.Millisecond { // each look collects garbage
		w.peak = max(w.peak, liveHeap())
		w.last = time.Now()
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// during gives how much the heap grew, at the most, while f ran.
func (w *heapWatch) during(f func()) int64 {
	before := liveHeap()
	w.peak = before
	w.on.Store(true)
	f()
	w.on.Store(false)
	return w.peak - before
}

// TestWideRows: what flushes, merges and scans have in hand does not go by how many columns there are, how long their
// texts are or how many rows a block could have.
func TestWideRows(t *testing.T) {
	const merge, block = 2 << 20, 1 << 20
	for _, s := range []wideShape{
		{name: "many columns of long texts", kind: appendOnly, columns: 300, text: 250, rows: 24},
		{name: "the same in series", kind: lastRow, columns: 300, text: 250, rows: 24, hosts: 5},
		{name: "the same, fields folded", kind: lastNonNull, columns: 300, text: 250, rows: 24, hosts: 1},
		{name: "many columns of numbers", kind: appendOnly, columns: 300, rows: 1500},
		{name: "few columns of huge texts", kind: lastRow, columns: 3, text: 512 << 10, rows: 4, hosts: 1},
		{name: "many short series", kind: lastRow, columns: 200, text: 100, rows: 100, hosts: 100},
	} {
		t.Run(s.name, func(t *testing.T) {
			var watch heapWatch
			o := testOptions(vfs.WithFaults(vfs.OS(), func(op vfs.Op, _ string) error {
				if op == vfs.OpWrite {
					watch.look()
				}
				return nil
			}))
			o.Now = func() time.Time { watch.look(); return time.Unix(1_700_000_000, 0) }
			o.Dir, o.WALFileSize, o.FlushBytes, o.MemtableLimit, o.CacheBytes = t.TempDir(), 64<<20, 1<<30, 1<<30, 1
			o.MergeBytes, o.BlockBytes, o.mergeParts, o.mergedRows, o.spliceRows = merge, block, wideParts, 1<<20, 8192
			e := mustOpen(t, o)
			defer mustClose(t, e)

			row := int64(s.columns * s.text) // each part has one in hand, however long
			for k := range wideParts - 1 {
				s.write(t, e, k)
				must(t, e.Flush(ctx, public("wide")))
			}
			s.write(t, e, wideParts-1)
			memory, _, _ := s.sum(t, e)
			// Of rows in memory a flush has a block, its pages and a batch in hand.
			if grown := watch.during(func() { must(t, e.Flush(ctx, public("wide"))) }); grown > 6*block+8*row+maxWide {
				t.Errorf("a flush takes %d KiB", grown>>10)
			}
			flushed, _, _ := s.sum(t, e)
			n := wideParts * s.rows
			grown := watch.during(func() { must(t, e.Compact(ctx, public("wide"))) })
			if most := int64(2*merge+6*block+mostCollected+maxWide) + (wideParts+4)*row; grown > most {
				t.Errorf("a merge of %d parts takes %d KiB, at most %d are wanted", wideParts, grown>>10, most>>10)
			}
			merged, rows, held := s.sum(t, e)
			if merged != memory || flushed != memory || rows != n {
				t.Errorf("%d rows of %d, sums %x in memory, %x merged", rows, n, memory, merged)
			}
			if held > 16<<20 {
				t.Errorf("a scan has %d KiB in hand", held>>10)
			}
			t.Logf("merge %d KiB, scan %d KiB, %s", grown>>10, held>>10, strings.Join(partLines(t, e), ", "))
		})
	}
}

// maxWide is what goes with columns and parts: places, extremes, buffers of encoders.
const maxWide = 8 << 20

func partLines(t *testing.T, e *Engine) (lines []string) {
	t.Helper()
	tab, err := e.Table(public("wide"))
	must(t, err)
	for _, p := range tab.region.snap.Load().parts {
		lines = append(lines, fmt.Sprintf("%d rows in %d blocks", p.meta.Rows, p.run.Blocks()))
	}
	return lines
}
