package ingest_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"varve/server/servertest"
)

func TestPipelineVersions(t *testing.T) {
	h := servertest.Real(t, nil)
	post := func(table, more string) servertest.Answer {
		return h.Do("POST", "/v1/ingest?pipeline_name=p&table="+table+more, `{"a":"x","ts":1}`, "Content-Type",
			"application/json")
	}
	columns := func(table string) string {
		list, _ := queried(h, "SELECT * FROM "+table)
		return list[0].([]any)[0].(string)
	}
	h.Want(post("t0", ""), 400, "Pipeline not found, name: p, version: latest")
	first := h.Upload("p", servertest.Makes("one"))
	second := h.Upload("p", servertest.Makes("two"))
	if first >= second && len(first) == len(second) {
		t.Errorf("versions %q and %q", first, second)
	}
	h.Want(post("t1", ""), 200, `"affectedrows":1`)
	h.Want(post("t2", "&version="+url.QueryEscape(first)), 200, `"affectedrows":1`)
	h.Want(post("t3", "&version="+url.QueryEscape(strings.Replace(first, " ", "T", 1)+"Z")), 200, `"affectedrows":1`)
	h.Want(post("t4", "&version=2001-01-01"), 400, "Pipeline not found, name: p, version: 2001-01-01")
	h.Want(post("t4", "&version=x"), 400, "Invalid pipeline version format: x")
	if columns("t1") != "two" || columns("t2") != "one" || columns("t3") != "one" {
		t.Errorf("the columns are %s, %s and %s", columns("t1"), columns("t2"), columns("t3"))
	}
	_, rows := queried(h, "SELECT name, \"schema\", pipeline FROM service_private.pipelines ORDER BY created_at")
	if d := servertest.Match("rows", []any{[]any{"p", "", servertest.Makes("one")},
		[]any{"p", "", servertest.Makes("two")}}, rows); d != "" {
		t.Error(d)
	}
	h.Want(h.Do("GET", "/v1/pipelines/p", ""), 200, `"version":"`+second+`"`)
	h.Want(h.Do("GET", "/v1/pipelines/p?version="+url.QueryEscape(first), ""), 200, `'a, one'`)
	h.Want(h.Do("GET", "/v1/pipelines/p?version=x", ""), 400, "Invalid pipeline version format: x")
	h.Want(h.Do("GET", "/v1/pipelines/other", ""), 400, "Pipeline not found, name: other, version: latest")

	// The version before the deleted one is the latest at once.
	h.Want(h.Do("DELETE", "/v1/pipelines/p?version="+url.QueryEscape(second), ""), 200, `"version":"`+second+`"`)
	h.Want(post("t5", ""), 200, `"affectedrows":1`)
	if columns("t5") != "one" {
		t.Errorf("after the deletion the column is %s", columns("t5"))
	}
	h.Want(post("t6", "&version="+url.QueryEscape(second)), 400, "Pipeline not found")
	h.Want(h.Do("DELETE", "/v1/pipelines/p?version="+url.QueryEscape(second), ""), 200, `"pipelines":[]`)
	h.Want(h.Do("DELETE", "/v1/pipelines/p?version="+url.QueryEscape(first), ""), 200, first)
	h.Want(post("t6", ""), 400, "Pipeline not found, name: p, version: latest")
	h.Want(h.Do("DELETE", "/v1/pipelines/p", ""), 400, "version is required")
}

