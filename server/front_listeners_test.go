package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// listen opens a port.
func (h *house) listen() net.Listener {
	h.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	return ln
}

// serving runs what serves listeners. stop stops them and wants all of it to end well, once: at the end of the test if
// not before.
func (h *house) serving(serve ...func() error) (stop func()) {
	h.Helper()
	served := make(chan error, len(serve))
	for _, one := range serve {
		go func() { served <- one() }()
	}
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err := h.s.listeners.shutdown(ctx)
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

// forward serves the forward protocol.
func (h *house) forward() (addr string, stop func()) {
	h.Helper()
	ln := h.listen()
	return ln.Addr().String(), h.serving(func() error { return h.s.ServeForward(ln) })
}

// connect connects to an address for as long as the test runs.
func (h *house) connect(addr string) net.Conn {
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

// bigMessage is a message of the forward protocol with one text of so many bytes, whose answer is bigAnswer.
func bigMessage(size int) string {
	return "\x93\xa1t\x91\x92\x01\x81\xa1a\xdb" + string(binary.BigEndian.AppendUint32(nil, uint32(size))) +
		strings.Repeat("x", size) + "\x81\xa5chunk\xa2id"
}

const bigAnswer = "\x81\xa3ack\xda\x00\x02id"

// TestSlowLargeMessages: senders that begin large messages and stand still keep no place from others, however many they
// are: one that arrives is stored and answered beside them while there is room, and in place of slow ones where there
// is none.
func TestSlowLargeMessages(t *testing.T) {
	for _, c := range []struct {
		name            string
		senders, begun  int
		held            string // by the slow ones
		someoneGivesWay bool
	}{
		{"a little of each", 40, 70 << 10, "1.048576e+07", false},
		{"all the room", 6, 15 << 20, "6.7108864e+07", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := real(t, nil)
			addr, _ := h.forward()
			slow := bigMessage(16<<20 - 100)
			var conns []net.Conn
			for range c.senders {
				k := h.connect(addr)
				conns = append(conns, k)
				go io.WriteString(k, slow[:c.begun]) // those that find no room stand still as well
			}
			h.eventually(func() bool { // of those that wait for room one may have been cut off already
				a := h.do("GET", "/metrics", "")
				return (c.someoneGivesWay || strings.Contains(a.body,
					fmt.Sprintf("varve_forward_connections %d\n",
						c.senders))) && strings.Contains(a.body, "varve_forward_held_bytes "+c.held)
			})
			good := h.connect(addr) // for less than the minute that a message may take
			if _, err := io.WriteString(good, bigMessage(1<<20)); err != nil {
				t.Fatal(err)
			}
			answer := make([]byte, len(bigAnswer))
			if _, err := io.ReadFull(good, answer); err != nil || string(answer) != bigAnswer {
				t.Fatalf("answer %q, %v", answer, err)
			}
			closed := func() (n int) {
				for _, k := range conns {
					k.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
					if _, err := k.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
						n++
					}
				}
				return n
			}
			if c.someoneGivesWay {
				h.eventually(func() bool { return closed() > 0 })
			}
			if n := closed(); (n > 0) != c.someoneGivesWay || n == c.senders {
				t.Errorf("%d of %d slow senders were cut off", n, c.senders)
			}
		})
	}
}

// TestListenersBoundAddresses: one address has no more connections of each listener than it may, and those that are
// closed are counted: one too many, or of gRPC the one that has been silent for the longest time.
func TestListenersBoundAddresses(t *testing.T) {
	h := real(t, func(o *Options) {
		o.Forward.MaxConnections, o.Forward.MaxPerAddress = 8, 2
		o.Syslog.MaxConnections, o.Syslog.MaxPerAddress = 8, 2
		o.MaxGRPCConnections, o.MaxGRPCPerAddress = 8, 2
	})
	logs := h.listen()
	entries, _ := h.forward()
	h.serving(func() error { return h.s.ServeSyslog(logs) })
	for name, addr := range map[string]string{"forward": entries, "syslog": logs.Addr().String(), "grpc": h.calls()} {
		var kept []net.Conn
		for range 2 {
			kept = append(kept, h.connect(addr))
		}
		closed := h.connect(addr)
		if name == "grpc" {
			closed = kept[0]
		}
		if n, err := closed.Read(make([]byte, 1)); n > 0 || err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: beside a third connection: %d bytes, %v", name, n, err)
		}
		h.want(h.do("GET", "/metrics", ""), 200, "varve_"+name+"_connections_refused_total 1\n")
		kept[1].Close()
		h.eventually(func() bool {
			k := h.connect(addr)
			k.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			_, err := k.Read(make([]byte, 1))
			return err != nil && strings.Contains(err.Error(), "timeout")
		})
	}
}

// eventually waits for something to hold.
func (h *house) eventually(holds func() bool) {
	h.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(40 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			h.Fatal("it does not come")
		}
	}
}
