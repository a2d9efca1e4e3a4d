package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"varve/engine/spare"
	"varve/engine/status"
)

const (
	// blockFactor is how many times BodyLimit a block may have when it is decompressed.
	blockFactor = 4
	// snappyMost is more bytes than a byte of a snappy block can stand for: a copy of 64 bytes takes 3.
	snappyMost = 32
	// zstdMost is how many times its size a frame of zstd may claim to hold and be believed. If it claims more, it is
	// decompressed once to count the bytes.
	zstdMost = 256
)

// blocks are buffers that are not in use.
var blocks spare.List[[]byte]

// Block is a whole body that is one compressed block: of snappy, or of zstd if encoding says so. Senders mix the two
// up, so the other one is tried as well. Other encodings around the block are undone first. what names the request in
// errors. The result is good until the request is over. A body that is neither, or claims more bytes than it can hold,
// is InvalidArguments.
func (c *Ctx) Block(encoding, what string) ([]byte, error) {
	c.Body()
	switch encoding {
	case "gzip", "x-gzip", "deflate", "br": // around the block
	default:
		c.body.encoded, c.body.from = true, &c.body.raw
	}
	packed, err := c.readInto(c.buffer(), c.body, int64(max(c.Request.Header.ContentLength(), 0)))
	if err != nil {
		return nil, err
	}
	decoders := []func([]byte) ([]byte, error){c.unsnap, c.unzstd}
	if encoding == "zstd" {
		decoders[0], decoders[1] = decoders[1], decoders[0]
	}
	out, err := decoders[0](packed)
	var malformed *malformedBlock
	if errors.As(err, &malformed) {
		if other, otherErr := decoders[1](packed); !errors.As(otherErr, new(*malformedBlock)) {
			return other, otherErr
		}
		err = status.Wrap(err, status.InvalidArguments, "Failed to decompress %s %s: %v", malformed.format, what,
			malformed.cause)
	}
	return out, err
}

// WholeBody is ReadBody into a buffer that requests share: the result is good until the request is over.
func (c *Ctx) WholeBody() ([]byte, error) {
	body := c.Body()
	return c.readInto(c.buffer(), body, int64(max(c.Request.Header.ContentLength(), 0)))
}

// malformedBlock is a block that does not decompress.
type malformedBlock struct {
	format string
	cause  error
}

func (m *malformedBlock) Error() string { return m.format + ": " + m.cause.Error() }

// buffer is a buffer that the request has until it is over: a used one if there is room for its bytes, else a new one.
func (c *Ctx) buffer() *[]byte {
	b := blocks.Get()
	if !c.Recycle(int64(cap(*b))) {
		blocks.Put(b, int64(cap(*b)))
		b = new([]byte)
	}
	c.buffers = append(c.buffers, b)
	return b
}

// giveBuffers gives the buffers of the request back.
func (c *Ctx) giveBuffers() {
	for _, b := range c.buffers {
		blocks.Put(b, int64(cap(*b)))
	}
	c.buffers = nil
}

// DropBody lets go of a whole body whose buffer is too large to be kept for the next request. Slices of the body stay
// good.
func (c *Ctx) DropBody() {
	for _, b := range c.buffers {
		if cap(*b) > spare.MaxBytes {
			*b = nil
		}
	}
}

// trustedBytes is the largest buffer that a body gets because its header announces it: the bytes may never come.
const trustedBytes = 4 << 20

// readInto reads a body of about size bytes into a buffer. While a buffer that grows is copied, there are two: both are
// counted.
func (c *Ctx) readInto(buf *[]byte, from io.Reader, size int64) ([]byte, error) {
	most := max(c.BodyLimit, 1<<20) + bytes.MinRead
	b, want := (*buf)[:0], min(size+bytes.MinRead, most, trustedBytes)
	for {
		if int64(cap(b)) < want {
			if len(b) > 0 {
				if err := c.Hold(int64(cap(b)) + want); err != nil {
					return nil, err
				}
			}
			b = append(make([]byte, 0, want), b...)
			*buf = b
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		*buf = b
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			// the more has come, the more of the announced size is believed
			want = max(2*int64(cap(b)), min(size+bytes.MinRead, 4*int64(cap(b))))
			if c.BodyLimit > 0 && want > most && int64(cap(b)) < most {
				want = most
			}
		}
	}
}

// unsnap decompresses a snappy block.
func (c *Ctx) unsnap(packed []byte) ([]byte, error) {
	size, err := s2.DecodedLen(packed)
	if err != nil {
		return nil, &malformedBlock{"snappy", err}
	}
	if int64(size) > snappyMost*int64(len(packed)) {
		return nil, &malformedBlock{"snappy", fmt.Errorf("%d bytes claim to hold %d", len(packed), size)}
	}
	if err := c.room(int64(size)); err != nil {
		return nil, err
	}
	buf := c.buffer()
	if cap(*buf) < size {
		*buf = make([]byte, size)
	}
	out, err := s2.Decode((*buf)[:cap(*buf)], packed)
	if err != nil {
		return nil, &malformedBlock{"snappy", err}
	}
	return out, nil
}

// room makes room for size bytes of a block besides the body that was read, within the limits.
func (c *Ctx) room(size int64) error {
	if c.BodyLimit > 0 && size > blockFactor*c.BodyLimit {
		return TooLarge
	}
	return c.Hold(c.BodyBytes() + size)
}

// unzstd decompresses a frame of zstd, whose header need not have its size.
func (c *Ctx) unzstd(packed []byte) ([]byte, error) {
	d := zstdReaders.Get().(*zstd.Decoder)
	defer zstdReaders.Put(d)
	size, err := c.zstdSize(d, packed)
	if err != nil {
		return nil, err
	}
	buf := c.buffer()
	out := slices.Grow((*buf)[:0], int(size)+bytes.MinRead) // growing step by step would take several times as much
	if err := d.Reset(bytes.NewReader(packed)); err != nil {
		return nil, &malformedBlock{"zstd", err}
	}
	for {
		out = slices.Grow(out, bytes.MinRead)
		if err := c.room(int64(len(out)) + 1); err != nil {
			return nil, err
		}
		n, err := d.Read(out[len(out):min(cap(out), len(out)+intakeStep)])
		out = out[:len(out)+n]
		*buf = out
		switch {
		case err == io.EOF && len(packed) > 0:
			return out, nil
		case err != nil:
			return nil, &malformedBlock{"zstd", err}
		}
	}
}

// zstdSize is the size of the block, and makes room for it: the size that the frame claims, if that is believable, or
// else the size that decompressing it gives.
func (c *Ctx) zstdSize(d *zstd.Decoder, packed []byte) (size int64, err error) {
	var head zstd.Header
	if err := head.Decode(packed); err == nil && head.HasFCS && head.FrameContentSize <= zstdMost*uint64(len(packed)) {
		size = int64(head.FrameContentSize)
		return size, c.room(size)
	}
	if err := d.Reset(bytes.NewReader(packed)); err != nil {
		return 0, &malformedBlock{"zstd", err}
	}
	most := int64(math.MaxInt64)
	if c.BodyLimit > 0 {
		most = blockFactor*c.BodyLimit + 1
	}
	if size, err = io.Copy(io.Discard, io.LimitReader(d, most)); err != nil {
		return 0, &malformedBlock{"zstd", err}
	}
	return size, c.room(size)
}

// SnappyBlock is Reply with the body as one block.
func (c *Ctx) SnappyBlock(contentType string, plain []byte) {
	c.Response.Header.Set("Content-Encoding", "snappy")
	c.Reply(200, contentType, s2.EncodeSnappy(nil, plain))
}
