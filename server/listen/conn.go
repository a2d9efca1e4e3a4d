package listen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"varve/server/write/rows/rejects"
)

// past is a deadline that ends a read at once.
var past = time.Unix(1, 0)

var (
	errDraining = errors.New("the server stops")
	errGivenUp  = errors.New("the connection is given up")
)

// Conn is a connection whose messages become batches. One goroutine reads it.
type Conn struct {
	net.Conn
	s     *Server
	batch Batch

	address netip.Addr
	over    bool // under s.mu: GiveUp was called

	begun time.Time // of the message in hand; zero: none has begun
	last  time.Time // of the last bytes
}

// Broken is the error of a stream in which no further message can be found. Text is what came instead of one; it is
// kept among the rejects.
type Broken struct {
	Text []byte
	Why  error
}

func (b *Broken) Error() string { return b.Why.Error() }

// read takes messages until the stream ends. What arrived before it broke is stored.
func (k *Conn) read(r *bufio.Reader, f Framer) error {
	k.last = time.Now()
	for {
		k.begun = time.Time{}
		if r.Buffered() > 0 {
			k.begun = time.Now()
		}
		text, acked, err := f.Next()
		if err != nil {
			k.batch.Flush()
			var broken *Broken
			if errors.As(err, &broken) && len(broken.Text) > 0 {
				k.s.refused.Inc()
				(&write{s: k.s}).keep([]rejects.Entry{{Why: broken.Why, Text: broken.Text}})
			}
			if err == io.EOF || k.s.Stopping() || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		stored := k.batch.Add(text, time.Now())
		if acked {
			if !stored || !k.batch.Flush() {
				return errors.New("a message that its sender waits for is not stored")
			}
			if err := f.Stored(k.Conn); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
		}
	}
}

// Read reads from the connection. While it waits, a batch that is due is written.
func (k *Conn) Read(p []byte) (int, error) {
	for {
		if err := k.await(); err != nil {
			return 0, err
		}
		n, err := k.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			if k.last = time.Now(); k.begun.IsZero() {
				k.begun = k.last
			}
			return n, err
		}
		now := time.Now()
		switch {
		case k.s.Stopping():
			return 0, errDraining
		case k.batch.due(now):
			k.batch.Flush()
			k.last = now
		case !k.begun.IsZero() && now.Sub(k.begun) >= messageTime:
			return 0, fmt.Errorf("a message is not complete after %s", messageTime)
		case now.Sub(k.last) >= k.s.o.IdleTimeout:
			return 0, fmt.Errorf("nothing came for %s", k.s.o.IdleTimeout)
		}
	}
}

// await sets the deadline of the next read: when the connection is idle, its message late or its batch due, whichever
// comes first.
func (k *Conn) await() error {
	until := k.last.Add(k.s.o.IdleTimeout)
	if !k.begun.IsZero() {
		until = earlier(until, k.begun.Add(messageTime))
	}
	if k.batch.Len() > 0 {
		until = earlier(until, k.batch.first.Add(batchAge))
	}
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	switch {
	case k.s.draining:
		return errDraining
	case k.over:
		return errGivenUp
	}
	return k.SetReadDeadline(until)
}

// Address is the address of the sender.
func (k *Conn) Address() netip.Addr { return k.address }

// GiveUp ends the read that is under way and those to come. Any goroutine may call it; it does not wait.
func (k *Conn) GiveUp() {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.over = true
	k.SetReadDeadline(past) // of a closed connection the reads fail already
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
