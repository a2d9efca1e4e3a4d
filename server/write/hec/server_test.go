package hec_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestCollectorEvents: events and their metadata.
func TestCollectorEvents(t *testing.T) {
	h := servertest.Real(t, nil)
	const path = servertest.CollectorPath + "/services/collector"
	h.Want(h.Do("POST", path,
		`{"time":1700000000.5,"host":"a","source":"s","sourcetype":"t","index":"my index","event":"hello","fields":{"zone":"z","n":1,"host":"f"}}`), 200, `{"text":"Success","code":0}`)
	h.Want(h.Do("POST", path+"/event",
		"{\"time\":\"1700000001000\",\"index\":\"my_index\",\"event\":{\"k\":1,\n\"o\":{\"p\":\"x\"}}}{\"index\":\"my_index\",\"event\":true}"), 200, "Success")
	h.Want(h.Do("POST", path+"/event/1.0?host=q&table=mine",
		servertest.Packed(`[{"event":"a"} , {"host":"b","event":"c"}]`), "Content-Encoding", "gzip"), 200, "Success")
	h.Want(h.Do("POST", "/services/collector/event", `{"event":1}`), 200, "Success")
	for query, want := range map[string]string{
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), host, source, sourcetype, event, zone, n, "fields.host" FROM my_index WHERE host = 'a'`: "[[1700000000500000000 a s t hello z 1 f]]",
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), "event.k", "event.o.p" FROM my_index WHERE "event.k" = 1`:                               "[[1700000001000000000 1 x]]",
		`SELECT host, event FROM mine ORDER BY event`:                                                             "[[q a] [b c]]",
		`SELECT count(*) FROM splunk_logs WHERE service_timestamp > now() - INTERVAL '1 minute'`:                  "[[1]]",
		`SELECT count(*) FROM information_schema.columns WHERE table_name = 'my_index' AND semantic_type = 'TAG'`: "[[6]]",
	} {
		if got := fmt.Sprint(h.Selected(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, c := range []struct {
		body string
		code int
		more string
	}{
		{"", 5, ""}, {" \n", 5, ""}, {"hello", 6, "invalid-event-number\":0"},
		{`{"event":1}{"event":`, 6, "invalid-event-number\":1"}, {`{"event":1}{"x":1}`, 12, "invalid-event-number\":1"},
		{`{"event":""}`, 13, ""}, {`{"event":null}`, 13, ""}, {`{"index":1,"event":1}`, 7, ""},
		{`{"time":"soon","event":1}`, 6, "time"}, {`{"fields":[],"event":1}`, 6, "array"},
		{"{\"event\":\"\xff\"}", 6, "UTF-8"},
	} {
		h.Want(h.Do("POST", path+"?table=none", c.body), 400, fmt.Sprintf(`"code":%d`, c.code))
		h.Want(h.Do("POST", path+"?table=none", c.body), 400, c.more)
	}
	for body, want := range map[string]string{ // a brace too many is the fault of the event before
		`{"event":1}}`: `"invalid-event-number":0,"detail":"a brace too many is behind the event","stored":0,"failed":1,"failures":[{"event":0,`,
		"{\"event\":1}\n{\"event\":2} }\n{\"x\":3}\n{\"event\":4}\n": `"invalid-event-number":1,"detail":"a brace too many is behind the event","stored":2,"failed":2,"failures":[{"event":1,"reason":"Invalid data format: a brace too many is behind the event"},{"event":2,`,
		`[{"event":1},{"event":2}}},{"event":3}]`:                    `"invalid-event-number":1,"detail":"a brace too many is behind the event","stored":2,"failed":1`,
	} {
		h.Want(h.Do("POST", path+"?table=braces", body), 400, want)
	}
	// what stood beside bad ones, sent twice
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+none", ""), 200, "[[4]]")
	h.Want(h.Do("POST", path+"?db=nowhere", `{"event":1}`), 400, `"code":6,"detail":"Failed to find schema`)
	h.Want(h.Do("POST", path+"/ack", "{}"), 400, `"code":14`)
}

// TestCollectorRoles: a column keeps the role that it has in the table, whichever names a request has as fields: of
// more than 64 the rest become fields of the table, and tables that others made have no tags of these names.
func TestCollectorRoles(t *testing.T) {
	h := servertest.Real(t, nil)
	const path = servertest.CollectorPath + "/services/collector?table=wide"
	var fields strings.Builder
	for i := range 100 {
		fmt.Fprintf(&fields, `,"f%d":"x%d"`, i, i)
	}
	h.Want(h.Do("POST", path, `{"event":"all","host":"a","fields":{`+fields.String()[1:]+`}}`), 200, "Success")
	for i := range 100 {
		h.Want(h.Do("POST", path, fmt.Sprintf(`{"event":"one","fields":{"f%d":"y","new%d":"z"}}`, i, i)), 200,
			"Success")
	}
	h.Holds("SELECT count(*), count(f0), count(f99), count(new99) FROM wide", "[[101 2 2 1]]")
	h.Holds(
		"SELECT semantic_type FROM information_schema.columns WHERE table_name = 'wide' AND column_name IN ('f0', 'f99', 'new99') ORDER BY column_name", "[[TAG] [FIELD] [TAG]]")

	h.Want(h.Do("POST", servertest.BulkPath+"/made/_bulk", "{\"index\":{}}\n{\"host\":\"a\",\"service\":\"s\"}\n",
		"Content-Type", servertest.BulkType), 200, `"errors":false`)
	h.Want(h.Do("POST", servertest.CollectorPath+"/services/collector?table=made", `{"event":"one","host":"b"}`), 200,
		"Success")
	h.Want(h.Do("POST", "/v1/ingest?table=made&pipeline_name=service_identity&_stream_fields=service",
		`{"service":"t"}`, "Content-Type", "application/json"), 200, "")
	h.Holds("SELECT host, service FROM made ORDER BY host, service", "[[a s] [b <nil>] [<nil> t]]")
}

// TestCollectorByOptions: a driver of containers tries its token by OPTIONS before it sends.
func TestCollectorByOptions(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w")
	})
	for _, path := range []string{"/services/collector/event/1.0", servertest.CollectorPath + "/services/collector"} {
		h.Want(h.Do("OPTIONS", path, "", "Authorization", "Splunk writer:w"), 200, "")
		h.Want(h.Do("OPTIONS", path, "", "Authorization", "Splunk writer:x"), 403, `"code":4`)
	}
}

