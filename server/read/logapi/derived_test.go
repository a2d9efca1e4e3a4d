package logapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"varve/server/servertest"
)

// pushedLines stores lines: labels as JSON, metadata as JSON, text; the times are seconds after base.
func pushedLines(h *servertest.House, lines ...[3]string) {
	h.Helper()
	for i, l := range lines {
		h.Want(h.Do("POST", api+"push", fmt.Sprintf(`{"streams":[{"stream":%s,"values":[["%d",%q,%s]]}]}`, l[0],
			base*1e9+int64(i)*1e9, l[2], l[1]), "Content-Type", "application/json"), 204, "")
	}
}

const hour = "start=1700000000&end=1700003600&"

// texts are the lines that a query finds, oldest first.
func texts(t *testing.T, h *servertest.House, query string) string {
	t.Helper()
	var out []string
	for _, row := range shownRows(t, asked(h, "query_range?direction=forward&"+hour+q(query)), false) {
		_, text, _ := strings.Cut(row, "} ")
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestServiceName: a stream without the label service_name has it of the first of some labels that it has.
func TestServiceName(t *testing.T) {
	h := servertest.Real(t, nil)
	pushedLines(h, [3]string{`{"job":"j1"}`, `{}`, "one"}, [3]string{`{"container":"c","job":"j1"}`, `{}`, "two"},
		[3]string{`{"x":"y"}`, `{}`, "three"}, [3]string{`{"service_name":"own","app":"z"}`, `{}`, "four"},
		[3]string{`{"app":"z","job":"j1"}`, `{}`, "five"})
	h.Execute(`CREATE TABLE plain (ts TIMESTAMP TIME INDEX, zone STRING, message STRING, PRIMARY KEY(zone)) WITH ('append_mode'='true')`)
	h.Execute(`INSERT INTO plain VALUES (1700000409000, 'z1', 'nine')`)
	for _, c := range []struct{ query, want string }{
		{`{service_name="j1"}`, "one"},
		{`{service_name="c"}`, "two"},
		{`{service_name="unknown_service"}`, "three nine"},
		{`{service_name="unknown_service", service_table="loki_logs"}`, "three"},
		{`{service_name="own"}`, "four"},
		{`{service_name=~"z|own"}`, "four five"},
		{`{service_name!~"unknown.*|c", service_table=~".+"}`, "one four five"},
		{`{service_name!="j1", job="j1"}`, "two five"},
		{`{service_name=~".+"}`, "one two three four five nine"},
		{`{service_name="", job="j1"}`, ""},
		{`{job="j1"} | service_name="c"`, "two"},
		{`{job="j1"} | line_format "{{.service_name}}"`, "j1 c z"},
	} {
		if got := texts(t, h, c.query); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
	h.Want(asked(h, "label/service_name/values?"+hour), 200, `"data":["c","j1","own","unknown_service","z"]`)
	h.Want(asked(h, "series?"+hour+"match="+url.QueryEscape(`{job="j1",container=""}`)), 200,
		`"data":[{"app":"z","job":"j1","service_name":"z","service_table":"loki_logs"},{"job":"j1","service_name":"j1","service_table":"loki_logs"}]`)
	for _, c := range []struct{ query, want string }{
		{`sum by (service_name) (count_over_time({service_name=~".+"}[1h]))`,
			`{service_name="c"} 1|{service_name="j1"} 1|{service_name="own"} 1|{service_name="unknown_service"} 2|{service_name="z"} 1`},
		{`sum without (app, job, service_table) (count_over_time({job="j1", service_name=~".+"}[1h]))`,
			`{container="c",service_name="c"} 1|{service_name="j1"} 1|{service_name="z"} 1`},
		{`count_over_time({job="j1"}[1h])`, `{app="z",job="j1"} 1|{container="c",job="j1"} 1|{job="j1"} 1`},
	} {
		rows := shownRows(t, asked(h, "query?time=1700003600&"+q(c.query)), false)
		if got := strings.Join(rows, "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
}

// TestDetectedLevel: every line has the level that its metadata, its labels or its text name.
func TestDetectedLevel(t *testing.T) {
	h := servertest.Real(t, nil)
	pushedLines(h, [3]string{`{"app":"a"}`, `{}`, "level=warning x"}, [3]string{`{"app":"a"}`, `{}`, `{"lvl":"DEBUG"}`},
		[3]string{`{"app":"a"}`, `{"severity":"CRIT"}`, "info"}, [3]string{`{"app":"a","level":"err"}`, `{}`, "x"},
		[3]string{`{"app":"a"}`, `{"severity_number":"17"}`, "info"}, [3]string{`{"app":"a"}`, `{}`, "nothing"},
		[3]string{`{"app":"a"}`, `{"detected_level":"mine"}`, "error"})
	a := asked(h, "query_range?direction=forward&"+hour+q(`{app="a"}`))
	for _, level := range []string{"warn", "debug", "critical", "error", "unknown", "mine"} {
		if !strings.Contains(a.Body, `"app":"a","detected_level":"`+level+`"`) {
			t.Errorf("no line has the level %s: %s", level, a.Body)
		}
	}
	text := `sum by (detected_level) (count_over_time({app="a"}[1h]))`
	rows := shownRows(t, asked(h, "query?time=1700003600&"+q(text)), false)
	want := `{detected_level="critical"} 1|{detected_level="debug"} 1|{detected_level="error"} 2|` +
		`{detected_level="mine"} 1|{detected_level="unknown"} 1|{detected_level="warn"} 1`
	if got := strings.Join(rows, "|"); got != want {
		t.Errorf("lines by level\n got %s\nwant %s", got, want)
	}
}

// TestNames: metadata and columns have names as labels need them, and none twice.
func TestNames(t *testing.T) {
	h := servertest.Real(t, nil)
	pushedLines(h, [3]string{`{"app":"a"}`, `{"9x":"1","a-b":"2","a_b":"3","e":""}`, "k"})
	h.Want(asked(h, "query_range?"+hour+q(`{app="a"}`)), 200, `"stream":{"a_b":"2","app":"a",`+
		`"detected_level":"unknown","key_9x":"1","service_name":"a","service_table":"loki_logs"}`)
	if got := texts(t, h, `{app="a"} | key_9x="1" | a_b="2"`); got != "k" {
		t.Errorf("metadata by its names: %q", got)
	}
	h.Execute(`CREATE TABLE odd (ts TIMESTAMP TIME INDEX, "a-b" STRING, "a_b" STRING, "a.b" STRING, "9x" STRING, message STRING, PRIMARY KEY("a-b","a_b","a.b","9x")) WITH ('append_mode'='true')`)
	h.Execute(`INSERT INTO odd VALUES (1700000400000, 'dash', 'exact', 'dot', 'nine', 'm')`)
	h.Want(asked(h, "series?"+hour+"match="+url.QueryEscape(`{service_table="odd"}`)), 200,
		`"data":[{"a_b":"exact","a_b_extracted":"dash",`+
			`"a_b_extracted_extracted":"dot","key_9x":"nine","service_name":"unknown_service","service_table":"odd"}]`)
	if got := texts(t, h, `{a_b_extracted="dash", key_9x="nine"}`); got != "m" {
		t.Errorf("columns by their names: %q", got)
	}
}

// TestFewValues: in a table without tags and without the option, columns of few values are labels, others metadata.
func TestFewValues(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Execute(`CREATE TABLE shop (ts TIMESTAMP TIME INDEX, zone STRING, request STRING, message STRING) WITH ('append_mode'='true')`)
	h.Execute(`CREATE TABLE short (ts TIMESTAMP TIME INDEX, zone STRING, level STRING, message STRING) WITH ('append_mode'='true')`)
	var rows []string
	for i := range 60 {
		rows = append(rows, fmt.Sprintf("(%d, 'z%d', 'r%d', 'm%d')", (base+int64(i))*1000, i%3, i, i))
	}
	h.Execute("INSERT INTO shop VALUES " + strings.Join(rows, ", "))
	h.Execute("INSERT INTO short VALUES (1700000400000, 'z1', 'info', 'x')")
	h.Want(asked(h, "series?"+hour+"match="+url.QueryEscape(`{service_table="shop"}`)), 200, `"data":[{"service_name":"unknown_service","service_table":"shop","zone":"z0"},{"service_name":"unknown_service","service_table":"shop","zone":"z1"},{"service_name":"unknown_service","service_table":"shop","zone":"z2"}]`)
	h.Want(asked(h, "series?"+hour+"match="+url.QueryEscape(`{service_table="short"}`)), 200,
		`"data":[{"level":"info","service_name":"unknown_service","service_table":"short"}]`)
	if got := texts(t, h, `{zone="z1"} | request=~"r[147]"`); got != "m1 m4 m7" {
		t.Errorf("lines by a label and by metadata: %q", got)
	}
	h.Want(asked(h, "query?time=1700003600&"+q(`sum by (zone) (count_over_time({service_table="shop"}[1h]))`)), 200,
		`{"metric":{"zone":"z2"},"value":[1700003600,"20"]}`)
}

// TestOTLP: resource and scope attributes are labels and metadata by the names that the language has for them.
func TestOTLP(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("logs", `{"resourceLogs":[{"schemaUrl":"u","resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}},{"key":"k8s.pod.name","value":{"stringValue":"p1"}},{"key":"host.name","value":{"stringValue":"h1"}}]},"scopeLogs":[{"scope":{"name":"lib","version":"2","attributes":[{"key":"s","value":{"intValue":"4"}}]},"logRecords":[{"timeUnixNano":"1700000400000000000","severityNumber":17,"body":{"stringValue":"paid info"},"attributes":[{"key":"9x","value":{"boolValue":true}},{"key":"http","value":{"kvlistValue":{"values":[{"key":"status","value":{"intValue":"500"}}]}}}]}]}]},{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1700000401000000000","severityText":"WARN","body":{"stringValue":"other"}}]}]}]}`), 200, "")
	a := asked(h, "query_range?direction=forward&"+hour+q(`{service_table="opentelemetry_logs"}`),
		"X-Loki-Response-Encoding-Flags", "categorize-labels")
	for _, want := range []string{
		`"stream":{"k8s_pod_name":"p1","service_name":"pay","service_table":"opentelemetry_logs"},"values":[["1700000400000000000","paid info",{"structuredMetadata":{"detected_level":"error","host_name":"h1","http_status":"500","key_9x":"true","s":"4","scope_name":"lib","scope_version":"2","severity_number":"17"}}]]`,
		`"stream":{"service_name":"unknown_service","service_table":"opentelemetry_logs"},"values":[["1700000401000000000","other",{"structuredMetadata":{"detected_level":"warn","severity_text":"WARN"}}]]`,
	} {
		if a.Status != 200 || !strings.Contains(a.Body, want) {
			t.Errorf("%d %s\nlacks %s", a.Status, a.Body, want)
		}
	}
	if got := texts(t, h, `{service_name="pay"} | http_status=500`); got != "paid info" {
		t.Errorf("by metadata of an object in an attribute: %q", got)
	}
}

// TestInterval: lines of several tables are apart as those of one.
func TestInterval(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Execute(`CREATE TABLE other (ts TIMESTAMP TIME INDEX, app STRING, message STRING, PRIMARY KEY(app)) WITH ('append_mode'='true')`)
	h.Execute(`INSERT INTO other VALUES (1700000405000, 'a', 'five'), (1700000410000, 'a', 'ten'), (1700000419000, 'a', 'nineteen')`)
	for _, at := range []string{"00", "09", "21"} {
		h.Want(h.Do("POST", api+"push", `{"streams":[{"stream":{"app":"a"},"values":[["17000004`+at+`000000000","`+at+
			`"]]}]}`, "Content-Type", "application/json"), 204, "")
	}
	for _, c := range []struct{ more, want string }{
		{"direction=forward&interval=10", "00 ten 21"},
		{"direction=backward&interval=10", "00 ten 21"},
		{"direction=backward&interval=10&limit=2", "ten 21"},
		{"direction=forward&interval=6s", "00 nineteen 09"},
	} {
		var got []string
		for _, row := range shownRows(t, asked(h, "query_range?"+c.more+"&"+hour+q(`{app="a"}`)), false) {
			_, text, _ := strings.Cut(row, "} ")
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.more, text, c.want)
		}
	}
}

// TestKill: the list of running statements shows a query once, and KILL ends it also while it computes.
func TestKill(t *testing.T) {
	h := servertest.Real(t, nil)
	pushMany(h, "n=1", 20_000)
	const text = `quantile_over_time(0.5, {app="a"} | logfmt n | unwrap n [3h])`
	now := time.Now().Unix()
	done := make(chan servertest.Answer)
	go func() {
		path := fmt.Sprintf("%squery_range?start=%d&end=%d&step=1s&%s", api, now-600, now+10_000, q(text))
		done <- h.Do("GET", path, "")
	}()
	list := "SELECT id FROM information_schema.process_list WHERE query LIKE 'quantile%'"
	h.Eventually(func() bool {
		return len(h.Selected(list+" AND start_timestamp < now() - INTERVAL '1 second'")) == 1
	})
	if rows := h.Selected(list); len(rows) != 1 {
		t.Errorf("the list shows the query %d times", len(rows))
	}
	h.Want(h.SQL("KILL "+h.RunningID("quantile%")), 200, "")
	if a := <-done; a.Status == 200 || !strings.Contains(a.Body, "Query was killed") {
		t.Errorf("the query that was killed: %d %.200s", a.Status, a.Body)
	}
}
