//go:build dashboard && browser

package dashboard

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// everyPage is each page with something on it, and the expression that is true once it is there.
var everyPage = []struct{ name, state, ready string }{
	{"logs", "t=app",
		`/^[\d,]+ rows?$/.test(document.querySelector('.logs-status .figures b')?.innerText ?? '') && document.querySelectorAll('.grid-row').length > 5`},
	{"sql", "sql=SELECT%201",
		`document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content') && (innerWidth <= 900 ||
			document.querySelectorAll('.sql-tree .table-node').length > 0)`},
	{"metrics", "q=rate(http_requests_total%5B1m%5D)", `document.querySelector('.chart canvas')`},
	{"traces", "", `document.querySelectorAll('.traces-list tbody tr').length > 0`},
	{"boards", "board=ready%3Aservices", `document.querySelectorAll('.board-panel .chart canvas').length === 4 &&
		document.querySelectorAll('.board-rows tbody tr').length > 0 && !document.querySelector('.board-content .wait')`},
	{"alerts", "", `document.querySelector('.alerts .state h2, .rule')`},
	{"pipelines", "name=shop&s=info%20hello", `document.querySelectorAll('.dry tbody tr').length > 0`},
	{"ingest", "t=app",
		`document.querySelector('.try textarea') && document.querySelector('.seen b, .seen .soft, .seen')`},
	{"status", "", `document.querySelectorAll('.figure').length > 15`},
}

const shopPipeline = "processors:\n  - dissect: {fields: [message], patterns: ['%{level} %{text}']}\ntransform:\n  - {fields: [level, text], type: string}\n"

