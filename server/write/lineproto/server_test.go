package lineproto_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestLinesOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestLinesOfClients(t *testing.T) {
	servertest.SentByClients(t, "lineproto.json", "lineproto-", 5, (*servertest.House).WantStored)
}

// lines sends a body and wants it to be taken.
func lines(h *servertest.House, body string) {
	h.Helper()
	h.Want(h.Do("POST", servertest.LinePath, body), 204, "")
}

// TestLinesMerge: the fields of a point may come in several lines and requests.
func TestLinesMerge(t *testing.T) {
	h := servertest.Real(t, nil)
	lines(h, "m,host=a x=1,y=2 5\nm,host=a z=3 5\nm,host=b x=9 5")
	lines(h, "m,host=a y=4 5")
	if got := fmt.Sprint(h.Selected("SELECT host, x, y, z FROM m ORDER BY host")); got !=
		"[[a 1 4 3] [b 9 <nil> <nil>]]" {
		t.Error(got)
	}
}

// TestLinesLaterTags: a table gets tags after rows are there that lack them, in memory and in a file; they count as
// part of the key.
func TestLinesLaterTags(t *testing.T) {
	h := servertest.Real(t, nil)
	lines(h, "m,host=a v=1 5")
	h.Want(h.Do("POST", "/v1/sql?sql=ADMIN+flush_table('m')", ""), 200, "")
	lines(h, "m,host=a,zone=z v=2 5\nm,disk=d v=3 5")
	lines(h, "m,host=a v=4 5")
	for range 2 {
		if got := fmt.Sprint(h.Selected("SELECT host, zone, disk, v FROM m ORDER BY v")); got !=
			"[[a z <nil> 2] [<nil> <nil> d 3] [a <nil> <nil> 4]]" {
			t.Error(got)
		}
		h.Want(h.Do("POST", "/v1/sql?sql=ADMIN+flush_table('m')", ""), 200, "")
	}
	if a := h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+m", ""); !strings.Contains(a.Body,
		`PRIMARY KEY (\"host\", \"zone\", \"disk\")`) {
		t.Error(a.Body)
	}
}

// TestLinesAllOrNothing: a bad line, and a value of another type than the column's, leave nothing of a request.
func TestLinesAllOrNothing(t *testing.T) {
	h := servertest.Real(t, nil)
	lines(h, "m,host=a v=1 5")
	for _, c := range []struct{ name, body, want string }{
		{"bad line", "new v=1\nm,host=b v=2\nm,host= v=1",
			"Failed to parse InfluxDB line protocol: line 3: unable to parse 'm,host= v=1': empty tag value"},
		{"type of the table", "new v=1\nm,host=b v=t 6",
			"column v expect type Float64, given: Boolean: send it as Float64 or under another name, or change the column by ALTER TABLE .. MODIFY COLUMN (line 2: 'm,host=b v=t 6')"},
		{"type of the batch", "new v=1\nnew v=t",
			"Column: v, datatype incompatible, expected: Float64, actual: Boolean (line 2: 'new v=t')"},
		{"role of the table", "new v=1\nm host=\"b\" 6", "column host expect semantic type TAG, given: FIELD"},
		{"not UTF-8", "new v=1\nm,host=\xff v=1", "valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := *h
			h.TB = t
			h.Want(h.Do("POST", servertest.LinePath, c.body), 400, c.want)
			if got := fmt.Sprint(h.Selected("SELECT count(*) FROM m")); got != "[[1]]" {
				t.Errorf("m has %s rows", got)
			}
			h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1+FROM+new", ""), 400, "Table not found")
		})
	}
}

