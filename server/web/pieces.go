package web

import (
	"context"
	"io"
	"runtime/debug"

	"varve/engine/status"
)

// Pieces answers with JSON that is made piece by piece: next appends a piece of about PieceBytes, and reports whether
// another follows. Short answers are sent whole. Of a long answer, a piece is made when the client has read the one
// before.
func (c *Ctx) Pieces(next func(dst []byte) (out []byte, more bool)) {
	buf, more := next(make([]byte, 0, 4096))
	for more && len(buf) < FreeAnswer {
		buf, more = next(buf)
	}
	c.JSON(200, buf)
	if !more {
		return
	}
	c.Response.ResetBody()
	p := &pieceReader{c: c, next: next, buf: buf}
	if c.Interrupt != nil {
		// a client that does not read ends with its request's time
		p.unfollow = context.AfterFunc(c.Context, c.Interrupt)
	}
	c.ReplyStream(200, "application/json", p)
}

// PieceBytes is about the size of a piece.
const PieceBytes = 64 << 10

// pieceReader is a reader of an answer in pieces.
type pieceReader struct {
	c    *Ctx
	next func(dst []byte) (out []byte, more bool)
	buf  []byte
	sent int
	done bool

	unfollow func() bool // nil: nothing is followed
}

func (p *pieceReader) Read(into []byte) (int, error) {
	for p.sent == len(p.buf) {
		if p.done {
			return 0, io.EOF
		}
		p.sent = 0
		if err := p.c.Guarded(func() error {
			more := false
			p.buf, more = p.next(p.buf[:0])
			p.done = !more
			return p.c.Context.Err()
		}); err != nil {
			p.done = true
			return 0, err
		}
	}
	n := copy(into, p.buf[p.sent:])
	p.sent += n
	return n, nil
}

// Close ends what follows the request.
func (p *pieceReader) Close() error {
	if p.unfollow != nil {
		p.unfollow()
	}
	return nil
}

// Guarded runs a part of a streamed answer: a panic is logged and becomes an error.
func (c *Ctx) Guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Log.Error("panic while an answer was streamed", "panic", p, "stack", string(debug.Stack()))
			err = status.New(status.Internal, "panic: %v", p)
		}
	}()
	return f()
}
