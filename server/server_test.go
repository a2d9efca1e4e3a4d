package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine/status"
	"varve/server"
	"varve/server/rules"
	"varve/server/servertest"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// TestAccess lists every route with who may use it: a new route needs a line here.
func TestAccess(t *testing.T) {
	want := `GET / open
GET POST /-/healthy read
GET POST /-/ready read
POST /-/reload admin
GET PUT POST /_alias write
GET PUT POST /_alias/{rest:*} write
PUT POST /_bulk write
GET PUT POST /_cluster write
GET /_cluster/health write
GET PUT POST /_cluster/{rest:*} write
GET PUT POST /_component_template write
GET PUT POST /_component_template/{rest:*} write
GET PUT POST /_data_stream write
GET PUT POST /_data_stream/{rest:*} write
GET PUT POST /_ilm write
GET PUT POST /_ilm/{rest:*} write
GET PUT POST /_index_template write
GET PUT POST /_index_template/{rest:*} write
GET PUT POST /_ingest write
GET PUT POST /_ingest/{rest:*} write
GET /_license write
GET PUT POST /_logstash write
GET PUT POST /_logstash/{rest:*} write
GET PUT POST /_nodes write
GET PUT POST /_nodes/{rest:*} write
GET PUT POST /_template write
GET PUT POST /_template/{rest:*} write
GET PUT POST /_xpack write
GET PUT POST /_xpack/{rest:*} write
GET /api/dependencies read
GET /api/operations read
POST /api/put write
GET /api/services read
GET /api/services/{service}/operations read
GET /api/traces read
GET /api/traces/{id} read
GET POST /api/v1/alertmanagers read
GET POST /api/v1/alerts read
GET POST /api/v1/features read
GET POST /api/v1/format_query read
GET POST /api/v1/label/{name}/values read
GET POST /api/v1/labels read
GET POST /api/v1/metadata read
GET POST /api/v1/parse_query read
GET POST /api/v1/query read
GET POST /api/v1/query_exemplars read
GET POST /api/v1/query_range read
POST /api/v1/read read
GET POST /api/v1/rules read
GET POST /api/v1/series read
GET POST /api/v1/status/buildinfo read
GET POST /api/v1/status/config read
GET POST /api/v1/status/flags read
GET POST /api/v1/status/runtimeinfo read
GET POST /api/v1/status/tsdb read
GET POST /api/v1/targets read
GET POST /api/v1/targets/metadata read
GET /api/v1/validate write
GET /api/v1/write write
POST /api/v1/write write
GET /api/v2/buckets user
POST /api/v2/buckets user
POST /api/v2/logs write
GET /api/v2/orgs user
GET /api/v2/setup open
POST /api/v2/write write
POST /api/v3/write_lp write
GET /config admin
GET POST /dashboard/{file:*} open
POST /debug/log_level admin
POST /debug/prof/cpu admin
POST /debug/prof/mem admin
POST /debug/prof/mem/activate admin
POST /debug/prof/mem/deactivate admin
GET /debug/prof/mem/status admin
GET /favicon.ico open
GET POST /health open
GET POST /loki/api/v1/detected_field/{name}/values read
GET POST /loki/api/v1/detected_fields read
GET POST /loki/api/v1/detected_labels read
GET POST /loki/api/v1/drilldown-limits read
GET POST /loki/api/v1/format_query read
GET POST /loki/api/v1/index/stats read
GET POST /loki/api/v1/index/volume read
GET POST /loki/api/v1/index/volume_range read
GET POST /loki/api/v1/label read
GET POST /loki/api/v1/label/{name}/values read
GET POST /loki/api/v1/labels read
GET POST /loki/api/v1/patterns read
POST /loki/api/v1/push write
GET POST /loki/api/v1/query read
GET POST /loki/api/v1/query_range read
GET POST /loki/api/v1/series read
GET POST /loki/api/v1/status/buildinfo read
GET /loki/api/v1/tail read
GET /metrics metrics
GET /ping open
GET POST /query user
GET POST /ready open
OPTIONS /services/collector write
POST /services/collector write
POST /services/collector/ack write
OPTIONS /services/collector/event write
POST /services/collector/event write
OPTIONS /services/collector/event/1.0 write
POST /services/collector/event/1.0 write
GET /services/collector/health open
GET /services/collector/health/1.0 open
POST /services/collector/raw write
POST /services/collector/raw/1.0 write
GET /status open
POST /upload write
GET /v1/dashboards read
DELETE /v1/dashboards/{name} write
GET /v1/dashboards/{name} read
POST /v1/dashboards/{name} write
GET /v1/datadog/api/v1/validate write
POST /v1/datadog/api/v2/logs write
POST /v1/datadog/v1/input write
POST /v1/datadog/v1/input/{key} write
GET /v1/elasticsearch/ write
GET PUT POST /v1/elasticsearch/_alias write
GET PUT POST /v1/elasticsearch/_alias/{rest:*} write
PUT POST /v1/elasticsearch/_bulk write
GET PUT POST /v1/elasticsearch/_cluster write
GET /v1/elasticsearch/_cluster/health write
GET PUT POST /v1/elasticsearch/_cluster/{rest:*} write
GET PUT POST /v1/elasticsearch/_component_template write
GET PUT POST /v1/elasticsearch/_component_template/{rest:*} write
GET PUT POST /v1/elasticsearch/_data_stream write
GET PUT POST /v1/elasticsearch/_data_stream/{rest:*} write
GET PUT POST /v1/elasticsearch/_ilm write
GET PUT POST /v1/elasticsearch/_ilm/{rest:*} write
GET PUT POST /v1/elasticsearch/_index_template write
GET PUT POST /v1/elasticsearch/_index_template/{rest:*} write
GET PUT POST /v1/elasticsearch/_ingest write
GET PUT POST /v1/elasticsearch/_ingest/{rest:*} write
GET /v1/elasticsearch/_license write
GET PUT POST /v1/elasticsearch/_logstash write
GET PUT POST /v1/elasticsearch/_logstash/{rest:*} write
GET PUT POST /v1/elasticsearch/_nodes write
GET PUT POST /v1/elasticsearch/_nodes/{rest:*} write
GET PUT POST /v1/elasticsearch/_template write
GET PUT POST /v1/elasticsearch/_template/{rest:*} write
GET PUT POST /v1/elasticsearch/_xpack write
GET PUT POST /v1/elasticsearch/_xpack/{rest:*} write
GET PUT POST /v1/elasticsearch/logstash write
GET PUT POST /v1/elasticsearch/logstash/{rest:*} write
GET PUT POST /v1/elasticsearch/{index} write
GET PUT POST /v1/elasticsearch/{index}/_alias/{rest:*} write
PUT POST /v1/elasticsearch/{index}/_bulk write
PUT POST /v1/elasticsearch/{index}/_create/{id} write
POST /v1/elasticsearch/{index}/_doc write
PUT POST /v1/elasticsearch/{index}/_doc/_bulk write
PUT POST /v1/elasticsearch/{index}/_doc/{id:*} write
GET PUT POST /v1/elasticsearch/{index}/_mapping write
GET PUT POST /v1/elasticsearch/{index}/_refresh write
GET PUT POST /v1/elasticsearch/{index}/_settings write
POST /v1/elasticsearch/{index}/{type} write
PUT POST /v1/elasticsearch/{index}/{type}/_bulk write
PUT POST /v1/elasticsearch/{index}/{type}/{id:*} write
POST /v1/events/logs write
POST /v1/events/pipelines/_dryrun read
POST /v1/events/pipelines/dryrun read
DELETE /v1/events/pipelines/{name} write
GET /v1/events/pipelines/{name} read
POST /v1/events/pipelines/{name} write
GET /v1/events/pipelines/{name}/ddl read
GET POST /v1/health open
GET /v1/iceberg/v1/config user
GET /v1/iceberg/v1/namespaces user
GET /v1/iceberg/v1/namespaces/{namespace} user
GET /v1/iceberg/v1/namespaces/{namespace}/tables user
GET /v1/iceberg/v1/namespaces/{namespace}/tables/{table} user
POST /v1/iceberg/v1/namespaces/{namespace}/tables/{table}/metrics user
POST /v1/ingest write
GET /v1/ingest/target write
POST /v1/input write
POST /v1/input/{key} write
GET /v1/jaeger/api/dependencies read
GET /v1/jaeger/api/operations read
GET /v1/jaeger/api/services read
GET /v1/jaeger/api/services/{service}/operations read
GET /v1/jaeger/api/traces read
GET /v1/jaeger/api/traces/{id} read
POST /v1/journald/upload write
POST /v1/jsonput/api/put write
GET /v1/lineproto/api/v2/buckets user
POST /v1/lineproto/api/v2/buckets user
GET /v1/lineproto/api/v2/orgs user
GET /v1/lineproto/api/v2/setup open
POST /v1/lineproto/api/v2/write write
POST /v1/lineproto/api/v3/write_lp write
GET /v1/lineproto/health open
GET /v1/lineproto/ping open
GET POST /v1/lineproto/query user
GET /v1/lineproto/ready open
POST /v1/lineproto/write write
POST /v1/logpush/api/v1/push write
GET POST /v1/logpush/loki/api/v1/detected_field/{name}/values read
GET POST /v1/logpush/loki/api/v1/detected_fields read
GET POST /v1/logpush/loki/api/v1/detected_labels read
GET POST /v1/logpush/loki/api/v1/drilldown-limits read
GET POST /v1/logpush/loki/api/v1/format_query read
GET POST /v1/logpush/loki/api/v1/index/stats read
GET POST /v1/logpush/loki/api/v1/index/volume read
GET POST /v1/logpush/loki/api/v1/index/volume_range read
GET POST /v1/logpush/loki/api/v1/label read
GET POST /v1/logpush/loki/api/v1/label/{name}/values read
GET POST /v1/logpush/loki/api/v1/labels read
GET POST /v1/logpush/loki/api/v1/patterns read
POST /v1/logpush/loki/api/v1/push write
GET POST /v1/logpush/loki/api/v1/query read
GET POST /v1/logpush/loki/api/v1/query_range read
GET POST /v1/logpush/loki/api/v1/series read
GET POST /v1/logpush/loki/api/v1/status/buildinfo read
GET /v1/logpush/loki/api/v1/tail read
GET /v1/logpush/ready open
POST /v1/logs write
POST /v1/metrics write
GET POST /v1/metricsapi/-/healthy read
GET POST /v1/metricsapi/-/ready read
GET POST /v1/metricsapi/api/v1/alertmanagers read
GET POST /v1/metricsapi/api/v1/alerts read
GET POST /v1/metricsapi/api/v1/features read
GET POST /v1/metricsapi/api/v1/format_query read
GET POST /v1/metricsapi/api/v1/label/{name}/values read
GET POST /v1/metricsapi/api/v1/labels read
GET POST /v1/metricsapi/api/v1/metadata read
GET POST /v1/metricsapi/api/v1/parse_query read
GET POST /v1/metricsapi/api/v1/query read
GET POST /v1/metricsapi/api/v1/query_exemplars read
GET POST /v1/metricsapi/api/v1/query_range read
GET POST /v1/metricsapi/api/v1/rules read
GET POST /v1/metricsapi/api/v1/series read
GET POST /v1/metricsapi/api/v1/status/buildinfo read
GET POST /v1/metricsapi/api/v1/status/config read
GET POST /v1/metricsapi/api/v1/status/flags read
GET POST /v1/metricsapi/api/v1/status/runtimeinfo read
GET POST /v1/metricsapi/api/v1/status/tsdb read
GET POST /v1/metricsapi/api/v1/targets read
GET POST /v1/metricsapi/api/v1/targets/metadata read
POST /v1/metricsapi/read read
GET /v1/metricsapi/write write
POST /v1/metricsapi/write write
GET POST /v1/mquery user
POST /v1/otlp/v1/logs write
POST /v1/otlp/v1/metrics write
POST /v1/otlp/v1/traces write
POST /v1/pipelines/_dryrun read
POST /v1/pipelines/dryrun read
DELETE /v1/pipelines/{name} write
GET /v1/pipelines/{name} read
POST /v1/pipelines/{name} write
GET /v1/pipelines/{name}/ddl read
GET /v1/queues read
GET /v1/rules read
POST /v1/rules/try read
DELETE /v1/rules/{name} admin
GET /v1/rules/{name} read
PUT /v1/rules/{name} admin
GET /v1/session user
GET /v1/silences read
POST /v1/silences admin
DELETE /v1/silences/{name} admin
OPTIONS /v1/splunk/services/collector write
POST /v1/splunk/services/collector write
POST /v1/splunk/services/collector/ack write
OPTIONS /v1/splunk/services/collector/event write
POST /v1/splunk/services/collector/event write
OPTIONS /v1/splunk/services/collector/event/1.0 write
POST /v1/splunk/services/collector/event/1.0 write
GET /v1/splunk/services/collector/health open
GET /v1/splunk/services/collector/health/1.0 open
POST /v1/splunk/services/collector/raw write
POST /v1/splunk/services/collector/raw/1.0 write
GET POST /v1/sql user
POST /v1/sql/analyze/stream user
GET POST /v1/sql/format user
GET POST /v1/sql/parse user
GET /v1/standby/epoch open
GET /v1/standby/log admin
GET /v1/standby/part admin
POST /v1/standby/promote admin
GET /v1/standby/state admin
POST /v1/traces write
POST /write write
GET PUT POST /{index}/_alias/{rest:*} write
PUT POST /{index}/_bulk write
PUT POST /{index}/_create/{id} write
POST /{index}/_doc write
PUT POST /{index}/_doc/_bulk write
PUT POST /{index}/_doc/{id:*} write
GET PUT POST /{index}/_mapping write
GET PUT POST /{index}/_refresh write
GET PUT POST /{index}/_settings write
PUT POST /{index}/{type}/_bulk write`
	h := servertest.Real(t, func(o *server.Options) {
		var err error
		if o.Rules, err = rules.New(rules.Options{Store: o.Saved, Samples: o.Metrics.Samples}); err != nil {
			t.Fatal(err)
		}
	})
	routes := h.Server.AllRoutes()
	slices.SortFunc(routes, func(a, b server.ServedRoute) int {
		return strings.Compare(a.Path+" "+a.Methods[0], b.Path+" "+b.Methods[0])
	})
	var got []string
	for _, r := range routes {
		got = append(got, fmt.Sprintf("%s %s %s", strings.Join(r.Methods, " "), r.Path, r.Access))
	}
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("routes are\n%s\nwant\n%s", g, want)
	}
}

