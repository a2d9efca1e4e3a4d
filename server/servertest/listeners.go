package servertest

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// Listen opens a port.
func (h *House) Listen() net.Listener {
	h.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	return ln
}

// Serving runs what serves listeners. stop shuts the server down and wants all of it to end well, once: at the end of
// the test if not before.
func (h *House) Serving(serve ...func() error) (stop func()) {
	h.Helper()
	served := make(chan error, len(serve))
	for _, one := range serve {
		go func() { served <- one() }()
	}
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err := h.Server.Shutdown(ctx)
		for range serve {
			err = errors.Join(err, <-served)
		}
		if err != nil {
			h.Errorf("the listeners stop: %v", err)
		}
	})
	h.Cleanup(stop)
	return stop
}

// Forward serves the forward protocol at addr; for stop see Serving.
func (h *House) Forward() (addr string, stop func()) {
	h.Helper()
	ln := h.Listen()
	return ln.Addr().String(), h.Serving(func() error { return h.Server.ServeForward(ln) })
}

// Connect connects to an address for as long as the test runs.
func (h *House) Connect(addr string) net.Conn {
	h.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(40 * time.Second)); err != nil {
		h.Fatal(err)
	}
	return c
}

// BigMessage is a message of the forward protocol with one text of so many bytes, whose answer is BigAnswer.
func BigMessage(size int) string {
	return "\x93\xa1t\x91\x92\x01\x81\xa1a\xdb" + string(binary.BigEndian.AppendUint32(nil, uint32(size))) +
		strings.Repeat("x", size) + "\x81\xa5chunk\xa2id"
}

// BigAnswer is the answer to a BigMessage of any size.
const BigAnswer = "\x81\xa3ack\xda\x00\x02id"

// Eventually waits for something to hold.
func (h *House) Eventually(holds func() bool) {
	h.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(40 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			h.Fatal("it does not come")
		}
	}
}
