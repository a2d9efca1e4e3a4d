//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestD14HostileSignals: what strangers write into labels, names of services and of spans stays text on Metrics and
// Traces.
func TestD14HostileSignals(t *testing.T) {
	t.Parallel()
	s := start(t)
	var m metrics
	begin := time.Now().Add(-time.Minute)
	for i, h := range hostile {
		m.add([]sample{{time.Now().Add(-time.Minute), float64(i)}, {time.Now(), float64(i + 1)}}, "__name__", "evil",
			"label", h)
		s.postSpans(t, traceID(i), begin.Add(time.Duration(i)*time.Second), []span{
			{service: h, id: spanID(i), name: h, from: 0, to: 100},
			{service: "web", id: spanID(i + 100), parent: spanID(i), name: "child", from: 10, to: 50,
				more: fmt.Sprintf(`,"attributes":[{"key":%s,"value":{"stringValue":%s}}]`, quoteJSON(hostile[i%5]),
					quoteJSON(h))},
		})
	}
	m.send(t, s, "", "")
	p := open(t, s, "/dashboard/metrics#q=evil")
	watch := func() {
		t.Helper()
		eval[bool](p, `(() => { window.alerted = 0; window.alert = () => { window.alerted++; }; return true; })()`)
	}
	clean := func(where string) {
		t.Helper()
		if n := eval[int](p,
			`window.alerted + document.querySelectorAll('#page script, #page img, #page [onload], #page [onerror]').length`); n != 0 {
			t.Errorf("%s: %d alerts and elements made of text", where, n)
		}
		if text := p.text("#page"); strings.ContainsAny(text, "\x1b\x00\u202e") {
			t.Errorf("%s steers its reader: %q", where, text)
		}
	}
	watch()
	p.wait("the graph", fmt.Sprintf(`document.querySelectorAll('.chart-legend tbody tr').length === %d`, len(hostile)))
	p.wait("a label as it is",
		`document.querySelector('.chart-legend').innerText.includes('<script>alert(1)</script>')`)
	clean("graph")
	p.click("[data-tab=table]")
	p.wait("the table", fmt.Sprintf(`document.querySelectorAll('.metrics-table tbody tr').length === %d`, len(hostile)))
	clean("table")
	p.click("[data-tab=explain]")
	p.wait("the parts", `document.querySelector('.metrics-explain tbody tr td.num').innerText !== ''`)
	clean("explain")
	p.click(".metrics-explore .node")
	p.wait("the label", `document.querySelector('[data-label=label] .node')`)
	p.click("[data-label=label] .node")
	p.click("[data-label=label] .row button:last-child")
	p.wait("values and breakdown",
		`document.querySelector('.breakdown .spark-row') && document.querySelector('[data-label=label] .value')`)
	clean("explore")
	for _, view := range []string{"traces", "operations", "map"} {
		p.afresh("/dashboard/traces#view=" + view)
		watch()
		p.wait(view, `document.querySelectorAll('.traces-list tbody tr').length >= 10`)
		clean(view)
	}
	for _, tab := range []string{"spans", "flame", "table", "services", "compare&vs=" + traceID(1)} {
		p.afresh("/dashboard/traces#id=" + traceID(0) + "&tab=" + tab)
		watch()
		p.wait(tab, `document.querySelector('.waterfall .grid-row[data-row="1"], .flame canvas, .trace-logs tbody tr')`)
		clean(tab)
	}
	p.visit("/dashboard/traces#id=" + traceID(0))
	p.operations()
	eval[bool](p, `document.querySelector('.waterfall .grid-row[data-row="1"] .operation').click() ?? true`)
	p.wait("the drawer", `document.querySelector('.drawer .fields')`)
	clean("drawer")
}

// TestD18SignalErrors: an expression and a search that cannot be read say so where the result would stand.
func TestD18SignalErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := open(t, s, "/dashboard/metrics#q="+url.QueryEscape("sum by (code (http_requests_total)"))
	p.allow("400")
	p.wait("the error", `document.querySelector('.metrics-results .error')?.innerText.includes('parse error')`)
	p.wait("its place", `document.querySelector('.error .pos')?.innerText === '('`)
	p.shot("metrics-error")
	p.afresh("/dashboard/metrics#step=1&from=now-2d&q=up")
	p.wait("too many points",
		`document.querySelector('.metrics-results .error')?.innerText.includes('Take a longer step or a shorter range')`)
	p.afresh("/dashboard/metrics#more=" +
		url.QueryEscape(`[{"q":"room_temperature","view":"nonsense","stack":7}, null`))
	p.wait("one panel of an address that was cut", `document.querySelectorAll('.metrics-panel').length === 1`)
	p.afresh("/dashboard/traces")
	p.wait("how to send traces", `document.querySelector('.state')?.innerText.includes('OTEL_EXPORTER_OTLP_ENDPOINT')`)
	p.shot("traces-empty")
	s.postSpans(t, traceID(0), time.Now().Add(-time.Minute), shopTrace(time.Now().Add(-time.Minute)))
	p.afresh("/dashboard/traces#svc=nobody")
	p.wait("nothing", `document.querySelector('.state h2')?.innerText === 'No spans match'`)
	p.wait("the newest", `document.querySelector('.state').innerText.includes('The newest span of the table is from')`)
	p.shot("traces-nothing")
	p.button("Without filters")
	p.wait("the trace", `document.querySelector('.traces-list tbody tr')`)
	p.afresh("/dashboard/traces#min=soon")
	p.wait("a bad duration", `document.querySelector('.traces-form').innerText.includes('a duration is like')`)
}
