//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// span is one span of a test, its times in ms after the begin of the trace.
type span struct {
	service, id, parent, name string
	from, to                  int
	failed                    bool
	more                      string // further members, beginning with a comma
}

// postSpans sends the spans of a trace as OTLP JSON.
func (s *server) postSpans(t *testing.T, trace string, begin time.Time, spans []span) {
	t.Helper()
	resources := map[string][]string{}
	for _, x := range spans {
		code := 0
		if x.failed {
			code = 2
		}
		at := func(ms int) int64 { return begin.UnixNano() + int64(ms)*int64(time.Millisecond) }
		resources[x.service] = append(resources[x.service],
			fmt.Sprintf(
				`{"traceId":%q,"spanId":%q,"parentSpanId":%q,"name":%s,"kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","status":{"code":%d}%s}`,
				trace, x.id, x.parent, quoteJSON(x.name), at(x.from), at(x.to), code, x.more))
	}
	var parts []string
	for service, list := range resources {
		parts = append(parts,
			fmt.Sprintf(
				`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%s}}]},"scopeSpans":[{"scope":{"name":"test"},"spans":[%s]}]}`, quoteJSON(service), strings.Join(list, ",")))
	}
	s.post(t, "/v1/otlp/v1/traces", "application/json", []byte(`{"resourceSpans":[`+strings.Join(parts, ",")+`]}`))
}

func traceID(n int) string { return fmt.Sprintf("%032x", 0xabc0000+n) }
func spanID(n int) string  { return fmt.Sprintf("%016x", 0x5000+n) }

// shopTrace is a request of a small shop: the payment is what it waits for, one span has lost its parent, one clock is
// off.
func shopTrace(begin time.Time) []span {
	return []span{
		{service: "web", id: spanID(1), name: "GET /cart", from: 100, to: 400,
			more: `,"attributes":[{"key":"http.route","value":{"stringValue":"/cart"}}]`},
		{service: "cart", id: spanID(2), parent: spanID(1), name: "load", from: 110, to: 200},
		{service: "stock", id: spanID(3), parent: spanID(2), name: "query", from: 90, to: 180},
		{service: "pay", id: spanID(4), parent: spanID(1), name: "charge", from: 210, to: 390, failed: true,
			more: fmt.Sprintf(
				`,"events":[{"name":"declined","timeUnixNano":"%d","attributes":[]}],"links":[{"traceId":%q,"spanId":%q}]`, begin.Add(300*time.Millisecond).UnixNano(), traceID(1), spanID(100))},
		{service: "cart", id: spanID(5), parent: spanID(1), name: "recommend", from: 215, to: 300},
		{service: "mail", id: spanID(6), parent: spanID(999), name: "send", from: 395, to: 420},
	}
}

// operations are the operations of the rows of a waterfall, in order.
func (p *page) operations() []string {
	p.t.Helper()
	p.wait("spans",
		`(() => { const rows = [...document.querySelectorAll('.waterfall .grid-row')]
			.filter((r) => r.dataset.row !== ''); return rows.length > 0 && rows
			.every((r) => r.querySelector('.operation')); })()`)
	return eval[[]string](p,
		`[...document.querySelectorAll('.waterfall .grid-row')].filter((r) => r.dataset.row !== '')
			.sort((a, b) => a.dataset.row - b.dataset.row).map((r) => r.querySelector('.operation').textContent)`)
}

