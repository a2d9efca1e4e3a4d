package sst

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

	"varve/engine/schema"
)

// tagIndex finds the blocks of the file that list the series of a tag's values; tagwriter.go draws them.
type tagIndex struct {
	tags map[schema.ColumnID]*indexedTag
}

// indexedTag is one tag of the index.
type indexedTag struct {
	id     schema.ColumnID
	values uint64
	series uint64 // that have a value
	nulls  []byte // postings of the series whose key says NULL
	blockRefs
	first   [][]byte      // first value of each block, inside the file
	checked []atomic.Bool // blocks whose checksum was right
}

// tagIndex returns the tag index, read at first use; nil: the part has none. Its bytes are kept.
func (p *Part) tagIndex(ctx context.Context) (*tagIndex, error) {
	if !p.dir.tags.present() {
		return nil, nil
	}
	if x := p.indexed.Load(); x != nil {
		return x, nil
	}
	b, release, err := p.section(ctx, p.dir.tags, "tag index")
	if err != nil {
		return nil, err
	}
	x, err := readTagIndex(b, p.dir.seriesCount, p.file.size())
	if err != nil {
		release()
		return nil, p.corrupt(err, "tag index")
	}
	if !p.indexed.CompareAndSwap(nil, x) {
		release()
		return p.indexed.Load(), nil
	}
	p.file.keep(release)
	return x, nil
}

// readTagIndex reads the section; size is that of the file.
func readTagIndex(src []byte, series, size uint64) (*tagIndex, error) {
	r := &bytesReader{b: src}
	n := r.uvarint()
	if n > maxColumns {
		return nil, fmt.Errorf("%d tags", n)
	}
	x := &tagIndex{tags: make(map[schema.ColumnID]*indexedTag, min(n, 1024))}
	for i := uint64(0); i < n && r.err == nil; i++ {
		t := &indexedTag{id: schema.ColumnID(binary.LittleEndian.Uint32(r.take(4)))}
		t.values, t.series = r.uvarint(), r.uvarint()
		t.nulls = r.take(r.uvarint())
		t.readBlockRefs(r, size)
		if r.err == nil && (t.series > series || t.values > t.series || x.tags[t.id] != nil) {
			r.fail("tag %d has %d values in %d of %d series", t.id, t.values, t.series, series)
		}
		x.tags[t.id] = t
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d unexpected bytes at the end", len(r.b))
	}
	return x, r.err
}

// readBlockRefs reads the places of the blocks and their first values.
func (t *indexedTag) readBlockRefs(r *bytesReader, size uint64) {
	at, blocks := r.uvarint(), r.uvarint()
	if blocks > t.values {
		r.fail("tag %d has %d blocks of %d values", t.id, blocks, t.values)
	}
	for i := uint64(0); i < blocks && r.err == nil; i++ {
		length := r.uvarint()
		value := r.take(r.uvarint())
		if length < sumSize || length > math.MaxUint32 || at > size || length > size-at {
			r.fail("block %d of tag %d: %d bytes at %d", i, t.id, length, at)
			return
		}
		t.off, t.length = append(t.off, at), append(t.length, uint32(length))
		t.first = append(t.first, value)
		at += length
	}
	t.checked = make([]atomic.Bool, len(t.off))
}

// block returns the bytes of a block after checking them, until release.
func (t *indexedTag) block(ctx context.Context, p *Part, i int) (body []byte, release func(), err error) {
	b, release, err := p.file.read(ctx, t.at(i))
	if err != nil {
		return nil, nil, p.corrupt(err, "tag index")
	}
	body, want := unseal(b)
	if t.checked[i].Load() {
		return body, release, nil
	}
	if got := tagSum(t.id, i, body); got != want {
		release()
		return nil, nil, p.corrupt(fmt.Errorf("checksum %08x, want %08x at %d", got, want, t.off[i]),
			fmt.Sprintf("tag index: block %d of tag %d", i, t.id))
	}
	t.checked[i].Store(true)
	return body, release, nil
}

