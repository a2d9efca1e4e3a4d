//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// shopTraces sends traces of a shop, each half a minute after the one before; the last is of now.
func shopTraces(t *testing.T, s *server, traces int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 7))
	calls := map[string][]string{"web": {"cart", "pay"}, "cart": {"stock", "db"}, "pay": {"db", "mail"},
		"stock": {"db"}}
	operations := map[string][]string{"web": {"GET /cart", "POST /pay"}, "cart": {"load", "save"}, "pay": {"charge"},
		"stock": {"reserve", "query"}, "mail": {"send"}, "db": {"SELECT", "UPDATE"}}
	id := 0
	for i := range traces {
		var list []span
		var add func(service, parent string, from int) int
		add = func(service, parent string, from int) int {
			id++
			own, end, at := spanID(id), from+2+r.IntN(30), from+1
			place := len(list)
			list = append(list, span{service: service, id: own, parent: parent,
				name: operations[service][r.IntN(len(operations[service]))], from: from,
				failed: service == "pay" && r.IntN(6) == 0})
			for _, c := range calls[service] {
				for range 1 + r.IntN(2) {
					if done := add(c, own, at); r.IntN(3) > 0 {
						at = done + 1
					}
				}
			}
			for _, c := range list[place+1:] {
				end = max(end, c.to+1)
			}
			list[place].to = end
			return end
		}
		add("web", "", 0)
		s.postSpans(t, traceID(1000+i), time.Now().Add(-time.Duration(i)*30*time.Second-time.Second), list)
	}
}

// TestD40TracesOverview: the operations and the map say what SQL says, and lead back to the search.
func TestD40TracesOverview(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopTraces(t, s, 60)
	p := open(t, s, "/dashboard/traces#view=operations")
	p.wait("the operations", `document.querySelectorAll('.operations tbody tr').length === 10`)
	var want []string
	for _, row := range s.sql(t,
		`SELECT service_name, span_name, count(*), count(*) FILTER (WHERE span_status_code = 'STATUS_CODE_ERROR') FROM opentelemetry_traces GROUP BY 1, 2`) {
		want = append(want, fmt.Sprintf("%v %v %v %v", row[0], row[1], row[2], row[3]))
	}
	got := eval[[]string](p,
		`[...document.querySelectorAll('.operations tbody tr')].map((r) => [...r.cells].slice(0, 3)
			.map((c) => c.innerText.trim().replace(/ \(.*/, '')).join(' '))`)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("operations\n%q\nwant\n%q", got, want)
	}
	p.click(".operations th:nth-child(3) button")
	p.wait("the failing one first", `document.querySelector('.operations tbody tr').innerText.includes('charge')`)
	p.shot("traces-operations")
	p.click(".operations tbody .level-error")
	p.wait("the search for them",
		`/svc=pay&op=charge&st=error|st=error/.test(location.hash) && location.hash.includes('svc=pay') && document.querySelector('.traces-list tbody tr')`)
	p.afresh("/dashboard/traces#view=map")
	p.wait("the map", `document.querySelectorAll('.map-scroll .service').length === 6`)
	want = want[:0]
	for _, row := range s.sql(t,
		`SELECT p.service_name, c.service_name, count(*) FROM opentelemetry_traces c JOIN opentelemetry_traces p ON c.trace_id = p.trace_id AND c.parent_span_id = p.span_id WHERE p.service_name <> c.service_name GROUP BY 1, 2`) {
		want = append(want, fmt.Sprintf("%v %v %v", row[0], row[1], row[2]))
	}
	got = eval[[]string](p,
		`[...document.querySelectorAll('.traces-map tbody tr')].map((r) => [...r.cells].slice(0, 3)
			.map((c) => c.innerText.trim()).join(' '))`)
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != 7 || !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	// Callers stand left of what they call.
	if left := eval[bool](p, `(() => {
		const at = Object.fromEntries([...document.querySelectorAll('.map-scroll .service')].map((g) => [g.querySelector('.name').textContent, g.getBoundingClientRect().left]));
		return at.web < at.cart && at.cart < at.stock && at.stock < at.db && at.pay < at.mail;
	})()`); !left {
		t.Error("a caller does not stand left of what it calls")
	}
	p.shot("traces-map")
	p.theme("dark")
	p.wait("the map", `document.querySelectorAll('.map-scroll .service').length === 6`)
	p.shot("traces-map-dark")
	eval[bool](p,
		`[...document.querySelectorAll('.map-scroll .service')]
			.find((g) => g.textContent.includes('mail')).focus() ?? true`)
	p.press(kb.Enter)
	p.wait("traces of the service",
		`location.hash.includes('svc=mail') && document.querySelector('.traces-list tbody tr')`)
	p.button("SQL")
	p.wait("its statement", `location.pathname.endsWith('/sql') && decodeURIComponent(location.hash).includes('mail')`)
	p.size(380, 720)
	p.visit("/dashboard/traces#view=map")
	p.wait("the map on a small screen", `document.querySelectorAll('.map-scroll .service').length === 6`)
	p.shot("traces-map-narrow")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
		t.Errorf("the page is %d px wide", wide)
	}
	// Services that call each other have places, too.
	layout := eval[string](p,
		`import(new URL('./page/tracesmap.js', document.querySelector('script[type=module]').src)).then(({ layoutOf }) => {
		const call = (from, to) => ({ from, to, calls: 1, errors: 0, p95: 1 });
		return layoutOf([], [call('a', 'b'), call('b', 'c'), call('c', 'a'), call('c', 'd')]).nodes.map((n) => n.service + n.layer).sort().join(' ');
	})`)
	if want := "a0 b1 c2 d3"; layout != want {
		t.Errorf("layers %s, want %s", layout, want)
	}
}

