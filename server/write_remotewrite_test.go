package server

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"varve/engine"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
)

const writePath = "/v1/metricsapi/write"

// selected asks with a statement and gives the rows.
func (h *house) selected(statement string, headers ...string) [][]any {
	h.Helper()
	a := h.do("GET", "/v1/sql?sql="+url.QueryEscape(statement), "", headers...)
	var out struct {
		Output []struct{ Records struct{ Rows [][]any } }
	}
	if err := json.Unmarshal([]byte(a.body), &out); a.status != 200 || err != nil || len(out.Output) == 0 {
		h.Fatalf("%s: %d %s", statement, a.status, a.body)
	}
	return out.Output[0].Records.Rows
}

// TestRemoteWriteOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestRemoteWriteOfClients(t *testing.T) {
	sentByClients(t, "remote.json", "remotewrite-", 4, func(h *house, table string, want storedRows) {
		if table != "_summary" {
			h.wantStored(table, want)
			return
		}
		rows := h.selected(
			"SELECT count(service_value), count(DISTINCT __table_id) FROM service_physical_table WHERE NOT isnan(service_value)")
		if fmt.Sprint(rows[0][0]) != fmt.Sprint(want.Rows) {
			h.Errorf("%v rows, want %d", rows[0], want.Rows)
		}
	})
}

// message1 is a series of version 1.0: labels and values in turn, then samples at 1000, 2000, ...
func message1(labels []string, values ...float64) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		for i := 0; i+1 < len(labels); i += 2 {
			m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		for i, v := range values {
			m = protowire.AppendMessage(m, 2, func(s []byte) []byte {
				return protowire.AppendVarint(protowire.AppendDouble(s, 1, v), 2, uint64(1000*(i+1)))
			})
		}
		return m
	})
}

func snap(parts ...[]byte) string {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return string(s2.EncodeSnappy(nil, all))
}

var up = []string{"__name__", "up", "job", "x"}