// shop is a server with logs, metrics, traces and a pipeline.
func shop(t *testing.T, args ...string) *server {
	t.Helper()
	s := start(t, args...)
	s.ingest(t, "app", shopLines(500, time.Second))
	shopMetrics(t, s)
	begin := time.Now().Add(-10 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	s.post(t, "/v1/pipelines/shop", "application/x-yaml", []byte(shopPipeline))
	return s
}

// shown waits until a page of everyPage is there, and has come to rest.
func (p *page) shown(name string) {
	p.t.Helper()
	for _, one := range everyPage {
		if one.name == name {
			p.wait("page "+name, one.ready)
			p.quiet()
		}
	}
}

// TestD84Zoom: at 380 and 320 px and at a zoom of 200 % (1280x800 in half as many px) every page fits the width, and
// each of its controls can be brought into the view whole.
func TestD84Zoom(t *testing.T) {
	t.Parallel()
	s := shop(t)
	for _, view := range []struct {
		name          string
		width, height int64
		scale         float64
	}{{"380 px", 380, 760, 1}, {"320 px", 320, 640, 1}, {"200 %", 640, 400, 2}} {
		t.Run(view.name, func(t *testing.T) {
			p := open(t, s, "/dashboard/")
			p.do("size", chromedp.EmulateViewport(view.width, view.height, chromedp.EmulateScale(view.scale)))
			for _, one := range everyPage {
				p.visit("/dashboard/" + one.name + "#" + one.state)
				p.shown(one.name)
				if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > view.width {
					t.Errorf("%s is %d px wide: %s", one.name, wide,
						eval[string](p,
							`[...document.querySelectorAll('#page *')]
								.filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 5)
								.map((e) => e.outerHTML.slice(0, 100)).join('\n')`))
				}
				for _, lost := range eval[[]string](p, outOfReach) {
					t.Errorf("%s: out of reach: %s", one.name, lost)
				}
			}
		})
	}
}

// outOfReach lists the controls that cannot be brought into the view whole. What scrolls sideways in a box of its own,
// as rows and tabs do, is reached by scrolling that box.
const outOfReach = `[...document.querySelectorAll('button, input, select, textarea, a[href]')].filter((e) => {
	if (e.matches('.only-read, .skip') || e.closest('[hidden]') || e.checkVisibility?.({ visibilityProperty: true }) === false) return false;
	e.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	const r = e.getBoundingClientRect();
	return r.width > 0 && (r.left < -1 || r.top < -1 || r.right > innerWidth + 1 || r.bottom > innerHeight + 1);
}).map((e) => e.outerHTML.slice(0, 160) + ' ' + JSON.stringify(e.getBoundingClientRect()))`

// TestD87Offline: with no name and no other host to be reached every page shows what it shows otherwise.
func TestD87Offline(t *testing.T) {
	t.Parallel()
	s := shop(t)
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(),
		headless(chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"))...)
	t.Cleanup(endAlloc)
	alone, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	if err := chromedp.Do(alone, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(alone,
		chromedp.Evaluate[bool](`fetch('http://localhost:1/').then(() => true, () => true)`,
			chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	figures := regexp.MustCompile(`[\d.,]+( ?(ns|us|µs|ms|s|KB|MB|GB|KiB|MiB|GiB|B))?`)
	tabs := []*page{open(t, s, "/dashboard/"), openNew(t, alone, s, "/dashboard/")}
	for _, one := range everyPage {
		var texts []string
		for _, p := range tabs {
			p.visit("/dashboard/" + one.name + "#" + one.state)
			p.shown(one.name)
			// The labels of the page: what stands in tables and figures changes from second to second.
			texts = append(texts, figures.ReplaceAllString(eval[string](p,
				`[...document.querySelectorAll('#rail, .toolbar, h1, h2, label, .tabs')].map((e) => e.innerText.trim())
					.join('\n')`), "#"))
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: shown otherwise\n%s\nwithout names\n%s", one.name, texts[0], texts[1])
		}
	}
}

// TestD83Accessible lets axe look at each page in both themes. It lies in node_modules after make dashboard-compiler;
// where it does not, what a script can tell without it is looked at.
func TestD83Accessible(t *testing.T) {
	t.Parallel()
	s := shop(t)
	axe, err := os.ReadFile("libsrc/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Logf(
			"axe is not installed (make dashboard-compiler installs it): names of buttons and fields alone are looked at")
	}
	p := open(t, s, "/dashboard/status")
	p.allow("beforeunload") // what is written in an editor is not stored
	for _, one := range everyPage {
		t.Run(one.name, func(t *testing.T) {
			p.anew(t, "/dashboard/"+one.name+"#"+one.state)
			for _, theme := range []string{"light", "dark"} {
				p.system(theme)
				p.shown(one.name)
				p.accessible(t, one.name+", "+theme, string(axe))
			}
		})
	}
	t.Run("what opens", func(t *testing.T) {
		p.anew(t, "/dashboard/logs#t=app")
		p.shown("logs")
		p.click(".grid-row[data-row='3'] .grid-cell")
		p.wait("the drawer", `document.querySelector('table.fields')`)
		p.accessible(t, "drawer", string(axe))
		p.press("t")
		p.wait("the panel of the time range", `document.querySelector('.picker input')`)
		p.accessible(t, "time range", string(axe))
		p.press("\x1b")
		p.wait("that it closes", `!document.querySelector('.picker')`)
		p.press("?")
		p.wait("help", `document.querySelector('dialog.help .shortcuts')`)
		p.accessible(t, "help", string(axe))
	})
}

// accessible looks at the page as it is; at a menu or a dialog alone, which covers what lies behind for the while that
// it is open.
func (p *page) accessible(t *testing.T, where, axe string) {
	t.Helper()
	if !eval[bool](p, `Boolean(document.querySelector('.live-bar'))`) { // which never rests
		p.quiet()
	}
	if bad := eval[[]string](p,
		`[...document.querySelectorAll('button, input, select, a, textarea')].filter((e) => !(e.innerText.trim() ||
			e.ariaLabel || e.title || e.labels?.length || e.placeholder)).map((e) => e.outerHTML)`); len(bad) > 0 {
		t.Errorf("%s: without a name: %s", where, bad)
	}
	if n := eval[int](p, `document.querySelectorAll('h1').length`); n != 1 {
		t.Errorf("%s: %d main headings", where, n)
	}
	if jumps := eval[[]string](p,
		`[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter((e, i, all) => i > 0 &&
			e.tagName[1] - all[i - 1].tagName[1] > 1).map((e) => e.outerHTML.slice(0, 100))`); len(jumps) > 0 {
		t.Errorf("%s: headings that leave a level out: %q", where, jumps)
	}
	if bare := eval[[]string](p,
		`[...document.querySelectorAll('table')].filter((e) => !e.closest('.tip') && (!(e.ariaLabel || e.caption ||
			e.closest('[role=region]')?.ariaLabel) || e.querySelector('th:not([scope])')))
			.map((e) => e.outerHTML.slice(0, 300))`); len(bare) > 0 {
		t.Errorf("%s: tables without a name, or with a head that does not say of what: %q", where, bare)
	}
	if axe == "" {
		return
	}
	p.allow("Applying inline style") // what axe itself tries
	p.allow("Couldn't load preload assets")
	if !eval[bool](p, `Boolean(window.axe)`) {
		eval[bool](p, axe+`; true`)
	}
	found := eval[[]string](p,
		`axe.run(document.querySelector('.pop, dialog') ?? document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')))`)
	for _, f := range found {
		t.Errorf("%s: %s", where, f)
	}
}

// TestD16SharePages: the address of each page, opened by somebody else, is the same state.
func TestD16SharePages(t *testing.T) {
	t.Parallel()
	s := shop(t)
	p, other := open(t, s, "/dashboard/"), open(t, s, "/dashboard/")
	shows := func(p *page) string {
		return eval[string](p,
			`(document.getElementById('timerange')?.innerText ?? '') + ' ' + location.hash + ' ' + [...document.querySelectorAll('#page [aria-selected=true], #page [aria-pressed=true]')].map((e) => e.innerText).join(' ')`)
	}
	for _, one := range everyPage {
		p.visit("/dashboard/" + one.name + "#" + one.state + "&from=now-30m")
		p.shown(one.name)
		other.visit(strings.TrimPrefix(eval[string](p, `location.href`), s.url))
		other.shown(one.name)
		if a, b := shows(p), shows(other); a != b {
			t.Errorf("%s: %q, for somebody else %q", one.name, a, b)
		}
	}
}
