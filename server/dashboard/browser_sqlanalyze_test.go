//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// mostRows is the highest number of rows that the plan shows of a node.
const mostRows = `Math.max(0, ...[...document.querySelectorAll('.plan-tree tbody td:nth-child(2)')].map((e) => Number(e.innerText.replaceAll(',', ''))))`

// explain presses the button.
func (p *page) explain() {
	p.t.Helper()
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === 'Explain').click();
			return true; })()`)
}

// TestPlanFills: a plan is there while the query runs and its figures grow, what has the focus keeps it, and Cancel and
// KILL end the query.
func TestPlanFills(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(3000, time.Second))
	const endless = "SELECT a.level, count(*) FROM app a CROSS JOIN app b CROSS JOIN app c CROSS JOIN app d WHERE a.status + b.status + c.status * d.status = 7 GROUP BY 1"
	running := func() string {
		return fmt.Sprint(s.sql(t,
			"SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%CROSS JOIN app d%' AND query NOT LIKE '%process_list%'")[0][0])
	}
	p := openSQL(t, s, endless)
	p.explain()
	p.wait("the plan of the running query",
		`document.querySelector('.plan h2')?.innerText.includes('runs') &&
			document.querySelector('.plan-tree code').innerText.startsWith('Projection')`)
	eval[bool](p,
		`(() => { window.on = document.querySelector('[data-tab=plan]'); window.on.focus();
			window.tree = document.querySelector('.plan-tree'); return true; })()`)
	first := 0
	p.wait("figures", mostRows+` > 10000`)
	first = eval[int](p, mostRows)
	p.wait("more of them", fmt.Sprintf(mostRows+` > %d`, first))
	p.shot("sql-plan-runs")
	if !eval[bool](p, `document.activeElement === window.on && window.tree.isConnected`) {
		t.Error("the plan was put there anew, or the focus went elsewhere")
	}
	if n := running(); n != "1" {
		t.Errorf("%s queries run", n)
	}
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === 'Cancel').click();
			return true; })()`)
	p.wait("that it says so", `document.querySelector('.sql-results .error')?.innerText.includes('Cancelled')`)
	waitFor(t, "an empty list of processes", func() bool { return running() == "0" })

	p.allow("status of 4")
	p.explain()
	p.wait("the plan again", `document.querySelector('.plan h2')?.innerText.includes('runs')`)
	id := s.sql(t,
		"SELECT id FROM information_schema.process_list WHERE query LIKE '%CROSS JOIN app d%' AND query NOT LIKE '%process_list%'")[0][0]
	s.sql(t, fmt.Sprintf("KILL '%v'", id))
	p.wait("that it was killed", `document.querySelector('.sql-results .error')?.innerText.includes('killed')`)

	// One that ends shows all that it did, as one that is not seen running.
	q := openSQL(t, s, "EXPLAIN ANALYZE SELECT level, count(*) AS n FROM app GROUP BY 1 ORDER BY 2 DESC")
	q.runSQL(false)
	q.wait("its plan",
		`document.querySelector('.plan pre.faint')?.innerText.includes('rows: 4, planning: ') &&
			!document.querySelector('.plan h2').innerText.includes('runs')`)
	if text := q.text(".plan-tree"); !strings.Contains(text, "TableScan: public.app") ||
		!strings.Contains(text, "3,000") {
		t.Errorf("the plan is %s", text)
	}
	if bad := eval[[]string](q,
		`[...document.querySelectorAll('.plan-tree td:nth-child(3)')].map((e) => e.innerText)
			.filter((t) => !/^(\d[\d.]* (ns|µs|ms|s)|0 ?\S*)?$/.test(t))`); len(bad) > 0 {
		t.Errorf("times as %q", bad)
	}
	q.wait("its log",
		`(document.querySelector('[data-tab=log]').click(), document.querySelector('.sql-results table')?.innerText.includes('EXPLAIN ANALYZE'))`)
	e := openSQL(t, s, "SELECT nosuch FROM app")
	eval[bool](e,
		`(() => { window.on = [...document.querySelectorAll('.sql-actions button')]
			.find((b) => b.innerText === 'Explain'); window.on.focus(); return true; })()`)
	e.press(kb.Enter)
	e.wait("what is wrong",
		`document.querySelector('.sql-results .error')?.innerText.includes('nosuch') &&
			document.activeElement === window.on`)
}
