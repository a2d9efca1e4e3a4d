package write_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestHostileShippers: bodies that nobody means well with are the sender's fault in each protocol, in its own form, and
// the server goes on.
func TestHostileShippers(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.BodyLimit = 4 << 20 })
	var wide, members strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&members, `,"a%d":"x"`, i)
	}
	fmt.Fprintf(&wide, `{"x":1%s}`, &members)
	deep := strings.Repeat(`{"a":`, 100_000)
	const ndjson, document, journal = "application/x-ndjson", "application/json", "application/vnd.fdo.journal"
	bulk, hec, agents, push, put := servertest.BulkPath+"/x/_bulk", servertest.CollectorPath+"/services/collector",
		servertest.AgentPath+"/api/v2/logs",
		servertest.PushPath, servertest.PutPath
	for _, c := range []struct {
		name, path, kind, body string
		status                 int
		want                   string
	}{
		{"wide document", bulk, ndjson, "{\"index\":{}}\n" + wide.String() + "\n{\"index\":{}}\n{\"x\":1}\n", 200,
			`"result":"created","status":201}}]`},
		{"deep document", bulk, ndjson, "{\"index\":{}}\n" + deep + "\n{\"index\":{}}\n{\"ok\":1}\n", 200,
			`"result":"created","status":201}}]`},
		{"deep action", bulk, ndjson, `{"index":` + deep + "\n{}\n", 400, "nesting is deeper"},
		{"wide event", hec, "", `{"event":` + wide.String() + `}`, 400, `"code":6`},
		{"deep event", hec, "", `{"event":` + deep, 400, `"code":6`},
		{"many fields", hec, "", `{"event":1,"fields":` + wide.String() + `}`, 400, `"code":6`},
		{"wide log", agents, document, "[" + wide.String() + "]", 400, `{"errors":[{"status":"400"`},
		{"deep log", agents, document, "[" + deep, 400, "nesting is deeper"},
		{"many tags", agents, document, `[{"ddtags":"` + strings.Repeat("k:v,", 10_000) + `"}]`, 202, "{}"},
		{"wide labels", push, document, `{"streams":[{"stream":` + wide.String() + `,"values":[["1","x"]]}]}`, 400,
			"at most 4096 columns"},
		{"wide metadata", push, document, `{"streams":[{"stream":{},"values":[["1","x",` + wide.String() + `]]}]}`, 204,
			""},
		{"deep push", push, document, deep, 400, "nesting is deeper"},
		{"wide point", put, document, `{"metric":"m","timestamp":1,"value":1,"tags":` + wide.String() + `}`, 400,
			"at most 4096 columns"},
		{"deep point", put, document, deep, 400, "nesting is deeper"},
		{"deep entry", "/v1/ingest?table=d&pipeline_name=service_identity&_msg_field=m", document, deep, 400,
			"nesting is deeper"},
		{"journal of one line", "/v1/journald/upload", journal, strings.Repeat("x", 1<<20), 400,
			"the last line does not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := *h
			h.TB = t
			a := h.Do("POST", c.path, c.body, "Content-Type", c.kind)
			if len(a.Body) > 1000 {
				a.Body = a.Body[:500] + " ... " + a.Body[len(a.Body)-400:]
			} else if c.status != 204 && !json.Valid([]byte(a.Body)) {
				t.Errorf("no JSON: %s", a.Body)
			}
			h.Want(a, c.status, c.want)
		})
	}
	bomb := servertest.Packed(strings.Repeat("[", 32<<20))
	for _, path := range []string{bulk, hec, agents, push, put, "/v1/journald/upload",
		"/v1/ingest?table=d&pipeline_name=service_identity&_msg_field=m"} {
		kind := document
		if strings.HasSuffix(path, "upload") {
			kind = journal
		}
		h.Want(h.Do("POST", path, bomb, "Content-Encoding", "gzip", "Content-Type", kind), 413, "length limit exceeded")
		h.Want(h.Do("POST", path, bomb[:len(bomb)/2], "Content-Encoding", "gzip", "Content-Type", kind), 413, "")
		h.Want(h.Do("POST", path, "no gzip", "Content-Encoding", "gzip", "Content-Type", kind), 400, "")
	}
	h.Want(h.Do("GET", "/health", ""), 200, "{}")
}

// TestManyShortEntries: what is made of short entries is many times as long as they are, and has a bound of its own.
func TestManyShortEntries(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Rows.RowBytes = 1 << 20 })
	for _, c := range []struct{ path, entry string }{
		{servertest.BulkPath + "/x/_bulk", "{\"index\":{}}\n{}\n"},
		{servertest.CollectorPath + "/services/collector", `{"event":1}`},
		{servertest.AgentPath + "/api/v2/logs", "{}"},
		{"/v1/ingest?table=d&pipeline_name=service_identity&_msg_field=m", "{}\n"},
	} {
		kind := "application/x-ndjson"
		h.Want(h.Do("POST", c.path, strings.Repeat(c.entry, 40_000), "Content-Type", kind), 400,
			"the limit is 1048576, send fewer at a time")
		if a := h.Do("POST", c.path, strings.Repeat(c.entry, 4_000), "Content-Type", kind); a.Status > 202 {
			t.Errorf("%s: 4,000 entries: %d %.300s", c.path, a.Status, a.Body)
		}
	}
}
