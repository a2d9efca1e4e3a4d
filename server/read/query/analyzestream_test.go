package query_test

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec/plan"
)

func TestAnalyzeStream(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/ingest?table=app&pipeline_name=service_identity", strings.Repeat(`{"k":1}`+"\n", 3000),
		"Content-Type", "application/x-ndjson"), 200, `"affectedrows":3000`)
	for _, sql := range []string{"SELECT k, count(*) FROM app GROUP BY k",
		"EXPLAIN ANALYZE SELECT k, count(*) FROM app GROUP BY k",
		"explain analyze verbose select k, count(*) from app group by k"} {
		e := h.Analyze(sql, "")
		first, _ := e.Next()
		if first.State != "metrics" || first.Seq != 1 || first.Metrics == nil ||
			!strings.HasPrefix(first.Metrics.Plan.Node, "Projection") {
			t.Errorf("%s begins with %+v", sql, first)
		}
		end := e.Last(1)
		if end.State != "final" || end.Metrics == nil || end.Output == nil {
			t.Fatalf("%s ends with %+v", sql, end)
		}
		text, total := end.Output.Records.Rows[0][2].(string), end.Output.Records.Rows[1][2]
		if !strings.Contains(text, "batches_in=") || total != "Total rows: 1" || end.Metrics.Rows != 1 ||
			end.Metrics.Plan.Figures["rows"] != 1 {
			t.Errorf("%s: %s, %v, %+v", sql, text, total, end.Metrics)
		}
	}
	h.Until("varve_sql_requests_running 0")
}

// TestAnalyzeStreamRuns: figures come while the query runs, on average no more often than each second, and grow;
// killed, out of time or left it ends.
func TestAnalyzeStreamRuns(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Timeout = time.Hour })
	e := h.Analyze(servertest.Endless, "snapshot_interval_ms=1")
	rows := func(n plan.Tree) (most int64) {
		for at := []plan.Tree{n}; len(at) > 0; at = append(at[1:], at[0].Inputs...) {
			most = max(most, at[0].Figures["rows"])
		}
		return most
	}
	// grown is the first event with more rows than there were; on a busy machine the query may not have begun to join
	// yet.
	grown := func(than int64) (got servertest.AnalyzeEvent) {
		t.Helper()
		for range 40 {
			if got, _ = e.Next(); got.State == "metrics" && rows(got.Metrics.Plan) > than {
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
	h.Want(h.SQL("KILL "+h.RunningID("generate_series")), 200, `"affectedrows":1`)
	if end := e.Last(more.Seq); end.State != "canceled" || end.Code != status.Cancelled ||
		end.Reason != "Query was killed" || end.Metrics == nil {
		t.Errorf("killed it ends with %+v", end)
	}
	h.Until("varve_sql_requests_running 0")

	e = h.Analyze(servertest.Endless, "", "x-service-timeout", "1s")
	if end := e.Last(0); end.State != "error" || end.Code != status.DeadlineExceeded ||
		!strings.Contains(end.Reason, "time limit") {
		t.Errorf("out of time it ends with %+v", end)
	}
	h.Until("varve_sql_requests_running 0")

	e = h.Analyze(servertest.Endless, "")
	e.Next()
	e.Leave()
	h.Until("varve_sql_requests_running 0")
}

// TestAnalyzeStreamIsCounted: it is one of the requests that may run at a time, until its client has left.
func TestAnalyzeStreamIsCounted(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Query.MaxConcurrent, o.Query.NoQueue = 1, true })
	e := h.Analyze(servertest.Endless, "")
	e.Next()
	h.Want(h.SQL("SELECT 1"), 429, "")
	if other := h.Analyze("SELECT 1", ""); other.Answer.StatusCode != 429 {
		t.Errorf("beside the one that may run another is answered %d", other.Answer.StatusCode)
	}
	e.Leave()
	h.Eventually(func() bool { return h.SQL("SELECT 1").Status == 200 })
}

// TestAnalyzeStreamRefuses: what cannot run is an error like that of /v1/sql, what fails as it runs is an event.
func TestAnalyzeStreamRefuses(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=admin_pwd,reader:ro=reader_pwd,writer:wo=writer_pwd")
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
		e := h.Analyze(c.sql, c.more, "Authorization", servertest.Basic(c.user, c.user+"_pwd"))
		body, _ := io.ReadAll(e.Lines)
		if e.Answer.StatusCode != c.status || !strings.Contains(string(body), c.text) {
			t.Errorf("%s, %s, %s: %d %s", c.user, c.sql, c.more, e.Answer.StatusCode, body)
		}
	}
	h.Want(h.Do("POST", "/v1/sql/analyze/stream", "", "Authorization", servertest.Basic("admin", "admin_pwd")), 400,
		"sql parameter is required")
	h.Want(h.Do("GET", "/v1/sql/analyze/stream?sql=SELECT+1", "", "Authorization",
		servertest.Basic("admin", "admin_pwd")), 405, "")
}
