//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// outOfBox lists the controls of the page of which a box that cannot be scrolled, or that is lower than they are, hides
// a part. What one of its boxes scrolls sideways is reached by scrolling.
const outOfBox = `[...document.querySelectorAll('#page button, #page input, #page select, #page a[href]')].filter((e) => {
	if (e.matches('.only-read') || e.closest('.grid') || e.checkVisibility?.({ visibilityProperty: true }) === false) return false;
	e.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	for (let box = e.parentElement; box !== document.body; box = box.parentElement) {
		if (box.id !== 'main' && getComputedStyle(box).overflowY === 'visible') continue;
		const r = e.getBoundingClientRect(), b = box.getBoundingClientRect();
		if (r.top < b.top - 2 || r.bottom > b.bottom + 2 || box.id === 'main' && (r.left < b.left - 1 || r.right > b.right + 1)) return true;
	}
	return false;
}).map((e) => e.outerHTML.slice(0, 120))`

// TestD84Short: in a window of little height each control can still be brought into the view: those of the first page
// of an empty server, and the rows below what a page shows above them.
func TestD84Short(t *testing.T) {
	t.Parallel()
	empty, full := open(t, start(t), "/dashboard/status"), open(t, shop(t), "/dashboard/status")
	now := time.Now()
	absolute := fmt.Sprintf("from=%s&to=%s", now.Add(-800*time.Hour).UTC().Format(time.RFC3339Nano),
		now.Add(time.Hour).UTC().Format(time.RFC3339Nano))
	for _, c := range []struct {
		name, path, ready string
		p                 *page
	}{
		{"nothing sent yet", "logs", `document.querySelector('.state.first')`, empty},
		{"no metrics", "metrics", `document.querySelector('.state h2')`, empty},
		{"no traces", "traces", `document.querySelector('.state h2')`, empty},
		{"list of traces", "traces#" + absolute, `document.querySelector('.traces-list tbody tr')`, full},
		{"calls of services", "traces#view=map&" + absolute,
			`document.querySelector('.traces-map .traces-list tbody tr')`, full},
		{"patterns", "logs#t=app&tab=patterns&" + absolute, `document.querySelector('.patterns tbody tr')`, full},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range [][2]int64{{640, 400}, {320, 600}} {
				p := c.p
				p.size(size[0], size[1])
				p.anew(t, "/dashboard/"+c.path)
				p.wait(c.name, c.ready)
				p.quiet()
				for _, lost := range eval[[]string](p, outOfBox) {
					t.Errorf("at %d x %d px: out of reach: %s", size[0], size[1], lost)
				}
				if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > size[0] {
					t.Errorf("at %d x %d px: the page is %d px wide", size[0], size[1], wide)
				}
			}
		})
	}
}

// TestWholeTimes: the times of the list are whole as they come, whatever their digits are; nothing of the statement's
// condition is cut that there is room for.
func TestWholeTimes(t *testing.T) {
	t.Parallel()
	s := start(t)
	at := time.Now().Add(-time.Minute).UTC()
	for _, digits := range []int{0, 3, 6, 9} {
		s.sql(t,
			fmt.Sprintf(
				"CREATE TABLE t%d (ts TIMESTAMP(%d) TIME INDEX, seen TIMESTAMP(%d), level STRING, message STRING)",
				digits, digits, digits))
		s.sql(t, fmt.Sprintf("INSERT INTO t%d VALUES ('%s', '%s', 'info', 'm')", digits, at.Format(time.RFC3339Nano),
			at.Format(time.RFC3339Nano)))
	}
	p := open(t, s, "/dashboard/")
	const cut = `[...document.querySelectorAll('.grid-row [role=gridcell]'), document.querySelector('.logs-where .sql')].filter((e) => {
		const text = document.createRange();
		text.selectNodeContents(e);
		return text.getBoundingClientRect().right > e.getBoundingClientRect().right - parseFloat(getComputedStyle(e).paddingRight) + 0.01;
	}).map((e) => e.innerText)`
	for _, digits := range []int{0, 3, 6, 9} {
		p.visit(fmt.Sprintf("/dashboard/logs#t=t%d&cols=ts,seen,message&q=%s", digits,
			"level:info%20-message:other%20-message:another"))
		p.wait("the row",
			fmt.Sprintf(
				`location.hash.includes('t=t%d') && document.querySelectorAll('.grid-row [role=gridcell]').length >= 3`,
				digits))
		p.quiet()
		if cut := eval[[]string](p, cut); len(cut) > 0 {
			t.Errorf("with %d digits these are cut: %q", digits, cut)
		}
	}
}

