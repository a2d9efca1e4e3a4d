package ingest_test

import (
	"fmt"
	"net/url"
	"testing"

	"varve/server/servertest"
)

// TestIngestFields: parameters name the fields of entries, in bodies of all kinds.
func TestIngestFields(t *testing.T) {
	h := servertest.Real(t, nil)
	send := func(table, query, kind, body string) servertest.Answer {
		return h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table="+table+"&"+query, body, "Content-Type",
			kind)
	}
	const all = "_time_field=ts,meta.time&_msg_field=log.text,msg&_stream_fields=host&ignore_fields=log.x,secret*&extra_fields=env=prod,host2=q"
	h.Want(send("a", all, "application/x-ndjson",
		`{"ts":1700000000,"log":{"text":"one","x":1,"y":2},"host":"h","secret_a":1,"env":"test"}`+"\n\n"+
			`{"meta":{"time":"2023-11-14T22:13:21.25Z","z":1},"msg":"two","host":"h","n":1.5}`+
			"\n"), 200, `"affectedrows":2`)
	h.Want(send("a", all, "application/json",
		"[{\n\"ts\":\"1700000002000\",\"msg\":\"three\"}, {\"ts\":\"no time\",\"msg\":\"four\"}]\n{\"msg\":\"five\"}"), 200, `"affectedrows":3`)
	h.Want(send("b", "extra_fields=app=x", "text/plain", "line \"one\"\r\nline two\n"), 200, `"affectedrows":2`)
	for query, want := range map[string]string{
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, "log.y", host, env, host2, "meta.z", n FROM a WHERE message IN ('one','two','three') ORDER BY service_timestamp`: "[[1700000000000000000 one 2 h prod q <nil> <nil>] [1700000001250000000 two <nil> h prod q 1 1.5] [1700000002000000000 three <nil> <nil> prod q <nil> <nil>]]",
		`SELECT message, ts FROM a WHERE service_timestamp > now() - INTERVAL '1 hour' ORDER BY message`:                                                                                     "[[five <nil>] [four no time]]",
		`SELECT count(*) FROM information_schema.columns WHERE table_name = 'a' AND (column_name LIKE 'secret%' OR column_name = 'log.x')`:                                                   "[[0]]",
		`SELECT column_name FROM information_schema.columns WHERE table_name = 'a' AND semantic_type = 'TAG'`:                                                                                "[[host]]",
		`SELECT message, app FROM b ORDER BY message`: `[[line "one" x] [line two x]]`,
	} {
		if got := fmt.Sprint(h.Selected(query)); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
	// A time that cannot be read, and a message, are text whatever they are: the next body meets a column of text.
	for _, body := range []string{`{"ts":"never","m":"x"}`, `{"ts":1e40,"m":5}`, `{"ts":true,"m":false}`,
		`{"ts":[1],"m":[1]}`, `{"ts":1700000000,"m":2.5}`} {
		h.Want(send("times", "_time_field=ts&_msg_field=m", "application/x-ndjson", body), 200, `"affectedrows":1`)
	}
	h.Holds(`SELECT ts, message FROM times ORDER BY ts NULLS LAST`,
		"[[1e40 5] [[1] [1]] [never x] [true false] [<nil> 2.5]]")
	h.Want(send("c", "debug=1", "application/json", `{"a":1}`), 200, "nothing is stored")
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1+FROM+c", ""), 400, "Table not found")
	for _, c := range []struct{ query, kind, body, want string }{
		{"_time_field=ts&custom_time_index=" + url.QueryEscape("ts;epoch;s"), "application/json", "{}",
			"exclude each other"},
		{"debug=maybe", "application/json", "{}", "parameter debug is 1 or 0"},
		{"extra_fields=x", "application/json", "{}", "pairs name=value"},
		{"_msg_field=x", "application/xml", "{}", "invalid content type"},
		{"_msg_field=x", "application/json", `{"a":1} x`, "not JSON"},
		{"_msg_field=x", "application/json", `[1]`, "not a JSON object"},
		{"_msg_field=x", "application/json", "{\"a\":\"\xff\"}", "not UTF-8"},
		{"_msg_field=x", "application/x-ndjson", "{\"a\":1}\n{", "line 2: an entry is not a JSON object"},
	} {
		h.Want(send("d", c.query, c.kind, c.body), 400, c.want)
	}
	h.Want(send("e", "_msg_field=x&ignore_errors=true", "application/x-ndjson", "{\"a\":1}\n{"), 200,
		`"affectedrows":1`)
	// Lines that are left out are counted, as they are without such parameters.
	for _, c := range []struct{ query, kind, body string }{
		{"ignore_errors=true", "application/x-ndjson", "{\"a\":1}\n{\n\n{\"a\":\"\xff\"}"},
		{"ignore_errors=true&_msg_field=x", "application/x-ndjson", "{\"a\":1}\n{\n\n{\"a\":\"\xff\"}"},
		{"", "text/plain", "a\n\xff\n\xfe"},
		{"extra_fields=x=y", "text/plain", "a\n\xff\n\xfe"},
	} {
		a := send("f", c.query, c.kind, c.body)
		if h.Want(a, 200, `"affectedrows":1`); a.Header.Get("x-service-skipped-rows") != "2" {
			t.Errorf("%s %s: %q rows are said to be skipped, want 2", c.query, c.kind,
				a.Header.Get("x-service-skipped-rows"))
		}
	}
}
