package pgwire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/nearest"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/exec"
)

// The states of a session as clients see them.
const (
	idleState   = 'I'
	openState   = 'T' // in a transaction
	failedState = 'E' // in a transaction that only ROLLBACK and COMMIT end
)

// conn is a connection. One goroutine serves it.
type conn struct {
	s       *Server
	raw     net.Conn         // TCP
	c       net.Conn         // raw, or TLS over it
	shown   *tls.Certificate // of TLS; nil: none was
	number  uint32
	secret  [4]byte
	address netip.Addr

	r     *bufio.Reader
	one   [1]byte // of a message: its kind
	in    messages
	body  []byte      // of the message that was read last
	large *web.Stream // its share of the room of large messages; nil: it is not large
	out   []byte      // what is not sent yet

	user      web.User
	current   func() (web.User, error) // the user by the present list; nil: there are no users
	session   *sqlexec.Session
	allowance *exec.Allowance // of the memory of queries
	settings  settings
	state     byte
	wrote     int      // statements of the transaction that wrote
	readOnly  bool     // the transaction takes no writes
	asked     bool     // a query of the transaction was read
	binding   bool     // a statement is read with its values
	configs   []config // its calls of set_config
	skipping  bool     // messages are left out until Sync

	savepoints []savepoint

	statements    map[string]*prepared
	statementText int // bytes of their texts
	portals       map[string]*portal

	mu      sync.Mutex
	cancel  context.CancelCauseFunc // of the statement at work; nil: none is
	sending bool                    // rows are being written
	// name is that of the user of an opened connection, whom other connections of the same user may end.
	name               string
	opened, terminated bool
}

func newConn(s *Server, c net.Conn, number uint32, address netip.Addr) *conn {
	return &conn{s: s, raw: c, c: c, number: number, address: address, r: readerOf(c), state: idleState}
}

// close ends what the connection has open.
func (k *conn) close() {
	k.closePortals()
	for name := range k.statements {
		k.closeStatement(name)
	}
	if k.session != nil {
		k.session.End()
	}
	k.forget()
	k.c.Close()
}

// serve serves the connection to its end.
func (k *conn) serve() error {
	if ok, err := k.start(); err != nil || !ok {
		return k.tell(err)
	}
	return k.tell(k.loop())
}

// tell sends the error that ends a connection, if its client can be told.
func (k *conn) tell(err error) error {
	var f *failure
	switch {
	case errors.Is(err, errDrained):
		f = &failure{code: "57P01", text: "terminating connection: the server stops", fatal: true}
		err = nil
	case errors.Is(err, errTerminated):
		f = &failure{code: "57P01", text: "terminating connection: another one has ended it", fatal: true}
		err = nil
	case errors.Is(err, errIdle):
		f = &failure{code: "57P05", text: "terminating connection: it was idle too long", fatal: true}
		err = nil
	case errors.Is(err, io.EOF):
		return nil
	case !errors.As(err, &f):
		return err
	}
	f.fatal = true
	k.out = f.encode(k.out)
	k.flush() // the client may be gone, and the connection ends anyway
	return err
}

// loop answers messages until the client leaves.
func (k *conn) loop() error {
	for {
		k.rest()
		m, err := k.receive(k.patience(), k.s.o.MaxMessage)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.Terminate:
			return nil
		case *pgproto3.Query:
			k.skipping = false
			if err := k.simple(m.String); err != nil {
				return err
			}
		case *pgproto3.Sync:
			k.skipping = false
			if k.state == idleState {
				k.closePortals()
			}
			k.ready()
		case *pgproto3.Flush:
		case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail: // of a COPY that has failed
			continue
		default:
			if k.skipping {
				continue
			}
			if err := k.extended(m); err != nil {
				if err = k.broken(err, ""); err != nil {
					return err
				}
				k.skipping = true
			}
			if !k.skipping && len(k.out) < flushBytes {
				continue // clients that send several messages wait for Sync or Flush
			}
		}
		if err := k.flush(); err != nil {
			return err
		}
	}
}

// patience is how long the connection may wait for a message.
func (k *conn) patience() time.Duration {
	if k.state != idleState || len(k.portals) > 0 {
		return min(transactionIdle, k.s.o.IdleTimeout)
	}
	return k.s.o.IdleTimeout
}

// broken answers with the error of a statement. An error that ends the connection is returned.
func (k *conn) broken(err error, text string) error {
	if isGone(err) {
		return err
	}
	if k.isTerminated() {
		return errTerminated
	}
	f := failureOf(err, text, 0)
	if f.fatal {
		return f
	}
	k.out = f.encode(k.out)
	if k.state == openState {
		if k.state = failedState; len(k.savepoints) == 0 {
			k.closePortals() // nobody gets to their rows any more
		}
	}
	return nil
}

