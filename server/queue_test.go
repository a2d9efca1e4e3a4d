package server_test

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// TestQueriesQueue: at the bound queries wait for each other, rows do not wait for them, and an administrator sees what
// runs and ends it.
func TestQueriesQueue(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Query.MaxConcurrent = 1 })
	h.Execute("CREATE TABLE t (ts TIMESTAMP TIME INDEX, n INT)")
	first := h.Analyze(servertest.Endless, "")
	first.Next()
	answers := make(chan servertest.Answer, 16)
	for range cap(answers) {
		go func() { answers <- h.Do("GET", "/v1/sql?sql=SELECT+7", "") }()
	}
	h.Until(fmt.Sprintf("varve_sql_requests_waiting %d", cap(answers)))
	h.Want(h.SQL("SELECT 8"), 429, "at most 1 (max_concurrent_queries), and at most 16 wait")
	h.Want(h.SQL("INSERT INTO t VALUES (1, 1)"), 200, `"affectedrows":1`)
	h.Want(h.SQL("SHOW PROCESSLIST"), 200, "generate_series")
	h.Want(h.SQL("SELECT id FROM information_schema.process_list WHERE query NOT LIKE '%process_list%'"), 200, "")
	h.Want(h.SQL("KILL "+h.RunningID("generate_series(0")), 200, "")
	for range cap(answers) {
		h.Want(<-answers, 200, "[[7]]")
	}
	h.Until("varve_sql_requests_running 0")
	h.Want(h.SQL("SELECT n FROM t"), 200, "[[1]]")
}

// TestQueueHeedsTime: a request that waits ends with its time, and leaves the queue.
func TestQueueHeedsTime(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Query.MaxConcurrent, o.Timeout = 1, time.Minute })
	first := h.Analyze(servertest.Endless, "")
	first.Next()
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1", "", "x-service-timeout", "50ms"), 408, "")
	h.Until("varve_sql_requests_waiting 0")
	first.Leave()
	h.Eventually(func() bool { return h.SQL("SELECT 1").Status == 200 })
}

// TestForeignPagesOfUsers: with users, too, a page of another origin gets nothing by the name and password that a
// browser keeps.
func TestForeignPagesOfUsers(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users, o.CORSOrigins = servertest.Users(t, "static_user_provider:cmd:a=b"), []string{"https://known.example"}
	})
	own := []string{"Authorization", servertest.Basic("a", "b")}
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"a program", own, 200},
		{"a page of another origin", append([]string{"Origin", "https://evil.example"}, own...), 403},
		{"its form", append([]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, own...), 403},
		{"a page of another port", append([]string{"Sec-Fetch-Site", "same-site"}, own...), 403},
		{"a frame without an origin", append([]string{"Origin", "null"}, own...), 403},
		{"an own page", append([]string{"Origin", "http://" + h.Addr, "Sec-Fetch-Site", "same-origin"}, own...), 200},
		{"an own page behind a proxy",
			append([]string{"Origin", "https://varve.example", "Sec-Fetch-Site", "same-origin"}, own...), 200},
		{"a typed address", append([]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, own...), 200},
		{"a known origin", append([]string{"Origin", "https://known.example", "Sec-Fetch-Site", "cross-site"}, own...),
			200},
		{"a page that shows its own credentials",
			[]string{"Origin", "https://evil.example", "x-service-auth", servertest.Basic("a", "b")}, 200},
		{"no credentials", []string{"Origin", "https://evil.example"}, 401},
	} {
		for _, send := range []func() servertest.Answer{
			func() servertest.Answer {
				return h.Do("POST", "/v1/sql", "sql=SELECT+1",
					append(c.headers, "Content-Type", "application/x-www-form-urlencoded")...)
			},
			func() servertest.Answer { return h.Do("GET", "/v1/sql?sql=SELECT+1", "", c.headers...) },
		} {
			if a := send(); a.Status != c.status {
				t.Errorf("%s: %d %s, want %d", c.name, a.Status, a.Body, c.status)
			}
		}
	}
}

// TestSQLAsItIs: a statement may come as a text, and who sends it otherwise is told how.
func TestSQLAsItIs(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/sql", "SELECT 1 + 1", "Content-Type", "text/plain"), 200, "[[2]]")
	h.Want(h.Do("POST", "/v1/sql?format=csv", "SELECT '+'", "Content-Type", "text/plain; charset=utf-8"), 200, "+")
	h.Want(h.Do("POST", "/v1/sql", `{"sql":"SELECT 1"}`, "Content-Type", "application/json"), 415,
		`--data-urlencode "sql=SELECT 1 + 1"`)
	h.Want(h.Do("POST", "/v1/sql", "sql=SELECT 1+1 AS n, 2+", "Content-Type", "application/x-www-form-urlencoded"), 400,
		"a plus sign is %2B there")
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1+1+1", ""), 400, "a plus sign is %2B there")
	for _, encoded := range []string{url.PathEscape("SELECT 1 1 1"), "SELECT+1+%2B+1+1", "SELECT+abs%281%29+1+1",
		"SELECT+1%2c+1+1"} {
		if a := h.Do("GET", "/v1/sql?sql="+encoded, ""); a.Status != 400 || strings.Contains(a.Body, "%2B") {
			t.Errorf("%s, an encoder's: %d %s", encoded, a.Status, a.Body)
		}
		if a := h.Do("POST", "/v1/sql", "sql="+encoded, "Content-Type",
			"application/x-www-form-urlencoded"); strings.Contains(a.Body, "%2B") {
			t.Errorf("%s, an encoder's form: %d %s", encoded, a.Status, a.Body)
		}
	}
}

// TestDashboardsThatNobodyReads: lists of definitions that clients do not read have a bound together, and the server
// answers beside them.
func TestDashboardsThatNobodyReads(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Answers = web.NewAnswers(8<<20, web.AnswerWait) })
	text := strings.Repeat("x", 256<<10)
	for i := range 32 {
		h.Want(h.Do("POST", fmt.Sprintf("/v1/dashboards/d%d", i), text), 200, "")
	}
	h.Want(h.Do("GET", "/v1/dashboards", ""), 200, "d31")
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const readers = 40
	var asked sync.WaitGroup
	for range readers {
		asked.Go(func() { fmt.Fprint(h.Connect(h.Addr), "GET /v1/dashboards HTTP/1.1\r\nHost: x\r\n\r\n") })
	}
	asked.Wait()
	most := uint64(0)
	for range 50 {
		begun := time.Now()
		h.Want(h.Do("GET", "/health", ""), 200, "{}")
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("/health took %v", took)
		}
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
	}
	if most > 200<<20 {
		t.Errorf("%d readers of 8 MiB take %d MiB", readers, most>>20)
	}
}
