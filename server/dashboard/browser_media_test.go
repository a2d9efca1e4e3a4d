//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// media lets the page see a preference of its reader: a feature and its value, ” for none.
func (p *page) media(feature, value string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature,
			Value: value}}}); err != nil {
		p.t.Fatal(err)
	}
}

// system lets the system ask for a theme, light or dark, which the page that follows it takes as it stands.
func (p *page) system(theme string) {
	p.t.Helper()
	p.media("prefers-color-scheme", theme)
	p.wait("the theme "+theme, fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
}

// drawnBare are the elements that are nothing but a colour: bars, swatches, dots.
const drawnBare = `[...document.querySelectorAll('#page *')].filter((e) => {
	if (e.childElementCount > 0 || e.textContent.trim() || e.matches('th, td, input, select, textarea, button:not(.chart-mark), canvas, svg *')) return false;
	const r = e.getBoundingClientRect(), c = getComputedStyle(e).backgroundColor;
	return r.width > 0 && r.height > 0 && c !== 'rgba(0, 0, 0, 0)';
})`

// TestForcedColours: where the system gives the colours, what is drawn by a colour alone is still there, and the row
// chosen is told apart.
func TestForcedColours(t *testing.T) {
	t.Parallel()
	s := shop(t)
	p := open(t, s, "/dashboard/")
	for _, one := range []struct {
		path, ready string
		least       int // elements that are a colour
	}{
		{"logs#t=app", `document.querySelectorAll('.grid-row').length > 5 && document.querySelector('.swatch')`, 3},
		{"metrics#q=http_requests_total", `document.querySelector('.chart-legend .swatch')`, 4},
		{"traces", `document.querySelector('.length-bar span')`, 3},
		{"traces#view=operations", `document.querySelector('.length-bar span')`, 3},
		{"traces#id=" + traceID(0), `document.querySelector('.span-bar') && document.querySelector('.span-critical')`,
			10},
		{"status#tab=tables", `document.querySelector('.share i')`, 3},
	} {
		p.media("forced-colors", "none")
		p.visit("/dashboard/" + one.path)
		p.wait(one.path, one.ready)
		p.quiet()
		eval[bool](p, `(() => { window.drawn = `+drawnBare+`; return true; })()`)
		p.media("forced-colors", "active")
		p.wait("forced colours", `matchMedia('(forced-colors: active)').matches`)
		if n := eval[int](p, `drawn.length`); n < one.least {
			t.Errorf("%s: %d elements are a colour, want at least %d", one.path, n, one.least)
		}
		for _, lost := range eval[[]string](p, `(() => {
			const probe = document.body.appendChild(document.createElement('div'));
			probe.style.background = 'Canvas';
			const canvas = getComputedStyle(probe).backgroundColor;
			probe.remove();
			return [...new Set(drawn.filter((e) => e.isConnected && getComputedStyle(e).backgroundColor === canvas).map((e) => e.outerHTML.slice(0, 120)))].slice(0, 5);
		})()`) {
			t.Errorf("%s: not there any more: %s", one.path, lost)
		}
	}
	p.visit("/dashboard/logs#t=app")
	p.wait("rows", rowsThere)
	p.quiet()
	p.click(".grid-row .grid-cell")
	p.wait("the row chosen",
		`[...document.querySelectorAll('.grid-row.on, .grid-row.focus')]
			.some((r) => getComputedStyle(r).outlineStyle === 'solid')`)
}

// TestMoreContrast: who wants more contrast has it in both themes.
func TestMoreContrast(t *testing.T) {
	t.Parallel()
	p := open(t, start(t), "/dashboard/status")
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		p.themed(theme)
		p.media("prefers-contrast", "more")
		if got := eval[string](p,
			`(() => { const s = getComputedStyle(document.documentElement), is = (n) => s.getPropertyValue(n);
				return is('--line') === is('--line-strong') && is('--text-soft') === is('--text') &&
				is('--text-faint') === is('--text') ? '' : is('--line') + is('--text-soft') + is('--text-faint');
				})()`); got != "" {
			t.Errorf("%s: lines and soft text are %s", theme, got)
		}
		p.media("prefers-contrast", "")
	}
}
