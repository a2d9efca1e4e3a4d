//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// headTitles are the titles of the columns of the grid shown, in their order on the screen.
const headTitles = `[...document.querySelectorAll('.grid-th')]
	.sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
	.map((e) => e.firstChild?.data ?? '').join(' ').trim()`

// dragHead pulls the head of a column onto another.
func (p *page) dragHead(name, onto string) {
	p.t.Helper()
	at := func(title string) []float64 {
		return eval[[]float64](p,
			fmt.Sprintf(
				`(() => { const r = [...document.querySelectorAll('.grid-th')]
					.find((e) => e.firstChild?.data === %q).getBoundingClientRect();
					return [r.left + r.width / 2, r.top + r.height / 2]; })()`, title))
	}
	from, to := at(name), at(onto)
	p.drag(from[0], from[1], to[0], to[1])
}

// TestD82LogColumns: the columns of the list are ordered, resized and taken away by mouse and by keys, and are so again
// later.
func TestD82LogColumns(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(500, time.Second))
	p := logsAt(t, s, "t=app&cols=host,service,status")
	p.rowsShown()
	p.wait("the columns", headTitles+` === 'time UTC level host service status message'`)
	p.dragHead("status", "host")
	p.wait("the other order", headTitles+` === 'time UTC level status host service message'`)
	p.wait("it in the address", `new URLSearchParams(location.hash.slice(1)).get('cols') === 'status,host,service'`)
	if first := p.rowsShown()[0]; !strings.Contains(first, "\n200\n") {
		t.Errorf("the first row is %q", first)
	}
	eval[bool](p, `document.querySelector('.grid').focus() ?? true`)
	p.press("j" + kb.ArrowRight) // from level to status
	p.press(kb.ArrowRight, chromedp.KeyModifiers(8))
	p.wait("status moved by keys", headTitles+` === 'time UTC level host status service message'`)
	wide := eval[float64](p, `document.querySelectorAll('.grid-th')[3].getBoundingClientRect().width`)
	p.press(">")
	p.wait("a wider column",
		fmt.Sprintf(`document.querySelectorAll('.grid-th')[3].getBoundingClientRect().width === %v`, wide+16))
	p.press(kb.Delete)
	p.wait("a column less", headTitles+` === 'time UTC level host service message'`)
	p.afresh("/dashboard/logs#t=app")
	p.wait("the columns of the table again",
		headTitles+
			` === 'time UTC level host service message' && new URLSearchParams(location.hash.slice(1)).get('cols') === 'host,service'`)
	p.button("View")
	p.named("Columns as at first", ".pop.menu button", `e.innerText === 'Columns as at first'`)
	p.wait("the first columns", headTitles+` === 'time UTC level service message'`)
	p.rowsShown()
	p.press(kb.Escape)
	eval[bool](p, `document.querySelector('.grid').focus() ?? true`)
	p.press("j" + kb.ArrowRight)
	p.press(kb.Delete)
	p.wait("no column between", headTitles+` === 'time UTC level message'`)
}

// TestD22Columns: those of a result are moved, frozen, hidden, sorted and copied.
func TestD22Columns(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(500, time.Second))
	p := openSQL(t, s, "SELECT service, bytes, status, host, message, trace_id, level FROM app ORDER BY ts")
	p.runSQL(false)
	p.rowsShown()
	p.dragHead("status", "service")
	p.wait("the other order", headTitles+`.startsWith('status service bytes host')`)
	row := s.sql(t, "SELECT status, service, bytes FROM app ORDER BY ts LIMIT 1")[0]
	if got := p.rowsShown()[0]; !strings.HasPrefix(got, fmt.Sprintf("1\n%v\n%v\n%v\n", row[0], row[1], row[2])) {
		t.Errorf("the first row is %q, want %v", got, row)
	}
	p.button("Columns")
	p.click(".column-menu input")
	p.wait("a frozen column", `document.querySelector('.grid.frozen')`)
	left := `Math.round(document.querySelectorAll('.grid-row[data-row="0"] .grid-cell')[1].getBoundingClientRect().left)`
	before := eval[int](p, left)
	eval[bool](p, `(() => { document.querySelector('.sql-results .grid').scrollLeft = 200; return true; })()`)
	p.wait("others scrolled",
		`Math.round(document.querySelectorAll('.grid-row[data-row="0"] .grid-cell')[2].getBoundingClientRect().left) < `+fmt.Sprint(before))
	if after := eval[int](p, left); after != before {
		t.Errorf("the frozen column stands at %d, before at %d", after, before)
	}
	p.shot("sql-frozen")
	p.click("[aria-label='bytes further left']")
	p.wait("moved in the menu", headTitles+
		`.startsWith('status bytes service') || document.querySelectorAll('.column-menu .row')[1].innerText.trim() === 'bytes'`)
	eval[bool](p, clipboard)
	p.click("[aria-label='Copy the values of bytes']")
	var want []string
	for _, r := range s.sql(t, "SELECT bytes FROM app ORDER BY ts") {
		want = append(want, fmt.Sprint(r[0]))
	}
	p.wait("the values", `window.copied`)
	if got := eval[string](p, `window.copied`); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("copied %.60q", got)
	}
	p.press(kb.Escape)
	eval[bool](p,
		`(() => { const g = document.querySelector('.sql-results .grid'); g.scrollLeft = 0; g.focus(); return true;
			})()`)
	p.press("j" + kb.ArrowRight) // to bytes
	p.press("o")
	lowest := s.sql(t, "SELECT min(bytes) FROM app")[0][0]
	p.wait("sorted by a key",
		fmt.Sprintf(
			`[...document.querySelectorAll('.grid-row[data-row="0"] .grid-cell')].some((e) => e.innerText === '%v')`,
			lowest))
	p.button("Filter")
	p.fill("[aria-label='Filter level']", "error")
	if off := eval[float64](p,
		`Math.abs(document.querySelector("[aria-label='Filter bytes']").getBoundingClientRect().left - [...document.querySelectorAll('.grid-th')].find((e) => e.firstChild?.data.startsWith('bytes')).getBoundingClientRect().left)`); off > 1.5 {
		t.Errorf("the filter of a column stands %.1f px beside it", off)
	}
	n := fmt.Sprint(s.sql(t, "SELECT count(*) FROM app WHERE level = 'error'")[0][0])
	p.wait("all rows and those shown",
		fmt.Sprintf(`document.querySelector('.result-bar').innerText.startsWith('500 rows · %s shown')`, n))
}

