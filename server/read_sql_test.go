package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLeavingEndsAQuery closes the connection of a query that makes very many rows of few.
func TestLeavingEndsAQuery(t *testing.T) {
	h := real(t, nil)
	body := strings.Repeat(`{"k":1}`+"\n", 30_000)
	h.want(h.do("POST", "/v1/ingest?table=many&pipeline_name=service_identity", body, "Content-Type",
		"application/x-ndjson"), 200, `"affectedrows":30000`)
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\n\r\n",
		url.QueryEscape("SELECT a.k, count(*) FROM many a JOIN many b ON a.k = b.k GROUP BY a.k"))
	h.until("varve_sql_requests_running 1")
	c.Close()
	h.until("varve_sql_requests_running 0")
	h.until("varve_http_clients_left_total 1")
}

// TestEndingAQueryNobodyReads ends queries, by KILL and by their time limit, whose clients do not read their endless
// answers.
func TestEndingAQueryNobodyReads(t *testing.T) {
	h := real(t, func(o *Options) { o.Timeout = time.Hour })
	for _, c := range []struct {
		name  string
		limit time.Duration
		end   func()
	}{
		{"KILL", time.Hour, func() { h.want(h.sql("KILL "+h.runningID("repeat")), 200, `"affectedrows":1`) }},
		{"time limit", time.Second, func() {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := h.as(t)
			conn := h.streams(c.limit)
			c.end()
			h.until("varve_sql_requests_running 0")
			conn.SetReadDeadline(time.Now().Add(40 * time.Second))
			if n, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection is not cut: %v after %d bytes", err, n)
			}
		})
	}
}

// streams begins an answer that does not end in the time of a test, and leaves it to the test to read. A machine that
// is too busy to begin it within its limit, which is an answer as well, has more time for another.
func (h *house) streams(limit time.Duration) net.Conn {
	h.Helper()
	query := url.QueryEscape("SELECT number, repeat('x', 1000) AS t FROM generate_series(0, 9999999) AS n(number)")
	for last := 40 * limit; limit < last; limit *= 2 {
		conn := h.connect(h.addr)
		if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
			h.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\nx-service-timeout: %s\r\n\r\n", query, limit)
		begin := make([]byte, 1000)
		n, err := conn.Read(begin)
		if err != nil {
			h.Fatal(err)
		}
		if codes := statusLines(string(begin[:n])); len(codes) == 1 && codes[0] == "200" {
			return conn
		}
	}
	h.Fatalf("no answer begins within %s", limit)
	return nil
}

// runningID is the id of the query whose text has a word.
func (h *house) runningID(word string) string {
	h.Helper()
	body := h.sql("SELECT id FROM information_schema.process_list WHERE query LIKE '%" + word +
		"%' ORDER BY start_timestamp LIMIT 1").body
	_, rest, _ := strings.Cut(body, `"rows":[["`)
	id, _, ok := strings.Cut(rest, `"`)
	if !ok {
		h.Fatalf("no such query runs: %s", body)
	}
	return id
}

// until asks for the figures until a line is there.
func (h *house) until(line string) {
	h.Helper()
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); {
		if strings.Contains(h.do("GET", "/metrics", "").body, "\n"+line+"\n") {
			return
		}
	}
	h.Fatalf("no %q after 40 seconds", line)
}

// TestWarningsFollowResults holds that what SQL warns of stands behind the results, in every format of JSON that is an
// object.
func TestWarningsFollowResults(t *testing.T) {
	h := real(t, nil)
	h.want(h.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX)"), 200, "")
	const text = "/v1/sql?sql=SELECT+ts+FROM+t+WHERE+ts+%3E+1795433600"
	for _, format := range []string{"", "&format=influxdb_v1", "&format=json"} {
		h.want(h.do("POST", text+format, ""), 200,
			`,"warnings":["ts is in milliseconds, of which 1795433600 is 1970-01-21T18:43:53.600.`)
	}
	h.want(h.do("POST", text+"%3BSELECT+1", ""), 200, `"warnings":["ts is in milliseconds`)
	h.want(h.do("POST", "/v1/sql?sql=DELETE+FROM+t+WHERE+ts+%3C+1795433600000000", ""), 200,
		`"warnings":["ts is in milliseconds`)
	if a := h.do("POST", text+"000", ""); strings.Contains(a.body, "warnings") {
		t.Errorf("without a reason: %s", a.body)
	}
}

// TestSecondStatementFails has a first statement whose rows are more than what is buffered: the error is still the
// answer.
func TestSecondStatementFails(t *testing.T) {
	h := real(t, nil)
	var body strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&body, `{"n":%d,"text":"some words to make the answer large enough"}`+"\n", i)
	}
	h.want(h.do("POST", "/v1/ingest?table=wide&pipeline_name=service_identity", body.String(), "Content-Type",
		"application/x-ndjson"), 200, `"affectedrows":30000`)
	h.want(h.sql("SELECT * FROM wide; SELECT * FROM missing"), 400, `"code":4001`)
	if a := h.sql("SELECT * FROM wide"); a.status != 200 || len(a.body) < 2<<20 ||
		!strings.Contains(a.body[len(a.body)-80:], `"total_rows":30000}}],"execution_time_ms":`) {
		t.Errorf("%d, %d bytes", a.status, len(a.body))
	}
}

// TestModesBySeveralStatements executes what is allowed before what is not.
func TestModesBySeveralStatements(t *testing.T) {
	h := real(t, func(o *Options) { o.Users = users(t, "static_user_provider:cmd:admin=a,reader:ro=r,writer:wo=w") })
	as := func(user, password, sql string) answer {
		return h.do("GET", "/v1/sql?sql="+url.QueryEscape(sql), "", "Authorization", basic(user, password))
	}
	h.want(as("writer", "w",
		"CREATE TABLE m (ts TIMESTAMP TIME INDEX, v BIGINT); INSERT INTO m VALUES (1, 1); SELECT * FROM m"), 403, `"code":7006`)
	h.want(as("reader", "r", "SELECT v FROM m"), 200, `"rows":[[1]]`)
	h.want(as("reader", "r", "SELECT 1; DROP TABLE m"), 403, `"code":7006`)
	h.want(as("reader", "r", "USE public"), 403, `"code":7006`)
	h.want(as("admin", "a", "SELECT v FROM m"), 200, `"rows":[[1]]`)
}

// TestRunningStatementsNameTheirUser: who runs what is on the list, for statements and for plans that are told as they
// run.
func TestRunningStatementsNameTheirUser(t *testing.T) {
	h := real(t, func(o *Options) {
		o.Users = users(t, "static_user_provider:cmd:admin=admin_pwd,reader:ro=reader_pwd")
	})
	list := func() string {
		return h.do("GET", "/v1/sql?format=csv&sql="+
			url.QueryEscape(
				`SELECT user, query FROM information_schema.process_list WHERE query NOT LIKE '%process_list%' ORDER BY user`), "", "Authorization", basic("admin", "admin_pwd")).body
	}
	e := h.analyze(endless, "", "Authorization", basic("reader", "reader_pwd"))
	e.next()
	if got := list(); !strings.HasPrefix(got, "reader,") {
		t.Errorf("running is %s", got)
	}
	e.leave()
	h.until("varve_sql_requests_running 0")
	if got := list(); got != "" {
		t.Errorf("then %s runs", got)
	}
}
