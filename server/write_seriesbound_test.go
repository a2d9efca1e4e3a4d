package server

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine"
)

// TestSeriesBoundAtEveryDoor: who writes more series than the store may have is told which bound it is; remote write
// stores what has room.
func TestSeriesBoundAtEveryDoor(t *testing.T) {
	h := realOn(t, engine.Options{MaxSeries: 6, MaxSeriesPerTable: 3}, nil)
	series := func(table string, from, to int) (list [][]byte) {
		for i := from; i < to; i++ {
			list = append(list, message1([]string{"__name__", table, "host", fmt.Sprint(i)}, 1))
		}
		return list
	}
	a := h.do("POST", writePath, snap(series("up", 0, 5)...))
	h.want(a, 400, "storage.max_series_per_table is 3")
	h.want(a, 400, "and 1 other series were refused")
	if got := fmt.Sprint(h.selected("SELECT host FROM up ORDER BY host")); got != "[[0] [1] [2]]" {
		t.Errorf("stored of the request: %s", got)
	}
	h.want(h.do("POST", writePath, snap(series("up", 0, 3)...)), 204, "")
	v2 := request2([]string{"", "__name__", "up", "host", "9", "1"}, func(m []byte) []byte {
		return sample2(refs(m, 1, 2, 3, 4), 1, 1000, 0)
	}, func(m []byte) []byte { return sample2(refs(m, 1, 2, 3, 5), 1, 1000, 0) })
	a = h.do("POST", writePath, v2, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request",
		"Content-Encoding", "snappy")
	h.want(a, 400, "storage.max_series_per_table is 3")
	if n := a.header.Get("X-Prometheus-Remote-Write-Samples-Written"); n != "1" {
		t.Errorf("%s samples were counted as written, want 1", n)
	}

	const lines = "/v1/lineproto/write?precision=s"
	h.want(h.do("POST", lines, "cpu,host=a v=1 1\ncpu,host=b v=1 1\ncpu,host=a v=2 2"), 204, "")
	h.want(h.do("POST", lines, "cpu,host=c v=1 1\ncpu,host=d v=1 1"), 400, "storage.max_series_per_table is 3")
	h.execute("CREATE TABLE logs (ts TIMESTAMP TIME INDEX, app STRING PRIMARY KEY, n INT)")
	h.want(h.do("GET", "/v1/sql?sql=INSERT+INTO+logs+VALUES(1,'a',1),(1,'b',1)", ""), 400, "storage.max_series is 6")
	h.execute("INSERT INTO logs VALUES (1, 'a', 1), (2, 'a', 1)")
	h.want(h.do("GET", "/v1/sql?sql=INSERT+INTO+logs+VALUES(1,'b',1)", ""), 400, "1004")
	h.execute("INSERT INTO logs VALUES (3, 'a', 1)")
	h.want(h.do("POST", "/v1/ingest?table=docs&pipeline_name=service_identity", `[{"a":1}]`, "Content-Type",
		"application/json"), 400, "storage.max_series is 6")
	h.want(h.do("GET", "/v1/sql?sql=SELECT+1+FROM+docs", ""), 400, "docs")
	h.want(h.do("POST", writePath, snap(series("down", 0, 1)...)), 400, "storage.max_series is 6")
	h.execute("DROP TABLE up")
	h.want(h.do("POST", writePath, snap(series("down", 0, 3)...)), 204, "")

	text := fmt.Sprint(
		h.selected("SELECT kind, name, count FROM information_schema.metric_cardinality WHERE table_schema = 'public'"))
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
	h := realOn(t, engine.Options{MaxSeriesPerTable: 2}, nil)
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
	a := h.otlp("traces", spans("a", "b", "c", "a", "d"))
	h.want(a, 200, `"rejectedSpans":"2"`)
	h.want(a, 200, "storage.max_series_per_table is 2")
	h.holds("SELECT service_name, span_name FROM opentelemetry_traces ORDER BY span_name", "[[a op0] [b op1] [a op3]]")
	h.want(h.otlp("traces", spans("a", "b")), 200, "{}")
	h.want(h.otlp("traces", spans("e", "f")), 400, "storage.max_series_per_table is 2")
	h.holds("SELECT count(*) FROM opentelemetry_traces", "[[5]]")

	h.want(h.otlp("logs", otlpLog(`{"attributes":[{"key":"host","value":{"stringValue":"a"}}]}`,
		`{"attributes":[{"key":"host","value":{"stringValue":"b"}}]}`,
		`{"attributes":[{"key":"host","value":{"stringValue":"c"}}]}`), "x-service-log-extract-keys", "host"), 200, `"rejectedLogRecords":"1"`)
	h.holds("SELECT host FROM opentelemetry_logs ORDER BY host", "[[a] [b]]")
}
