package rowfile

import (
	"errors"
	"fmt"
	"io"
)

// windows passes a packed stream on to the library that unpacks it. Before the library sees a header that makes it
// allocate a window, hold has been called with the size of the window. windows follows zstd frames (RFC 8878) and xz
// blocks (the .xz file format, 1.2.0) from header to header. A stream that it cannot follow is an error, so that
// nothing is unpacked that was not counted.
type windows struct {
	r    io.Reader
	hold func(bytes int64) error

	head []byte // read of the next header
	want int    // its length
	step func(head []byte) error
	skip int64 // bytes before it

	refused error

	hasChecksum bool  // zstd: of the frame
	isSingle    bool  // zstd: the frame is its window
	sizeBytes   int   // zstd: of the frame's size
	check       int64 // xz: bytes behind a block
	packed      int64 // xz: bytes of the block, or of the index
	records     uint64
	fields      uint64 // xz: left of the index
	shift       uint
}

// unpackBytes is the approximate memory of a decompressor without its window.
const unpackBytes = 1 << 20

func zstdWindows(r io.Reader, hold func(int64) error) io.Reader {
	w := &windows{r: r, hold: hold}
	w.next(4, w.zstdMagic)
	return w
}

func xzWindows(r io.Reader, hold func(int64) error) io.Reader {
	w := &windows{r: r, hold: hold}
	w.next(4, w.xzBegin)
	return w
}

// Read reads as far as the headers of the data are within the bounds. Once it has refused a header it always does,
// because a reader may call it again.
func (w *windows) Read(p []byte) (int, error) {
	if w.refused != nil {
		return 0, w.refused
	}
	n, err := w.r.Read(p)
	if w.refused = w.follow(p[:n]); w.refused != nil {
		return 0, w.refused
	}
	return n, err
}

// next sets the length of the next header, which follows the bytes to skip, and the function that checks it.
func (w *windows) next(want int, step func([]byte) error) {
	w.head, w.want, w.step = w.head[:0], want, step
}

func (w *windows) follow(p []byte) error {
	for len(p) > 0 {
		if w.skip > 0 {
			n := min(w.skip, int64(len(p)))
			w.skip, p = w.skip-n, p[n:]
			continue
		}
		n := min(w.want-len(w.head), len(p))
		w.head, p = append(w.head, p[:n]...), p[n:]
		if len(w.head) == w.want {
			if err := w.step(w.head); err != nil {
				return err
			}
		}
	}
	return nil
}

func little(b []byte) (x uint64) {
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}

func (w *windows) zstdMagic(head []byte) error {
	switch magic := little(head); {
	case magic == 0xFD2FB528:
		w.next(1, w.zstdDescriptor)
	case magic&^15 == 0x184D2A50: // to be skipped
		w.next(4, func(head []byte) error {
			w.skip = int64(little(head))
			w.next(4, w.zstdMagic)
			return nil
		})
	default:
		return errors.New("zstd: no frame begins where one should")
	}
	return nil
}

func (w *windows) zstdDescriptor(head []byte) error {
	d := head[0]
	w.isSingle, w.hasChecksum, w.sizeBytes = d&0x20 != 0, d&4 != 0, [...]int{0, 2, 4, 8}[d>>6]
	rest := [...]int{0, 1, 2, 4}[d&3] // of a dictionary's number
	if !w.isSingle {
		rest++
	} else if w.sizeBytes == 0 {
		w.sizeBytes = 1
	}
	w.next(rest+w.sizeBytes, w.zstdHeader)
	return nil
}

func (w *windows) zstdHeader(head []byte) error {
	var window uint64
	if w.isSingle {
		window = little(head[len(head)-w.sizeBytes:])
		if w.sizeBytes == 2 {
			window += 256
		}
	} else {
		base := uint64(1) << (10 + head[0]>>3)
		window = base + base/8*uint64(head[0]&7)
	}
	if window > zstdWindow {
		return fmt.Errorf("zstd: a window of %d bytes is larger than %d", window, zstdWindow)
	}
	w.next(3, w.zstdBlock)
	// two windows: one is filled while the other is looked back at
	return w.hold(2*int64(window) + unpackBytes)
}

