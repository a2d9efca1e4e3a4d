package server_test

import (
	"fmt"
	"net"
	"net/url"
	"runtime"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/server"
	"varve/server/result"
	"varve/server/servertest"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/exec"
)

// TestSlowReaders has many clients that do not read their endless answers: what the server keeps for each is bounded,
// others are served, and the time limit of writes ends their queries.
func TestSlowReaders(t *testing.T) {
	clients := 100
	if testing.Short() {
		clients = 25
	}
	const eachBytes = result.StreamAbove // made before the first byte is sent; how much of it the system takes differs
	pool := exec.NewPool(256 << 20)
	h := servertest.Real(t, func(o *server.Options) {
		o.Query.Executor = sqlexec.New(o.Admin.Store.(*engine.Engine), sqlexec.Options{Memory: pool})
		o.WriteProgress = 4 * time.Second
	})
	before := heapBytes()
	for range clients {
		nc := asks(h, "SELECT value, repeat('x', 1000) AS t FROM generate_series(0, 9999999)")
		if _, err := nc.Read(make([]byte, 100)); err != nil { // it streams
			t.Fatal(err)
		}
	}
	h.Want(h.SQL("SELECT 1"), 200, `"rows":[[1]]`)
	if bytes := heapBytes() - before; bytes > int64(clients)*eachBytes {
		t.Errorf("%d KiB are kept for each client", bytes/int64(clients)>>10)
	}
	for deadline := time.Now().Add(time.Minute); pool.Used() > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("queries that nobody reads keep %d bytes", pool.Used())
		}
		h.Want(h.SQL("SELECT 1"), 200, `"rows":[[1]]`)
	}
	h.Until("varve_sql_requests_running 0")
}

// TestSlowReadersGiveWay has more clients than queries may read tables at a time, which do not read their long answers:
// others are served all the same, and the answer of one that reads arrives whole.
func TestSlowReadersGiveWay(t *testing.T) {
	var limits admission.Limits
	limits.Of[admission.Query], limits.Of[admission.Held] = 256<<20, 128<<20
	limits.Of[admission.Answer] = 16 << 20
	memory := ledger.New(limits, nil)
	pool := exec.PoolOf(memory)
	h := servertest.Real(t, func(o *server.Options) {
		o.Answers = web.AnswersOf(memory, web.AnswerWait)
		o.Query.Executor = sqlexec.New(o.Admin.Store.(*engine.Engine), sqlexec.Options{Memory: pool})
	})
	h.Want(h.SQL("CREATE TABLE t (ts TIMESTAMP TIME INDEX, v BIGINT)"), 200, "")
	h.Want(h.SQL("INSERT INTO t SELECT value::TIMESTAMP, value FROM generate_series(0, 999)"), 200, "")
	for range 60 {
		asks(h, "SELECT v, repeat('x', 20000) FROM t")
	}
	for deadline := time.Now().Add(time.Minute); pool.Waiting() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no query waits")
		}
		h.Want(h.SQL("SELECT 1"), 200, `"rows":[[1]]`)
	}
	h.Want(h.SQL("SELECT count(*) FROM t WHERE v >= 0"), 200, `[[1000]]`)
	if whole := h.SQL("SELECT v, repeat('y', 20000) FROM t"); whole.Status != 200 || len(whole.Body) < 20_000_000 {
		t.Errorf("an answer that is read: %d, %d bytes %.300s", whole.Status, len(whole.Body), whole.Body)
	}
}

// asks opens a connection with little room and sends a query, whose answer is left to the test to read.
func asks(h *servertest.House, sql string) net.Conn {
	h.Helper()
	nc, err := net.Dial("tcp", h.Addr)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { nc.Close() })
	if err := nc.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		h.Fatal(err)
	}
	fmt.Fprintf(nc, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\n\r\n", url.QueryEscape(sql))
	return nc
}

// heapBytes is what is in use after a collection.
func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