func TestD40TracesSearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-10 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	for i := 1; i < 30; i++ {
		s.postSpans(t, traceID(i), begin.Add(time.Duration(i)*15*time.Second),
			[]span{{service: []string{"web", "pay"}[i%2], id: spanID(100 + i), name: fmt.Sprintf("op-%d", i%3), from: 0,
				to: 1 + i*i, failed: i%10 == 0,
				more: fmt.Sprintf(`,"attributes":[{"key":"http.route","value":{"stringValue":"/r%d"}}]`, i)}})
	}
	p := open(t, s, "/dashboard/traces#lim=50")
	shown := func(what string, want int) {
		t.Helper()
		p.wait(what, fmt.Sprintf(`document.querySelectorAll('.traces-list tbody tr').length === %d`, want))
	}
	shown("all traces", 30)
	p.shot("traces")
	for _, c := range []struct {
		name, keys string
		want       int
	}{
		{"service", "svc=mail", 1}, {"operation", "op=op-1", 10}, {"errors", "st=error", 3}, {"no errors", "st=ok", 28},
		{"kind", "kind=client", 0}, {"another kind", "kind=server", 30},
		{"service and operation", "svc=web&op=op-1", 5},
		{"longer", "min=300ms", 13}, {"shorter", "max=10ms", 3},
		{"attribute without its prefix", "q=http.route:/r7", 1}, {"attribute", "q=span_attributes.http.route:/cart", 1},
		{"limit", "lim=20", 20},
	} {
		p.afresh("/dashboard/traces#lim=50&" + c.keys)
		if c.want == 0 {
			p.wait(c.name, `document.querySelector('.state h2')?.innerText === 'No spans match'`)
		} else if c.name == "limit" {
			p.visit("/dashboard/traces#lim=20")
			shown(c.name, 20)
		} else {
			shown(c.name, c.want)
		}
	}
	p.afresh("/dashboard/traces#sort=slowest")
	shown("the slowest", 20)
	if first := p.text(".traces-list tbody tr"); !strings.Contains(first, "842 ms") {
		t.Errorf("the slowest is %q", first)
	}
	p.afresh("/dashboard/traces#lim=50")
	shown("all traces again", 30)
	// Attributes are offered by their short names, too, and their values with counts.
	offered := func(what string) {
		t.Helper()
		p.wait("the offer "+what,
			fmt.Sprintf(
				`[...document.querySelectorAll('#traces-offers li')].some((e) => [...e.children].map((c) => c.innerText)
					.join(' ') === %q)`, what))
	}
	p.click("#traces-search")
	p.press("rout")
	offered("span_attributes.http.route: string")
	p.press(kb.Tab)
	offered(`"/cart" 1`)
	p.shot("traces-complete")
	p.press(kb.Escape)
	p.fill("#traces-search", "http.route:/r1")
	offered(`"/r11" 1`)
	p.press("1")
	p.press(kb.Enter)
	shown("the trace of the value", 1)
	p.fill("#traces-search", "no_such_field:1")
	p.wait("what is wrong", `document.querySelector('#traces-note')?.innerText.includes('no_such_field')`)
	p.afresh("/dashboard/traces#lim=50")
	shown("all traces again", 30)
	box := eval[[]float64](p,
		`(() => { const r = document.querySelector('.traces-scatter canvas').getBoundingClientRect();
			return [r.left, r.top, r.width, r.height]; })()`)
	p.drag(box[0]+box[2]*0.5, box[1]+8, box[0]+box[2]-10, box[1]+box[3]*0.5)
	p.wait("the rectangle as a filter",
		`/min=\d+ns/.test(location.hash) && /max=\d+ns/.test(location.hash) && /from=20/.test(location.hash)`)
	inside := eval[map[string]string](p, `Object.fromEntries(new URLSearchParams(location.hash.slice(1)))`)
	want := s.sql(t,
		fmt.Sprintf(
			`SELECT count(DISTINCT trace_id) FROM opentelemetry_traces WHERE "timestamp" >= '%s' AND "timestamp" < '%s' AND duration_nano BETWEEN %s AND %s`,
			inside["from"], inside["to"], strings.TrimSuffix(inside["min"], "ns"),
			strings.TrimSuffix(inside["max"], "ns")))[0][0]
	if n := fmt.Sprint(want); n == "0" || n == "30" {
		t.Errorf("%s traces lie in the rectangle", n)
	}
	p.wait("the traces of the rectangle",
		fmt.Sprintf(`document.querySelectorAll('.traces-list tbody tr').length === %v`, want))
	p.afresh("/dashboard/traces#q=http.route:/cart")
	shown("the trace", 1)
	p.click(".traces-list tbody tr button")
	p.wait("its address", fmt.Sprintf(`location.hash.includes('id=%s')`, traceID(0)))
	if got := p.operations(); len(got) != 7 {
		t.Errorf("rows %q", got)
	}
	p.afresh("/dashboard/traces#id=" + strings.Repeat("f", 32))
	p.wait("an unknown trace", `document.querySelector('.state')?.innerText.includes('opentelemetry_traces')`)
	p.size(380, 720)
	p.afresh("/dashboard/traces")
	shown("traces on a small screen", 20)
	p.shot("traces-380")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
		t.Errorf("the page is %d px wide", wide)
	}
}

