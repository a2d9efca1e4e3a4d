//go:build dashboard && browser

package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/klauspost/compress/s2"

	"varve/server/protowire"
)

// sample is a value at a time.
type sample struct {
	at    time.Time
	value float64
}

// metrics collects series for one remote write: the samples of each set of labels.
type metrics struct{ body []byte }

// add adds a series; labels are names and values in turn, in the order of their names.
func (m *metrics) add(samples []sample, labels ...string) {
	m.body = protowire.AppendMessage(m.body, 1, func(dst []byte) []byte {
		for i := 0; i < len(labels); i += 2 {
			dst = protowire.AppendMessage(dst, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		for _, one := range samples {
			dst = protowire.AppendMessage(dst, 2, func(v []byte) []byte {
				return protowire.AppendVarint(protowire.AppendDouble(v, 1, one.value), 2, uint64(one.at.UnixMilli()))
			})
		}
		return dst
	})
}

// send writes them to a server, as a user when one is given.
func (m *metrics) send(t *testing.T, s *server, user, password string) {
	t.Helper()
	r, err := http.NewRequest("POST", s.url+"/v1/metricsapi/write?db=public",
		bytes.NewReader(s2.EncodeSnappy(nil, m.body)))
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "snappy")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if text, _ := io.ReadAll(a.Body); a.StatusCode != 204 {
		t.Fatalf("%s: %s", a.Status, text)
	}
}

// shopMetrics writes counters, a histogram and a gauge of the last hour, every 15 s.
func shopMetrics(t *testing.T, s *server) {
	t.Helper()
	end := time.Now().Truncate(15 * time.Second)
	line := func(value func(i int) int) (list []sample) {
		for i := range 250 {
			list = append(list, sample{end.Add(time.Duration(i-249) * 15 * time.Second), float64(value(i))})
		}
		return list
	}
	var m metrics
	for k, of := range [][2]string{{"200", "GET"}, {"500", "GET"}, {"200", "POST"}, {"500", "POST"}} {
		m.add(line(func(i int) int { return i*(100-20*k) + i*i/10*(k+1) }), "__name__", "http_requests_total", "app",
			"shop", "code", of[0], "method", of[1])
	}
	for k, le := range []string{"0.1", "0.5", "1", "+Inf"} {
		m.add(line(func(i int) int { return i * 10 * (k + 1) }), "__name__", "http_duration_bucket", "le", le)
	}
	m.add(line(func(i int) int { return 20 + i%7 }), "__name__", "room_temperature", "host", "web-1")
	m.add(line(func(i int) int { return 24 + i%5 }), "__name__", "room_temperature", "host", "web-2")
	m.send(t, s, "", "")
}

// openMetrics opens the page with an expression.
func openMetrics(t *testing.T, s *server, query, more string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/metrics#q="+url.QueryEscape(query)+more)
	p.wait("the editor", metricsEditor)
	return p
}

const metricsEditor = `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`

// series is one of an answer.
type series struct {
	Metric map[string]string
	Values [][2]any
	Value  [2]any
}

// evaluate asks the metrics API itself.
func (s *server) evaluate(t *testing.T, path string, form url.Values) []series {
	t.Helper()
	r, err := http.PostForm(s.url+"/v1/metricsapi/api/v1/"+path+"?db=public", form)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	var answer struct{ Data struct{ Result []series } }
	if err := json.Unmarshal(text, &answer); err != nil || r.StatusCode != 200 {
		t.Fatalf("%s: %v in %s", path, err, text)
	}
	return answer.Data.Result
}

func TestD30MetricsGraph(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	end := time.Now().UTC().Truncate(time.Minute)
	fixed := "&from=" + end.Add(-30*time.Minute).Format(time.RFC3339) + "&to=" + end.Format(time.RFC3339)
	const query = "sum by (app, method, code) (rate(http_requests_total[5m]))"
	p := openMetrics(t, s, query, fixed)
	p.wait("the legend",
		`document.querySelector('.chart canvas')?.width > 0 &&
			document.querySelectorAll('.chart-legend tbody tr').length === 4`)
	if text := p.text(".facts"); !strings.Contains(text, "step 10s") {
		t.Errorf("the step is said as %q", text)
	}
	if said := p.text(".said"); !strings.Contains(said, `{app="shop"}`) {
		t.Errorf("common labels %q", said)
	}
	// The figures of the legend are those of the API's points.
	want := map[string][2]float64{}
	points := map[string]string{}
	for _, one := range s.evaluate(t, "query_range",
		url.Values{"query": {query}, "start": {strconv.FormatInt(end.Add(-30*time.Minute).Unix(), 10)},
			"end": {strconv.FormatInt(end.Unix(), 10)}, "step": {"10"}}) {
		last, _ := strconv.ParseFloat(one.Values[len(one.Values)-1][1].(string), 64)
		name := fmt.Sprintf("{code=%q, method=%q}", one.Metric["code"], one.Metric["method"])
		want[name] = [2]float64{last, float64(len(one.Values))}
		for _, v := range one.Values {
			x, _ := strconv.ParseFloat(v[1].(string), 64)
			points[name] += fmt.Sprintf("%v:%v ", v[0], x)
		}
	}
	type drawnLine struct {
		Name   string
		Points int
		Last   float64
		All    [][2]float64
	}
	lines := eval[[]drawnLine](p,
		fmt.Sprintf(
			`Promise.all(['metricsgraph', 'metricsrun'].map((n) => import(new URL('./page/' + n + '.js', document.querySelector('script[type=module]').src)))).then(async ([g, r]) => {
		const run = new r.MetricsRun();
		await run.run(%q, 'graph', 0);
		return g.linesOf(run.result.value).lines.map((l) => ({ Name: l.name, Points: l.values.filter((v) => v !== null).length, Last: l.last, All: l.values.map((v, i) => [r.gridOf(0).start + i * r.gridOf(0).step, v]).filter(([, v]) => v !== null) }));
	})`, query))
	shown := eval[map[string]float64](p,
		`Object.fromEntries([...document.querySelectorAll('.chart-legend tbody tr')]
			.map((r) => [r.cells[0].innerText.trim(), parseFloat(r.cells[1].innerText)]))`)
	for _, l := range lines {
		if w, ok := want[l.Name]; !ok || w[0] != l.Last || int(w[1]) != l.Points {
			t.Errorf("%s: last %v of %d points, the API has %v", l.Name, l.Last, l.Points, w)
		}
		drawn := ""
		for _, v := range l.All {
			drawn += fmt.Sprintf("%v:%v ", v[0], v[1])
		}
		if drawn != points[l.Name] {
			t.Errorf("%s: the points are\n%s\nthe API has\n%s", l.Name, drawn, points[l.Name])
		}
		if d := shown[l.Name] - l.Last; d > 0.05 || d < -0.05 {
			t.Errorf("%s: the legend says %v, the value is %v", l.Name, shown[l.Name], l.Last)
		}
	}
	if len(lines) != 4 || len(want) != 4 {
		t.Errorf("%d lines, %d series", len(lines), len(want))
	}
	names := func() string {
		return eval[string](p,
			`[...document.querySelectorAll('.chart-legend tbody tr')].map((r) => r.cells[0].innerText.trim())
				.join(' ')`)
	}
	before := names()
	p.click(".chart-legend th:nth-child(2) button")
	p.wait("the legend in the other order",
		fmt.Sprintf(
			`[...document.querySelectorAll('.chart-legend tbody tr')].map((r) => r.cells[0].innerText.trim()).reverse()
				.join(' ') === %q`, before))
	p.click(".chart-legend th:nth-child(2) button")
	p.click(".chart-legend tbody tr:nth-child(2) button")
	p.wait("one series", `document.querySelectorAll('.chart-legend tr.off').length === 3`)
	p.click(".chart-legend tbody tr:nth-child(2) button")
	p.wait("all series", `document.querySelectorAll('.chart-legend tr.off').length === 0`)
	p.shot("metrics")
	p.theme("dark")
	p.wait("the legend",
		`document.querySelector('.chart canvas')?.width > 0 &&
			document.querySelectorAll('.chart-legend tbody tr').length === 4`)
	p.shot("metrics-dark")
	p.click("[data-tab=table]")
	p.wait("the table", `document.querySelectorAll('.metrics-table tbody tr').length === 4`)
	p.shot("metrics-table")
	p.click("[data-tab=graph]")
	p.theme("light")
	p.size(380, 760)
	p.do("reload", chromedp.Reload())
	p.wait("the legend", `document.querySelectorAll('.chart-legend tbody tr').length === 4`)
	p.shot("metrics-narrow")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
		t.Errorf("the page is %d px wide on a screen of 380", wide)
	}
}

