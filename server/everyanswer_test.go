package server_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// kind is what bounds the answers of a route.
type kind string

const (
	short    kind = "short"   // no answer is longer than web.FreeAnswer, whatever is stored or asked
	made     kind = "made"    // Ctx.Make or Ctx.Turn: a few are made at a time, and wait for room
	figures  kind = "figures" // as made, with places and room of their own
	copies   kind = "copies"  // what a standby copies: likewise
	pieces   kind = "pieces"  // Ctx.Pieces: no more than a piece is held, and one item
	results  kind = "results" // Ctx.Results, Ctx.Events, messages of a WebSocket, a body in the memory of a query
	ofWrites kind = "written" // of a request that writes: counted with its body
	static   kind = "static"  // files of the page, which all answers share
)

// kinds are the kinds of all routes below the prefixes that some clients have and others have not.
var kinds = map[kind]string{
	short: `/v1/ingest/target /v1/session / /health /ready /v1/health /config /favicon.ico /debug/log_level /debug/prof/mem/status
		/debug/prof/mem/activate /debug/prof/mem/deactivate /ping /api/v2/setup /api/v2/orgs /-/healthy /-/ready
		/v1/iceberg/v1/namespaces/{namespace}/tables/{table}/metrics /v1/standby/epoch /v1/standby/promote`,
	copies:  `/v1/standby/state /v1/standby/part /v1/standby/log`,
	figures: `/v1/queues /status /metrics`,
	made: `/v1/sql/format /v1/sql/parse /debug/prof/cpu /debug/prof/mem /v1/dashboards /v1/pipelines/dryrun /v1/pipelines/_dryrun
		/v1/pipelines/{name} /v1/pipelines/{name}/ddl /api/v2/buckets /query /api/v1/query_exemplars /api/v1/format_query /api/v1/parse_query
		/api/v1/status/buildinfo /api/v1/status/runtimeinfo /api/v1/status/tsdb /api/v1/status/config /api/v1/status/flags /api/v1/rules
		/api/v1/alerts /api/v1/targets /api/v1/alertmanagers /api/v1/targets/metadata /api/v1/features /v1/iceberg/v1/config
		/v1/iceberg/v1/namespaces /v1/iceberg/v1/namespaces/{namespace} /v1/iceberg/v1/namespaces/{namespace}/tables
		/v1/iceberg/v1/namespaces/{namespace}/tables/{table}`,
	pieces: `/v1/dashboards/{name} /api/v1/query /api/v1/query_range /api/v1/labels /api/v1/label/{name}/values /api/v1/series /api/v1/metadata`,
	results: `/v1/sql /v1/mquery /v1/sql/analyze/stream /api/v1/read /read /api/services /api/services/{service}/operations
		/loki/api/v1/query /loki/api/v1/query_range /loki/api/v1/format_query /loki/api/v1/labels /loki/api/v1/label
		/loki/api/v1/label/{name}/values /loki/api/v1/series /loki/api/v1/index/stats /loki/api/v1/index/volume
		/loki/api/v1/index/volume_range /loki/api/v1/patterns /loki/api/v1/detected_labels /loki/api/v1/detected_fields
		/loki/api/v1/detected_field/{name}/values /loki/api/v1/drilldown-limits /loki/api/v1/status/buildinfo
		/loki/api/v1/tail /api/operations /api/traces /api/traces/{id} /api/dependencies`,
	ofWrites: `/v1/ingest /v1/events/logs /write /api/v2/write /api/v3/write_lp /api/v1/write /v1/traces /v1/logs /v1/metrics /v1/otlp/v1/traces /v1/otlp/v1/logs /v1/otlp/v1/metrics`,
	static:   `/dashboard/{file:*}`,
}

// prefixes are what kinds leaves out of a path.
var prefixes = strings.NewReplacer("/v1/events/pipelines", "/v1/pipelines", servertest.LinesPath, "",
	servertest.MetricsPath, "", "/v1/jaeger", "", "/v1/logpush/loki", "/loki")

// pushes are the protocols in which shippers and log libraries push.
var pushes = []string{"bulk", "hec", "datadog", "logpush", "journald", "jsonput"}

// protocolKind is the kind of a route of one of them: its requests write, or ask as shippers do for answers that are
// fixed.
func protocolKind(r server.ServedRoute) kind {
	if r.Access == web.AccessWrite {
		return ofWrites
	}
	return short
}

