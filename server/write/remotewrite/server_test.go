package remotewrite_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/server"
	"varve/server/protowire"
	"varve/server/servertest"
	"varve/server/web"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
)

// TestRemoteWriteOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestRemoteWriteOfClients(t *testing.T) {
	servertest.SentByClients(t, "remote.json", "remotewrite-", 4,
		func(h *servertest.House, table string, want servertest.StoredRows) {
			if table != "_summary" {
				h.WantStored(table, want)
				return
			}
			rows := h.Selected(
				"SELECT count(service_value), count(DISTINCT __table_id) FROM service_physical_table WHERE NOT isnan(service_value)")
			if fmt.Sprint(rows[0][0]) != fmt.Sprint(want.Rows) {
				h.Errorf("%v rows, want %d", rows[0], want.Rows)
			}
		})
}

// TestRemoteWriteAnswers: the status of each request, and what is stored of it.
func TestRemoteWriteAnswers(t *testing.T) {
	good := servertest.Message1(servertest.Up, 1)
	labelled := func(n int) [][]byte {
		many := append([]string{}, servertest.Up...)
		for i := range n {
			many = append(many, fmt.Sprint("l", i), "v")
		}
		return [][]byte{servertest.Message1(many, 1)}
	}
	late := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = append(m, servertest.Message1(servertest.Up)[2:]...)
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			return protowire.AppendVarint(s, 2, math.MaxInt64)
		})
	})
	odd := func(sample func(m []byte) []byte) []byte {
		return protowire.AppendMessage(nil, 1,
			func(m []byte) []byte {
				return protowire.AppendMessage(append(m, servertest.Message1(servertest.Up)[2:]...), 2, sample)
			})
	}
	for _, c := range []struct {
		name    string
		body    string
		headers string // Content-Type, Content-Encoding
		query   string
		status  int
		text    string
		rows    int // in table up
	}{
		{"plain", servertest.Snappy(good), "application/x-protobuf|snappy", "", 204, "", 1},
		{"no headers", servertest.Snappy(good), "|", "", 204, "", 1},
		{"lenient type", servertest.Snappy(good), `Application/X-Protobuf; proto="prometheus.WriteRequest"|SNAPPY`, "", 204, "", 1},
		{"nothing", servertest.Snappy(), "|", "", 204, "", 0},
		{"JSON", servertest.Snappy(good), "application/json|snappy", "", 415, "content type", 0},
		{"another message", servertest.Snappy(good), "application/x-protobuf;proto=other|snappy", "", 415,
			"content type", 0},
		{"gzip", servertest.Snappy(good), "application/x-protobuf|gzip", "", 415, "content encoding", 0},
		{"zstd in 2.0", servertest.Snappy(good), "application/x-protobuf;proto=io.prometheus.write.v2.Request|zstd", "", 415,
			"content encoding", 0},
		{"no block", "hello", "|", "", 400, "Failed to decompress snappy prometheus remote request", 0},
		{"cut off", servertest.Snappy(good[:len(good)-3]), "|", "", 400, "Failed to decode prometheus remote request",
			0},
		{"2.0 for 1.0", servertest.Snappy(protowire.AppendBytes(nil, 4, "")), "|", "", 400, "2.0", 0},
		{"1.0 for 2.0", servertest.Snappy(good), "application/x-protobuf;proto=io.prometheus.write.v2.Request|", "", 400, "1.0", 0},
		{"unknown database", servertest.Snappy(good), "|", "?db=nowhere", 400, "Database not found: nowhere", 0},
		{"no name", servertest.Snappy(servertest.Message1([]string{"job", "x"}, 1), good), "|", "", 400, "__name__", 1},
		{"empty label name", servertest.Snappy(servertest.Message1(append([]string{"", "x"}, servertest.Up...), 1),
			good), "|", "", 400, "no name", 1},
		{"label twice", servertest.Snappy(servertest.Message1(append([]string{"job", "y"}, servertest.Up...), 1), good),
			"|", "", 400, "twice", 1},
		{"not UTF-8", servertest.Snappy(servertest.Message1(append([]string{"a", "\xff"}, servertest.Up...), 1), good),
			"|", "", 400, "UTF-8", 1},
		{"unsorted", servertest.Snappy(servertest.Message1([]string{"job", "x", "__name__", "up"}, 1)), "|", "", 204,
			"", 1},
		{"empty value", servertest.Snappy(servertest.Message1(append([]string{"a", ""}, servertest.Up...), 1), good),
			"|", "", 204, "", 1},
		{"label called like a column", servertest.Snappy(servertest.Message1(append([]string{"service_value", "1"},
			servertest.Up...), 1), good), "|", "", 400, "service_value", 1},
		{"steered elsewhere", servertest.Snappy(servertest.Message1(append([]string{"__database__", "nowhere"},
			servertest.Up...), 1), good), "|", "", 400, "Database not found", 1},
		{"time out of range", servertest.Snappy(late, good), "|", "", 400, "timestamp", 1},
		{"a million labels", servertest.Snappy(append(labelled(5000), good)...), "|", "", 400, "the limit is 1024", 1},
		{"value of another kind", servertest.Snappy(odd(func(m []byte) []byte {
			return protowire.AppendVarint(m, 1, 5)
		}), good), "|", "", 400, "wire type 0", 1},
		{"time of another kind", servertest.Snappy(odd(func(m []byte) []byte {
			return protowire.AppendDouble(m, 2, 5)
		}), good), "|", "", 400, "wire type 1", 1},
		{"samples of another kind",
			servertest.Snappy(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
				return protowire.AppendVarint(append(m, servertest.Message1(servertest.Up)[2:]...), 2, 5)
			}), good), "|", "", 400, "wire type 0", 1},
		{"labels of another kind",
			servertest.Snappy(protowire.AppendMessage(nil, 1,
				func(m []byte) []byte { return protowire.AppendVarint(m, 1, 5) })),
			"|", "", 400, "wire type 0", 0},
		{"series of another kind", servertest.Snappy(protowire.AppendVarint(nil, 1, 5)), "|", "", 400, "wire type 0",
			0},
		{"same point twice", servertest.Snappy(good, servertest.Message1(servertest.Up, 7)), "|", "", 204, "", 1},
		{"metadata and what is unknown", servertest.Snappy(good, protowire.AppendMessage(nil, 3, func(m []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(m, 1, 99), 2, "up"), 4, "\xff")
		}), protowire.AppendVarint(nil, 77, 1)), "|", "", 204, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			kind, encoding, _ := strings.Cut(c.headers, "|")
			var headers []string
			if kind != "" {
				headers = append(headers, "Content-Type", kind)
			}
			if encoding != "" {
				headers = append(headers, "Content-Encoding", encoding)
			}
			a := h.Do("POST", servertest.WritePath+c.query, c.body, headers...)
			h.Want(a, c.status, c.text)
			if c.status == 204 && a.Body != "" {
				t.Errorf("body %q", a.Body)
			}
			got := 0
			if len(h.Selected("SHOW TABLES LIKE 'up'")) > 0 {
				got = len(h.Selected("SELECT * FROM up"))
			}
			if got != c.rows {
				t.Errorf("%d rows, want %d", got, c.rows)
			}
		})
	}
}

