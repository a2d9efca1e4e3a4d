package query_test

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

	"varve/server"
	"varve/server/servertest"
)

// TestLeavingEndsAQuery closes the connection of a query that makes very many rows of few.
func TestLeavingEndsAQuery(t *testing.T) {
	h := servertest.Real(t, nil)
	body := strings.Repeat(`{"k":1}`+"\n", 30_000)
	h.Want(h.Do("POST", "/v1/ingest?table=many&pipeline_name=service_identity", body, "Content-Type",
		"application/x-ndjson"), 200, `"affectedrows":30000`)
	c, err := net.Dial("tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\n\r\n",
		url.QueryEscape("SELECT a.k, count(*) FROM many a JOIN many b ON a.k = b.k GROUP BY a.k"))
	h.Until("varve_sql_requests_running 1")
	c.Close()
	h.Until("varve_sql_requests_running 0")
	h.Until("varve_http_clients_left_total 1")
}

// TestEndingAQueryNobodyReads ends queries, by KILL and by their time limit, whose clients do not read their endless
// answers.
func TestEndingAQueryNobodyReads(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Timeout = time.Hour })
	for _, c := range []struct {
		name  string
		limit time.Duration
		end   func()
	}{
		{"KILL", time.Hour, func() { h.Want(h.SQL("KILL "+h.RunningID("repeat")), 200, `"affectedrows":1`) }},
		{"time limit", time.Second, func() {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := h.As(t)
			conn := streams(h, c.limit)
			c.end()
			h.Until("varve_sql_requests_running 0")
			conn.SetReadDeadline(time.Now().Add(40 * time.Second))
			if n, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection is not cut: %v after %d bytes", err, n)
			}
		})
	}
}

// streams begins an answer that does not end in the time of a test, and leaves it to the test to read. A machine that
// is too busy to begin it within its limit, which is an answer as well, has more time for another.
func streams(h *servertest.House, limit time.Duration) net.Conn {
	h.Helper()
	query := url.QueryEscape("SELECT number, repeat('x', 1000) AS t FROM generate_series(0, 9999999) AS n(number)")
	for last := 40 * limit; limit < last; limit *= 2 {
		conn := h.Connect(h.Addr)
		if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
			h.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\nx-service-timeout: %s\r\n\r\n", query, limit)
		begin := make([]byte, 1000)
		n, err := conn.Read(begin)
		if err != nil {
			h.Fatal(err)
		}
		if codes := servertest.StatusLines(string(begin[:n])); len(codes) == 1 && codes[0] == "200" {
			return conn
		}
	}
	h.Fatalf("no answer begins within %s", limit)
	return nil
}

// TestWarningsFollowResults holds that what SQL warns of stands behind the results, in every format of JSON that is an
// object.
func TestWarningsFollowResults(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.SQL("CREATE TABLE t (ts TIMESTAMP TIME INDEX)"), 200, "")
	const text = "/v1/sql?sql=SELECT+ts+FROM+t+WHERE+ts+%3E+1795433600"
	for _, format := range []string{"", "&format=influxdb_v1", "&format=json"} {
		h.Want(h.Do("POST", text+format, ""), 200,
			`,"warnings":["ts is in milliseconds, of which 1795433600 is 1970-01-21T18:43:53.600.`)
	}
	h.Want(h.Do("POST", text+"%3BSELECT+1", ""), 200, `"warnings":["ts is in milliseconds`)
	h.Want(h.Do("POST", "/v1/sql?sql=DELETE+FROM+t+WHERE+ts+%3C+1795433600000000", ""), 200,
		`"warnings":["ts is in milliseconds`)
	if a := h.Do("POST", text+"000", ""); strings.Contains(a.Body, "warnings") {
		t.Errorf("without a reason: %s", a.Body)
	}
}

// TestSecondStatementFails has a first statement whose rows are more than what is buffered: the error is still the
// answer.
func TestSecondStatementFails(t *testing.T) {
	h := servertest.Real(t, nil)
	var body strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&body, `{"n":%d,"text":"some words to make the answer large enough"}`+"\n", i)
	}
	h.Want(h.Do("POST", "/v1/ingest?table=wide&pipeline_name=service_identity", body.String(), "Content-Type",
		"application/x-ndjson"), 200, `"affectedrows":30000`)
	h.Want(h.SQL("SELECT * FROM wide; SELECT * FROM missing"), 400, `"code":4001`)
	if a := h.SQL("SELECT * FROM wide"); a.Status != 200 || len(a.Body) < 2<<20 ||
		!strings.Contains(a.Body[len(a.Body)-80:], `"total_rows":30000}}],"execution_time_ms":`) {
		t.Errorf("%d, %d bytes", a.Status, len(a.Body))
	}
}

// TestModesBySeveralStatements executes what is allowed before what is not.
func TestModesBySeveralStatements(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=a,reader:ro=r,writer:wo=w")
	})
	as := func(user, password, sql string) servertest.Answer {
		return h.Do("GET", "/v1/sql?sql="+url.QueryEscape(sql), "", "Authorization", servertest.Basic(user, password))
	}
	h.Want(as("writer", "w",
		"CREATE TABLE m (ts TIMESTAMP TIME INDEX, v BIGINT); INSERT INTO m VALUES (1, 1); SELECT * FROM m"), 403, `"code":7006`)
	h.Want(as("reader", "r", "SELECT v FROM m"), 200, `"rows":[[1]]`)
	h.Want(as("reader", "r", "SELECT 1; DROP TABLE m"), 403, `"code":7006`)
	h.Want(as("reader", "r", "USE public"), 403, `"code":7006`)
	h.Want(as("admin", "a", "SELECT v FROM m"), 200, `"rows":[[1]]`)
}

// TestRunningStatementsNameTheirUser: who runs what is on the list, for statements and for plans that are told as they
// run.
func TestRunningStatementsNameTheirUser(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=admin_pwd,reader:ro=reader_pwd")
	})
	list := func() string {
		return h.Do("GET", "/v1/sql?format=csv&sql="+
			url.QueryEscape(
				`SELECT user, query FROM information_schema.process_list WHERE query NOT LIKE '%process_list%' ORDER BY user`), "", "Authorization", servertest.Basic("admin", "admin_pwd")).Body
	}
	e := h.Analyze(servertest.Endless, "", "Authorization", servertest.Basic("reader", "reader_pwd"))
	e.Next()
	if got := list(); !strings.HasPrefix(got, "reader,") {
		t.Errorf("running is %s", got)
	}
	e.Leave()
	h.Until("varve_sql_requests_running 0")
	if got := list(); got != "" {
		t.Errorf("then %s runs", got)
	}
}