// TestLinesParameters: precisions, databases, hints.
func TestLinesParameters(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/sql?sql=CREATE+DATABASE+other", ""), 200, "")
	for precision, want := range map[string]string{"": "7", "n": "7", "ns": "7", "u": "7000", "us": "7000",
		"%C2%B5": "7000", "%CE%BCs": "7000", "ms": "7000000", "s": "7000000000", "m": "420000000000",
		"h": "25200000000000"} {
		h.Want(h.Do("POST", servertest.LinePath+"?precision=d&precision="+precision, "p v=1 7"), 204,
			"") // the last counts
		if got := fmt.Sprint(h.Selected("SELECT count(*) FROM p WHERE CAST(service_timestamp AS BIGINT) = " +
			want)); got != "[[1]]" {
			t.Errorf("precision %q: no row at %s", precision, want)
		}
	}
	h.Want(h.Do("POST", servertest.LinePath+"?precision=d", "p v=1 7"), 400,
		"Failed to convert time precision, name: d")
	h.Want(h.Do("POST", servertest.LinePath, ""), 204, "")
	h.Want(h.Do("POST", servertest.LinePath, "now v=1"), 204, "")
	h.Want(h.Do("POST", servertest.LinePath+"?precision=h", "now v=1"), 204, "")
	if got := fmt.Sprint(
		h.Selected(
			"SELECT count(CASE WHEN CAST(service_timestamp AS BIGINT) % 3600000000000 = 0 THEN 1 END) FROM now WHERE service_timestamp > now() - INTERVAL '2 hours'")); got != "[[1]]" {
		t.Errorf("%s points at a full hour", got)
	}

	v2 := "/v1/lineproto/api/v2/write?org=o&"
	h.Want(h.Do("POST", v2+"bucket=other", "d v=1 1"), 204, "")
	h.Want(h.Do("POST", v2+"bucket=nowhere&db=service-other", "d v=1 2"), 204, "")
	h.Want(h.Do("POST", v2+"bucket=nowhere", "d v=1 3", "x-service-db-name", "other"), 204, "")
	h.Want(h.Do("POST", servertest.LinePath+"?bucket=other", "d v=1 4"), 204, "")
	h.Want(h.Do("POST", servertest.LinePath+"?db=nowhere", "d v=1 5"), 400, "Failed to find schema")
	if got := fmt.Sprint(h.Selected("SELECT count(*) FROM other.d"), h.Selected("SELECT count(*) FROM d")); got !=
		"[[3]] [[1]]" {
		t.Errorf("rows of databases: %s", got)
	}

	h.Want(h.Do("POST", servertest.LinePath, "a v=1 1\na v=2 1", "x-service-hints", "append_mode=true,skip_wal=false"),
		204, "")
	if got := fmt.Sprint(h.Selected("SELECT count(*) FROM a")); got != "[[2]]" {
		t.Errorf("%s rows are kept in append mode", got)
	}
	if a := h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+a", ""); !strings.Contains(a.Body, "append_mode = 'true'") ||
		!strings.Contains(a.Body, "merge_mode = 'last_row'") {
		t.Error(a.Body)
	}
	h.Want(h.Do("POST", servertest.LinePath, "absent v=1", "x-service-hints", "auto_create_table=false"), 400,
		"Table `absent` does not exist")
	h.Want(h.Do("POST", servertest.LinePath, "absent v=1", "x-service-hints", "auto_create_table=maybe"), 400,
		"must be a boolean")
}

