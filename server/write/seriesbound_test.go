package write_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/server/servertest"
)

// TestSeriesBoundAtEveryDoor: who writes more series than the store may have is told which bound it is; remote write
// stores what has room.
func TestSeriesBoundAtEveryDoor(t *testing.T) {
	h := servertest.RealOn(t, engine.Options{MaxSeries: 6, MaxSeriesPerTable: 3}, nil)
	series := func(table string, from, to int) (list [][]byte) {
		for i := from; i < to; i++ {
			list = append(list, servertest.Message1([]string{"__name__", table, "host", fmt.Sprint(i)}, 1))
		}
		return list
	}
	a := h.Do("POST", servertest.WritePath, servertest.Snappy(series("up", 0, 5)...))
	h.Want(a, 400, "storage.max_series_per_table is 3")
	h.Want(a, 400, "and 1 other series were refused")
	if got := fmt.Sprint(h.Selected("SELECT host FROM up ORDER BY host")); got != "[[0] [1] [2]]" {
		t.Errorf("stored of the request: %s", got)
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(series("up", 0, 3)...)), 204, "")
	v2 := servertest.Request2([]string{"", "__name__", "up", "host", "9", "1"}, func(m []byte) []byte {
		return servertest.Sample2(servertest.Refs(m, 1, 2, 3, 4), 1, 1000, 0)
	}, func(m []byte) []byte { return servertest.Sample2(servertest.Refs(m, 1, 2, 3, 5), 1, 1000, 0) })
	a = h.Do("POST", servertest.WritePath, v2, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request",
		"Content-Encoding", "snappy")
	h.Want(a, 400, "storage.max_series_per_table is 3")
	if n := a.Header.Get("X-Prometheus-Remote-Write-Samples-Written"); n != "1" {
		t.Errorf("%s samples were counted as written, want 1", n)
	}

	const lines = "/v1/lineproto/write?precision=s"
	h.Want(h.Do("POST", lines, "cpu,host=a v=1 1\ncpu,host=b v=1 1\ncpu,host=a v=2 2"), 204, "")
	h.Want(h.Do("POST", lines, "cpu,host=c v=1 1\ncpu,host=d v=1 1"), 400, "storage.max_series_per_table is 3")
	h.Execute("CREATE TABLE logs (ts TIMESTAMP TIME INDEX, app STRING PRIMARY KEY, n INT)")
	h.Want(h.Do("GET", "/v1/sql?sql=INSERT+INTO+logs+VALUES(1,'a',1),(1,'b',1)", ""), 400, "storage.max_series is 6")
	h.Execute("INSERT INTO logs VALUES (1, 'a', 1), (2, 'a', 1)")
	h.Want(h.Do("GET", "/v1/sql?sql=INSERT+INTO+logs+VALUES(1,'b',1)", ""), 400, "1004")
	h.Execute("INSERT INTO logs VALUES (3, 'a', 1)")
	h.Want(h.Do("POST", "/v1/ingest?table=docs&pipeline_name=service_identity", `[{"a":1}]`, "Content-Type",
		"application/json"), 400, "storage.max_series is 6")
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1+FROM+docs", ""), 400, "docs")
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(series("down", 0, 1)...)), 400,
		"storage.max_series is 6")
	h.Execute("DROP TABLE up")
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(series("down", 0, 3)...)), 204, "")

	text := fmt.Sprint(
		h.Selected("SELECT kind, name, count FROM information_schema.metric_cardinality WHERE table_schema = 'public'"))
	for _, want := range []string{"[series <nil> 5]", "[series of metric down 3]", "[series of metric cpu 2]",
		"[values of label host 5]", "[series of label with value host=a 1]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// TestSeriesBoundOfRecords: of spans and log records those that have no room are refused, and counted; the others are
// stored. What a span is of need not find room in the lists of services and operations.
func TestSeriesBoundOfRecords(t *testing.T) {
	h := servertest.RealOn(t, engine.Options{MaxSeriesPerTable: 2}, nil)
	spans := func(services ...string) string {
		var all []string
		for i, s := range services {
			all = append(all,
				fmt.Sprintf(
					`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}}]},"scopeSpans":[{"spans":[{"traceId":"0%d","spanId":"0%d","name":"op%d",`+
						`"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000000000002"}]}]}`, s, i,
					i,
					i))
		}
		return `{"resourceSpans":[` + strings.Join(all, ",") + `]}`
	}
	a := h.OTLP("traces", spans("a", "b", "c", "a", "d"))
	h.Want(a, 200, `"rejectedSpans":"2"`)
	h.Want(a, 200, "storage.max_series_per_table is 2")
	h.Holds("SELECT service_name, span_name FROM opentelemetry_traces ORDER BY span_name", "[[a op0] [b op1] [a op3]]")
	h.Want(h.OTLP("traces", spans("a", "b")), 200, "{}")
	h.Want(h.OTLP("traces", spans("e", "f")), 400, "storage.max_series_per_table is 2")
	h.Holds("SELECT count(*) FROM opentelemetry_traces", "[[5]]")

	h.Want(h.OTLP("logs", servertest.OTLPLog(`{"attributes":[{"key":"host","value":{"stringValue":"a"}}]}`,
		`{"attributes":[{"key":"host","value":{"stringValue":"b"}}]}`,
		`{"attributes":[{"key":"host","value":{"stringValue":"c"}}]}`), "x-service-log-extract-keys", "host"), 200, `"rejectedLogRecords":"1"`)
	h.Holds("SELECT host FROM opentelemetry_logs ORDER BY host", "[[a] [b]]")
}
