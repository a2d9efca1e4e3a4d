package syslog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/server/write/rows"
)

// store counts the rows that it is given.
type store struct {
	mu    sync.Mutex
	block chan struct{} // not nil: writes wait for it
	fail  int           // so many writes find no room
	tries int
}

func (*store) Table(schema.Name) (*engine.Table, error) {
	return nil, errors.New("there is no such table")
}

func (s *store) Write(ctx context.Context, _ *engine.WriteSet) ([]engine.Written, error) {
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tries++; s.tries <= s.fail {
		return nil, status.New(status.StorageUnavailable, "the disk is full")
	}
	return []engine.Written{{Rows: 1}}, nil
}

// start serves TCP; it gives the address and a stop, which fails the test when the server does not stop well.
func start(t *testing.T, o Options) (s *Server, addr string, stop func()) {
	t.Helper()
	s = New(o)
	ln := port(t)
	return s, ln.Addr().String(), serve(t, s, ln)
}

func port(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// serve has a server accept connections until stop or the end of the test.
func serve(t *testing.T, s *Server, ln net.Listener) (stop func()) {
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Errorf("the server stops: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func send(t *testing.T, network, addr, text string) net.Conn {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return c
}

// figure is the value of a figure of the server.
func figure(t *testing.T, s *Server, name string) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	for _, c := range s.Collectors() {
		r.MustRegister(c)
	}
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == name {
			return f.Metric[0].GetCounter().GetValue() + f.Metric[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no figure %s", name)
	return 0
}

// await waits until a figure has reached a value.
func await(t *testing.T, s *Server, name string, least float64) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(40 * time.Second); ; {
		if figure(t, s, name) >= least {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s is %v, want %v", name, figure(t, s, name), least)
		}
	}
}

// TestShutdown: what arrived before the server stops is written, although the connection is open and the batch young.
func TestShutdown(t *testing.T) {
	st := &store{}
	s, addr, stop := start(t, Options{Store: st, Deps: rows.Deps{Tables: st}})
	send(t, "tcp", addr, "<1>a\n<1>b\n")
	await(t, s, "varve_syslog_messages_total", 2)
	stop()
	if st.tries == 0 || figure(t, s, "varve_syslog_udp_lost_total") != 0 {
		t.Errorf("%d writes", st.tries)
	}
}

// TestAge: a batch that does not grow is written while the connection stays open, and a store without room is asked
// again.
func TestAge(t *testing.T) {
	st := &store{fail: 2}
	s, addr, _ := start(t, Options{Store: st, Deps: rows.Deps{Tables: st}})
	send(t, "tcp", addr, "4 <1>a3 <1")
	await(t, s, "varve_syslog_rows_total", 1)
	if st.tries != 3 || figure(t, s, "varve_syslog_messages_refused_total") != 0 {
		t.Errorf("%d tries", st.tries)
	}
}

// closed wants the server to close a connection.
func closed(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection stays open: %v", err)
	}
}

// TestTooMany: connections past the number are closed.
func TestTooMany(t *testing.T) {
	st := &store{}
	s, addr, _ := start(t, Options{Store: st, Deps: rows.Deps{Tables: st}, MaxConnections: 1})
	send(t, "tcp", addr, "<1>a\n")
	await(t, s, "varve_syslog_messages_total", 1)
	closed(t, send(t, "tcp", addr, ""))
	await(t, s, "varve_syslog_connections_refused_total", 1)
	await(t, s, "varve_syslog_rows_total", 1)
}

// TestIdle: connections that send nothing are closed, what came before is written.
func TestIdle(t *testing.T) {
	st := &store{}
	s, ln := New(Options{Store: st, Deps: rows.Deps{Tables: st}, IdleTimeout: 100 * time.Millisecond}), port(t)
	one, none := send(t, "tcp", ln.Addr().String(), "<1>a\n"), send(t, "tcp", ln.Addr().String(), "")
	serve(t, s, ln) // what one sends is there before its time begins
	closed(t, one)
	closed(t, none)
	await(t, s, "varve_syslog_rows_total", 1)
}

// TestPushBack: a sender waits for a store that takes nothing; what it sent is there when the store goes on.
func TestPushBack(t *testing.T) {
	st := &store{block: make(chan struct{})}
	s, addr, _ := start(t, Options{Store: st, Deps: rows.Deps{Tables: st}})
	c := send(t, "tcp", addr, "<1>a\n")
	piece := []byte(strings.Repeat("<1>"+strings.Repeat("x", 1000)+"\n", 100))
	c.SetWriteDeadline(time.Now().Add(700 * time.Millisecond))
	sent := 0
	for sent < 1<<30 {
		n, err := c.Write(piece)
		if sent += n; err != nil {
			break
		}
	}
	if taken := figure(t, s, "varve_syslog_messages_total"); sent >= 1<<30 || taken > 1000 {
		t.Errorf("%d bytes could be sent, %v messages taken, though nothing is stored", sent, taken)
	}
	close(st.block)
	await(t, s, "varve_syslog_messages_total", float64(sent/1004))
}

// TestUDP: datagrams are messages; those that find no room are counted.
func TestUDP(t *testing.T) {
	st := &store{block: make(chan struct{})}
	s := New(Options{Store: st, Deps: rows.Deps{Tables: st}, MaxMessage: 1024})
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.ServeUDP(pc) }()
	c := send(t, "udp", pc.LocalAddr().String(), "<1>"+strings.Repeat("x", 2000))
	await(t, s, "varve_syslog_messages_cut_total", 1)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); figure(t, s, "varve_syslog_udp_lost_total") == 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("nothing is lost")
		}
		for i := range 200 { // about as many as the system keeps for a server that does not come to read them
			if _, err := fmt.Fprintf(c, "<1>%d %s", i, strings.Repeat("x", 1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(st.block)
	await(t, s, "varve_syslog_messages_total", 1000)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
		t.Error(err)
	}
}
