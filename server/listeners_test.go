package server_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"varve/server"
	"varve/server/servertest"
)

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
			h := servertest.Real(t, nil)
			addr, _ := h.Forward()
			slow := servertest.BigMessage(16<<20 - 100)
			var conns []net.Conn
			for range c.senders {
				k := h.Connect(addr)
				conns = append(conns, k)
				go io.WriteString(k, slow[:c.begun]) // those that find no room stand still as well
			}
			h.Eventually(func() bool { // of those that wait for room one may have been cut off already
				a := h.Do("GET", "/metrics", "")
				return (c.someoneGivesWay || strings.Contains(a.Body,
					fmt.Sprintf("varve_forward_connections %d\n",
						c.senders))) && strings.Contains(a.Body, "varve_forward_held_bytes "+c.held)
			})
			good := h.Connect(addr) // for less than the minute that a message may take
			if _, err := io.WriteString(good, servertest.BigMessage(1<<20)); err != nil {
				t.Fatal(err)
			}
			answer := make([]byte, len(servertest.BigAnswer))
			if _, err := io.ReadFull(good, answer); err != nil || string(answer) != servertest.BigAnswer {
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
				h.Eventually(func() bool { return closed() > 0 })
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
	h := servertest.Real(t, func(o *server.Options) {
		o.Forward.MaxConnections, o.Forward.MaxPerAddress = 8, 2
		o.Syslog.MaxConnections, o.Syslog.MaxPerAddress = 8, 2
		o.MaxGRPCConnections, o.MaxGRPCPerAddress = 8, 2
	})
	logs := h.Listen()
	entries, _ := h.Forward()
	h.Serving(func() error { return h.Server.ServeSyslog(logs) })
	for name, addr := range map[string]string{"forward": entries, "syslog": logs.Addr().String(), "grpc": h.Calls()} {
		var kept []net.Conn
		for range 2 {
			kept = append(kept, h.Connect(addr))
		}
		closed := h.Connect(addr)
		if name == "grpc" {
			closed = kept[0]
		}
		if n, err := closed.Read(make([]byte, 1)); n > 0 || err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: beside a third connection: %d bytes, %v", name, n, err)
		}
		h.Want(h.Do("GET", "/metrics", ""), 200, "varve_"+name+"_connections_refused_total 1\n")
		kept[1].Close()
		h.Eventually(func() bool {
			k := h.Connect(addr)
			k.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			_, err := k.Read(make([]byte, 1))
			return err != nil && strings.Contains(err.Error(), "timeout")
		})
	}
}
