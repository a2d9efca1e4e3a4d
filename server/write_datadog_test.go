package server

import (
	"fmt"
	"testing"
)

// TestAgents: logs as agents send them.
func TestAgents(t *testing.T) {
	h := real(t, nil)
	for _, base := range []string{agentPath, ""} {
		h.want(h.do("POST", base+"/api/v2/logs",
			`[{"message":"hello \"x\"","ddsource":"nginx","ddtags":"env:prod,version:5.1,env:eu","hostname":"h","service":"web","status":"info","timestamp":1700000000123,"o":{"p":1}},{"message":"m","service":1}]`, "Content-Type", "application/json"), 202, "{}")
		h.want(h.do("POST", base+"/v1/input?ddtags=team:a&service=q&table=mine",
			packed(`{"message":"one","timestamp":"2023-11-14T22:13:20Z"}`), "Content-Encoding", "gzip"), 200, "{}")
		h.want(h.do("GET", base+"/api/v1/validate", ""), 200, `{"valid":true}`)
	}
	h.want(h.do("POST", agentPath+"/api/v2/logs?hostname=t&ddtags=env:x", "line one\r\nline two\n", "Content-Type",
		"text/plain"), 202, "{}")
	for query, want := range map[string]string{
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, ddsource, "ddtags.env", "ddtags.version", hostname, service, status, "o.p" FROM datadog_logs WHERE hostname = 'h' LIMIT 1`: `[[1700000000123000000 hello "x" nginx prod,eu 5.1 h web info 1]]`,
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, service, "ddtags.team" FROM mine LIMIT 1`:                                                                                  `[[1700000000000000000 one q a]]`,
		`SELECT message, "ddtags.env" FROM datadog_logs WHERE hostname = 't' ORDER BY message`:                                                                                                         `[[line one x] [line two x]]`,
		`SELECT count(*) FROM datadog_logs WHERE service = '1'`:                                                                                                                                        `[[2]]`,
		`SELECT count(*) FROM information_schema.columns WHERE table_name = 'datadog_logs' AND semantic_type = 'TAG'`:                                                                                  `[[3]]`,
	} {
		if got := fmt.Sprint(h.selected(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	// a time that cannot be read, and a message, are text whatever they are
	for _, value := range []string{`"never"`, "1e40", "true", "[1]", "null"} {
		h.want(h.do("POST", "/api/v2/logs?table=times", `{"message":`+value+`,"timestamp":`+value+`,"date":`+value+`}`),
			202, "{}")
	}
	h.holds(`SELECT message, timestamp, date FROM times ORDER BY message NULLS LAST`,
		"[[1e40 1e40 1e40] [[1] [1] [1]] [never never never] [true true true] [<nil> <nil> <nil>]]")
	for body, want := range map[string]string{"[1]": "log 1 is not a JSON object: it is a number",
		"[{}, {": "log 2 is not a JSON object", "hello": "log 1 is not a JSON object: it is nothing",
		"[{\"a\":\"\xff\"}]": "UTF-8"} {
		h.want(h.do("POST", agentPath+"/api/v2/logs?table=none", body), 400, want)
	}
	// the log before the one that ends the body
	h.want(h.do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+none", ""), 200, "[[1]]")
	guarded := real(t, func(o *Options) { o.Users = users(t, "static_user_provider:cmd:writer:wo=w") })
	guarded.want(guarded.do("POST", "/api/v2/logs", `[{"message":"x"}]`, "DD-API-KEY", "writer:w"), 202, "{}")
	guarded.want(guarded.do("GET", "/api/v1/validate", "", "DD-API-KEY", "writer:x"), 401, "7002")
	for path, want := range map[string]int{"/api/v2/logs?dd-api-key=writer:w": 202, "/v1/input?api_key=writer:w": 200,
		"/v1/input/writer:w": 200, agentPath + "/v1/input/writer:w": 200, "/v1/input/writer:x": 401, "/v1/input/": 401,
		"/api/v2/logs?api_key=": 401} {
		if a := guarded.do("POST", path, `[{"message":"x"}]`); a.status != want {
			t.Errorf("%s: %d %s, want %d", path, a.status, a.body, want)
		}
	}
	guarded.want(guarded.do("POST", "/v1/sql", "", "DD-API-KEY", "writer:w"), 401, "7003")
}
