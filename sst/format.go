package sst

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst/encoding"
)

// Marks and sizes of the format; docs/format/part.md draws them.
const (
	partMagic     = "VARVSST1"
	formatVersion = 7
	// 6: without text sizes. 5: also without repeats and groups. 4: also without templates of JSON objects. 3: also
	// without tag index. 2: also without origin. 1: also without token filters, and with postings for columns all of
	// whose blocks go by the dictionary only
	oldestVersion = 1
	footerSize    = 64
	// maxOrigin bounds what a part says of itself.
	maxOrigin = encoding.MaxHeap
	// MaxBlocks bounds the page indexes.
	MaxBlocks = encoding.MaxRows
	// maxColumns and maxNameSize bound the directory.
	maxColumns  = 1 << 16
	maxNameSize = 1 << 12
	// MaxKeySize bounds one series key.
	MaxKeySize = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pageSum is the checksum of a page. It covers where the page belongs, so a page at the wrong place does not pass.
func pageSum(c schema.ColumnID, block int, body []byte) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint32(place[:], uint32(c))
	binary.LittleEndian.PutUint32(place[4:], uint32(block))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, body)
}

// ref says where a section lies. Its checksum follows the section and is not counted in length.
type ref struct{ off, length uint64 }

func (r ref) present() bool { return r.length > 0 }

const sumSize = 4

func appendRef(dst []byte, r ref) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, r.off), r.length)
}

// columnEntry is what the directory says of a column.
type columnEntry struct {
	id   schema.ColumnID
	typ  vector.Type
	name string
	// where its pages lie: first byte and, when they are contiguous, their bytes together with checksums
	pageRef  ref
	bytes    uint64 // of all pages
	indexRef ref    // page index and zones
	dictRef  ref    // dictionary of the part
	dictSize int    // its number of values
	postRef  ref    // postings of the dictionary's values
	// Where its token filters lie, and the bytes of all of them with checksums. Since version 2.
	filterRef   ref
	filterBytes uint64
	sizesRef    ref // text sizes; since version 7
}

// directory describes everything in the file.
type directory struct {
	columns        []columnEntry
	series         ref
	seriesCount    uint64
	origin         ref    // since version 3
	tags           ref    // since version 4: the tag index, if the part has one
	blockRows      uint64 // the usual number of rows of a block
	minSeq, maxSeq uint64
	hidden         bool
	time           schema.ColumnID // the time index
	rows           []uint64        // of each block
	minTime        []uint64        // of each block, as bit patterns
	maxTime        []uint64
}

func (d *directory) append(dst []byte, e *encoding.Encoder) []byte {
	var flags byte
	if d.hidden {
		flags = 1
	}
	dst = append(dst, flags)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(d.time))
	dst = binary.AppendUvarint(dst, d.blockRows)
	dst = binary.AppendUvarint(dst, d.minSeq)
	dst = binary.AppendUvarint(dst, d.maxSeq)
	dst = binary.AppendUvarint(appendRef(dst, d.series), d.seriesCount)
	dst = e.AppendUints(dst, d.rows)
	dst = e.AppendUints(dst, d.minTime)
	dst = e.AppendUints(dst, d.maxTime)
	dst = binary.AppendUvarint(dst, uint64(len(d.columns)))
	for i := range d.columns {
		c := &d.columns[i]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.id))
		dst = append(dst, byte(c.typ.ID), c.typ.Precision, c.typ.Scale)
		dst = append(binary.AppendUvarint(dst, uint64(len(c.name))), c.name...)
		dst = binary.AppendUvarint(appendRef(dst, c.pageRef), c.bytes)
		dst = appendRef(appendRef(dst, c.indexRef), c.dictRef)
		dst = appendRef(binary.AppendUvarint(dst, uint64(c.dictSize)), c.postRef)
		dst = binary.AppendUvarint(appendRef(dst, c.filterRef), c.filterBytes)
		dst = appendRef(dst, c.sizesRef)
	}
	return appendRef(appendRef(dst, d.origin), d.tags)
}

// bytesReader reads the directory. The first error sticks.
type bytesReader struct {
	b   []byte
	err error
}

func (r *bytesReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.b = nil
}

func (r *bytesReader) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("ends early")
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *bytesReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("ends early")
		return make([]byte, min(n, 8))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// ref reads a place and checks it against the size of the file up to the directory.
func (r *bytesReader) ref(size uint64) ref {
	f := ref{r.uvarint(), r.uvarint()}
	if f.length == 0 {
		return ref{}
	}
	if f.off < uint64(len(partMagic)) || f.off > size || f.length > size-f.off || size-f.off-f.length < sumSize {
		r.fail("section at %d of %d bytes lies outside of the file", f.off, f.length)
		return ref{}
	}
	return f
}

func (r *bytesReader) uints(d *encoding.Decoder, limit int) []uint64 {
	if r.err != nil {
		return nil
	}
	v, rest, err := d.Uints(r.b, limit)
	if err != nil {
		r.fail("%w", err)
		return nil
	}
	r.b = rest
	return v
}

// leastEntry is the bytes that the entry of a column has at least.
const leastEntry = 16

