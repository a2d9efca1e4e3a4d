package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.yaml.in/yaml/v3"

	"varve/bench/fleet"
	"varve/bench/process"
)

// A board is a dashboard of Grafana, as far as it asks for data.
type board struct {
	Title      string
	Templating struct{ List []variable }
	Panels     []panel
}

type panel struct {
	Title   string
	Type    string
	Targets []target
}

type variable struct {
	Name       string
	Multi      bool
	Datasource source
	Query      any // a text, or an object that has it
}

type source struct{ Type, UID string }

type target struct {
	Datasource   source
	Expr, RawSQL string
	Instant      bool
	Format       string
}

// askedBy asks as the back end of Grafana does, for what its panels show at a time.
type askedBy struct {
	*testing.T
	url    string
	pg     *pgx.Conn
	now    time.Time
	values map[string][]string // of variables
	multi  map[string]bool
}

// TestDashboardsOfGrafana: each variable and each query of the dashboards in docs/connect has an answer with rows. They
// are asked as Grafana asks, of a server with access logs, metrics of hosts, and its own.
func TestDashboardsOfGrafana(t *testing.T) {
	addr, err := process.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	s := launch(t, process.Options{Dir: t.TempDir(), Args: []string{"--pg-addr", addr}})
	pg, err := pgx.Connect(t.Context(), "postgres://ann@"+addr+"/public?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Close(t.Context()) }) // the server is killed anyway
	a := &askedBy{T: t, url: s.URL, pg: pg, now: time.Now().Truncate(time.Second)}
	a.sendVisits()
	a.sendHosts()
	a.sendOwn()

	sources := provisioned(t)
	names, err := filepath.Glob(filepath.Join(root, "docs/connect/*.json"))
	if err != nil || len(names) != 3 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		var b board
		if err := json.Unmarshal([]byte(read(t, strings.TrimPrefix(name, root+"/"))), &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a.values, a.multi = map[string][]string{}, map[string]bool{}
		for _, v := range b.Templating.List {
			if sources[v.Datasource.UID] != v.Datasource.Type {
				t.Errorf("%s, variable %s: no such source %+v", b.Title, v.Name, v.Datasource)
			}
			a.multi[v.Name] = v.Multi
			if a.values[v.Name] = a.variable(v); len(a.values[v.Name]) == 0 {
				t.Fatalf("%s: variable %s has no values", b.Title, v.Name)
			}
		}
		asked := 0
		for _, p := range b.Panels {
			for _, q := range p.Targets {
				if asked++; sources[q.Datasource.UID] != q.Datasource.Type {
					t.Errorf("%s, %s: no such source %+v", b.Title, p.Title, q.Datasource)
				}
				if err := a.ask(q); err != nil {
					t.Errorf("%s, panel %q: %s%s: %v", b.Title, p.Title, q.Expr, q.RawSQL, err)
				}
			}
		}
		if asked < 10 {
			t.Errorf("%s asks %d times", b.Title, asked)
		}
	}
}

// provisioned are the types of the sources that docs/connect/grafana.md has Grafana know, by their ids.
func provisioned(t *testing.T) map[string]string {
	t.Helper()
	types := map[string]string{}
	for _, block := range fence.FindAllStringSubmatch(read(t, "docs/connect/grafana.md"), -1) {
		var file struct {
			Datasources []struct{ Name, Type, UID, URL string }
		}
		if block[1] != "yaml" {
			continue
		}
		if err := yaml.Unmarshal([]byte(block[2]), &file); err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Datasources {
			if d.Name == "" || d.URL == "" || types[d.UID] != "" {
				t.Errorf("source %+v", d)
			}
			types[d.UID] = d.Type
		}
	}
	return types
}

// sendVisits sends an hour of access logs.
func (a *askedBy) sendVisits() {
	a.Helper()
	a.post("/v1/pipelines/access", "application/x-yaml", read(a.T, "docs/pipelines/access.yaml"))
	var lines strings.Builder
	for i := range 360 {
		at := a.now.Add(time.Duration(i-360) * 10 * time.Second).UTC().Format("02/Jan/2006:15:04:05 -0700")
		fmt.Fprintf(&lines, "10.0.0.%d - - [%s] \"%s /p%d HTTP/1.1\" %d %d \"%s\" \"agent/%d\"\n", i%7, at,
			[]string{"GET", "POST"}[i%2], i%5, []int{200, 200, 404, 502}[i%4], 100*i,
			[]string{"-", "http://shop.example/"}[i%2], i%3)
	}
	a.post("/v1/ingest?table=web_visits&pipeline_name=access", "text/plain", lines.String())
}

// sendHosts sends ten minutes of what the usual exporter says of two hosts.
func (a *askedBy) sendHosts() {
	a.Helper()
	var message []byte
	for step := range 41 {
		ms, x := a.now.Add(time.Duration(step-40)*15*time.Second).UnixMilli(), float64(step)
		for _, host := range []string{"web-1:9100", "web-2:9100"} {
			add := func(name string, v float64, labels ...string) {
				message = fleet.AppendSeries(message, fleet.Labels(append(labels, "__name__", name, "job", "node",
					"instance", host)...), v, ms)
			}
			add("up", 1)
			add("node_uname_info", 1, "nodename", host[:5], "release", "6.1", "domainname", "(none)", "version", "1")
			add("node_boot_time_seconds", float64(a.now.Unix()-86400))
			add("node_load1", 1.5)
			for i, mode := range []string{"idle", "user", "system"} {
				add("node_cpu_seconds_total", x*float64(5-i), "cpu", "0", "mode", mode)
			}
			add("node_memory_MemTotal_bytes", 8<<30)
			add("node_memory_MemAvailable_bytes", 3<<30)
			for _, name := range []string{"node_filesystem_size_bytes", "node_filesystem_avail_bytes"} {
				add(name, 1e11-x*1e6, "mountpoint", "/", "device", "/dev/sda1", "fstype", "ext4")
			}
			for _, name := range []string{"io_time_seconds", "read_bytes", "written_bytes"} {
				add("node_disk_"+name+"_total", x, "device", "sda")
			}
			for _, name := range []string{"receive_bytes", "transmit_bytes", "receive_errs", "transmit_errs"} {
				add("node_network_"+name+"_total", 100*x, "device", "eth0")
			}
		}
	}
	a.write(message)
}

// exposed finds the samples of an exposition in text.
var exposed = regexp.MustCompile(`(?m)^([a-z]\w*)(?:\{(.*)\})? (\S+)$`)

// pair finds a label and its value.
var pair = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)

