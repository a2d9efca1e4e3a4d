package write_test

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// way is a request of a protocol, after which a table has rows.
type way struct {
	name, path, body string
	headers          []string
	table            string
}

// waysIn are requests of all protocols that write by HTTP.
func waysIn(t *testing.T) []way {
	const inJSON, form = "application/json", "application/x-www-form-urlencoded"
	otlp := func(signal string, body []byte, table string) way {
		return way{"otlp " + signal, "/v1/otlp/v1/" + signal, string(body), []string{"Content-Type", inJSON,
			"x-service-pipeline-name", "service_trace_v1"}[:2+2*strings.Count(signal, "traces")], table}
	}
	return []way{
		{"ingest", servertest.IngestPath, `{"a":1}`, []string{"Content-Type", inJSON}, "t"},
		{"line protocol", servertest.LinePath, "m v=1 1700000000000000000\n", nil, "m"},
		{"line protocol 2", servertest.LinesPath + "/api/v2/write?bucket=public", "m v=1 1700000000000000000\n", nil,
			"m"},
		{"json put", servertest.PutPath, `{"metric":"m","timestamp":1700000000,"value":1,"tags":{"a":"b"}}`,
			[]string{"Content-Type", inJSON}, "m"},
		{"log push", servertest.PushPath, `{"streams":[{"stream":{"a":"b"},"values":[["1700000000000000000","x"]]}]}`,
			[]string{"Content-Type", inJSON}, "loki_logs"},
		{"bulk", servertest.BulkPath + "/_bulk", "{\"create\":{\"_index\":\"t\"}}\n{\"a\":1}\n",
			[]string{"Content-Type", servertest.BulkType}, "t"},
		{"event collector", servertest.CollectorPath + "/services/collector/event", `{"event":"x","time":1700000000}`,
			nil, "splunk_logs"},
		{"datadog", servertest.AgentLogs, `[{"message":"x"}]`, []string{"Content-Type", inJSON}, "datadog_logs"},
		{"journald", "/v1/journald/upload", "MESSAGE=a\n\n", []string{"Content-Type", "application/vnd.fdo.journal"},
			"journald_logs"},
		{"remote write", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1)), nil, "up"},
		otlp("logs", servertest.OTLPLogRequest(t, 1, true), "opentelemetry_logs"),
		otlp("traces", servertest.OTLPSpanRequest(t, 1, true), "opentelemetry_traces"),
		{"insert", "/v1/sql", "sql=INSERT INTO given (v) VALUES (1)", []string{"Content-Type", form}, "given"},
		{"insert of a query", "/v1/sql", "sql=INSERT INTO given (v) SELECT 1 UNION ALL SELECT 2",
			[]string{"Content-Type", form}, "given"},
	}
}

const given = "CREATE TABLE IF NOT EXISTS given (ts TIMESTAMP(9) DEFAULT CURRENT_TIMESTAMP TIME INDEX, v BIGINT) " +
	"WITH (append_mode = 'true')"

// count is the rows of a table, 0 where it is not there.
func count(h *servertest.House, table string) int {
	h.Helper()
	if a := h.SQL("SELECT count(*) FROM " + table); a.Status != 200 {
		return 0
	}
	n, err := strconv.Atoi(strings.Trim(fmt.Sprint(h.Selected("SELECT count(*) FROM "+table)), "[]"))
	if err != nil {
		h.Fatal(err)
	}
	return n
}

func (w *way) send(h *servertest.House) servertest.Answer {
	return h.Do("POST", w.path, w.body, w.headers...)
}

// TestRatesOfProtocols: with each protocol a client that writes too fast gets 429 with Retry-After, nothing of what is
// refused is stored, and after the time it may write again.
func TestRatesOfProtocols(t *testing.T) {
	for _, w := range waysIn(t) {
		t.Run(w.name, func(t *testing.T) {
			var now atomic.Int64
			now.Store(time.Now().UnixNano())
			h := servertest.RealOn(t, engine.Options{Rates: engine.Rates{Default: engine.Rate{Rows: 1}},
				Now: func() time.Time { return time.Unix(0, now.Load()) }}, nil)
			h.Execute(given)
			a, taken := servertest.Answer{Status: 200}, 0
			for a.Status < 300 && taken < 20 {
				before := count(h, w.table)
				a = w.send(h)
				switch after := count(h, w.table); {
				case a.Status < 300 && w.name != "remote write" && w.name != "line protocol" &&
					w.name != "line protocol 2" && w.name != "json put" && w.name != "otlp traces" && after <= before:
					t.Fatalf("%d %s, and no row is stored", a.Status, a.Body)
				case a.Status >= 300 && after != before:
					t.Errorf("%d %s, and %d rows are stored", a.Status, a.Body, after-before)
				}
				taken++
			}
			if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 429 || err != nil || seconds < 1 {
				t.Fatalf("the last answer is %d %s, Retry-After %q; want 429", a.Status, a.Body,
					a.Header.Get("Retry-After"))
			}
			now.Add(int64(time.Hour))
			if a = w.send(h); a.Status >= 300 {
				t.Errorf("an hour later: %d %s", a.Status, a.Body)
			}
		})
	}
}