// ready says that the next statement may come.
func (k *conn) ready() { k.send(&pgproto3.ReadyForQuery{TxStatus: k.state}) }

// send appends a message to what is sent next.
func (k *conn) send(m pgproto3.BackendMessage) { k.out = must(m.Encode(k.out)) }

const (
	flushBytes = 32 << 10 // rows are sent when there are so many bytes of them
	keptBytes  = 64 << 10 // the buffer that a connection keeps
	pieceBytes = 64 << 10 // of an answer that a client has to take within Options.Progress
	stuckTime  = 2 * time.Second
)

// sendError is the error of a connection that takes no bytes.
type sendError struct{ err error }

func (e *sendError) Error() string { return "answer: " + e.err.Error() }
func (e *sendError) Unwrap() error { return e.err }

// isGone reports whether an error is the end of the connection, of which the client is not told.
func isGone(err error) bool {
	var gone *sendError
	return errors.As(err, &gone)
}

// flush sends what is not sent yet. Each piece has to be taken in time.
func (k *conn) flush() error {
	for rest := k.out; len(rest) > 0; {
		n := min(len(rest), pieceBytes)
		k.mu.Lock()
		k.sending = true
		err := k.raw.SetWriteDeadline(time.Now().Add(k.s.o.Progress))
		k.mu.Unlock()
		if err == nil {
			_, err = k.c.Write(rest[:n])
		}
		k.mu.Lock()
		k.sending = false
		k.mu.Unlock()
		if err != nil {
			k.out = k.out[:0]
			return &sendError{err}
		}
		rest = rest[n:]
	}
	if k.out = k.out[:0]; cap(k.out) > keptBytes {
		k.out = nil
	}
	return nil
}

// interrupt ends a write that waits for a client that does not read.
func (k *conn) interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sending {
		k.raw.SetWriteDeadline(time.Now().Add(stuckTime)) // of a closed connection the writes fail already
	}
}

// The reasons why a statement ends early.
var (
	errCancelled = errors.New("cancelled by the client")
	errLeft      = errors.New("the client has left")
)

// watchPeriod is how often a connection is looked at while a statement runs.
const watchPeriod = 50 * time.Millisecond

// work begins the context of a statement. It ends with the server.
func (k *conn) work() (context.Context, context.CancelCauseFunc) {
	ctx := k.s.ctx
	if k.user.Mode == web.WriteOnly {
		ctx = nearest.Hide(ctx)
	}
	return context.WithCancelCause(ctx)
}

// run runs a part of the work of a context. Meanwhile cancel requests, the time limit and the end of the connection
// end the context.
func (k *conn) run(ctx context.Context, cancel context.CancelCauseFunc, part func() error) error {
	k.asked = true
	k.mu.Lock()
	k.cancel = cancel
	k.mu.Unlock()
	var mu sync.Mutex
	over := false
	var look *time.Timer
	mu.Lock()
	look = time.AfterFunc(watchPeriod, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case k.s.o.Left(k.raw):
			cancel(errLeft)
		default:
			look.Reset(watchPeriod)
		}
	})
	mu.Unlock()
	var limit *time.Timer
	if d := k.settings.timeout; d > 0 {
		limit = time.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	}
	stuck := context.AfterFunc(ctx, k.interrupt)
	defer func() {
		stuck()
		mu.Lock()
		over = true
		look.Stop()
		mu.Unlock()
		if limit != nil {
			limit.Stop()
		}
		k.mu.Lock()
		k.cancel = nil
		k.mu.Unlock()
	}()
	err := part()
	if err != nil && context.Cause(ctx) == errLeft {
		return &sendError{errLeft}
	}
	return err
}

// secure begins TLS.
func (k *conn) secure() error {
	t := tls.Server(&replay{k.raw, k.r}, k.showing(k.s.o.TLS))
	if err := t.Handshake(); err != nil {
		return err
	}
	k.c, k.r = t, readerOf(t)
	return nil
}

// replay is a connection of which some bytes are read already.
type replay struct {
	net.Conn
	r *bufio.Reader // of Conn
}

func (r *replay) Read(p []byte) (int, error) {
	if r.r != nil && r.r.Buffered() > 0 {
		return r.r.Read(p[:min(len(p), r.r.Buffered())])
	}
	r.r = nil
	return r.Conn.Read(p)
}
