//go:build dashboard && browser

package dashboard

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// menuItems are the items of the open menu that can have the focus.
const menuItems = `[...document.querySelectorAll('[role=menu] [role^=menuitem]:not(:disabled)')]`

// TestMenus opens every menu: it is one for who does not see it, arrows, Home, End and letters walk in it, and Escape
// gives the focus back.
func TestMenus(t *testing.T) {
	t.Parallel()
	s := shop(t)
	axe, err := os.ReadFile("libsrc/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Logf(
			"axe is not installed (make dashboard-compiler installs it): names of buttons and fields alone are looked at")
	}
	p := open(t, s, "/dashboard/status")
	const openers = `[...document.querySelectorAll('button[aria-haspopup=menu], #rail button[title^="Database"]')]
		.filter((b) => !b.disabled && b.checkVisibility())`
	for _, path := range []string{"logs#t=app",
		"sql#sql=SELECT%20level%2C%20count(*)%20AS%20n%20FROM%20app%20GROUP%20BY%201", "metrics#q=http_requests_total",
		"traces", "traces#id=" + traceID(0), "pipelines#name=shop", "status#tab=tables"} {
		t.Run(path, func(t *testing.T) {
			p.anew(t, "/dashboard/"+path)
			p.wait("the page", `document.querySelector('#page h1') && !document.querySelector('.coming')`)
			p.quiet()
			if path[:3] == "sql" {
				p.runSQL(false)
				p.rowsShown()
			}
			n := eval[int](p, openers+`.length`)
			for i := range min(n, 8) {
				name := eval[string](p, `(() => { const b = (window.opener1 = `+openers+`.at(`+strconv.Itoa(i)+
					`)); b.focus(); return b.title || b.innerText; })()`)
				p.press(kb.Enter)
				p.wait("the menu "+name, `document.querySelector('[role=menu]')`)
				p.quiet()
				for _, odd := range eval[[]string](p,
					`[...document.querySelectorAll('[role=menu] :is(button, a, input, select, p)')]
						.filter((e) => !/^menuitem/.test(e.role ?? '')).map((e) => e.outerHTML.slice(0, 200))`) {
					t.Errorf("%s: not an item of the menu: %s", name, odd)
				}
				p.accessible(t, name, string(axe))
				if eval[int](p, menuItems+`.length`) > 0 {
					p.wait("the focus on an item of "+name, menuItems+`.includes(document.activeElement)`)
					p.press(kb.End)
					p.wait("the last item", `document.activeElement === `+menuItems+`.at(-1)`)
					p.press(kb.ArrowDown)
					p.wait("the first item", `document.activeElement === `+menuItems+`[0]`)
					p.press(kb.ArrowUp)
					p.wait("the last item by the way back", `document.activeElement === `+menuItems+`.at(-1)`)
					p.press(kb.Home)
					p.wait("the first item by its key", `document.activeElement === `+menuItems+`[0]`)
					letter := eval[string](p, menuItems+`.at(-1).innerText.trim()[0]?.toLowerCase() ?? ''`)
					if p.press(letter); !eval[bool](p,
						`document.activeElement.innerText.trim().toLowerCase().startsWith(`+quoteJSON(letter)+`)`) {
						t.Errorf("%s: %s leads to %s", name, letter,
							eval[string](p, `document.activeElement.innerText`))
					}
				}
				p.press(kb.Escape)
				p.wait("the focus back on "+name,
					`!document.querySelector('[role=menu]') && document.activeElement === window.opener1`)
			}
		})
	}
	p.anew(t, "/dashboard/status")
	p.wait("the chooser", `document.querySelector('#rail button[title^="Database"]')`)
	p.quiet()
	p.click(`#rail button[title^="Database"]`)
	p.wait("the focus on the chosen one", `document.activeElement.getAttribute('aria-checked') === 'true'`)
}

