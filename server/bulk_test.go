package server

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const bulkType = "application/x-ndjson"

// TestBulkItems: each document has its answer, in order; a bad one fails alone.
func TestBulkItems(t *testing.T) {
	h := real(t, nil)
	h.want(h.do("POST", "/v1/sql?sql="+url.QueryEscape("CREATE TABLE typed (service_timestamp TIMESTAMP(9) TIME INDEX, n BIGINT, f DOUBLE, s STRING) WITH (append_mode = 'true')"), ""), 200, "")
	body := strings.Join([]string{
		`{"create":{"_index":"typed"}}`, `{"n":1,"f":1,"s":"a"}`,
		`{"index":{"_index":"typed"}}`, `{"n":"no number"}`,
		`{"index":{"_index":"other"}}`, `{"x":1}`,
		`{"index":{"_index":"other"}}`, `not json`,
		`{"index":{"_index":"typed"}}`, `{"n":2,"f":2.5}`,
		`{"index":{"_index":"typed"}}`, `[1]`,
		`{"index":{"_index":"other"}}`, `{"x":{"y":[1,2]},"z":"` + "\xff" + `"}`,
		`{"index":{"_index":"other"}}`, `{"x":2}`, "",
	}, "\n")
	a := h.do("POST", bulkPath+"/_bulk", body, "Content-Type", bulkType)
	h.want(a, 200, `"errors":true`)
	var got struct {
		Items []map[string]struct {
			Status int
			Error  struct{ Type, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	var list []string
	for _, item := range got.Items {
		for action, x := range item {
			list = append(list, fmt.Sprintf("%s %d", action, x.Status))
			if (x.Status == 201) != (x.Error.Reason == "") {
				t.Errorf("%+v", x)
			}
		}
	}
	if want := "create 201,index 400,index 201,index 400,index 201,index 400,index 400,index 201"; strings.Join(list, ",") != want {
		t.Errorf("got %s\nwant %s\n%s", strings.Join(list, ","), want, a.body)
	}
	if got := fmt.Sprint(h.selected("SELECT n, f, s FROM typed ORDER BY n"), h.selected("SELECT x FROM other ORDER BY x")); got != "[[1 1 a] [2 2.5 <nil>]] [[1] [2]]" {
		t.Error(got)
	}
}

// TestBulkRequests: what is refused as a whole, and what parameters do.
func TestBulkRequests(t *testing.T) {
	h := real(t, nil)
	send := func(path, body string, headers ...string) answer {
		return h.do("POST", bulkPath+path, body, append([]string{"Content-Type", bulkType}, headers...)...)
	}
	for _, c := range []struct{ path, body, want string }{
		{"/_bulk", "{\"index\":{}}\n{}\n", "neither the action nor the path names an index"},
		{"/_bulk", "{\"delete\":{\"_index\":\"x\"}}\n", `action \"delete\" is not supported`},
		{"/_bulk", "{\"index\":{\"_index\":\"x\"}}\n", "the document of the last action is missing"},
		{"/_bulk", "hello\n{}\n", "malformed action"},
		{"/_bulk", "{}\n{}\n", "malformed action: it is empty"},
		{"/_bulk?db=nowhere", "{\"index\":{\"_index\":\"x\"}}\n{\"a\":1}\n", "Failed to find schema"},
		{"/_bulk?pipeline_name=absent", "{\"index\":{\"_index\":\"x\"}}\n{\"a\":1}\n", "absent"},
	} {
		a := send(c.path, c.body)
		h.want(a, 400, c.want)
		if a.header.Get("X-Elastic-Product") != "Elasticsearch" || !strings.Contains(a.body, `"errors":true`) || !strings.Contains(a.body, `"status":400`) || !json.Valid([]byte(a.body)) {
			t.Errorf("%s: %v", a.body, a.header)
		}
	}
	h.want(send("/_bulk", "x", "Content-Encoding", "snappy"), 415, "snappy")
	h.want(send("/_bulk", ""), 200, `"errors":false,"items":[]`)
	h.want(send("/in-path/_bulk", packed("\n{\"create\":{}}\r\n{\"a\":\"b\"}\r\n"), "Content-Encoding", "gzip"), 200, `"errors":false,"items":[{"create":{"status":201}}]`)
	h.want(send("/own/_bulk?custom_time_index="+url.QueryEscape("@timestamp;datestr;%Y-%m-%dT%H:%M:%S%:z"), "{\"index\":{}}\n{\"@timestamp\":\"2023-11-14T22:13:20+00:00\"}\n"), 200, `"errors":false`)
	h.want(send("/inner/_bulk?msg_field=log", "{\"index\":{}}\n{\"log\":\"{\\\"k\\\":1,\\n\\\"m\\\":{\\\"n\\\":\\\"x\\\"}}\",\"o\":1}\n{\"index\":{}}\n{\"log\":\"plain text\"}\n{\"index\":{}}\n{\"none\":true}\n"), 200, `"errors":false`)
	h.want(send("/fields/_bulk?_time_field=@timestamp&_msg_field=log&_stream_fields=host&ignore_fields=agent.*,x&extra_fields=env=prod", `{"index":{}}`+"\n"+`{"@timestamp":"2023-11-14T22:13:20.5Z","log":"hi","host":"a","agent":{"id":1,"name":"f"},"x":1}`+"\n"), 200, `"errors":false`)
	h.want(send("/hidden/_bulk?debug=1", "{\"index\":{}}\n{\"a\":1}\n"), 200, `"status":201`)
	for query, want := range map[string]string{
		`SELECT a FROM "in-path"`:                                                                                   "[[b]]",
		`SELECT CAST(CAST("@timestamp" AS BIGINT) AS STRING) FROM own`:                                              "[[1700000000000000000]]",
		`SELECT k, "m.n", message, "none" FROM inner ORDER BY k, message`:                                           "[[1 x <nil> <nil>] [<nil> <nil> plain text <nil>] [<nil> <nil> <nil> true]]",
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, host, env FROM fields`:                  "[[1700000000500000000 hi a prod]]",
		`SELECT count(*) FROM information_schema.columns WHERE table_name = 'fields' AND column_name LIKE 'agent%'`: "[[0]]",
		`SELECT semantic_type FROM information_schema.columns WHERE table_name = 'fields' AND column_name = 'host'`: "[[TAG]]",
		`SELECT count(*) FROM information_schema.tables WHERE table_name = 'hidden'`:                                "[[0]]",
	} {
		if got := fmt.Sprint(h.selected(strings.ReplaceAll(query, "FROM inner", `FROM "inner"`))); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestBulkHandshakes: what shippers ask before they send.
func TestBulkHandshakes(t *testing.T) {
	h := real(t, nil)
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/", `"number":"8.16.0"`}, {"HEAD", "/", ""}, {"GET", "/_license", `"status":"active"`}, {"GET", "/_ilm/policy/filebeat", "{}"}, {"HEAD", "/_index_template/x", ""},
		{"PUT", "/_index_template/x", "{}"}, {"GET", "/_ingest/pipeline/x", "{}"}, {"GET", "/_nodes/http", "{}"}, {"PUT", "/_template/x", "{}"}, {"GET", "/_logstash/pipeline", "{}"},
	} {
		a := h.do(c.method, bulkPath+c.path, "")
		h.want(a, 200, c.want)
		if a.header.Get("X-Elastic-Product") != "Elasticsearch" {
			t.Errorf("%s %s: %v", c.method, c.path, a.header)
		}
	}
	guarded := real(t, func(o *Options) { o.Users = users(t, "static_user_provider:cmd:writer:wo=w") })
	key := strings.Replace(basic("writer", "w"), "Basic", "ApiKey", 1)
	guarded.want(guarded.do("POST", bulkPath+"/x/_bulk", "{\"index\":{}}\n{\"a\":1}\n", "Content-Type", bulkType, "Authorization", key), 200, "201")
	guarded.want(guarded.do("POST", bulkPath+"/x/_bulk", "", "Content-Type", bulkType, "Authorization", strings.Replace(key, "ey ", "ey AAAA", 1)), 401, "")
	guarded.want(guarded.do("POST", "/v1/ingest", "", "Authorization", key), 401, "Unsupported http auth scheme")
}