// TestClosedDoors asks every route that is not open without credentials.
func TestClosedDoors(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=secret,reader:ro=r,writer:wo=w")
	})
	for _, r := range h.Server.AllRoutes() {
		for _, m := range r.Methods {
			a := h.Do(m, r.Path, "")
			if closed := r.Access != web.AccessOpen && r.Access != web.AccessMetrics; closed != (a.Status == 401) {
				t.Errorf("%s %s (%s) without credentials: %d %s", m, r.Path, r.Access, a.Status, a.Body)
			}
		}
	}
	for _, path := range []string{"/v1/nothing", "/v1/", "//v1/sql", "/v1//sql", "/x/../v1/sql",
		"/%76%31/sql?sql=select+1", "/V1/sql"} {
		if a := h.Do("GET", path, ""); a.Status != 401 && a.Status != 404 {
			t.Errorf("GET %s: %d %s", path, a.Status, a.Body)
		}
	}
	h.Want(h.Do("GET", "/v1/nothing", ""), 401, `"code":7003`)
	h.Want(h.Do("GET", "/v1/nothing", "", "Authorization", servertest.Basic("admin", "secret")), 404, "")
	h.Want(h.Do("GET", "/v1/nothing", "", "Authorization", servertest.Basic("admin", "guess")), 401, `"code":7002`)
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_http_logins_refused_total 1\n")
	h.Want(h.Do("GET", "/config", "", "Authorization", servertest.Basic("reader", "r")), 403, `"code":7006`)
	h.Want(h.Do("GET", "/config", "", "Authorization", servertest.Basic("admin", "secret")), 200, "enable_telemetry")
	h.Want(h.Do("POST", "/v1/ingest", "{}", "Authorization", servertest.Basic("reader", "r"), "Content-Type",
		"application/json"), 403, `"code":7006`)
	h.Want(h.Do("GET", "/v1/sql?sql=select+1", "", "Authorization", servertest.Basic("writer", "w")), 403,
		`"code":7006`)
	h.Want(h.Do("GET", "/v1/sql?sql=drop+table+x", "", "Authorization", servertest.Basic("reader", "r")), 403,
		`"code":7006`)
	h.Want(h.Do("GET", "/v1/sql?sql=explain+analyze+insert+into+x+values+(1)", "", "Authorization",
		servertest.Basic("reader", "r")), 403, `"code":7006`)
	h.Want(h.Do("GET", "/v1/sql?sql=show+tables", "", "x-service-auth", servertest.Basic("reader", "r"),
		"Authorization", "Bearer proxy"), 200, "records")
}