// TestRatesMakeNoTables: metrics that come too fast make no tables and no labels, whether the user's rate or that of
// the physical table is met; afterwards they do.
func TestRatesMakeNoTables(t *testing.T) {
	point := func(name, label string) map[string]way {
		body := servertest.OTLPMetric(`{"name":"` + name + `","gauge":{"dataPoints":[{` +
			`"timeUnixNano":"1700000000000000000","asDouble":1,` +
			`"attributes":[{"key":"` + label + `","value":{"stringValue":"x"}}]}]}}`)
		return map[string]way{
			"remote write": {path: servertest.WritePath,
				body: servertest.Snappy(servertest.Message1([]string{"__name__", name, label, "x"}, 1))},
			"otlp": {path: "/v1/otlp/v1/metrics", body: body, headers: []string{"Content-Type", "application/json"}},
		}
	}
	for protocol := range point("", "") {
		for _, whose := range []string{"user", "table"} {
			t.Run(protocol+" "+whose, func(t *testing.T) {
				ok := map[string]int{"otlp": 200, "remote write": 204}[protocol]
				var now atomic.Int64
				now.Store(time.Now().UnixNano())
				o := engine.Options{Now: func() time.Time { return time.Unix(0, now.Load()) }}
				if whose == "user" {
					o.Rates.Default.Rows = 1
				}
				h := servertest.RealOn(t, o, nil)
				send := func(name, label string) servertest.Answer {
					w := point(name, label)[protocol]
					return w.send(h)
				}
				h.Want(send("known", "one"), ok, "")
				if whose == "table" {
					h.Execute("ALTER TABLE service_physical_table SET 'max_rows_per_second' = '1'")
				}
				last := 0
				for range 20 {
					if last = send("known", "one").Status; last == 429 {
						break
					}
				}
				for _, series := range [][2]string{{"new", "one"}, {"known", "two"}} {
					a := send(series[0], series[1])
					if last != 429 || a.Status != 429 || a.Header.Get("Retry-After") == "" {
						t.Errorf("%v: %d %s after %d, want 429", series, a.Status, a.Body, last)
					}
				}
				h.Want(h.SQL("SELECT * FROM new"), 400, "new")
				h.Want(h.SQL("SELECT two FROM known"), 400, "two")
				now.Add(int64(time.Hour))
				h.Want(send("new", "one"), ok, "")
				h.Want(send("known", "two"), ok, "")
				h.Want(h.SQL("SELECT one FROM new"), 200, "x")
				h.Want(h.SQL("SELECT two FROM known WHERE two = 'x'"), 200, "x")
			})
		}
	}
}

// TestReadOnlyServerOfProtocols: each protocol is told that the server is read-only.
func TestReadOnlyServerOfProtocols(t *testing.T) {
	h := servertest.RealOn(t, engine.Options{ReadOnly: true}, func(o *server.Options) { o.ReadOnly = true })
	for _, w := range waysIn(t) {
		if w.table == "given" {
			w.body = "sql=" + given
		}
		if a := w.send(h); a.Status != 503 || !strings.Contains(a.Body, "read-only") ||
			a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", w.name, a.Status, a.Body)
		}
	}
	h.Want(h.SQL("SELECT 1"), 200, "[[1]]")
	h.Want(h.Do("POST", "/v1/pipelines/p", "version: 2\n"), 503, "read-only")
	h.Want(h.SQL("CREATE DATABASE x"), 503, "read-only")
	h.Want(h.SQL("CREATE VIEW v AS SELECT 1"), 503, "read-only")
	h.Want(h.Do("GET", "/status", ""), 200, `"read_only":"the server is read-only`)
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_read_only 1\n")
	h.Want(h.Do("GET", "/ready", ""), 200, "")
}

// TestReadOnlyTableOfProtocols: with each protocol rows for a table that is read-only are not stored. The answer says
// so, or the rejects do.
func TestReadOnlyTableOfProtocols(t *testing.T) {
	for _, w := range waysIn(t) {
		t.Run(w.name, func(t *testing.T) {
			h := servertest.Real(t, func(o *server.Options) {
				o.Rows.Rejects = rejects.New(o.Admin.Store.(web.Store), nil)
			})
			h.Execute(given)
			if a := w.send(h); a.Status >= 300 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			before := count(h, w.table)
			table := w.table
			if w.name == "remote write" {
				table = "service_physical_table"
			}
			h.Execute("ALTER TABLE " + table + " SET 'read_only' = 'true'")
			h.Want(h.Do("GET", "/metrics", ""), 200, "varve_read_only_tables 1\n")
			a := w.send(h)
			told := strings.Contains(a.Body, "is read-only")
			if !told {
				told = strings.Contains(h.SQL("SELECT reason FROM service_private.rejected").Body, "is read-only")
			}
			if after := count(h, w.table); !told || after != before || a.Status >= 500 {
				t.Errorf("%d %s: %d rows before, %d after", a.Status, a.Body, before, after)
			}
			h.Execute("ALTER TABLE " + table + " SET 'read_only' = 'false'")
			h.Want(h.Do("GET", "/metrics", ""), 200, "varve_read_only_tables 0\n")
			if a := w.send(h); a.Status >= 300 || strings.Contains(a.Body, "read-only") {
				t.Errorf("afterwards: %d %s", a.Status, a.Body)
			}
		})
	}
}

