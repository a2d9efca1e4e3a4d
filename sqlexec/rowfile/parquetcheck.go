package rowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// The library allocates what the counts and sizes of a file claim before it reads what they count. A damaged file could
// so take more memory than there is, which no program survives. Footer and page headers are therefore walked before the
// library sees them, and every claim is held against the bytes that are there.

// Bounds of what a file may claim.
const (
	maxFooter     = 64 << 20
	maxElements   = 2 << 20  // of all lists of the footer: columns of row groups, mostly
	maxPageBytes  = 64 << 20 // of a page, unpacked; writers make pages of about 1 MiB
	maxPageValues = 16 << 20
	maxNesting    = 32 // of structures
)

// What the library makes of what a file claims, about: of a structure and of any element of a list of the footer, and
// of a value of a page, which has an offset or an index and levels.
const (
	footerStruct  = 512
	footerElement = 24
	valueBytes    = 12
)

var errClaims = errors.New("damaged Parquet file: it claims more than it holds")

// skim walks the Thrift compact protocol.
// Source: the Thrift specification, thrift-compact-protocol.md.
type skim struct {
	b        []byte
	pos      int
	elements int
	structs  int
	// number is told of the integers and booleans of structures: the field of the structure that holds it (0 for the
	// outermost), its own, and its value. May be nil.
	number func(outer, field int16, x int64)
}

// The wire types.
const (
	wireTrue = iota + 1
	wireFalse
	wireByte
	wireI16
	wireI32
	wireI64
	wireDouble
	wireBinary
	wireList
	wireSet
	wireMap
	wireStruct
)

func (s *skim) varint() (uint64, error) {
	x, n := binary.Uvarint(s.b[s.pos:])
	if n <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	s.pos += n
	return x, nil
}

func (s *skim) skip(n uint64) error {
	if n > uint64(len(s.b)-s.pos) {
		return errClaims
	}
	s.pos += int(n)
	return nil
}

func (s *skim) byte() (byte, error) {
	if s.pos == len(s.b) {
		return 0, io.ErrUnexpectedEOF
	}
	s.pos++
	return s.b[s.pos-1], nil
}

// structure walks a structure that is field outer of another.
func (s *skim) structure(outer int16, depth int) error {
	if depth > maxNesting {
		return errClaims
	}
	s.structs++
	field := int16(0)
	for {
		head, err := s.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := head >> 4; delta > 0 {
			field += int16(delta)
		} else if x, err := s.varint(); err != nil {
			return err
		} else {
			field = int16(x>>1) ^ -int16(x&1)
		}
		wire := head & 15
		if wire > wireFalse {
			if err := s.value(wire, outer, field, depth); err != nil {
				return err
			}
		} else if s.number != nil { // booleans are in the head
			s.number(outer, field, int64(wireFalse-wire))
		}
	}
}

func (s *skim) value(wire byte, outer, field int16, depth int) error {
	switch wire {
	case wireTrue, wireFalse, wireByte:
		return s.skip(1)
	case wireI16, wireI32, wireI64:
		x, err := s.varint()
		if err == nil && s.number != nil {
			s.number(outer, field, int64(x>>1)^-int64(x&1))
		}
		return err
	case wireDouble:
		return s.skip(8)
	case wireBinary:
		n, err := s.varint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case wireList, wireSet:
		return s.list(depth)
	case wireMap:
		return s.dict(depth)
	case wireStruct:
		return s.structure(field, depth+1)
	}
	return errClaims
}

// list walks a list, whose elements take a byte each at least.
func (s *skim) list(depth int) error {
	head, err := s.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = s.varint(); err != nil {
			return err
		}
	}
	return s.repeat(n, depth, head&15)
}

func (s *skim) dict(depth int) error {
	n, err := s.varint()
	if err != nil || n == 0 {
		return err
	}
	types, err := s.byte()
	if err != nil {
		return err
	}
	return s.repeat(n, depth, types>>4, types&15)
}

