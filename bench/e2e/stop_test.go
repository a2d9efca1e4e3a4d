package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/bench/process"
)

// TestTermination ends a server by SIGTERM under load, with one connection idle and one that has sent half a request:
// exit code 0 within the limit, and nothing acknowledged lost.
func TestTermination(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	for _, half := range []string{"",
		"POST /v1/ingest?table=x HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\n{"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := io.WriteString(c, half); err != nil {
			t.Fatal(err)
		}
	}
	book := &ledger{batches: map[string]*batch{}}
	var answers atomic.Int64
	enough := make(chan struct{})
	var wg sync.WaitGroup
	for c := range 3 {
		random := rand.New(rand.NewPCG(*seed, uint64(c)))
		wg.Go(func() {
			err := writeUntilDead(s, book, fmt.Sprintf("c%d", c), random, func() {
				if answers.Add(1) == 50 {
					close(enough)
				}
			})
			if answers.Load() < 50 {
				t.Errorf("connection %d: %v", c, err)
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(askLimit):
		t.Errorf("%d answers in %v, want 50", answers.Load(), askLimit)
	}
	stop(t, s)
	wg.Wait()
	verify(t, start(t, dir), book)
}

// TestSecondServer is refused on the same directory, in a sentence, and the first goes on.
func TestSecondServer(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	second, err := process.Launch(process.Options{Binary: binary, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-second.Done():
	case <-time.After(startLimit):
		t.Error("the second server runs")
	}
	if err := second.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := second.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if out := second.Output(); !strings.Contains(out, "another server") && !strings.Contains(out, "in use") &&
		!strings.Contains(out, "lock") {
		t.Errorf("the second server does not say why it ends:\n%s", out)
	}
	wantRows(t, first, "SELECT 1", "[1]")
}

// TestBadConfiguration stops the start with exit code 2 and a sentence that names the key.
func TestBadConfiguration(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		env  string
		want string
	}{
		{"unknown key", []string{"--set", "http.adress=127.0.0.1:1"}, "", "http.adress"},
		{"bad value", nil, "VARVE_WAL__SYNC=sometimes", "wal.sync"},
		{"bad size", nil, "VARVE_HTTP__BODY_LIMIT=many", "http.body_limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := process.Launch(process.Options{Binary: binary, Dir: t.TempDir(), Args: c.args,
				Env: []string{c.env}})
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-s.Done():
			case <-time.After(startLimit):
				t.Error("the server runs")
			}
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			if code := s.ExitCode(); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if out := s.Output(); !strings.Contains(strings.ToLower(out), c.want) &&
				(c.env == "" || !strings.Contains(out, strings.SplitN(c.env, "=", 2)[0])) {
				t.Errorf("no %q in %q", c.want, out)
			}
		})
	}
}

// TestAdmin looks at the pages that operators and their tools read.
func TestAdmin(t *testing.T) {
	s := start(t, t.TempDir())
	mustPost(t, s, write{table: "a", contentType: "application/json", body: []byte(`[{"x":1},{"x":2}]`)}, 2)
	if got := string(get(t, s, http.MethodGet, "/health", "")); got != "{}" {
		t.Errorf("/health: %q, want {}", got)
	}
	var status map[string]any
	if err := json.Unmarshal(get(t, s, http.MethodGet, "/status", ""), &status); err != nil {
		t.Errorf("/status: %v", err)
	}
	for _, member := range []string{"commit", "branch", "rustc_version", "hostname", "version"} {
		if _, ok := status[member].(string); !ok {
			t.Errorf("/status: member %s is %v, want text", member, status[member])
		}
	}
	for path, wants := range map[string][]string{
		"/metrics": {"# HELP ", "# TYPE ", "go_goroutines"},
		"/config":  {"[http]", "body_limit", "[wal]"},
	} {
		got := string(get(t, s, http.MethodGet, path, ""))
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", path, want, got)
			}
		}
	}
	if got := string(get(t, s, http.MethodPost, "/debug/log_level", "debug")); !strings.HasPrefix(got,
		"Log Level changed from ") {
		t.Errorf("/debug/log_level: %q", got)
	}
	if got := get(t, s, http.MethodPost, "/debug/prof/cpu?seconds=1&output=flamegraph",
		""); !strings.Contains(string(got), "<svg") {
		t.Errorf("/debug/prof/cpu: %.200q is no SVG", got)
	}
	if got := get(t, s, http.MethodPost, "/debug/prof/mem?output=proto", ""); len(got) < 100 {
		t.Errorf("/debug/prof/mem: %d bytes", len(got))
	}
}

// get asks for a page and wants status 200.
func get(t *testing.T, s *process.Server, method, path, body string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s: status %d: %.300s", method, path, resp.StatusCode, b)
	}
	return b
}