// readDirectory reads and checks a directory of a format version; size is where it begins.
func readDirectory(src []byte, size uint64, version uint32) (*directory, error) {
	r := &bytesReader{b: src}
	var dec encoding.Decoder
	d := &directory{}
	flags := r.take(1)[0]
	if flags&^1 != 0 {
		r.fail("unknown flags %#x", flags)
	}
	d.hidden = flags&1 != 0
	d.time = schema.ColumnID(binary.LittleEndian.Uint32(r.take(4)))
	d.blockRows, d.minSeq, d.maxSeq = r.uvarint(), r.uvarint(), r.uvarint()
	d.series, d.seriesCount = r.ref(size), r.uvarint()
	d.rows = r.uints(&dec, MaxBlocks)
	d.minTime = r.uints(&dec, MaxBlocks)
	d.maxTime = r.uints(&dec, MaxBlocks)
	count := r.uvarint()
	if count > maxColumns {
		r.fail("%d columns", count)
	}
	seen := map[schema.ColumnID]bool{}
	d.columns = make([]columnEntry, 0, min(count, uint64(len(r.b)/leastEntry)))
	for i := uint64(0); i < count && r.err == nil; i++ {
		c := columnEntry{id: schema.ColumnID(binary.LittleEndian.Uint32(r.take(4)))}
		t := r.take(3)
		c.typ = vector.Type{ID: vector.TypeID(t[0]), Precision: t[1], Scale: t[2]}
		n := r.uvarint()
		if n > maxNameSize {
			r.fail("column name of %d bytes", n)
			break
		}
		c.name = string(r.take(n))
		c.pageRef, c.bytes = r.ref(size), r.uvarint()
		c.indexRef, c.dictRef = r.ref(size), r.ref(size)
		values := r.uvarint()
		c.postRef = r.ref(size)
		if version > 1 {
			c.filterRef, c.filterBytes = r.ref(size), r.uvarint()
		}
		if version > 6 {
			c.sizesRef = r.ref(size)
		}
		if r.err == nil && (!c.typ.Known() || c.typ.ID == vector.TypeNull || seen[c.id] ||
			values > encoding.MaxInverted || c.bytes > size || c.filterBytes > size || !c.indexRef.present()) {
			r.fail("entry of column %d (%q) does not make sense", c.id, c.name)
		}
		c.dictSize = int(values)
		seen[c.id] = true
		d.columns = append(d.columns, c)
	}
	if version > 2 && r.err == nil {
		d.origin = r.ref(size)
	}
	if version > 3 && r.err == nil {
		d.tags = r.ref(size)
	}
	if r.err == nil && (len(r.b) > 0 || len(d.minTime) != len(d.rows) || len(d.maxTime) != len(d.rows) ||
		len(d.rows) == 0) {
		r.fail("block tables of %d, %d and %d entries, %d bytes left over", len(d.rows), len(d.minTime), len(d.maxTime),
			len(r.b))
	}
	return d, r.err
}

// footer is the fixed end of the file.
//
//	directory offset 8B | length 8B | rows 8B | least time 8B | greatest time 8B | version 4B | directory CRC 4B |
//	reserved 4B = 0 | CRC of the 52 bytes before 4B | magic 8B
type footer struct {
	dir              ref
	rows             uint64
	minTime, maxTime int64
	version, dirSum  uint32
	sum              uint32
}

func (f *footer) append(dst []byte) []byte {
	mark := len(dst)
	for _, x := range []uint64{f.dir.off, f.dir.length, f.rows, uint64(f.minTime), uint64(f.maxTime)} {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	dst = binary.LittleEndian.AppendUint32(dst, f.version)
	dst = binary.LittleEndian.AppendUint32(dst, f.dirSum)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	f.sum = crc32.Checksum(dst[mark:], castagnoli)
	dst = binary.LittleEndian.AppendUint32(dst, f.sum)
	return append(dst, partMagic...)
}

// readFooter checks the magic, the version, the checksum, and that the directory has a possible place.
func readFooter(ctx context.Context, file *contents) (f footer, err error) {
	size := file.size()
	if size < uint64(len(partMagic))+footerSize {
		return f, fmt.Errorf("%d bytes do not begin like a part", size)
	}
	head, release, err := file.read(ctx, ref{0, uint64(len(partMagic))})
	if err != nil {
		return f, err
	}
	begins := string(head) == partMagic
	if release(); !begins {
		return f, fmt.Errorf("%d bytes do not begin like a part", size)
	}
	b, release, err := file.read(ctx, ref{size - footerSize, footerSize})
	if err != nil {
		return f, err
	}
	defer release()
	if string(b[56:]) != partMagic {
		return f, fmt.Errorf("does not end like a part: it was cut off")
	}
	f.sum = binary.LittleEndian.Uint32(b[52:])
	if got := crc32.Checksum(b[:52], castagnoli); got != f.sum {
		return f, fmt.Errorf("footer: checksum %08x, want %08x", got, f.sum)
	}
	u := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i*8:]) }
	f.dir = ref{u(0), u(1)}
	f.rows, f.minTime, f.maxTime = u(2), int64(u(3)), int64(u(4))
	f.version, f.dirSum = binary.LittleEndian.Uint32(b[40:]), binary.LittleEndian.Uint32(b[44:])
	if err := vfs.CheckVersion(f.version, oldestVersion, formatVersion); err != nil {
		return f, err
	}
	body := size - footerSize
	if f.dir.off < uint64(len(partMagic)) || f.dir.off > body || f.dir.length != body-f.dir.off || f.rows == 0 ||
		f.rows > maxRows {
		return f, fmt.Errorf("footer names a directory of %d bytes at %d, %d rows, in a file of %d bytes", f.dir.length,
			f.dir.off, f.rows, size)
	}
	return f, nil
}
