package blockcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"varve/engine/vfs"
)

// A file of the cache, all numbers little endian:
//
//	+---------+------------+-----------+-----------+-----------+
//	| magic 8 | version u32| length u32| place     | crc u32   |   head; the crc is of all before it
//	+---------+------------+-----------+-----------+-----------+
//	| bytes of spans, one behind the other                     |
//	+----------------------------------------------------------+
//	| for each span: length u16, name of the object, offset    |   index
//	| in it u64, bytes u32, crc u32 of each 32 KiB of them     |
//	+---------+-----------+-----------+------------------------+
//	| spans u32| index u32| crc u32   | magic 8                |   tail; the crc is of the index and these lengths
//	+---------+-----------+-----------+------------------------+
//
// Index and tail are written when the file is full, or the cache is closed. Without them a file is not used.
const (
	headMagic = "varvecc\x01"
	tailMagic = "\x01ccevrav"
	version   = 1
	suffix    = ".cache"
	tailSize  = 4 + 4 + 4 + 8
	headFixed = 8 + 4 + 4 + 4 // without the place
	// chunk is what has a checksum of its own, in bytes: of a large span that was fetched ahead, a page is read by
	// itself.
	chunk = 32 << 10
	// maxIndex bounds the index of one file, in bytes.
	maxIndex = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged is wrapped by errors for bytes that are not those that were written.
var errDamaged = errors.New("the cache's file is damaged")

// segment is a file of the cache.
type segment struct {
	number uint64
	file   vfs.File
	size   int64   // of the spans and the head, in bytes; the writer's
	index  int64   // what the index will have, in bytes; the writer's
	disk   int64   // of the whole file, in bytes; under the cache's lock
	spans  []*span // in the order of their bytes; under the cache's lock
	refs   int     // readers, and the cache as long as the segment is not dead; under the cache's lock
	dead   bool    // it is gone from the cache; under the cache's lock
}

// fileName is the name of a segment's file.
func fileName(number uint64) string { return fmt.Sprintf("%08d%s", number, suffix) }

// numberOf reads a name; false: it is none of a segment.
func numberOf(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && fileName(n) == name
}

// appendHead appends a file's head.
func appendHead(b []byte, place string) []byte {
	from := len(b)
	b = append(b, headMagic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(place)))
	b = append(b, place...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// checkHead compares the first bytes of a file with the head that it would have here.
func checkHead(b []byte, place string) error {
	if want := appendHead(nil, place); string(b) != string(want) {
		return fmt.Errorf("it is of another place or version: %w", errDamaged)
	}
	return nil
}

// appendIndex appends index and tail.
func appendIndex(b []byte, spans []*span) []byte {
	from := len(b)
	for _, s := range spans {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(s.object)))
		b = append(b, s.object...)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.off))
		b = binary.LittleEndian.AppendUint32(b, uint32(s.n))
		for _, sum := range s.sums {
			b = binary.LittleEndian.AppendUint32(b, sum)
		}
	}
	size := len(b) - from
	b = binary.LittleEndian.AppendUint32(b, uint32(len(spans)))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
	return append(b, tailMagic...)
}

// indexSize is what appendIndex appends for a span.
func indexSize(object string, n int) int64 {
	return int64(2 + len(object) + 8 + 4 + 4*((n+chunk-1)/chunk))
}

// parseTail reads the last tailSize bytes of a file.
func parseTail(b []byte) (spans, index int, err error) {
	if len(b) != tailSize || string(b[12:]) != tailMagic {
		return 0, 0, fmt.Errorf("it was not finished: %w", errDamaged)
	}
	spans, index = int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	if index > maxIndex || spans > index {
		return 0, 0, fmt.Errorf("an index of %d bytes for %d spans: %w", index, spans, errDamaged)
	}
	return spans, index, nil
}

// parseIndex reads index and tail; the spans begin at a place in the file, and fill it up to another.
func parseIndex(b []byte, begin, end int64) ([]*span, error) {
	if len(b) < tailSize {
		return nil, errDamaged
	}
	count, size, err := parseTail(b[len(b)-tailSize:])
	if err != nil {
		return nil, err
	}
	if size != len(b)-tailSize || crc32.Checksum(b[:size+8], castagnoli) != binary.LittleEndian.Uint32(b[size+8:]) {
		return nil, fmt.Errorf("the index: %w", errDamaged)
	}
	all := make([]*span, 0, min(count, size/14))
	for rest := b[:size]; len(rest) > 0; {
		s := &span{at: begin}
		if rest, err = s.parse(rest); err != nil {
			return nil, err
		}
		if begin += int64(s.n); begin > end {
			return nil, fmt.Errorf("spans behind the end: %w", errDamaged)
		}
		all = append(all, s)
	}
	if len(all) != count || begin != end {
		return nil, fmt.Errorf("%d spans of %d up to %d, not %d: %w", len(all), count, begin, end, errDamaged)
	}
	return all, nil
}

// parse reads one entry of an index.
func (s *span) parse(b []byte) (rest []byte, err error) {
	short := fmt.Errorf("an entry of the index: %w", errDamaged)
	if len(b) < 2 {
		return nil, short
	}
	name := int(binary.LittleEndian.Uint16(b))
	if b = b[2:]; len(b) < name+12 {
		return nil, short
	}
	s.object = string(b[:name])
	s.off = int64(binary.LittleEndian.Uint64(b[name:]))
	s.n = int(binary.LittleEndian.Uint32(b[name+8:]))
	b = b[name+12:]
	sums := (s.n + chunk - 1) / chunk
	if s.n == 0 || checkRange(s.object, s.off, s.n) != nil || len(b)/4 < sums {
		return nil, short
	}
	s.sums = make([]uint32, sums)
	for i := range s.sums {
		s.sums[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return b[4*sums:], nil
}

// sumsOf are the checksums of a span's bytes.
func sumsOf(b []byte) []uint32 {
	sums := make([]uint32, 0, (len(b)+chunk-1)/chunk)
	for ; len(b) > 0; b = b[min(chunk, len(b)):] {
		sums = append(sums, crc32.Checksum(b[:min(chunk, len(b))], castagnoli))
	}
	return sums
}

// read lends a range of a span's bytes, after holding the chunks that it lies in against their checksums. The segment
// is pinned.
func (s *span) read(off int64, n int) ([]byte, func(), error) {
	rel := int(off - s.off)
	from := rel / chunk * chunk
	to := min(s.n, (rel+n+chunk-1)/chunk*chunk)
	buf := newBuffer(to - from)
	if m, err := s.segment.file.ReadAt(buf.b, s.at+int64(from)); m < to-from {
		buf.free()
		return nil, nil, fmt.Errorf("%s: %w", fileName(s.segment.number), err)
	}
	for i, b := from/chunk, buf.b; len(b) > 0; i++ {
		m := min(chunk, len(b))
		if crc32.Checksum(b[:m], castagnoli) != s.sums[i] {
			buf.free()
			return nil, nil, fmt.Errorf("%s: %w", fileName(s.segment.number), errDamaged)
		}
		b = b[m:]
	}
	b, release := buf.lend(rel-from, n)
	return b, release, nil
}
