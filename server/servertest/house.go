// Package servertest drives a whole server from the tests of the packages below server, which they test by what clients
// see. Only tests import it: the test of the import table holds that.
//
// Open starts a server on fakes, Real one on a store in a directory of the test. Both give a House, whose methods send
// requests and check answers. The other files make what clients of protocols send:
//
//	house.go store.go                    servers, and requests to them
//	sql.go running.go slow.go            statements, queries at work, the record of slow statements
//	cases.go match.go                    files of cases and the patterns in them
//	paths.go pipelines.go                addresses, documents of pipelines
//	payloads.go                          bodies that clients really sent, from testdata/payloads
//	otlp.go otlprequests.go grpc.go      requests of OTLP, also as calls
//	remotewrite.go histogram.go          messages of remote write
//	remoteread.go                        queries and answers of remote read
//	listeners.go                         connections to listeners that are not HTTP
package servertest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/pipeline"
	"varve/pipeline/value"
	"varve/server"
	"varve/server/auth"
	"varve/server/read/slowquery"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// Bodies stands for pipelines: it keeps the bodies that were read to the end, and makes one row of each.
type Bodies struct {
	mu   sync.Mutex
	list [][]byte
}

func (b *Bodies) Run(_ context.Context, _ *pipeline.Request, body io.Reader, _ *engine.WriteSet) (pipeline.Outcome,
	error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	b.mu.Lock()
	b.list = append(b.list, text)
	b.mu.Unlock()
	return pipeline.Outcome{Rows: 1}, nil
}

func (b *Bodies) RunValues(context.Context, *pipeline.Request, func(*value.Arena) (value.Value, bool, error),
	*engine.WriteSet) (pipeline.Outcome, error) {
	return pipeline.Outcome{}, nil
}

// Times gives times that are as good as any.
func (b *Bodies) Times(int64) int64 { return time.Now().UnixNano() }

// Removals is 0: nothing is removed.
func (b *Bodies) Removals() uint64 { return 0 }

// Taken is the number of bodies so far.
func (b *Bodies) Taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// nowhere is a store that takes rows and forgets them.
type nowhere struct{}

func (nowhere) Write(context.Context, *engine.WriteSet) ([]engine.Written, error) {
	return []engine.Written{{Rows: 1}}, nil
}

// Statements stands for SQL: it parses, and answers every statement by Run, or with one number.
type Statements struct {
	Run func(ctx context.Context, st parse.Statement) (*sqlexec.Result, error)
}

func (s *Statements) HasDatabase(name string) bool { return name == "public" }

func (s *Statements) ParseWithin(_ context.Context, _ *sqlexec.Session, text string) ([]parse.Statement, func(),
	error) {
	list, err := parse.Parse(text)
	return list, func() {}, err
}

func (s *Statements) Attend(ctx context.Context, _ *sqlexec.Session, _ string,
	part func(ctx context.Context) error) error {
	return part(ctx)
}

func (s *Statements) Execute(ctx context.Context, _ *sqlexec.Session, st parse.Statement) (*sqlexec.Result, error) {
	if s.Run != nil {
		return s.Run(ctx, st)
	}
	return One(7), nil
}

// Condition is the state of a store with a damaged part and a damaged table; NotReady is why it is not ready.
type Condition struct{ NotReady error }

func (c *Condition) Ready() error { return c.NotReady }

func (c *Condition) ReadOnly() error { return nil }

func (c *Condition) SetAside() []engine.SetAside {
	return []engine.SetAside{{File: "part-7", Reason: "checksum"}}
}

func (c *Condition) TablesAside() []engine.TableAside {
	return []engine.TableAside{{Name: schema.Name{DB: "service_private", Table: "views.aside-1"},
		Reason: "the table has no column ts"}}
}

func (c *Condition) DatabaseSizes() []engine.DatabaseSize { return nil }

func (c *Condition) Cold() engine.ColdStats { return engine.ColdStats{} }

func (c *Condition) Standing() manifest.Standing { return manifest.Standing{} }

func (c *Condition) Standby() *engine.Standby { return nil }

func (c *Condition) Primary() *engine.Primary { return nil }

func (c *Condition) Collectors() []prometheus.Collector { return nil }

// twoLevels are the log levels debug and info.
type twoLevels struct{}

func (twoLevels) Set(text string) (from, to string, err error) {
	if text != "debug" && text != "info" {
		return "", "", fmt.Errorf("no such level")
	}
	return "info", text, nil
}

