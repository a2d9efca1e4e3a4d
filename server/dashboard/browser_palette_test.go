//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestPaletteFinds: tables, kept queries, pipelines and metrics are a few letters away.
func TestPaletteFinds(t *testing.T) {
	t.Parallel()
	s := shop(t)
	s.post(t, "/v1/dashboards/query.slow-ones", "application/json",
		[]byte(`{"kind":"query","version":1,"name":"Slow ones","sql":"SELECT 'kept'"}`))
	p := open(t, s, "/dashboard/logs#t=app")
	p.shown("logs")
	for _, c := range []struct{ typed, kind, want string }{
		{"app describe", "describe in SQL",
			`new URLSearchParams(location.hash.slice(1)).get('sql') === 'DESCRIBE TABLE "app"'`},
		{"app first rows", "first rows in SQL",
			`new URLSearchParams(location.hash.slice(1)).get('sql')?.startsWith('SELECT * FROM "app"')`},
		{"slow ones", "kept query", `new URLSearchParams(location.hash.slice(1)).get('sql') === "SELECT 'kept'"`},
		{"http_requests_total metric", "metric",
			`location.pathname.endsWith('/metrics') && new URLSearchParams(location.hash.slice(1)).get('q') === 'http_requests_total'`},
	} {
		p.mod("k")
		p.wait("the palette", `document.activeElement.ariaLabel === 'Command'`)
		p.press(c.typed)
		p.wait(c.kind, fmt.Sprintf(`document.querySelector('#palette-0 .kind')?.innerText === %q`, c.kind))
		p.press(kb.Enter)
		p.wait(c.typed, c.want)
		p.wait("no palette", `!document.querySelector('dialog')`)
	}
	p.mod("k")
	p.wait("more than fits",
		`(() => { const list = document.querySelector('#palette-list');
			return list?.scrollHeight > list?.clientHeight + 100; })()`)
	p.quiet()
	p.press(kb.ArrowUp) // from the first to the last
	p.wait("the last in the view", `(() => {
		const e = document.getElementById(document.activeElement.getAttribute('aria-activedescendant')), r = e?.getBoundingClientRect(), list = document.querySelector('#palette-list').getBoundingClientRect();
		return e && !e.nextElementSibling && r.top >= list.top - 1 && r.bottom <= list.bottom + 1;
	})()`)
}

// TestD82TwoKeys: two keys lead to each page from each, also where the second is a key of the page; find gives its key
// back.
func TestD82TwoKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	p := logsAt(t, s, "t=app")
	for _, to := range []struct{ key, name string }{{"x", "status"}, {"l", "logs"}, {"t", "traces"}, {"l", "logs"},
		{"p", "pipelines"}, {"l", "logs"}, {"s", "sql"}} {
		p.goTo(to.key, to.name)
	}
	p.goTo("l", "logs")
	p.figures()
	p.rowsShown()
	p.mod("f")
	p.wait("the box", `document.activeElement.closest('.find')`)
	if taken := eval[bool](p,
		`!document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true }))`); taken {
		t.Error("a second Ctrl+F is not left to the browser")
	}
}

// TestSQLRefresh: what runs again by itself changes nothing, and what is shown stays until the next answer.
func TestSQLRefresh(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	p := openSQL(t, s, "SELECT count(*) AS n, now() AS at FROM app")
	p.runSQL(false)
	p.rowsShown()
	p.click("#timerange")
	p.wait("the panel", `document.querySelector('.picker select')`)
	eval[bool](p,
		`(() => { const e = document.querySelector('.picker select'); e.value = '5';
			e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.press(kb.Escape)
	s.ingest(t, "app", shopLines(7, time.Second))
	p.wait("the new count without a click",
		`[...document.querySelectorAll('.sql-results .grid-row')].some((r) => r.innerText.includes('57'))`)
}

// TestOffersFollow: the completion that the arrows chose is named by its field and is in the view.
func TestOffersFollow(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/")
	p.size(1280, 160) // half of it is what the list has
	for _, one := range []struct{ path, field string }{{"logs#t=app", "#logs-search"}, {"traces", "#traces-search"}} {
		p.visit("/dashboard/" + one.path)
		p.wait("the field", fmt.Sprintf(`document.querySelector(%q)`, one.field))
		p.quiet()
		p.fill(one.field, "s")
		p.wait("more than fits",
			`(() => { const list = document.querySelector('.offers'); return list?.scrollHeight > list?.clientHeight;
				})()`)
		p.quiet()
		p.press(kb.ArrowUp) // to the last
		p.wait("the last in the view", `(() => {
			const e = document.getElementById(document.activeElement.getAttribute('aria-activedescendant')), r = e?.getBoundingClientRect(), list = document.querySelector('.offers').getBoundingClientRect();
			return e && e.ariaSelected === 'true' && !e.nextElementSibling && r.top >= list.top - 1 && r.bottom <= list.bottom + 1;
		})()`)
		p.press(kb.Escape)
		p.wait("nothing named",
			`!document.querySelector('.offers') && !document.activeElement.hasAttribute('aria-activedescendant')`)
	}
}