func TestD41TraceTabs(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-5 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	faster := shopTrace(begin)
	faster[3].to = 240
	s.postSpans(t, traceID(50), begin.Add(20*time.Second), faster)
	s.ingest(t, "app", []string{
		fmt.Sprintf(`{"ts":%d,"level":"error","trace_id":%q,"span_id":%q,"message":"card declined"}`,
			begin.Add(300*time.Millisecond).UnixNano(), traceID(0), spanID(4)),
		fmt.Sprintf(`{"ts":%d,"level":"info","trace_id":%q,"span_id":%q,"message":"cart loaded"}`,
			begin.Add(150*time.Millisecond).UnixNano(), traceID(0), spanID(2)),
	})
	p := open(t, s, "/dashboard/traces#id="+traceID(0))
	p.operations()
	p.click(".trace-bar [data-tab=flame]")
	p.wait("the flame graph", `document.querySelector('.flame canvas')?.height > 20`)
	// By time: recommend runs beside charge and goes below it, query below load.
	lines := eval[string](p, `(async () => {
		const at = (name) => import(new URL('page/' + name + '.js', document.querySelector('script[src$="app.js"]').src).href);
		const [{ flameOf }, { traceOf }] = await Promise.all([at('waterfallflame'), at('waterfalltree')]);
		const ms = 1000000n, columns = ['timestamp', 'duration_nano', 'span_id', 'parent_span_id', 'service_name', 'span_name', 'span_status_code', 'span_events'].map((name) => ({ name, type: 'string' }));
		const rows = [[100, 300, 'root', null], [110, 90, 'load', 'root'], [90, 90, 'query', 'load'], [210, 180, 'charge', 'root'], [215, 85, 'recommend', 'root'], [395, 25, 'late', 'root']].map(([t, d, id, parent]) => [String(BigInt(t) * ms), String(BigInt(d) * ms), id, parent, 's', id, '', null]);
		return flameOf(traceOf(columns, rows).roots).lines.map((l) => l.map((p) => p.span.id).join()).join(' ');
	})()`)
	if want := "root load,charge,late query,recommend"; lines != want {
		t.Errorf("lines %q, want %q", lines, want)
	}
	eval[bool](p, `document.querySelector('.flame').focus() ?? true`)
	p.press(kb.ArrowDown)
	p.wait("the span read out", `document.querySelector('.flame-said')?.innerText.includes('load')`)
	p.press(kb.ArrowRight)
	p.press(kb.Enter)
	p.wait("the span", `document.querySelector('.drawer .span-title')?.innerText.startsWith('charge')`)
	p.shot("trace-flame")
	p.button("Logs of this span")
	p.wait("its line alone",
		`[...document.querySelectorAll('.trace-logs tbody tr')].map((r) => r.lastElementChild.innerText)
			.join() === 'card declined' &&
			document.querySelector('.of-span').innerText.includes('1 line of the span charge, of 2 of the trace')`)
	p.button("All lines")
	p.wait("all lines", `document.querySelectorAll('.trace-logs tbody tr').length === 2`)
	p.press(kb.Escape)
	p.click(".trace-bar [data-tab=table]")
	first := `document.querySelector('.span-table .grid-row[data-row="0"]')?.innerText.replace(/\s+/g, ' ')`
	p.wait("the spans, the greatest own time first", first+`.startsWith('180 ms pay ! charge 180 ms')`)
	// A head that is drawn anew between press and release has no click.
	p.wait("the head at rest",
		`(() => { const th = document.querySelector('.span-table .grid-th:nth-child(3)'), before = window.headSeen;
			window.headSeen = th; return th && th === before; })()`)
	p.click(".span-table .grid-th:nth-child(3)")
	p.wait("by name", first+`.includes('GET /cart')`)
	p.shot("trace-table")
	p.click(".trace-bar [data-tab=compare]")
	p.wait("one to compare with", `document.querySelectorAll('.compare-choose tbody tr').length === 1`)
	p.shot("trace-choose")
	p.click(".compare-choose tbody button")
	p.wait("the comparison",
		`document.querySelector('.compare .list tbody tr')?.innerText.replace(/\s+/g, ' ').startsWith('pay charge 180 ms 1 30 ms 1 −150 ms') && location.hash.includes('vs=`+traceID(50)+`')`)
	p.shot("trace-compare")
	p.theme("dark")
	p.wait("the comparison", `document.querySelector('.compare .list tbody tr')`)
	p.shot("trace-compare-dark")
	p.afresh("/dashboard/traces#tab=flame&id=" + traceID(0))
	p.wait("the flame graph by its address", `document.querySelector('.flame canvas')?.height > 20`)
	p.shot("trace-flame-dark")
	p.size(380, 720)
	for _, tab := range []string{"flame", "table", "compare&vs=" + traceID(50)} {
		p.afresh("/dashboard/traces#id=" + traceID(0) + "&tab=" + tab)
		p.wait(tab+" on a small screen",
			`document.querySelector('.flame canvas, .span-table .grid-row[data-row="0"], .compare .list')`)
		p.shot("trace-narrow-" + strings.SplitN(tab, "&", 2)[0])
		if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
			t.Errorf("%s: the page is %d px wide", tab, wide)
		}
	}
}

// TestD40TracesCut: of more operations and services than are listed the page says how many there are.
func TestD40TracesCut(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-10 * time.Minute)
	var spans []span
	for i := range 330 {
		spans = append(spans, span{service: fmt.Sprintf("service-%03d", i), id: spanID(i),
			name: fmt.Sprintf("call %d", i), from: i, to: i + 100})
		if i > 0 {
			spans[i].parent = spanID(i - 1)
		}
	}
	s.postSpans(t, traceID(0), begin, spans)
	p := open(t, s, "/dashboard/traces#view=operations")
	p.wait("the operations", `document.querySelectorAll('.operations tbody tr').length === 200`)
	if said := p.text(".cut"); !strings.HasPrefix(said, "330 operations, the 200 called most") {
		t.Errorf("the cut is said as %q", said)
	}
	p.shot("traces-operations-cut")
	p.afresh("/dashboard/traces#view=map")
	p.wait("the map", `document.querySelectorAll('.map-scroll .service').length >= 300`)
	if said := p.text(".cut"); said !=
		"330 services, the 200 of most spans have figures; 329 pairs of caller and called, the 300 of most calls are drawn." {
		t.Errorf("the cut is said as %q", said)
	}
	p.shot("traces-map-cut")
}