// One is a result of one number.
func One(n int64) *sqlexec.Result {
	return &sqlexec.Result{Fields: []vector.Field{{Name: "n", Type: vector.Int64Type}},
		Rows: &numbers{left: 1, value: n}}
}

// numbers is a result of rows that hold a number.
type numbers struct {
	left  int
	value int64
}

func (r *numbers) Next(b *vector.Batch) (bool, error) {
	if r.left == 0 {
		return false, nil
	}
	b.N = min(r.left, vector.Size)
	r.left -= b.N
	b.Cols = []*vector.Vector{vector.ConstInt(vector.Int64Type, r.value)}
	return true, nil
}

func (r *numbers) Close() {}

// House is a server that runs, and the test that it runs for.
type House struct {
	testing.TB
	Server *server.Server
	Addr   string
	URL    string

	// What a server of Open stands on.
	Bodies  *Bodies
	Answers *Statements
	State   *Condition

	// Slow records the slow statements, if the options say so; else nil.
	Slow *slowquery.Recorder
}

// As is the house for a part of its test.
func (h *House) As(t testing.TB) *House {
	part := *h
	part.TB = t
	return &part
}

// Open starts a server on fakes; change adapts its options.
func Open(t testing.TB, change func(*server.Options)) *House {
	t.Helper()
	h := &House{TB: t, Bodies: &Bodies{}, Answers: &Statements{}, State: &Condition{}}
	log := &LogText{}
	o := server.Options{
		BodyLimit: 1 << 20, EnableCORS: true,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	o.Rows.Pipelines, o.Rows.Writer = h.Bodies, web.NewWriter(nowhere{})
	o.Query.Executor = h.Answers
	registry := prometheus.NewRegistry()
	o.Admin.Version, o.Admin.Store, o.Admin.Levels, o.Admin.Registry = "1.2.3", h.State, twoLevels{}, registry
	o.Admin.Config = func() string { return "enable_telemetry = false\n" }
	if change != nil {
		change(&o)
	}
	h.Slow = o.Slow
	s, err := server.New(o, registry)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Shutdown(ctx) // a test that left a connection open does not fail for it
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	h.Server, h.Addr, h.URL = s, ln.Addr().String(), "http://"+ln.Addr().String()
	return h
}

// LogText keeps what is logged. Safe for concurrent use.
type LogText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *LogText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Reset forgets all lines.
func (l *LogText) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// String returns all lines.
func (l *LogText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Answer is a response that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request; headers come in pairs.
func (h *House) Do(method, path, body string, headers ...string) Answer {
	h.Helper()
	r, err := http.NewRequest(method, h.URL+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}).Do(r)
	if err != nil {
		h.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatalf("%s %s: %v", method, path, err)
	}
	return Answer{resp.StatusCode, resp.Header, string(b)}
}

// Want checks an answer's status and that its body contains a text.
func (h *House) Want(a Answer, status int, contains string) {
	h.Helper()
	if a.Status != status || !strings.Contains(a.Body, contains) {
		h.Errorf("got %d %q, want %d with %q", a.Status, a.Body, status, contains)
	}
}

// Raw sends bytes and reads what comes until the connection is closed or nothing comes any more.
func (h *House) Raw(send string) string {
	h.Helper()
	c, err := net.Dial("tcp", h.Addr)
	if err != nil {
		h.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, send); err != nil {
		h.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	b, err := io.ReadAll(c)
	if err != nil {
		h.Logf("reading the answer: %v", err)
	}
	return string(b)
}

// StatusLines are the status codes of the answers in raw output.
func StatusLines(raw string) []string {
	var list []string
	for _, m := range statusLine.FindAllStringSubmatch(raw, -1) {
		list = append(list, m[1])
	}
	return list
}

var statusLine = regexp.MustCompile(`HTTP/1\.1 (\d{3}) `)

// Basic is the value of the header Authorization for a user.
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// Users are those of a provider.
func Users(t testing.TB, provider string) *auth.Users {
	t.Helper()
	u, err := auth.Open(provider, nil)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// UserLine is a line of a file of users, whose password is not in clear.
func UserLine(t testing.TB, user, password string) string {
	t.Helper()
	line, err := auth.Line(user, password)
	if err != nil {
		t.Fatal(err)
	}
	return line
}