// TestLinesAuthentication: header, token and query, on paths of line protocol only.
func TestLinesAuthentication(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w:x,reader:ro=r")
	})
	for _, c := range []struct {
		name, query string
		headers     []string
		status      int
		want        string
	}{
		{"nothing", "", nil, 401, `"code":7003,"error":"Not found influx http authorization info"`},
		{"basic", "", []string{"Authorization", servertest.Basic("writer", "w:x")}, 204, ""},
		{"token", "", []string{"Authorization", "Token writer:w:x"}, 204, ""},
		{"token in small letters", "", []string{"Authorization", "token writer:w:x"}, 204, ""},
		{"wrong token", "", []string{"Authorization", "Token writer:wrong"}, 401, `"code":7002`},
		{"token without a password", "", []string{"Authorization", "Token writer"}, 401, `"code":7004`},
		{"bearer", "", []string{"Authorization", "Bearer writer:w:x"}, 401, `"code":7002`},
		{"query", "?u=writer&p=w:x", nil, 204, ""},
		{"wrong query", "?u=writer&p=wrong", nil, 401, `"code":7002`},
		{"name alone", "?u=writer", nil, 401, "must be provided together"},
		{"password alone", "?p=w:x", nil, 401, `"code":1004`},
		{"the header comes first", "?u=writer&p=wrong", []string{"Authorization", servertest.Basic("writer", "w:x")},
			204, ""},
		{"the header alone counts", "?u=writer&p=w:x", []string{"Authorization", "Token writer:wrong"}, 401,
			`"code":7002`},
		{"the service's header does not count", "", []string{"x-service-auth", servertest.Basic("writer", "w:x")}, 401,
			`"code":7003`},
		{"reader", "?u=reader&p=r", nil, 403, `"code":7006`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := *h
			h.TB = t
			for _, path := range []string{servertest.LinePath, "/v1/lineproto/api/v2/write"} {
				h.Want(h.Do("POST", path+c.query, "m v=1 5", c.headers...), c.status, c.want)
			}
		})
	}
	h.Want(h.Do("GET", "/v1/sql?sql=select+1", "", "Authorization", "Token reader:r"), 401,
		"Unsupported http auth scheme, name: token")
	h.Want(h.Do("GET", "/v1/sql?sql=select+1&u=reader&p=r", ""), 401, `"code":7003`)
	h.Want(h.Do("GET", "/v1/lineproto/ping", ""), 204, "")
	h.Want(h.Do("GET", "/v1/lineproto/health", ""), 200, `"status":"pass"`)
}

// TestLinesClients: what clients of either version look at besides the status.
func TestLinesClients(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, a := range []servertest.Answer{h.Do("GET", "/v1/lineproto/ping", ""), h.Do("GET", "/ping", ""),
		h.Do("HEAD", "/v1/lineproto/ping", ""), h.Do("POST", servertest.LinePath, "m v=1")} {
		if a.Status != 204 || a.Body != "" || a.Header.Get("X-Influxdb-Version") != "1.8.0-varve" {
			t.Errorf("%d %q %v", a.Status, a.Body, a.Header)
		}
	}
	var health struct{ Name, Message, Status string }
	a := h.Do("GET", "/v1/lineproto/health", "")
	if err := json.Unmarshal([]byte(a.Body), &health); err != nil || health.Name != "varve" ||
		health.Status != "pass" || health.Message != "ready for queries and writes" {
		t.Errorf("health: %s, %v", a.Body, err)
	}
}

// TestLinesByHostAlone: clients that take no more than a host find the paths of both versions there, with the rules of
// those below /v1.
func TestLinesByHostAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/query?q=CREATE+DATABASE+own", "", "Content-Type", "text/plain"), 200, "results")
	h.Want(h.Do("POST", "/query?q=CREATE+DATABASE+own", "x", "Content-Type", "application/octet-stream"), 200,
		"results")
	h.Want(h.Do("POST", "/write?db=own&precision=ms", "m v=1 1"), 204, "")
	h.Want(h.Do("GET", "/health", "", "User-Agent", "influxdb-client-go/2"), 200, `"status":"pass"`)
	h.Want(h.Do("GET", "/health", ""), 200, "{}")
	h.Want(h.Do("POST", "/api/v2/write?bucket=own&org=o", "m v=2 2"), 204, "")
	h.Want(h.Do("GET", "/v1/lineproto/ready", ""), 200, `"status":"ready"`)
	h.Want(h.Do("POST", "/write?db=own", "m v=3", "Sec-Fetch-Site", "cross-site"), 403, "")
	if a := h.Do("GET", "/v1/sql?db=own&sql=SELECT+count(*)+FROM+m", ""); !strings.Contains(a.Body, "[[2]]") {
		t.Error(a.Body)
	}
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w,reader:ro=r")
	})
	for _, path := range []string{"/write", "/api/v2/write", "/query"} {
		guarded.Want(guarded.Do("POST", path+"?q=CREATE+DATABASE+x", "m v=1"), 401, `"code":7003`)
		guarded.Want(guarded.Do("POST", path+"?u=reader&p=r&q=CREATE+DATABASE+x", "m v=1"), 403, `"code":7006`)
	}
	guarded.Want(guarded.Do("POST", "/write?u=writer&p=w", "m v=1"), 204, "")
	guarded.Want(guarded.Do("POST", "/api/v2/write", "m v=1", "Authorization", "Token writer:w"), 204, "")
}