func (s *skim) repeat(n uint64, depth int, wires ...byte) error {
	if n > uint64(len(s.b)-s.pos) || uint64(s.elements)+n > maxElements || depth > maxNesting {
		return errClaims
	}
	s.elements += int(n)
	for range n {
		for _, wire := range wires {
			if err := s.value(wire, -1, -1, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFooter checks the end of a file: its footer, the length of the footer, and PAR1. It returns about how much
// memory the library takes for the footer.
func checkFooter(f io.ReaderAt, size int64) (bytes int64, err error) {
	var tail [8]byte
	if size < 12 {
		return 0, errors.New("no Parquet file: too short")
	}
	if _, err := f.ReadAt(tail[:], size-8); err != nil {
		return 0, err
	}
	if string(tail[4:]) != "PAR1" {
		return 0, errors.New("no Parquet file: it does not end with PAR1")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > min(size-12, maxFooter) {
		return 0, errClaims
	}
	footer := make([]byte, n)
	if _, err := f.ReadAt(footer, size-8-n); err != nil {
		return 0, err
	}
	s := skim{b: footer}
	if err := s.structure(0, 0); err != nil {
		return 0, fmt.Errorf("footer: %w", err)
	}
	return 2*n + footerStruct*int64(s.structs) + footerElement*int64(s.elements), nil
}

// checkPages looks at the headers of a column's pages in a row group. It returns about what the largest of them and the
// dictionary take in memory.
func checkPages(f io.ReaderAt, size int64, c *format.ColumnMetaData) (most int64, err error) {
	at := c.DataPageOffset
	if c.DictionaryPageOffset > 0 {
		at = min(at, c.DictionaryPageOffset)
	}
	if at < 4 || c.TotalCompressedSize < 0 || c.TotalCompressedSize > size-at {
		return 0, errClaims
	}
	largest, dictionary := int64(0), int64(0)
	for end := at + c.TotalCompressedSize; at < end; {
		header, err := pageHeader(f, at, end)
		if err != nil {
			return 0, err
		}
		at += header.bytes + header.packed
		if header.packed < 0 || at > end || header.unpacked < 0 || header.unpacked > maxPageBytes ||
			header.values < 0 || header.values > maxPageValues {
			return 0, fmt.Errorf("a page of %d bytes, %d unpacked, %d values: %w", header.packed, header.unpacked,
				header.values, errClaims)
		}
		takes := header.packed + 2*header.unpacked + valueBytes*header.values
		if header.dictionary {
			dictionary += takes
		} else {
			largest = max(largest, takes)
		}
		if header.plain {
			continue
		}
		if err := checkPacked(f, c.Codec, at-header.packed+header.levels, at, header.unpacked); err != nil {
			return 0, err
		}
	}
	return largest + dictionary, nil
}

// checkPacked looks at the size that packed bytes [from, to) claim to have unpacked, where their form begins with it.
func checkPacked(f io.ReaderAt, codec format.CompressionCodec, from, to, unpacked int64) error {
	if from > to {
		return errClaims
	}
	head := make([]byte, min(to-from, zstd.HeaderMaxSize))
	if _, err := f.ReadAt(head, from); err != nil {
		return err
	}
	switch codec {
	case format.Snappy:
		if n, k := binary.Uvarint(head); len(head) > 0 && (k <= 0 || n > uint64(unpacked)) {
			return errClaims
		}
	case format.Zstd:
		var h zstd.Header
		if err := h.Decode(head); len(head) > 0 &&
			(err != nil || h.HasFCS && h.FrameContentSize > uint64(unpacked) || h.WindowSize > zstdWindow) {
			return errClaims
		}
	case format.Lz4Raw: // its reader doubles the room until what is damaged fits
		return errors.New("pages packed with lz4 are not read")
	}
	return nil
}

// page is what the header of a page claims, and the size of the header.
type page struct {
	bytes, packed, unpacked, values int64
	levels                          int64 // bytes before the packed ones
	plain                           bool  // not packed, whatever the column's codec
	dictionary                      bool
}

// pageHeader reads the header at a place; its statistics make it as large as the values they hold.
func pageHeader(f io.ReaderAt, at, end int64) (p page, err error) {
	for window := int64(512); ; window *= 16 {
		buf := make([]byte, min(window, end-at))
		if _, err := f.ReadAt(buf, at); err != nil {
			return p, err
		}
		p = page{}
		s := skim{b: buf, number: func(outer, field int16, x int64) {
			switch {
			case outer == 0 && field == 2:
				p.unpacked = x
			case outer == 0 && field == 3:
				p.packed = x
			case outer == 8 && (field == 5 || field == 6):
				p.levels += max(x, 0)
			case outer == 8 && field == 7:
				p.plain = x == 0
			case (outer == 5 || outer == 7 || outer == 8) && field == 1:
				p.values, p.dictionary = x, outer == 7
			}
		}}
		err := s.structure(0, 0)
		p.bytes = int64(s.pos)
		if err == nil || int64(len(buf)) == end-at || window > maxPageBytes {
			return p, err
		}
	}
}