func TestMethodsAndPaths(t *testing.T) {
	h := servertest.Open(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
		header, want string
	}{
		{"GET", "/nowhere", 404, "", ""},
		{"GET", "/health/", 404, "", ""},
		{"GET", "/HEALTH", 404, "", ""},
		{"DELETE", "/health", 405, "Allow", "GET, HEAD, OPTIONS, POST"},
		{"GET", "/v1/ingest", 405, "Allow", "OPTIONS, POST"},
		{"HEAD", "/health", 200, "Content-Type", "application/json"},
		{"GET", "/v1/lineproto/ping", 204, "", ""},
		{"GET", "/health", 200, "Access-Control-Allow-Origin", "*"},
		{"POST", "/debug/prof/mem/activate", 200, "Access-Control-Allow-Origin", ""},
	} {
		a := h.Do(c.method, c.path, "")
		if a.Status != c.status || a.Header.Get(c.header) != c.want {
			t.Errorf("%s %s: %d, %s %q; want %d, %q", c.method, c.path, a.Status, c.header, a.Header.Get(c.header),
				c.status, c.want)
		}
		if (a.Status >= 404 || c.method == "HEAD") && a.Body != "" {
			t.Errorf("%s %s: body %q", c.method, c.path, a.Body)
		}
	}
}

