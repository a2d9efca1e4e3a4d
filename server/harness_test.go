package server

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
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/pipeline"
	"varve/pipeline/value"
	"varve/server/auth"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// The addresses that clients of protocols are given.
const (
	bulkPath      = "/v1/elasticsearch"
	collectorPath = "/v1/splunk"
	agentPath     = "/v1/datadog"
	agentLogs     = agentPath + "/api/v2/logs"
	linesPath     = "/v1/lineproto"
	metricsPath   = "/v1/metricsapi"
	otlpMetrics   = "/v1/otlp/v1/metrics"
	otlpTraces    = "/v1/otlp/v1/traces"
	otlpLogs      = "/v1/otlp/v1/logs"
)

// bodies stands for pipelines: it keeps the bodies that were read to the end, and makes one row of each.
type bodies struct {
	mu   sync.Mutex
	list [][]byte
}

func (b *bodies) Run(_ context.Context, _ *pipeline.Request, body io.Reader, _ *engine.WriteSet) (pipeline.Outcome,
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

func (b *bodies) RunValues(context.Context, *pipeline.Request, func(*value.Arena) (value.Value, bool, error),
	*engine.WriteSet) (pipeline.Outcome, error) {
	return pipeline.Outcome{}, nil
}

// Times gives times that are as good as any.
func (b *bodies) Times(int64) int64 { return time.Now().UnixNano() }

// Removals is 0: nothing is removed.
func (b *bodies) Removals() uint64 { return 0 }

func (b *bodies) taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// nowhere is a store that takes rows and forgets them.
type nowhere struct{}

func (nowhere) Write(context.Context, *engine.WriteSet) ([]engine.Written, error) {
	return []engine.Written{{Rows: 1}}, nil
}

// statements stands for SQL: it parses, and answers every statement by run, or with one number.
type statements struct {
	run func(ctx context.Context, st parse.Statement) (*sqlexec.Result, error)
}

func (s *statements) HasDatabase(name string) bool { return name == "public" }

func (s *statements) ParseWithin(_ context.Context, _ *sqlexec.Session, text string) ([]parse.Statement, func(),
	error) {
	list, err := parse.Parse(text)
	return list, func() {}, err
}

func (s *statements) Execute(ctx context.Context, _ *sqlexec.Session, st parse.Statement) (*sqlexec.Result, error) {
	if s.run != nil {
		return s.run(ctx, st)
	}
	return one(7), nil
}

// condition is the state of a store with a damaged part and a damaged table; ready is why it is not ready.
type condition struct{ ready error }

func (c *condition) Ready() error    { return c.ready }
func (c *condition) ReadOnly() error { return nil }

func (c *condition) SetAside() []engine.SetAside {
	return []engine.SetAside{{File: "part-7", Reason: "checksum"}}
}

func (c *condition) TablesAside() []engine.TableAside {
	return []engine.TableAside{{Name: schema.Name{DB: "service_private", Table: "views.aside-1"},
		Reason: "the table has no column ts"}}
}

func (c *condition) Collectors() []prometheus.Collector { return nil }

// twoLevels are the log levels debug and info.
type twoLevels struct{}

func (twoLevels) Set(text string) (from, to string, err error) {
	if text != "debug" && text != "info" {
		return "", "", fmt.Errorf("no such level")
	}
	return "info", text, nil
}

// one is a result of one number.
func one(n int64) *sqlexec.Result {
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

// house is a server that runs.
type house struct {
	*testing.T
	s    *Server
	addr string
	url  string

	// What a server of open stands on.
	bodies  *bodies
	answers *statements
	state   *condition
}

// as is the house for a part of its test.
func (h *house) as(t *testing.T) *house {
	part := *h
	part.T = t
	return &part
}

// open starts a server on fakes; change adapts its options.
func open(t *testing.T, change func(*Options)) *house {
	t.Helper()
	h := &house{T: t, bodies: &bodies{}, answers: &statements{}, state: &condition{}}
	log := &lockedBuffer{}
	o := Options{
		BodyLimit: 1 << 20, EnableCORS: true,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	o.Rows.Pipelines, o.Rows.Writer = h.bodies, web.NewWriter(nowhere{})
	o.Query.Executor = h.answers
	registry := prometheus.NewRegistry()
	o.Admin.Version, o.Admin.Store, o.Admin.Levels, o.Admin.Registry = "1.2.3", h.state, twoLevels{}, registry
	o.Admin.Config = func() string { return "enable_telemetry = false\n" }
	if change != nil {
		change(&o)
	}
	s, err := New(o, registry)
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
	h.s, h.addr, h.url = s, ln.Addr().String(), "http://"+ln.Addr().String()
	return h
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers come in pairs.
func (h *house) do(method, path, body string, headers ...string) answer {
	h.Helper()
	r, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
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
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// want checks an answer's status and that its body contains a text.
func (h *house) want(a answer, status int, contains string) {
	h.Helper()
	if a.status != status || !strings.Contains(a.body, contains) {
		h.Errorf("got %d %q, want %d with %q", a.status, a.body, status, contains)
	}
}

// raw sends bytes and reads what comes until the connection is closed or nothing comes any more.
func (h *house) raw(send string) string {
	h.Helper()
	c, err := net.Dial("tcp", h.addr)
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

// statusLines are the status codes of the answers in raw output.
func statusLines(raw string) []string {
	var list []string
	for _, m := range statusLine.FindAllStringSubmatch(raw, -1) {
		list = append(list, m[1])
	}
	return list
}

var statusLine = regexp.MustCompile(`HTTP/1\.1 (\d{3}) `)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func users(t *testing.T, provider string) *auth.Users {
	t.Helper()
	u, err := auth.Open(provider, nil)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
