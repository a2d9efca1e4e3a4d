//go:build dashboard && browser

package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// tab is a tab of a browser that tests use one after another. A new tab, its browser context and its process cost more
// work than most pages.
type tab struct {
	ctx context.Context
	end context.CancelFunc
	// visited are the servers whose pages the tab has shown: the browser may keep something of them.
	visited map[string]bool
}

// idle are the tabs that no test uses.
var idle struct {
	mu   sync.Mutex
	tabs []*tab
}

// blank is the address of an empty page. Chromium shows it in the process of the dashboard's pages, and about:blank in
// a new process.
var blank string

// serveBlank serves the empty page.
func serveBlank() (end func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>blank</title><link rel="icon" href="data:,">`)
	}))
	blank = s.URL + "/"
	return s.Close
}

// newTab opens a tab in a browser.
func newTab(t *testing.T, browser context.Context, with ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{visited: map[string]bool{}}
	b.ctx, b.end = chromedp.NewContext(browser, with...)
	// Bodies that the browser would keep for the tools of developers would count as the page's memory, up to 200 MB of
	// them.
	unkept := network.EnableParams{MaxTotalBufferSize: new(int64(0)), MaxResourceBufferSize: new(int64(0))}
	if _, err := chromedp.Call(b.ctx, network.Enable, unkept); err != nil {
		t.Fatal(err)
	}
	// Other pages run at the same time, of which one alone would have the focus of the browser.
	if _, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	return b
}

// idleTab takes an idle tab, or opens one with a browser context of its own.
func idleTab(t *testing.T) *tab {
	t.Helper()
	idle.mu.Lock()
	if n := len(idle.tabs); n > 0 {
		b := idle.tabs[n-1]
		idle.tabs = idle.tabs[:n-1]
		idle.mu.Unlock()
		return b
	}
	idle.mu.Unlock()
	b := newTab(t, browser, chromedp.WithNewBrowserContext())
	// A new server compresses each file of the dashboard when a browser first asks for it. Brotli at its best level
	// takes more work than most tests.
	if _, err := chromedp.Call(b.ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{
		Headers: network.Headers{"Accept-Encoding": "gzip"}}); err != nil {
		t.Fatal(err)
	}
	return b
}

// show opens a page of a server in a tab until the test ends; then leave gets the tab. Scripts run before those of each
// document.
func (b *tab) show(t *testing.T, s *server, path string, scripts []string, leave func(p *page, b *tab)) *page {
	t.Helper()
	p := &page{t: t, s: s, files: map[network.RequestID]string{}, received: map[network.RequestID]int{},
		open:    map[network.RequestID]cdp.LoaderID{},
		allowed: []string{"/v1/session", "/v1/dashboards"}} // servers without it answer 404
	var end context.CancelFunc
	p.ctx, end = context.WithCancel(b.ctx)
	if err := chromedp.Listen(p.ctx, p.notice); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.report(t)
		end()
		leave(p, b)
	})
	p.size(1280, 800)
	for _, script := range append([]string{quietScript}, scripts...) {
		p.before(script)
	}
	p.slowDown()
	forget := cdppage.ScriptIdentifier("")
	if b.visited[s.url] {
		forget = p.before(fmt.Sprintf(`if (location.origin === %q) { localStorage.clear(); sessionStorage.clear(); }`,
			s.url))
	}
	b.visited[s.url] = true
	p.visit(path)
	if forget != "" {
		p.withdraw(forget)
	}
	return p
}

// before runs a script before those of each document that the page loads from now on.
func (p *page) before(script string) cdppage.ScriptIdentifier {
	p.t.Helper()
	added, err := chromedp.Call(p.ctx, cdppage.AddScriptToEvaluateOnNewDocument,
		cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	if err != nil {
		p.t.Fatal(err)
	}
	p.scripts = append(p.scripts, added.Identifier)
	return added.Identifier
}

// withdraw takes back a script of before.
func (p *page) withdraw(script cdppage.ScriptIdentifier) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, cdppage.RemoveScriptToEvaluateOnNewDocument,
		cdppage.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: script}); err != nil {
		p.t.Fatal(err)
	}
	for i, one := range p.scripts {
		if one == script {
			p.scripts = append(p.scripts[:i], p.scripts[i+1:]...)
			return
		}
	}
}

// giveBack makes a tab idle when it is again as a new one would be. A tab whose test failed is closed.
func giveBack(p *page, b *tab) {
	if p.t.Failed() || b.clear(p.scripts) != nil {
		b.end()
		return
	}
	idle.mu.Lock()
	defer idle.mu.Unlock()
	idle.tabs = append(idle.tabs, b)
}

// clear leaves the page that a tab shows, and takes back what a test has set.
func (b *tab) clear(scripts []cdppage.ScriptIdentifier) error {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	for _, script := range scripts {
		if _, err := chromedp.Call(ctx, cdppage.RemoveScriptToEvaluateOnNewDocument,
			cdppage.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: script}); err != nil {
			return err
		}
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		return err
	}
	// A page with unsaved text would ask whether to leave it.
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](
		`addEventListener('beforeunload', (e) => e.stopImmediatePropagation(), { capture: true }) ?? true`)); err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.Navigate(blank))
}