// sendOwn sends what the server says of itself, as of 30 seconds ago and of now, with work in between.
func (a *askedBy) sendOwn() {
	a.Helper()
	for i := range 2 {
		a.get("/v1/sql?sql=" + url.QueryEscape("SELECT count(*) FROM web_visits"))
		if resp, err := http.Get(a.url + "/v1/sql?sql=nonsense"); err != nil {
			a.Fatal(err)
		} else if err := resp.Body.Close(); err != nil {
			a.Fatal(err)
		}
		a.post("/v1/ingest?table=some&pipeline_name=service_identity", "application/json", `[{"a":1}]`)
		var message []byte
		ms := a.now.Add(time.Duration(i-1) * 30 * time.Second).UnixMilli()
		own := []string{"job", "varve", "instance", "127.0.0.1:4000"}
		for _, m := range exposed.FindAllStringSubmatch(a.get("/metrics"), -1) {
			v, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				a.Fatalf("%q: %v", m[0], err)
			}
			labels := slices.Concat(own, []string{"__name__", m[1]})
			for _, l := range pair.FindAllStringSubmatch(m[2], -1) {
				labels = append(labels, l[1], l[2])
			}
			message = fleet.AppendSeries(message, fleet.Labels(labels...), v, ms)
		}
		message = fleet.AppendSeries(message, fleet.Labels(append(own, "__name__", "up")...), 1, ms)
		a.write(message)
	}
}

// variable are the values that a variable offers.
func (a *askedBy) variable(v variable) (values []string) {
	a.Helper()
	text, ok := v.Query.(string)
	if ok {
		rows := a.sql(text)
		for _, row := range rows.Rows {
			values = append(values, string(row[0]))
		}
		return values
	}
	text, _ = v.Query.(map[string]any)["query"].(string)
	m := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(a.filled(text))
	if m == nil {
		a.Fatalf("variable %s: %q", v.Name, text)
	}
	var out struct{ Data []string }
	a.decode(a.get("/v1/metricsapi/api/v1/label/"+m[2]+"/values?"+url.Values{"match[]": {m[1]},
		"start": {a.seconds(-time.Hour)}, "end": {a.seconds(0)}}.Encode()), &out)
	return out.Data
}

// filled puts values in the place of variables, all that there are.
func (a *askedBy) filled(text string) string {
	for _, fixed := range [][2]string{{"$__rate_interval", "1m"}, {"$__interval", "15s"}, {"$__auto", "15s"}} {
		text = strings.ReplaceAll(text, fixed[0], fixed[1])
	}
	for name, values := range a.values {
		value := values[0]
		if a.multi[name] {
			value = "(" + strings.Join(values, "|") + ")"
		}
		text = strings.ReplaceAll(text, "$"+name, value)
	}
	return text
}

