//go:build dashboard && browser

package dashboard

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// filesLate makes files that are not here yet come half a second after they are asked for.
func (p *page) filesLate() {
	p.t.Helper()
	late := &network.Conditions{Latency: 500, DownloadThroughput: -1, UploadThroughput: -1}
	files := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{late}}
	if _, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule, files); err != nil {
		p.t.Fatal(err)
	}
}

// typed presses keys as a keyboard does: one that the page takes brings no letter. Those of press bring theirs in any
// case.
func (p *page) typed(keys string) {
	p.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down, up := *events[0], *events[len(events)-1]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		down.Type = "keyDown" // with its letter
		for _, event := range []input.DispatchKeyEventParams{down, up} {
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
		p.filesLate()
		p.mod("f")
		p.typed("infox" + kb.Backspace + kb.Enter)
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
		p.filesLate()
		p.mod("k")
		p.typed("theme: dark" + kb.Enter)
		p.wait("the theme", `document.documentElement.dataset.theme === 'dark' && !document.querySelector('dialog')`)
	})

	t.Run("Escape gives it up", func(t *testing.T) {
		p := openNew(t, browser, s, "/dashboard/logs#t=app")
		p.rowsShown()
		p.filesLate()
		p.mod("k")
		p.typed("theme: dark" + kb.Escape)
		p.typed("w")
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
			p := openNew(t, browser, s, "/dashboard/logs#t=app")
			p.rowsShown()
			p.filesLate()
			p.goTo(c.page[:1], c.page)
			p.wait("its editor is on its way",
				`document.querySelector('.editor') && !document.querySelector('.editor').shadowRoot?.querySelector('.cm-content')`)
			p.typed("/" + c.text)
			p.wait("the text in the editor",
				`document.querySelector('.editor').shadowRoot?.querySelector('.cm-content')?.innerText.trim() === `+
					quoteJSON(c.text))
			p.wait("the focus in the editor", focus+`?.classList.contains('cm-content')`)
		})
	}
}
