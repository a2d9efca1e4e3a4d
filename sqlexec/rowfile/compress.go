package rowfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	bzip2writer "github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Compression is how a file is packed. Text files are packed as a whole, Parquet packs its pages.
type Compression uint8

// The compressions. Auto is None for a text file that is written and Zstd for Parquet; it looks at a text file that is
// read. Snappy and Brotli are only for Parquet.
const (
	Auto Compression = iota
	None
	Gzip
	Zstd
	Bzip2
	XZ
	Snappy
	Brotli
)

// ParseCompression reads the name of a compression, in any case.
func ParseCompression(name string) (Compression, bool) {
	switch strings.ToLower(name) {
	case "auto":
		return Auto, true
	case "none", "uncompressed":
		return None, true
	case "gzip", "gz":
		return Gzip, true
	case "zstd", "zst":
		return Zstd, true
	case "bzip2", "bz2":
		return Bzip2, true
	case "xz":
		return XZ, true
	case "snappy":
		return Snappy, true
	case "brotli":
		return Brotli, true
	}
	return 0, false
}

// Ext is the ending that COPY DATABASE gives the names of text files.
func (c Compression) Ext() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	case Bzip2:
		return ".bz2"
	case XZ:
		return ".xz"
	}
	return ""
}

// zstdWindow bounds the window that a frame requires, xzDictionary the dictionary of a block of xz. A reader of xz
// needs at least xzLeast. bzip2Bytes is the memory of a reader of bzip2.
const (
	zstdWindow   = 64 << 20
	xzDictionary = 64 << 20
	xzLeast      = 8 << 20
	bzip2Bytes   = 5 << 20
)

// writtenWindow is the window of the zstd files that are written. An encoder holds more memory than its window, which
// would be 8 MiB by default.
const writtenWindow = 1 << 20

// compressor packs what is written; Close ends the stream and leaves w open.
func compressor(w io.Writer, c Compression) (io.WriteCloser, error) {
	switch c {
	case Auto, None:
		return nopCloser{w}, nil
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(writtenWindow),
			zstd.WithLowerEncoderMem(true))
	case Bzip2:
		return bzip2writer.NewWriter(w, nil)
	case XZ:
		return xz.NewWriter(w)
	}
	return nil, errors.New("text files are written with gzip, zstd, bzip2, xz or no compression")
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// decompressor decompresses r. hold is called with the memory that it is about to use. Its Close releases the memory.
func decompressor(r io.Reader, c Compression, hold func(bytes int64) error) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if c == Auto {
		head, err := b.Peek(6)
		if err != nil && err != io.EOF {
			return nil, err
		}
		c = sniff(head)
	}
	switch c {
	case None:
		return io.NopCloser(b), nil
	case Gzip:
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return z, nil
	case Bzip2:
		return io.NopCloser(bzip2.NewReader(b)), hold(bzip2Bytes)
	case Zstd:
		z, err := zstd.NewReader(zstdWindows(b, hold), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return z.IOReadCloser(), nil
	case XZ:
		z, err := xz.NewReader(xzWindows(b, hold))
		if err != nil {
			return nil, fmt.Errorf("xz: %w", err)
		}
		return io.NopCloser(z), nil
	}
	return nil, errors.New("text files are read with gzip, zstd, bzip2, xz or no compression")
}

// sniff knows compressions by their first bytes.
func sniff(head []byte) Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	case bytes.HasPrefix(head, []byte("BZh")):
		return Bzip2
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return XZ
	}
	return None
}

// closing closes c because of err.
func closing(c io.Closer, err error) error { return errors.Join(err, c.Close()) }

// longRecord is the size, in bytes, from which on a record counts as memory.
const longRecord = 1 << 20

// lineReader reads the lines of a text, the line feed included.
type lineReader struct {
	b    *bufio.Reader
	from io.Closer
	hold func(bytes int64) error // is told of long records before they are read
	line int64                   // lines given so far
}

func newLineReader(r io.ReadCloser, hold func(bytes int64) error) *lineReader {
	l := &lineReader{b: bufio.NewReaderSize(r, 256<<10), from: r, hold: hold}
	if head, err := l.b.Peek(3); err == nil && string(head) == "\xef\xbb\xbf" {
		l.b.Discard(3) //nolint:errcheck // three bytes were just seen
	}
	return l
}

// append appends the next line to dst, which may become MaxRecord long. io.EOF after the last.
func (l *lineReader) append(dst []byte) ([]byte, error) {
	from := len(dst)
	for {
		part, err := l.b.ReadSlice('\n')
		if n := len(dst) + len(part); n > longRecord && n > cap(dst) {
			if err := l.hold(4 * int64(n)); err != nil { // it grows by up to its double, and its values are copied
				return dst, err
			}
		}
		dst = append(dst, part...)
		switch {
		case len(dst) > MaxRecord:
			return dst, fmt.Errorf("line %d: a record is at most %d bytes", l.line+1, MaxRecord)
		case err == nil, err == io.EOF && len(dst) > from:
			l.line++
			return dst, nil
		case err != bufio.ErrBufferFull:
			return dst, err
		}
	}
}