func TestPipelineUploads(t *testing.T) {
	h := servertest.Real(t, nil)
	form := "--b\r\nContent-Disposition: form-data; name=\"any\"\r\n\r\n" + servertest.Makes("x") + "\r\n--b--\r\n"
	for _, c := range []struct {
		name, contentType, body string
		status                  int
		contains                string
	}{
		{"a", "text/yaml", servertest.Makes("x"), 200, `"name":"a"`},
		{"a", "application/yaml; charset=utf-8", servertest.Makes("x"), 200, `"name":"a"`},
		{"a", "multipart/form-data; boundary=b", form, 200, `"name":"a"`},
		{"a", "multipart/form-data; boundary=b", "--b--\r\n", 415, ""},
		{"a", "multipart/form-data", form, 415, ""},
		{"a", "application/json", "{}", 415, ""},
		{"a", "", servertest.Makes("x"), 415, ""},
		{"service_x", servertest.YAMLType, servertest.Makes("x"), 400, "pipeline_name cannot start with service_"},
		{"a", servertest.YAMLType, "", 400, "pipeline is required in body"},
		{"a", servertest.YAMLType, "# nothing", 400, "Yaml parse error."},
		{"a", servertest.YAMLType, "a: [", 400, "Yaml load error.: "},
		{"a", servertest.YAMLType, "a: &x [*x]\ntransform: [{field: ts, type: time, index: time}]", 400, "Yaml load error.: "},
		{"a", servertest.YAMLType, "version: x", 400, "Invalid Pipeline doc version number: x"},
		{"a", servertest.YAMLType, "transform: [1]", 400, "Transform element must be a map: at line 1, column 13 of the document"},
		{"a", servertest.YAMLType, "table_suffix: [a]\n" + servertest.Makes("x"), 400,
			"A valid table suffix template is required for tablesuffix section"},
	} {
		var headers []string
		if c.contentType != "" {
			headers = []string{"Content-Type", c.contentType}
		}
		a := h.Do("POST", "/v1/pipelines/"+c.name, c.body, headers...)
		if c.status == 415 && a.Body != "" {
			t.Errorf("415 with body %q", a.Body)
		}
		h.Want(a, c.status, c.contains)
	}
}

// TestOlderPaths: what older senders of logs know answers as the addresses of today.
func TestOlderPaths(t *testing.T) {
	h := servertest.Real(t, nil)
	const base = "/v1/events/pipelines/"
	h.Want(h.Do("POST", base+"p", servertest.Makes("one"), "Content-Type", servertest.YAMLType), 200, `"name":"p"`)
	h.Want(h.Do("GET", base+"p", ""), 200, "transform")
	h.Want(h.Do("GET", "/v1/pipelines/p", ""), 200, "transform")
	h.Want(h.Do("GET", base+"p/ddl?table=t", ""), 200, "CREATE TABLE")
	h.Want(h.Do("POST", base+"dryrun?pipeline_name=p", `{"a":"x","ts":1}`, "Content-Type", "application/json"), 200,
		`"rows"`)
	h.Want(h.Do("POST", "/v1/events/logs?pipeline_name=p&table=t", `{"a":"x","ts":1}`, "Content-Type",
		"application/json"), 200, `"affectedrows":1`)
	version := h.Upload("p", servertest.Makes("two"))
	h.Want(h.Do("DELETE", base+"p?version="+url.QueryEscape(version), ""), 200, `"name":"p"`)
	if _, rows := queried(h, "SELECT one FROM t"); servertest.Match("rows", []any{[]any{"x"}}, rows) != "" {
		t.Errorf("the rows are %v", rows)
	}
}

func TestPipelineNames(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, name := range []string{"a%20b", "%C3%A9", "dots.and-dashes_", "x%2By"} {
		plain, err := url.PathUnescape(name)
		if err != nil {
			t.Fatal(err)
		}
		h.Want(h.Do("POST", "/v1/pipelines/"+name, servertest.Makes("x"), "Content-Type", servertest.YAMLType), 200,
			`"name":"`+plain+`"`)
		h.Want(h.Do("GET", "/v1/pipelines/"+name, ""), 200, `"name":"`+plain+`"`)
		h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name="+url.QueryEscape(plain), `{"a":"x","ts":1}`,
			"Content-Type", "application/json"), 200, `"affectedrows":1`)
	}
	h.Want(h.Do("GET", "/v1/pipelines/%FF", ""), 400, "is not valid text in a URL")
	h.Want(h.Do("POST", "/v1/pipelines/service%5Fx", servertest.Makes("x"), "Content-Type", servertest.YAMLType), 400,
		"cannot start with service_")
	h.Want(h.Do("POST", "/v1/pipelines/"+strings.Repeat("x", 600), servertest.Makes("x"), "Content-Type",
		servertest.YAMLType), 400, "pipeline_name has 600 bytes")
	h.Want(h.Do("POST", "/v1/ingest?table=t", `{"a":"x","ts":2}`, "Content-Type", "application/json",
		"x-service-pipeline-name", "dots.and-dashes_"), 200, `"affectedrows":1`)
}

