//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// again lets the SQL page run once by itself, as often as it is told to.
func (p *page) again() {
	p.t.Helper()
	p.quiet()
	before := eval[int](p,
		`window.sqlAsked ??= (() => { const real = window.fetch;
			window.fetch = (url, how) => { if (/v1\/sql\?/.test(url)) window.sqlAsked++; return real(url, how); };
			return 0; })()`)
	eval[bool](p,
		`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.refresh.value = m.refresh.value === 300 ? 299 : 300; return true; })`)
	p.wait("that it asked", fmt.Sprintf(`window.sqlAsked > %d`, before))
	p.quiet()
}

// looksOfResult is what somebody made of a result, and where in it somebody is.
const looksOfResult = `(() => {
	const grid = document.querySelector('.sql-results .grid'), e = document.activeElement;
	return JSON.stringify({
		heads: [...document.querySelectorAll('.grid-th')].sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left).map((h) => h.innerText.replace(/\s+/g, ' ') + ' ' + h.getBoundingClientRect().width),
		filters: [...document.querySelectorAll('.filter-row input')].map((i) => i.value), top: grid?.scrollTop, at: grid?.querySelector('.grid-row.focus')?.dataset.row, cell: [...grid?.querySelectorAll('.grid-cell.at') ?? []].map((c) => c.getBoundingClientRect().left),
		focus: e.tagName + ' ' + (e.ariaLabel ?? e.innerText), shown: [...document.querySelectorAll('.result-list [aria-pressed=true]')].map((b) => b.innerText), view: document.querySelector('[role=tab][aria-selected=true]')?.innerText,
	});
})()`

// TestSQLRefreshKeeps: when a statement runs again by itself nothing changes but the values: not how the rows are
// sorted and filtered, not the columns, not the place and the focus, not which result is shown. Few rows lie in the
// page, many in its worker.
func TestSQLRefreshKeeps(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(3000, time.Second))
	for _, rows := range []int{60, 3000} {
		t.Run(fmt.Sprintf("%d rows", rows), func(t *testing.T) {
			t.Parallel()
			p := openSQL(t, s,
				fmt.Sprintf(
					"SELECT now() AS at, level, bytes, status, message FROM app ORDER BY ts LIMIT %d; SELECT 2 AS two",
					rows))
			p.runSQL(true)
			p.click(".result-list button:nth-child(1)")
			p.rowsShown()
			at := func() string {
				return eval[string](p, `document.querySelector('.sql-results .grid-row').children[1].innerText`)
			}
			same := func(what string) {
				t.Helper()
				p.quiet()
				before, was := eval[string](p, looksOfResult),
					eval[bool](p, `(window.active = document.activeElement) !== null`)
				p.again()
				if after := eval[string](p, looksOfResult); after != before {
					t.Errorf("%s: before\n%s\nafter\n%s", what, before, after)
				}
				if !eval[bool](p, `window.active === document.activeElement`) || !was {
					t.Errorf("%s: the focus went elsewhere", what)
				}
			}
			first := at()
			eval[bool](p, `document.querySelector('.result-list button').focus() ?? true`)
			same("on the first result")
			if at() == first {
				t.Errorf("the rows are those of before: %s", first)
			}

			p.button("Filter")
			p.wait("the fields", `document.querySelector('.filter-row input[aria-label*=level]')`)
			p.fill(".filter-row input[aria-label*=level]", "info")
			eval[bool](p,
				`(() => { [...document.querySelectorAll('.grid-th')]
					.find((e) => e.innerText.startsWith('bytes')).click(); return true; })()`)
			same("in the field of a filter")
			p.dragHead("status", "level")
			eval[bool](p, `document.querySelector('.sql-results .grid').focus() ?? true`)
			p.press("jjjjj" + kb.ArrowRight + ">" + ">")
			p.press(kb.End)
			p.press("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk")
			same("far below")
			p.press(kb.Enter)
			p.wait("the cell", `document.querySelector('.drawer')`)
			same("with a cell open")
			p.press(kb.Escape)
			p.mod("f")
			p.wait("the box", `document.activeElement.closest('.find')`)
			p.press("info")
			p.wait("what it finds", `/^\d+ of /.test(document.querySelector('.find .num').innerText)`)
			p.quiet()
			if got := eval[string](p, found); !strings.HasPrefix(got, "info: 1 of ") {
				t.Errorf("once info is typed the box is %q", got)
			}
			p.press(kb.Enter)
			p.quiet()
			before := eval[string](p, found)
			same("while finding")
			if got := eval[string](p, found); got != before || !strings.HasPrefix(got, "info: 2 of ") {
				t.Errorf("found %s, before %s", got, before)
			}
			p.press(kb.Escape)

			p.click("[data-tab=json]")
			p.click("[data-tab=table]")
			p.wait("the grid", `document.querySelector('.grid-row .grid-cell')`)
			if head := eval[string](p, headTitles); !strings.Contains(head, "bytes ↑") ||
				!strings.HasPrefix(head, "at status level") {
				t.Errorf("after a look at another view the heads are %q", head)
			}
			p.click("[data-tab=log]")
			eval[bool](p, `document.querySelector('[data-tab=log]').focus() ?? true`)
			same("in the log")
		})
	}
}