// TestLinesErrorsOfVersion2: its clients read a code that is a word; the others get the error that all of the service
// has.
func TestLinesErrorsOfVersion2(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w,reader:ro=r")
	})
	const path = "/v1/lineproto/api/v2/write"
	for _, agent := range []string{"influxdb-client-go/2.14.0 (linux; amd64)", "Telegraf/1.37.2 Go/1.26"} {
		for _, c := range []struct {
			body, token, want string
			status            int
		}{
			{"m, v=1", "writer:w", `{"code":"invalid","message":"Failed to parse InfluxDB line protocol: line 1: `,
				400},
			{"\xff", "writer:w",
				`{"code":"invalid","message":"the body is not valid UTF-8","error":"the body is not valid UTF-8"}`,
				400},
			{"m v=1", "writer:wrong", `{"code":"unauthorized","message":"Username and password does not match`, 401},
			{"m v=1", "reader:r", `{"code":"forbidden","message":"`, 403},
			{"m v=1", "writer:w", ``, 204},
		} {
			a := h.Do("POST", path, c.body, "Authorization", "Token "+c.token, "User-Agent", agent)
			h.Want(a, c.status, c.want)
			if a.Body != "" && (!json.Valid([]byte(a.Body)) || a.Header.Get("Content-Type") != "application/json") {
				t.Errorf("%s: %v", a.Body, a.Header)
			}
		}
		h.Want(h.Do("POST", servertest.LinePath, "m, v=1", "Authorization", "Token writer:w", "User-Agent", agent), 400,
			`{"code":1004,"error":`)
	}
	h.Want(h.Do("POST", path, "m, v=1", "Authorization", "Token writer:w", "User-Agent", "curl/8"), 400,
		`{"code":1004,"error":`)
}

// TestLinesAsMetrics: the metrics language knows tables that line protocol made.
func TestLinesAsMetrics(t *testing.T) {
	h := servertest.Real(t, nil)
	lines(h, "temperature,room=a value=20.5 1700000000000000000\ntemperature,room=b value=19 1700000000000000000")
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/query?query=sum(temperature)&time=1700000000", ""), 200, `"39.5"`)
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/label/__name__/values", ""), 200, `"temperature"`)
}

// TestLinesDatabases: what clients of version 1 ask before they write.
func TestLinesDatabases(t *testing.T) {
	h := servertest.Real(t, nil)
	const path = "/v1/lineproto/query"
	for range 2 { // one that is there is made as well
		h.Want(h.Do("POST", path, `q=CREATE+DATABASE+%22new-one%22`, "Content-Type",
			"application/x-www-form-urlencoded"), 200, `{"results":[{"statement_id":0}]}`)
		h.Want(h.Do("POST", path+"?q=create+database+other+with+duration+3d+name+x;", ""), 200,
			`{"results":[{"statement_id":0}]}`)
	}
	h.Want(h.Do("GET", path+"?q=SHOW+DATABASES", ""), 200,
		`"values":[["new-one"],["other"],["public"],["service_private"]]`)
	h.Want(h.Do("POST", servertest.LinePath+"?db=new-one", "m v=1"), 204, "")
	h.Want(h.Do("GET", path+"?q=SELECT+*+FROM+m", ""), 400, "ask with SQL at /v1/sql")
	h.Want(h.Do("GET", path, ""), 400, "CREATE DATABASE")
	h.Want(h.Do("GET", path+"?q=CREATE+DATABASE+%22a%2Fb%22", ""), 400, "")

	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w,reader:ro=r")
	})
	guarded.Want(guarded.Do("GET", path+"?u=reader&p=r&q=CREATE+DATABASE+x", ""), 403, `"code":7006`)
	guarded.Want(guarded.Do("GET", path+"?u=reader&p=r&q=SHOW+DATABASES", ""), 200, "public")
	guarded.Want(guarded.Do("GET", path+"?u=writer&p=w&q=CREATE+DATABASE+x", ""), 200, "results")
	guarded.Want(guarded.Do("GET", path+"?u=writer&p=w&q=SHOW+DATABASES", ""), 403, `"code":7006`)
}