// TestRefusedSeriesLeaveNothing: a series none of whose samples can be stored makes no table, in either version; one
// with a good sample among bad ones does.
func TestRefusedSeriesLeaveNothing(t *testing.T) {
	h := servertest.Real(t, nil)
	sample := func(at uint64) func(m []byte) []byte {
		return func(m []byte) []byte {
			return protowire.AppendMessage(m, 2,
				func(s []byte) []byte { return protowire.AppendVarint(protowire.AppendDouble(s, 1, 7), 2, at) })
		}
	}
	one := func(name string, at ...uint64) []byte {
		return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			m = append(m, servertest.Message1([]string{"__name__", name})[2:]...)
			for _, t := range at {
				m = sample(t)(m)
			}
			return m
		})
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(one("late", 1<<62, 1<<61), one("mixed", 1<<62, 1000))),
		400, "timestamp")
	two := servertest.Request2([]string{"", "__name__", "late2"},
		func(m []byte) []byte { return sample(1 << 62)(servertest.Refs(m, 1, 2)) })
	h.Want(h.Do("POST", servertest.WritePath, two, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
		400, "timestamp")
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/label/__name__/values", ""), 200, `"data":["mixed"]`)
	if got := fmt.Sprint(h.Selected("SHOW TABLES LIKE 'late%'")); got != "[]" {
		t.Errorf("tables %s", got)
	}
}

