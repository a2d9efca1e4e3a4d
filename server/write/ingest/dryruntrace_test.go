package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestDryRunTrace asks what entries were after each processor.
func TestDryRunTrace(t *testing.T) {
	h := servertest.Real(t, nil)
	const document = `version: 2
processors:
  - vrl:
      source: |
        .first = true
        .
  - dissect: {field: message, pattern: '%{level} %{n}'}
  - filter: {field: level, targets: [debug]}
  - epoch: {field: n, resolution: s}
transform:
  - {field: n, type: "epoch, s", index: timestamp}
dispatcher:
  field: level
  rules:
    - {value: error, table_suffix: _errors, pipeline: errors}
`
	h.Upload("errors",
		"version: 2\nprocessors:\n  - letter: {field: level, method: upper}\ntransform:\n  - {field: n, type: 'epoch, s', index: timestamp}\n")
	dry := func(more map[string]any, status int) string {
		t.Helper()
		body, err := json.Marshal(more)
		if err != nil {
			t.Fatal(err)
		}
		a := h.Do("POST", "/v1/pipelines/dryrun", string(body), "Content-Type", "application/json")
		h.Want(a, status, "")
		return a.Body
	}
	got := dry(map[string]any{"pipeline": document, "data_type": "text/plain", "data": "info 1\nerror 2\ndebug 3",
		"trace": true}, 200)
	var tables []struct {
		TableName string `json:"table_name"`
		Before    []json.RawMessage
		Steps     [][]struct {
			Pipeline, Processor string
			Index               int
			After               json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(got), &tables); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if len(tables) != 2 || len(tables[0].Steps) != 3 || len(tables[1].Steps) != 3 {
		t.Fatalf("got %s", got)
	}
	if a, b := fmt.Sprintf("%s", tables[1].Before),
		`[{"message":"info 1"} {"message":"error 2"} {"message":"debug 3"}]`; a != b {
		t.Errorf("before the first processor the entries are %s, want %s", a, b)
	}
	var lines []string
	for _, entry := range tables[1].Steps {
		for _, s := range entry {
			lines = append(lines, s.Pipeline+"|"+s.Processor+"|"+string(rune('0'+s.Index))+"|"+string(s.After))
		}
	}
	want := []string{
		`|vrl|0|{"first":true,"message":"info 1"}`,
		`|dissect|1|{"first":true,"level":"info","message":"info 1","n":"1"}`,
		`|filter|2|{"first":true,"level":"info","message":"info 1","n":"1"}`,
		`|epoch|3|{"first":true,"level":"info","message":"info 1","n":"1970-01-01T00:00:01Z"}`,
		`|vrl|0|{"first":true,"message":"error 2"}`,
		`|dissect|1|{"first":true,"level":"error","message":"error 2","n":"2"}`,
		`|filter|2|{"first":true,"level":"error","message":"error 2","n":"2"}`,
		`|epoch|3|{"first":true,"level":"error","message":"error 2","n":"1970-01-01T00:00:02Z"}`,
		`errors|letter|0|{"first":true,"level":"ERROR","message":"error 2","n":"1970-01-01T00:00:02Z"}`,
		`|vrl|0|{"first":true,"message":"debug 3"}`,
		`|dissect|1|{"first":true,"level":"debug","message":"debug 3","n":"3"}`,
		`|filter|2|null`,
	}
	if a, b := strings.Join(lines, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}

	// All dropped: the steps say why.
	if got := dry(map[string]any{"pipeline": document, "data_type": "text/plain", "data": "debug 3", "trace": true},
		200); !strings.Contains(got, `"schema":[],"rows":[],"steps":[[{"processor":"vrl"`) {
		t.Errorf("got %s", got)
	}
	if got := dry(map[string]any{"pipeline": document, "data_type": "text/plain", "data": "info 1"},
		200); strings.Contains(got, "steps") {
		t.Errorf("steps that nobody asked for: %s", got)
	}
	// What is too much is said, not cut.
	large, err := json.Marshal(map[string]any{"message": "info 1", "pad": strings.Repeat("x", 1<<20)})
	if err != nil {
		t.Fatal(err)
	}
	if got := dry(map[string]any{"pipeline": document, "data": strings.Repeat(string(large)+"\n", 3), "trace": true,
		"data_type": "application/x-ndjson"}, 400); !strings.Contains(got, "the steps of the dry run take more than") {
		t.Errorf("got %.300s", got)
	}
}

// TestDryRunTraceOfEachEntry: with a form, the entry that fails has the steps up to there.
func TestDryRunTraceOfEachEntry(t *testing.T) {
	h := servertest.Real(t, nil)
	const document = "version: 2\nprocessors:\n  - dissect: {field: message, pattern: '%{level} %{n}'}\n  - epoch: {field: n}\ntransform:\n  - {field: n, type: 'epoch, ms', index: timestamp}\n"
	form := func(trace string) servertest.Answer {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for _, p := range [][2]string{{"pipeline", document}, {"data_type", "text/plain"}, {"data", "info 1\ninfo x"},
			{"trace", trace}} {
			if err := w.WriteField(p[0], p[1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return h.Do("POST", "/v1/pipelines/dryrun", body.String(), "Content-Type", w.FormDataContentType())
	}
	h.Want(form("true"), 200,
		`{"entry":2,"steps":[{"processor":"dissect","index":0,"after":{"level":"info","message":"info x","n":"x"}},{"processor":"epoch","index":1}],"before":{"message":"info x"},"error":"`)
	h.Want(form("maybe"), 400, `trace is true or false, got \"maybe\"`)
}

// TestDryRunOfIdentity tries what an ingest without a document would store.
func TestDryRunOfIdentity(t *testing.T) {
	h := servertest.Real(t, nil)
	dry := func(body string, status int, want string) {
		t.Helper()
		h.Want(h.Do("POST", "/v1/pipelines/dryrun", body, "Content-Type", "application/json"), status, want)
	}
	dry(
		`{"pipeline_name":"service_identity","data":"{\"t\":1742814853,\"user\":{\"id\":17}}","custom_time_index":"t;epoch;s"}`, 200,
		`"schema":[{"name":"t","data_type":"TIMESTAMP_SECOND","column_type":"TIMESTAMP","fulltext":false},{"name":"user.id","data_type":"INT64","column_type":"FIELD","fulltext":false}]`)
	dry(`{"pipeline_name":"service_identity","data":"{\"user\":{\"id\":17}}","max_nested_levels":1}`, 200,
		`"value":"{\"id\":17}"`)
	dry(`{"pipeline_name":"service_identity","data":"one\ntwo","data_type":"text/plain"}`, 200,
		`{"key":"message","data_type":"STRING","semantic_type":"FIELD","value":"two"}`)
	dry(`{"pipeline_name":"service_identity","data":"[]"}`, 200, `[]`)
	dry(`{"pipeline_name":"service_identity","data":"{\"t\":\"x\"}","custom_time_index":"t;epoch;s"}`, 400,
		`failed to convert x to number`)
	dry(`{"pipeline_name":"service_identity","data":"{}","custom_time_index":"t"}`, 400,
		`Invalid custom time index config`)
	h.Want(h.SQL("SELECT * FROM dry_run"), 400, `"code":4001`)
}
