//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// readingAt is where in the list somebody is: the first row of the view, the row that is chosen and the cell in it,
// each with its place on the screen, and what has the focus.
const readingAt = `(() => {
	const grid = document.querySelector('.logs-main .grid'), head = grid.querySelector('.grid-head').getBoundingClientRect().bottom;
	const rows = [...grid.querySelectorAll('.grid-row')].filter((r) => r.dataset.row >= '0' && r.getBoundingClientRect().bottom > head + 1).sort((a, b) => a.dataset.row - b.dataset.row);
	const at = (r) => r ? r.innerText.replace(/\s+/g, ' ') + ' at ' + Math.round(r.getBoundingClientRect().top - head) : 'none';
	return ['first ' + at(rows[0]), 'chosen ' + at(grid.querySelector('.grid-row.focus')), 'cell ' + grid.querySelector('.grid-cell.at')?.innerText, 'active ' + document.activeElement.className].join('\n');
})()`

// TestLogsRefreshKeeps: when the page runs by itself, who reads in the rows goes on at the same row, whatever came
// above it: its place on the screen, the chosen row and the focus stay. At the top with no row chosen the newest rows
// come.
func TestLogsRefreshKeeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, state string }{{"each row", "fold=0"}, {"lines wrapped", "fold=0&wrap=1"},
		{"equal rows folded", "cols=-"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			n, at := 0, time.Now().Add(-2*time.Second)
			// between the last ones and now; one in ten is equal to the row before, two in ten but for the time
			add := func(rows int) {
				var lines []string
				step := time.Since(at) / time.Duration(rows+1)
				for i := range rows {
					if i%10 != 7 {
						at = at.Add(step)
					}
					if i%10 < 6 {
						n++
					}
					lines = append(lines, fmt.Sprintf(`{"ts":%d,"level":"info","message":"event %d %s"}`, at.UnixNano(),
						n, strings.Repeat("long ", n%7*20)))
				}
				s.ingest(t, "app", lines)
			}
			add(1300)
			p := open(t, s, "/dashboard/logs#t=app&"+c.state, hastened)
			p.rowsShown()
			eval[bool](p,
				`(() => { window.asked = 0; const real = window.fetch;
					window.fetch = (url, how) => { if (/v1\/sql\?/.test(url)) window.asked++; return real(url, how); };
					return true; })()`)
			eval[bool](p,
				`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.refresh.value = 300; return true; })`)
			total, shown := 1300, 1300 // where too many came the figures stay those of the rows that are shown
			refresh := func(rows int) {
				t.Helper()
				p.quiet()
				if total += rows; rows <= 10_000 {
					shown = total
				}
				add(rows)
				eval[bool](p, `(window.asked = 0) || elapse()`)
				p.wait("that it asks", `window.asked > 0`)
				p.wait("the total",
					fmt.Sprintf(
						`document.querySelector('.logs-status .figures b').innerText.replaceAll(',', '') === '%d rows'`,
						shown))
				p.quiet()
			}
			same := func(what string, rows int) {
				t.Helper()
				p.quiet()
				before := eval[string](p, readingAt)
				refresh(rows)
				if after := eval[string](p, readingAt); after != before {
					t.Errorf("%s: before\n%s\nafter\n%s", what, before, after)
				}
			}
			newest := func(what string) {
				t.Helper()
				if got := p.rowsShown()[0]; !strings.Contains(got, fmt.Sprintf("event %d ", n)) {
					t.Errorf("%s the first row is %q, want event %d", what, got, n)
				}
			}
			refresh(5)
			newest("at the top")

			eval[bool](p, `document.querySelector('.logs-main .grid').focus() ?? true`)
			p.press("jjj" + kb.ArrowRight)
			same("near the top", 40)
			p.press("kkkkk")
			same("a little further up", 3)
			p.press("jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj")
			same("further down, more than a page of new rows", 700)
			p.press(kb.End)
			p.quiet()
			p.press(kb.End)
			p.quiet()
			p.press("kkk")
			same("far below", 30)
			eval[bool](p, `(document.querySelector('.logs-main .grid').scrollTop -= 3333) > 0`)
			same("scrolled away from the chosen row", 20)
			p.press("j")
			p.wait("the chosen row, where a key leads back to it",
				`document.querySelector('.logs-main .grid-row.focus')`)

			same("too many new rows", 12_000)
			p.wait("what is said of them",
				`/as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, r asks anew/.test(document.querySelector('.logs-status .figures').innerText)`)
			p.press("r")
			p.wait("the newest rows",
				fmt.Sprintf(
					`document.querySelector('.grid').scrollTop === 0 &&
						document.querySelector('.logs-status .figures').innerText.replaceAll(',', '').startsWith('%d rows') &&
						!document.querySelector('.logs-status .figures').innerText.includes('as of')`, total))
			newest("run by hand")
		})
	}
}