// TestRemoteWriteTables: where samples go, and that the next of a series takes the short way there.
func TestRemoteWriteTables(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Execute("CREATE DATABASE other")
	send := func(query string, parts ...[]byte) {
		t.Helper()
		h.Want(h.Do("POST", servertest.WritePath+query, servertest.Snappy(parts...)), 204, "")
	}
	stale := math.Float64frombits(0x7ff0000000000002)
	for range 2 {
		send("?physical_table=mine", servertest.Message1([]string{"__name__", "a:b.c", "l", "1"}, 1, stale))
		send("", servertest.Message1([]string{"__name__", "up", "l", "1", "x_service_database", "other"}, 2),
			servertest.Message1([]string{"__name__", "down", "__physical_table__", "third"}, 3))
		send("?db=other", servertest.Message1([]string{"__name__", "up", "l", "2", "m", "new"}, 4))
	}
	for statement, want := range map[string]string{
		`SELECT * FROM "a:b.c" ORDER BY service_timestamp`: "[[1000 1 1] [2000 <nil> 1]]",
		"SELECT l, service_value FROM mine":                "[[1 1] [1 <nil>]]",
		"SELECT * FROM other.up ORDER BY l":                "[[1000 2 1 <nil>] [1000 4 2 new]]",
		"SELECT service_value FROM third":                  "[[3]]",
		"SELECT isnan(service_value) FROM mine":            "[[false] [true]]",
	} {
		if got := fmt.Sprint(h.Selected(statement)); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	h.Execute(`DROP TABLE "a:b.c"`)
	send("?physical_table=mine", servertest.Message1([]string{"__name__", "a:b.c", "l", "1"}, 9))
	if got := fmt.Sprint(h.Selected(`SELECT service_value FROM "a:b.c"`)); got != "[[9]]" {
		t.Errorf("after its table was dropped a series has %s", got)
	}
	h.Want(h.Do("GET", servertest.WritePath+"?get_vm_proto_version=1", ""), 200, "1")
	h.Want(h.Do("POST", servertest.WritePath+"?get_vm_proto_version=1", ""), 200, "1")
}

// TestRemoteWrite2: partial writes with exact counts, start times, metadata.
func TestRemoteWrite2(t *testing.T) {
	const kind = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
	symbols := []string{"", "__name__", "up", "job", "x", "seconds", "help text"}
	ok := func(m []byte) []byte {
		return servertest.Sample2(servertest.Sample2(servertest.Refs(m, 1, 2, 3, 4), 1, 1000, 0), 2, 2000, 500)
	}
	described := func(m []byte) []byte {
		return protowire.AppendMessage(ok(m), 5, func(d []byte) []byte {
			return protowire.AppendVarint(protowire.AppendVarint(protowire.AppendVarint(d, 1, 1), 3, 6), 4, 5)
		})
	}
	for _, c := range []struct {
		name    string
		symbols []string
		series  func(m []byte) []byte
		status  int
		text    string
		written int
	}{
		{"good", symbols, described, 204, "", 4},
		{"odd references", symbols, func(m []byte) []byte {
			return servertest.Sample2(servertest.Refs(m, 1, 2, 3), 1, 1000, 0)
		}, 400, "3 references", 2},
		{"reference out of range", symbols, func(m []byte) []byte {
			return servertest.Sample2(servertest.Refs(m, 1, 99), 1, 1000, 0)
		}, 400, "symbol 99", 2},
		{"repeated label", symbols, func(m []byte) []byte {
			return servertest.Sample2(servertest.Refs(m, 1, 2, 3, 4, 3, 4), 1, 1000, 0)
		}, 400, "twice", 2},
		{"nothing in it", symbols, func(m []byte) []byte { return servertest.Refs(m, 1, 2) }, 400, "neither", 2},
		{"both kinds", symbols, func(m []byte) []byte {
			return protowire.AppendBytes(servertest.Sample2(servertest.Refs(m, 1, 2), 1, 1, 0), 3, "")
		}, 400, "both", 2},
		{"first symbol", []string{"x"}, ok, 400, "first symbol", 0},
		{"no symbols", nil, ok, 400, "first symbol", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			a := h.Do("POST", servertest.WritePath, servertest.Request2(c.symbols, c.series, ok), "Content-Type", kind,
				"Content-Encoding", "snappy")
			h.Want(a, c.status, c.text)
			for header, want := range map[string]int{"Samples": c.written, "Histograms": 0, "Exemplars": 0} {
				if got := a.Header.Get("X-Prometheus-Remote-Write-" + header + "-Written"); got != fmt.Sprint(want) {
					t.Errorf("%s written: %q, want %d", header, got, want)
				}
			}
			if c.written > 0 {
				if got := fmt.Sprint(h.Selected(
					"SELECT service_timestamp, service_value, service_start_timestamp FROM up ORDER BY 1")); got != "[[1000 1 <nil>] [2000 2 500]]" {
					t.Errorf("stored %s", got)
				}
			}
			if c.name == "good" {
				if got := fmt.Sprint(h.Selected(
					"SELECT database, metric, type, unit, help FROM service_private.metric_metadata")); got != "[[public up counter seconds help text]]" {
					t.Errorf("metadata %s", got)
				}
			}
		})
	}
}