// valueWalk walks the values of a block.
type valueWalk struct {
	b        []byte
	value    []byte
	postings []byte
}

// next moves to the next value; false after the last.
func (w *valueWalk) next() (bool, error) {
	if len(w.b) == 0 {
		return false, nil
	}
	r := &bytesReader{b: w.b}
	shared := r.uvarint()
	further := r.take(r.uvarint())
	if shared > uint64(len(w.value)) {
		r.fail("a value shares %d bytes with one of %d", shared, len(w.value))
	}
	if r.err != nil {
		return false, r.err
	}
	w.value = append(w.value[:shared], further...)
	w.postings = r.take(r.uvarint())
	w.b = r.b
	return true, r.err
}

// appendSeries appends the series with a value that lie in a range.
func (t *indexedTag) appendSeries(ctx context.Context, dst []uint32, p *Part, value []byte, of seriesRange) ([]uint32,
	error) {
	i := sort.Search(len(t.off), func(i int) bool { return bytes.Compare(t.first[i], value) > 0 }) - 1
	if i < 0 {
		return dst, nil
	}
	b, release, err := t.block(ctx, p, i)
	if err != nil {
		return nil, err
	}
	defer release()
	w := valueWalk{b: b}
	for {
		ok, err := w.next()
		if err == nil && ok && bytes.Equal(w.value, value) {
			dst, err = appendSeriesOf(dst, w.postings, of)
			ok = false
		}
		if err != nil {
			return nil, p.corrupt(err, "tag index")
		}
		if !ok {
			return dst, nil
		}
	}
}

// appendSeriesOf appends the numbers of postings that lie in a range.
func appendSeriesOf(dst []uint32, b []byte, of seriesRange) ([]uint32, error) {
	head, k := binary.Uvarint(b)
	if k <= 0 {
		return nil, errShortPostings
	}
	b = b[k:]
	next := uint64(0)
	for n := head / 2; n > 0; n-- {
		gap, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errShortPostings
		}
		b = b[k:]
		length := uint64(0)
		if head&1 != 0 {
			if length, k = binary.Uvarint(b); k <= 0 {
				return nil, errShortPostings
			}
			b = b[k:]
		}
		if gap > math.MaxUint32 || length > math.MaxUint32 {
			return nil, errShortPostings
		}
		from := next + gap
		next = from + length + 1
		if from >= uint64(of.to) {
			break
		}
		for s := max(from, uint64(of.from)); s < min(next, uint64(of.to)); s++ {
			dst = append(dst, uint32(s))
		}
	}
	return dst, nil
}

var errShortPostings = errors.New("postings of a value end early")

// each calls f for the values that series of a range have, rising, with those series.
func (t *indexedTag) each(ctx context.Context, p *Part, of seriesRange,
	f func(value []byte, series []uint32) error) error {
	var series []uint32
	for i := range t.off {
		var err error
		if series, err = t.eachOf(ctx, p, i, of, series, f); err != nil {
			return err
		}
	}
	return nil
}

// eachOf is each for one block. series is scratch memory.
func (t *indexedTag) eachOf(ctx context.Context, p *Part, block int, of seriesRange, series []uint32,
	f func(value []byte, series []uint32) error) ([]uint32, error) {
	b, release, err := t.block(ctx, p, block)
	if err != nil {
		return series, err
	}
	defer release()
	w := valueWalk{b: b}
	for {
		ok, err := w.next()
		if err == nil && ok {
			series, err = appendSeriesOf(series[:0], w.postings, of)
		}
		if err != nil {
			return series, p.corrupt(err, "tag index")
		}
		if !ok {
			return series, nil
		}
		if len(series) == 0 {
			continue
		}
		if err := f(w.value, series); err != nil {
			return series, err
		}
	}
}