// ask asks for what a panel shows, and says what is wrong with the answer.
func (a *askedBy) ask(q target) error {
	a.Helper()
	switch {
	case q.RawSQL != "":
		result := a.sql(q.RawSQL)
		if len(result.Rows) == 0 {
			return fmt.Errorf("no rows")
		}
		if named := result.FieldDescriptions[0].Name; q.Format == "time_series" && named != "time" {
			return fmt.Errorf("column %q is no time", named)
		}
		return nil
	case q.Datasource.Type == "loki":
		return numbers(a.form("/v1/logpush/loki/api/v1/query_range", url.Values{"query": {a.filled(q.Expr)},
			"step": {"15000ms"}, "direction": {"backward"}, "limit": {"1000"},
			"start": {a.seconds(-time.Hour) + "000000000"}, "end": {a.seconds(0) + "000000000"}}))
	case q.Instant:
		return numbers(a.form("/v1/metricsapi/api/v1/query", url.Values{"query": {a.filled(q.Expr)},
			"time": {a.seconds(0)}}))
	}
	return numbers(a.form("/v1/metricsapi/api/v1/query_range", url.Values{"query": {a.filled(q.Expr)},
		"start": {a.seconds(-time.Hour)}, "end": {a.seconds(0)}, "step": {"15"}}))
}

// numbers wants an answer of metrics or logs with at least one line, or number that is one.
func numbers(body string) error {
	var out struct {
		Data struct {
			ResultType string
			Result     []struct {
				Value  []any
				Values [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	for _, r := range out.Data.Result {
		for _, point := range append(r.Values, r.Value) {
			if len(point) < 2 {
				continue
			}
			text, _ := point[1].(string)
			if v, err := strconv.ParseFloat(text, 64); out.Data.ResultType == "streams" && text != "" ||
				err == nil && !math.IsNaN(v) {
				return nil
			}
		}
	}
	return fmt.Errorf("no number in %.300s", body)
}

// macro finds the macros of SQL that the dashboards use.
var macro = regexp.MustCompile(`\$__(\w+)\(([^)]*)\)`)

// sql sends a statement with its macros expanded; variables of several values are lists of literals.
func (a *askedBy) sql(text string) *pgconn.Result {
	a.Helper()
	for name, values := range a.values {
		text = strings.ReplaceAll(text, "$"+name, "'"+strings.Join(values, "','")+"'")
	}
	text = strings.ReplaceAll(text, "$__interval", "15s")
	text = macro.ReplaceAllStringFunc(text, func(whole string) string {
		m := macro.FindStringSubmatch(whole)
		column, _, _ := strings.Cut(m[2], ",")
		switch m[1] {
		case "timeFilter":
			return fmt.Sprintf("%s BETWEEN '%s' AND '%s'", column, a.now.Add(-time.Hour).UTC().Format(time.RFC3339Nano),
				a.now.UTC().Format(time.RFC3339Nano))
		case "timeGroupAlias":
			return fmt.Sprintf(`floor(extract(epoch from %s)/15)*15 AS "time"`, column)
		}
		a.Fatalf("macro %s", whole)
		return ""
	})
	results, err := a.pg.PgConn().Exec(a.Context(), text).ReadAll()
	if err != nil || len(results) != 1 {
		a.Fatalf("%s: %v", text, err)
	}
	return results[0]
}

// seconds is a time beside now as a number of seconds.
func (a *askedBy) seconds(beside time.Duration) string {
	return strconv.FormatInt(a.now.Add(beside).Unix(), 10)
}

// write sends a message of remote write.
func (a *askedBy) write(message []byte) {
	a.Helper()
	a.post("/v1/metricsapi/write", "application/x-protobuf", string(fleet.Compress(nil, message)))
}

func (a *askedBy) form(path string, v url.Values) string {
	a.Helper()
	return a.post(path, "application/x-www-form-urlencoded", v.Encode())
}

// post sends a body and gives that of the answer, which has to be a good one.
func (a *askedBy) post(path, kind, body string) string {
	a.Helper()
	return a.good(http.Post(a.url+path, kind, strings.NewReader(body)))
}

func (a *askedBy) get(path string) string {
	a.Helper()
	return a.good(http.Get(a.url + path))
}

func (a *askedBy) good(resp *http.Response, err error) string {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		a.Fatal(err)
	}
	if err != nil || resp.StatusCode/100 != 2 {
		a.Fatalf("%s: %d %s, %v", resp.Request.URL.Path, resp.StatusCode, body, err)
	}
	return string(body)
}

func (a *askedBy) decode(body string, to any) {
	a.Helper()
	if err := json.Unmarshal([]byte(body), to); err != nil {
		a.Fatalf("%v: %s", err, body)
	}
}
