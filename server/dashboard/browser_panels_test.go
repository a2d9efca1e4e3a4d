//go:build dashboard && browser

package dashboard

import (
	varint "encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"varve/server/protowire"
)

// addHistograms adds a series of native histograms of schema 0, whose counts are those of the buckets up to 1, 2, 4,
// ...
func (m *metrics) addHistograms(at []time.Time, counts func(i int) []int64, labels ...string) {
	zigzag := func(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }
	m.body = protowire.AppendMessage(m.body, 1, func(dst []byte) []byte {
		for i := 0; i < len(labels); i += 2 {
			dst = protowire.AppendMessage(dst, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		for i, when := range at {
			var packed []byte
			var before, all int64
			list := counts(i)
			for _, n := range list {
				packed = varint.AppendUvarint(packed, zigzag(n-before))
				before, all = n, all+n
			}
			dst = protowire.AppendMessage(dst, 4, func(h []byte) []byte {
				h = protowire.AppendDouble(protowire.AppendVarint(h, 1, uint64(all)), 3, float64(all))
				h = protowire.AppendMessage(h, 11, func(s []byte) []byte {
					return protowire.AppendVarint(protowire.AppendVarint(s, 1, 0), 2, uint64(len(list)))
				})
				return protowire.AppendVarint(protowire.AppendBytes(h, 12, packed), 15, uint64(when.UnixMilli()))
			})
		}
		return dst
	})
}

// addExemplar adds a series with one sample and an exemplar of a trace.
func (m *metrics) addExemplar(at time.Time, value float64, trace string, labels ...string) {
	m.body = protowire.AppendMessage(m.body, 1, func(dst []byte) []byte {
		for i := 0; i < len(labels); i += 2 {
			dst = protowire.AppendMessage(dst, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		return protowire.AppendMessage(dst, 3, func(x []byte) []byte {
			x = protowire.AppendMessage(x, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, "trace_id"), 2, trace)
			})
			return protowire.AppendVarint(protowire.AppendDouble(x, 2, value), 3, uint64(at.UnixMilli()))
		})
	})
}

// latency writes one histogram in both forms of the last half hour, with exemplars of a trace.
func latency(t *testing.T, s *server, trace string) {
	t.Helper()
	end := time.Now().Truncate(15 * time.Second)
	var at []time.Time
	for i := range 120 {
		at = append(at, end.Add(time.Duration(i-119)*15*time.Second))
	}
	grown := func(i int) []int64 {
		n := int64(i + 1)
		return []int64{n * 2, n * 9, n*14 + n*n/9, n * 6, n * 2, n / 2}
	}
	var m metrics
	m.addHistograms(at, grown, "__name__", "latency_seconds", "job", "shop")
	bounds := []string{"0.5", "1", "2", "4", "8", "+Inf"}
	for k, le := range bounds {
		var list []sample
		for i, when := range at {
			sum := int64(0)
			for _, n := range grown(i)[:k+1] {
				sum += n
			}
			list = append(list, sample{when, float64(sum)})
		}
		m.add(list, "__name__", "answer_seconds_bucket", "job", "shop", "le", le)
	}
	for i := range 5 {
		m.addExemplar(end.Add(time.Duration(i-6)*4*time.Minute), 0.7+float64(i), trace, "__name__",
			"answer_seconds_bucket", "job", "shop", "le", bounds[min(i+1, 5)])
	}
	m.send(t, s, "", "")
}

// expressions are those of the panels in their order, as the address has them.
const expressions = `(() => { const h = new URLSearchParams(location.hash.slice(1));
	return [h.get('q') ?? '', ...JSON.parse(h.get('more') ?? '[]').map((p) => p.q ?? '')].join(' | '); })()`

func TestD30MetricsPanels(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := openMetrics(t, s, "room_temperature", "")
	p.wait("the legend", `document.querySelectorAll('.chart-legend tbody tr').length === 2`)
	p.click(".add-panel")
	p.wait("two panels",
		`document.querySelectorAll('.metrics-panel').length === 2 &&
			document.querySelectorAll('.metrics-panel .cm-content').length === 0 &&
			document.querySelectorAll('.editor')[1].shadowRoot?.querySelector('.cm-content')`)
	p.click(".metrics-explore .node") // goes to the panel just added
	p.wait("its expression",
		expressions+` === 'room_temperature | histogram_quantile(0.95, sum by (le) (rate(http_duration_bucket[5m])))'`)
	p.click(".metrics-panel:nth-child(2) [title='Duplicate the panel']")
	p.wait("three panels", `document.querySelectorAll('.metrics-panel .chart canvas').length === 3`)
	p.shot("metrics-panels")
	p.click(".metrics-panel:nth-child(3) [title='Move the panel up']")
	p.click(".metrics-panel:nth-child(2) [title='Move the panel up']")
	p.wait("the other order", expressions+
		`.endsWith('| room_temperature | histogram_quantile(0.95, sum by (le) (rate(http_duration_bucket[5m])))')`)
	p.wait("the graph moved with it",
		`document.querySelector('.metrics-panel:nth-child(2)').querySelectorAll('.chart-legend tbody tr').length === 2`)
	eval[bool](p, `(() => {
		const data = new DataTransfer(), at = (type, el) => el.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
		const panels = document.querySelectorAll('.metrics-panel');
		at('dragstart', panels[1].querySelector('.handle'));
		at('dragover', panels[0]);
		at('drop', panels[0]);
		return true;
	})()`)
	p.wait("dragged to the top", expressions+`.startsWith('room_temperature | ')`)
	p.click(".metrics-panel:nth-child(2) [title='Fold the panel']")
	p.wait("a folded panel",
		`document.querySelectorAll('.metrics-panel.folded').length === 1 &&
			document.querySelectorAll('.metrics-panel .chart canvas').length === 2`)
	p.do("reload", chromedp.Reload())
	p.wait("the same panels",
		`document.querySelectorAll('.metrics-panel').length === 3 &&
			document.querySelectorAll('.metrics-panel.folded').length === 1 &&
			document.querySelectorAll('.metrics-panel .chart canvas').length === 2`)
	// The cursor is one for all panels, and so is the range.
	box := eval[[]float64](p,
		`(() => { document.querySelector('.metrics-panels').scrollTop = 0;
			const r = document.querySelector('.u-over').getBoundingClientRect();
			return [r.left, r.top, r.width, r.height]; })()`)
	p.do("hover", chromedp.MouseEvent("mouseMoved", box[0]+box[2]/2, box[1]+box[3]/2))
	p.wait("a cursor in both",
		`document.querySelectorAll('.chart .tip').length === 2 &&
			new Set([...document.querySelectorAll('.chart .tip > div:first-of-type')]
			.map((e) => e.innerText)).size === 1`)
	p.drag(box[0]+box[2]*0.4, box[1]+30, box[0]+box[2]*0.7, box[1]+30)
	p.wait("the range of both", `/from=20/.test(location.hash)`)
	p.click(".metrics-panel:nth-child(2) [title='Remove the panel']")
	p.click(".metrics-panel:nth-child(2) [title='Remove the panel']")
	p.wait("one panel",
		`document.querySelectorAll('.metrics-panel').length === 1 && !location.hash.includes('more=') &&
			!document.querySelector('[title="Remove the panel"]')`)
	p.size(380, 760)
	p.afresh("/dashboard/metrics#q=room_temperature&more=" +
		url.QueryEscape(`[{"q":"up"},{"q":"http_requests_total","fold":true}]`))
	p.wait("three panels on a small screen",
		`document.querySelectorAll('.metrics-panel').length === 3 && document.querySelector('.chart-legend')`)
	p.shot("metrics-panels-narrow")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
		t.Errorf("the page is %d px wide on a screen of 380", wide)
	}
}

