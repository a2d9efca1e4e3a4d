package forward

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"varve/server/web"
)

const (
	// smallBytes is what every connection may hold of a message. Beyond it, all messages together hold at most
	// largeBytes, or one message more: others wait, at most roomTime.
	smallBytes = 64 << 10
	largeBytes = 64 << 20
	roomTime   = 30 * time.Second
	// leastRate is the rate in bytes/s under which a message gives way to others that wait. At this rate a message of
	// 16 MiB takes the minute that each message has.
	leastRate = 256 << 10
	// answerTime is how long a sender may take to read an answer.
	answerTime = 30 * time.Second
)

// frames finds the messages of a stream: each is one value of MessagePack.
type frames struct {
	r     *bufio.Reader
	to    net.Conn
	key   []byte // which senders have to know; empty: there is no handshake
	most  int
	share func() *web.Stream // begins the share of a message of more than smallBytes
	ctx   context.Context    // ends when the server stops: then incomplete messages get no room

	known bool // the handshake is over
	b     []byte
	m     message
	large *web.Stream // nil: b has at most smallBytes
}

// Next reads the next message.
func (f *frames) Next() (message []byte, acked bool, err error) {
	if len(f.key) > 0 && !f.known {
		if err := f.greet(); err != nil {
			return nil, false, err
		}
		f.known = true
	}
	if err := f.read(); err != nil {
		return nil, false, err
	}
	if err := f.m.parse(f.b); err != nil {
		return nil, false, err
	}
	return f.b, f.m.chunk != nil, nil
}

// read reads the next value as it is.
func (f *frames) read() error {
	f.Close()
	if _, err := f.r.Peek(1); err != nil {
		return err
	}
	f.b = f.b[:0]
	err := f.value()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the stream ends inside a message")
	}
	return err
}

// value copies a value, with everything in it, as its bytes come: a false length takes no memory.
func (f *frames) value() error {
	for left := uint64(1); left > 0; left-- {
		at := len(f.b)
		if err := f.copy(1); err != nil {
			return err
		}
		k, width, n := shape(f.b[at])
		if k == none {
			return errType
		}
		if err := f.copy(uint64(width)); err != nil {
			return err
		}
		x := uint64(n)
		if width > 0 {
			x = number(f.b[at+1:])
		}
		var err error
		switch k {
		case text, binaries:
			err = f.copy(x)
		case extension:
			err = f.copy(x + 1)
		case array:
			left += x
		case object:
			left += 2 * x
		}
		if err == nil && left > uint64(f.most) {
			err = f.tooLarge()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *frames) tooLarge() error {
	return fmt.Errorf("a message has more than %d bytes", f.most)
}

// copy copies n bytes.
func (f *frames) copy(n uint64) error {
	if n > uint64(f.most-len(f.b)) {
		return f.tooLarge()
	}
	for n > 0 {
		k := int(min(n, 16<<10))
		if err := f.grow(k); err != nil {
			return err
		}
		from := io.Reader(f.r)
		if f.large != nil {
			from = f.large
		}
		if _, err := io.ReadFull(from, f.b[len(f.b)-k:]); err != nil {
			return readError(err)
		}
		n -= uint64(k)
	}
	return nil
}

// grow makes room for k bytes more, and counts them before they take memory.
func (f *frames) grow(k int) error {
	size := len(f.b) + k
	if size <= cap(f.b) {
		f.b = f.b[:size]
		return nil
	}
	room := min(max(size, 2*cap(f.b)), f.most)
	if room > smallBytes {
		if f.large == nil {
			f.large = f.share()
		}
		if err := f.large.Hold(f.ctx, int64(room)); err != nil {
			return roomError(err)
		}
	}
	b := make([]byte, size, room)
	copy(b, f.b)
	f.b = b
	return nil
}

// readError says in the words of this protocol why a message is given up.
func readError(err error) error {
	if errors.Is(err, web.ErrSlow) {
		return fmt.Errorf("a message of more than %d bytes comes at less than %d bytes/s while others wait for room",
			smallBytes, leastRate)
	}
	return err
}

// roomError says why a message has no room.
func roomError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("there is no room for a message of more than %d bytes within %s: those that arrive hold %d",
		smallBytes, roomTime, largeBytes)
}

// Stored answers the message that was read last: {"ack": chunk}.
func (f *frames) Stored(to net.Conn) error {
	n := len(f.m.chunk)
	out := append([]byte("\x81\xa3ack"), 0xda, byte(n>>8), byte(n))
	if n > 0xffff {
		return fmt.Errorf("a chunk has a name of %d bytes", n)
	}
	return write(to, append(out, f.m.chunk...))
}

// Close gives back the memory of a large message: its connection may wait long for the next.
func (f *frames) Close() {
	if f.large != nil {
		f.large.Release()
		f.large, f.b, f.m = nil, nil, message{}
	}
}
