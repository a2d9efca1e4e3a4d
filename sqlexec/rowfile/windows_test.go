package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// zstdFrame is a frame with a window; its size is in its header where that is known at once.
func zstdFrame(t testing.TB, text []byte, window int, atOnce bool) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(len(text)%2 == 0))
	if err != nil {
		t.Fatal(err)
	}
	if atOnce {
		return z.EncodeAll(text, nil)
	}
	for half := range slices.Chunk(text, max(1, len(text)/2)) {
		if _, err := z.Write(half); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// xzStream is a stream of blocks with a dictionary.
func xzStream(t testing.TB, text []byte, dictionary int, block int64, check byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := xz.WriterConfig{DictCap: dictionary, BlockSize: block, CheckSum: check}.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestWindows: every frame and every block is followed to its end, in pieces of any size, and what its window takes is
// told.
func TestWindows(t *testing.T) {
	var text []byte
	for i := range 40_000 {
		text = fmt.Appendf(text, "%d,%d\n", i, i*i)
	}
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(i*i>>7 ^ i*2654435761>>13)
	}
	const skipped = "\x5a\x2a\x4d\x18\x05\x00\x00\x00abcde"
	zeros := make([]byte, 1<<20)
	for _, c := range []struct {
		name   string
		c      Compression
		packed [][]byte
		text   []byte
		least  int64 // of what is held
	}{
		{"a frame", Zstd, [][]byte{zstdFrame(t, text, 1<<20, false)}, text, 2 << 20},
		{"a frame that is its window", Zstd, [][]byte{zstdFrame(t, text[:1000], 8<<20, true)}, text[:1000], 2000},
		{"frames", Zstd, [][]byte{zstdFrame(t, text[:300], 1<<10, true), []byte(skipped),
			zstdFrame(t, text, 16<<20, false), zstdFrame(t, nil, 1<<20, false),
			zstdFrame(t, noise, 1<<20, false)}, slices.Concat(text[:300], text, noise), 32 << 20},
		{"a frame of one byte", Zstd, [][]byte{zstdFrame(t, zeros, 1<<20, false)}, zeros, 2 << 20},
		{"a stream", XZ, [][]byte{xzStream(t, text, 1<<20, 1<<40, xz.CRC64)}, text, 8 << 20},
		{"streams", XZ, [][]byte{xzStream(t, text[:99], 1<<16, 1<<40, xz.CRC32), make([]byte, 8),
			xzStream(t, text, 32<<20, 100_000, xz.SHA256), xzStream(t, noise, 1<<20, 50_000, xz.None),
			xzStream(t, nil, 1<<20, 1<<40, xz.CRC64)}, slices.Concat(text[:99], text, noise), 32 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			packed := slices.Concat(c.packed...)
			for _, r := range []io.Reader{bytes.NewReader(packed), iotest.OneByteReader(bytes.NewReader(packed)),
				iotest.DataErrReader(bytes.NewReader(packed))} {
				held := int64(0)
				z, err := decompressor(r, c.c, func(bytes int64) error { held = max(held, bytes); return nil })
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(z)
				if err != nil || !bytes.Equal(got, c.text) {
					t.Fatalf("%d of %d bytes, %v", len(got), len(c.text), err)
				}
				if held < c.least || held > c.least+8<<20 {
					t.Errorf("%d bytes are held, want about %d", held, c.least)
				}
			}
			full := errors.New("full")
			z, err := decompressor(bytes.NewReader(packed), c.c, func(bytes int64) error {
				if bytes >= c.least {
					return full
				}
				return nil
			})
			if err == nil {
				_, err = io.ReadAll(z)
			}
			if !errors.Is(err, full) {
				t.Errorf("without memory: %v", err)
			}
		})
	}
}

// TestWindowsAreBounded: a frame or a block that asks for too much is refused, the first or a later one.
func TestWindowsAreBounded(t *testing.T) {
	header := string(xzStream(t, nil, 1<<20, 1<<40, xz.CRC64)[:12])
	for name, packed := range map[string]string{
		"zstd":           "\x28\xb5\x2f\xfd\x00\xa0 and what follows",
		"zstd of a size": "\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x10 and what follows",
		"zstd, later": string(zstdFrame(t, []byte("a,b\n"), 1<<20, true)) +
			"\x28\xb5\x2f\xfd\x00\xa0 and what follows",
		"xz":         header + "\x03\x40\x7f\x21\x01\x28 and what follows, to its end",
		"xz, 96 MiB": header + "\x02\x00\x21\x01\x1d and what follows",
		"xz, later": string(xzStream(t, []byte("a,b\n"), 1<<20, 1<<40, xz.CRC64)) + header +
			"\x02\x00\x21\x01\x28 and what follows",
	} {
		if _, err := readAll([]byte(packed), CSV, sampleNames); err == nil ||
			!strings.Contains(err.Error(), "is larger than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzWindows: whatever stands in a file, following it ends with an error or with the file.
func FuzzWindows(f *testing.F) {
	f.Add(zstdFrame(f, []byte("a,b\n1,2\n"), 1<<10, false), true)
	f.Add(xzStream(f, []byte("a,b\n1,2\n"), 1<<16, 4, xz.CRC32), false)
	f.Fuzz(func(t *testing.T, packed []byte, isZstd bool) {
		begin := xzWindows
		if isZstd {
			begin = zstdWindows
		}
		hold := func(bytes int64) error {
			if bytes < 0 || bytes > 2*zstdWindow+unpackBytes {
				t.Errorf("%d bytes are held", bytes)
			}
			return nil
		}
		io.Copy(io.Discard, begin(bytes.NewReader(packed), hold)) //nolint:errcheck // any is well
	})
}
