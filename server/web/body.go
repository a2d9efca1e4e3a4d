package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"varve/engine/status"
)

// BodyProgress is how long a body may stand still before the request fails with 408.
const BodyProgress = 30 * time.Second

// maxWindow bounds the memory that a compressed body may ask of its decoder, whatever its header claims. Ordinary
// levels of zstd use 8 MiB and less; brotli's largest standard window is 16 MiB.
const maxWindow = 16 << 20

// bodyReader reads a request's body: the raw bytes in time and whole, then Content-Encoding undone, then counted.
type bodyReader struct {
	raw      rawBody
	from     io.Reader // raw, or the decoder over it; nil: nothing was read yet
	encoding string    // as the header names it
	encoded  bool
	limit    int64 // 0: none
	read     int64
	err      error
	done     func() // gives the decoder back

	head    [4]byte // first bytes of a body without an encoding
	newline bool    // a line end was read

	ctx   context.Context
	share Share
}

// rawBody is the body as it arrives. The server's own reader takes a connection that ended for the end of the body;
// this one compares with Content-Length. It moves the connection's deadline as long as bytes come.
type rawBody struct {
	from   io.Reader
	conn   net.Conn // nil: the body is in memory
	length int      // -1: chunked
	read   int
	moved  time.Time
	pace   *pace // nil: nobody measures
}

func (r *rawBody) Read(p []byte) (int, error) {
	if now := time.Now(); r.conn != nil && now.Sub(r.moved) > time.Second {
		r.moved = now
		if err := r.conn.SetReadDeadline(now.Add(BodyProgress)); err != nil {
			return 0, err
		}
	}
	n, err := r.timed(p)
	r.read += n
	switch {
	case err == nil:
	case err == io.EOF:
		if r.cut() {
			err = io.ErrUnexpectedEOF
		}
	case err == errGivenUp:
	case !isTimeout(err) && !errors.Is(err, io.ErrUnexpectedEOF):
		err = &brokenBody{err}
	}
	return n, err
}

// timed reads and reports how long that took.
func (r *rawBody) timed(p []byte) (int, error) {
	if r.conn == nil || r.pace == nil {
		return r.from.Read(p)
	}
	return r.pace.read(r.from, p)
}

// cut reports whether the end of the stream is the end of the connection, not of the body. Nothing is read behind the
// last chunk of a chunked body, so a connection whose end was seen has ended before that chunk.
func (r *rawBody) cut() bool {
	if r.length >= 0 {
		return r.read < r.length
	}
	c, ok := r.conn.(interface{ Ended() bool })
	return ok && c.Ended()
}

// brokenBody is a body that the connection does not deliver: bad chunks, a reset.
type brokenBody struct{ error }

func (b *brokenBody) Unwrap() error { return b.error }

// Body is the request's body with Content-Encoding undone, at most BodyLimit bytes of it: a reader of more gets
// TooLarge. Unknown encodings are 415. A body that does not decompress, or that is compressed without a header that
// says so, is InvalidArguments.
func (c *Ctx) Body() io.Reader {
	if c.body != nil {
		return c.body
	}
	b := &bodyReader{limit: c.BodyLimit, ctx: c.Context, encoding: strings.ToLower(c.HeaderText("Content-Encoding"))}
	b.share.begin(c.Intake, netip.Addr{})
	c.body = b
	length := c.Request.Header.ContentLength()
	stream := c.RequestBodyStream()
	if stream == nil {
		stream = bytes.NewReader(c.Request.Body())
		length = 0
	}
	b.raw = rawBody{from: stream, length: length}
	if c.RequestBodyStream() != nil {
		b.raw.conn = c.Conn()
		b.raw.pace = &b.share.pace
		// of a closed connection the reads fail already
		b.raw.pace.stop = func() { b.raw.conn.SetReadDeadline(time.Unix(1, 0)) }
	}
	b.err = c.announced()
	return b
}

// LimitBody lowers BodyLimit to most bytes, for a request whose body is never longer. It is called before the body is
// read.
func (c *Ctx) LimitBody(most int64) {
	if c.BodyLimit <= 0 || c.BodyLimit > most {
		c.BodyLimit = most
	}
}

// Announce notes the length of the body that the header of the request announces.
func (c *Ctx) Announce(length int64) { c.length = length }

// announced is TooLarge when the header announces a body over the limit.
func (c *Ctx) announced() error {
	if c.BodyLimit > 0 && max(c.length, int64(c.Request.Header.ContentLength())) > c.BodyLimit {
		return TooLarge
	}
	return nil
}

// Recycle reports whether the request may use a buffer of a request before. From now on its bytes are counted, in place
// of as many of the body. false: there is no room for them at once.
func (c *Ctx) Recycle(bytes int64) bool {
	c.Body()
	return c.body.share.try(bytes)
}

// Hold counts the rows that are made of the body, of bytes bytes by now, in place of the body if they are more. It
// waits for room as the body's reader does, and its error ends the request. Several goroutines may call it; they wait
// for each other.
func (c *Ctx) Hold(bytes int64) error {
	c.Body()
	return c.body.share.Hold(c.body.ctx, bytes)
}

// HoldAnswer is Hold for the answer to a request whose rows are stored; bytes counts answer and rows. If there is no
// room it goes on without: the client of a refused request would send its rows again.
func (c *Ctx) HoldAnswer(bytes int64) { _ = c.Hold(bytes) }