// everyRoute gives the routes of a server with their kinds, and fails for one that has none.
func everyRoute(h *servertest.House) (routes map[kind][]server.ServedRoute) {
	h.Helper()
	of := map[string]kind{}
	for k, list := range kinds {
		for _, path := range strings.Fields(list) {
			of[path] = k
		}
	}
	routes = map[kind][]server.ServedRoute{}
	left := map[string]bool{}
	for _, r := range h.Server.AllRoutes() {
		if slices.Contains(pushes, r.Owner()) {
			routes[protocolKind(r)] = append(routes[protocolKind(r)], r)
			continue
		}
		path := prefixes.Replace(r.Path)
		k, ok := of[path]
		if !ok {
			h.Errorf("%s %s: nobody says what bounds its answers", r.Methods, r.Path)
		}
		routes[k] = append(routes[k], r)
		left[path] = true
	}
	for path := range of {
		if !left[path] {
			h.Errorf("%s is no route", path)
		}
	}
	return routes
}

// asking are the requests that make the answers of routes: parameters, and a form where one is posted. Other routes
// need none.
var asking = map[string]struct{ query, form string }{
	"/v1/sql/format": {"?sql=SELECT+1", ""}, "/v1/sql/parse": {"?sql=SELECT+1", ""},
	"/debug/prof/cpu":      {"?seconds=1", ""},
	"/v1/pipelines/dryrun": {"", dryBody}, "/v1/pipelines/_dryrun": {"", dryBody},
	"/v1/pipelines/{name}/ddl": {"?table=t", ""},
	"/v1/standby/part":         {"?file=1&bytes=10", ""}, "/v1/standby/log": {"?address=http://127.0.0.1:1", ""},
	"/query": {"?q=SHOW+DATABASES", ""}, "/api/v1/query_exemplars": {"?query=m&start=0&end=1", ""},
	"/api/v1/format_query": {"?query=m", ""}, "/api/v1/parse_query": {"?query=m", ""},
}

const dryBody = `{"pipeline_name":"service_identity","data_type":"application/json","data":"{\"a\":1}"}`

// TestEveryAnswerIsBounded goes through all routes: each has a kind, and one whose answers are made waits for its turn,
// and is refused when none comes.
func TestEveryAnswerIsBounded(t *testing.T) {
	answers := web.NewAnswers(1<<20, 20*time.Millisecond)
	h := servertest.Real(t, func(o *server.Options) { o.Answers = answers })
	h.Want(h.Do("POST", "/v1/pipelines/p", "version: 2\ntransform: [{field: ts, type: time, index: time}]\n",
		"Content-Type", "application/x-yaml"), 200, "")
	h.Want(h.Do("POST", servertest.LinesPath+"/write", "m v=1 1"), 204, "")
	h.Execute("CREATE TABLE open (ts TIMESTAMP TIME INDEX) WITH (open_format = 'iceberg')")
	routes := everyRoute(h)
	ask := func(r server.ServedRoute) servertest.Answer {
		a := asking[prefixes.Replace(r.Path)]
		method := r.Methods[0]
		return h.Do(method, strings.NewReplacer("{name}", "p", "{namespace}", "public", "{table}", "open").Replace(
			r.Path)+a.query, a.form, "Content-Type",
			"application/json")
	}
	give := takeTurns(t, answers)
	for _, r := range slices.Concat(routes[figures], routes[copies]) {
		if a := ask(r); a.Status != 200 && !strings.Contains(a.Body, "the part is not there") {
			t.Errorf("%s beside others that have all places: %d %.200s", r.Path, a.Status, a.Body)
		}
		of := h.Server.FigureAnswers()
		if r.Copies {
			of = h.Server.CopyAnswers()
		}
		own := takeTurns(t, of)
		if a := ask(r); a.Status != 500 || !strings.Contains(a.Body, "Other requests with long answers") {
			t.Errorf("%s beside others of its own kind: %d %.200s", r.Path, a.Status, a.Body)
		}
		own()
	}
	for _, r := range routes[made] {
		if slices.Equal(r.Methods, web.Delete) || r.Methods[0] == "POST" && strings.HasSuffix(r.Path, "/{name}") ||
			r.Methods[0] == "POST" && strings.HasSuffix(r.Path, "/buckets") {
			continue // it names what it did
		}
		if a := ask(r); a.Status != 500 && a.Status != 422 ||
			!strings.Contains(a.Body, "Other requests with long answers") {
			t.Errorf("%s beside others that have all places: %d %.200s", r.Path, a.Status, a.Body)
		}
	}
	give()
	for _, r := range routes[made] {
		if r.Methods[0] == "GET" {
			if a := ask(r); a.Status > 204 {
				t.Errorf("%s when there are places: %d %.200s", r.Path, a.Status, a.Body)
			}
		}
	}
	for _, r := range routes[short] {
		if a := ask(r); len(a.Body) > web.FreeAnswer {
			t.Errorf("%s: a short answer of %d bytes", r.Path, len(a.Body))
		}
	}
}