// TestRatesOfCalls: a call that writes too fast ends with RESOURCE_EXHAUSTED and says when to come again.
func TestRatesOfCalls(t *testing.T) {
	now := time.Now()
	h := servertest.RealOn(t, engine.Options{Rates: engine.Rates{Default: engine.Rate{Rows: 1}},
		Now: func() time.Time { return now }}, nil)
	c := servertest.Dial(t, h.Calls())
	message := servertest.OTLPLogRequest(t, 20, false)
	const export = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
	if _, err := servertest.Call(c, export, message, nil); err != nil {
		t.Fatal(err)
	}
	_, err := servertest.Call(c, export, message, nil)
	s := status.Convert(err)
	if s.Code() != codes.ResourceExhausted || len(s.Proto().Details) != 1 ||
		s.Proto().Details[0].TypeUrl != "type.googleapis.com/google.rpc.RetryInfo" ||
		len(s.Proto().Details[0].Value) != 4 {
		t.Errorf("the call ended with %v, details %v", err, s.Proto().GetDetails())
	}
	if n := count(h, "opentelemetry_logs"); n != 20 {
		t.Errorf("%d rows are stored, want 20", n)
	}
}

// TestRatesOfListeners: messages for a table that takes no more wait in the connections of their senders, and none is
// lost.
func TestRatesOfListeners(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	h := servertest.RealOn(t, engine.Options{Now: func() time.Time { return time.Unix(0, now.Load()) }}, nil)
	ln := h.Listen()
	h.Serving(func() error { return h.Server.ServeSyslog(ln) })
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(h.Connect(ln.Addr().String()), "<34>1 - web su 7 - - "+text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say("one")
	await(h, "SELECT count(*) FROM syslog", "[[1]]")
	h.Execute("ALTER TABLE syslog SET 'max_rows_per_second' = '1'")
	for i := range 5 {
		say(fmt.Sprint("two ", i))
	}
	await(h, "SELECT count(*) FROM syslog", "[[6]]")
	say("three")
	h.Eventually(func() bool {
		return strings.Contains(h.Do("GET", "/metrics", "").Body, `varve_writes_refused_total{reason="rate"}`)
	})
	if n := count(h, "syslog"); n != 6 {
		t.Errorf("%d rows, want 6: the last waits", n)
	}
	now.Add(int64(time.Hour))
	await(h, "SELECT count(*) FROM syslog", "[[7]]")
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_syslog_messages_refused_total 0\n")
}

// TestMaxSizeIsShown: a database above its bound loses its oldest part by itself; information_schema, /status and
// /metrics say so, and the option says which bounds it takes.
func TestMaxSizeIsShown(t *testing.T) {
	h := servertest.RealOn(t, engine.Options{MaxDatabaseBytes: 1}, nil)
	h.Execute(given)
	for at := range 2 {
		h.Execute(fmt.Sprintf("INSERT INTO given (ts, v) VALUES (%d, %d)", at, at))
		h.Want(h.SQL("ADMIN flush_table('given')"), 200, "")
	}
	h.Eventually(func() bool {
		return strings.Contains(h.Do("GET", "/metrics", "").Body, `varve_size_dropped_parts_total{db="public"} 1`)
	})
	h.Holds("SELECT v FROM given", "[[1]]")
	h.Holds("SELECT max_size, near, dropped_parts, dropped_rows, dropped_until FROM information_schema.database_sizes "+
		"WHERE table_schema = 'public'", "[[1 true 1 1 0]]")
	h.Holds("SELECT max_size FROM information_schema.database_sizes WHERE table_schema = 'service_private'", "[[<nil>]]")
	h.Want(h.Do("GET", "/status", ""), 200, `"max_size":{"databases":1,"databases_near":1,"dropped_parts":1,`)
	h.Execute("ALTER DATABASE public SET 'max_size' = '0'")
	h.Holds("SELECT max_size, near FROM information_schema.database_sizes WHERE table_schema = 'public'",
		"[[<nil> false]]")
	h.Want(h.SQL("SHOW CREATE DATABASE public"), 200, "max_size = '0'")
	h.Want(h.SQL("ALTER DATABASE public SET 'max_size' = '1KiB'"), 400, "the least is 1MiB")
	h.Want(h.SQL("CREATE TABLE x (ts TIMESTAMP TIME INDEX) WITH (max_size = '1GiB')"), 400, "max_size")
	h.Want(h.SQL("CREATE DATABASE d WITH (max_size = '1GiB', ttl = '1d'); ALTER DATABASE d UNSET 'max_size'"), 200, "")
	h.Holds("SELECT options FROM information_schema.schemata WHERE schema_name = 'd'", "[[ttl='1day']]")
}