func (w *windows) zstdBlock(head []byte) error {
	b := little(head)
	switch b >> 1 & 3 {
	case 1: // one byte, repeated
		w.skip = 1
	case 3:
		return errors.New("zstd: a block of an unknown type")
	default:
		w.skip = int64(b >> 3)
	}
	if b&1 == 0 {
		w.next(3, w.zstdBlock)
		return nil
	}
	if w.hasChecksum {
		w.skip += 4
	}
	w.next(4, w.zstdMagic)
	return nil
}

// xzBegin is at a stream, or at the zeros that may stand between two.
func (w *windows) xzBegin(head []byte) error {
	if little(head) == 0 {
		w.next(4, w.xzBegin)
		return nil
	}
	if string(head) != "\xfd7zX" {
		return errors.New("xz: no stream begins where one should")
	}
	w.next(8, func(head []byte) error {
		w.check = [...]int64{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[head[3]&15]
		w.next(1, w.xzBlock)
		return nil
	})
	return nil
}

// xzBlock is at a block, or at the index behind the last.
func (w *windows) xzBlock(head []byte) error {
	if head[0] == 0 {
		w.packed, w.records, w.shift = 1, 0, 0
		w.next(1, w.xzRecords)
		return nil
	}
	w.next(int(head[0])*4+3, w.xzHeader)
	return nil
}

// xzHeader has flags, up to two sizes of 7 bits a byte, and the filter: 0x21, the length 1 and the size of the
// dictionary, whose lowest bit is half of a power of two.
func (w *windows) xzHeader(head []byte) error {
	flags, rest := head[0], head[1:]
	for _, given := range []byte{0x40, 0x80} {
		for flags&given != 0 && len(rest) > 0 {
			last := rest[0] < 0x80
			if rest = rest[1:]; last {
				break
			}
		}
	}
	if flags&3 != 0 || len(rest) < 3 || rest[0] != 0x21 || rest[1] != 1 || rest[2] > 40 {
		return errors.New("xz: a block with another filter than LZMA2")
	}
	dictionary := (2 | uint64(rest[2]&1)) << (rest[2]/2 + 11)
	if dictionary > xzDictionary {
		return fmt.Errorf("xz: a dictionary of %d bytes is larger than %d", dictionary, xzDictionary)
	}
	w.packed = 0
	w.next(1, w.xzChunk)
	return w.hold(max(int64(dictionary), xzLeast) + unpackBytes)
}

func (w *windows) xzChunk(head []byte) error {
	w.packed++
	control := head[0]
	switch {
	case control == 0:
		w.skip = -w.packed&3 + w.check
		w.next(1, w.xzBlock)
	case control <= 2: // as it is
		w.next(2, func(head []byte) error { return w.xzData(2, int64(head[0])<<8+int64(head[1])+1) })
	case control < 0x80:
		return errors.New("xz: a chunk of an unknown type")
	default:
		w.next(4, func(head []byte) error {
			n := int64(head[2])<<8 + int64(head[3]) + 1
			if control >= 0xc0 {
				n++ // properties
			}
			return w.xzData(4, n)
		})
	}
	return nil
}

// xzData passes over the bytes of a chunk, behind so many of its header.
func (w *windows) xzData(header, bytes int64) error {
	w.packed += header + bytes
	w.skip = bytes
	w.next(1, w.xzChunk)
	return nil
}

// xzRecords reads the number of records of the index, xzRecord the numbers in them, byte by byte.
func (w *windows) xzRecords(head []byte) error {
	w.packed++
	if w.shift < 63 {
		w.records |= uint64(head[0]&0x7f) << w.shift
	}
	if w.shift += 7; head[0] >= 0x80 {
		w.next(1, w.xzRecords)
		return nil
	}
	w.fields = 2 * w.records
	return w.xzIndex()
}

func (w *windows) xzRecord(head []byte) error {
	if w.packed++; head[0] < 0x80 {
		w.fields--
	}
	return w.xzIndex()
}

// xzIndex goes on with the index, or passes over its end, its checksum and the footer.
func (w *windows) xzIndex() error {
	if w.fields > 0 {
		w.next(1, w.xzRecord)
		return nil
	}
	w.skip = -w.packed&3 + 4 + 12
	w.next(4, w.xzBegin)
	return nil
}
