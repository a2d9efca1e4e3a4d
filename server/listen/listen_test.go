package listen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/status"
	"varve/server/write/rows/rejects"
)

// store keeps the messages of the batches that it takes. "bad" ones make their batch fail, "odd" ones are left out of
// theirs; "panic" is one for the framer.
type store struct {
	mu      sync.Mutex
	full    bool
	batches [][]string
	next    map[*engine.WriteSet][]string
	most    int // batches in the making at a time
	making  int
}

func (s *store) rows(_ context.Context, list []Message, set *engine.WriteSet, _ func(int64) error,
	_ func() error) (made Made, err error) {
	s.mu.Lock()
	s.making++
	s.most = max(s.most, s.making)
	s.mu.Unlock()
	var texts []string
	var left []rejects.Entry
	for _, m := range list {
		switch text := string(m.Text); text {
		case "bad":
			err = status.New(status.InvalidArguments, "a bad message")
		case "odd":
			left = append(left, rejects.Entry{Why: errors.New("an odd message"), Text: m.Text})
		default:
			texts = append(texts, text)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.making--
	if s.next == nil {
		s.next = map[*engine.WriteSet][]string{}
	}
	s.next[set] = texts
	made.Rows, made.Left = len(texts), func() []rejects.Entry { return left }
	return made, err
}

func (s *store) Write(_ context.Context, set *engine.WriteSet) ([]engine.Written, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return nil, status.New(status.StorageUnavailable, "the disk is full")
	}
	s.batches = append(s.batches, s.next[set])
	return []engine.Written{{Rows: len(s.next[set])}}, nil
}

// all are the stored messages, in order.
func (s *store) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(slices.Concat(s.batches...), " ")
}

// words finds messages that end with a blank; the sender of one that ends with "?" waits.
type words struct{ r *bufio.Reader }

func (w words) Next() ([]byte, bool, error) {
	text, err := w.r.ReadBytes(' ')
	if err != nil {
		return nil, false, err
	}
	if text = text[:len(text)-1]; string(text) == "panic" {
		panic("a word that nobody expects")
	}
	return text, text[len(text)-1] == '?', nil
}

func (words) Stored(to net.Conn) error {
	_, err := io.WriteString(to, "!")
	return err
}

func (words) Close() {}

// serve starts a server; stop stops it.
func serve(t *testing.T, st *store) (s *Server, dial func(text string) net.Conn, stop func() error) {
	t.Helper()
	s = New(Options{Name: "words", Store: st, Rows: st.rows, Writers: 2})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln, func(r *bufio.Reader, _ *Conn) Framer { return words{r} }) }()
	var once sync.Once
	stop = func() (err error) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			err = errors.Join(s.Shutdown(ctx), <-served)
		})
		return err
	}
	t.Cleanup(func() { stop() })
	return s, func(text string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		return c
	}, stop
}

// value is that of a counter.
func value(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all[0].Metric[0].GetCounter().GetValue()
}

// answered reads so many answers.
func answered(t *testing.T, c net.Conn, n int) {
	t.Helper()
	got := make([]byte, n)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != strings.Repeat("!", n) {
		t.Fatalf("answers %q, %v", got, err)
	}
}

// TestMessagesAtFault: those at fault are left out and counted, the others of their batch are stored; a sender that
// waits is answered all the same.
func TestMessagesAtFault(t *testing.T) {
	st := &store{}
	s, dial, _ := serve(t, st)
	c := dial("a bad b odd c bad d? ")
	answered(t, c, 1)
	if got := st.all(); got != "a b c d?" {
		t.Errorf("stored %q", got)
	}
	if messages, rows, refused := value(t, s.messages), value(t, s.rows),
		value(t, s.refused); messages != 7 || rows != 4 || refused != 3 {
		t.Errorf("%v messages, %v rows, %v refused", messages, rows, refused)
	}
	// what is left of a batch goes with the first troubles
	if _, err := io.WriteString(c, strings.Repeat("bad ", 1000)+"e? "); err != nil {
		t.Fatal(err)
	}
	answered(t, c, 1)
	if refused, rows := value(t, s.refused), value(t, s.rows); refused+rows != 3+4+1001 {
		t.Errorf("%v refused, %v rows", refused, rows)
	}
}

// TestBatches: no batch has more messages or bytes than it may, no more are made at a time than there are writers, and
// none loses a message.
func TestBatches(t *testing.T) {
	st := &store{}
	s, dial, _ := serve(t, st)
	var wait sync.WaitGroup
	for k := range 6 {
		wait.Go(func() {
			var text strings.Builder
			for i := range 10_000 {
				fmt.Fprintf(&text, "%d.%d%s ", k, i, strings.Repeat("x", (k+1)*10))
			}
			answered(t, dial(text.String()+"end? "), 1)
		})
	}
	wait.Wait()
	if rows := value(t, s.rows); rows != 60_006 {
		t.Errorf("%v rows", rows)
	}
	if n := s.waiting.Load(); n != 0 {
		t.Errorf("%d messages wait although all are stored", n)
	}
	for _, b := range st.batches {
		if size := len(strings.Join(b, "")); len(b) > batchMessages || size > batchBytes {
			t.Errorf("a batch of %d messages, %d bytes", len(b), size)
		}
	}
	if st.most > 2 {
		t.Errorf("%d batches at a time", st.most)
	}
	seen := map[string]bool{}
	for _, b := range st.batches {
		for _, m := range b {
			if seen[m] && m != "end?" {
				t.Fatalf("%s is stored twice", m)
			}
			seen[m] = true
		}
	}
}

// TestPanicOfOne: what goes wrong in one connection ends that one alone.
func TestPanicOfOne(t *testing.T) {
	st := &store{}
	_, dial, stop := serve(t, st)
	bad, good := dial("a? "), dial("b? ")
	answered(t, bad, 1)
	answered(t, good, 1)
	if _, err := io.WriteString(bad, "panic "); err != nil {
		t.Fatal(err)
	}
	if _, err := bad.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection lives on: %v", err)
	}
	if _, err := io.WriteString(good, "c? "); err != nil {
		t.Fatal(err)
	}
	answered(t, good, 1)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// pipes is a listener whose connections the test makes.
type pipes struct {
	conns chan net.Conn
	over  chan struct{} // closed by Close
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.over)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestStopWithoutRoom: a server whose store takes nothing stops in its time; a sender that waits is not answered, so
// that it sends again.
func TestStopWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &store{full: true}
		s := New(Options{Name: "words", Store: st, Rows: st.rows})
		ln := &pipes{make(chan net.Conn), make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln, func(r *bufio.Reader, _ *Conn) Framer { return words{r} }) }()
		c, to := net.Pipe()
		defer c.Close()
		ln.conns <- to
		if _, err := io.WriteString(c, "a b? "); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := value(t, s.messages); n != 2 {
			t.Fatalf("%v messages arrive", n)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("an answer, or an open connection: %d, %v", n, err)
		}
		if refused := value(t, s.refused); refused != 2 {
			t.Errorf("%v refused", refused)
		}
		if done, ok := s.Keep(to); ok {
			done()
			t.Error("a server that has stopped takes a listener")
		}
	})
}
