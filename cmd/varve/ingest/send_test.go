package ingest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/client"
)

// TestTrouble: whatever passes is tried again until everything is stored once.
func TestTrouble(t *testing.T) {
	lines := made(1500)
	busy := func(status int) func(int, http.ResponseWriter, []byte) bool {
		return func(n int, w http.ResponseWriter, _ []byte) bool {
			if n%3 != 0 {
				return false
			}
			w.WriteHeader(status)
			return true
		}
	}
	for name, before := range map[string]func(int, http.ResponseWriter, []byte) bool{
		"408": busy(408), "429": busy(429), "500": busy(500), "503": busy(503), "504": busy(504),
		"cut before it is stored": func(n int, w http.ResponseWriter, _ []byte) bool {
			if n%3 == 0 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
		"too large": func(_ int, w http.ResponseWriter, body []byte) bool {
			if len(body) > 700 {
				w.WriteHeader(413)
			}
			return len(body) > 700
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.before = before
			out := f.mustSend(Options{Args: []string{write(t, "x", text(lines))}, Batch: leastBatch, Connections: 4})
			f.wantLines(lines)
			if name != "too large" {
				wants(t, out.result, " retries")
				wants(t, out.notes, "tried again for 10m0s")
			}
			if lost := strings.Contains(out.result, "may be stored twice"); lost !=
				(name == "408" || name == "504" || strings.HasPrefix(name, "cut")) {
				t.Errorf("lost answers: %v\n%s", lost, out.result)
			}
		})
	}
}

// TestLostAnswer: a batch whose answer was lost is sent again, and counted.
func TestLostAnswer(t *testing.T) {
	f, lines := newFake(t), made(100)
	f.before = func(n int, _ http.ResponseWriter, body []byte) bool {
		if n == 1 {
			f.keep(body)
			panic(http.ErrAbortHandler)
		}
		return false
	}
	out := f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(text(lines))})
	wants(t, out.result, "1 batch of 100 rows may be stored twice: the answer was lost")
	if f.lines[lines[0]] != 2 {
		t.Errorf("the first line is kept %d times", f.lines[lines[0]])
	}
}

// TestLostForGood: a batch that may be stored, and is not sent again, is counted, however its last attempt ends.
func TestLostForGood(t *testing.T) {
	f := newFake(t)
	f.before = func(n int, w http.ResponseWriter, _ []byte) bool {
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(403)
		return true
	}
	out := f.send(t.Context(), Options{Args: []string{"-"}, Stdin: strings.NewReader("{}\n")})
	wants(t, out.result, "1 batch of 1 entry may be stored although no answer said so")

	f = newFake(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	given := make(chan struct{})
	f.before = func(int, http.ResponseWriter, []byte) bool {
		cancel(errInterrupt)
		<-given
		return false
	}
	c, err := (&client.Flags{URL: f.http.URL}).Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{DB: "public", RetryFor: time.Minute, Connections: 1}
	r := &running{o: o, c: c, report: newReport(o), stop: make(chan struct{}), ended: t.Context().Err}
	s := newSender(r, ctx)
	b := &batch{in: &input{format: formats["ndjson"], table: "t"}, part: part{body: []byte("{}\n{}\n")}}
	err = (&worker{sender: s}).deliver(b, &b.part)
	close(given)
	if sums := r.report.sum(); !errors.Is(err, errInterrupt) || sums.lost != 1 || sums.lostRow != 2 {
		t.Errorf("got %v, %d batches of %d rows", err, sums.lost, sums.lostRow)
	}
}

// TestBusyServerGetsLess: each 429 takes one request out of flight.
func TestBusyServerGetsLess(t *testing.T) {
	f, lines := newFake(t), made(4000)
	held := make(chan struct{})
	f.before = func(n int, w http.ResponseWriter, _ []byte) bool {
		if n <= 4 { // all at once
			if n == 4 {
				close(held)
			}
			<-held
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
			return true
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if n == 8 { // the last ones of before are gone
			f.most = f.inFlight
		}
		return false
	}
	f.mustSend(Options{Args: []string{write(t, "x", text(lines[:600]))}, Batch: leastBatch, Connections: 4})
	f.wantLines(lines[:600])
	if f.most > 1 {
		t.Errorf("%d requests at the same time", f.most)
	}
}

// TestGivesUp: after the time of --retry-for the run ends with what the server said, and its exit code.
func TestGivesUp(t *testing.T) {
	f := newFake(t)
	f.before = func(_ int, w http.ResponseWriter, _ []byte) bool { panic(http.ErrAbortHandler) }
	out := f.send(t.Context(), Options{Args: []string{write(t, "x", "{}\n")}, RetryFor: time.Millisecond})
	var unreachable *client.UnreachableError
	if !errors.As(out.err, &unreachable) {
		t.Errorf("got %v", out.err)
	}
	wants(t, out.result, "1 batch of 1 entry may be stored although no answer said so")

	c, err := (&client.Flags{URL: "http://127.0.0.1:1"}).Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), c, &Options{Args: []string{"-"}, Stdin: strings.NewReader(""), Table: "t", Notes: io.Discard,
		Result: io.Discard, StateDir: t.TempDir()})
	if !errors.As(err, &unreachable) {
		t.Errorf("without a server: %v", err)
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(401)
	}))
	defer refusing.Close()
	f.http.URL = refusing.URL
	var refused *client.RefusedError
	if out := f.send(t.Context(), Options{Args: []string{"-"}, Stdin: strings.NewReader("")}); !errors.As(out.err,
		&refused) {
		t.Errorf("got %v", out.err)
	}
}
