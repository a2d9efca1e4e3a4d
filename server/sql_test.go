package server

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestLeavingEndsAQuery closes the connection of a query that makes very many rows of few.
func TestLeavingEndsAQuery(t *testing.T) {
	h := real(t, nil)
	body := strings.Repeat(`{"k":1}`+"\n", 30_000)
	h.want(h.do("POST", "/v1/ingest?table=many&pipeline_name=service_identity", body, "Content-Type", "application/x-ndjson"), 200, `"affectedrows":30000`)
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\n\r\n", url.QueryEscape("SELECT a.k, count(*) FROM many a JOIN many b ON a.k = b.k GROUP BY a.k"))
	h.until("varve_sql_requests_running 1")
	c.Close()
	h.until("varve_sql_requests_running 0")
	h.until("varve_http_clients_left_total 1")
}

// until asks for the figures until a line is there.
func (h *house) until(line string) {
	h.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if strings.Contains(h.do("GET", "/metrics", "").body, "\n"+line+"\n") {
			return
		}
	}
	h.Fatalf("no %q after 10 seconds", line)
}

// TestSecondStatementFails has a first statement whose rows are more than what is buffered: the error is still the answer.
func TestSecondStatementFails(t *testing.T) {
	h := real(t, nil)
	var body strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&body, `{"n":%d,"text":"some words to make the answer large enough"}`+"\n", i)
	}
	h.want(h.do("POST", "/v1/ingest?table=wide&pipeline_name=service_identity", body.String(), "Content-Type", "application/x-ndjson"), 200, `"affectedrows":30000`)
	h.want(h.sql("SELECT * FROM wide; SELECT * FROM missing"), 400, `"code":4001`)
	if a := h.sql("SELECT * FROM wide"); a.status != 200 || len(a.body) < 2<<20 || !strings.Contains(a.body[len(a.body)-80:], `"total_rows":30000}}],"execution_time_ms":`) {
		t.Errorf("%d, %d bytes", a.status, len(a.body))
	}
}

// TestModesBySeveralStatements executes what is allowed before what is not.
func TestModesBySeveralStatements(t *testing.T) {
	h := real(t, func(o *Options) { o.Users = users(t, "static_user_provider:cmd:admin=a,reader:ro=r,writer:wo=w") })
	as := func(user, password, sql string) answer {
		return h.do("GET", "/v1/sql?sql="+url.QueryEscape(sql), "", "Authorization", basic(user, password))
	}
	h.want(as("writer", "w", "CREATE TABLE m (ts TIMESTAMP TIME INDEX, v BIGINT); INSERT INTO m VALUES (1, 1); SELECT * FROM m"), 403, `"code":7006`)
	h.want(as("reader", "r", "SELECT v FROM m"), 200, `"rows":[[1]]`)
	h.want(as("reader", "r", "SELECT 1; DROP TABLE m"), 403, `"code":7006`)
	h.want(as("reader", "r", "USE public"), 403, `"code":7006`)
	h.want(as("admin", "a", "SELECT v FROM m"), 200, `"rows":[[1]]`)
}
