package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"varve/server/web"
)

// Deadlines of a connection. A body has its own in web.BodyProgress.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second // until the first bytes of the body are read
	idleTimeout   = 75 * time.Second
	// writeProgress is how long one chunk of an answer may wait for a client that does not read, unless Options say
	// otherwise.
	writeProgress = 30 * time.Second
	writeChunk    = 1 << 20

	// A connection that is closed before its request was read to the end is read a little further, so that the client
	// gets to see the answer instead of a reset.
	lingerTime  = 2 * time.Second
	lingerBytes = 256 << 20
	// lingerConns bounds the connections of a listener that linger at a time. Others are closed at once.
	lingerConns = 1024
)

// The reserve of connections above the bounds that still get /health, /status and /metrics answered. When it is full,
// one that waits for a request gives way to a new one, so that nobody can keep it by being silent.
const (
	reservedConns = 64
	reserveTime   = 2 * time.Second // for the header of a request
)

// listener counts and keeps the connections that it accepted.
type listener struct {
	net.Listener
	places   *web.Places   // of ordinary connections, on all addresses together
	progress time.Duration // see Options.WriteProgress
	api      bool          // it serves /v1 and the dashboard only, see ServeAPI

	lingering atomic.Int64 // connections that are closed, and read a little further

	mu      sync.Mutex
	conns   map[*conn]struct{}
	reserve []*conn // oldest first
}

func newListener(ln net.Listener, places *web.Places) *listener {
	return &listener{Listener: ln, places: places, progress: writeProgress, conns: map[*conn]struct{}{}}
}

// Accept returns the next connection. Those over the bounds for which there is no reserve are closed at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				err = io.EOF // the server's word for a listener that was closed on purpose
			}
			return nil, err
		}
		keepClose(c)
		k := &conn{Conn: c, l: l, address: web.NetworkOf(c.RemoteAddr()), accepted: time.Now()}
		out, ok := l.admit(k)
		if out != nil {
			out.cut()
		}
		if ok {
			return k, nil
		}
		c.Close()
	}
}

// admit takes a connection among the ordinary ones or into the reserve; out is the one that gives way.
func (l *listener) admit(k *conn) (out *conn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k.over = l.places.Take(k.address) != nil
	if !k.over {
		l.conns[k] = struct{}{}
		return nil, true
	}
	if len(l.reserve) >= reservedConns {
		if out = l.silent(); out == nil {
			return nil, false
		}
		l.remove(out)
	}
	l.reserve = append(l.reserve, k)
	l.conns[k] = struct{}{}
	return out, true
}

// silent is the connection of the reserve that gives way: the one that has waited longest for a request, of those of
// the address that has the most; nil: none waits. The caller holds mu.
func (l *listener) silent() (longest *conn) {
	held := map[netip.Addr]int{}
	for _, c := range l.reserve {
		held[c.address]++
	}
	for _, c := range l.reserve {
		if !c.busy.Load() && (longest == nil || held[c.address] > held[longest.address]) {
			longest = c
		}
	}
	return longest
}

// remove forgets a connection; the caller holds mu.
func (l *listener) remove(k *conn) {
	if _, ok := l.conns[k]; !ok {
		return
	}
	delete(l.conns, k)
	if k.over {
		l.reserve = slices.DeleteFunc(l.reserve, func(c *conn) bool { return c == k })
		return
	}
	l.places.Give(k.address)
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
	// over says that the connection came when a bound was reached: it is one of the reserve.
	over     bool
	address  netip.Addr
	accepted time.Time
	// busy is set while a request is handled and answered; answered while it is answered.
	busy, answered atomic.Bool
	// known is set once the first bytes were read; it belongs to the goroutine that serves the connection.
	known bool
	// linger is set when the connection is closed with a request not read to its end.
	linger atomic.Bool
	closed atomic.Bool
	// ended is set when the client has closed its side.
	ended atomic.Bool
	// interrupted is set when nothing more is to be written.
	interrupted atomic.Bool
	// answer counts the answer that is sent; nil: none is, or it is too small to be counted. It belongs to the
	// goroutine that serves the connection.
	answer *web.Answer
}

// sends notes that an answer is sent.
func (c *conn) sends(a *web.Answer) { c.answer = a }

// sent notes that the last answer is read as far as it will be.
func (c *conn) sent() {
	if c.answer != nil {
		c.answer.End()
		c.answer = nil
	}
}

// Ended reports whether a read saw the end of what the client sends.
func (c *conn) Ended() bool { return c.ended.Load() }

// Read reads. The first read after an answer means that the connection waits for the next request.
func (c *conn) Read(p []byte) (int, error) {
	if c.answered.Load() {
		c.sent()
		c.answered.Store(false)
		c.busy.Store(false)
	}
	n, err := c.Conn.Read(p)
	if !c.known {
		if c.known = true; stranger(c.Conn, p[:n], err) {
			return 0, io.EOF
		}
	}
	if err == io.EOF {
		c.ended.Store(true)
	}
	return n, err
}

// SetReadDeadline sets how long reads may wait; a connection of the reserve waits for reserveTime at most.
func (c *conn) SetReadDeadline(t time.Time) error {
	if most := c.accepted.Add(reserveTime); c.over && (t.IsZero() || t.After(most)) {
		t = most
	}
	return c.Conn.SetReadDeadline(t)
}

// SyscallConn returns the socket below, for a look at its state.
func (c *conn) SyscallConn() (syscall.RawConn, error) { return rawConn(c.Conn) }

// rawConn is the socket of a connection, below TLS where it is encrypted.
func rawConn(c net.Conn) (syscall.RawConn, error) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}

// Write sends p in chunks, each of which must make progress.
func (c *conn) Write(p []byte) (int, error) {
	sent := 0
	for {
		chunk := p[sent:min(len(p), sent+writeChunk)]
		if err := c.Conn.SetWriteDeadline(time.Now().Add(c.l.progress)); err != nil {
			return sent, err
		}
		if c.interrupted.Load() { // after the deadline is set: interrupt sets it last
			return sent, os.ErrDeadlineExceeded
		}
		n, err := c.write(chunk)
		sent += n
		if err != nil || sent == len(p) {
			return sent, err
		}
	}
}

func (c *conn) write(p []byte) (int, error) {
	if c.answer != nil {
		return c.answer.Write(c.Conn, p)
	}
	return c.Conn.Write(p)
}

// Close closes the connection, after reading a little further where that was asked for.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.l.mu.Lock()
	c.l.remove(c)
	c.l.mu.Unlock()
	c.sent()
	if c.linger.Load() {
		c.readOn()
	}
	return c.Conn.Close()
}

// readOn reads what still comes, unless many connections do that.
func (c *conn) readOn() {
	defer c.l.lingering.Add(-1)
	if c.l.lingering.Add(1) > lingerConns {
		return
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil &&
		c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		io.CopyN(io.Discard, c.Conn, lingerBytes) // how it ends does not matter: the connection is closed next
	}
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
