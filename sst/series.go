package sst

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"

	"varve/engine/scan"
	"varve/sst/encoding"
)

// The series section:
//
//	first rows of all series (packed integers) | offsets of the restarts (packed integers) | keys
//	key = uvarint bytes shared with the key before | uvarint further bytes | bytes
//
// Every restartEvery-th key is a restart: it shares nothing, so a search halves between restarts.
const restartEvery = 16

// seriesWriter gathers the series section.
type seriesWriter struct {
	last     []byte
	first    []uint64
	restarts []uint64
	keys     [][]byte // in pieces, which are not copied as they grow more
	size     int      // bytes of keys
}

// keyPiece is the size of a piece of keys; the first one grows to it, as most parts have few series.
const keyPiece = 256 << 10

// add begins a series at a row; its key is greater than all before.
func (s *seriesWriter) add(key []byte, row uint64) {
	shared := 0
	if len(s.first)%restartEvery == 0 {
		s.restarts = append(s.restarts, uint64(s.size))
	} else {
		for shared < len(key) && shared < len(s.last) && key[shared] == s.last[shared] {
			shared++
		}
	}
	var head [2 * binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(shared))
	n += binary.PutUvarint(head[n:], uint64(len(key)-shared))
	s.put(head[:n])
	s.put(key[shared:])
	s.last = append(s.last[:0], key...)
	s.first = append(s.first, row)
}

// put appends bytes to the keys.
func (s *seriesWriter) put(b []byte) {
	s.size += len(b)
	for len(b) > 0 {
		last := len(s.keys) - 1
		switch {
		case last < 0:
			s.keys = append(s.keys, nil)
			continue
		case len(s.keys[last]) == keyPiece:
			s.keys = append(s.keys, make([]byte, 0, keyPiece))
			continue
		}
		n := min(len(b), keyPiece-len(s.keys[last]))
		s.keys[last] = append(s.keys[last], b[:n]...)
		b = b[n:]
	}
}

// section returns the section in pieces.
func (s *seriesWriter) section(e *encoding.Encoder) [][]byte {
	head := e.AppendUints(nil, s.first)
	head = e.AppendUints(head, s.restarts)
	return append([][]byte{head}, s.keys...)
}

// seriesTable is the series section in memory: row numbers decoded, keys where they are in the file.
type seriesTable struct {
	first    []uint32 // of each series, and the number of rows at the end
	restarts []uint64
	keys     []byte
}

func readSeries(src []byte, count, rows uint64) (*seriesTable, error) {
	var d encoding.Decoder
	limit := int(min(count, uint64(len(src))*encoding.MaxRows))
	first, rest, err := d.Uints(src, limit)
	if err != nil {
		return nil, err
	}
	restarts, keys, err := d.Uints(rest, limit)
	if err != nil {
		return nil, err
	}
	if uint64(len(first)) != count || len(restarts) != (len(first)+restartEvery-1)/restartEvery || count == 0 ||
		first[0] != 0 {
		return nil, fmt.Errorf("series section of %d series and %d restarts, want %d series", len(first), len(restarts),
			count)
	}
	t := &seriesTable{first: make([]uint32, count+1), restarts: restarts, keys: keys}
	for i, r := range first {
		if r >= rows || i > 0 && r <= first[i-1] {
			return nil, fmt.Errorf("series %d begins at row %d of %d", i, r, rows)
		}
		t.first[i] = uint32(r)
	}
	t.first[count] = uint32(rows)
	for i, r := range restarts {
		if r >= uint64(len(keys)) || i > 0 && r <= restarts[i-1] {
			return nil, fmt.Errorf("restart %d at %d of %d bytes", i, r, len(keys))
		}
	}
	return t, nil
}

func (t *seriesTable) len() int { return len(t.first) - 1 }

// rows are the rows of series i.
func (t *seriesTable) rows(i int) (from, to int) { return int(t.first[i]), int(t.first[i+1]) }

// keyBytes are the bytes of all keys, each whole.
func (t *seriesTable) keyBytes() (n int64, err error) {
	w, err := t.walk(0)
	for i := 0; i < t.len() && err == nil; i++ {
		err = w.step()
		n += int64(len(w.key))
	}
	return n, err
}

// at finds the series that a row belongs to.
func (t *seriesTable) at(row int) int {
	return sort.Search(t.len(), func(i int) bool { return int(t.first[i+1]) > row })
}

