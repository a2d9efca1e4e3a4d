//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focus is what has it, as a short text, into shadow roots.
const focus = `(() => { let e = document.activeElement;
	while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e; })()`

// tabTo presses Tab until what has the focus is so.
func (p *page) tabTo(what, is string) {
	p.t.Helper()
	for range 80 {
		if eval[bool](p, fmt.Sprintf(`((e) => Boolean(e && (%s)))(%s)`, is, focus)) {
			return
		}
		if eval[bool](p, `Boolean(`+focus+`?.classList.contains('cm-content'))`) {
			p.press(kb.Escape) // in an editor Tab indents, after Escape it leaves
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("Tab does not come to %s\n%s", what, p.describe())
}

func (p *page) mod(key string) {
	p.t.Helper()
	p.press(key, chromedp.KeyModifiers(2))
}

// instead types in place of all that is in the field: here a key that was taken as a shortcut still brings its letter.
func (p *page) instead(keys string) {
	p.t.Helper()
	p.mod("a")
	p.press(keys)
}

// goTo opens a page by its two letters, and waits for what is on it: until its module is here there is only its name.
func (p *page) goTo(key, name string) {
	p.t.Helper()
	eval[bool](p, `(() => { `+focus+`?.blur(); return true; })()`)
	// At one moment: behind a long pause, as there may be on a busy machine, they are two keys and no shortcut.
	p.typedAt("g"+key, input.TimeSinceEpoch(float64(time.Now().UnixMilli())/1000))
	p.wait("page "+name,
		fmt.Sprintf(
			`location.pathname.endsWith('/%s') && document.querySelector('#page h1')?.innerText.toLowerCase() === '%s' && !document.querySelector('#page .coming')`, name, name))
}

// TestD82Rows: j and k walk the rows wherever the focus is but in a field, where they are letters, and the help names
// them.
func TestD82Rows(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/logs#t=app")
	p.shown("logs")
	const at = `document.querySelector('.grid-row.focus')?.getAttribute('aria-rowindex')`
	p.press("j")
	p.wait("the first row", at+` === '1' && document.activeElement.matches('.grid')`)
	p.press("j")
	p.wait("the second row", at+` === '2'`)
	p.press("/")
	p.press("k")
	p.wait("a letter", `document.getElementById('logs-search').value.endsWith('k')`)
	p.press(kb.Escape)
	eval[bool](p, `(() => { document.querySelector('#rail a').focus(); return true; })()`)
	p.press("k")
	p.wait("the row before", at+` === '1' && document.activeElement.matches('.grid')`)
	p.press("?")
	p.wait("the keys", `document.querySelector('dialog')?.innerText.includes('Next row')`)
}

// TestD82Keyboard does the main task of each page without a mouse.
func TestD82Keyboard(t *testing.T) {
	t.Parallel()
	s := shop(t)
	p := open(t, s, "/dashboard/logs#t=app")
	p.shown("logs")

	// Logs: search, walk to a row, open it, go through its tabs, filter by a value, and step out.
	p.press("/")
	p.wait("the focus in the search line", `document.activeElement.id === 'logs-search'`)
	p.instead("level:error" + kb.Enter)
	p.wait("the search", `new URLSearchParams(location.hash.slice(1)).get('q') === 'level:error'`)
	p.wait("the rows that are found, alone",
		`((rows) => rows.length > 0 && rows.every((r) => r.querySelector('.level')?.innerText.includes('error')))([...document.querySelectorAll('.grid-row:not(.hidden)')])`)
	p.press(kb.Escape)
	p.tabTo("the list", `e.classList.contains('grid')`)
	p.press("jj" + kb.Enter)
	p.wait("the drawer", `document.querySelector('.drawer table.fields')`)
	p.press("]")
	p.wait("the next tab", `document.querySelector('.drawer [data-tab=json]').ariaSelected === 'true'`)
	p.press(kb.Escape)
	p.wait("the closed drawer with the focus back in the list",
		`!document.querySelector('.drawer') && document.activeElement.classList.contains('grid')`)
	p.press("+")
	p.wait("a filter", `document.querySelector('.chip')`)
	p.figures()
	p.tabTo("the histogram", `e.closest('.histogram')`)
	p.press(kb.ArrowRight)
	p.wait("that a bar is read out",
		`[...document.querySelectorAll('.logs-histogram [aria-live], .logs-histogram [role=status]')]
			.some((e) => e.textContent.trim() !== '')`)

	// The palette leads to any page, help lists the keys.
	p.mod("k")
	p.wait("the palette", `document.activeElement.ariaLabel === 'Command'`)
	p.press("theme: dark" + kb.Enter)
	p.wait("the theme", `document.documentElement.dataset.theme === 'dark'`)
	p.press("?")
	p.wait("help", `document.querySelector('dialog.help')?.innerText.includes('Go to SQL')`)
	p.press(kb.Escape)
	p.wait("that help closes", `!document.querySelector('dialog')`)

	// SQL: write, run, walk in the result.
	p.goTo("s", "sql")
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.press("/")
	p.wait("the focus in the editor", focus+`?.classList.contains('cm-content')`)
	p.allow("/v1/sql/parse") // what is typed so far may be no statement
	p.instead("SELECT level, count(*) AS n FROM app GROUP BY 1 ORDER BY 2 DESC")
	p.press(kb.Escape)
	p.mod(kb.Enter)
	p.wait("the result",
		`[...document.querySelectorAll('.sql-results .grid-row')].some((r) => r.innerText.includes('info'))`)
	p.tabTo("the result", `e.classList.contains('grid')`)
	p.press("j" + kb.Enter)
	p.wait("the cell", `document.querySelector('.drawer')`)
	p.press(kb.Escape)

	// Metrics: an expression, its table.
	p.goTo("m", "metrics")
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.press("/")
	p.wait("the focus in the editor", focus+`?.classList.contains('cm-content')`)
	p.instead("sum(rate(http_requests_total[1m]))")
	p.press(kb.Escape)
	p.press(kb.Enter)
	p.wait("the graph", `document.querySelector('.chart canvas')`)

	// Traces: search, open one, walk in it.
	p.goTo("t", "traces")
	p.wait("the list", `document.querySelectorAll('.traces-list tbody tr').length > 0`)
	p.press("/")
	p.wait("the focus in the search line", `document.activeElement.id === 'traces-search'`)
	p.instead(traceID(0) + kb.Enter)
	p.operations()
	p.tabTo("the waterfall", `e.classList.contains('grid')`)
	p.press("j" + kb.Enter)
	p.wait("the span", `document.querySelector('.drawer')`)
	p.press(kb.Escape)

	// Pipelines: a document and a sample, the result without a click.
	p.goTo("p", "pipelines")
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.tabTo("the samples", `e.matches('textarea')`)
	p.press("info hello")
	p.tabTo("the draft", `e.innerText === 'Make a start from these'`)
	p.press(kb.Enter)
	p.wait("the result", `document.querySelectorAll('.dry tbody tr').length > 0`)

	// Ingest: lines and a table, sent.
	eval[bool](p, `(() => { onbeforeunload = null; window.confirm = () => true; return true; })()`)
	p.goTo("i", "ingest")
	p.wait("the field of the table", `document.querySelector('input[list=ingest-tables]')`)
	p.tabTo("the table", `e.matches('input[list=ingest-tables]')`)
	p.press("typed")
	p.tabTo("the lines", `e.matches('textarea')`)
	p.press(`{"message":"by hand"}`)
	p.mod(kb.Enter)
	p.wait("the row", `document.querySelector('.sent')?.innerText.includes('1 row stored')`)

	// Status: from tab to tab.
	p.goTo("x", "status")
	p.wait("the figures", `document.querySelectorAll('.figure').length > 15`)
	p.tabTo("the tabs", `e.role === 'tab'`)
	p.press(kb.ArrowRight)
	p.wait("the next tab",
		`document.querySelector('[role=tab][aria-selected=true]') === document.activeElement &&
			location.hash.includes('tab=')`)
}
