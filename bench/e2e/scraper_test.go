package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/bench/client"
	"varve/bench/fleet"
	"varve/bench/process"
)

// stockScraper is a real scraper and server of metrics: the Debian package prometheus.
const stockScraper = "/usr/bin/prometheus"

// needScraper returns the scraper's program. Where there is none the test says so and is done; where
// VARVE_NEED_PROMETHEUS is set there has to be one.
func needScraper(t *testing.T) (binary string, ok bool) {
	t.Helper()
	binary, err := exec.LookPath(stockScraper)
	if err == nil {
		return binary, true
	}
	if os.Getenv("VARVE_NEED_PROMETHEUS") != "" {
		t.Fatal(err)
	}
	t.Logf("not compared with a real scraper: %v", err)
	return "", false
}

// The exporter's samples: as many scrapes as an hour has at 15 s, as densely as they fit between when a scraper has
// started, since it sends nothing that is older, and the ten minutes that it takes of the future.
const (
	scrapes    = 240
	scrapeStep = 2250 * time.Millisecond
	startsIn   = 30 * time.Second
)

// exporter exposes all scrapes at once, each sample with its time.
type exporter struct {
	start int64 // ms
	text  string
}

func newExporter(start time.Time) *exporter {
	// no sample lies on a step of a query: the scraper's windows are closed at both ends
	e := &exporter{start: start.Add(startsIn).UnixMilli()/15_000*15_000 + 137}
	var b strings.Builder
	family := func(name, kind, help string, series ...func(i int) (labels string, v float64)) {
		fmt.Fprintf(&b, "# TYPE %s %s\n# HELP %s %s\n", name, kind, name, help)
		for _, f := range series {
			for i := range scrapes {
				suffix, v := f(i)
				fmt.Fprintf(&b, "%s%s %s %.3f", name, suffix, strconv.FormatFloat(v, 'g', -1, 64),
					float64(e.at(i))/1000)
				if strings.Contains(suffix, `le="0.5"`) && i%40 == 0 {
					fmt.Fprintf(&b, " # {trace_id=\"t%d\"} 0.25 %.3f", i, float64(e.at(i))/1000)
				}
				b.WriteByte('\n')
			}
		}
	}
	counter := func(labels string, rate float64, reset int) func(i int) (string, float64) {
		return func(i int) (string, float64) {
			return "_total{" + labels + "}", math.Floor(rate * float64(i%reset) * 15)
		}
	}
	gauge := func(labels string, middle float64) func(i int) (string, float64) {
		return func(i int) (string, float64) {
			return "{" + labels + "}", middle * (1 + math.Sin(float64(i)/9)/3)
		}
	}
	family("work_done", "counter", "What was done.", counter(`shop="a",kind="x"`, 3.5, scrapes),
		counter(`shop="a",kind="y"`, 0.7, 100), counter(`shop="b",kind="x"`, 90, 77))
	family("room_free", "gauge", "What is free.", gauge(`shop="a"`, 1e9), gauge(`shop="b"`, 12.5),
		gauge(`shop="ü \"q\""`, -3))
	bucket := func(le string, rate float64) func(i int) (string, float64) {
		return func(i int) (string, float64) { return `_bucket{le="` + le + `"}`, math.Floor(rate * float64(i)) }
	}
	family("wait_seconds", "histogram", "How long it took.", bucket("0.1", 3), bucket("0.5", 7), bucket("2.5", 9),
		bucket("+Inf", 9.5),
		func(i int) (string, float64) { return "_sum", 4.25 * float64(i) },
		func(i int) (string, float64) { return "_count", math.Floor(9.5 * float64(i)) })
	b.WriteString("# EOF\n")
	e.text = b.String()
	return e
}

// at is the time of a scrape, ms.
func (e *exporter) at(i int) int64 { return e.start + int64(i)*scrapeStep.Milliseconds() }

