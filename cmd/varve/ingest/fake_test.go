package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"varve/cmd/varve/client"
)

// fake is a server that keeps the lines it takes, and misbehaves as a test wants it to.
type fake struct {
	t    *testing.T
	http *httptest.Server
	// before answers instead of the server, and says so, or lets it go on. n counts the requests with a body, from 1.
	before func(n int, w http.ResponseWriter, body []byte) bool
	// after does something once the body is kept, before it is answered.
	after func(n int)
	// store, table and emptied are what the server says that it is; without a store it is an old one, which does not
	// remember batches.
	store          string
	table, emptied int

	mu       sync.Mutex
	n        int
	lines    map[string]int // how often each is kept
	batches  map[string]int // rows of those that are remembered, by id
	requests []*http.Request
	bodies   []string
	inFlight int
	answered sync.Cond // of mu: a request left inFlight
	most     int       // requests at the same time
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, lines: map[string]int{}, batches: map[string]int{}}
	f.answered.L = &f.mu
	f.http = httptest.NewServer(f)
	t.Cleanup(f.http.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/ingest/target" {
		f.identify(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.Header.Get("Content-Encoding") == "zstd" {
		d, err := zstd.NewReader(bytes.NewReader(body))
		if err != nil {
			f.t.Error(err)
		}
		if body, err = io.ReadAll(d); err != nil {
			f.t.Error(err)
		}
		d.Close()
	}
	f.mu.Lock()
	f.requests, f.bodies = append(f.requests, r), append(f.bodies, string(body))
	if len(body) == 0 || !strings.HasPrefix(r.URL.Path, "/v1/") || strings.HasPrefix(r.URL.Path, "/v1/pipelines") {
		f.mu.Unlock()
		fmt.Fprint(w, `{"output":[],"pipelines":[{"name":"p","version":"2026-01-01 00:00:00"}]}`)
		return
	}
	f.n++
	n, before, after := f.n, f.before, f.after
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inFlight--
		f.mu.Unlock()
		f.answered.Broadcast()
	}()
	if before != nil && before(n, w, body) {
		return
	}
	id := r.Header.Get("X-Service-Batch-Id")
	rows, again := f.remembered(id)
	if !again {
		rows = f.keep(body)
	}
	if rows < 0 {
		w.WriteHeader(400)
		fmt.Fprint(w, `{"code":1004,"error":"a bad entry"}`)
		return
	}
	f.remember(id, rows)
	if after != nil {
		after(n)
	}
	fmt.Fprintf(w, `{"output":[{"affectedrows":%d}],"execution_time_ms":1}`, rows)
}

// set replaces what before and after do. A request may come late: a run does not wait for what it gave up.
func (f *fake) set(before func(n int, w http.ResponseWriter, body []byte) bool, after func(n int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// count is the number of requests with a body.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// identify says what the server and its table are.
func (f *fake) identify(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.store == "":
		w.WriteHeader(404)
	case f.table == 0:
		fmt.Fprintf(w, `{"store":%q,"table_id":null}`, f.store)
	default:
		fmt.Fprintf(w, `{"store":%q,"table_id":%d,"emptied":%d}`, f.store, f.table, f.emptied)
	}
}

// remembered are the rows of a batch that is stored already.
func (f *fake) remembered(id string) (rows int, again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows, again = f.batches[id]
	return rows, again
}

// remember remembers a batch, as a server with a name does.
func (f *fake) remember(id string, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store != "" && id != "" {
		f.batches[id] = rows
	}
	f.table = max(f.table, 1)
}

// keep takes the lines of a body, all or, where one of them says that it is bad, none: -1.
func (f *fake) keep(body []byte) int {
	if bytes.Contains(body, []byte("bad")) {
		return -1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rows := 0
	for _, line := range strings.Split(string(body), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			f.lines[line]++
			rows++
		}
	}
	return rows
}

// wantLines checks that these lines are kept, each once.
func (f *fake) wantLines(want []string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	wrong := 0
	for _, line := range want {
		if n := f.lines[line]; n != 1 {
			if wrong++; wrong <= 3 {
				f.t.Errorf("line %.40q is kept %d times", line, n)
			}
		}
	}
	if wrong > 3 {
		f.t.Errorf("and %d others", wrong-3)
	}
	if len(f.lines) != len(want) {
		f.t.Errorf("%d lines are kept, want %d", len(f.lines), len(want))
	}
}

// watched are notes that a test waits for.
type watched struct {
	mu   sync.Mutex
	news *sync.Cond
	text strings.Builder
}

func newWatched() *watched {
	w := &watched{}
	w.news = sync.NewCond(&w.mu)
	return w
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	w.news.Broadcast()
	return len(p), nil
}

// await waits until something was noted.
func (w *watched) await(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !strings.Contains(w.text.String(), part) {
		w.news.Wait()
	}
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// outcome is what a run of the command gave.
type outcome struct {
	err           error
	notes, result string
}

// send runs the command. The state is one of the test's.
func (f *fake) send(ctx context.Context, o Options) outcome {
	f.t.Helper()
	c, err := (&client.Flags{URL: f.http.URL}).Connect(nil, io.Discard)
	if err != nil {
		f.t.Fatal(err)
	}
	notes, ok := o.Notes.(*watched)
	if !ok {
		notes = newWatched()
	}
	var result bytes.Buffer
	o.Notes, o.Result = notes, &result
	if o.Table == "" && o.Manifest == "" {
		o.Table = "t"
	}
	if o.StateDir == "" {
		o.StateDir = f.t.TempDir()
	}
	if o.MaxRejects == 0 {
		o.MaxRejects = -1
	}
	err = Run(ctx, c, &o)
	f.mu.Lock()
	for f.inFlight > 0 { // those that the run gave up are in work still
		f.answered.Wait()
	}
	f.mu.Unlock()
	return outcome{err, notes.String(), result.String()}
}

// mustSend runs the command and wants it to go well.
func (f *fake) mustSend(o Options) outcome {
	f.t.Helper()
	out := f.send(f.t.Context(), o)
	if out.err != nil {
		f.t.Fatalf("%v\n%s", out.err, out.notes)
	}
	return out
}

// made are n lines of JSON, all different and of many lengths.
func made(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("x", i%97))
	}
	return lines
}

// write makes a file of the test.
func write(t *testing.T, name string, text string) string {
	t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(t.TempDir(), name)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func text(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// wants checks that a text says something.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}