func TestForeignPages(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.CORSOrigins = []string{"https://grafana.example"} })
	for _, c := range []struct {
		name, path string
		headers    []string
		status     int
	}{
		{"program", "/v1/sql?sql=select+1", nil, 200},
		{"own page", "/v1/sql?sql=select+1", []string{"Origin", h.URL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"foreign origin", "/v1/sql?sql=select+1", []string{"Origin", "https://evil.example"}, 403},
		{"opaque origin", "/v1/sql?sql=select+1", []string{"Origin", "null"}, 403},
		{"image of a foreign page", "/v1/sql?sql=select+1", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"configuration", "/config", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"host and version", "/status", []string{"Origin", "https://evil.example"}, 403},
		{"names of tables", "/metrics", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			403},
		{"a scraper", "/metrics", nil, 200},
		{"own page's figures", "/metrics", []string{"Origin", h.URL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"allowed origin", "/v1/sql?sql=select+1",
			[]string{"Origin", "https://grafana.example", "Sec-Fetch-Site", "cross-site"}, 200},
		{"open path", "/health", []string{"Origin", "https://evil.example"}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := h.Do("GET", c.path, "", c.headers...)
			if a.Status != c.status || c.status == 403 && !strings.Contains(a.Body, `"code":7006`) {
				t.Errorf("got %d %s, want %d", a.Status, a.Body, c.status)
			}
		})
	}
}

