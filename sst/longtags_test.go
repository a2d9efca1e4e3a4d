package sst

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// longTags is a table of series with one row each, whose tag has so many bytes that are like no other's.
func longTags(r *rand.Rand, series, size int) *table {
	t := &table{}
	for i := range series {
		host := fmt.Sprintf("%06d-%s", i, strings.Repeat(fmt.Sprintf("%08x", r.Uint32()), size/8))
		t.series = append(t.series, seriesRows{
			key: schema.AppendSeriesKey(nil, 7, []schema.ColumnID{7}, [][]byte{[]byte(host)}), host: host,
			rows: []row{{1: int64(i)}}})
	}
	return t
}

// ledger counts what a scan reserves.
type ledger struct{ now, peak, most int64 }

var errLedgerFull = errors.New("no room")

func (l *ledger) reserve(bytes int64) error {
	if l.most > 0 && bytes > 0 && l.now+bytes > l.most {
		return errLedgerFull
	}
	l.now += bytes
	l.peak = max(l.peak, l.now)
	return nil
}

// TestLargeTagsByPieces scans a part of long tags in pieces: each counts what it reads of the tags before, that is of
// its own series, and gives it back. Without room the scan ends with the error, and nothing stays counted.
func TestLargeTagsByPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fs := vfs.NewMem()
	const series, size = 8 * 1024, 2 << 10
	longTags(r, series, size).write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(1 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var l ledger
	spec := scan.Spec{TimeColumn: tsColumn, Time: scan.All, Columns: []schema.Column{hostColumn},
		FilterColumns: []schema.Column{hostColumn},
		Filter:        filter.And{cond(hostColumn, filter.Greater, "000009")}, Memo: &scan.Memo{}, Reserve: l.reserve}
	rows := 0
	for block := range p.Run().Blocks() {
		of := spec
		of.Pieces = &scan.Pieces{From: block, To: block + 1}
		n, err := countRows(p, &of)
		if err != nil {
			t.Fatal(err)
		}
		rows += n
	}
	if rows != series-9 {
		t.Errorf("%d rows, want %d", rows, series-9)
	}
	const all = series * size
	if blocks := int64(p.Run().Blocks()); l.peak < all/blocks || l.peak > 4*all/blocks || l.now != 0 {
		t.Errorf("%d bytes were counted for pieces of %d, %d at the end", l.peak, all/blocks, l.now)
	}
	l = ledger{most: 2 << 20}
	if _, err := countRows(p, &spec); !errors.Is(err, errLedgerFull) || l.now != 0 {
		t.Errorf("without room: %v, %d bytes stay counted", err, l.now)
	}
}

// TestTagsOfAScanAreCounted: what the pieces of a scan share of a tag that the cache does not keep is counted once,
// until the scan ends.
func TestTagsOfAScanAreCounted(t *testing.T) {
	defer func(n int64) { leastLargeTag = n }(leastLargeTag)
	leastLargeTag = 1 << 30
	r := rand.New(rand.NewPCG(3, 3))
	fs := vfs.NewMem()
	const series, size = 1024, 8 << 10
	longTags(r, series, size).write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var l ledger
	spec := scan.Spec{TimeColumn: tsColumn, Time: scan.All, Columns: []schema.Column{hostColumn}, Memo: &scan.Memo{},
		Reserve: l.reserve}
	for range 3 {
		if _, err := countRows(p, &spec); err != nil {
			t.Fatal(err)
		}
	}
	const all = series * size
	if l.now < all || l.now > 2*all || l.peak > 4*all {
		t.Errorf("%d bytes are counted, at most %d, of %d", l.now, l.peak, all)
	}
	if spec.Memo.Release(l.reserve); l.now != 0 {
		t.Errorf("%d bytes stay counted", l.now)
	}
}

func countRows(p *Part, spec *scan.Spec) (n int, err error) {
	c, err := p.Run().Scan(spec)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil || !ok {
			return n, err
		}
		n += b.N
	}
}

// TestLongTagsHaveNoIndex: of long values a part has no tag index, which would hold them all once more, and finds
// series all the same.
func TestLongTagsHaveNoIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		series, size int
		indexed      bool
	}{{4096, 2 << 10, false}, {4096, 64, true}} {
		fs := vfs.NewMem()
		model := longTags(r, c.series, c.size)
		model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
		p, err := Open(fs, "p", OpenOptions{Cache: NewCache(1 << 20)})
		if err != nil {
			t.Fatal(err)
		}
		if p.dir.tags.present() != c.indexed {
			t.Errorf("%d tags of %d bytes: an index is %v", c.series, c.size, p.dir.tags.present())
		}
		at := c.series / 2
		series, err := p.Run().Find(&scan.Find{Tables: []schema.TableID{7}, Time: scan.All, TimeColumn: tsColumn,
			Tests: []scan.TagTest{{Column: hostColumn, Values: [][]byte{[]byte(model.series[at].host)}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := series.(*found).numbers; !slices.Equal(got, []uint32{uint32(at)}) {
			t.Errorf("series %v, want %d", got, at)
		}
		_ = p.Close()
	}
}

// TestFirstValuesStayInTheFile reads a tag index whose blocks have one long value each: they are not copied.
func TestFirstValuesStayInTheFile(t *testing.T) {
	const values, size = 64, 256 << 10
	w := Writer{f: discard{}}
	w.tags.tags = map[schema.ColumnID]*tagWriter{7: {}}
	for i := range values {
		w.tags.tags[7].add(append([]byte{byte(i)}, make([]byte, size)...), uint32(i))
	}
	section, err := w.writeTag([]byte{1}, 7, w.tags.tags[7])
	if err != nil {
		t.Fatal(err)
	}
	var x *tagIndex
	made := allocated(func() { x, err = readTagIndex(section, values, 1<<40) })
	if err != nil || len(x.tags[7].first) != values {
		t.Fatalf("%v: %v", x, err)
	}
	if made > 64<<10 {
		t.Errorf("%d bytes were allocated for an index of %d", made, len(section))
	}
}

// TestKeysAreNotCopied: a writer holds the keys of its series once.
func TestKeysAreNotCopied(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const series, size = 256, 64 << 10
	model := longTags(r, series, size)
	row := model.batch(&model.series[0], 0, 1)
	made := allocated(func() {
		w := NewWriter(discard{}, WriterOptions{Columns: fieldColumns})
		for i := range model.series {
			s := &model.series[i]
			if err := w.Series(s.key); err != nil {
				t.Fatal(err)
			}
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Finish(); err != nil {
			t.Fatal(err)
		}
	})
	const all = series * size
	if made > 3*all {
		t.Errorf("%d bytes were allocated for keys of %d", made, all)
	}
}

// allocated is the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// discard is a file that forgets what is written.
type discard struct{ vfs.File }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
