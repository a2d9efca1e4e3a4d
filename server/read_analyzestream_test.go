package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
	"varve/sqlexec/plan"
)

// analyzeEvent is an event of /v1/sql/analyze/stream.
type analyzeEvent struct {
	event   string
	Seq     int
	State   string
	Partial *bool
	Elapsed int64 `json:"elapsed_ms"`
	Metrics *struct {
		Plan plan.Tree
		Rows int64
	}
	Output *struct {
		Records struct {
			Rows [][]any
		}
	}
	Reason   string
	Code     status.Code
	Position *struct{ Line, Column, Length int }
}

// events are those of an answer as they come.
type events struct {
	*house
	answer *http.Response
	lines  *bufio.Reader
	leave  context.CancelFunc
}

// analyze asks for the events of a query; more are headers in pairs.
func (h *house) analyze(sql, more string, headers ...string) *events {
	h.Helper()
	ctx, leave := context.WithCancel(h.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", h.url+"/v1/sql/analyze/stream?"+more,
		strings.NewReader("sql="+url.QueryEscape(sql)))
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { leave(); resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode == 200 && kind != "text/event-stream" {
		h.Errorf("the answer is %s", kind)
	}
	return &events{h, resp, bufio.NewReader(resp.Body), leave}
}

// next is the next event; false: there is none.
func (e *events) next() (got analyzeEvent, more bool) {
	e.Helper()
	for {
		line, err := e.lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return got, false
		}
		if err != nil {
			e.Fatalf("%q: %v", line, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			got.event = value
		case "data":
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				e.Fatalf("%s: %v", value, err)
			}
			if got.event != got.State || got.Partial == nil || *got.Partial == (got.State == "final") {
				e.Errorf("event %s with %s", got.event, value)
			}
		case "":
			if got.event != "" {
				return got, true
			}
		}
	}
}

// last reads to the last event; the numbers of the events go up by one.
func (e *events) last(from int) (last analyzeEvent) {
	e.Helper()
	for {
		got, more := e.next()
		if !more {
			return last
		}
		if from++; got.Seq != from {
			e.Errorf("event %d has the number %d", from, got.Seq)
		}
		last = got
	}
}

// endless is a query that does not end by itself in the time of a test.
const endless = "SELECT count(*) FROM generate_series(0, 99999) AS a(n), generate_series(0, 99999) AS b(n), generate_series(0, 99999) AS c(n) WHERE a.n + b.n * c.n = 7"

func TestAnalyzeStream(t *testing.T) {
	h := real(t, nil)
	h.want(h.do("POST", "/v1/ingest?table=app&pipeline_name=service_identity", strings.Repeat(`{"k":1}`+"\n", 3000),
		"Content-Type", "application/x-ndjson"), 200, `"affectedrows":3000`)
	for _, sql := range []string{"SELECT k, count(*) FROM app GROUP BY k",
		"EXPLAIN ANALYZE SELECT k, count(*) FROM app GROUP BY k",
		"explain analyze verbose select k, count(*) from app group by k"} {
		e := h.analyze(sql, "")
		first, _ := e.next()
		if first.State != "metrics" || first.Seq != 1 || first.Metrics == nil ||
			!strings.HasPrefix(first.Metrics.Plan.Node, "Projection") {
			t.Errorf("%s begins with %+v", sql, first)
		}
		end := e.last(1)
		if end.State != "final" || end.Metrics == nil || end.Output == nil {
			t.Fatalf("%s ends with %+v", sql, end)
		}
		text, total := end.Output.Records.Rows[0][2].(string), end.Output.Records.Rows[1][2]
		if !strings.Contains(text, "batches_in=") || total != "Total rows: 1" || end.Metrics.Rows != 1 ||
			end.Metrics.Plan.Figures["rows"] != 1 {
			t.Errorf("%s: %s, %v, %+v", sql, text, total, end.Metrics)
		}
	}
	h.until("varve_sql_requests_running 0")
}