// keyWalk reads keys in order.
type keyWalk struct {
	t    *seriesTable
	next int // series that step reads
	off  uint64
	key  []byte
}

// walk begins at series i: the next step reads it.
func (t *seriesTable) walk(i int) (*keyWalk, error) {
	w := &keyWalk{t: t}
	if i >= t.len() {
		w.next = i
		return w, nil
	}
	return w, w.seek(i)
}

// restart goes to a restart.
func (w *keyWalk) restart(i int) {
	w.next, w.off, w.key = i*restartEvery, w.t.restarts[i], w.key[:0]
}

// seek moves forward to series i, so that the next step reads it. If it is far, seek begins again at a restart.
func (w *keyWalk) seek(i int) error {
	if restart := i / restartEvery; w.next < restart*restartEvery || w.next == 0 {
		w.restart(restart)
	}
	for w.next < i {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

// step reads the next key; it is valid until the following step.
func (w *keyWalk) step() error {
	b := w.t.keys[min(w.off, uint64(len(w.t.keys))):]
	shared, n := binary.Uvarint(b)
	if n <= 0 || shared > uint64(len(w.key)) || w.next%restartEvery == 0 && shared > 0 {
		return fmt.Errorf("key of series %d", w.next)
	}
	size, m := binary.Uvarint(b[n:])
	if m <= 0 || size > uint64(len(b)-n-m) || shared+size > MaxKeySize {
		return fmt.Errorf("key of series %d", w.next)
	}
	if w.next%restartEvery == 0 && w.off != w.t.restarts[w.next/restartEvery] {
		return fmt.Errorf("key of series %d is not where its restart says", w.next)
	}
	w.key = append(w.key[:shared], b[n+m:n+m+int(size)]...)
	w.off += uint64(n+m) + size
	w.next++
	return nil
}

// find returns the first series whose key is not less than key; without one, the number of series.
func (t *seriesTable) find(key []byte) (int, error) {
	var failed error
	w := &keyWalk{t: t}
	restart := sort.Search(len(t.restarts), func(i int) bool {
		w.restart(i)
		if err := w.step(); err != nil {
			failed = err
			return true
		}
		return bytes.Compare(w.key, key) >= 0
	})
	if failed != nil {
		return 0, failed
	}
	w.restart(max(restart-1, 0))
	i := w.next
	for ; i < t.len(); i++ {
		if err := w.step(); err != nil {
			return 0, err
		}
		if bytes.Compare(w.key, key) >= 0 {
			break
		}
	}
	return i, nil
}

// within returns the series of a range whose keys are in keys.
func (t *seriesTable) within(of seriesRange, keys scan.KeyRange) (from, to int, err error) {
	from, to = of.from, of.to
	if len(keys.From) > 0 {
		k, err := t.find(keys.From)
		if err != nil {
			return 0, 0, err
		}
		from = max(from, k)
	}
	if keys.To != nil {
		k, err := t.find(keys.To)
		if err != nil {
			return 0, 0, err
		}
		to = min(to, k)
	}
	return from, max(from, to), nil
}

// split returns keys that cut the rows of the series with a prefix into about n equal ranges.
func (t *seriesTable) split(prefix []byte, n int) (keys [][]byte, err error) {
	from, to, err := t.prefix(prefix)
	if err != nil || from == to {
		return nil, err
	}
	first, rows := int(t.first[from]), int(t.first[to]-t.first[from])
	for i := 1; i < n; i++ {
		s := t.at(first + rows*i/n)
		if s <= from || s >= to {
			continue
		}
		w, err := t.walk(s)
		if err == nil {
			err = w.step()
		}
		if err != nil {
			return nil, err
		}
		if k := len(keys); k == 0 || !bytes.Equal(keys[k-1], w.key) {
			keys = append(keys, bytes.Clone(w.key))
		}
	}
	return keys, nil
}

// prefix returns the series whose keys begin with prefix.
func (t *seriesTable) prefix(prefix []byte) (from, to int, err error) {
	if len(prefix) == 0 {
		return 0, t.len(), nil
	}
	if from, err = t.find(prefix); err != nil {
		return 0, 0, err
	}
	end := bytes.Clone(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xFF {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return from, t.len(), nil
	}
	end[len(end)-1]++
	to, err = t.find(end)
	return from, to, err
}
