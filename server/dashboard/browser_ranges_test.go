//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
	"time"
)

// TestPartsOneRun: a part of a page whose answer is of the range before is gone or shown as stale in the frame in which
// the range changes, what it asked of a range before is given up, and what is shown in the end is of the newest range.
func TestPartsOneRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	now, m := time.Now(), metrics{}
	for i := range 4 {
		// one in the last 20 minutes, two in 30, four in an hour
		begin := now.Add(-time.Duration(10+15*i) * time.Minute)
		s.postSpans(t, traceID(i), begin, []span{{service: "web", id: spanID(i), name: "op", to: 10},
			{service: "pay", id: spanID(100 + i), parent: spanID(i), name: "charge", to: 5}})
		s.ingest(t, "app", []string{logLine(time.Since(begin), fmt.Sprintf(`"level":"l%d","message":"m"`, i))})
		m.add([]sample{{begin, 1}}, "__name__", "pings", "host", fmt.Sprint(i))
	}
	m.send(t, s, "", "")
	g := gated(t, s, map[string]string{"changes": `approx_distinct\("level"\)`,
		"map": `p\.service_name <> c\.service_name`, "explore": `/series.*match\[\]`})
	for _, c := range []struct{ kind, path, opens, figures, last string }{
		{"changes", "logs#t=app&tab=changes", "", ".changes p .num, .changes > p.state", "1 rows then, 1 now"},
		{"map", "traces#view=map", "", ".traces-map tbody tr", "web\tpay\t1\t"},
		{"explore", "metrics", ".metrics-explore .node", ".metrics-explore [data-label] .num, .metrics-explore .series",
			"series in the range"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			p := open(t, g.server, "/dashboard/"+c.path, watching)
			if c.opens != "" {
				p.wait("what opens it", fmt.Sprintf(`document.querySelector(%q)`, c.opens))
				p.click(c.opens)
			}
			p.wait("its figures", fmt.Sprintf(`fresh(%q).length`, c.figures))
			p.quiet()
			eval[bool](p,
				`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { window.state = m; return true; })`)
			g.close(c.kind)
			for i, from := range []string{"now-30m", "now-20m"} {
				eval[bool](p, fmt.Sprintf(`state.setRange(%q, 'now') ?? true`, from))
				p.holds(g, c.kind, i+1)
				if got := eval[string](p,
					fmt.Sprintf(`fresh(%q).map((e) => e.innerText).join('; ')`, c.figures)); got != "" {
					t.Errorf("with %s asked for, what is shown as its answer is %q", from, got)
				}
			}
			for end := time.Now().Add(patience); ; p.frame() {
				if _, left := g.counts(c.kind); left == 1 {
					break
				} else if time.Now().After(end) {
					t.Fatalf("the statement of the range before is not given up: %d", left)
				}
			}
			g.open(c.kind)
			p.wait("the answer", fmt.Sprintf(`fresh(%q).some((e) => e.innerText.includes(%q))`, c.figures, c.last))
		})
	}
}