func TestD31MetricsComplete(t *testing.T) {
	t.Parallel()
	s := start(t, "--user-provider", "static_user_provider:cmd:boss=b")
	var m metrics
	m.add([]sample{{time.Now(), 1}}, "__name__", "http_requests_total", "code", "200", "method", "GET")
	m.add([]sample{{time.Now(), 2}}, "__name__", "http_requests_total", "code", "503", "method", "POST")
	m.send(t, s, "boss", "b")
	p := signedIn(t, s, "boss", "b", "/dashboard/metrics")
	p.wait("the editor", metricsEditor)
	eval[bool](p,
		`(() => { document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus(); return true; })()`)
	offered := func(what string) {
		t.Helper()
		p.wait("the offer "+what,
			fmt.Sprintf(
				`[...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-completionLabel')]
					.some((e) => e.innerText === %q)`, what))
	}
	p.press("http_r")
	offered("http_requests_total")
	p.shot("metrics-complete")
	p.press("equests_total{me")
	offered("method")
	p.press("thod=\"P")
	offered("POST")
	p.press(kb.Escape)
}

// chartRedrawn is how long a chart takes to be drawn in another way, two frames included, ms: the median of five.
const chartRedrawn = `(async () => {
	const b = [...document.querySelectorAll('.chart-controls button')][2], took = [];
	for (let i = 0; i < 5; i++) {
		const began = performance.now();
		b.click();
		await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
		took.push(performance.now() - began);
	}
	return took.sort((x, y) => x - y)[2];
})()`