// TestRemoteWriteAnswers: the status of each request, and what is stored of it.
func TestRemoteWriteAnswers(t *testing.T) {
	good := message1(up, 1)
	labelled := func(n int) [][]byte {
		many := append([]string{}, up...)
		for i := range n {
			many = append(many, fmt.Sprint("l", i), "v")
		}
		return [][]byte{message1(many, 1)}
	}
	late := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = append(m, message1(up)[2:]...)
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			return protowire.AppendVarint(s, 2, math.MaxInt64)
		})
	})
	odd := func(sample func(m []byte) []byte) []byte {
		return protowire.AppendMessage(nil, 1,
			func(m []byte) []byte { return protowire.AppendMessage(append(m, message1(up)[2:]...), 2, sample) })
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
		{"plain", snap(good), "application/x-protobuf|snappy", "", 204, "", 1},
		{"no headers", snap(good), "|", "", 204, "", 1},
		{"lenient type", snap(good), `Application/X-Protobuf; proto="prometheus.WriteRequest"|SNAPPY`, "", 204, "", 1},
		{"nothing", snap(), "|", "", 204, "", 0},
		{"JSON", snap(good), "application/json|snappy", "", 415, "content type", 0},
		{"another message", snap(good), "application/x-protobuf;proto=other|snappy", "", 415, "content type", 0},
		{"gzip", snap(good), "application/x-protobuf|gzip", "", 415, "content encoding", 0},
		{"zstd in 2.0", snap(good), "application/x-protobuf;proto=io.prometheus.write.v2.Request|zstd", "", 415,
			"content encoding", 0},
		{"no block", "hello", "|", "", 400, "Failed to decompress snappy prometheus remote request", 0},
		{"cut off", snap(good[:len(good)-3]), "|", "", 400, "Failed to decode prometheus remote request", 0},
		{"2.0 for 1.0", snap(protowire.AppendBytes(nil, 4, "")), "|", "", 400, "2.0", 0},
		{"1.0 for 2.0", snap(good), "application/x-protobuf;proto=io.prometheus.write.v2.Request|", "", 400, "1.0", 0},
		{"unknown database", snap(good), "|", "?db=nowhere", 400, "Database not found: nowhere", 0},
		{"no name", snap(message1([]string{"job", "x"}, 1), good), "|", "", 400, "__name__", 1},
		{"empty label name", snap(message1(append([]string{"", "x"}, up...), 1), good), "|", "", 400, "no name", 1},
		{"label twice", snap(message1(append([]string{"job", "y"}, up...), 1), good), "|", "", 400, "twice", 1},
		{"not UTF-8", snap(message1(append([]string{"a", "\xff"}, up...), 1), good), "|", "", 400, "UTF-8", 1},
		{"unsorted", snap(message1([]string{"job", "x", "__name__", "up"}, 1)), "|", "", 204, "", 1},
		{"empty value", snap(message1(append([]string{"a", ""}, up...), 1), good), "|", "", 204, "", 1},
		{"label called like a column", snap(message1(append([]string{"service_value", "1"}, up...), 1), good), "|", "",
			400, "service_value", 1},
		{"steered elsewhere", snap(message1(append([]string{"__database__", "nowhere"}, up...), 1), good), "|", "", 400,
			"Database not found", 1},
		{"time out of range", snap(late, good), "|", "", 400, "timestamp", 1},
		{"a million labels", snap(append(labelled(5000), good)...), "|", "", 400, "the limit is 1024", 1},
		{"value of another kind", snap(odd(func(m []byte) []byte { return protowire.AppendVarint(m, 1, 5) }), good),
			"|", "", 400, "wire type 0", 1},
		{"time of another kind", snap(odd(func(m []byte) []byte { return protowire.AppendDouble(m, 2, 5) }), good), "|",
			"", 400, "wire type 1", 1},
		{"samples of another kind",
			snap(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
				return protowire.AppendVarint(append(m, message1(up)[2:]...), 2, 5)
			}), good), "|", "", 400, "wire type 0", 1},
		{"labels of another kind",
			snap(protowire.AppendMessage(nil, 1, func(m []byte) []byte { return protowire.AppendVarint(m, 1, 5) })),
			"|", "", 400, "wire type 0", 0},
		{"series of another kind", snap(protowire.AppendVarint(nil, 1, 5)), "|", "", 400, "wire type 0", 0},
		{"same point twice", snap(good, message1(up, 7)), "|", "", 204, "", 1},
		{"metadata and what is unknown", snap(good, protowire.AppendMessage(nil, 3, func(m []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(m, 1, 99), 2, "up"), 4, "\xff")
		}), protowire.AppendVarint(nil, 77, 1)), "|", "", 204, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := real(t, nil)
			kind, encoding, _ := strings.Cut(c.headers, "|")
			var headers []string
			if kind != "" {
				headers = append(headers, "Content-Type", kind)
			}
			if encoding != "" {
				headers = append(headers, "Content-Encoding", encoding)
			}
			a := h.do("POST", writePath+c.query, c.body, headers...)
			h.want(a, c.status, c.text)
			if c.status == 204 && a.body != "" {
				t.Errorf("body %q", a.body)
			}
			got := 0
			if len(h.selected("SHOW TABLES LIKE 'up'")) > 0 {
				got = len(h.selected("SELECT * FROM up"))
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
	h := real(t, nil)
	sample := func(at uint64) func(m []byte) []byte {
		return func(m []byte) []byte {
			return protowire.AppendMessage(m, 2,
				func(s []byte) []byte { return protowire.AppendVarint(protowire.AppendDouble(s, 1, 7), 2, at) })
		}
	}
	one := func(name string, at ...uint64) []byte {
		return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			m = append(m, message1([]string{"__name__", name})[2:]...)
			for _, t := range at {
				m = sample(t)(m)
			}
			return m
		})
	}
	h.want(h.do("POST", writePath, snap(one("late", 1<<62, 1<<61), one("mixed", 1<<62, 1000))), 400, "timestamp")
	two := request2([]string{"", "__name__", "late2"}, func(m []byte) []byte { return sample(1 << 62)(refs(m, 1, 2)) })
	h.want(h.do("POST", writePath, two, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
		400, "timestamp")
	h.want(h.do("GET", "/v1/metricsapi/api/v1/label/__name__/values", ""), 200, `"data":["mixed"]`)
	if got := fmt.Sprint(h.selected("SHOW TABLES LIKE 'late%'")); got != "[]" {
		t.Errorf("tables %s", got)
	}
}