// ReadBody is the whole body, within the limit.
func (c *Ctx) ReadBody() ([]byte, error) {
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(c.Body()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err == nil && b.from == nil {
		b.decode()
	}
	if b.err != nil {
		return 0, b.err
	}
	if b.err = b.share.Hold(b.ctx, b.read+1); b.err != nil {
		return 0, b.err
	}
	if b.limit > 0 && int64(len(p)) > b.limit-b.read+1 {
		p = p[:b.limit-b.read+1] // one byte more shows that the body is over the limit
	}
	n, err := b.from.Read(p)
	b.read += int64(n)
	if b.limit > 0 && b.read > b.limit {
		b.err = TooLarge
		return 0, b.err
	}
	if err != nil && err != io.EOF {
		err = b.explain(err)
	}
	b.newline = b.newline || bytes.IndexByte(p[:n], '\n') >= 0
	if before := b.read - int64(n); !b.encoded && before < int64(len(b.head)) && n > 0 {
		copy(b.head[before:], p[:n])
		if name := packedAs(b.head); name != "" {
			b.err = status.New(status.InvalidArguments,
				"the body is compressed by %s and no header says so: send Content-Encoding: %s", name, name)
			return 0, b.err
		}
	}
	b.err = err
	return n, err
}

// packedAs is the encoding by the first bytes of a body; empty: none is known. No text begins like gzip or zstd: their
// second byte is not valid UTF-8.
func packedAs(head [4]byte) string {
	switch {
	case head[0] == 0x1f && head[1] == 0x8b && head[2] == 8:
		return "gzip"
	case head == [4]byte{0x28, 0xb5, 0x2f, 0xfd}:
		return "zstd"
	}
	return ""
}

// OneLine reports whether the body, as far as it was read, has no line end.
func (c *Ctx) OneLine() bool { return c.body != nil && !c.body.newline }

// explain returns the error of a connection that failed as it is, and makes a clear one for a body that does not
// decompress.
func (b *bodyReader) explain(err error) error {
	var broken *brokenBody
	if !b.encoded || errors.Is(err, errGivenUp) || isTimeout(err) || errors.As(err, &broken) ||
		errors.Is(err, io.ErrUnexpectedEOF) && b.raw.cut() {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return status.Wrap(err, status.InvalidArguments,
			"Failed to decompress the request body: the body ends in the middle of %s: it was cut", b.encoding)
	}
	return status.Wrap(err, status.InvalidArguments, "Failed to decompress the request body: %v", err)
}

func (b *bodyReader) release() {
	if b.done != nil {
		b.done()
		b.done = nil
	}
	b.share.Release()
	b.from, b.err = nil, errReleased
}

var errReleased = errors.New("the request is over")

// decode puts the decoder of the content encoding between the raw body and the reader.
func (b *bodyReader) decode() {
	b.from = &b.raw
	switch b.encoding {
	case "gzip", "x-gzip":
		pooledReader(b, &gzipReaders, func(r *gzip.Reader) error { return r.Reset(&b.raw) })
	case "deflate":
		b.deflate()
	case "br":
		pooledReader(b, &brotliReaders, func(r *brotli.Reader) error { return r.Reset(&b.raw) })
	case "zstd":
		pooledReader(b, &zstdReaders, func(r *zstd.Decoder) error { return r.Reset(&b.raw) })
	case "", "identity":
	default:
		b.err = NewReject(415,
			fmt.Sprintf("Content-Encoding %.40q is not supported: there are gzip, deflate, br and zstd", b.encoding))
	}
}

var (
	gzipReaders   = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotliReaders = sync.Pool{New: func() any { return brotli.NewReader(nil) }}
	zstdReaders   = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			panic(fmt.Sprintf("the options of the zstd decoder are wrong: %v", err))
		}
		return d
	}}
)

// decoder is what the pools hold.
type decoder interface {
	*gzip.Reader | *brotli.Reader | *zstd.Decoder
	io.Reader
}

func pooledReader[D decoder](b *bodyReader, pool *sync.Pool, reset func(D) error) {
	d := pool.Get().(D)
	b.encoded = true
	b.done = func() { pool.Put(d) }
	if err := reset(d); err != nil {
		if err != io.EOF { // an empty body is empty in every encoding
			err = b.explain(err)
		}
		b.err = err
		return
	}
	b.from = d
}

// deflate decodes zlib, which the standard means, or bare deflate, a widespread mistake: the first two bytes decide.
func (b *bodyReader) deflate() {
	b.encoded = true
	peek := bufio.NewReader(&b.raw)
	head, err := peek.Peek(2)
	if len(head) < 2 {
		if len(head) == 0 {
			b.err = err
			return
		}
		b.err = b.explain(io.ErrUnexpectedEOF)
		return
	}
	if head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		z, err := zlib.NewReader(peek)
		if err != nil {
			b.err = b.explain(err)
			return
		}
		b.from = z
		return
	}
	b.from = flate.NewReader(peek)
}

// BodyBytes is the number of body bytes read so far, after decompression.
func (c *Ctx) BodyBytes() int64 {
	if c.body == nil {
		return 0
	}
	return c.body.read
}

// BodyDrained reads up to most bytes that are left of the body, and reports whether that was its end. If not, the
// connection must be closed: what comes next on it is still the body.
func (c *Ctx) BodyDrained(most int64) bool {
	stream := c.RequestBodyStream()
	if stream == nil {
		return false
	}
	length := c.Request.Header.ContentLength()
	raw := &rawBody{from: stream, conn: c.Conn(), length: -1}
	if c.body != nil {
		raw = &c.body.raw
	}
	if length > 0 && int64(length-raw.read) > most {
		return false
	}
	_, err := io.CopyN(io.Discard, raw, most+1)
	return err == io.EOF
}
