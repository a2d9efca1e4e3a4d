//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
	"time"
)

// incident is a shop of the last hour in which charging fails for five minutes: log lines, the traces of those that
// failed, and the metric of each service.
func incident(t *testing.T, s *server) {
	t.Helper()
	var lines []string
	var m metrics
	fail := func(age time.Duration) bool { return age > 20*time.Minute && age < 25*time.Minute }
	for i := range 600 {
		age := time.Duration(i) * 6 * time.Second
		service, level, message, trace := []string{"web", "cart", "pay"}[i%3], "info",
			fmt.Sprintf("GET /items/%d 200", i), ""
		if fail(age) && service == "pay" {
			level, message, trace = "error", "timeout calling the bank", traceID(i)
			s.postSpans(t, trace, time.Now().Add(-age), []span{
				{service: "web", id: spanID(2 * i), name: "POST /checkout", from: 0, to: 3000, failed: true},
				{service: "pay", id: spanID(2*i + 1), parent: spanID(2 * i), name: "charge", from: 10, to: 2990,
					failed: true},
			})
		}
		lines = append(lines, logLine(age,
			fmt.Sprintf(`"level":%q,"service":%q,"trace_id":%q,"message":%q`, level, service, trace, message)))
	}
	s.ingest(t, "app", lines)
	for _, service := range []string{"web", "pay"} {
		var list []sample
		failed := 0.0
		for age := time.Hour; age > 0; age -= 15 * time.Second {
			if service == "pay" && fail(age) {
				failed += 15
			}
			list = append(list, sample{time.Now().Add(-age), failed})
		}
		m.add(list, "__name__", "charges_failed_total", "service", service)
	}
	m.send(t, s, "", "")
}

// TestOnCall finds the reason of an incident by nine clicks: the bump in the histogram, its errors, one of them, its
// trace, the logs of that, the span that took the time, and the metric of its service.
func TestOnCall(t *testing.T) {
	t.Parallel()
	s := start(t)
	incident(t, s)
	p := open(t, s, "/dashboard/")
	p.rowsShown()
	p.settled()
	box := eval[[]float64](p,
		`(() => { const r = document.querySelector('.histogram').getBoundingClientRect();
			return [r.left, r.top, r.width]; })()`)
	p.drag(box[0]+box[2]*0.55, box[1]+30, box[0]+box[2]*0.7, box[1]+30)
	p.wait("the zoomed range", `location.hash.includes('Z')`)
	p.named("the errors", ".legend button", `e.innerText.includes('error')`)
	p.wait("errors alone",
		`[...document.querySelectorAll('.grid-row')].some((r) => r.innerText.includes('timeout calling the bank')) &&
			document.querySelectorAll('.chip').length === 1`)
	p.figures()
	p.click(".grid-row[data-row='1'] .grid-cell")
	p.named("its trace", "table.fields .value button.link", `e.innerText === 'open trace'`)
	p.operations()
	p.click(".trace-bar [data-tab=logs]")
	p.wait("the line of the trace",
		`document.querySelector('.trace-logs')?.innerText.includes('timeout calling the bank')`)
	p.click(".trace-bar [data-tab=spans]")
	p.operations()
	p.named("the slow span", ".waterfall .grid-row .operation", `e.textContent === 'charge'`)
	p.named("the metrics of the service", ".drawer button", `e.innerText === 'Metrics of pay'`)
	p.named("the metric", ".metrics-explore .node", `e.innerText === 'charges_failed_total'`)
	p.wait("its graph, of that service",
		`document.querySelectorAll('.chart-legend tbody tr').length === 1 &&
			new URLSearchParams(location.hash.slice(1)).get('q') === 'rate(charges_failed_total{service="pay"}[5m])'`)
	if n := eval[int](p, `document.querySelectorAll('.metrics-explore .node').length`); n == 0 {
		t.Error("the labels of the metric are not listed")
	}
	p.shot("oncall-metric")
	p.click(".metrics-explore [aria-label='All metrics']")
	p.wait("the metrics of the service alone",
		`document.querySelector('.metrics-explore .of')?.innerText.includes('pay')`)
	p.button("All metrics")
	p.wait("all metrics", `!document.querySelector('.metrics-explore .of') && !location.hash.includes('of=')`)
}

// TestFirstLine: on a fresh server a line is pasted, sent and seen by three clicks and a paste.
func TestFirstLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/")
	p.named("Paste lines", ".first button", `e.innerText === 'Paste lines'`)
	p.wait("the box", `document.querySelector('.try textarea')`)
	p.wait("the lines in the box", `(() => {
		const d = new DataTransfer();
		d.setData('text', 'cannot reach cart-7\nstarted');
		document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: d, bubbles: true }));
		return document.querySelector('.try textarea').value.startsWith('cannot reach');
	})()`)
	p.named("Send", ".try button", `e.innerText === 'Send'`)
	p.wait("where they are", `document.querySelector('.sent')?.innerText.startsWith('2 rows stored in app.')`)
	p.button("See them in Logs")
	if rows := p.rowsShown(); len(rows) != 2 {
		t.Errorf("rows %q", rows)
	}
}

// TestPageComesLate: until the module of a page is here nothing of the page before stands there, which would take the
// address for its own.
func TestPageComesLate(t *testing.T) {
	t.Parallel()
	s := shop(t)
	p := open(t, s, "/dashboard/traces")
	p.shown("traces")
	late := eval[string](p, `(async () => {
		document.querySelector('#rail a[href$="/metrics"]').click();
		await new Promise(requestAnimationFrame);
		return document.querySelector('#page h1').innerText + ' ' + document.querySelectorAll('.traces-list, .banner').length;
	})()`)
	if late != "Metrics 0" {
		t.Errorf("right after the click the page shows %q", late)
	}
	p.wait("the page", metricsEditor)
}
