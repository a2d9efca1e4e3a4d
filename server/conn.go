package server

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Deadlines of a connection. A body has its own in web.BodyProgress.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second // until the first piece of the body is read
	idleTimeout   = 75 * time.Second
	// writeProgress is how long one piece of an answer may wait for a client that does not read.
	writeProgress = 30 * time.Second
	writePiece    = 1 << 20

	// A connection that is closed before its request was read to the end is read a little further, so that the client
	// gets to see the answer instead of a reset.
	lingerTime  = 2 * time.Second
	lingerBytes = 256 << 20
)

// reservedConns are the connections above the cap that still get /health, /status and /metrics answered.
const reservedConns = 16

// listener counts and keeps the connections that it accepted.
type listener struct {
	net.Listener
	cap int // ordinary connections

	mu    sync.Mutex
	conns map[*conn]struct{}
}

func newListener(ln net.Listener, limit int) *listener {
	return &listener{Listener: ln, cap: limit, conns: map[*conn]struct{}{}}
}

// Accept gives the next connection. Those over the cap and the reserve are closed at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				err = io.EOF // the server's word for a listener that was closed on purpose
			}
			return nil, err
		}
		l.mu.Lock()
		open := len(l.conns)
		if open >= l.cap+reservedConns {
			l.mu.Unlock()
			c.Close()
			continue
		}
		k := &conn{Conn: c, l: l, over: open >= l.cap}
		l.conns[k] = struct{}{}
		l.mu.Unlock()
		return k, nil
	}
}

func (l *listener) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// closeIdle closes the connections that hold no request; closeAll closes all.
func (l *listener) closeIdle() { l.closeIf(func(c *conn) bool { return !c.busy.Load() }) }
func (l *listener) closeAll()  { l.closeIf(func(*conn) bool { return true }) }

func (l *listener) closeIf(which func(*conn) bool) {
	l.mu.Lock()
	var closing []*conn
	for c := range l.conns {
		if which(c) {
			closing = append(closing, c)
		}
	}
	l.mu.Unlock()
	for _, c := range closing {
		c.cut()
	}
}

// conn is an accepted connection.
type conn struct {
	net.Conn
	l *listener
	// over tells that the connection came when the cap was reached.
	over bool
	// busy is set while a request is handled and answered; answered while it is answered.
	busy, answered atomic.Bool
	// linger is set when the connection is closed with a request not read to its end.
	linger atomic.Bool
	closed atomic.Bool
	// ended is set when the client has closed its side.
	ended atomic.Bool
	// interrupted is set when nothing more is to be written.
	interrupted atomic.Bool
}

// Ended tells whether a read saw the end of what the client sends.
func (c *conn) Ended() bool { return c.ended.Load() }

// Read reads. The first read after an answer means that the connection waits for the next request.
func (c *conn) Read(p []byte) (int, error) {
	if c.answered.Load() {
		c.answered.Store(false)
		c.busy.Store(false)
	}
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		c.ended.Store(true)
	}
	return n, err
}

// SyscallConn gives the socket below, for a look at its state.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}

// Write sends p in pieces, each of which must make progress.
func (c *conn) Write(p []byte) (int, error) {
	sent := 0
	for {
		piece := p[sent:min(len(p), sent+writePiece)]
		if err := c.Conn.SetWriteDeadline(time.Now().Add(writeProgress)); err != nil {
			return sent, err
		}
		if c.interrupted.Load() { // after the deadline is set: interrupt sets it last
			return sent, os.ErrDeadlineExceeded
		}
		n, err := c.Conn.Write(piece)
		sent += n
		if err != nil || sent == len(p) {
			return sent, err
		}
	}
}

// Close closes the connection, after reading a little further where that was asked for.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.l.mu.Lock()
	delete(c.l.conns, c)
	c.l.mu.Unlock()
	if c.linger.Load() {
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil &&
			c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			io.CopyN(io.Discard, c.Conn, lingerBytes) // how it ends does not matter: the connection is closed next
		}
	}
	return c.Conn.Close()
}

// interrupt makes writes fail from now on, the one that is under way too.
func (c *conn) interrupt() {
	c.interrupted.Store(true)
	c.Conn.SetWriteDeadline(time.Unix(1, 0)) // of a closed connection the writes fail already
}

// cut closes the connection at once.
func (c *conn) cut() {
	c.linger.Store(false)
	c.Conn.Close() // the owner sees its reads and writes fail and closes for good
}