// TestCollectorRaw: text is one event, or several.
func TestCollectorRaw(t *testing.T) {
	h := servertest.Real(t, nil)
	const path = servertest.CollectorPath + "/services/collector/raw"
	h.Want(h.Do("POST", path+"?index=r&host=a&sourcetype=t&time=1700000000", "line \"one\"\nline two\n",
		"X-Splunk-Request-Channel", "c"), 200, "Success")
	h.Want(h.Do("POST", path+"/1.0?index=r&linebreaker=%5Cn", "x\r\n\ny\n"), 200, "Success")
	h.Want(h.Do("POST", path, ""), 400, `"code":5`)
	if got := fmt.Sprintf("%q", h.Selected("SELECT host, message FROM r ORDER BY message")); got !=
		`[["a" "line \"one\"\nline two"] [<nil> "x"] [<nil> "y"]]` {
		t.Error(got)
	}
}

// TestCollectorAuthentication: tokens, and answers in the collector's form.
func TestCollectorAuthentication(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w,reader:ro=r")
	})
	const path = servertest.CollectorPath + "/services/collector"
	for _, c := range []struct {
		header string
		status int
		want   string
	}{
		{"", 401, `{"text":"Token is required","code":2}`}, {"Splunk writer:w", 200, "Success"},
		{servertest.Basic("writer", "w"), 200, "Success"}, {"Splunk writer:x", 403,
			`{"text":"Invalid token","code":4}`},
		{"Splunk reader:r", 403, `"code":4`}, {"Splunk", 401, `"code":2`}, {"Bearer x", 403, `"code":4`},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{"Authorization", c.header}
		}
		h.Want(h.Do("POST", path, `{"event":1}`, headers...), c.status, c.want)
	}
	h.Want(h.Do("GET", path+"/health", ""), 200, `{"text":"HEC is healthy","code":17}`)
	h.Want(h.Do("GET", path+"/health/1.0", ""), 200, `"code":17`)
}