func TestPipelineDDL(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Upload("p", `
transform:
  - {field: host, type: string, tag: true, index: inverted}
  - {field: text, type: string, index: {type: fulltext, options: {analyzer: chinese, case_sensitive: true}}}
  - {field: n, type: uint16, index: skipping}
  - {field: ts, type: "time, us", index: timestamp}
`)
	a := h.Do("GET", "/v1/pipelines/p/ddl?table=made", "")
	var got struct {
		SQL struct {
			SQL     string
			Message *string
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 || got.SQL.Message != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	h.Want(h.SQL(got.SQL.SQL), 200, `"affectedrows":0`)
	h.Want(h.Do("POST", "/v1/ingest?table=written&pipeline_name=p", `{"host":"a","text":"b","n":3,"ts":1}`,
		"Content-Type", "application/json"), 200, `"affectedrows":1`)
	definition := func(table string) string {
		_, rows := queried(h, "SHOW CREATE TABLE "+table)
		return strings.ReplaceAll(rows.([]any)[0].([]any)[1].(string), table, "T")
	}
	if made, written := definition("made"),
		strings.Replace(definition("written"), "  comment = 'Created on insertion'\n", "", 1); strings.ReplaceAll(made,
		",\n)", "\n)") != strings.ReplaceAll(written, ",\n)", "\n)") {
		t.Errorf("from the DDL\n%s\nby the write\n%s", made, written)
	}
	h.Want(h.Do("GET", "/v1/pipelines/p/ddl?table=made", ""), 200, "table made already exists")
	h.Want(h.Do("GET", "/v1/pipelines/p/ddl", ""), 400, "table name is required")
	h.Want(h.Do("GET", "/v1/pipelines/service_identity/ddl?table=x", ""), 400,
		"built-in pipelines don't have fixed table schema")
	h.Upload("auto", "processors: [{epoch: {field: ts}}]")
	h.Want(h.Do("GET", "/v1/pipelines/auto/ddl?table=x", ""), 400, "auto transform doesn't have fixed table schema")
	h.Upload("split", "table_suffix: _${a}\n"+servertest.Makes("x"))
	h.Want(h.Do("GET", "/v1/pipelines/split/ddl?table=x", ""), 200, "table_suffix")
}

func TestDryRun(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Upload("p",
		"version: 2\ntable_suffix: _${k}\ntransform:\n  - {field: ts, type: 'time, ms', index: timestamp}\n  - {field: j, type: json}\n")
	run := func(path, contentType, body string, status int, contains string) {
		t.Helper()
		h.Want(h.Do("POST", path, body, "Content-Type", contentType), status, contains)
	}
	const dry, js = "/v1/pipelines/dryrun", "application/json"
	run(dry, js, `{"pipeline_name":"p","data":"[{\"ts\":1,\"k\":7,\"j\":[1]},{\"ts\":2,\"u\":null,\"v\":1.0}]"}`, 200,
		`[{"table_name":"dry_run_7","schema":[{"name":"ts","data_type":"TIMESTAMP_MILLISECOND","column_type":"TIMESTAMP","fulltext":false},{"name":"j","data_type":"JSON","column_type":"FIELD","fulltext":false},{"name":"k","data_type":"INT64","column_type":"FIELD","fulltext":false}],"rows":[[{"key":"ts","data_type":"TIMESTAMP_MILLISECOND","semantic_type":"TIMESTAMP","value":1},{"key":"j","data_type":"JSON","semantic_type":"FIELD","value":[1]},{"key":"k","data_type":"INT64","semantic_type":"FIELD","value":7}]]},{"table_name":"dry_run",`)
	run("/v1/pipelines/_dryrun", js,
		`{"pipeline_name":"p","data_type":"application/x-ndjson","data":"{\"ts\":1}\n{\"ts\":2}"}`, 200, `"value":2}`)
	run(dry+"?pipeline_name=p", "application/x-ndjson", "{\"ts\":1}\n", 200, `"value":1}`)
	run(dry+"?pipeline_name=p", js, "[]", 200, "[]")
	run(dry, js, "[]", 400, "pipeline_name is required")
	run(dry+"?pipeline_name=p", js, strings.Repeat(`{"ts":1}`, 11), 400, "Invalid request parameter: data is required")
	run(dry, js, `{"pipeline_name":"service_trace_v1","data":"[]"}`, 400, "built-in")
	run(dry, js, `{"pipeline_name":"p","pipeline_version":"2001-01-01","data":"[]"}`, 400,
		"Pipeline not found, name: p, version: 2001-01-01")
	run(dry, js, `{"pipeline":"processors: [{nosuch: {}}]","data":"[]"}`, 400,
		`"error":"Failed to build pipeline: Unsupported nosuch processor`)
	run(dry, js, `{"pipeline":"processors: [{epoch: {field: t}}]","data":"{\"t\":\"x\"}"}`, 400,
		`"error":"Failed to exec pipeline: Failed to parse x to int`)
	run(dry, js, `{"pipeline_name":"p","data":"{\"ts\":\"x\"}"}`, 400,
		`"error":"Type: String value not supported for Epoch (entry 1 of 1`)
	run(dry, js, `{"pipeline_name":"p","data":"1"}`, 400, "json format error")
	h.Want(h.Do("POST", dry, "{}"), 400, "Header of type `content-type` was missing")
	h.Want(h.SQL("SELECT * FROM dry_run"), 400, `"code":4001`)
}

// TestDryRunOfEachEntry sends a form, and gets for each entry its rows or its error.
func TestDryRunOfEachEntry(t *testing.T) {
	h := servertest.Real(t, nil)
	const document = "processors:\n  - dissect: {field: message, pattern: '%{level} %{n}'}\n  - filter: {field: level, targets: [debug]}\n" +
		"transform:\n  - {field: n, type: int64}\n  - {field: ts, type: time, index: timestamp, on_failure: default, more: 1}\n"
	form := func(parts ...string) servertest.Answer {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for i := 0; i < len(parts); i += 2 {
			if err := w.WriteField(parts[i], parts[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return h.Do("POST", "/v1/pipelines/dryrun", body.String(), "Content-Type", w.FormDataContentType())
	}
	a := form("pipeline", document, "data", "info 1\ndebug 2\nwarn x\nno\ninfo 5\n")
	h.Want(a, 200, `{"tables":[{"table_name":"dry_run","schema":[{"name":"n",`)
	h.Want(a, 200,
		`"entries":[{"entry":1,"rows":[{"table_name":"dry_run","row":[{"key":"n","data_type":"INT64","semantic_type":"FIELD","value":1}`)
	h.Want(a, 200,
		`{"entry":2,"rows":[]},{"entry":3,"error":"Failed to coerce string value 'x' to type 'INT64' (entry 3 of 5, field \"n\", value \"x\": transform to the column n of type INT64)"},{"entry":4,"error":"No matching pattern found (entry 4 of 5,`)
	h.Want(a, 200, `"value":5}`)
	h.Want(a, 200, `],"warnings":["transform 2 has no setting \"more\", at line 6, column`)
	h.Want(form("data", `[{"message":"info 1"}]`, "data_type", "application/json", "pipeline", document), 200,
		`"value":1}`)
	h.Want(form("data", strings.Repeat("info 1\n", 1000), "pipeline", document), 200, `{"entry":1000,"rows"`)
	h.Want(form("data", strings.Repeat("info 1\n", 1001), "pipeline", document), 400, "at most 1000 entries")
	h.Want(form("pipeline", document), 400, "data is required")
	h.Want(form("pipeline", document, "data", "", "date", ""), 400, `the form has a part \"date\"`)
	h.Want(form("pipeline", "processors: [{no: {}}]", "data", ""), 400,
		"Failed to build pipeline: Unsupported no processor")
	h.Want(h.Do("POST", "/v1/pipelines/dryrun", "", "Content-Type", "multipart/form-data"), 400,
		"Invalid request parameter")

	h.Want(h.Do("POST", "/v1/pipelines/w", document, "Content-Type", "application/x-yaml"), 200,
		`"warnings":["transform 2 has no setting`)
	h.Want(h.Do("POST", "/v1/pipelines/dryrun", `{"pipeline_name":"w","data":"[]"}`, "Content-Type",
		"application/json"), 200,
		`[{"table_name":"dry_run","schema":[],"rows":[],"warnings":["transform 2 has no setting`)
	h.Want(h.Do("POST", "/v1/pipelines/dryrun", `{"pipeline_name":"w","data_type":"text/plain","data":"no"}`,
		"Content-Type", "application/json"), 400,
		`tried patterns %{level} %{n})","warnings":["transform 2 has no setting`)
	h.Want(form("pipeline", "processors: [{epoch: {field: t}}]", "data", `{"t":1.5}`), 200,
		`"warnings":["the time index \"t\" of the table \"dry_run\" is 1 milliseconds since 1970`)
}

// TestIngestTellsMore: the answer of an ingest has the first failures of skipped entries and the warnings about times,
// the latter once a table; widen_numbers comes from the header or the configuration.
func TestIngestTellsMore(t *testing.T) {
	h := servertest.Real(t, nil)
	post := func(more, body string, headers ...string) servertest.Answer {
		return h.Do("POST", "/v1/ingest?table=t&pipeline_name=service_identity"+more, body,
			append(headers, "Content-Type", "application/x-ndjson")...)
	}
	strict := []string{"x-service-pipeline-params", "widen_numbers=false"}
	h.Want(post("&skip_error=true", "{\"a\":1.5}\n{\"a\":2}\n{}", strict...), 200,
		`,"skipped":[{"entry":2,"error":"Column datatype mismatch. For column: a, expected datatype: Float64, actual datatype: Int64 (entry 2 of 3, field \"a\", value 2: `)
	h.Want(post("&widen_numbers=false", "{\"b\":1}\n{\"a\":2}"), 400,
		`column a expect type Float64, given: Int64 (row 2 of 2, field \"a\", value 2: integers and floats are two kinds`)
	h.Want(post("&skip_error=true", "{\"a\":2}\n{\"a\":\"x\"}", "x-service-pipeline-params", "max_nested_levels=3"),
		200, `"affectedrows":1`)
	h.Want(post("", "{\"b\":1}\n{\"a\":2}\n{\"b\":0.5}"), 200, `"affectedrows":3`)
	h.Want(h.SQL("SELECT sum(a), sum(b) FROM t"), 200, `[[5.5,1.5]]`)
	far := "&custom_time_index=t;epoch;s"
	h.Want(h.Do("POST", "/v1/ingest?table=u&pipeline_name=service_identity"+far, `{"t":1742814853123}`, "Content-Type",
		"application/json"), 200, `"warnings":["the time index \"t\" of the table \"u\" is 1742814853123 seconds since 1970`)
	if a := h.Do("POST", "/v1/ingest?table=u&pipeline_name=service_identity"+far, `{"t":1742814853123}`, "Content-Type",
		"application/json"); strings.Contains(a.Body, "warnings") {
		t.Errorf("warned of again: %s", a.Body)
	}
}

func TestTableOptionVariables(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Upload("p", servertest.Makes("a"))
	post := func(table, entries string, status int, contains string) {
		t.Helper()
		h.Want(h.Do("POST", "/v1/ingest?pipeline_name=p&table="+table, entries, "Content-Type", "application/json"),
			status, contains)
	}
	shows := func(table, text string) {
		t.Helper()
		h.Want(h.SQL("SHOW CREATE TABLE "+table), 200, text)
	}
	post("o1", `{"a":"x","ts":1,"service_ttl":"1d","service_skip_wal":true}`, 200, `"affectedrows":1`)
	shows("o1", "ttl = '1day'")
	shows("o1", "skip_wal = 'true'")
	post("o2",
		`[{"a":"x","ts":1,"service_merge_mode":"last_non_null"},{"a":"y","ts":1,"service_merge_mode":"last_non_null"}]`,
		200, `"affectedrows":2`)
	shows("o2", "merge_mode = 'last_non_null'")
	if _, rows := queried(h, "SELECT a FROM o2"); servertest.Match("rows", []any{[]any{"y"}}, rows) != "" {
		t.Errorf("rows %v", rows)
	}
	post("o3", `{"a":"x","ts":1,"service_append_mode":false}`, 200, `"affectedrows":1`)
	shows("o3", "append_mode = 'false'")
	post("o4", `{"a":"x","ts":1,"service_append_mode":true,"service_merge_mode":"last_row"}`, 400, `"code":1004`)
	post("o5", `{"a":"x","ts":1,"service_ttl":"instant"}`, 200, `"affectedrows":0`)
	post("o6", `{"a":"x","ts":1,"service_ttl":"soon"}`, 400, `"code":1004`)
	post("o7", `{"a":"x","ts":1,"service_auto_create_table":"maybe"}`, 400,
		"`auto_create_table` hint must be a boolean")
	post("o8", `{"a":"x","ts":1,"service_physical_table":"phy"}`, 400, `"code":1004`)
	post("o9",
		`[{"a":"x","ts":1,"service_table_suffix":"_s"},{"a":"x","ts":1,"service_ttl":"2d","service_table_suffix":"_t"},{"a":"x","ts":1}]`, 200, `"output":[{"affectedrows":2},{"affectedrows":1}]`)
	shows("o9_t", "ttl = '2days'")
}

// TestPhysicalTable writes metrics whose tables share the storage of one physical table.
func TestPhysicalTable(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Upload("metric",
		"transform:\n  - {fields: [host, zone], type: string, index: tag}\n  - {field: value, type: float64}\n  - {field: ts, type: 'epoch, ms', index: timestamp}\n")
	post := func(body, more string) servertest.Answer {
		return h.Do("POST", "/v1/ingest?pipeline_name=metric&table=m"+more, body, "Content-Type",
			"application/x-ndjson")
	}
	h.Want(post(`{"service_table_suffix":"_cpu","service_physical_table":"phys","host":"a","value":1,"ts":1000}
{"service_table_suffix":"_cpu","service_physical_table":"phys","host":"a","zone":"z","value":2,"ts":1000}
{"service_table_suffix":"_mem","service_physical_table":"phys","host":"b","value":3,"ts":1000}`,
		""), 200, `"affectedrows":3`)
	h.Want(post(`{"service_table_suffix":"_cpu","service_physical_table":"phys","host":"a","value":9,"ts":1000}`, ""),
		200, `"affectedrows":1`)
	h.Want(
		post(
			`{"service_table_suffix":"_bad","service_physical_table":"phys","service_append_mode":true,"host":"a","value":9,"ts":1000}`, ""), 400, `"code":1004`)
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table=log",
		`{"service_physical_table":"phys","message":"no metric"}`, "Content-Type",
		"application/x-ndjson"), 400, `"code":1004`)
	for query, want := range map[string][]any{
		"SELECT host, zone, value FROM m_cpu ORDER BY value": {[]any{"a", "z",
			2.0}, []any{"a", nil, 9.0}},
		"SELECT host, value FROM m_mem": {[]any{"b",
			3.0}},
		"SELECT host, service_value FROM phys ORDER BY service_value": {[]any{"a",
			2.0}, []any{"b", 3.0}, []any{"a", 9.0}},
		"SELECT count(DISTINCT __table_id), count(DISTINCT __tsid) FROM phys": {[]any{2.0,
			3.0}},
		"SELECT table_name FROM information_schema.tables WHERE engine = 'metric' ORDER BY table_name": {[]any{"m_cpu"},
			[]any{"m_mem"}, []any{"phys"}},
	} {
		if _, rows := queried(h, query); servertest.Match("rows", want, rows) != "" {
			t.Errorf("%s: %v, want %v", query, rows, want)
		}
	}
	_, rows := queried(h, "SHOW CREATE TABLE m_cpu")
	if text := rows.([]any)[0].([]any)[1].(string); !strings.Contains(text, "ENGINE=metric") ||
		!strings.Contains(text, "on_physical_table = 'phys'") {
		t.Errorf("SHOW CREATE TABLE:\n%s", text)
	}
}

func TestPipelineFigures(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Upload("counted", "processors: [{filter: {field: level, targets: [debug]}}]\n"+servertest.Makes("a"))
	body := `[{"level":"debug"},{"a":"x","ts":1},{"a":"x","ts":"y"},{"a":"x","ts":2}]`
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=counted&table=t&skip_error=true", body, "Content-Type",
		"application/json"), 200, `"affectedrows":2`)
	a := h.Do("GET", "/metrics", "")
	for name, n := range map[string]string{"in": "4", "out": "2", "dropped": "1", "failed": "1"} {
		if line := "varve_pipeline_events_" + name + `_total{pipeline="counted"} ` +
			n; !strings.Contains(a.Body, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}
