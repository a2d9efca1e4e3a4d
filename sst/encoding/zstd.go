package encoding

import (
	"encoding/binary"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"varve/engine/vector"
)

// The coders are shared and safe for concurrent use; building one for every block would cost more than the block.
//
// Level 1: on log text level 3 gains 3 % for half the speed. Literals are entropy coded always: without it the fast
// level stores narrow codes and mixed bytes as they are.
var (
	compressor = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithAllLitEntropyCompression(true),
		zstd.WithWindowSize(4<<20),
		zstd.WithZeroFrames(true)))
	decompressor = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxHeap),
		zstd.WithDecodeAllCapLimit(true)))
)

func must[T any](c T, err error) T {
	if err != nil {
		panic("encoding: zstd options do not fit together: " + err.Error())
	}
	return c
}

// A section is bulk bytes, compressed when that makes them smaller:
//
//	uvarint size*2 + compressed | [uvarint compressed size] | bytes
const (
	// minCompress is the size below which a frame's own head eats the gain.
	minCompress = 64
	// maxRatio bounds the memory that a reader allocates for a compressed section: zstd needs 4 bytes for 128 KiB of
	// one repeated byte.
	maxRatio = 1 << 16
)

// appendSection appends raw, compressed when that saves at least one part in saves.
func appendSection(dst, raw []byte, saves int) []byte {
	if len(raw) >= minCompress {
		mark := len(dst)
		dst = binary.AppendUvarint(dst, uint64(len(raw))<<1|1)
		// Room for the size in front of the frame, as wide as it can be.
		head := len(dst)
		dst = append(dst, make([]byte, binary.MaxVarintLen32)...)
		body := len(dst)
		dst = compressor.EncodeAll(raw, dst)
		if size := len(dst) - body; size+size/saves < len(raw) && len(raw)/size < maxRatio {
			n := binary.PutUvarint(dst[head:], uint64(size))
			copy(dst[head+n:], dst[body:])
			return dst[:head+n+size]
		}
		dst = dst[:mark]
	}
	dst = binary.AppendUvarint(dst, uint64(len(raw))<<1)
	return append(dst, raw...)
}

// AppendBytes appends bytes of any kind as a section of their own, compressed where that pays.
func AppendBytes(dst, raw []byte) []byte { return appendSection(dst, raw, 8) }

// Bytes reads what AppendBytes appended, of at most limit bytes. The result may point into src.
func (d *Decoder) Bytes(src []byte, limit int) ([]byte, error) {
	r := reader{b: src}
	out := r.section(nil, limit)
	r.end()
	return out, r.err
}

// section reads a section of at most limit bytes into scratch or, when it is stored as it is, gives it in place.
func (r *reader) section(scratch []byte, limit int) []byte {
	head := r.uvarint()
	size := head >> 1
	if size > uint64(limit) {
		r.fail("section of %d bytes, at most %d", size, limit)
		return nil
	}
	if r.inPlace = head&1 == 0; r.inPlace {
		return r.take(int(size))
	}
	frame := r.take(r.count(len(r.b), "compressed bytes"))
	if r.err != nil {
		return nil
	}
	if uint64(len(frame))*maxRatio < size {
		r.fail("section of %d bytes out of %d", size, len(frame))
		return nil
	}
	scratch = vector.Sized(scratch, int(size))
	out, err := decompressor.DecodeAll(frame, scratch[:0:size])
	if err != nil || uint64(len(out)) != size {
		r.fail("section of %d bytes: %d came out (%v)", size, len(out), err)
		return nil
	}
	return out
}
