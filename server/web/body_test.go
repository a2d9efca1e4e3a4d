package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/valyala/fasthttp"
)

// bodyOf is a request with a body in memory.
func bodyOf(encoding string, body []byte, limit int64) *Ctx {
	rc := &fasthttp.RequestCtx{}
	rc.Request.Header.Set("Content-Encoding", encoding)
	rc.Request.SetBodyRaw(body)
	c := NewCtx(rc, context.Background(), 0)
	c.BodyLimit = limit
	return c
}

func encode(t testing.TB, encoding string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare":
		w, err = flate.NewWriter(&b, 1)
	default:
		return text
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBodyEncodings(t *testing.T) {
	text := []byte(strings.Repeat("some text that repeats. ", 10_000))
	for _, c := range []struct{ header, encoding string }{
		{"", ""}, {"identity", ""}, {"gzip", "gzip"}, {"GZIP", "gzip"}, {"zstd", "zstd"}, {"br", "br"},
		{"deflate", "deflate"}, {"deflate", "bare"},
	} {
		t.Run(c.header+" "+c.encoding, func(t *testing.T) {
			for range 2 { // the second time with a decoder of the pool
				ctx := bodyOf(c.header, encode(t, c.encoding, text), int64(len(text)))
				got, err := ctx.ReadBody()
				if err != nil || !bytes.Equal(got, text) {
					t.Fatalf("%d bytes, %v", len(got), err)
				}
				if ctx.BodyBytes() != int64(len(text)) {
					t.Errorf("%d bytes counted", ctx.BodyBytes())
				}
				ctx.Done()
				ctx = bodyOf(c.header, encode(t, c.encoding, text), int64(len(text))-1)
				if _, err := ctx.ReadBody(); !errors.Is(err, TooLarge) {
					t.Errorf("over the limit: %v", err)
				}
				ctx.Done()
			}
		})
	}
}

func TestBodiesThatAreNotWhatTheirHeaderSays(t *testing.T) {
	text := []byte(strings.Repeat("some text that repeats. ", 100))
	for _, c := range []struct{ header, encoding, want string }{
		{"", "gzip", "send Content-Encoding: gzip"},
		{"identity", "zstd", "send Content-Encoding: zstd"},
		{"snappy", "", "is not supported"},
		{"gzip, gzip", "", "is not supported"},
		{"compress", "gzip", "is not supported"},
	} {
		for _, piece := range []int{1, 3, 4096} { // however the first bytes come
			ctx := bodyOf(c.header, encode(t, c.encoding, text), 1<<20)
			got, err := io.ReadAll(pieces{ctx.Body(), piece})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(got) > 3 {
				t.Errorf("%q body under Content-Encoding %q: %d bytes, %v", c.encoding, c.header, len(got), err)
			}
			var reject *Reject
			if unknown := strings.Contains(c.want, "supported"); errors.As(err, &reject) != unknown ||
				unknown && reject.Status != 415 {
				t.Errorf("Content-Encoding %q: %#v", c.header, err)
			}
			ctx.Done()
		}
	}
}

// TestBodiesThatAreCut: a body that was cut before it was sent is said to end in the middle of its encoding.
func TestBodiesThatAreCut(t *testing.T) {
	text := []byte(strings.Repeat("some text that repeats. ", 100))
	for _, encoding := range []string{"gzip", "zstd", "br", "deflate"} {
		whole := encode(t, encoding, text)
		for _, n := range []int{len(whole) / 2, len(whole) - 1} {
			ctx := bodyOf(encoding, whole[:n], 1<<20)
			if _, err := ctx.ReadBody(); err == nil ||
				!strings.Contains(err.Error(), "the body ends in the middle of "+encoding) {
				t.Errorf("%d of %d bytes of %s: %v", n, len(whole), encoding, err)
			}
			ctx.Done()
		}
	}
}

// pieces reads a few bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// FuzzBody reads any bytes in every encoding: text within the limit or an error, and memory within bounds.
func FuzzBody(f *testing.F) {
	encodings := []string{"gzip", "zstd", "br", "deflate", ""}
	for i, e := range encodings {
		f.Add(uint8(i), encode(f, e, []byte("hello, hello, hello")))
	}
	f.Add(uint8(1), []byte("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		const limit = 1 << 16
		c := bodyOf(encodings[int(which)%len(encodings)], body, limit)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := c.ReadBody()
		runtime.ReadMemStats(&after)
		c.Done()
		if len(got) > limit || err == nil && c.BodyBytes() != int64(len(got)) {
			t.Fatalf("%d bytes, %d counted, %v", len(got), c.BodyBytes(), err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 4*maxWindow {
			t.Fatalf("%d bytes allocated for %d", used, len(body))
		}
	})
}