// TestD02Chosen: who names no table sees the fullest of logs, not one of metrics or spans, however full those are.
func TestD02Chosen(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "few", shopLines(3, time.Second))
	s.ingest(t, "logs", shopLines(20, time.Second))
	shopMetrics(t, s)
	begin := time.Now().Add(-10 * time.Minute)
	for i := range 10 {
		s.postSpans(t, traceID(i), begin, shopTrace(begin))
	}
	p := open(t, s, "/dashboard/logs")
	p.wait("a table", `location.hash.includes('t=')`)
	if at := eval[string](p, `location.hash`); !strings.Contains(at, "t=logs") {
		t.Errorf("the page shows %s, want the table logs", at)
	}
}

// TestManyOfAll: a table of very many columns and a database of very many tables keep every page below the bound of its
// elements, what is not shown is said, and there is a way to it.
func TestManyOfAll(t *testing.T) {
	t.Parallel()
	s := start(t)
	line := func(columns int) []string {
		row := fmt.Sprintf(`{"ts":%d,"message":"wide"`, time.Now().UnixNano())
		for i := range columns {
			row += fmt.Sprintf(`,"field_%04d":%d`, i, i)
		}
		return []string{row + "}"}
	}
	s.ingest(t, "asked", line(290))
	s.ingest(t, "wide", line(700))
	var tables strings.Builder
	for i := range 600 {
		fmt.Fprintf(&tables, "CREATE TABLE one_%03d (ts TIMESTAMP TIME INDEX);", i)
	}
	s.sql(t, tables.String())
	p := open(t, s, "/dashboard/logs#t=asked")
	few := func(where string) {
		t.Helper()
		p.quiet()
		if n := eval[float64](p, elements); n > 5000 {
			t.Errorf("%s has %.0f elements", where, n)
		}
	}
	drawer := func(text string) {
		t.Helper()
		p.wait(text, fmt.Sprintf(`document.querySelector('.drawer')?.innerText.includes(%q)`, text))
	}
	p.wait("the row", `document.querySelectorAll('.grid-row').length === 1`)
	p.quiet()
	p.press("j")
	p.press(kb.Enter)
	drawer("Fields 1 to 100 of 292")
	few("the drawer")
	p.button("The next")
	drawer("Fields 101 to 200 of 292")
	p.visit("/dashboard/logs#t=wide")
	p.wait("the row", `document.querySelectorAll('.grid-row').length === 1`)
	p.quiet()
	p.press("j")
	p.press(kb.Enter)
	drawer("Fields 1 to 100 of 702")
	few("the drawer of a row that was asked for whole")
	p.visit("/dashboard/sql")
	p.wait("the tables", `document.querySelectorAll('.sql-tree .table-node').length > 100`)
	p.fill(".sql-tree input", "wide")
	p.wait("the table", `document.querySelectorAll('.sql-tree .table-node').length === 1`)
	p.click(".sql-tree .table-node button")
	p.wait("that columns are left out",
		`document.querySelector('.sql-tree')?.innerText.includes('402 more: Describe lists them')`)
	few("the tree of tables with many columns")
	p.fill(".sql-tree input", "")
	p.wait("that tables are left out", `/452 more/.test(document.querySelector('.sql-tree')?.innerText)`)
	few("the tree of tables")
	p.visit("/dashboard/status#tab=tables")
	p.wait("the tables", `document.querySelector('.status')?.innerText.includes('the first 100 are shown')`)
	few("the list of tables")

	// Where a table is named, the names that fit are offered.
	for path, list := range map[string]string{"ingest": "ingest-tables", "pipelines": "sample-tables"} {
		p.visit("/dashboard/" + path)
		offered := func(what, is string) {
			t.Helper()
			p.wait(what,
				fmt.Sprintf(
					`(() => { const of = [...document.querySelectorAll('#%s option')]
						.map((o) => o.value), said = document.querySelector('input[list=%[1]s]')?.title ?? '';
						return %s; })()`, list, is))
		}
		offered("the first of very many", `of.length === 150 && said.startsWith('150 of 602 tables')`)
		few(path)
		p.fill("input[list="+list+"]", "ONE_59")
		offered("those that are called so",
			`of.join() === Array.from({ length: 10 }, (_, i) => 'one_59' + i).join() && said === ''`)
	}
}