// TestDialogsGiveTheFocusBack: Escape closes what opened over the page, and the focus is where it was.
func TestDialogsGiveTheFocusBack(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/status")
	for _, c := range []struct {
		name, page, from string
		keys             string
		mod              bool
	}{
		{"help", "logs#t=app", `.logs-list .grid`, "?", false},
		{"palette", "logs#t=app", `.logs-list .grid`, "k", true},
		{"palette from a field", "logs#t=app", `#logs-search`, "k", true},
		{"time zone", "logs#t=app", `#rail button[title^="Time zone"]`, kb.Enter, false},
		{"time range", "sql", `#timerange`, kb.Enter, false},
		{"question", "sql#sql=DROP%20TABLE%20app", `.sql-actions button`, kb.Enter, false},
		{"help from a link", "metrics", `#rail a[href$="/metrics"]`, "?", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.anew(t, "/dashboard/"+c.page)
			p.wait("the page",
				`document.querySelector('#page h1') && !document.querySelector('.coming') && document.querySelector(`+
					quoteJSON(c.from)+`)`)
			p.quiet()
			eval[bool](p, `(() => { window.from = document.querySelector(`+quoteJSON(c.from)+
				`); window.from.focus(); return true; })()`)
			if c.mod {
				p.mod(c.keys)
			} else {
				p.press(c.keys)
			}
			p.wait("what opens", `document.querySelector('dialog:modal, .pop')?.contains(document.activeElement)`)
			p.press(kb.Escape)
			p.wait("the focus back",
				`!document.querySelector('dialog, .pop') && document.activeElement === window.from`)
		})
	}
}

// TestPaletteGivenUp: Escape before the palette is there gives it up. What is typed meanwhile is not for the field
// behind, which keeps the focus; so it does when the palette opens and closes.
func TestPaletteGivenUp(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/status")
	const editor = `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`
	for _, c := range []struct{ page, field string }{
		{"logs#t=app", `document.querySelector('#logs-search')`},
		{"traces", `document.querySelector('#traces-search')`},
		{"sql#sql=SELECT%201", editor}, {"metrics#q=up", editor},
	} {
		t.Run(c.page, func(t *testing.T) {
			p.anew(t, "/dashboard/"+c.page)
			p.wait("the field", c.field)
			if !eval[bool](p, `(() => {
				window.field = `+c.field+`;
				window.has = () => window.field.getRootNode().activeElement === window.field && document.activeElement !== document.body;
				window.field.focus();
				const text = () => window.field.value ?? window.field.innerText, before = text();
				const key = (key, ctrlKey) => { if (window.field.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, composed: true, cancelable: true })) && !ctrlKey && key.length === 1) document.execCommand('insertText', false, key); };
				key('k', true);
				key('x', false);
				key('Escape', false);
				return window.has() && text() === before;
			})()`) {
				t.Errorf("the field lost the focus or took what was typed\n%s", p.describe())
			}
			p.quiet()
			p.wait("no palette", `!document.querySelector('dialog') && window.has()`)
			p.mod("k")
			p.wait("the palette", `document.querySelector('dialog:modal')?.contains(document.activeElement)`)
			p.press(kb.Escape)
			p.wait("the focus back", `!document.querySelector('dialog') && window.has()`)
		})
	}
}

// TestLogsLookedAt: what was looked at before has its time of day whole.
func TestLogsLookedAt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := open(t, s, "/dashboard/logs#t=app")
	p.rowsShown()
	eval[bool](p,
		`(() => { const name = Object.keys(localStorage)
			.find((k) => k.includes('logs.history')), list = JSON.parse(localStorage[name]);
			list[0].at = Math.floor(list[0].at / 1000) * 1000 + 987; localStorage[name] = JSON.stringify(list);
			return true; })()`)
	p.click(`.toolbar button[title="More"]`)
	p.wait("the time",
		`/· \d\d:\d\d:\d\d$/.test([...document.querySelectorAll('[role=menu] .look + .end')][0]?.innerText)`)
}
