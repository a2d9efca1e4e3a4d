package write_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestNPMClients runs clients of other makers, written for Node, against a server and reads back what they sent. They
// are installed by .ci/run under the folder that VARVE_NPM names, by testdata/clients/package-lock.json. Where they are
// not, the test says so and is done; where VARVE_NEED_NPM is set they have to be there.
func TestNPMClients(t *testing.T) {
	node := npm(t)
	if node == nil {
		return
	}
	for _, c := range []struct{ script, query, want string }{
		{"winston-loki.js",
			`SELECT count(*), count(CASE WHEN app = 'w' AND env = 'te st' AND line LIKE 'line % "quoted" é%' THEN 1 END), min(shard), max(level) FROM winston_proto`, "[[50 50 s0 warn]]"},
		{"winston-loki.js",
			`SELECT count(*), count(CASE WHEN app = 'w' AND env = 'te st' THEN 1 END), min(shard), max(level) FROM winston_json`, "[[50 50 s0 warn]]"},
		{"pino-loki.js",
			`SELECT count(*), count(DISTINCT json_get_string(structured_metadata, 'req')), min(shard), max(level) FROM pino_lines WHERE app = 'p'`, "[[50 50 s0 info]]"},
		{"elasticsearch.js",
			`SELECT count(*), sum(n), count(DISTINCT "ctx.user"), count(CASE WHEN "ctx.ok" THEN 1 END) FROM es_docs`,
			"[[100 4950 7 50]]"},
		{"influx.js",
			`SELECT count(*), sum(f), count(DISTINCT host), count(CASE WHEN note = 'a b,c=d' AND s LIKE 'say "hi"%' THEN 1 END) FROM influx_v1`, "[[100 5000 4 100]]"},
		{"influxdb-client.js", `SELECT count(*), sum(f), sum(i), count(CASE WHEN b THEN 1 END) FROM influx_v2`,
			"[[100 5000 4950 50]]"},
		{"splunk-logging.js",
			`SELECT count(*), sum("event.message.n"), count(DISTINCT host), max("event.severity") FROM events WHERE source = 's' AND sourcetype = 't'`, "[[50 1225 2 info]]"},
	} {
		t.Run(c.script, func(t *testing.T) {
			h := servertest.Real(t, nil)
			node(t, c.script, "BASE="+h.URL)
			if got := fmt.Sprint(h.Selected(c.query)); got != c.want {
				t.Errorf("%s: %s, want %s", c.query, got, c.want)
			}
		})
	}
}

// npm makes what runs a script of testdata/clients with some variables; nil: there are no clients.
func npm(t *testing.T) func(t *testing.T, script string, environ ...string) {
	t.Helper()
	modules := filepath.Join(os.Getenv("VARVE_NPM"), "node_modules")
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(modules, "winston"))
	}
	if os.Getenv("VARVE_NPM") == "" || err != nil {
		if os.Getenv("VARVE_NEED_NPM") != "" {
			t.Fatalf("the clients from npm are missing: VARVE_NPM is %q, %v", os.Getenv("VARVE_NPM"), err)
		}
		t.Log("the clients from npm are missing: nothing is sent by them")
		return nil
	}
	return func(t *testing.T, script string, environ ...string) {
		t.Helper()
		run := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "clients", script))
		run.Env = append(append(os.Environ(), "NODE_PATH="+modules, "NODE_NO_WARNINGS=1"), environ...)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// TestNPMForward does the same with a client of the forward protocol, which waits for its answers and wants the server
// to know the shared key.
func TestNPMForward(t *testing.T) {
	node := npm(t)
	if node == nil {
		return
	}
	h := servertest.Real(t, func(o *server.Options) { o.Forward.SharedKey = "a shared key" })
	ln := h.Listen()
	h.Serving(func() error { return h.Server.ServeForward(ln) })
	node(t, "fluent-logger.js", fmt.Sprintf("FORWARD_PORT=%d", ln.Addr().(*net.TCPAddr).Port),
		"FORWARD_KEY=a shared key")
	h.Holds(`SELECT count(*), count(DISTINCT mode), sum(n), min("nested.list"), max("nested.text") FROM "app.orders"`,
		"[[100 4 1200 [1,null] é]]")
}

// TestNPMOpenTelemetry does the same with the SDK of OpenTelemetry, in both encodings over HTTP and over gRPC.
func TestNPMOpenTelemetry(t *testing.T) {
	node := npm(t)
	if node == nil {
		return
	}
	for _, protocol := range []string{"http", "proto", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			h := servertest.Real(t, nil)
			endpoint := h.URL + "/v1/otlp"
			if protocol == "grpc" {
				endpoint = "http://" + h.Calls()
			}
			node(t, "opentelemetry.js", "PROTOCOL="+protocol, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
			h.Holds(
				`SELECT count(*), count(DISTINCT span_id), sum("span_attributes.i"), min(service_name) FROM opentelemetry_traces`, "[[100 100 1225 shop]]")
			h.Holds(`SELECT span_name, span_kind FROM opentelemetry_traces_operations ORDER BY span_name`,
				"[[inner SPAN_KIND_CLIENT] [outer SPAN_KIND_INTERNAL]]")
			h.Holds(
				`SELECT count(*), count(DISTINCT body), min(severity_number), count(CASE WHEN trace_id <> '' THEN 1 END), sum(json_get_int(log_attributes, 'i')) FROM opentelemetry_logs WHERE body LIKE 'line % é'`, "[[50 50 13 50 1225]]")
			h.Holds(`SELECT service_value, ok, job FROM orders_bytes_total`, "[[7 true shop]]")
		})
	}
}