// TestLinesVersion3: good lines are stored although others are not, unless the client wants all or nothing; times say
// their unit by their size.
func TestLinesVersion3(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, path := range []string{"/v1/lineproto/api/v3/write_lp", "/api/v3/write_lp"} {
		h.Want(h.Do("POST", path+"?db=public&precision=second&no_sync=true", "s f=1 1700000000"), 204, "")
		h.Want(h.Do("POST", path+"?db=public",
			"m,host=a f=1 1700000000\nm,host= f=1\nm,host=b f=2 1700000000000\nm,host=c f=t,new=1"), 400,
			`{"error":"partial write of line protocol occurred","data":[{"original_line":"m,host= f=1","line_number":2,"error_message":"empty tag value"},{"original_line":"m,host=c f=t,new=1","line_number":4,"error_message":"`)
		h.Want(h.Do("POST", path+"?accept_partial=false", "m,host=d f=1\nm f=x"), 400,
			`{"error":"parsing failed for write_lp endpoint","data":{"original_line":"m f=x","line_number":2,"error_message":"invalid field value`)
		h.Want(h.Do("POST", path, "none f=x"), 400, "partial write")
		h.Want(h.Do("POST", path+"?accept_partial=maybe", "m f=1"), 400, "neither true nor false")
		h.Want(h.Do("POST", path+"?precision=d", "m f=1"), 400, "Failed to convert time precision")
		h.Want(h.Do("POST", path+"?db=nowhere", "m f=1", "User-Agent", "influxdb3-go/2"), 400,
			`{"code":"invalid","message":"Failed to find schema`)
	}
	h.Holds("SELECT host, f, CAST(CAST(service_timestamp AS BIGINT) AS STRING) FROM m ORDER BY host",
		"[[a 1 1700000000000000000] [b 2 1700000000000000000]]")
	h.Holds("SELECT column_name FROM information_schema.columns WHERE table_name IN ('m', 'none') ORDER BY column_name",
		"[[f] [host] [service_timestamp]]")
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w")
	})
	guarded.Want(guarded.Do("POST", "/api/v3/write_lp", "m v=1", "Authorization", "Token writer:w"), 204, "")
	guarded.Want(guarded.Do("POST", "/api/v3/write_lp", "m v=1"), 401, "")
}

// TestLinesBuckets: what scripts of version 2 look for, and make, before they write.
func TestLinesBuckets(t *testing.T) {
	h := servertest.Real(t, nil)
	const path = "/v1/lineproto/api/v2/"
	h.Want(h.Do("GET", path+"orgs?org=me", ""), 200, `"name":"me"`)
	h.Want(h.Do("GET", path+"setup", ""), 200, `{"allowed":false}`)
	h.Want(h.Do("GET", path+"buckets?name=own", ""), 200, `{"buckets":[]}`)
	for range 2 {
		h.Want(h.Do("POST", path+"buckets", `{"name":"own","orgID":"x","retentionRules":[]}`), 201, `"name":"own"`)
	}
	h.Want(h.Do("GET", path+"buckets?name=own", ""), 200, `"name":"own"`)
	h.Want(h.Do("GET", path+"buckets", ""), 200, `"name":"public"`)
	h.Want(h.Do("POST", path+"write?bucket=own", "m v=1"), 204, "")
	h.Want(h.Do("POST", path+"buckets", `{"name":5}`), 400, "a bucket is made of")
	h.Want(h.Do("POST", path+"buckets", `{"name":"a/b"}`), 400, "")
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w,reader:ro=r")
	})
	guarded.Want(guarded.Do("GET", path+"buckets", "", "Authorization", "Token writer:w"), 403, "")
	guarded.Want(guarded.Do("GET", path+"buckets", "", "Authorization", "Token reader:r"), 200, "public")
	guarded.Want(guarded.Do("POST", path+"buckets", `{"name":"x"}`, "Authorization", "Token reader:r"), 403, "")
	guarded.Want(guarded.Do("GET", path+"orgs", ""), 401, "")
}
