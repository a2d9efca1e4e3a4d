package sst

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"varve/engine/invariant"
	"varve/engine/schema"
	"varve/engine/symbol"
)

// The tag index lists the series of each value of a tag, so that a search for one value does not read all keys:
//
//	blocks of values, tag by tag: values, each with its series | CRC-32C 4B
//	section: uvarint tags
//	per tag: column id 4B | uvarint values | uvarint series that have one
//	         uvarint length | postings of the series whose key says NULL
//	         uvarint offset of its first block | uvarint blocks
//	         per block: uvarint length, CRC included | uvarint length of its first value | first value
//	value  = uvarint bytes shared with the value before | uvarint further bytes | bytes | uvarint length | postings
//	postings: uvarint numbers * 2 + by runs, then rising numbers of series: each as what it is greater than the one before
//	         by, less one; by runs: first as before, then the length less one
//
// Values rise; the first of a block shares nothing. Parts of few series have no tag index.

// leastIndexed is the number of series from which on a part has a tag index: the keys of fewer are read in some tens of
// microseconds. A variable for the tests.
var leastIndexed = invariant.Limit(512, 1)

// tagBlockValues and tagBlockBytes bound a block of values: a search reads the whole block.
var (
	tagBlockValues = invariant.Limit(128, 1)
	tagBlockBytes  = invariant.Limit(64<<10, 1)
)

const (
	// maxTagEntries bounds the memory of a tag index that is made, of 8 bytes for each tag of a series. Parts with more
	// have none.
	maxTagEntries = 32 << 20
	// longTag is the average size of a tag's values from which on an index of them saves nothing: the keys are read as
	// fast. Below fewTagBytes it costs nothing either.
	longTag     = 256
	fewTagBytes = 4 << 20
)

// tagsWriter gathers the tags of the series of a part.
type tagsWriter struct {
	tags    map[schema.ColumnID]*tagWriter
	entries int
	values  int  // distinct ones, tag by tag
	bytes   int  // of values
	closed  bool // there are too many entries, values are long, or a key cannot be read: no index
	scratch []byte
}

// tagWriter is one tag: code[i] is the number of the value of series[i].
type tagWriter struct {
	values symbol.Table
	series []uint32
	codes  []uint32
	nulls  []uint32 // series whose key says NULL
}

// add notes the tags in the key of the next series.
func (w *tagsWriter) add(key []byte, series int) {
	if w.closed {
		return
	}
	_, tags, err := schema.CutTable(key)
	for len(tags) > 0 && err == nil {
		var id schema.ColumnID
		var val []byte
		if id, val, tags, err = schema.CutTag(tags, &w.scratch); err != nil {
			break
		}
		t := w.tags[id]
		if t == nil {
			if w.tags == nil {
				w.tags = map[schema.ColumnID]*tagWriter{}
			}
			t = &tagWriter{}
			w.tags[id] = t
		}
		known := t.values.Len()
		w.closed = !t.add(val, uint32(series))
		w.entries++
		if t.values.Len() > known {
			w.values++
			w.bytes += len(val)
		}
		w.closed = w.closed || w.entries > maxTagEntries || w.bytes > max(fewTagBytes, longTag*w.values)
	}
	if w.closed = w.closed || err != nil; w.closed {
		w.tags = nil
	}
}

// add records the value of a series; nil: NULL. false if there is no room for more values.
func (t *tagWriter) add(val []byte, series uint32) bool {
	if val == nil {
		t.nulls = append(t.nulls, series)
		return true
	}
	if k := len(t.codes); k > 0 && bytes.Equal(t.values.Bytes(t.codes[k-1]), val) { // neighbours often have the same
		t.series, t.codes = append(t.series, series), append(t.codes, t.codes[k-1])
		return true
	}
	code, ok := t.values.Add(val)
	if ok {
		t.series, t.codes = append(t.series, series), append(t.codes, code)
	}
	return ok
}

// bySeries returns the series of each value, rising: list[first[c]:first[c+1]] for the value with code c.
func (t *tagWriter) bySeries() (first, list []uint32) {
	first = make([]uint32, t.values.Len()+1)
	for _, c := range t.codes {
		first[c+1]++
	}
	for c := range t.values.Len() {
		first[c+1] += first[c]
	}
	list = make([]uint32, len(t.series))
	next := slices.Clone(first)
	for i, c := range t.codes {
		list[next[c]] = t.series[i]
		next[c]++
	}
	return first, list
}