// TestPlainTablesOfMetrics: without physical tables, and with other names of columns.
func TestPlainTablesOfMetrics(t *testing.T) {
	e, err := engine.Open(engine.Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(t.Context(), false); err != nil {
			t.Error(err)
		}
	}()
	h := servertest.Open(t, func(o *server.Options) {
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{})
		o.Rows.Writer, o.Metrics.Samples = web.NewWriter(e),
			samples.New(samples.Options{Store: e, OwnStorage: true, CacheBytes: 1 << 20})
	})
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1, 2))), 204, "")
	if got := fmt.Sprint(h.Selected("SELECT timestamp, value, job FROM up ORDER BY 1"),
		len(h.Selected("SHOW TABLES LIKE '%physical%'"))); got != "[[1000 1 x] [2000 2 x]] 0" {
		t.Errorf("stored %s", got)
	}
}

// TestRemoteWriteHints: hints say how tables are made, and what is not UTF-8 is mended where the server may.
func TestRemoteWriteHints(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Metrics.Samples = samples.New(samples.Options{Store: o.Metrics.Store, Prefix: "service", CacheBytes: 1 << 20,
			Lossy: true})
	})
	metric := func(name string) string {
		return servertest.Snappy(servertest.Message1([]string{"__name__", name, "l", "a\xffb"}, 1))
	}
	h.Want(h.Do("POST", servertest.WritePath, metric("none"), "x-service-hints", "auto_create_table=false"), 400,
		"Table `none` does not exist")
	h.Want(h.Do("POST", servertest.WritePath, metric("none"), "x-service-hints", "auto_create_table=maybe"), 400,
		"must be a boolean")
	h.Want(h.Do("POST", servertest.WritePath, metric("none"), "x-service-hints", "ttl=soon"), 400, "ttl")
	h.Want(h.Do("POST", servertest.WritePath, metric("kept"), "x-service-hints",
		"physical_table=mine, ttl=1000y, unknown=x"), 204, "")
	h.Want(h.Do("POST", servertest.WritePath+"?physical_table=yours", metric("other"), "x-service-hint-physical_table",
		"mine"), 204, "")
	if got := fmt.Sprint(h.Selected("SELECT l FROM mine"), h.Selected("SELECT l FROM yours")); got !=
		"[[a\ufffdb]] [[a\ufffdb]]" {
		t.Errorf("stored %s", got)
	}
	if got := fmt.Sprint(h.Selected("SHOW CREATE TABLE kept")); !strings.Contains(got, "ttl = '1000y'") {
		t.Errorf("made as %s", got)
	}
}