// TestSQLRefreshStops: who runs a statement does not wait for one that runs by itself, and who leaves the page waits
// for none; one that is cancelled leaves what is shown.
func TestSQLRefreshStops(t *testing.T) {
	t.Parallel()
	p := openSQL(t, start(t), "SELECT now() AS at")
	p.runSQL(false)
	p.again()
	shown := p.rowsShown()[0]
	// hold holds the statements that begin so: other pages ask their own.
	hold := func(begin string) string {
		return fmt.Sprintf(`(() => { window.held = 0; const real = window.fetch;
			window.fetch = (url, how) => /v1\/sql\?/.test(url) && how.body.get('sql').startsWith(%q)
				? new Promise((_, stop) => { window.held++; how.signal.addEventListener('abort', () => { window.held--;
					stop(how.signal.reason); }); })
				: real(url, how);
			window.letGo = () => { window.fetch = real; }; return true; })()`, begin)
	}
	next := func() {
		t.Helper()
		eval[bool](p, hold("SELECT now() AS at"))
		eval[bool](p,
			`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.refresh.value++; return true; })`)
		p.wait("that it asks", `window.held === 1`)
	}
	next()
	p.wait("the way out", `document.querySelector('.waiting button')`)
	p.click(".waiting button")
	p.wait("that it ended", `window.held === 0 && !document.querySelector('.waiting')`)
	if now := p.rowsShown()[0]; now != shown {
		t.Errorf("after Cancel %q is shown, before %q", now, shown)
	}
	eval[bool](p, `letGo() ?? true`)
	next()
	eval[bool](p, `letGo() ?? true`)
	p.runSQL(false)
	p.wait("other rows",
		fmt.Sprintf(
			`window.held === 0 && document.querySelector('.grid-row') &&
				document.querySelector('.grid-row').innerText !== %s`, quoteJSON(shown)))
	next()
	p.do("leave", chromedp.Click(chromedp.CSS(`#rail a[href$="/status"]`)))
	p.wait("that it is given up", `window.held === 0`)

	// What changes something goes on: somebody may have left to see what comes of it.
	q := openSQL(t, p.s, "INSERT INTO t VALUES (1)")
	eval[bool](q, hold("INSERT INTO"))
	eval[bool](q,
		`(() => { [...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === 'Run').click();
			return true; })()`)
	q.wait("that it is sent", `window.held === 1`)
	q.do("leave", chromedp.Click(chromedp.CSS(`#rail a[href$="/status"]`)))
	q.wait("the other page", `document.querySelector('.status')`)
	if n := eval[int](q, `window.held`); n != 1 {
		t.Errorf("%d statements go on", n)
	}
}
