//go:build dashboard && browser

package dashboard

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hold holds the files whose address has a part, and that are not here yet, until letGo. Until then what an expression
// asks for, absent, is not there.
func (p *page) hold(part, absent string) (letGo func()) {
	p.t.Helper()
	held := fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*" + part + "*"}}}
	if _, err := chromedp.Call(p.ctx, fetch.Enable, held); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		p.t.Helper()
		if eval[bool](p, `Boolean(`+absent+`)`) {
			p.t.Errorf("without its files there is %s", absent)
		}
		if _, err := chromedp.Call(p.ctx, fetch.Disable, cdp.Empty{}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// typed presses keys as a keyboard does: one that the page takes brings no letter. Those of press bring theirs in any
// case.
func (p *page) typed(keys string) { p.t.Helper(); p.typedAt(keys, 0) }

// typedAt presses all keys at one moment, in seconds since 1970; 0: each at its own.
func (p *page) typedAt(keys string, at input.TimeSinceEpoch) {
	p.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down, up := *events[0], *events[len(events)-1]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		down.Type = "keyDown" // with its letter
		for _, event := range []input.DispatchKeyEventParams{down, up} {
			event.Timestamp = at
			if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, event); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// TestKeysWaitForTheirField: what is typed behind a shortcut goes to the field that it opens, though that has to be
// loaded first; no letter is lost, and none is taken for a shortcut.
func TestKeysWaitForTheirField(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(300, time.Second))

	t.Run("find in logs", func(t *testing.T) {
		p := openNew(t, browser, s, "/dashboard/logs#t=app")
		p.rowsShown()
		address := eval[string](p, `location.hash`)
		letGo := p.hold("/dashboard/", `document.querySelector('.find')`)
		p.mod("f")
		p.typed("infox" + kb.Backspace + kb.Enter)
		letGo()
		p.wait("the box", `document.activeElement.closest('.find')`)
		p.quiet()
		p.wait("what it finds", found+`.startsWith('info: 2 of ')`)
		if now := eval[string](p, `location.hash`); now != address {
			t.Errorf("the address is %s, before %s", now, address)
		}
	})

	t.Run("palette", func(t *testing.T) {
		p := openNew(t, browser, s, "/dashboard/logs#t=app")
		p.rowsShown()
		letGo := p.hold("/dashboard/", `document.querySelector('dialog')`)
		p.mod("k")
		p.typed("theme: dark" + kb.Enter)
		letGo()
		p.wait("the theme", `document.documentElement.dataset.theme === 'dark' && !document.querySelector('dialog')`)
	})

	t.Run("Escape gives it up", func(t *testing.T) {
		p := openNew(t, browser, s, "/dashboard/logs#t=app")
		p.rowsShown()
		letGo := p.hold("/dashboard/", `document.querySelector('dialog')`)
		p.mod("k")
		p.typed("theme: dark" + kb.Escape)
		p.typed("w")
		letGo()
		p.wait("a shortcut again", `location.hash.includes('wrap=')`)
		p.quiet()
		if eval[bool](p, `document.querySelector('dialog') !== null`) {
			t.Error("the palette opens though Escape was pressed")
		}
	})

	for _, c := range []struct{ name, page, text string }{
		{"the editor of SQL", "sql", "SELECT rows"},
		{"the editor of Metrics", "metrics", "rate(fast)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const content = `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`
			p := openNew(t, browser, s, "/dashboard/logs#t=app")
			p.rowsShown()
			p.allow("/v1/sql/parse") // what is typed so far may be no statement
			letGo := p.hold("/lib/editor.js", content)
			p.goTo(c.page[:1], c.page)
			p.wait("the place of its editor", `document.querySelector('.editor')`)
			p.typed("/" + c.text)
			letGo()
			p.wait("the text in the editor", content+`?.innerText.trim() === `+quoteJSON(c.text))
			p.wait("the focus in the editor", focus+`?.classList.contains('cm-content')`)
		})
	}
}
