//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
	"time"
)

// boundsOfDrawings takes figures of what is drawn of many values: bars, lines and spans.
func boundsOfDrawings(t *testing.T, add func(string, string, float64, float64, float64)) {
	s := start(t)
	var lines []string
	for i := range 120 * 8 * 2 {
		lines = append(lines, logLine(time.Duration(i)*7200*time.Second/(120*8*2),
			fmt.Sprintf(`"kind":"k%d","message":"m"`, i*7%8)))
	}
	s.ingest(t, "bars", lines)
	manySeries(t, s, 200, 300)
	largeTrace(t, s)

	p := open(t, s, "/dashboard/logs#t=bars&from=now-2h&split=kind")
	p.wait("the bars of eight values", `document.querySelectorAll('.logs-histogram .legend .swatch').length === 8`)
	p.measured()
	const times = 60
	add("histogram of 120 x 8 values, drawn anew", "ms", 16, 100, median(100, func() float64 {
		from := p.busy()
		eval[bool](p, fmt.Sprintf(`(async () => {
			const bars = document.querySelector('.histogram');
			for (let i = 0; i < %d; i++) {
				bars.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
				await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
			}
			return document.querySelector('.histogram .tip') !== null;
		})()`, times))
		eval[bool](p,
			`document.querySelector('.histogram').dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true })) ||
				true`)
		return 1000 * (p.busy() - from) / times
	}))

	p = openMetrics(t, s, "queue_depth", "&from=now-5h")
	p.wait("all lines", `document.querySelectorAll('.chart-legend tbody tr').length === 200`)
	add("200 series x 300 points, drawn anew", "ms", 100, 1000,
		median(1000, func() float64 { return eval[float64](p, chartRedrawn) }))

	p = open(t, s, "/dashboard/traces")
	p.wait("the list", `document.querySelector('.traces-list tbody tr button')`)
	const opened = `(async () => {
		const frame = () => new Promise(requestAnimationFrame);
		if (document.querySelector('.waterfall')) history.back();
		while (document.querySelector('.waterfall') || !document.querySelector('.traces-list tbody tr button')) await frame();
		const began = performance.now();
		document.querySelector('.traces-list tbody tr button').click();
		while (!document.querySelector('.waterfall .grid-row .operation')) await frame();
		return performance.now() - began;
	})()`
	add("waterfall of 10,000 spans, from the click to the rows", "ms", 500, 3000,
		median(3000, func() float64 { return eval[float64](p, opened) }))
	p.watchTasks()
	add("longest task of that, 0: under 50", "ms", 50, 200, median(200, func() float64 {
		eval[float64](p, opened)
		return p.longestTask()
	}))
	add("scrolling through 10,000 spans, slowest of 240 frames", "ms", 33, 200,
		median(200, func() float64 { return eval[float64](p, scrolling) }))
}