func TestD41Waterfall(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-5 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	p := open(t, s, "/dashboard/traces#id="+traceID(0))
	want := []string{"GET /cart", "load", "query", "charge", "recommend", "parent not received (" + spanID(999) + ")",
		"send"}
	if got := p.operations(); !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	marked := eval[[]string](p,
		`[...document.querySelectorAll('.waterfall .grid-row')].filter((r) => r.querySelector('.mark-clock'))
			.map((r) => r.querySelector('.operation').textContent)`)
	if !slices.Equal(marked, []string{"query"}) {
		t.Errorf("clock marks at %q", marked)
	}
	// Back from 400: own until 390, charge until 210, own until 200, load until 110 of which query is until 180, own
	// until 100.
	critical := eval[string](p, `(async () => {
		const { traceOf } = await import(new URL('page/waterfalltree.js', document.querySelector('script[src$="app.js"]').src).href);
		const ms = 1000000n, columns = ['timestamp', 'duration_nano', 'span_id', 'parent_span_id', 'service_name', 'span_name', 'span_status_code', 'span_events'].map((name) => ({ name, type: 'string' }));
		const rows = [[100, 300, 'a', null], [110, 90, 'b', 'a'], [90, 90, 'c', 'b'], [210, 180, 'd', 'a'], [215, 85, 'e', 'a'], [500, 1, 'x', 'y'], [501, 1, 'y', 'x']].map(([t, d, id, parent]) => [String(BigInt(t) * ms), String(BigInt(d) * ms), id, parent, 's', id, '', null]);
		const t = traceOf(columns, rows);
		return t.spans.map((s) => s.id + ':' + s.critical.map(([f, e]) => f / 1e6 + '-' + e / 1e6).join('+')).join(' ') + ' ' + t.notes.join('; ');
	})()`)
	if want := "a:300-310+110-120+10-20 b:90-110 c:20-90 d:120-300 e: x: y: 2 root spans; 1 span is an ancestor of itself; 1 span starts before the parent: the clocks differ"; critical != want {
		t.Errorf("critical path\n%s\nwant\n%s", critical, want)
	}
	// As it is drawn, in ms after the earliest begin, which is 90, of 330: the last span of the trace lost its parent.
	if drawn := eval[string](p,
		`[...document.querySelectorAll('.waterfall .grid-row')].filter((r) => r.dataset.row !== '' && r.querySelector('.span-critical')).sort((a, b) => a.dataset.row - b.dataset.row)
		.map((r) => r.querySelector('.operation').textContent + ':' + [...r.querySelectorAll('.span-critical')].map((e) => [0, parseFloat(e.style.width)].map((w) => Math.round((parseFloat(e.style.left) + w) * 3.3)).join('-')).join('+')).join(' ')`); drawn != "GET /cart:300-310+110-120+10-20 load:90-110 query:20-90 charge:120-300" {
		t.Errorf("the critical path is drawn as %s", drawn)
	}
	p.click(".trace-bar button[title^='Only the spans']")
	p.wait("the critical path alone",
		`![...document.querySelectorAll('.waterfall .grid-row')].some((r) => r.dataset.row !== '' && r.textContent.includes('recommend'))`)
	if got := p.operations(); !slices.Equal(got, want[:4]) {
		t.Errorf("on the critical path %q, want %q", got, want[:4])
	}
	p.click(".trace-bar button[title^='Only the spans']")
	p.click(".trace-bar button[title^='Only spans that lead']")
	p.wait("errors alone",
		`[...document.querySelectorAll('.waterfall .grid-row')].filter((r) => r.dataset.row !== '').length === 2`)
	p.click(".trace-bar button[title^='Only spans that lead']")
	p.wait("all",
		`[...document.querySelectorAll('.waterfall .grid-row')].filter((r) => r.dataset.row !== '').length === 7`)
	p.shot("trace")
	eval[bool](p,
		`[...document.querySelectorAll('.waterfall .grid-row')]
			.find((r) => r.textContent.includes('charge')).querySelector('.operation').click() ?? true`)
	p.wait("the drawer", `document.querySelector('.drawer [data-tab=events]')`)
	if got := eval[string](p, `document.querySelector('.span-event')?.title ?? ''`); got != "declined" {
		t.Errorf("tick of the event %q", got)
	}
	p.shot("trace-span")
	p.click(".drawer [data-tab=events]")
	p.wait("the event", `document.querySelector('.drawer')?.innerText.includes('declined')`)
	p.click(".drawer [data-tab=links]")
	p.wait("the link", fmt.Sprintf(`document.querySelector('.drawer')?.innerText.includes('%s')`, traceID(1)))
	p.theme("dark")
	p.wait("the trace in the dark", `document.querySelector('.waterfall .operation')`)
	p.shot("trace-dark")
	p.size(380, 720)
	p.afresh("/dashboard/traces#id=" + traceID(0))
	p.wait("the trace on a small screen", `document.querySelector('.waterfall .operation')`)
	p.shot("trace-380")
}

