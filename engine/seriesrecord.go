package engine

import (
	"encoding/binary"
	"fmt"

	"varve/memtable"
	"varve/sst"
)

// recordSeries is the kind of a record of rows whose series are given by key instead of by tags:
//
//	series count uvarint | (shared uvarint | rest uvarint | rest of the key | rows uvarint)*
//
// A key begins with the first shared bytes of the previous key: neighbours mostly differ in one label. The batch after
// the keys has no tags.
const recordSeries = 2

func appendSeries(dst []byte, refs []*memtable.Ref, ends []int) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(refs)))
	var last []byte
	from := 0
	for i, ref := range refs {
		key := ref.Key()
		shared := sharedBytes(last, key)
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = binary.AppendUvarint(dst, uint64(len(key)-shared))
		dst = append(dst, key[shared:]...)
		dst = binary.AppendUvarint(dst, uint64(ends[i]-from))
		last, from = key, ends[i]
	}
	return dst
}

// sharedBytes is the number of bytes with which both begin.
func sharedBytes(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]); i += 8 {
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// decodeSeries reads the series of a record of kind recordSeries and gives what follows; other records have none.
func (r *record) decodeSeries(src []byte) ([]byte, error) {
	if r.kind != recordSeries {
		return src, nil
	}
	count, src, err := takeUvarint(src)
	if err != nil || count > uint64(len(src)) {
		return nil, fmt.Errorf("log record of %d series in %d bytes", count, len(src))
	}
	list := make([]memtable.Ref, count)
	r.refs, r.ends = make([]*memtable.Ref, count), make([]int, count)
	var last []byte
	end := uint64(0)
	for i := range list {
		var shared, rest, rows uint64
		if shared, src, err = takeUvarint(src); err == nil {
			rest, src, err = takeUvarint(src)
		}
		if err != nil || shared > uint64(len(last)) || rest > uint64(len(src)) || shared+rest > sst.MaxKeySize ||
			shared+rest < 4 {
			return nil, fmt.Errorf("log record: series %d has %d bytes of the one before and %d of its own", i, shared,
				rest)
		}
		key := make([]byte, 0, shared+rest)
		key = append(append(key, last[:shared]...), src[:rest]...)
		if rows, src, err = takeUvarint(src[rest:]); err != nil || rows > wholeRecord-end {
			return nil, fmt.Errorf("log record: series %d has %d rows", i, rows)
		}
		end += rows
		list[i].Name(key)
		r.refs[i], r.ends[i], last = &list[i], int(end), key
	}
	return src, nil
}

// wholeRecord is more rows than any record has.
const wholeRecord = 1 << 32

func takeUvarint(src []byte) (uint64, []byte, error) {
	x, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, src, fmt.Errorf("a number is cut off")
	}
	return x, src[n:], nil
}
