package parts

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"sort"

	"varve/engine/vfs"
	"varve/sst"
)

// A stub is what stays in the directory of a cold part: all of the part but the pages of its columns.
//
//	+--------------------------------------------------------------------------+
//	| magic "VARVCLD1" 8B | version 4B | length of the head 4B                  |
//	| head: size of the part 8B | CRC-32C of the part 4B                        |
//	|       length of the object's name 2B | name                               |
//	|       ranges 4B | per range: offset in the part 8B, length 8B             |
//	| CRC-32C of everything before, 4B                                          |
//	| the bytes of the ranges, back to back                                     |
//	+--------------------------------------------------------------------------+
//
// Integers are little endian. Ranges rise and do not touch. Their bytes are sections of the part, which have checksums
// of their own. docs/format/stub.md draws it.
const (
	stubMagic   = "VARVCLD1"
	stubVersion = 1
	stubStart   = 16
	// maxStubHead bounds the head that a reader takes: a part has a range for each 16 MiB, about.
	maxStubHead = 16 << 20
	maxObject   = 1 << 10 // bytes of an object's name
)

// Stub says where the bytes of a cold part are.
type Stub struct {
	Object   string // that holds the whole part
	Checksum uint32 // CRC-32C of the whole part
	Size     int64  // of the whole part, in bytes
	Length   int64  // of the stub, in bytes

	kept []sst.Extent // ranges of the part that are in the stub
	at   []int64      // where each begins in the stub
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the stub as far as the bytes of the ranges.
func (s *Stub) encode() []byte {
	b := append([]byte(stubMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[8:], stubVersion)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Size))
	b = binary.LittleEndian.AppendUint32(b, s.Checksum)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s.Object)))
	b = append(b, s.Object...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.kept)))
	for _, e := range s.kept {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.Off))
		b = binary.LittleEndian.AppendUint64(b, uint64(e.Length))
	}
	binary.LittleEndian.PutUint32(b[12:], uint32(len(b)-stubStart))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// damagedStub is an error that wraps sst.ErrCorrupt.
func damagedStub(format string, args ...any) error {
	return fmt.Errorf("%w: %s", sst.ErrCorrupt, fmt.Sprintf(format, args...))
}

// readStub reads the head of a stub of so many bytes.
func readStub(r io.ReaderAt, length int64) (*Stub, error) {
	var start [stubStart]byte
	if length < stubStart {
		return nil, damagedStub("%d bytes do not begin like the stub of a cold part", length)
	}
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	if string(start[:8]) != stubMagic {
		return nil, damagedStub("magic %q is not %q", start[:8], stubMagic)
	}
	n := int64(binary.LittleEndian.Uint32(start[12:]))
	if n > maxStubHead || n > length-stubStart-4 {
		return nil, damagedStub("a head of %d bytes in a stub of %d bytes", n, length)
	}
	b := make([]byte, stubStart+n+4)
	if _, err := r.ReadAt(b, 0); err != nil {
		return nil, err
	}
	head, sum := b[:stubStart+n], binary.LittleEndian.Uint32(b[stubStart+n:])
	if got := crc32.Checksum(head, castagnoli); got != sum {
		return nil, damagedStub("stub: checksum %08x, want %08x", got, sum)
	}
	if err := vfs.CheckVersion(binary.LittleEndian.Uint32(head[8:]), stubVersion, stubVersion); err != nil {
		return nil, err
	}
	return decodeStub(head[stubStart:], int64(len(b)), length)
}

// decodeStub reads the members of a head whose checksum is right. The bytes of the ranges begin at from.
func decodeStub(b []byte, from, length int64) (*Stub, error) {
	if len(b) < 14 {
		return nil, damagedStub("a head of %d bytes", len(b))
	}
	s := &Stub{Size: int64(binary.LittleEndian.Uint64(b)), Checksum: binary.LittleEndian.Uint32(b[8:]), Length: length}
	if s.Size <= 0 {
		return nil, damagedStub("a part of %d bytes", s.Size)
	}
	name := int(binary.LittleEndian.Uint16(b[12:]))
	if b = b[14:]; name == 0 || name > maxObject || len(b) < name+4 {
		return nil, damagedStub("an object's name of %d bytes", name)
	}
	s.Object = string(b[:name])
	count := int(binary.LittleEndian.Uint32(b[name:]))
	if b = b[name+4:]; len(b) != 16*count {
		return nil, damagedStub("%d ranges in %d bytes", count, len(b))
	}
	end := int64(-1)
	for ; len(b) > 0; b = b[16:] {
		e := sst.Extent{Off: int64(binary.LittleEndian.Uint64(b)), Length: int64(binary.LittleEndian.Uint64(b[8:]))}
		if e.Off <= end || e.Length <= 0 || e.Length > s.Size || e.Off > s.Size-e.Length {
			return nil, damagedStub("range of %d bytes at %d of a part of %d bytes", e.Length, e.Off, s.Size)
		}
		s.kept, s.at = append(s.kept, e), append(s.at, from)
		from, end = from+e.Length, e.End()
	}
	if from != length {
		return nil, damagedStub("the stub has %d bytes, want %d", length, from)
	}
	return s, nil
}

// find returns where a range of the part lies in the stub; false: it does not, or not as a whole.
func (s *Stub) find(off, n int64) (at int64, ok bool) {
	i := sort.Search(len(s.kept), func(i int) bool { return s.kept[i].Off > off }) - 1
	if i < 0 || n > s.kept[i].End()-off {
		return 0, false
	}
	return s.at[i] + off - s.kept[i].Off, true
}

// place is the offset in the part of a byte of the stub; that of the stub itself for its head.
func (s *Stub) place(at int64) int64 {
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] > at }) - 1
	if i < 0 {
		return at
	}
	return s.kept[i].Off + at - s.at[i]
}

// complement returns the ranges of a file of size bytes that are in none of some ranges, which rise.
func complement(of []sst.Extent, size int64) (rest []sst.Extent) {
	from := int64(0)
	for _, e := range of {
		if e.Off > from {
			rest = append(rest, sst.Extent{Off: from, Length: e.Off - from})
		}
		from = e.End()
	}
	if from < size {
		rest = append(rest, sst.Extent{Off: from, Length: size - from})
	}
	return rest
}