// largeTrace sends a trace of 10,000 spans.
func largeTrace(t *testing.T, s *server) {
	t.Helper()
	spans := []span{{service: "web", id: spanID(0), name: "root", from: 0, to: 10_000}}
	for i := 1; i < 10_000; i++ {
		spans = append(spans, span{service: fmt.Sprintf("s%d", i%7), id: spanID(i), parent: spanID((i - 1) / 3),
			name: fmt.Sprintf("call %d", i), from: i / 2, to: i/2 + 400})
	}
	s.postSpans(t, traceID(0), time.Now().Add(-5*time.Minute), spans)
}

func TestD42TraceLarge(t *testing.T) {
	s := start(t)
	largeTrace(t, s)
	p := open(t, s, "/dashboard/traces")
	p.wait("the list", `document.querySelector('.traces-list tbody tr')`)
	began := time.Now()
	p.click(".traces-list tbody tr button")
	p.operations()
	t.Logf("10,000 spans drawn after %v, the test's own way included", time.Since(began).Round(time.Millisecond))
	p.wait("all rows", `document.querySelector('.waterfall').getAttribute('aria-rowcount') === '10000'`)
	eval[bool](p,
		`(() => { const g = document.querySelector('.waterfall'); g.scrollTop = g.scrollHeight; return true; })()`)
	p.wait("the last row", `document.querySelector('.waterfall .grid-row[data-row="9999"] .operation')`)
	if n := eval[int](p, `document.querySelectorAll('*').length`); n > 3000 {
		t.Errorf("%d elements", n)
	}
	frames := eval[[]float64](p,
		`(async () => { const g = document.querySelector('.waterfall');
			let worst = 0, all = 0, last = await new Promise(requestAnimationFrame); for (let i = 0; i < 80;
			i++) { g.scrollTop = i * 2500; const now = await new Promise(requestAnimationFrame);
			worst = Math.max(worst, now - last); all += now - last; last = now; } return [all / 80, worst]; })()`)
	t.Logf("80 frames of a scroll: %.0f ms in the mean, %.0f ms the longest", frames[0], frames[1])
	if frames[0] > 200 && !slowed() {
		t.Errorf("a frame of a scroll took %.0f ms in the mean, at most 200 ms", frames[0])
	}
	p.fill("#trace-find", "call 9876")
	p.wait("the hit",
		`document.querySelector('.hits')?.innerText === '1 of 1' &&
			document.querySelector('.waterfall .grid-row.focus')?.innerText.includes('call 9876')`)
	p.shot("trace-large")
	p.fill("#trace-find", "")
	for _, tab := range []struct{ name, ready string }{
		{"flame", `document.querySelector('.flame canvas')?.height > 20`},
		{"table",
			`document.querySelector('.span-table')?.getAttribute('aria-rowcount') === '10000' &&
				document.querySelector('.span-table .grid-row[data-row="0"]').innerText`},
	} {
		took := eval[float64](p, fmt.Sprintf(`(async () => {
			const began = performance.now();
			document.querySelector('.trace-bar [data-tab=%s]').click();
			while (!(%s)) await new Promise(requestAnimationFrame);
			await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
			return performance.now() - began;
		})()`, tab.name, tab.ready))
		t.Logf("10,000 spans as %s: %.0f ms", tab.name, took)
		if took > 3000 && !slowed() {
			t.Errorf("10,000 spans as %s took %.0f ms, at most 3 s", tab.name, took)
		}
		p.shot("trace-large-" + tab.name)
	}
}