// byValue returns the codes in the order of their values.
func (t *tagWriter) byValue() []uint32 {
	codes := make([]uint32, t.values.Len())
	for c := range codes {
		codes[c] = uint32(c)
	}
	slices.SortFunc(codes, func(a, b uint32) int { return bytes.Compare(t.values.Bytes(a), t.values.Bytes(b)) })
	return codes
}

// writeTags writes the tag index, if the part has one.
func (w *Writer) writeTags() (ref, error) {
	if w.tags.closed || len(w.tags.tags) == 0 || len(w.series.first) < leastIndexed {
		return ref{}, nil
	}
	section := binary.AppendUvarint(nil, uint64(len(w.tags.tags)))
	for _, id := range slices.Sorted(maps.Keys(w.tags.tags)) {
		var err error
		if section, err = w.writeTag(section, id, w.tags.tags[id]); err != nil {
			return ref{}, err
		}
	}
	return w.putSection(section)
}

// writeTag writes the blocks of a tag and appends its entry to the section.
func (w *Writer) writeTag(section []byte, id schema.ColumnID, t *tagWriter) ([]byte, error) {
	section = binary.LittleEndian.AppendUint32(section, uint32(id))
	section = binary.AppendUvarint(section, uint64(t.values.Len()))
	section = binary.AppendUvarint(section, uint64(len(t.series)))
	nulls := appendPostings(nil, t.nulls)
	section = append(binary.AppendUvarint(section, uint64(len(nulls))), nulls...)
	section = binary.AppendUvarint(section, w.at)
	first, list := t.bySeries()
	codes := t.byValue()
	var about, block, posts, last []byte
	blocks := 0
	for len(codes) > 0 {
		begin := t.values.Bytes(codes[0])
		block, last = block[:0], nil
		n := 0
		for ; n < len(codes) && n < tagBlockValues && len(block) < tagBlockBytes; n++ {
			value := t.values.Bytes(codes[n])
			shared := 0
			for shared < len(value) && shared < len(last) && value[shared] == last[shared] {
				shared++
			}
			block = binary.AppendUvarint(block, uint64(shared))
			block = binary.AppendUvarint(block, uint64(len(value)-shared))
			block = append(block, value[shared:]...)
			posts = appendPostings(posts[:0], list[first[codes[n]]:first[codes[n]+1]])
			block = append(binary.AppendUvarint(block, uint64(len(posts))), posts...)
			last = value
		}
		codes = codes[n:]
		block = binary.LittleEndian.AppendUint32(block, tagSum(id, blocks, block))
		about = binary.AppendUvarint(about, uint64(len(block)))
		about = append(binary.AppendUvarint(about, uint64(len(begin))), begin...)
		blocks++
		if err := w.put(block); err != nil {
			return nil, err
		}
	}
	return append(binary.AppendUvarint(section, uint64(blocks)), about...), nil
}

// tagSum is the checksum of a block of values, of its place too.
func tagSum(id schema.ColumnID, block int, body []byte) uint32 { return pageSum(id, block|1<<30, body) }

// appendPostings appends rising numbers of series: by runs where those take at most half as many numbers.
func appendPostings(dst []byte, series []uint32) []byte {
	runs := 0
	for i, s := range series {
		if i == 0 || s != series[i-1]+1 {
			runs++
		}
	}
	next := uint32(0) // the least number that may come
	if 2*runs > len(series) {
		dst = binary.AppendUvarint(dst, uint64(len(series))*2)
		for _, s := range series {
			dst = binary.AppendUvarint(dst, uint64(s-next))
			next = s + 1
		}
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(runs)*2+1)
	for i := 0; i < len(series); {
		k := i + 1
		for k < len(series) && series[k] == series[k-1]+1 {
			k++
		}
		dst = binary.AppendUvarint(dst, uint64(series[i]-next))
		dst = binary.AppendUvarint(dst, uint64(k-i-1))
		next = series[k-1] + 1
		i = k
	}
	return dst
}