// TestRemoteWriteThroughPipeline: a header sends the series through a pipeline first.
func TestRemoteWriteThroughPipeline(t *testing.T) {
	h := servertest.Real(t, nil)
	yaml := "version: 2\nprocessors:\n  - vrl:\n      source: |\n        .job = upcase(string!(.job))\n        .twice = 2 * float!(.service_value)\n        .\n  - epoch:\n      field: service_timestamp\n      resolution: ms\n" +
		"transform:\n  - fields: [job]\n    type: string\n    index: tag\n  - fields: [twice]\n    type: float64\n  - fields: [service_timestamp]\n    type: epoch, ms\n    index: timestamp\n"
	h.Want(h.Do("POST", "/v1/pipelines/double", yaml, "Content-Type", "application/x-yaml"), 200, "double")
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1.5, 2.5),
		servertest.Message1([]string{"__name__", "down", "job", "y"},
			4)), "x-service-pipeline-name", "double"), 204, "")
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1([]string{"__name__", "third", "job",
		"z"}, 1)), "x-service-pipeline-name", "none_such", "x-service-log-pipeline-name", "double"), 204, "")
	if got := fmt.Sprint(h.Selected("SELECT job, twice FROM up ORDER BY service_timestamp"),
		h.Selected("SELECT job, twice FROM down"),
		h.Selected("SELECT twice FROM third")); got != "[[X 3] [X 5]] [[Y 8]] [[2]]" {
		t.Errorf("stored %s", got)
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1([]string{"__name__", "plain",
		"service_ttl", "1h"}, 1)), "x-service-pipeline-name", "service_identity"), 204, "")
	if got := h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+plain", "").Body; strings.Contains(got, "ttl = ") ||
		!strings.Contains(got, "service_ttl") {
		t.Errorf("a label names an option of its table: %s", got)
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1([]string{"job", "x"}, 1),
		servertest.Message1(servertest.Up, 1)), "x-service-pipeline-name", "double"), 400, "__name__")
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1)),
		"x-service-pipeline-name", "none_such"), 400, "Pipeline not found")
}

// TestRemoteWriteTooSlow: a request whose time is over is one to send again.
func TestRemoteWriteTooSlow(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Timeout = time.Hour })
	a := h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1)),
		"x-service-timeout", "1ns")
	h.Want(a, 504, "send it again")
	h.Want(h.Do("GET", servertest.WritePath, ""), 405, "")
}

// TestRemoteWriteIsBounded: a small body of very many series is refused as a whole, soon.
func TestRemoteWriteIsBounded(t *testing.T) {
	h := servertest.Real(t, nil)
	repeated := func(n int, series []byte) string { return servertest.Snappy(bytes.Repeat(series, n)) }
	h.Want(h.Do("POST", servertest.WritePath, repeated(2_000_000, []byte{1<<3 | 2, 0})), 400,
		"more than 100000 series cannot be taken, first: a series has no label __name__")
	h.Want(h.Do("POST", servertest.WritePath, repeated(1_000_002, servertest.Message1([]string{"__name__", "a"}))), 400,
		"more than 250000 new series")
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint("l", i), "v")
	}
	h.Want(h.Do("POST", servertest.WritePath, repeated(1100, servertest.Message1(append(many, "__name__", "a"), 1))),
		400, "more than 1000000 labels of new series")
	const second = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
	for field := byte(2); field <= 4; field++ { // samples, histograms and exemplars without content: two bytes each
		given := bytes.Repeat([]byte{field<<3 | 2, 0}, 2_000_001)
		series := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			return append(protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, "__name__"), 2, "a")
			}), given...)
		})
		h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(series)), 400, "more than 2000000 samples")
		message := protowire.AppendBytes(nil, 4, "")
		for _, text := range []string{"__name__", "a"} {
			message = protowire.AppendBytes(message, 4, text)
		}
		message = protowire.AppendMessage(message, 5, func(m []byte) []byte {
			return append(protowire.AppendBytes(m, 1, "\x01\x02"), given...)
		})
		h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(message), "Content-Type", second), 400,
			"more than 2000000 samples")
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(bytes.Repeat([]byte{4<<3 | 2, 0}, 2_000_001)),
		"Content-Type", second), 400, "more than 2000000 symbols")
	if rows := h.Selected("SHOW TABLES"); len(rows) > 1 {
		t.Errorf("tables were made: %v", rows)
	}
}

// TestRemoteWrite2CountsRefusals: who sends 2.0 sees what was stored whatever the answer, else it takes the server for
// one of 1.0.
func TestRemoteWrite2CountsRefusals(t *testing.T) {
	h := servertest.Real(t, nil)
	for encoding, status := range map[string]int{"snappy": 400, "gzip": 415, "zstd": 415} {
		a := h.Do("POST", servertest.WritePath, "no block", "Content-Type",
			"application/x-protobuf;proto=io.prometheus.write.v2.Request", "Content-Encoding", encoding)
		h.Want(a, status, "")
		for _, kind := range []string{"Samples", "Histograms", "Exemplars"} {
			if got := a.Header.Get("X-Prometheus-Remote-Write-" + kind + "-Written"); got != "0" {
				t.Errorf("%s: %q %s written", encoding, got, kind)
			}
		}
	}
}