// TestAnalyzeStreamRuns: figures come while the query runs, on average no more often than each second, and grow;
// killed, out of time or left it ends.
func TestAnalyzeStreamRuns(t *testing.T) {
	h := real(t, func(o *Options) { o.Timeout = time.Hour })
	e := h.analyze(endless, "snapshot_interval_ms=1")
	rows := func(n plan.Tree) (most int64) {
		for at := []plan.Tree{n}; len(at) > 0; at = append(at[1:], at[0].Inputs...) {
			most = max(most, at[0].Figures["rows"])
		}
		return most
	}
	// grown is the first event with more rows than there were; on a busy machine the query may not have begun to join
	// yet.
	grown := func(than int64) (got analyzeEvent) {
		t.Helper()
		for range 40 {
			if got, _ = e.next(); got.State == "metrics" && rows(got.Metrics.Plan) > than {
				return got
			}
		}
		t.Fatalf("no more than %d rows after 40 events: %+v", than, got)
		return got
	}
	more := grown(rows(grown(100_000).Metrics.Plan))
	if more.Elapsed < int64(more.Seq-1)*1000-100 {
		t.Errorf("%d figures came in %d ms, one at once and one a second were wanted", more.Seq, more.Elapsed)
	}
	h.want(h.sql("KILL "+h.runningID("generate_series")), 200, `"affectedrows":1`)
	if end := e.last(more.Seq); end.State != "canceled" || end.Code != status.Cancelled ||
		end.Reason != "Query was killed" || end.Metrics == nil {
		t.Errorf("killed it ends with %+v", end)
	}
	h.until("varve_sql_requests_running 0")

	e = h.analyze(endless, "", "x-service-timeout", "1s")
	if end := e.last(0); end.State != "error" || end.Code != status.DeadlineExceeded ||
		!strings.Contains(end.Reason, "time limit") {
		t.Errorf("out of time it ends with %+v", end)
	}
	h.until("varve_sql_requests_running 0")

	e = h.analyze(endless, "")
	e.next()
	e.leave()
	h.until("varve_sql_requests_running 0")
}

// TestAnalyzeStreamIsCounted: it is one of the requests that may run at a time, until its client has left.
func TestAnalyzeStreamIsCounted(t *testing.T) {
	h := real(t, func(o *Options) { o.Query.MaxConcurrent, o.Query.NoQueue = 1, true })
	e := h.analyze(endless, "")
	e.next()
	h.want(h.sql("SELECT 1"), 429, "")
	if other := h.analyze("SELECT 1", ""); other.answer.StatusCode != 429 {
		t.Errorf("beside the one that may run another is answered %d", other.answer.StatusCode)
	}
	e.leave()
	h.eventually(func() bool { return h.sql("SELECT 1").status == 200 })
}

// TestAnalyzeStreamRefuses: what cannot run is an error like that of /v1/sql, what fails as it runs is an event.
func TestAnalyzeStreamRefuses(t *testing.T) {
	h := real(t, func(o *Options) {
		o.Users = users(t, "static_user_provider:cmd:admin=admin_pwd,reader:ro=reader_pwd,writer:wo=writer_pwd")
	})
	for _, c := range []struct {
		user, sql, more string
		status          int
		text            string
	}{
		{"reader", "SELECT 1", "", 200, "event: final"},
		{"writer", "SELECT 1", "", 403, "not authorized"},
		{"nobody", "SELECT 1", "", 401, ""},
		{"admin", "SELEC 1", "", 400, `"position"`},
		{"admin", "SELECT 1; SELECT 2", "", 400, "2 statements"},
		{"admin", "", "", 400, "empty statements"},
		{"admin", "CREATE TABLE t (ts TIMESTAMP TIME INDEX)", "", 400, "found CreateTable"},
		{"admin", "EXPLAIN SELECT 1", "", 400, "EXPLAIN ANALYZE"},
		{"admin", "EXPLAIN ANALYZE INSERT INTO t VALUES (1)", "", 200, "event: error"},
		{"admin", "SELECT 1", "db=nosuch", 400, "nosuch"},
		{"admin", "SELECT 1", "snapshot_interval_ms=often", 400, "often"},
		{"admin", "SELECT 1", "snapshot_interval_ms=99999999", 200, "event: final"},
		{"admin", "SELECT nosuch FROM information_schema.tables", "", 200, `"position":{"line":1,"column":8,`},
		{"admin", "SELECT * FROM nosuch", "", 200, `"code":` + strconv.Itoa(int(status.TableNotFound))},
		{"admin", "SELECT 1 / (number - 5) FROM generate_series(0, 9) AS n(number)", "", 200, `event: error`},
	} {
		e := h.analyze(c.sql, c.more, "Authorization", basic(c.user, c.user+"_pwd"))
		body, _ := io.ReadAll(e.lines)
		if e.answer.StatusCode != c.status || !strings.Contains(string(body), c.text) {
			t.Errorf("%s, %s, %s: %d %s", c.user, c.sql, c.more, e.answer.StatusCode, body)
		}
	}
	h.want(h.do("POST", "/v1/sql/analyze/stream", "", "Authorization", basic("admin", "admin_pwd")), 400,
		"sql parameter is required")
	h.want(h.do("GET", "/v1/sql/analyze/stream?sql=SELECT+1", "", "Authorization", basic("admin", "admin_pwd")), 405,
		"")
}
