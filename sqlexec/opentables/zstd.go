package opentables

import (
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// fastZstd compresses the pages of files: by the fastest level, and texts without repetitions by the frequency of their
// bytes, which the level by itself leaves as they are. Trace ids in hexadecimal shrink to half by it, at a third of the
// time of the next level.
type fastZstd struct{}

// encoder is shared by all files: EncodeAll keeps nothing of its callers.
var encoder = newEncoder()

func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithAllLitEntropyCompression(true),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("opentables: the options of the compressor contradict each other: " + err.Error())
	}
	return e
}

// String is the name of the codec.
func (fastZstd) String() string { return "ZSTD" }

// CompressionCodec is the codec in the footer of files.
func (fastZstd) CompressionCodec() format.CompressionCodec { return format.Zstd }

// Encode compresses a page.
func (fastZstd) Encode(dst, src []byte) ([]byte, error) { return encoder.EncodeAll(src, dst[:0]), nil }

// Decode decompresses a page. The writer calls it for no page; the interface of codecs has it.
func (fastZstd) Decode(dst, src []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(src, dst[:0])
}