// TestTraceOfManyCalls: a span that waited for thousands of others has as many parts on the critical path, of which are
// drawn those that an eye tells apart.
func TestTraceOfManyCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	spans := []span{{service: "web", id: spanID(0), name: "root", from: 0, to: 12_000}}
	for i := 1; i < 6000; i++ {
		spans = append(spans, span{service: "store", id: spanID(i), parent: spanID(0), name: fmt.Sprintf("call %d", i),
			from: 2 * i, to: 2*i + 1})
	}
	s.postSpans(t, traceID(0), time.Now().Add(-5*time.Minute), spans)
	p := open(t, s, "/dashboard/traces#id="+traceID(0))
	p.wait("all rows",
		`document.querySelector('.waterfall')?.getAttribute('aria-rowcount') === '6000' &&
			document.querySelector('.grid-row[data-row="0"] .span-critical')`)
	if n := eval[float64](p, elements); n > 3000 {
		t.Errorf("%.0f elements", n)
	}
	widest := eval[float64](p,
		`Math.max(...[...document.querySelectorAll('.grid-row[data-row="0"] .span-critical')].map((e) => parseFloat(e.style.width)))`)
	if widest < 99 {
		t.Errorf(
			"the critical path of the root, which has gaps of 1 ms in 12 s, is drawn with a widest part of %.1f %%",
			widest)
	}
}

func TestD43TraceLogs(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-5 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	s.ingest(t, "app", []string{
		fmt.Sprintf(`{"ts":%d,"level":"error","service":"pay","trace_id":%q,"span_id":%q,"message":"card declined"}`,
			begin.Add(300*time.Millisecond).UnixNano(), traceID(0), spanID(4)),
		fmt.Sprintf(`{"ts":%d,"level":"info","service":"cart","trace_id":%q,"span_id":%q,"message":"cart loaded"}`,
			begin.Add(150*time.Millisecond).UnixNano(), traceID(0), spanID(2)),
		fmt.Sprintf(`{"ts":%d,"level":"info","service":"web","trace_id":%q,"span_id":"","message":"of another trace"}`,
			begin.UnixNano(), traceID(5)),
	})
	p := open(t, s, "/dashboard/logs#t=app&q=declined")
	p.rowsShown()
	eval[bool](p, `document.querySelector(".grid-row[data-row='0'] .grid-cell").click() ?? true`)
	p.wait("the tab", `document.querySelector('.drawer [data-tab=trace]')`)
	p.click(".drawer [data-tab=trace]")
	p.click(".drawer .body button.primary")
	p.operations()
	p.click(".trace-bar [data-tab=logs]")
	p.wait("its lines by time",
		`[...document.querySelectorAll('.trace-logs tbody tr')].map((r) => r.lastElementChild.innerText)
			.join() === 'cart loaded,card declined'`)
	p.shot("trace-logs")
	p.click(".open-logs")
	p.wait("the logs of the trace", `location.pathname.endsWith('/logs') && location.hash.includes('trace_id')`)
	if rows := p.rowsShown(); len(rows) != 2 {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
}

// TestD42TraceCut: of a trace with more spans than are drawn the first 50,000 open, and the page says so.
func TestD42TraceCut(t *testing.T) {
	s := start(t)
	begin := time.Now().Add(-5 * time.Minute)
	for from := 0; from < 50_100; from += 10_020 {
		var spans []span
		for i := from; i < from+10_020; i++ {
			spans = append(spans, span{service: fmt.Sprintf("s%d", i%7), id: spanID(i), parent: spanID((i - 1) / 3),
				name: fmt.Sprintf("call %d", i), from: i / 2, to: i/2 + 400})
		}
		s.postSpans(t, traceID(0), begin, spans)
	}
	p := open(t, s, "/dashboard/traces")
	p.wait("the list", `document.querySelector('.traces-list tbody tr')`)
	took := eval[[]float64](p, `(async () => {
		let longest = 0;
		const o = new PerformanceObserver((l) => { for (const e of l.getEntries()) longest = Math.max(longest, e.duration); });
		o.observe({ entryTypes: ['longtask'] });
		const began = performance.now();
		document.querySelector('.traces-list tbody tr button').click();
		while (!document.querySelector('.waterfall .grid-row .operation')) await new Promise(requestAnimationFrame);
		const took = performance.now() - began;
		await new Promise((r) => setTimeout(r, 200));
		return [took, longest];
	})()`)
	t.Logf("50,000 spans drawn after %.0f ms, the longest task %.0f ms", took[0], took[1])
	if took[0] > 10_000 && !slowed() {
		t.Errorf("50,000 spans took %.0f ms, at most 10 s", took[0])
	}
	if said := p.text(".trace-notes"); !strings.HasPrefix(said, "only the first 50,000 spans are shown") {
		t.Errorf("the note is %q", said)
	}
	if n := eval[string](p, `document.querySelector('.waterfall').getAttribute('aria-rowcount')`); n != "50000" {
		t.Errorf("%s rows", n)
	}
}

// TestTraceBackwards: a span that ends before it starts takes no time in the list and in its waterfall, and both say
// so.
func TestTraceBackwards(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-5 * time.Minute)
	s.postSpans(t, traceID(0), begin, []span{{service: "web", id: spanID(1), name: "back", from: 5, to: 0}})
	s.postSpans(t, traceID(1), begin, []span{{service: "web", id: spanID(2), name: "whole", from: 0, to: 50},
		{service: "web", id: spanID(3), parent: spanID(2), name: "part", from: 20, to: 10}})
	s.postSpans(t, traceID(2), begin, []span{{service: "web", id: spanID(4), name: "right", from: 0, to: 30}})
	p := open(t, s, "/dashboard/traces")
	p.wait("the traces", `document.querySelectorAll('.traces-list tbody tr').length === 3`)
	const note = "1 span ends before it starts"
	for i, want := range []struct{ length, list, trace string }{{"0 ns", note, note}, {"50 ms", note, note},
		{"30 ms", "", ""}} {
		row := fmt.Sprintf(`document.querySelector('tr[data-trace=%q]')`, traceID(i))
		if got := eval[[]string](p, `[`+row+`.querySelector('.length .num').innerText, `+row+
			`.querySelector('.mark-note')?.title ?? '']`); !slices.Equal(got, []string{want.length, want.list}) {
			t.Errorf("trace %d in the list: %q, want %q", i, got, want)
		}
	}
	for i, want := range []struct{ length, note, marked string }{{"0 ns", note, "back"}, {"50 ms", note, "part"},
		{"30 ms", "", ""}} {
		p.visit("/dashboard/traces#id=" + traceID(i))
		p.wait("the trace",
			fmt.Sprintf(
				`document.querySelector('.trace-id')?.innerText === %q &&
					document.querySelector('.waterfall .operation')`, traceID(i)))
		p.quiet()
		got := eval[[]string](p,
			`[document.querySelector('.trace-head .figures b').innerText, document.querySelector('.trace-notes')?.innerText ?? '', [...document.querySelectorAll('.waterfall .grid-row')].filter((r) => r.querySelector('.mark-note[title="this span ends before it starts"]')).map((r) => r.querySelector('.operation').textContent).join(' ')]`)
		if !slices.Equal(got, []string{want.length, want.note, want.marked}) {
			t.Errorf("trace %d: %q, want %q", i, got, want)
		}
	}
}

