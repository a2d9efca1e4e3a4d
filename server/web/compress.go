package web

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// CompressAbove is the size of an answer above which it is compressed when the client takes that.
const CompressAbove = 4 << 10

// encoder is a compressing writer that can be used again.
type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
	Flush() error
}

// encoderBytes is about the most memory of an encoder of a streamed answer: 0.9 MiB with zstd, 1.3 MiB with brotli. A
// window of 1 MiB for zstd would take 2.8 MiB and make answers no smaller.
const encoderBytes = 5 << 18

// encoders are the compressions of answers. Of those that a client accepts equally, the first is used.
var encoders = []struct {
	name string
	pool sync.Pool
}{
	{"zstd", sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("the options of the zstd encoder are wrong: " + err.Error())
		}
		return e
	}}},
	{"gzip", sync.Pool{New: func() any { w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed); return w }}},
	{"br", sync.Pool{New: func() any { return brotli.NewWriterLevel(nil, 2) }}},
	{"deflate", sync.Pool{New: func() any { w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed); return w }}},
}

// acceptedEncoding is the compression that the client prefers; empty: none.
func (c *Ctx) acceptedEncoding() string {
	best, quality := "", 0.0
	header := c.HeaderText("Accept-Encoding")
	if header == "" {
		return ""
	}
	for i := range encoders {
		if q := acceptQuality(header, encoders[i].name); q > quality {
			best, quality = encoders[i].name, q
		}
	}
	return best
}

// acceptQuality is the q of a coding in an Accept-Encoding header, 0 when it is not accepted.
func acceptQuality(header, coding string) float64 {
	found := 0.0
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != coding && name != "*" {
			continue
		}
		q := 1.0
		if v, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			parsed, err := strconv.ParseFloat(v, 64)
			if err != nil {
				continue
			}
			q = parsed
		}
		if name == coding {
			return q
		}
		found = q
	}
	return found
}

// Compress compresses the finished answer when it is large, is text, and the client takes it.
func (c *Ctx) Compress() {
	r := &c.Response
	if r.IsBodyStream() || c.IsHead() || len(r.Body()) < CompressAbove || len(r.Header.Peek("Content-Encoding")) > 0 {
		return
	}
	r.Header.Add("Vary", "Accept-Encoding")
	name := c.acceptedEncoding()
	if name == "" {
		return
	}
	var out bytes.Buffer
	out.Grow(len(r.Body()) / 4)
	give, enc := borrowEncoder(name, &out)
	_, err := enc.Write(r.Body())
	if e := enc.Close(); err == nil {
		err = e
	}
	give()
	if err != nil {
		return // a buffer does not fail; the answer then goes out as it is
	}
	r.Header.Set("Content-Encoding", name)
	r.SetBodyRaw(out.Bytes())
}

func borrowEncoder(name string, w io.Writer) (giveBack func(), enc encoder) {
	for i := range encoders {
		if encoders[i].name == name {
			pool := &encoders[i].pool
			enc = pool.Get().(encoder)
			enc.Reset(w)
			return func() { enc.Reset(nil); pool.Put(enc) }, enc
		}
	}
	panic("web: no compression is called " + name)
}

// compressStream compresses a streamed answer as it is read.
func (c *Ctx) compressStream(name string, from io.Reader) io.Reader {
	c.Response.Header.Set("Content-Encoding", name)
	c.Response.Header.Add("Vary", "Accept-Encoding")
	s := &compressedStream{from: from, in: make([]byte, PieceBytes)}
	giveBack, enc := borrowEncoder(name, &s.out)
	s.enc = enc
	c.Finally(giveBack)
	return s
}

// compressedStream is a reader of what enc makes of from.
type compressedStream struct {
	from io.Reader
	enc  encoder
	in   []byte
	out  bytes.Buffer
	err  error
}

func (s *compressedStream) Read(p []byte) (int, error) {
	for s.out.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		n, err := s.from.Read(s.in)
		if _, werr := s.enc.Write(s.in[:n]); werr != nil {
			err = werr
		}
		if err == io.EOF {
			if cerr := s.enc.Close(); cerr != nil {
				err = cerr
			}
		}
		s.err = err
	}
	return s.out.Read(p)
}
