//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestManual: help leads to texts that this server has; other names are 404.
func TestManual(t *testing.T) {
	s := start(t)
	p := open(t, s, "/dashboard/sql")
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	eval[bool](p, `document.querySelector('#rail button[title^=Help]').click() ?? true`)
	p.wait("help", `document.querySelector('dialog.help [data-tab=manual]')`)
	p.click("dialog.help [data-tab=manual]")
	links := eval[[]string](p, `[...document.querySelectorAll('dialog.help li a')].map((a) => a.href)`)
	if len(links) < 15 {
		t.Errorf("links %q", links)
	}
	p.shot("help-manual")
	for _, link := range append(links, s.url+"/dashboard/docs/none.md", s.url+"/dashboard/docs/docs.go", s.url+"/dashboard/docs/ingest") {
		r, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if text := strings.HasPrefix(string(body), "# "); text != (r.StatusCode == 200) {
			t.Errorf("%s: %s, %.40q", link, r.Status, body)
		}
		if want := strings.Contains(link, "none") || strings.HasSuffix(link, ".go") || strings.HasSuffix(link, "ingest"); want != (r.StatusCode == 404) {
			t.Errorf("%s: %s", link, r.Status)
		}
		if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
			t.Errorf("%s is of type %s", link, kind)
		}
	}
}

// TestPaletteFinds: tables, kept queries, pipelines and metrics are a few letters away.
func TestPaletteFinds(t *testing.T) {
	s := shop(t)
	s.post(t, "/v1/dashboards/query.slow-ones", "application/json", []byte(`{"kind":"query","version":1,"name":"Slow ones","sql":"SELECT 'kept'"}`))
	p := open(t, s, "/dashboard/logs#t=app")
	p.shown("logs")
	for _, c := range []struct{ typed, kind, want string }{
		{"app describe", "describe in SQL", `new URLSearchParams(location.hash.slice(1)).get('sql') === 'DESCRIBE TABLE "app"'`},
		{"app first rows", "first rows in SQL", `new URLSearchParams(location.hash.slice(1)).get('sql')?.startsWith('SELECT * FROM "app"')`},
		{"slow ones", "kept query", `new URLSearchParams(location.hash.slice(1)).get('sql') === "SELECT 'kept'"`},
		{"http_requests_total metric", "metric", `location.pathname.endsWith('/metrics') && new URLSearchParams(location.hash.slice(1)).get('q') === 'http_requests_total'`},
	} {
		p.mod("k")
		p.wait("the palette", `document.activeElement.ariaLabel === 'Command'`)
		p.press(c.typed)
		p.wait(c.kind, fmt.Sprintf(`document.querySelector('#palette-0 .kind')?.innerText === %q`, c.kind))
		p.press(kb.Enter)
		p.wait(c.typed, c.want)
		p.wait("no palette", `!document.querySelector('dialog')`)
	}
}

// TestD82TwoKeys: two keys lead to each page from each, also where the second is a key of the page; find gives its key back.
func TestD82TwoKeys(t *testing.T) {
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	p := logsAt(t, s, "t=app")
	for _, to := range []struct{ key, name string }{{"x", "status"}, {"l", "logs"}, {"t", "traces"}, {"l", "logs"}, {"p", "pipelines"}, {"l", "logs"}, {"s", "sql"}} {
		p.goTo(to.key, to.name)
	}
	p.goTo("l", "logs")
	p.figures()
	p.rowsShown()
	p.mod("f")
	p.wait("the box", `document.activeElement.closest('.find')`)
	if taken := eval[bool](p, `!document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true }))`); taken {
		t.Error("a second Ctrl+F is not left to the browser")
	}
}

// TestSQLRefresh: what runs again by itself changes nothing, and what is shown stays until the next answer.
func TestSQLRefresh(t *testing.T) {
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	p := openSQL(t, s, "SELECT count(*) AS n, now() AS at FROM app")
	p.runSQL(false)
	p.rowsShown()
	p.click("#timerange")
	p.wait("the panel", `document.querySelector('.picker select')`)
	eval[bool](p, `(() => { const e = document.querySelector('.picker select'); e.value = '5'; e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.press(kb.Escape)
	s.ingest(t, "app", shopLines(7, time.Second))
	p.wait("the new count without a click", `[...document.querySelectorAll('.sql-results .grid-row')].some((r) => r.innerText.includes('57'))`)
}