// TestTracesSample: where not all spans are drawn the dots are a sample of the whole range with all errors and the
// slowest span.
func TestTracesSample(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-50 * time.Minute)
	for part := range 12 {
		var spans []span
		for i := range 1000 {
			n := part*1000 + i
			spans = append(spans, span{service: "web", id: spanID(n), name: fmt.Sprint("op-", n%7), from: n * 240,
				to: n*240 + 5 + 5000*(1-min(1, n)), failed: n%1000 == 17})
		}
		s.postSpans(t, traceID(part), begin, spans)
	}
	p := open(t, s, "/dashboard/traces#from=now-1h")
	p.wait("what is drawn",
		`/^\d+ traces? listed, [\d,]+ of 12,000 matching spans drawn: a sample of the whole range with the slowest ones and all 12 errors/.test(document.querySelector('.traces-figures')?.innerText)`)
	drawn := eval[int](p,
		`Number(/listed, ([\d,]+) of/.exec(document.querySelector('.traces-figures').innerText)[1].replaceAll(',', ''))`)
	if drawn < 4000 || drawn > 6500 {
		t.Errorf("%d spans are drawn", drawn)
	}
	// The slowest span is the oldest one, of five seconds: the axis reaches to ten.
	p.quiet()
	if first := eval[bool](p,
		`(() => { const c = document.querySelector('.traces-scatter canvas'), g = c.getContext('2d'), at = (from, to) => { const d = g.getImageData(from * c.width, c.height * 0.1, (to - from) * c.width, c.height * 0.7).data;
			for (let i = 3; i < d.length; i += 4) if (d[i] > 0 && Math.abs(d[i - 3] - d[i - 1]) > 40) return true;
			return false; }; return at(0.2, 0.3) && at(0.5, 0.6) && at(0.8, 0.9); })()`); !first {
		t.Error("there are no dots in a part of the range")
	}
}