func TestD30MetricsHeat(t *testing.T) {
	t.Parallel()
	s := start(t)
	trace := traceID(7)
	begin := time.Now().Add(-9 * time.Minute)
	s.postSpans(t, trace, begin, []span{{service: "shop", id: spanID(1), name: "GET /", from: 0, to: 900}})
	latency(t, s, trace)
	p := openMetrics(t, s, "rate(latency_seconds[2m])", "&from=now-30m")
	p.wait("the heat map", `document.querySelector('.chart.heat canvas')?.width > 0`)
	if said := eval[string](p, `document.querySelector('.chart.heat').getAttribute('aria-label')`); !strings.HasPrefix(
		said, "Heat map: 6 buckets") {
		t.Errorf("the heat map is said as %q", said)
	}
	p.quiet()
	eval[bool](p, `document.querySelector('.chart.heat').focus() ?? true`)
	p.press(kb.ArrowUp)
	p.wait("a cell read out", `document.querySelector('.heat .tip[role=status]')?.innerText.includes('1 s to 2 s')`)
	p.shot("metrics-heat-native")
	p.afresh("/dashboard/metrics#from=now-30m&q=" + url.QueryEscape("sum by (le) (rate(answer_seconds_bucket[2m]))"))
	p.wait("the heat map of a classic histogram", `document.querySelector('.chart.heat canvas')?.width > 0`)
	// Cells are what a bucket has more than the one below it.
	cells := eval[string](p,
		`import(new URL('./core/heat.js', document.querySelector('script[type=module]').src)).then(({ cellsOf }) => {
		const of = (le, v) => ({ metric: { job: 'a', le }, values: [[0, v], [10, 'NaN']] });
		const { groups: [g] } = cellsOf([of('+Inf', '9'), of('0.5', '2'), of('1', '7')], { start: 0, end: 10, step: 10 }, 2);
		return JSON.stringify([g.labels, g.bounds, [...g.cells], g.max]);
	})`)
	if want := `[{"job":"a"},[[0,0.5],[0.5,1],[1,null]],[2,0,5,0,2,0],5]`; cells != want {
		t.Errorf("cells %s, want %s", cells, want)
	}
	p.wait("exemplars", `document.querySelectorAll('.heat button.chart-mark:not(:disabled)').length === 5`)
	p.shot("metrics-heat")
	// Who reads a cell goes on reading it, whatever is drawn anew meanwhile: exemplars, another theme.
	eval[bool](p, `document.querySelector('.chart.heat').focus() ?? true`)
	p.press(kb.ArrowUp)
	p.wait("a cell read out", `document.querySelector('.heat .tip[role=status]')?.innerText.includes('500 ms to 1 s')`)
	p.click("button.exemplars")
	for _, theme := range []string{"System", "Light"} {
		p.button(theme)
		p.wait("another theme", fmt.Sprintf(
			`![...document.querySelectorAll('#rail button')].some((b) => b.textContent.trim() === %q)`, theme))
		p.quiet()
		if tip := eval[string](p,
			`document.querySelector('.heat .tip[role=status]')?.innerText ?? ''`); !strings.Contains(tip,
			"500 ms to 1 s") {
			t.Errorf("after the theme %s another one is in force, and the cell read out is %q", theme, tip)
		}
	}
	p.click("button.exemplars")
	p.theme("dark")
	p.wait("exemplars", `document.querySelectorAll('.heat button.chart-mark').length === 5`)
	p.shot("metrics-heat-dark")
	p.button("heat map")
	p.wait("its lines", `document.querySelectorAll('.chart-legend tbody tr').length === 6`)
	p.click("button.exemplars")
	p.wait("no exemplars", `!document.querySelector('.chart button.chart-mark') && location.hash.includes('ex=0')`)
	p.click("button.exemplars")
	p.afresh("/dashboard/metrics#from=now-30m&q=" +
		url.QueryEscape("histogram_quantile(0.9, sum by (le) (rate(answer_seconds_bucket[2m])))"))
	p.wait("exemplars on lines", `document.querySelectorAll('.chart button.chart-mark').length === 5`)
	p.wait("a unit",
		`document.querySelector('[aria-label=Unit]').selectedOptions[0].innerText === 'auto (seconds)' &&
			document.querySelector('.chart-legend td.num').innerText.endsWith(' s')`)
	p.shot("metrics-exemplars")
	p.click(".chart button.chart-mark")
	p.wait("the trace",
		fmt.Sprintf(
			`location.pathname.endsWith('/traces') && location.hash.includes('id=%s') && document.querySelector('.waterfall .operation')`, trace))
}

