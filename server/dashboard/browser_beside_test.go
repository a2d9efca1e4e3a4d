//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// beside opens one more tab, which shares with this one what the browser keeps.
func (p *page) beside(path string) *page {
	p.t.Helper()
	return newTab(p.t, p.ctx).show(p.t, p.s, path, nil, closeTab)
}

const sqlText = `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')?.innerText`

// TestBesideSQL: two tabs of the SQL page lose nothing of each other's: neither texts nor runs, and the address says
// what is shown.
func TestBesideSQL(t *testing.T) {
	t.Parallel()
	s := start(t)
	one := open(t, s, "/dashboard/sql")
	two := one.beside("/dashboard/sql")
	for _, p := range []*page{one, two} {
		p.allow("/v1/sql/parse") // what is typed so far may be no statement
		p.wait("the editor", sqlText+` !== undefined`)
	}
	for i, p := range []*page{one, two} {
		text := fmt.Sprintf("SELECT %d AS n", i+1)
		eval[bool](p,
			fmt.Sprintf(
				`(() => { document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus();
					return document.execCommand('insertText', false, %q); })()`, text))
		p.wait("that it is kept", fmt.Sprintf(`localStorage.getItem('varve.sql.tabs.')?.includes(%q)`, text))
		p.runSQL(false)
	}
	for _, p := range []*page{one, two} {
		p.wait("both texts", `document.querySelectorAll('.sql-tab').length === 2`)
	}
	for i, p := range []*page{one, two} {
		if got, want := eval[string](p, sqlText), fmt.Sprintf("SELECT %d AS n", i+1); got != want {
			t.Errorf("tab %d shows %q, want %q", i+1, got, want)
		}
	}
	if kept := eval[string](one, `localStorage.getItem('varve.sql.history.')`); !strings.Contains(kept, "SELECT 1") ||
		!strings.Contains(kept, "SELECT 2") {
		t.Errorf("the history is %s", kept)
	}
	three := one.beside("/dashboard/sql")
	three.wait("a text of before", sqlText+`?.startsWith('SELECT')`)
	three.wait("it in the address", `new URLSearchParams(location.hash.slice(1)).get('sql') === `+sqlText)
	one.do("reload", chromedp.Reload())
	one.wait("both texts", sqlText+` === 'SELECT 1 AS n' && document.querySelectorAll('.sql-tab').length === 2`)
}

// TestBesidePreferences: theme and zone are those of the browser: other tabs follow.
func TestBesidePreferences(t *testing.T) {
	t.Parallel()
	one := open(t, start(t), "/dashboard/status")
	two := one.beside("/dashboard/status")
	two.wait("the page", `document.querySelector('.toolbar h1')`)
	for _, theme := range []string{"dark", "light", "dark"} {
		one.named("the theme", "#rail button[title^=Theme]", `true`)
		for eval[string](one, `JSON.parse(localStorage.getItem('varve.theme'))`) != theme {
			one.click("#rail button[title^=Theme]")
		}
		two.wait(theme, fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
	}
	one.mod("k")
	one.wait("the palette", `document.activeElement.ariaLabel === 'Command'`)
	one.press("Time zone: UTC\r")
	two.wait("the zone", `document.querySelector('#rail button[title="Time zone: UTC"]')`)
}

// TestKeepReplaces: a name that is taken is asked about, and so is what others lose.
func TestKeepReplaces(t *testing.T) {
	t.Parallel()
	s := start(t)
	one := openSQL(t, s, "SELECT 1")
	one.runSQL(false)
	one.button("History")
	keep := func(name string) {
		one.click(".history-entry button[aria-label='Keep by name']")
		one.wait("the question", `document.querySelector('dialog input')`)
		one.fill("dialog input", name)
		one.click("dialog button.primary")
	}
	keep("All rows")
	one.wait("that it is kept", `document.querySelector('.sql-history h2')?.innerText === 'Kept'`)
	keep("all  ROWS")
	one.wait("the second question", `document.querySelector('dialog h2')?.innerText === 'Replace All rows'`)
	one.press("\x1b")
	one.wait("no dialog", `!document.querySelector('dialog')`)
	one.wait("the first", `document.querySelector('.sql-history .node')?.innerText.trim() === 'All rows'`)
	one.click(".sql-history [aria-label='Remove All rows']")
	one.wait("the question", `document.querySelector('dialog h2')?.innerText === 'Remove All rows'`)
	one.click("dialog button.primary")
	one.wait("nothing kept", `document.querySelector('.sql-history h2')?.innerText === 'Run before'`)
}
