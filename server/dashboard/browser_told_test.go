//go:build dashboard && browser

package dashboard

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// telling keeps all that is told to readers of the screen, in order: window.heard.
const telling = `(() => {
	window.heard = [];
	new MutationObserver((list) => list.forEach((m) => m.target.id === 'told' && m.addedNodes.forEach((n) => window.heard.push(n.textContent)))).observe(document, { subtree: true, childList: true });
})()`

// TestRunsAreTold: at the end of each run, and once, the page tells readers of the screen what it gave, or that it
// failed; also when that is what the run before gave. What is typed tells nothing.
func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/ingest", telling)
	p.allow("400 (Bad Request)")
	for _, one := range []struct{ path, said, fails string }{
		{"logs#t=app&from=all", "500 rows", "logs#t=app&w=nosuch%20%3D%201"},
		{"sql#sql=SELECT%201%20UNION%20ALL%20SELECT%202", "2 rows", "sql#sql=SELECT%20nosuch"},
		{"metrics#q=sum%20by%20(code)%20(http_requests_total)", "2 series", "metrics#q=rate(http_requests_total)"},
		{"metrics#view=table&q=sum(last_over_time(http_requests_total%5B1h%5D))", "1 series",
			"metrics#view=table&q=rate(http_requests_total)"},
		{"traces", "1 trace listed", ""},
	} {
		t.Run(one.path, func(t *testing.T) {
			p.anew(t, "/dashboard/"+one.path)
			sql := strings.HasPrefix(one.path, "sql")
			run := func() {
				p.wait("the page", `[...document.querySelectorAll('#page button')].some((b) => b.innerText === 'Run')`)
				p.quiet()
				p.button("Run")
				p.quiet()
			}
			heard := func(what string, want ...string) {
				t.Helper()
				p.quiet()
				if got := eval[string](p, `window.heard.splice(0).join('; ')`); got != strings.Join(want, "; ") {
					t.Errorf("%s: told %q, want %q", what, got, want)
				}
			}
			if sql {
				p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
				run()
			} else {
				p.wait("what it gave", `window.heard.length > 0`)
			}
			heard("the first run", one.said)
			run()
			heard("the same again", one.said)
			p.press("/")
			p.press("abc" + kb.Backspace)
			heard("typing")
			if one.fails == "" {
				return
			}
			p.afresh("/dashboard/" + one.fails)
			if sql {
				p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
				run()
			}
			p.wait("the failure", `document.querySelector('.error[role=alert]')`)
			heard("a failure", "The query failed.")
		})
	}
}