// manySeries sends series of a metric, with a sample a minute.
func manySeries(t *testing.T, s *server, count, samples int) {
	t.Helper()
	var m metrics
	end := time.Now().Truncate(time.Minute)
	for i := range count {
		var list []sample
		for k := range samples {
			list = append(list, sample{end.Add(time.Duration(k-samples+1) * time.Minute), float64(i + k%5)})
		}
		m.add(list, "__name__", "queue_depth", "part", fmt.Sprintf("p%04d", i))
	}
	m.send(t, s, "", "")
}

func TestD32MetricsMany(t *testing.T) {
	s := start(t)
	manySeries(t, s, 2000, 15)
	p := openMetrics(t, s, "queue_depth", "&from=now-15m")
	p.wait("what is left out",
		`document.querySelector('.cut')?.innerText === '2,000 series, 200 drawn (highest last value)'`)
	if n := eval[int](p, `document.querySelectorAll('.chart-legend tbody tr').length`); n != 200 {
		t.Errorf("%d series in the legend", n)
	}
	if first := p.text(".chart-legend tbody tr"); !strings.Contains(first, "p1999") {
		t.Errorf("the first is %q", first)
	}
	if nodes := eval[int](p, `document.querySelectorAll('*').length`); nodes > 5000 {
		t.Errorf("%d elements", nodes)
	}
	p.shot("metrics-many")
	p.button("topk(50, …)")
	p.wait("fifty",
		`document.querySelectorAll('.chart-legend tbody tr').length === 50 && location.hash.includes('topk')`)
}

func TestD33MetricsExplore(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := open(t, s, "/dashboard/metrics")
	p.wait("the metrics", `document.querySelectorAll('.metrics-explore .node').length === 3`)
	p.fill(".metrics-explore input", "REQUESTS")
	p.wait("the one found", `document.querySelectorAll('.metrics-explore .node').length === 1`)
	p.click(".metrics-explore .node")
	p.wait("the expression", `new URLSearchParams(location.hash.slice(1)).get('q') === 'rate(http_requests_total[5m])'`)
	p.wait("the labels",
		`[...document.querySelectorAll('.metrics-explore [data-label]')].map((e) => e.dataset.label)
			.join() === 'app,code,method'`)
	p.click("[data-label=code] .node")
	p.wait("values with their series",
		`[...document.querySelectorAll('[data-label=code] .value')].map((e) => e.innerText.replace(/\s+/g, ' ').trim())
			.join() === '200 2,500 2'`)
	p.click("[data-label=method] .row button:last-child")
	p.wait("the breakdown",
		`[...document.querySelectorAll('.breakdown .spark-row .text')].map((e) => e.innerText).join() === 'POST,GET' &&
			document.querySelectorAll('.breakdown svg[role=img]').length === 2`)
	p.click("[data-label=code] .value:nth-of-type(2), [data-label=code] .value + .value")
	p.wait("the matcher",
		`new URLSearchParams(location.hash.slice(1)).get('q') === 'rate(http_requests_total{code="500"}[5m])'`)
	p.wait("the graph", `document.querySelectorAll('.chart-legend tbody tr').length === 2`)
	p.wait("the breakdown", `document.querySelectorAll('.breakdown svg[role=img]').length === 2`)
	p.shot("metrics-explore")
}