// takeTurns takes all places of those who make answers.
func takeTurns(t *testing.T, a *web.Answers) (giveBack func()) {
	t.Helper()
	var all []func()
	for range max(2, runtime.GOMAXPROCS(0)) {
		done, err := a.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, done)
	}
	return func() {
		for _, done := range all {
			done()
		}
	}
}

// TestAnswersWaitForRoom: with the room used up, a long answer of each kind is refused after a while, or needs no room;
// with room it comes. A client that does not read keeps the room of its answer.
func TestAnswersWaitForRoom(t *testing.T) {
	answers := web.NewAnswers(1<<20, 20*time.Millisecond)
	h := servertest.Real(t, func(o *server.Options) { o.Answers = answers })
	long := strings.Repeat("x", 200<<10)
	document := "version: 2\ndescription: " + long + "\ntransform: [{field: ts, type: time, index: time}]\n"
	h.Want(h.Do("POST", "/v1/pipelines/p", document, "Content-Type", "application/x-yaml"), 200, "")
	h.Want(h.Do("POST", "/v1/dashboards/d", long), 200, "")
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "m,l=%0100d v=1\n", i)
	}
	h.Want(h.Do("POST", servertest.LinesPath+"/write", lines.String()), 204, "")
	form := func(path string) func() servertest.Answer {
		return func() servertest.Answer {
			return h.Do("POST", path, "sql="+url.QueryEscape("SELECT '"+long+"'"), "Content-Type",
				"application/x-www-form-urlencoded")
		}
	}
	get := func(path string) func() servertest.Answer {
		return func() servertest.Answer { return h.Do("GET", path, "") }
	}
	for _, c := range []struct {
		name    string
		ask     func() servertest.Answer
		without int // room
	}{
		{"made of a document", get("/v1/pipelines/p"), 500}, {"made of SQL", form("/v1/sql/format"), 500},
		{"parsed", form("/v1/sql/parse"), 500},
		{"made of what is saved", get("/v1/dashboards"), 500},
		{"made of one that is saved", get("/v1/dashboards/d"), 500},
		{"in pieces", get("/api/v1/label/l/values"), 200},
		{"a result", get("/v1/sql?sql=" + url.QueryEscape("SELECT repeat('x', 200000)")), 500},
		{"a short one", get("/health"), 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &servertest.House{TB: t, Server: h.Server, Addr: h.Addr, URL: h.URL}
			full := answers.Begin(web.NetworkOf(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}), func() {})
			if err := full.Made(t.Context(), answers.Limit()); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/metrics", "/status"} {
				h.Want(h.Do("GET", path, ""), 200, "")
			}
			if a := c.ask(); a.Status != c.without || a.Status == 500 &&
				!strings.Contains(a.Body, `"code":6000,"error":"Answers that clients have not read yet hold`) {
				t.Errorf("without room: %d %.200s", a.Status, a.Body)
			}
			full.End()
			h.Want(c.ask(), 200, "")
			settles(h, answers, func(bytes int64) bool { return bytes == 0 })
		})
	}
	t.Run("not read", func(t *testing.T) {
		h := &servertest.House{TB: t, Server: h.Server, Addr: h.Addr, URL: h.URL}
		nc := asks(h, "SELECT repeat('x', 500000), repeat('y', 500000)")
		if _, err := io.ReadFull(nc, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		settles(h, answers, func(bytes int64) bool { return bytes >= 1_000_000-web.FreeAnswer })
		nc.Close()
		settles(h, answers, func(bytes int64) bool { return bytes == 0 })
	})
}

// settles waits until what answers hold is as it should be.
func settles(h *servertest.House, a *web.Answers, as func(bytes int64) bool) {
	h.Helper()
	for deadline := time.Now().Add(time.Minute); !as(a.Bytes()); {
		if time.Now().After(deadline) {
			h.Fatalf("answers hold %d bytes", a.Bytes())
		}
		h.Want(h.Do("GET", "/health", ""), 200, "{}")
	}
}

// TestBodiesGoThroughWeb: only package web puts bodies into answers, where they are counted.
func TestBodiesGoThroughWeb(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			filepath.Dir(path) == "web" {
			return err
		}
		text, err := os.ReadFile(path)
		if !bytes.Contains(text, []byte("web.Ctx")) {
			return err
		}
		for i, line := range bytes.Split(text, []byte{'\n'}) {
			if path == "middleware.go" && bytes.Contains(line, []byte("rc.SetBodyString(text)")) {
				continue // of a request that cannot be read, which has no context
			}
			for _, name := range []string{"Response.SetBody", "Response.AppendBody", "Response.BodyWriter", ".SetBody(",
				".SetBodyString(", "c.Write(", "c.WriteString("} {
				if bytes.Contains(line, []byte(name)) {
					t.Error(fmt.Errorf("%s:%d calls %s", path, i+1, name))
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
