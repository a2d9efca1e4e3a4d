package query_test

import (
	"testing"

	"varve/server/servertest"
)

// TestMQuery: expressions of metrics in the formats of SQL, by the URL and by a form.
func TestMQuery(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1, 2),
		servertest.Message1([]string{"__name__", "up", "job", "y"}, 3))), 204, "")
	const path = "/v1/mquery"
	for _, c := range []struct {
		query  string
		status int
		text   string
	}{
		{"query=1&start=0&end=10&step=5s&format=csv", 200, "0,1.0\r\n5000,1.0\r\n10000,1.0\r\n"},
		{"query=up&start=1&end=2&step=1&format=csvWithNames", 200,
			"service_timestamp,job,service_value\r\n1000,x,1.0\r\n2000,x,2.0\r\n1000,y,3.0\r\n2000,y,3.0\r\n"},
		{"query=sum(up)&start=2&end=2&step=1&lookback=500ms&format=csvWithNames", 200,
			"service_timestamp,sum(up)\r\n2000,2.0\r\n"},
		{"query=up&start=2&end=2&step=1", 200, `"rows":[[2000,"x",2.0],[2000,"y",3.0]]`},
		{"query=nothing&start=2&end=2&step=1", 200, `"rows":[]`},
		{"query=up&start=2&end=2", 400, "Failed to deserialize query string: missing field `step`"},
		{"query=up%7B&start=2&end=2&step=1", 400, `"code":1004`},
		{"query=up&start=soon&end=2&step=1", 400, `"code":1004`},
		{"query=up&start=1&end=2&step=0", 400, `"code":1004`},
		{"query=up&start=1&end=2&step=1&db=nowhere", 400, `"code":4004`},
	} {
		h.Want(h.Do("GET", path+"?"+c.query, ""), c.status, c.text)
		h.Want(h.Do("POST", path, c.query, "Content-Type", "application/x-www-form-urlencoded"), c.status, c.text)
	}
}