// TestNamesOfOthers: a page under a name that points at this machine is of the same origin to its browser.
func TestNamesOfOthers(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.Hosts = []string{"Logs.example"} })
	port := h.Addr[strings.LastIndexByte(h.Addr, ':'):]
	for _, c := range []struct {
		name, host, headers string
		status              string
	}{
		{"program by any name", "evil.example" + port, "", "200"},
		{"page by a foreign name", "evil.example" + port, "Origin: http://evil.example" + port + "\r\n", "403"},
		{"safe page by a foreign name", "evil.example", "Sec-Fetch-Site: same-origin\r\n", "403"},
		{"address bar", "evil.example", "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\n", "403"},
		{"reads of an insecure page", "evil.example" + port, "User-Agent: Mozilla/5.0 (X11)\r\n", "403"},
		{"name that looks like an address", "127.0.0.1.evil.example", "Sec-Fetch-Site: same-origin\r\n", "403"},
		{"name that ends like localhost", "evillocalhost", "Sec-Fetch-Site: same-origin\r\n", "403"},
		{"page by address", h.Addr, "Origin: http://" + h.Addr + "\r\n", "200"},
		{"page by the other kind of address", "[::1]" + port, "Origin: http://[::1]" + port + "\r\n", "200"},
		{"localhost", "localhost" + port, "Origin: http://localhost" + port + "\r\nUser-Agent: Mozilla/5.0\r\n", "200"},
		{"localhost in full", "LOCALHOST.", "Sec-Fetch-Site: same-origin\r\n", "200"},
		{"configured name", "logs.example" + port, "Origin: http://logs.example" + port + "\r\n", "200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &servertest.House{TB: t, Addr: h.Addr}
			got := h.Raw("GET /v1/sql?sql=select+1 HTTP/1.1\r\nHost: " + c.host + "\r\nConnection: close\r\n" +
				c.headers + "\r\n")
			if codes := servertest.StatusLines(got); len(codes) != 1 || codes[0] != c.status {
				t.Errorf("got %s, want %s", got, c.status)
			}
		})
	}
	locked := servertest.Open(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:a=a")
	})
	got := locked.Raw(
		"GET /v1/sql?sql=select+1 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\nAuthorization: " + servertest.Basic("a", "a") + "\r\n\r\n")
	if codes := servertest.StatusLines(got); len(codes) != 1 || codes[0] != "200" {
		t.Errorf("a server with users: %s", got)
	}
}