// TestRemoteWriteTables: where samples go, and that the next of a series takes the short way there.
func TestRemoteWriteTables(t *testing.T) {
	h := real(t, nil)
	h.execute("CREATE DATABASE other")
	send := func(query string, parts ...[]byte) {
		t.Helper()
		h.want(h.do("POST", writePath+query, snap(parts...)), 204, "")
	}
	stale := math.Float64frombits(0x7ff0000000000002)
	for range 2 {
		send("?physical_table=mine", message1([]string{"__name__", "a:b.c", "l", "1"}, 1, stale))
		send("", message1([]string{"__name__", "up", "l", "1", "x_service_database", "other"}, 2),
			message1([]string{"__name__", "down", "__physical_table__", "third"}, 3))
		send("?db=other", message1([]string{"__name__", "up", "l", "2", "m", "new"}, 4))
	}
	for statement, want := range map[string]string{
		`SELECT * FROM "a:b.c" ORDER BY service_timestamp`: "[[1000 1 1] [2000 <nil> 1]]",
		"SELECT l, service_value FROM mine":                "[[1 1] [1 <nil>]]",
		"SELECT * FROM other.up ORDER BY l":                "[[1000 2 1 <nil>] [1000 4 2 new]]",
		"SELECT service_value FROM third":                  "[[3]]",
		"SELECT isnan(service_value) FROM mine":            "[[false] [true]]",
	} {
		if got := fmt.Sprint(h.selected(statement)); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	h.execute(`DROP TABLE "a:b.c"`)
	send("?physical_table=mine", message1([]string{"__name__", "a:b.c", "l", "1"}, 9))
	if got := fmt.Sprint(h.selected(`SELECT service_value FROM "a:b.c"`)); got != "[[9]]" {
		t.Errorf("after its table was dropped a series has %s", got)
	}
	h.want(h.do("GET", writePath+"?get_vm_proto_version=1", ""), 200, "1")
	h.want(h.do("POST", writePath+"?get_vm_proto_version=1", ""), 200, "1")
}

// execute runs a statement without rows.
func (h *house) execute(statement string) {
	h.Helper()
	h.want(h.do("GET", "/v1/sql?sql="+url.QueryEscape(statement), ""), 200, "affectedrows")
}

// request2 is a request of version 2.0: symbols, then what each series is made of.
func request2(symbols []string, series ...func(m []byte) []byte) string {
	var all []byte
	for _, s := range symbols {
		all = protowire.AppendBytes(all, 4, s)
	}
	for _, f := range series {
		all = protowire.AppendMessage(all, 5, f)
	}
	return snap(all)
}

func refs(m []byte, list ...uint64) []byte {
	var packed []byte
	for _, r := range list {
		packed = binary.AppendUvarint(packed, r)
	}
	return protowire.AppendBytes(m, 1, packed)
}

func sample2(m []byte, v float64, at, start uint64) []byte {
	return protowire.AppendMessage(m, 2, func(s []byte) []byte {
		s = protowire.AppendVarint(protowire.AppendDouble(s, 1, v), 2, at)
		if start > 0 {
			s = protowire.AppendVarint(s, 3, start)
		}
		return s
	})
}

// TestRemoteWrite2: partial writes with exact counts, start times, metadata.
func TestRemoteWrite2(t *testing.T) {
	const kind = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
	symbols := []string{"", "__name__", "up", "job", "x", "seconds", "help text"}
	ok := func(m []byte) []byte { return sample2(sample2(refs(m, 1, 2, 3, 4), 1, 1000, 0), 2, 2000, 500) }
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
		{"odd references", symbols, func(m []byte) []byte { return sample2(refs(m, 1, 2, 3), 1, 1000, 0) }, 400,
			"3 references", 2},
		{"reference out of range", symbols, func(m []byte) []byte { return sample2(refs(m, 1, 99), 1, 1000, 0) }, 400,
			"symbol 99", 2},
		{"repeated label", symbols, func(m []byte) []byte { return sample2(refs(m, 1, 2, 3, 4, 3, 4), 1, 1000, 0) },
			400, "twice", 2},
		{"nothing in it", symbols, func(m []byte) []byte { return refs(m, 1, 2) }, 400, "neither", 2},
		{"both kinds", symbols, func(m []byte) []byte {
			return protowire.AppendBytes(sample2(refs(m, 1, 2), 1, 1, 0), 3, "")
		}, 400, "both", 2},
		{"first symbol", []string{"x"}, ok, 400, "first symbol", 0},
		{"no symbols", nil, ok, 400, "first symbol", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := real(t, nil)
			a := h.do("POST", writePath, request2(c.symbols, c.series, ok), "Content-Type", kind, "Content-Encoding",
				"snappy")
			h.want(a, c.status, c.text)
			for header, want := range map[string]int{"Samples": c.written, "Histograms": 0, "Exemplars": 0} {
				if got := a.header.Get("X-Prometheus-Remote-Write-" + header + "-Written"); got != fmt.Sprint(want) {
					t.Errorf("%s written: %q, want %d", header, got, want)
				}
			}
			if c.written > 0 {
				if got := fmt.Sprint(h.selected(
					"SELECT service_timestamp, service_value, service_start_timestamp FROM up ORDER BY 1")); got != "[[1000 1 <nil>] [2000 2 500]]" {
					t.Errorf("stored %s", got)
				}
			}
			if c.name == "good" {
				if got := fmt.Sprint(h.selected(
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
	h := open(t, func(o *Options) {
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{})
		o.Rows.Writer, o.Metrics.Samples = web.NewWriter(e),
			samples.New(samples.Options{Store: e, OwnStorage: true, CacheBytes: 1 << 20})
	})
	h.want(h.do("POST", writePath, snap(message1(up, 1, 2))), 204, "")
	if got := fmt.Sprint(h.selected("SELECT timestamp, value, job FROM up ORDER BY 1"),
		len(h.selected("SHOW TABLES LIKE '%physical%'"))); got != "[[1000 1 x] [2000 2 x]] 0" {
		t.Errorf("stored %s", got)
	}
}

// TestRemoteWriteHints: hints say how tables are made, and what is not UTF-8 is mended where the server may.
func TestRemoteWriteHints(t *testing.T) {
	h := real(t, func(o *Options) {
		o.Metrics.Samples = samples.New(samples.Options{Store: o.Metrics.Store, Prefix: "service", CacheBytes: 1 << 20,
			Lossy: true})
	})
	metric := func(name string) string { return snap(message1([]string{"__name__", name, "l", "a\xffb"}, 1)) }
	h.want(h.do("POST", writePath, metric("none"), "x-service-hints", "auto_create_table=false"), 400,
		"Table `none` does not exist")
	h.want(h.do("POST", writePath, metric("none"), "x-service-hints", "auto_create_table=maybe"), 400,
		"must be a boolean")
	h.want(h.do("POST", writePath, metric("none"), "x-service-hints", "ttl=soon"), 400, "ttl")
	h.want(h.do("POST", writePath, metric("kept"), "x-service-hints", "physical_table=mine, ttl=1000y, unknown=x"), 204,
		"")
	h.want(h.do("POST", writePath+"?physical_table=yours", metric("other"), "x-service-hint-physical_table", "mine"),
		204, "")
	if got := fmt.Sprint(h.selected("SELECT l FROM mine"), h.selected("SELECT l FROM yours")); got !=
		"[[a\ufffdb]] [[a\ufffdb]]" {
		t.Errorf("stored %s", got)
	}
	if got := fmt.Sprint(h.selected("SHOW CREATE TABLE kept")); !strings.Contains(got, "ttl = '1000y'") {
		t.Errorf("made as %s", got)
	}
}

// TestRemoteWriteThroughPipeline: a header sends the series through a pipeline first.
func TestRemoteWriteThroughPipeline(t *testing.T) {
	h := real(t, nil)
	yaml := "version: 2\nprocessors:\n  - vrl:\n      source: |\n        .job = upcase(string!(.job))\n        .twice = 2 * float!(.service_value)\n        .\n  - epoch:\n      field: service_timestamp\n      resolution: ms\n" +
		"transform:\n  - fields: [job]\n    type: string\n    index: tag\n  - fields: [twice]\n    type: float64\n  - fields: [service_timestamp]\n    type: epoch, ms\n    index: timestamp\n"
	h.want(h.do("POST", "/v1/pipelines/double", yaml, "Content-Type", "application/x-yaml"), 200, "double")
	h.want(h.do("POST", writePath, snap(message1(up, 1.5, 2.5), message1([]string{"__name__", "down", "job", "y"}, 4)),
		"x-service-pipeline-name", "double"), 204, "")
	h.want(h.do("POST", writePath, snap(message1([]string{"__name__", "third", "job", "z"}, 1)),
		"x-service-pipeline-name", "none_such", "x-service-log-pipeline-name", "double"), 204, "")
	if got := fmt.Sprint(h.selected("SELECT job, twice FROM up ORDER BY service_timestamp"),
		h.selected("SELECT job, twice FROM down"),
		h.selected("SELECT twice FROM third")); got != "[[X 3] [X 5]] [[Y 8]] [[2]]" {
		t.Errorf("stored %s", got)
	}
	h.want(h.do("POST", writePath, snap(message1([]string{"__name__", "plain", "service_ttl", "1h"}, 1)),
		"x-service-pipeline-name", "service_identity"), 204, "")
	if got := h.do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+plain", "").body; strings.Contains(got, "ttl = ") ||
		!strings.Contains(got, "service_ttl") {
		t.Errorf("a label names an option of its table: %s", got)
	}
	h.want(h.do("POST", writePath, snap(message1([]string{"job", "x"}, 1), message1(up, 1)), "x-service-pipeline-name",
		"double"), 400, "__name__")
	h.want(h.do("POST", writePath, snap(message1(up, 1)), "x-service-pipeline-name", "none_such"), 400,
		"Pipeline not found")
}

// TestRemoteWriteTooSlow: a request whose time is over is one to send again.
func TestRemoteWriteTooSlow(t *testing.T) {
	h := real(t, func(o *Options) { o.Timeout = time.Hour })
	a := h.do("POST", writePath, snap(message1(up, 1)), "x-service-timeout", "1ns")
	h.want(a, 504, "send it again")
	h.want(h.do("GET", writePath, ""), 405, "")
}

// TestRemoteWriteIsBounded: a small body of very many series is refused as a whole, soon.
func TestRemoteWriteIsBounded(t *testing.T) {
	h := real(t, nil)
	repeated := func(n int, series []byte) string { return snap(bytes.Repeat(series, n)) }
	h.want(h.do("POST", writePath, repeated(2_000_000, []byte{1<<3 | 2, 0})), 400,
		"more than 100000 series cannot be taken, first: a series has no label __name__")
	h.want(h.do("POST", writePath, repeated(1_000_002, message1([]string{"__name__", "a"}))), 400,
		"more than 250000 new series")
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint("l", i), "v")
	}
	h.want(h.do("POST", writePath, repeated(1100, message1(append(many, "__name__", "a"), 1))), 400,
		"more than 1000000 labels of new series")
	const second = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
	for field := byte(2); field <= 4; field++ { // samples, histograms and exemplars without content: two bytes each
		given := bytes.Repeat([]byte{field<<3 | 2, 0}, 2_000_001)
		series := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			return append(protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, "__name__"), 2, "a")
			}), given...)
		})
		h.want(h.do("POST", writePath, snap(series)), 400, "more than 2000000 samples")
		message := protowire.AppendBytes(nil, 4, "")
		for _, text := range []string{"__name__", "a"} {
			message = protowire.AppendBytes(message, 4, text)
		}
		message = protowire.AppendMessage(message, 5, func(m []byte) []byte {
			return append(protowire.AppendBytes(m, 1, "\x01\x02"), given...)
		})
		h.want(h.do("POST", writePath, snap(message), "Content-Type", second), 400, "more than 2000000 samples")
	}
	h.want(h.do("POST", writePath, snap(bytes.Repeat([]byte{4<<3 | 2, 0}, 2_000_001)), "Content-Type", second), 400,
		"more than 2000000 symbols")
	if rows := h.selected("SHOW TABLES"); len(rows) > 1 {
		t.Errorf("tables were made: %v", rows)
	}
}

// TestRemoteWrite2CountsRefusals: who sends 2.0 sees what was stored whatever the answer, else it takes the server for
// one of 1.0.
func TestRemoteWrite2CountsRefusals(t *testing.T) {
	h := real(t, nil)
	for encoding, status := range map[string]int{"snappy": 400, "gzip": 415, "zstd": 415} {
		a := h.do("POST", writePath, "no block", "Content-Type",
			"application/x-protobuf;proto=io.prometheus.write.v2.Request", "Content-Encoding", encoding)
		h.want(a, status, "")
		for _, kind := range []string{"Samples", "Histograms", "Exemplars"} {
			if got := a.header.Get("X-Prometheus-Remote-Write-" + kind + "-Written"); got != "0" {
				t.Errorf("%s: %q %s written", encoding, got, kind)
			}
		}
	}
}
