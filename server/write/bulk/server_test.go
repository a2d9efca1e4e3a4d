package bulk_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestBulkItems: each document has its answer, in order; a bad one fails alone.
func TestBulkItems(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/sql?sql="+
		url.QueryEscape(
			"CREATE TABLE typed (service_timestamp TIMESTAMP(9) TIME INDEX, n BIGINT, f DOUBLE, s STRING) WITH (append_mode = 'true')"), ""), 200, "")
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
	a := h.Do("POST", servertest.BulkPath+"/_bulk", body, "Content-Type", servertest.BulkType)
	h.Want(a, 200, `"errors":true`)
	var got struct {
		Items []map[string]struct {
			Status int
			Error  struct{ Type, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		t.Fatalf("%s: %v", a.Body, err)
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
	if want := "create 201,index 400,index 201,index 400,index 201,index 400,index 400,index 201"; strings.Join(list,
		",") != want {
		t.Errorf("got %s\nwant %s\n%s", strings.Join(list, ","), want, a.Body)
	}
	if got := fmt.Sprint(h.Selected("SELECT n, f, s FROM typed ORDER BY n"),
		h.Selected("SELECT x FROM other ORDER BY x")); got != "[[1 1 a] [2 2.5 <nil>]] [[1] [2]]" {
		t.Error(got)
	}
}

// TestBulkBlame: each outcome stands at its own document, with its index and its id, whatever the others are. A line
// without text is no document.
func TestBulkBlame(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, blank := range []string{"", "\r", "\r\r", " ", "\t", "\uFEFF", "\uFEFF\r", "[]"} {
		h.Want(h.Do("POST", "/v1/sql?sql="+url.QueryEscape("DROP TABLE IF EXISTS typed"), ""), 200, "")
		h.Want(h.Do("POST", servertest.BulkPath+"/typed/_bulk", "{\"index\":{}}\n{\"n\":0}\n", "Content-Type",
			servertest.BulkType), 200, `"errors":false`)
		body := "{\"index\":{\"_id\":\"blank\"}}\n" + blank + "\n" +
			"{\"index\":{\"_id\":\"stored\"}}\n{\"n\":1}\n" +
			"{\"create\":{\"_id\":7,\"_index\":\"typed\"}}\n{\"n\":\"no number\"}\n" +
			"{\"create\":{\"_id\":null}}\n{\"n\":2}\n{\"index\":{}}\n{\"n\":3}\n"
		a := h.Do("POST", servertest.BulkPath+"/typed/_bulk", body, "Content-Type", servertest.BulkType)
		h.Want(a, 200, `"errors":true`)
		var got struct{ Items []map[string]map[string]any }
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
			t.Fatalf("%s: %v", a.Body, err)
		}
		var list []string
		for _, item := range got.Items {
			for action, x := range item {
				list = append(list, fmt.Sprintf("%s %v %v %v %v", action, x["_index"], x["_id"], x["result"],
					x["status"]))
			}
		}
		want := "[index typed blank <nil> 400 index typed stored created 201 create typed 7 <nil> 400 create typed  created 201 index typed  created 201]"
		if fmt.Sprint(list) != want {
			t.Errorf("%q\n got %v\nwant %s", blank, list, want)
		}
		h.Holds("SELECT n FROM typed ORDER BY n", "[[0] [1] [2] [3]]")
	}
}

// TestBulkTime: the time of a document is its @timestamp, as its senders mean it, unless the request says otherwise;
// without a readable one it is that of arrival.
func TestBulkTime(t *testing.T) {
	h := servertest.Real(t, nil)
	const documents = "{\"index\":{}}\n{\"@timestamp\":\"2023-11-14T22:13:20.5Z\",\"n\":1}\n{\"index\":{}}\n{\"n\":2,\"@timestamp\":1700000000250}\n" +
		"{\"index\":{}}\n{\"n\":3}\n{\"index\":{}}\n{\"@timestamp\":\"soon\",\"n\":4}\n"
	send := func(path, body string) {
		h.Want(h.Do("POST", servertest.BulkPath+path, body, "Content-Type", servertest.BulkType), 200, `"errors":false`)
	}
	send("/plain/_bulk", documents)
	h.Holds(
		`SELECT n, CAST(CAST(service_timestamp AS BIGINT) AS STRING), "@timestamp" FROM plain WHERE n < 3 ORDER BY n`,
		"[[1 1700000000500000000 <nil>] [2 1700000000250000000 <nil>]]")
	h.Holds(`SELECT n, service_timestamp > now() - INTERVAL '1 minute', "@timestamp" FROM plain WHERE n > 2 ORDER BY n`,
		"[[3 true <nil>] [4 true soon]]")
	send("/fields/_bulk?_stream_fields=host&extra_fields=env=prod",
		"{\"index\":{}}\n{\"@timestamp\":\"2023-11-14T22:13:20.5Z\",\"host\":\"a\"}\n")
	h.Holds(`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), host, env FROM fields`,
		"[[1700000000500000000 a prod]]")
	send("/arrival/_bulk?_time_field=", "{\"index\":{}}\n{\"@timestamp\":\"2023-11-14T22:13:20.5Z\",\"n\":1}\n")
	h.Holds(`SELECT n, "@timestamp" FROM arrival WHERE service_timestamp > now() - INTERVAL '1 minute'`,
		"[[1 2023-11-14T22:13:20.5Z]]")
	h.Want(h.Do("POST", servertest.BulkPath+"/single/_doc", `{"@timestamp":"2023-11-14T22:13:20Z"}`, "Content-Type",
		servertest.BulkType), 201, "created")
	h.Holds(`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING) FROM single`, "[[1700000000000000000]]")
}

// TestBulkRequests: what is refused as a whole, and what parameters do.
func TestBulkRequests(t *testing.T) {
	h := servertest.Real(t, nil)
	send := func(path, body string, headers ...string) servertest.Answer {
		return h.Do("POST", servertest.BulkPath+path, body,
			append([]string{"Content-Type", servertest.BulkType}, headers...)...)
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
		h.Want(a, 400, c.want)
		if a.Header.Get("X-Elastic-Product") != "Elasticsearch" || !strings.Contains(a.Body, `"errors":true`) ||
			!strings.Contains(a.Body, `"status":400`) || !json.Valid([]byte(a.Body)) {
			t.Errorf("%s: %v", a.Body, a.Header)
		}
	}
	h.Want(send("/_bulk", "x", "Content-Encoding", "snappy"), 415, "snappy")
	h.Want(send("/_bulk", ""), 200, `"errors":false,"items":[]`)
	h.Want(send("/in-path/_bulk", servertest.Packed("\n{\"create\":{}}\r\n{\"a\":\"b\"}\r\n"), "Content-Encoding",
		"gzip"), 200, `"errors":false,"items":[{"create":{"_index":"in-path","_id":"","_version":1,"result":"created","status":201}}]`)
	h.Want(send("/own/_bulk?custom_time_index="+url.QueryEscape("@timestamp;datestr;%Y-%m-%dT%H:%M:%S%:z"),
		"{\"index\":{}}\n{\"@timestamp\":\"2023-11-14T22:13:20+00:00\"}\n"), 200, `"errors":false`)
	h.Want(send("/inner/_bulk?msg_field=log",
		"{\"index\":{}}\n{\"log\":\"{\\\"k\\\":1,\\n\\\"m\\\":{\\\"n\\\":\\\"x\\\"}}\",\"o\":1}\n{\"index\":{}}\n{\"log\":\"plain text\"}\n{\"index\":{}}\n{\"none\":true}\n"), 200, `"errors":false`)
	h.Want(
		send(
			"/fields/_bulk?_time_field=@timestamp&_msg_field=log&_stream_fields=host&ignore_fields=agent.*,x&extra_fields=env=prod", `{"index":{}}`+"\n"+`{"@timestamp":"2023-11-14T22:13:20.5Z","log":"hi","host":"a","agent":{"id":1,"name":"f"},"x":1}`+"\n"), 200, `"errors":false`)
	h.Want(send("/hidden/_bulk?debug=1", "{\"index\":{}}\n{\"a\":1}\n"), 200, `"status":201`)
	for query, want := range map[string]string{
		`SELECT a FROM "in-path"`:                                                                                   "[[b]]",
		`SELECT CAST(CAST("@timestamp" AS BIGINT) AS STRING) FROM own`:                                              "[[1700000000000000000]]",
		`SELECT k, "m.n", message, "none" FROM inner ORDER BY k, message`:                                           "[[1 x <nil> <nil>] [<nil> <nil> plain text <nil>] [<nil> <nil> <nil> true]]",
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, host, env FROM fields`:                  "[[1700000000500000000 hi a prod]]",
		`SELECT count(*) FROM information_schema.columns WHERE table_name = 'fields' AND column_name LIKE 'agent%'`: "[[0]]",
		`SELECT semantic_type FROM information_schema.columns WHERE table_name = 'fields' AND column_name = 'host'`: "[[TAG]]",
		`SELECT count(*) FROM information_schema.tables WHERE table_name = 'hidden'`:                                "[[0]]",
	} {
		if got := fmt.Sprint(h.Selected(strings.ReplaceAll(query, "FROM inner", `FROM "inner"`))); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestBulkHandshakes: what shippers ask before they send.
func TestBulkHandshakes(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/", `"number":"8.16.0"`}, {"HEAD", "/", ""}, {"GET", "/_license", `"status":"active"`},
		{"GET", "/_ilm/policy/filebeat", "{}"}, {"HEAD", "/_index_template/x", ""},
		{"PUT", "/_index_template/x", "{}"}, {"GET", "/_ingest/pipeline/x", "{}"}, {"GET", "/_nodes/http", "{}"},
		{"PUT", "/_template/x", "{}"}, {"GET", "/_logstash/pipeline", "{}"},
	} {
		a := h.Do(c.method, servertest.BulkPath+c.path, "")
		h.Want(a, 200, c.want)
		if a.Header.Get("X-Elastic-Product") != "Elasticsearch" {
			t.Errorf("%s %s: %v", c.method, c.path, a.Header)
		}
	}
	for _, c := range []struct{ method, path, want string }{
		{"HEAD", "", ""}, {"GET", "", "varve"},
		{"GET", "/_cluster/health?wait_for_status=yellow", `"status":"green","timed_out":false`},
		{"PUT", "/_data_stream/filebeat-9", "{}"}, {"HEAD", "/_alias/logstash", ""},
		{"HEAD", "/shop", ""}, {"GET", "/shop", `{"shop":{"aliases":{},`},
		{"PUT", "/shop", `{"acknowledged":true,"shards_acknowledged":true,"index":"shop"}`},
		{"POST", "/shop/_refresh", `"failed":0`}, {"GET", "/_unheard_of", "{}"},
		{"GET", "/_xpack", "{}"}, {"GET", "/_nodes", "{}"}, {"GET", "/_ilm/status", "{}"}, {"HEAD", "/logstash", ""},
		{"PUT", "/shop/_alias/x", "{}"}, {"PUT", "/shop/_mapping", "{}"}, {"PUT", "/shop/_settings", "{}"},
	} {
		a := h.Do(c.method, servertest.BulkPath+c.path, "")
		h.Want(a, 200, c.want)
		if c.want == "{}" && a.Body != "{}" {
			t.Errorf("%s %s: %s", c.method, c.path, a.Body)
		}
		if a.Header.Get("X-Elastic-Product") != "Elasticsearch" {
			t.Errorf("%s %s: %v", c.method, c.path, a.Header)
		}
	}
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w")
	})
	guarded.Want(guarded.Do("GET", servertest.BulkPath, ""), 401, "")
	key := strings.Replace(servertest.Basic("writer", "w"), "Basic", "ApiKey", 1)
	guarded.Want(guarded.Do("POST", servertest.BulkPath+"/x/_bulk", "{\"index\":{}}\n{\"a\":1}\n", "Content-Type",
		servertest.BulkType, "Authorization", key), 200, "201")
	guarded.Want(guarded.Do("POST", servertest.BulkPath+"/x/_bulk", "", "Content-Type", servertest.BulkType,
		"Authorization", strings.Replace(key, "ey ", "ey AAAA", 1)), 401, "")
	guarded.Want(guarded.Do("POST", "/v1/ingest", "", "Authorization", key), 401, "Unsupported http auth scheme")
}

// TestBulkLibraries: what log libraries send besides pairs of lines: members of their own beside an action, and single
// documents.
func TestBulkLibraries(t *testing.T) {
	h := servertest.Real(t, nil)
	send := func(method, path, body string) servertest.Answer {
		return h.Do(method, servertest.BulkPath+path, body, "Content-Type", "application/json")
	}
	h.Want(send("PUT", "/_bulk",
		"{\"index\":{\"_index\":\"lib\",\"pipeline\":null},\"attempts\":0}\n{\"n\":1}\n{\"attempts\":1,\"create\":{\"_index\":\"lib\"}}\n{\"n\":2}\n"), 200, `"items":[{"index":{"_index":"lib","_id":"","_version":1,"result":"created","status":201}},{"create":{"_index":"lib",`)
	h.Want(send("POST", "/_bulk", "{\"index\":{\"_index\":\"lib\"},\"create\":{\"_index\":\"lib\"}}\n{\"n\":1}\n"), 400,
		"more than one action")
	h.Want(send("POST", "/_bulk", "{\"index\":\"lib\"}\n{\"n\":1}\n"), 400, "malformed action: it is empty")
	h.Want(send("POST", "/lib/_doc", "{\n\"n\": 3\n}\n"), 201,
		`{"_index":"lib","_id":"","_version":1,"result":"created"`)
	h.Want(send("PUT", "/lib/_doc/a%20b", `{"n":4}`), 201, `"_id":"a b"`)
	h.Want(send("POST", "/a%20name/_bulk", "{\"index\":{}}\n{\"n\":6}\n"), 200, `"errors":false`)
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+n+FROM+%22a+name%22", ""), 200, "[[6]]")
	h.Want(send("PUT", "/lib/_create/5", `{"n":5}`), 201, `"_id":"5"`)
	h.Want(send("POST", "/typed/_doc/", `{"n":6}`), 201, `"_id":""`)
	h.Want(send("POST", "/typed/_doc/_bulk", "{\"index\":{}}\n{\"n\":7}\n"), 200, `"errors":false`)
	h.Holds("SELECT n FROM typed ORDER BY n", "[[6] [7]]")
	h.Want(send("POST", "/old/log", `{"n":8}`), 201, `"_index":"old"`) // indexes had types once
	h.Want(send("PUT", "/old/log/a", `{"n":9}`), 201, `"_id":"a"`)
	h.Want(send("POST", "/old/log/_bulk", "{\"index\":{\"_type\":\"log\"}}\n{\"n\":10}\n"), 200, `"errors":false`)
	h.Holds("SELECT n FROM old ORDER BY n", "[[8] [9] [10]]")
	// no type, and no document
	for _, path := range []string{"/old/_search", "/old/_count", "/_reindex/x", "/old/_update/1"} {
		h.Want(send("POST", path, `{"n":11}`), 404, "not asked for")
	}
	h.Holds("SELECT count(*) FROM old", "[[3]]")
	h.Want(send("POST", "/lib/_doc", `{"n":"text"}`), 400,
		`{"error":{"type":"illegal_argument_exception","reason":"Column datatype mismatch`)
	h.Want(send("POST", "/lib/_doc", ``), 400, `"status":400}`)
	h.Want(send("POST", "/lib/_doc", `[1]`), 400, `"status":400}`)
	h.Want(send("POST", "/lib/_doc", `{"n":1} {"n":2}`), 400, `"status":400}`)
	if got := fmt.Sprint(h.Selected("SELECT n FROM lib ORDER BY n")); got != "[[1] [2] [3] [4] [5]]" {
		t.Error(got)
	}
}

// TestBulkByHostAlone: senders that take no path find all that they ask for and write.
func TestBulkByHostAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	send := func(method, path, body string, headers ...string) servertest.Answer {
		return h.Do(method, path, body, append(headers, "Content-Type", "application/json")...)
	}
	for _, agent := range []string{"elasticsearch-py/7.17", "Elastic-Filebeat/8.16.0 (linux)", "opensearch-go/2"} {
		a := send("GET", "/", "", "User-Agent", agent)
		h.Want(a, 200, `"number":"8.16.0"`)
		if a.Header.Get("X-Elastic-Product") != "Elasticsearch" {
			t.Errorf("%s: %v", agent, a.Header)
		}
	}
	h.Want(send("HEAD", "/", "", "X-Elastic-Client-Meta", "es=8.16.0"), 200, "")
	h.Want(send("GET", "/", "", "User-Agent", "curl/8"), 200, "<h1>")
	for _, path := range []string{"/_license", "/_cluster/health", "/_ilm/policy/x", "/_index_template/x",
		"/_nodes/http", "/_xpack", "/_ingest/pipeline/x"} {
		h.Want(h.Do("GET", path, ""), 200, "{")
	}
	h.Want(send("POST", "/_bulk", "{\"index\":{\"_index\":\"alone\"}}\n{\"n\":1}\n"), 200, `"errors":false`)
	h.Want(send("POST", "/alone/_bulk", "{\"index\":{}}\n{\"n\":2}\n"), 200, `"errors":false`)
	h.Want(send("POST", "/alone/log/_bulk", "{\"index\":{}}\n{\"n\":3}\n"), 200, `"errors":false`)
	h.Want(send("POST", "/alone/_doc", `{"n":4}`), 201, "created")
	h.Want(send("PUT", "/alone/_create/5", `{"n":5}`), 201, "created")
	h.Holds("SELECT n FROM alone ORDER BY n", "[[1] [2] [3] [4] [5]]")
	h.Want(send("POST", "/alone/log", `{"n":6}`), 404, "")
	const agent = "elasticsearch-js/9"
	h.Want(send("HEAD", "/alone", "", "User-Agent", agent), 200, "")
	h.Want(send("PUT", "/alone", "{}", "User-Agent", agent), 200, `"acknowledged":true`)
	for _, path := range []string{"/alone/_refresh", "/alone/_mapping", "/alone/_settings", "/alone/_alias/x"} {
		h.Want(send("PUT", path, "{}"), 200, "{")
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "POST"} {
		h.Want(send(method, "/alone", ""), 404, "")
	}

	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w")
	})
	for _, path := range []string{"/_bulk", "/x/_bulk", "/x/log/_bulk", "/x/_doc", "/x/_doc/1", "/x/_create/1"} {
		guarded.Want(guarded.Do("POST", path, `{"n":1}`, "Content-Type", servertest.BulkType), 401, "")
	}
	key := strings.Replace(servertest.Basic("writer", "w"), "Basic", "ApiKey", 1)
	guarded.Want(guarded.Do("POST", "/x/_bulk", "{\"index\":{}}\n{\"a\":1}\n", "Content-Type", servertest.BulkType,
		"Authorization", key), 200, "201")
}