func TestD33MetricsTables(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := time.Now().UnixNano()
	s.ingest(t, "jobs", []string{
		fmt.Sprintf(`{"ts":%d,"queue":"mail","waiting":7,"seconds":1.5,"message":"tick"}`, now-60e9),
		fmt.Sprintf(`{"ts":%d,"queue":"mail","waiting":9,"seconds":2.5,"message":"tick"}`, now-30e9),
	})
	s.sql(t, `CREATE TABLE names (ts TIMESTAMP TIME INDEX, who STRING)`)
	p := open(t, s, "/dashboard/metrics")
	p.wait("the table as a metric",
		`[...document.querySelectorAll('.metrics-explore .node')].map((e) => e.innerText.replace(/\s+/g, ' ').trim())
			.join() === 'jobs 2 fields'`)
	p.click(".metrics-explore .node")
	p.wait("its fields",
		`[...document.querySelectorAll('.metrics-explore select option')].map((o) => o.value)
			.join() === ',seconds,waiting'`)
	eval[bool](p,
		`(() => { const e = document.querySelector('.metrics-explore select'); e.value = 'waiting';
			e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.wait("the field in the expression",
		`new URLSearchParams(location.hash.slice(1)).get('q') === 'jobs{__field__="waiting"}'`)
	p.wait("its line", `document.querySelector('.chart-legend td.num')?.innerText === '9'`)
	p.shot("metrics-tables")
	p.click("[data-tab=table]")
	p.wait("its value", `document.querySelector('.metrics-table tbody td.num')?.innerText.trim() === '9'`)
	p.fill(".moment input", time.Unix(0, now-45e9).UTC().Format(time.RFC3339))
	eval[bool](p, `document.activeElement.blur() ?? true`)
	p.wait("its value before", `document.querySelector('.metrics-table tbody td.num')?.innerText.trim() === '7'`)
	p.shot("metrics-moment")
}