// TestD23ChartSaved: a chart's columns are chosen, are in the address, and the chart is saved as picture and table.
func TestD23ChartSaved(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(2000, time.Second))
	text := "SELECT date_bin(INTERVAL '1 minute', ts) AS t, service, level, count(*) AS n, sum(bytes) AS b FROM app GROUP BY 1, 2, 3 ORDER BY 1"
	p := openSQL(t, s, text)
	p.runSQL(false)
	p.click("[data-tab=chart]")
	legend := `[...document.querySelectorAll('.chart-legend tbody td:first-child')].map((e) => e.innerText.trim())
		.sort().join(' ')`
	p.wait("all series", `document.querySelectorAll('.chart-legend tbody tr').length > 8`)
	choose := func(label, value string) {
		eval[bool](p,
			fmt.Sprintf(
				`(() => { const e = [...document.querySelectorAll('.chart-controls label')]
					.find((l) => l.innerText.startsWith(%q)).querySelector('select'); e.value = %q;
					e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`, label, value))
	}
	choose("up", "b")
	choose("lines by", "service")
	p.wait("the chosen series", legend+` === 'cart pay stock web'`)
	p.wait("both in the address", `location.hash.includes('y=b') && location.hash.includes('by=service')`)
	eval[bool](p, caught)
	p.other("Save values as CSV")
	p.wait("the table", `window.named === 'chart.csv'`)
	if got := eval[string](p, `window.blob.text()`); !strings.HasPrefix(got, "time,") ||
		len(strings.Split(got, "\n")) < 30 || !strings.Contains(got, "Z,") {
		t.Errorf("the table is %.200q", got)
	}
	p.other("Save a picture (PNG)")
	p.wait("the picture", `window.named === 'chart.png'`)
	if size := eval[float64](p, `createImageBitmap(window.blob).then((b) => b.width * b.height)`); size < 100_000 {
		t.Errorf("the picture has %.0f points", size)
	}
	other := open(t, s, strings.TrimPrefix(eval[string](p, `location.href`), s.url))
	other.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	other.runSQL(false)
	other.wait("the chosen series", legend+` === 'cart pay stock web'`)
}

// TestD16OwnRange: a page with a range of its own leaves that of the others alone.
func TestD16OwnRange(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(500, time.Second))
	p := logsAt(t, s, "t=app&from="+url.QueryEscape("now-6h"))
	p.click("#timerange")
	p.wait("the switch", `document.querySelector('.picker label.check input')`)
	p.click(".picker label.check input")
	p.wait("it in the address", `location.hash.includes('own=1')`)
	p.named("15m", ".picker .quick button", `e.innerText === '15m'`)
	from := func(want string) {
		p.t.Helper()
		p.wait("the range "+want,
			fmt.Sprintf(`(new URLSearchParams(location.hash.slice(1)).get('from') ?? 'now-1h') === %q`, want))
	}
	from("now-15m")
	p.goTo("s", "sql")
	from("now-6h")
	p.goTo("x", "status")
	from("now-6h")
	p.goTo("l", "logs")
	from("now-15m")
	p.figures()
	p.wait("the mark", `document.querySelector('#timerange .badge')?.innerText === 'own'`)
	p.click("#timerange")
	p.wait("the switch", `document.querySelector('.picker label.check input')?.checked`)
	p.click(".picker label.check input")
	from("now-6h")
}
