package logpush_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"varve/server/protowire"
	"varve/server/servertest"
)

// TestLogPushOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestLogPushOfClients(t *testing.T) {
	servertest.SendBodies(t, "logpush.json", "logpush-", 5, 1, (*servertest.House).WantStored)
}

// TestLogPushPaths: the paths that clients add to a host, content types, encodings.
func TestLogPushPaths(t *testing.T) {
	h := servertest.Real(t, nil)
	body := `{"streams":[{"stream":{"app":"a"},"values":[["5","x"]]}]}`
	for _, path := range []string{servertest.PushPath, "/v1/logpush/loki/api/v1/push", "/loki/api/v1/push"} {
		h.Want(h.Do("POST", path, body, "Content-Type", "application/json; charset=utf-8"), 204, "")
	}
	h.Want(h.Do("POST", servertest.PushPath+"?db=public", servertest.Packed(body), "Content-Type", "application/json",
		"Content-Encoding", "gzip"), 204, "")
	message := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendBytes(m, 1, `{app="a"}`)
		return protowire.AppendMessage(m, 2, func(e []byte) []byte { return protowire.AppendBytes(e, 2, "x") })
	})
	block := string(s2.EncodeSnappy(nil, message))
	for _, headers := range [][]string{nil, {"Content-Type", "application/x-protobuf"},
		{"Content-Encoding", "snappy", "Content-Type", "application/x-protobuf"}} {
		h.Want(h.Do("POST", servertest.PushPath, block, headers...), 204, "")
	}
	h.Want(h.Do("POST", servertest.PushPath, servertest.Packed(block), "Content-Encoding", "gzip", "Content-Type",
		"application/x-protobuf"), 204, "")
	if got := fmt.Sprint(h.Selected(
		"SELECT count(*), count(CASE WHEN app = 'a' AND line = 'x' THEN 1 END) FROM loki_logs")); got != "[[8 8]]" {
		t.Errorf("rows of eight requests: %s", got)
	}
	h.Want(h.Do("GET", "/v1/logpush/ready", ""), 200, "ready")
	for _, c := range []struct{ body, kind, want string }{
		{"x", "text/plain", "Unsupported content type: text/plain"},
		{"{}", "application/json", "missing streams"},
		{"[]", "application/json", "payload is not an object"},
		{"{", "application/json", "Failed to parse payload as json"},
		{"hello", "application/x-protobuf", "Failed to decompress snappy Loki request"},
		{string(s2.EncodeSnappy(nil, []byte("hello"))), "application/x-protobuf", "Failed to decode Loki request"},
	} {
		h.Want(h.Do("POST", servertest.PushPath, c.body, "Content-Type", c.kind), 400, c.want)
	}
}

// TestLogPushTables: tables that are there keep their time index; a label that is a field is refused; nothing of such a
// request is stored.
func TestLogPushTables(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/sql?sql="+
		url.QueryEscape(
			"CREATE TABLE own (ts TIMESTAMP(3) TIME INDEX, line STRING, structured_metadata STRING, app STRING)"), ""), 200, "")
	push := func(table, labels string) servertest.Answer {
		return h.Do("POST", servertest.PushPath, `{"streams":[{"stream":`+labels+
			`,"values":[["1700000000123456789","x",{"k":"v"}]]}]}`, "Content-Type", "application/json",
			"x-service-log-table-name", table)
	}
	h.Want(push("own", `{"zone":"z"}`), 204, "")
	h.Want(push("own", `{"app":"a"}`), 400, "column app expect semantic type FIELD, given: TAG")
	if got := fmt.Sprint(
		h.Selected(
			"SELECT CAST(CAST(ts AS BIGINT) AS STRING), line, structured_metadata, zone FROM own")); got != `[[1700000000123 x {"k":"v"} z]]` {
		t.Error(got)
	}
	h.Want(push("logs", `{"line":"l","service_timestamp":"t"}`), 204, "")
	if got := fmt.Sprint(h.Selected("SELECT line, label_line, label_service_timestamp FROM logs")); got != "[[x l t]]" {
		t.Error(got)
	}
	if a := h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+logs", ""); !strings.Contains(a.Body, "append_mode = 'true'") ||
		!strings.Contains(a.Body, "Created on insertion") {
		t.Error(a.Body)
	}
	a := h.Do("POST", servertest.PushPath, `{"streams":[1,{"stream":{},"values":[["x","y"],["5","z"]]}]}`, "Content-Type",
		"application/json", "x-service-log-table-name", "partly")
	h.Want(a, 204, "")
	if a.Header.Get("x-service-skipped-rows") != "2" {
		t.Errorf("skipped: %v", a.Header)
	}
}

// TestLogPushPipelines: lines are entries of a pipeline.
func TestLogPushPipelines(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/pipelines/shout",
		"processors:\n  - vrl:\n      source: |\n        .text = upcase(string!(.loki_line))\n        .app = .loki_label_app\n        .trace = .loki_metadata_trace\n        del(.loki_line)\n        .\ntransform:\n  - fields: [text, app, trace]\n    type: string\n  - field: service_timestamp\n    type: epoch, ns\n    index: timestamp\n", "Content-Type", "application/x-yaml"), 200, "")
	body := `{"streams":[{"stream":{"app":"a"},"values":[["1700000000000000005","hello",{"trace":"t"}]]}]}`
	for table, name := range map[string]string{"shouted": "shout", "plain": "service_identity"} {
		h.Want(h.Do("POST", servertest.PushPath, body, "Content-Type", "application/json", "x-service-log-table-name",
			table, "x-service-pipeline-name", name), 204, "")
	}
	if got := fmt.Sprint(
		h.Selected(
			"SELECT text, app, trace, CAST(CAST(service_timestamp AS BIGINT) AS STRING) FROM shouted")); got != "[[HELLO a t 1700000000000000005]]" {
		t.Error(got)
	}
	h.Want(h.Do("POST", "/v1/pipelines/asis",
		"processors:\n  - epoch: {field: service_timestamp}\ntransform:\n  - field: service_timestamp\n    type: epoch, ns\n    index: timestamp\n", "Content-Type", "application/x-yaml"), 200, "")
	h.Want(h.Do("POST", "/v1/logpush/api/v1/push",
		`{"streams":[{"stream":{"app":"a"},"values":[["1700000000000000005","hello"]]}]}`, "Content-Type",
		"application/json", "x-service-pipeline-name", "asis", "x-service-log-table-name", "asis"), 204, "")
	if got := fmt.Sprint(h.Selected("SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING) FROM asis")); got !=
		"[[1700000000000000005]]" {
		t.Errorf("the processor epoch makes another time of a timestamp: %s", got)
	}
	if got := fmt.Sprint(
		h.Selected(
			"SELECT loki_line, loki_label_app, loki_metadata_trace, CAST(CAST(service_timestamp AS BIGINT) AS STRING) FROM plain")); got != "[[hello a t 1700000000000000005]]" {
		t.Error(got)
	}
	h.Want(h.Do("POST", servertest.PushPath, body, "Content-Type", "application/json", "x-service-pipeline-name",
		"absent"), 400, "absent")
}
