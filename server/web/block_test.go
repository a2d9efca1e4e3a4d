package web

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"varve/engine/status"
)

// TestBlock: a snappy block or a zstd frame, whichever header it comes with.
func TestBlock(t *testing.T) {
	text := []byte(strings.Repeat("cpu_seconds_total", 50_000))
	noise := make([]byte, 300<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for _, plain := range [][]byte{text, noise, []byte("x"), {}} {
		for name, packed := range map[string][]byte{"snappy": s2.EncodeSnappy(nil, plain),
			"zstd": encode(t, "zstd", plain)} {
			for _, header := range []string{"", "snappy", "zstd"} {
				c := bodyOf(header, packed, 1<<20)
				out, err := c.Block(header, "request")
				if err != nil || !bytes.Equal(out, plain) {
					t.Errorf("%d bytes as %s with header %q: %d bytes, %v", len(plain), name, header, len(out), err)
				}
				c.end()
			}
		}
	}
}

// TestBlockRefused: bombs, lies and rubbish.
func TestBlockRefused(t *testing.T) {
	zeros := make([]byte, 10<<20)
	whole := s2.EncodeSnappy(nil, []byte("some text that does not repeat"))
	for _, c := range []struct {
		name   string
		packed []byte
		limit  int64
		why    string
	}{
		{"snappy bomb", s2.EncodeSnappy(nil, zeros), 1 << 20, "length limit exceeded"},
		{"zstd bomb", encode(t, "zstd", zeros), 1 << 20, "length limit exceeded"},
		{"packed too large", s2.EncodeSnappy(nil, zeros), 100, "length limit exceeded"},
		{"a length that lies", append(binary.AppendUvarint(nil, 1<<30), whole[1:]...), 1 << 30,
			"claim to hold 1073741824"},
		{"a length of 5 bytes", binary.AppendUvarint(nil, 1<<40), 1 << 30, "Failed to decompress snappy request: "},
		{"cut off", whole[:len(whole)/2], 1 << 20, "Failed to decompress snappy request: "},
		{"rubbish", []byte("{\"a\":1}"), 1 << 20, "Failed to decompress snappy request: "},
		{"nothing", nil, 1 << 20, "Failed to decompress snappy request: "},
	} {
		ctx := bodyOf("", c.packed, c.limit)
		out, err := ctx.Block("", "request")
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %d bytes, %v, want %q", c.name, len(out), err, c.why)
		}
		if reject := (*Reject)(nil); !errors.As(err, &reject) && status.Of(err) != status.InvalidArguments {
			t.Errorf("%s: %v is no fault of the client", c.name, err)
		}
		ctx.end()
	}
}

func FuzzBlock(f *testing.F) {
	f.Add(s2.EncodeSnappy(nil, []byte("text text text text text text")))
	f.Add(encode(f, "zstd", []byte("text text text text text text")))
	f.Fuzz(func(t *testing.T, packed []byte) {
		const limit = 64 << 10
		c := bodyOf("", packed, limit)
		defer c.end()
		if out, err := c.Block("", "request"); err == nil && len(out) > blockFactor*limit+intakeStep {
			t.Errorf("%d bytes of %d", len(out), len(packed))
		}
	})
}
