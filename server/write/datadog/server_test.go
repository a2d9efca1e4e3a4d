package datadog_test

import (
	"fmt"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestAgents: logs as agents send them.
func TestAgents(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, base := range []string{servertest.AgentPath, ""} {
		h.Want(h.Do("POST", base+"/api/v2/logs",
			`[{"message":"hello \"x\"","ddsource":"nginx","ddtags":"env:prod,version:5.1,env:eu","hostname":"h","service":"web","status":"info","timestamp":1700000000123,"o":{"p":1}},{"message":"m","service":1}]`, "Content-Type", "application/json"), 202, "{}")
		h.Want(h.Do("POST", base+"/v1/input?ddtags=team:a&service=q&table=mine",
			servertest.Packed(
				`{"message":"one","timestamp":"2023-11-14T22:13:20Z"}`), "Content-Encoding", "gzip"), 200, "{}")
		h.Want(h.Do("GET", base+"/api/v1/validate", ""), 200, `{"valid":true}`)
	}
	h.Want(h.Do("POST", servertest.AgentPath+"/api/v2/logs?hostname=t&ddtags=env:x", "line one\r\nline two\n",
		"Content-Type", "text/plain"), 202, "{}")
	for query, want := range map[string]string{
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, ddsource, "ddtags.env", "ddtags.version", hostname, service, status, "o.p" FROM datadog_logs WHERE hostname = 'h' LIMIT 1`: `[[1700000000123000000 hello "x" nginx prod,eu 5.1 h web info 1]]`,
		`SELECT CAST(CAST(service_timestamp AS BIGINT) AS STRING), message, service, "ddtags.team" FROM mine LIMIT 1`:                                                                                  `[[1700000000000000000 one q a]]`,
		`SELECT message, "ddtags.env" FROM datadog_logs WHERE hostname = 't' ORDER BY message`:                                                                                                         `[[line one x] [line two x]]`,
		`SELECT count(*) FROM datadog_logs WHERE service = '1'`:                                                                                                                                        `[[2]]`,
		`SELECT count(*) FROM information_schema.columns WHERE table_name = 'datadog_logs' AND semantic_type = 'TAG'`:                                                                                  `[[3]]`,
	} {
		if got := fmt.Sprint(h.Selected(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	// a time that cannot be read, and a message, are text whatever they are
	for _, value := range []string{`"never"`, "1e40", "true", "[1]", "null"} {
		h.Want(h.Do("POST", "/api/v2/logs?table=times", `{"message":`+value+`,"timestamp":`+value+`,"date":`+value+`}`),
			202, "{}")
	}
	h.Holds(`SELECT message, timestamp, date FROM times ORDER BY message NULLS LAST`,
		"[[1e40 1e40 1e40] [[1] [1] [1]] [never never never] [true true true] [<nil> <nil> <nil>]]")
	for body, want := range map[string]string{"[1]": "log 1 is not a JSON object: it is a number",
		"[{}, {": "log 2 is not a JSON object", "hello": "log 1 is not a JSON object: it is nothing",
		"[{\"a\":\"\xff\"}]": "UTF-8"} {
		h.Want(h.Do("POST", servertest.AgentPath+"/api/v2/logs?table=none", body), 400, want)
	}
	// the log before the one that ends the body
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+none", ""), 200, "[[1]]")
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w")
	})
	guarded.Want(guarded.Do("POST", "/api/v2/logs", `[{"message":"x"}]`, "DD-API-KEY", "writer:w"), 202, "{}")
	guarded.Want(guarded.Do("GET", "/api/v1/validate", "", "DD-API-KEY", "writer:x"), 401, "7002")
	for path, want := range map[string]int{"/api/v2/logs?dd-api-key=writer:w": 202, "/v1/input?api_key=writer:w": 200,
		"/v1/input/writer:w": 200, servertest.AgentPath +
			"/v1/input/writer:w": 200, "/v1/input/writer:x": 401, "/v1/input/": 401,
		"/api/v2/logs?api_key=": 401} {
		if a := guarded.Do("POST", path, `[{"message":"x"}]`); a.Status != want {
			t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, want)
		}
	}
	guarded.Want(guarded.Do("POST", "/v1/sql", "", "DD-API-KEY", "writer:w"), 401, "7003")
}
