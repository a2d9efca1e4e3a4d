package pgwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/server/web"
)

const (
	readBytes  = 4 << 10  // the buffer of a connection
	restBytes  = 4 << 10  // a buffer of a connection that waits
	smallBytes = 64 << 10 // a message of so many bytes is not counted
	// maxStartup bounds messages until the user is known.
	maxStartup = 10_000
)

// errIdle is the end of a connection that waited too long, errDrained that of one whose server stops.
var (
	errIdle    = errors.New("the connection was idle too long")
	errDrained = errors.New("the server stops")
)

// messages are those that clients send, by their first bytes. Each connection decodes into its own.
type messages struct {
	bind     pgproto3.Bind
	close    pgproto3.Close
	copyData pgproto3.CopyData
	copyFail pgproto3.CopyFail
	describe pgproto3.Describe
	execute  pgproto3.Execute
	parse    pgproto3.Parse
	query    pgproto3.Query
}

// receive reads the next message, which is valid until the next call. It waits for its first byte at most for idle.
func (k *conn) receive(idle time.Duration, most int) (pgproto3.FrontendMessage, error) {
	body, kind, err := k.frame(idle, most)
	if err != nil {
		return nil, err
	}
	if err := k.asUser(); err != nil {
		return nil, err
	}
	m := k.message(kind)
	if m == nil {
		return nil, &failure{code: "08P01", fatal: true,
			text: fmt.Sprintf("a message of the unknown kind %q came", kind)}
	}
	if err := m.Decode(body); err != nil {
		return nil, &failure{code: "08P01", text: fmt.Sprintf("a message of kind %q cannot be read: %v", kind, err),
			fatal: true}
	}
	return m, nil
}

// message is the message of a kind; nil: there is none.
func (k *conn) message(kind byte) pgproto3.FrontendMessage {
	switch kind {
	case 'B':
		k.in.bind = pgproto3.Bind{}
		return &k.in.bind
	case 'C':
		return &k.in.close
	case 'D':
		return &k.in.describe
	case 'E':
		return &k.in.execute
	case 'H':
		return &pgproto3.Flush{}
	case 'P':
		k.in.parse = pgproto3.Parse{}
		return &k.in.parse
	case 'Q':
		return &k.in.query
	case 'S':
		return &pgproto3.Sync{}
	case 'X':
		return &pgproto3.Terminate{}
	case 'd':
		return &k.in.copyData
	case 'c':
		return &pgproto3.CopyDone{}
	case 'f':
		return &k.in.copyFail
	}
	return nil
}

// frame reads the kind and the body of the next message.
func (k *conn) frame(idle time.Duration, most int) (body []byte, kind byte, err error) {
	k.forget()
	if kind, err = k.kind(idle); err != nil {
		return nil, 0, k.late(err, errIdle)
	}
	if k.r.Buffered() < 4 {
		if err := k.await(messageTime); err != nil {
			return nil, 0, err
		}
	}
	var head [4]byte
	if _, err := io.ReadFull(k.r, head[:]); err != nil {
		return nil, 0, k.late(unexpected(err), errLate)
	}
	n := int64(binary.BigEndian.Uint32(head[:])) - 4
	if n < 0 || n > int64(most) {
		return nil, 0, &failure{code: "08P01", fatal: true,
			text: fmt.Sprintf("a message says that it has %d bytes, the limit is %d", n, most)}
	}
	body, err = k.read(int(n))
	return body, kind, err
}

// readers are buffers of connections that do not wait for a message.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBytes) }}

func readerOf(c net.Conn) *bufio.Reader {
	r := readers.Get().(*bufio.Reader)
	r.Reset(c)
	return r
}

// kind reads the first byte of a message. While the connection waits for it, it has no buffer.
func (k *conn) kind(idle time.Duration) (byte, error) {
	if k.r.Buffered() > 0 {
		return k.r.ReadByte()
	}
	if err := k.await(idle); err != nil {
		return 0, err
	}
	k.r.Reset(nil)
	readers.Put(k.r)
	k.r = nil
	_, err := io.ReadFull(k.c, k.one[:])
	k.r = readerOf(k.c)
	return k.one[0], err
}

// rest gives back the memory of the last statement, unless more messages are there.
func (k *conn) rest() {
	if k.r.Buffered() > 0 {
		return
	}
	if cap(k.body) > restBytes { // the messages keep parts of it
		k.body, k.in = nil, messages{}
	}
	if cap(k.out) > restBytes && len(k.out) == 0 {
		k.out = nil
	}
}

var errLate = fmt.Errorf("a message is not complete after %s", messageTime)

// unexpected is the error of a stream that ends within a message.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// await sets the deadline of the next read.
func (k *conn) await(d time.Duration) error {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	if k.s.draining {
		return errDrained
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.terminated {
		return errTerminated
	}
	return k.raw.SetReadDeadline(time.Now().Add(d))
}

// late is the error of a read whose deadline has passed.
func (k *conn) late(err, late error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if k.s.stopping() {
		return errDrained
	}
	if k.isTerminated() {
		return errTerminated
	}
	return late
}

// read reads n bytes of a message. What is more than smallBytes is counted before it is held, and grows as it comes.
func (k *conn) read(n int) ([]byte, error) {
	if k.r.Buffered() < n {
		if err := k.await(messageTime); err != nil {
			return nil, err
		}
	}
	k.body = k.body[:0]
	for len(k.body) < n {
		step := min(n-len(k.body), readBytes*4)
		size := len(k.body) + step
		if size > cap(k.body) {
			room := min(max(size, 2*cap(k.body)), n)
			if err := k.count(room); err != nil {
				return nil, err
			}
			grown := make([]byte, len(k.body), room)
			copy(grown, k.body)
			k.body = grown
		}
		from := io.Reader(k.r)
		if k.large != nil {
			from = k.large
		}
		at := len(k.body)
		k.body = k.body[:size]
		if _, err := io.ReadFull(from, k.body[at:]); err != nil {
			return nil, k.late(unexpected(err), errLate)
		}
	}
	return k.body, nil
}

// count counts the room of a large message.
func (k *conn) count(room int) error {
	if room <= smallBytes {
		return nil
	}
	if k.large == nil {
		k.large = k.s.large.Stream(k.r, k.address, leastRate, func() { k.raw.SetReadDeadline(past) })
	}
	if err := k.large.Hold(k.s.ctx, int64(room)); err != nil {
		if errors.Is(err, web.ErrSlow) {
			return err
		}
		return &failure{code: "53200", fatal: true,
			text: fmt.Sprintf("there is no room for a message of %d bytes: those that arrive hold %d", room,
				largeBytes)}
	}
	return nil
}

// forget gives back the memory of a large message.
func (k *conn) forget() {
	if k.large != nil {
		k.large.Release()
		k.large = nil
	}
	if cap(k.body) > smallBytes {
		k.body, k.in = nil, messages{} // which have parts and copies of it
	}
}