func TestD34MetricsExplain(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	end := time.Now().UTC().Truncate(time.Minute)
	p := openMetrics(t, s, "sum by (code) (http_requests_total) / 2",
		"&view=explain&from="+end.Add(-30*time.Minute).Format(time.RFC3339)+"&to="+end.Format(time.RFC3339))
	p.wait("the note", `document.querySelector('.hint')?.innerText.includes('rate(http_requests_total[5m])')`)
	p.wait("the parts",
		`[...document.querySelectorAll('.metrics-explain tbody tr')].map((r) => r.cells[2].innerText)
			.join() === '2,2,4,'`)
	for i, part := range []string{"sum by (code) (http_requests_total) / 2", "sum by (code) (http_requests_total)",
		"http_requests_total"} {
		first := s.evaluate(t, "query", url.Values{"query": {part}, "time": {strconv.FormatInt(end.Unix(), 10)}})[0]
		shown := eval[string](p,
			fmt.Sprintf(`document.querySelectorAll('.metrics-explain tbody tr')[%d].cells[3].innerText`, i))
		if !strings.HasSuffix(shown, fmt.Sprint(" ", first.Value[1])) ||
			!strings.Contains(shown, fmt.Sprintf("code=%q", first.Metric["code"])) {
			t.Errorf("%s: one of them is said to be %q, the API has %v %v", part, shown, first.Metric, first.Value)
		}
	}
	p.shot("metrics-explain")
	p.button("Apply")
	p.wait("the rate",
		`new URLSearchParams(location.hash.slice(1)).get('q') === 'sum by (code) (rate(http_requests_total[5m])) / 2' && !document.querySelector('.hint')`)
	notes := func(query, part string) {
		t.Helper()
		p.afresh("/dashboard/metrics#view=explain&q=" + url.QueryEscape(query))
		if part == "" {
			p.wait("the parts", `document.querySelectorAll('.metrics-explain tbody tr').length > 0`)
			if got := p.text(".hint"); got != "" {
				t.Errorf("%s: %s", query, got)
			}
			return
		}
		p.wait(query+": "+part,
			fmt.Sprintf(`[...document.querySelectorAll('.hint')].some((e) => e.innerText.includes(%q))`, part))
	}
	notes("rate(room_temperature[5m])", "looks like a gauge")
	notes("rate(http_requests_total[10s])", "shorter than twice the step")
	notes("histogram_quantile(0.9, sum(rate(http_duration_bucket[5m])))", "needs the label le")
	notes("histogram_quantile(0.9, sum by (le) (rate(http_duration_bucket[5m])))", "")
	notes("room_temperature", "")
	p.afresh("/dashboard/metrics#q=" + url.QueryEscape(`http_requests_total{code="404",method="GET"}`))
	p.wait("which matcher has no match",
		`document.querySelector('.state')?.innerText.includes('No series of http_requests_total matches code="404".') &&
			document.querySelector('.state').innerText.includes('Its first sample is from')`)
	p.shot("metrics-nodata")
}

// TestMetricsBegins: without an expression the page shows small charts of the metrics there are, by the beginnings of
// their names; one that is chosen becomes the expression.
func TestMetricsBegins(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := open(t, s, "/dashboard/metrics")
	p.wait("a chart for each, a histogram once", `[...document.querySelectorAll('.small-chart .text')].map((e) =>
		e.innerText).join() === 'http_duration_bucket,http_requests_total,room_temperature'`)
	p.wait("their lines", `document.querySelectorAll('.small-chart svg[role=img]').length === 3`)
	want := s.evaluate(t, "query", url.Values{"query": {"avg(room_temperature)"}})
	last := eval[string](p, `document.querySelectorAll('.small-chart')[2].querySelector('b').innerText`)
	if v, err := strconv.ParseFloat(last, 64); err != nil || v < 20 || v > 28 || len(want) != 1 {
		t.Errorf("the mean is %q, the server says %v", last, want)
	}
	p.quiet()
	p.shot("metrics-begin")
	p.button("http 2")
	p.wait("those of one beginning", `document.querySelectorAll('.small-chart').length === 2`)
	p.fill(".beginnings input", "requests")
	p.wait("the one with this in its name", `document.querySelectorAll('.small-chart').length === 1`)
	p.click(".small-chart")
	p.wait("its expression",
		`new URLSearchParams(location.hash.slice(1)).get('q') === 'rate(http_requests_total[5m])' &&
			document.querySelector('.metrics-graph canvas')`)
}