// TestHealthBesideSilentConnections: half-sent headers of one address close neither /health nor the rest to others.
func TestHealthBesideSilentConnections(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.MaxConnections, o.MaxPerAddress = 20, 15 })
	for range 200 {
		c, err := net.Dial("tcp", h.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /v1/sql HTTP/1.1\r\nHost:") // ends when the server closes it, if not before
	}
	for range 5 {
		h.Want(h.Do("GET", "/health", ""), 200, "{}")
		h.Want(h.Do("GET", "/v1/sql?sql=select+1", ""), 503, "Too many connections")
	}
	answersAnother(h, "/v1/sql?sql=select+1")
}

// answersAnother holds that a client of another address is answered.
func answersAnother(h *servertest.House, path string) {
	h.Helper()
	other := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := other.Dial("tcp", h.Addr)
	if err != nil {
		h.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		h.Fatalf("another address: %v", err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
		h.Errorf("another address: %d %s %v", resp.StatusCode, body, err)
	}
}

// TestHealthInAFlood: where connections of one address come faster than those that gave way to them end, others are
// answered.
func TestHealthInAFlood(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.MaxConnections, o.MaxPerAddress = 1, 1 })
	var flood sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		flood.Go(func() {
			for {
				var silent []net.Conn
				for range 200 {
					c, err := net.Dial("tcp", h.Addr)
					if err != nil {
						t.Error(err)
						break
					}
					fmt.Fprint(c, "GET /v1/sql HTTP/1.1\r\nHost:")
					silent = append(silent, c)
				}
				for _, c := range silent {
					c.Close()
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for range 50 {
		answersAnother(h, "/health")
	}
	close(over)
	flood.Wait()
}

func TestPanicIsAnAnswer(t *testing.T) {
	h := servertest.Open(t, nil)
	h.Answers.Run = func(context.Context, parse.Statement) (*sqlexec.Result, error) { panic("the sky falls") }
	a := h.Do("GET", "/v1/sql?sql=select+1", "")
	h.Want(a, 500, `{"code":1003,"error":"Internal error: 1003"`)
	if strings.Contains(a.Body, "sky") {
		t.Errorf("the panic's text reached the client: %s", a.Body)
	}
	h.Answers.Run = nil
	h.Want(h.Do("GET", "/v1/sql?sql=select+1", ""), 200, "records")
}

func TestTimeLimit(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.Timeout = time.Hour })
	h.Answers.Run = func(ctx context.Context, _ parse.Statement) (*sqlexec.Result, error) {
		<-ctx.Done()
		return nil, status.Wrap(ctx.Err(), status.Cancelled, "ended")
	}
	a := h.Do("GET", "/v1/sql?sql=select+1", "", "x-service-timeout", "20ms")
	if a.Status != 408 || a.Body != "" {
		t.Errorf("got %d %q, want 408 without a body", a.Status, a.Body)
	}
}

func TestClientThatLeaves(t *testing.T) {
	h := servertest.Open(t, nil)
	begun, ended := make(chan struct{}), make(chan error, 1)
	h.Answers.Run = func(ctx context.Context, _ parse.Statement) (*sqlexec.Result, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	c, err := net.Dial("tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /v1/sql?sql=select+1 HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	c.Close()
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		t.Fatal("the query goes on although its client left")
	}
}

func TestShutdownDoesNotWaitForConnections(t *testing.T) {
	h := servertest.Open(t, nil)
	begun, finish := make(chan struct{}), make(chan struct{})
	h.Answers.Run = func(context.Context, parse.Statement) (*sqlexec.Result, error) {
		close(begun)
		<-finish
		return servertest.One(1), nil
	}
	var conns []net.Conn
	for _, send := range []string{
		"",                         // says nothing
		"GET /health HTTP/1.1\r\n", // half a header
		"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", // kept alive after its answer
		// a body that never ends
		"POST /v1/ingest?table=t&pipeline_name=p HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf",
	} {
		c, err := net.Dial("tcp", h.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(send)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	buf := make([]byte, 4096)
	if _, err := conns[2].Read(buf); err != nil {
		t.Fatal(err)
	}
	answered := make(chan servertest.Answer, 1)
	go func() { answered <- h.Do("GET", "/v1/sql?sql=select+1", "") }()
	<-begun
	stopped := make(chan error, 1)
	start := time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		stopped <- h.Server.Shutdown(ctx)
	}()
	for !h.Server.Draining() {
		runtime.Gosched()
	}
	close(finish)
	if a := <-answered; a.Status != 200 {
		t.Errorf("the request in hand got %d %s", a.Status, a.Body)
	}
	<-stopped
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("shutting down took %v", took)
	}
}

func TestTooManyConnections(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.MaxConnections = 2 })
	for range 2 {
		c, err := net.Dial("tcp", h.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := c.Read(make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	h.Want(h.Do("GET", "/health", ""), 200, "{}")
	h.Want(h.Do("GET", "/v1/sql?sql=select+1", ""), 503, "Too many connections")
}

func TestStatusNamesDamage(t *testing.T) {
	h := servertest.Open(t, nil)
	h.Want(h.Do("GET", "/status", ""), 200,
		`"damaged":[{"file":"part-7","reason":"checksum"}],"tables_aside":[{"table":"service_private.views.aside-1","reason":"the table has no column ts"}]`)
}

func TestMetricsCountRequests(t *testing.T) {
	h := servertest.Open(t, nil)
	h.Do("GET", "/v1/sql?sql=select+1", "")
	h.Do("GET", "/wp-admin.php", "")
	a := h.Do("GET", "/metrics", "")
	for _, line := range []string{
		`varve_http_requests_total{method="GET",path="/v1/sql",status="200"} 1`,
		`varve_http_requests_total{method="GET",path="other",status="404"} 1`,
		`varve_sql_statements_total{kind="Select",outcome="ok"} 1`, "go_goroutines", "# HELP", "# TYPE",
	} {
		h.Want(a, 200, line)
	}
}

func TestLogLevel(t *testing.T) {
	h := servertest.Open(t, nil)
	h.Want(h.Do("POST", "/debug/log_level", "debug"), 200, "Log Level changed from info to debug")
	h.Want(h.Do("POST", "/debug/log_level", "loud"), 400, "Invalid request parameter: Invalid filter")
	h.Want(h.Do("POST", "/debug/log_level", strings.Repeat("x", 5000)), 413, "length limit exceeded")
}

func TestProfiles(t *testing.T) {
	h := servertest.Open(t, nil)
	h.Want(h.Do("POST", "/debug/prof/mem", ""), 200, "function")
	h.Want(h.Do("POST", "/debug/prof/mem?output=flamegraph", ""), 200, "<svg")
	h.Want(h.Do("POST", "/debug/prof/mem?output=png", ""), 400, "Failed to deserialize query string")
	h.Want(h.Do("GET", "/debug/prof/mem/status", ""), 200, `{"active": true}`)
	h.Want(h.Do("POST", "/debug/prof/cpu?seconds=0", ""), 400, "Failed to deserialize query string")
	h.Want(h.Do("POST", "/debug/prof/cpu?seconds=61", ""), 400, "Failed to deserialize query string")
	h.Want(h.Do("POST", "/debug/prof/cpu?frequency=0", ""), 400, "Failed to deserialize query string")
	ctx, leave := context.WithCancel(t.Context())
	both := make(chan int, 2)
	for range 2 {
		go func() { both <- profile(h, ctx) }()
	}
	if first := <-both; first != 409 { // the other is not over: it lasts until its client leaves
		t.Errorf("a profile beside another: %d, want 409", first)
	}
	leave()
	<-both
	h.Eventually(func() bool {
		a := h.Do("POST", "/debug/prof/cpu?seconds=1&output=text", "")
		return a.Status == 200 && strings.Contains(a.Body, "flat")
	})
	h.Want(h.Do("POST", "/debug/prof/cpu?seconds=1&output=flamegraph", ""), 200, "<svg")
}

// profile asks for a profile of a minute and gives the status of the answer; 0: the client left before.
func profile(h *servertest.House, ctx context.Context) (status int) {
	r, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/debug/prof/cpu?seconds=60", nil)
	if err != nil {
		h.Error(err)
		return 0
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}