func (e *exporter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	if _, err := io.WriteString(w, e.text); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// scraperConfig lets a scraper scrape the exporter, once a second, and us, and write all to us.
func scraperConfig(ours, exporter, db, more string) string {
	host := func(u string) string { return strings.TrimPrefix(u, "http://") }
	return fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, external_labels: {}}
scrape_configs:
  - {job_name: shops, static_configs: [{targets: ['%s']}]}
  - {job_name: store, static_configs: [{targets: ['%s']}]}
remote_write:
  - url: '%s/v1/metricsapi/write?db=%s'
    send_exemplars: true
    metadata_config: {send_interval: 1s}
    queue_config: {batch_send_deadline: 100ms}
%s`, host(exporter), host(ours), ours, db, more)
}

// metricAnswer asks an endpoint of the metrics API below base.
func metricAnswer(t *testing.T, base, path string, values url.Values, into any) {
	t.Helper()
	b, err := fetch(t, base+"/api/v1/"+path+"?"+values.Encode())
	if err != nil {
		t.Fatalf("%s %v: %v", path, values, err)
	}
	var out struct{ Data json.RawMessage }
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%s: %v in %.300s", path, err, b)
	}
	if err := json.Unmarshal(out.Data, into); err != nil {
		t.Fatalf("%s: %v in %.300s", path, err, b)
	}
}

func fetch(t *testing.T, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// series is a series of an answer.
type series struct {
	Metric map[string]string
	Value  [2]any
	Values [][2]any
}

// asked is the value of an expression, each series as a line; numbers are rounded to what two ways of adding may differ
// by.
func asked(t *testing.T, base, expr string, e *exporter, step time.Duration) []string {
	t.Helper()
	values := url.Values{"query": {expr}, "start": {fmt.Sprint(e.start/1000 + 60)},
		"end": {fmt.Sprint(e.at(scrapes-1)/1000 + 10)}, "step": {fmt.Sprint(step.Seconds())}}
	var out struct{ Result []series }
	metricAnswer(t, base, "query_range", values, &out)
	var lines []string
	for _, s := range out.Result {
		name, err := json.Marshal(s.Metric)
		if err != nil {
			t.Fatal(err)
		}
		line := string(name)
		for _, p := range s.Values {
			v, err := strconv.ParseFloat(p[1].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %.0f:%.9g", p[0], v)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// waitFor asks for a number until it is what is wanted.
func waitFor(t *testing.T, base, expr string, at, want int64) {
	t.Helper()
	limit := time.After(askLimit)
	for {
		var out struct{ Result []series }
		metricAnswer(t, base, "query", url.Values{"query": {expr}, "time": {fmt.Sprint(at)}}, &out)
		got := "nothing"
		if len(out.Result) == 1 {
			if got = fmt.Sprint(out.Result[0].Value[1]); got == fmt.Sprint(want) {
				return
			}
		}
		select {
		case <-limit:
			t.Fatalf("%s is %s at %s, want %d", expr, got, base, want)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// scraperQueries are asked of the scraper and of us.
var scraperQueries = []string{
	`work_done_total`, `room_free{shop=~"a|.*q.*"}`, `rate(work_done_total[1m])`,
	`sum by (shop) (increase(work_done_total[2m]))`, `irate(work_done_total{kind!="y"}[30s])`,
	`histogram_quantile(0.9, sum by (le) (rate(wait_seconds_bucket[1m])))`, `avg_over_time(room_free[90s])`,
	`quantile_over_time(0.3, room_free[1m])`,
	`stddev_over_time(room_free[1m])`, `deriv(room_free[1m])`, `predict_linear(room_free[1m], 600)`,
	`resets(work_done_total[3m])`, `changes(room_free[1m])`,
	`room_free / on (shop) group_left sum by (shop) (work_done_total)`, `topk(1, rate(work_done_total[1m]))`,
	`count_values("v", floor(room_free{shop="b"}))`,
	`max_over_time(rate(work_done_total[30s])[119500ms:15s])`, `room_free offset 45s`, `absent(room_free{shop="c"})`,
	`label_replace(room_free, "first", "$1", "shop", "(.).*")`,
	`wait_seconds_sum / wait_seconds_count`, `count({job="shops", __name__=~"work.*|room.*|wait.*"})`,
	`stdvar(room_free) > 5 or vector(1)`,
}

// TestRealScraper: a real scraper scrapes an exporter and us, writes all to us and reads from us; what it answers of an
// hour of scrapes, we answer too.
func TestRealScraper(t *testing.T) {
	binary, ok := needScraper(t)
	if !ok {
		return
	}
	s := start(t, t.TempDir())
	e := newExporter(time.Now())
	web := httptest.NewServer(e)
	defer web.Close()
	ours := s.URL + "/v1/metricsapi"
	writeOnlyHere(t, s, e)
	dir := t.TempDir()
	stock, err := process.Stock(t.Context(), binary, dir, scraperConfig(s.URL, web.URL, "public",
		fmt.Sprintf("remote_read:\n  - {url: '%s/read', read_recent: true, required_matchers: {source: varve}}\n",
			ours)),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--enable-feature=exemplar-storage")
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, stock)
	last := e.at(scrapes-1)/1000 + 1
	for _, base := range []string{stock.URL, ours} {
		waitFor(t, base, `sum(count_over_time(work_done_total[1h]))`, last, 3*scrapes)
		waitFor(t, base, `sum(count_over_time(wait_seconds_count[1h]))`, last, scrapes)
	}
	for _, q := range scraperQueries {
		want, got := asked(t, stock.URL, q, e, 15*time.Second), asked(t, ours, q, e, 15*time.Second)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nthe scraper says\n%s", q, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	now := time.Now().Unix()
	waitFor(t, ours, `count(last_over_time(varve_rows_written_total{job="store"}[1m]) > 0)`, now+5, 1)
	waitFor(t, ours, `count(last_over_time(up[1m]) == 1)`, now+5, 2)

	// What only we have, the scraper reads from us: the series sampled and in chunks is the same.
	for _, q := range []string{`only_here{source="varve"}`, `sum(rate(only_here{source="varve"}[1m]))`} {
		want, got := asked(t, ours, q, e, 15*time.Second), asked(t, stock.URL, q, e, 15*time.Second)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s read from us:\n%s\nwe say\n%s", q, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	checkExemplars(t, stock.URL, ours, e)
	checkMetadata(t, ours)
	agrees(t, stock.URL, ours, "labels", url.Values{"match[]": {`{job="shops"}`}})
	agrees(t, stock.URL, ours, "label/shop/values", nil)
}

// writeOnlyHere writes a metric to us that the scraper does not know.
func writeOnlyHere(t *testing.T, s *process.Server, e *exporter) {
	t.Helper()
	labels := fleet.Labels("__name__", "only_here", "source", "varve")
	var message []byte
	for i := range scrapes {
		message = fleet.AppendSeries(message, labels, float64(i*i), e.at(i))
	}
	conn, err := client.Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	code, answer, err := conn.Post("/v1/metricsapi/write", "application/x-protobuf", "Content-Encoding: snappy\r\n",
		fleet.Compress(nil, message), time.Now().Add(askLimit))
	if err != nil || code != 204 {
		t.Fatalf("remote write: %d %s, %v", code, answer, err)
	}
}

// checkExemplars compares the exemplars of both.
func checkExemplars(t *testing.T, stock, ours string, e *exporter) {
	t.Helper()
	values := url.Values{"query": {"wait_seconds_bucket"}, "start": {fmt.Sprint(e.start / 1000)},
		"end": {fmt.Sprint(e.at(scrapes) / 1000)}}
	limit := time.After(askLimit)
	for {
		var want, got []any
		metricAnswer(t, stock, "query_exemplars", values, &want)
		metricAnswer(t, ours, "query_exemplars", values, &got)
		if len(want) == 1 && fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		select {
		case <-limit:
			t.Fatalf("exemplars\n%v\nthe scraper says\n%v", got, want)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// checkMetadata: what the exporter says of its metrics arrives.
func checkMetadata(t *testing.T, ours string) {
	t.Helper()
	limit := time.After(askLimit)
	for {
		var got map[string][]struct{ Type, Help string }
		metricAnswer(t, ours, "metadata", url.Values{"metric": {"room_free"}}, &got)
		if fmt.Sprint(got) == "map[room_free:[{gauge What is free.}]]" {
			return
		}
		select {
		case <-limit:
			t.Fatalf("metadata %v", got)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// agrees compares a list of both.
func agrees(t *testing.T, stock, ours, path string, values url.Values) {
	t.Helper()
	var want, got []string
	metricAnswer(t, stock, path, values, &want)
	metricAnswer(t, ours, path, values, &got)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s: %v, the scraper says %v", path, got, want)
	}
}

// TestRealAgent: the same program as an agent, which keeps nothing itself.
func TestRealAgent(t *testing.T) {
	binary, ok := needScraper(t)
	if !ok {
		return
	}
	s := start(t, t.TempDir())
	e := newExporter(time.Now())
	web := httptest.NewServer(e)
	defer web.Close()
	dir := t.TempDir()
	agent, err := process.Stock(t.Context(), binary, dir, scraperConfig(s.URL, web.URL, "public", ""),
		"--enable-feature=agent", "--storage.agent.path="+filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, agent)
	ours := s.URL + "/v1/metricsapi"
	waitFor(t, ours, `sum(count_over_time(work_done_total[1h]))`, e.at(scrapes-1)/1000+1, 3*scrapes)
	waitFor(t, ours, `count(last_over_time(up[1m]) == 1)`, time.Now().Unix()+5, 2)
}

// end stops a scraper.
func end(t *testing.T, s *process.Server) {
	t.Helper()
	if err := s.Stop(stopLimit); err != nil {
		t.Error(err)
	}
}
