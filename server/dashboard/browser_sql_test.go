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

// openSQL opens the SQL page with a text in the editor.
func openSQL(t *testing.T, s *server, text string) *page { return openSQLWith(t, s, text) }

// openSQLWith opens the SQL page with scripts that run before its own.
func openSQLWith(t *testing.T, s *server, text string, scripts ...string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/sql#sql="+url.QueryEscape(text), scripts...)
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	return p
}

// runSQL runs the statement under the cursor, or all.
func (p *page) runSQL(all bool) {
	p.t.Helper()
	p.wait("nothing runs", `[...document.querySelectorAll('.sql-actions button')].some((b) => b.innerText === 'Run')`)
	label := "Run"
	if all {
		label = "Run all"
	}
	eval[bool](p,
		fmt.Sprintf(
			`(() => { [...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === %q).click();
				return true; })()`, label))
	p.wait("the end of the run",
		`document.querySelector('.sql-views') && [...document.querySelectorAll('.sql-actions button')]
			.some((b) => b.innerText === 'Run')`)
}

func TestSQL(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(20_000, 150*time.Millisecond))

	t.Run("D20 run", func(t *testing.T) {
		p := openSQL(t, s,
			"SELECT level, count(*) AS n FROM app GROUP BY 1 ORDER BY 2 DESC;\nSELECT 'second; not third' AS b; -- a comment; with a semicolon\nSELECT nope FROM app;\nSELECT 3 AS never")
		p.runSQL(false)
		rows := p.rowsShown()
		want := s.sql(t, "SELECT level, count(*) FROM app GROUP BY 1 ORDER BY 2 DESC")
		if len(rows) != len(want) || !strings.Contains(rows[0], want[0][0].(string)) ||
			!strings.Contains(rows[0], fmt.Sprint(want[0][1])) {
			t.Errorf("rows %q, want %v", rows, want)
		}
		p.shot("sql")
		p.allow("status of 400") // the statement that fails
		p.runSQL(true)
		p.wait("three results", `document.querySelectorAll('.result-list button').length === 3`)
		if text := p.text(".error .text"); !strings.Contains(text, "nope") {
			t.Errorf("the error is %q", text)
		}
		p.click(".result-list button:nth-child(2)")
		p.wait("the second result", `document.querySelector('.grid-row')?.innerText.includes('second; not third')`)

		// The statement under the cursor, and what is selected alone.
		eval[bool](p,
			`(() => { document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus(); return true;
				})()`)
		p.mod(kb.End)
		p.mod(kb.Enter)
		p.wait("the last statement alone",
			`document.querySelector('.grid-row')?.innerText.trim().endsWith('3') &&
				!document.querySelector('.result-list')`)
		p.mod(kb.Home)
		p.press(kb.ArrowDown)
		p.press(kb.End, chromedp.KeyModifiers(8)) // with Shift: the second line
		p.mod(kb.Enter)
		p.wait("what is selected", `document.querySelector('.grid-row')?.innerText.includes('second; not third')`)
		p.theme("dark")
		p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
		p.runSQL(false)
		p.rowsShown()
		p.shot("sql-dark")
		p.theme("light")
		p.size(380, 760)
		p.do("reload", chromedp.Reload())
		p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
		p.runSQL(false)
		p.rowsShown()
		p.shot("sql-narrow")
		if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
			t.Errorf("the page is %d px wide on a screen of 380", wide)
		}
	})

	t.Run("D21 complete", func(t *testing.T) {
		p := openSQL(t, s, "SELECT  FROM app AS x")
		p.allow("/v1/sql/parse") // what is typed so far is no statement
		before := s.sql(t, "SELECT count(*) FROM information_schema.process_list")
		eval[bool](p,
			`(() => { const e = document.querySelector('.editor').shadowRoot.querySelector('.cm-content'); e.focus();
				return true; })()`)
		p.press(kb.Home)
		for range 7 {
			p.press(kb.ArrowRight)
		}
		p.press("x.")
		offers := func() []string {
			p.wait("offers",
				`document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-completionLabel').length > 0`)
			return eval[[]string](p,
				`[...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-completionLabel')]
					.map((e) => e.innerText)`)
		}
		if got := strings.Join(offers(), " "); !strings.Contains(got, "level") ||
			!strings.Contains(got, `"ctx.user.id"`) {
			t.Errorf("columns of the alias: %s", got)
		}
		p.shot("sql-complete")
		for _, c := range []struct{ typed, offer string }{{"SELECT approx_dis", "approx_distinct"},
			{"SELECT 1 FROM ap", "app"}} {
			q := openSQL(t, s, c.typed)
			q.allow("/v1/sql/parse") // what is typed so far is no statement
			eval[bool](q,
				`(() => { document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus();
					return true; })()`)
			q.mod(kb.End)
			q.press(kb.Backspace + c.typed[len(c.typed)-1:])
			q.wait("the offer "+c.offer,
				fmt.Sprintf(
					`[...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-completionLabel')]
						.some((e) => e.innerText === %q)`, c.offer))
		}
		if after := s.sql(t, "SELECT count(*) FROM information_schema.process_list"); fmt.Sprint(after) !=
			fmt.Sprint(before) {
			t.Errorf("queries run after completing: %v, before %v", after, before)
		}
	})

	t.Run("D23 chart", func(t *testing.T) {
		p := openSQL(t, s,
			"SELECT date_bin(INTERVAL '1 minute', ts) AS t, service, count(*) AS n FROM app GROUP BY 1, 2 ORDER BY 1")
		p.runSQL(false)
		p.click("[data-tab=chart]")
		p.wait("the chart",
			`document.querySelector('.chart canvas')?.width > 0 &&
				document.querySelectorAll('.chart-legend tbody tr').length > 0`)
		names := eval[string](p,
			`[...document.querySelectorAll('.chart-legend tbody td:first-child')].map((e) => e.innerText.trim()).sort()
				.join(' ')`)
		if names != "cart pay stock web" {
			t.Errorf("series %q", names)
		}
		p.shot("sql-chart")
	})

	t.Run("D24 plan", func(t *testing.T) {
		p := openSQL(t, s, "SELECT service, count(*) FROM app WHERE status >= 500 GROUP BY 1 ORDER BY 2")
		eval[bool](p,
			`(() => { [...document.querySelectorAll('.sql-actions button')]
				.find((b) => b.innerText === 'Explain').click(); return true; })()`)
		p.wait("the plan", `document.querySelectorAll('.plan-tree tbody tr').length >= 3`)
		shares := eval[float64](p,
			`[...document.querySelectorAll('.plan-tree td.share .num')]
				.reduce((s, e) => s + parseFloat(e.innerText.replace('<', '')), 0)`)
		if shares < 99 || shares > 101.5 {
			t.Errorf("the shares add up to %.1f %%", shares)
		}
		p.shot("sql-plan")
	})
}

func TestD22Grid100k(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(110_000, 10*time.Millisecond))
	p := openSQL(t, s, "SELECT * FROM app ORDER BY ts")
	eval[bool](p,
		`(() => { const e = document.querySelector('.sql-actions select'); e.value = '100000';
			e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.runSQL(false)
	p.rowsShown()
	p.wait("all rows", `document.querySelector('.result-bar').innerText.includes('first 100,000 rows, more exist')`)
	last := fmt.Sprint(s.sql(t, "SELECT message FROM app ORDER BY ts LIMIT 1 OFFSET 99999")[0][0])
	eval[bool](p, `(() => { document.querySelector('.sql-results .grid').focus(); return true; })()`)
	p.press(kb.End)
	p.wait("the last row", fmt.Sprintf(`document.querySelector('.grid-row[data-row="99999"]')?.innerText.includes(%q)`,
		last))
	p.shot("sql-grid")
	nodes := eval[int](p, `document.querySelectorAll('*').length`)
	if nodes > 3000 {
		t.Errorf("%d elements", nodes)
	}
	// Sorted by a head: the lowest status first.
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.grid-th')].find((e) => e.innerText.startsWith('bytes')).click();
			return true; })()`)
	lowest := fmt.Sprint(s.sql(t, "SELECT min(bytes) FROM (SELECT bytes FROM app ORDER BY ts LIMIT 100000)")[0][0])
	p.wait("the sorted rows",
		fmt.Sprintf(
			`[...document.querySelectorAll('.grid-row[data-row="0"] .grid-cell')].some((e) => e.innerText === %q)`,
			lowest))

	// Filtered by a field above a column, and a cell copied.
	failed := fmt.Sprint(s.sql(t,
		"SELECT count(*) FROM (SELECT status FROM app ORDER BY ts LIMIT 100000) WHERE status >= 500")[0][0])
	p.button("Filter")
	p.wait("the fields", `document.querySelector('.filter-row input[aria-label*=status]')`)
	p.fill(".filter-row input[aria-label*=status]", ">=500")
	p.wait("the rows that are left",
		fmt.Sprintf(`document.querySelector('.result-bar').innerText.includes('%s shown')`, grouped(failed)))
	// their number comes with the rows
	p.wait("they alone",
		fmt.Sprintf(`document.querySelector('.sql-results .grid').getAttribute('aria-rowcount') === %q`, failed))
	p.quiet()
	eval[bool](p, clipboard)
	cell := eval[string](p,
		`(() => { const row = document.querySelector('.grid-row[data-row="2"]'), c = [...row.children]
			.find((e) => /timeout|connection/.test(e.innerText)); c.click();
			document.querySelector('.sql-results .grid').focus(); return c.innerText; })()`)
	p.press("c")
	p.wait("the copied cell", fmt.Sprintf(`window.copied === %q`, cell))
}

func TestD25Cancel(t *testing.T) {
	s := start(t)
	p := openSQL(t, s,
		"SELECT count(*) FROM numbers a CROSS JOIN numbers b CROSS JOIN numbers c CROSS JOIN numbers d WHERE a.number + b.number + c.number * d.number = 7")
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === 'Run').click();
			return true; })()`)
	p.wait("the running query",
		`[...document.querySelectorAll('.sql-actions button')].some((b) => b.innerText === 'Cancel')`)
	waitFor(t, "the query in the list of processes", func() bool {
		return fmt.Sprint(s.sql(t,
			"SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%CROSS JOIN numbers d%' AND query NOT LIKE '%process_list%'")[0][0]) == "1"
	})
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === 'Cancel').click();
			return true; })()`)
	began := time.Now()
	waitFor(t, "an empty list of processes", func() bool {
		return fmt.Sprint(s.sql(t,
			"SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%CROSS JOIN numbers d%' AND query NOT LIKE '%process_list%'")[0][0]) == "0"
	})
	if took := time.Since(began); took > time.Second && !slowed() {
		t.Errorf("the query ended %v after Cancel", took)
	}
}

// TestWholeResult: what is saved of a cut result is all of it, as the server writes it.
func TestWholeResult(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(3000, time.Second))
	p := openSQL(t, s, "SELECT level, bytes, message FROM app ORDER BY ts, message")
	eval[bool](p, caught)
	eval[bool](p,
		`(() => { const e = document.querySelector('.sql-actions select'); e.value = '1000';
			e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.runSQL(false)
	p.wait("that it is cut",
		`document.querySelector('.result-bar')?.innerText.includes('first 1,000 rows, more exist')`)
	for title, want := range map[string]struct{ format, file, said string }{
		"CSV":            {"csvWithNames", "result.csv", "^3,000 rows saved in result.csv"},
		"CSV with types": {"csvWithNamesAndTypes", "result.csv", "^3,000 rows saved in result.csv"},
		"JSON":           {"json", "result.json", "^[0-9.]+ KiB saved in result.json"},
		"Arrow":          {"arrow", "result.arrow", "^[0-9.]+ KiB saved in result.arrow"},
	} {
		eval[bool](p, `(() => { window.blob = null; return true; })()`)
		p.button("Copy, save")
		p.named(title, ".pop button", fmt.Sprintf(`e.innerText === %q`, title))
		p.wait("the file", fmt.Sprintf(`window.blob && window.named === %q`, want.file))
		p.said(want.said)
		if off := eval[string](p, fmt.Sprintf(`(async () => {
			const hex = async (b) => (await b.text()).replace(/"execution_time_ms":[\d.]+/, '');
			const server = await (await fetch('/v1/sql?format=%s', { method: 'POST', body: new URLSearchParams({ sql: 'SELECT level, bytes, message FROM app ORDER BY ts, message' }) })).blob();
			return await hex(window.blob) === await hex(server) && server.size > 20000 ? '' : window.blob.size + ' bytes, the server writes ' + server.size;
		})()`, want.format)); off != "" {
			t.Errorf("%s: %s", title, off)
		}
	}

	// Of the rows loaded: those that the filter leaves. Those asked again: all there are now, however many were
	// counted.
	p.button("Filter")
	p.wait("the fields", `document.querySelector('.filter-row input[aria-label*=level]')`)
	p.fill(".filter-row input[aria-label*=level]", "error")
	p.quiet()
	left := eval[string](p, `document.querySelector('.sql-results .grid').getAttribute('aria-rowcount')`)
	p.button("Copy, save")
	p.named("Save as CSV", ".pop button", `e.innerText === 'Save as CSV'`)
	p.said("^" + left + " rows saved in result.csv")
	s.ingest(t, "app",
		[]string{fmt.Sprintf(`{"ts":%d,"level":"info","bytes":1,"message":"a \"line\"\nand a second\r\n\"\n\","}`,
			time.Now().UnixNano())})
	p.button("Copy, save")
	p.named("CSV", ".pop button", `e.innerText === 'CSV'`)
	p.said("^3,001 rows saved")
}

// TestD26History: tabs, their text and the history outlive a reload, no result does; a kept query is there for others.
func TestD26History(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := openSQL(t, s, "SELECT 'first tab' AS a")
	p.runSQL(false)
	p.rowsShown()
	p.click("button[aria-label='New query']")
	p.wait("a second tab", `document.querySelectorAll('.sql-tab').length === 2`)
	p.allow("/v1/sql/parse") // what is typed so far may be no statement
	p.press("SELECT 'unsaved text'")
	p.press(kb.Escape)
	p.wait("that it is kept", `Object.values(localStorage).some((v) => v.includes('unsaved text'))`)
	p.wait("it in the address", `new URLSearchParams(location.hash.slice(1)).get('sql')?.includes('unsaved text')`)
	p.do("reload", chromedp.Reload())
	p.wait("both tabs and the unsaved text",
		`document.querySelectorAll('.sql-tab').length === 2 &&
			document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')?.innerText.includes('unsaved text')`)
	if kept := eval[string](p,
		`Object.entries(localStorage).filter(([k]) => k.includes('sql')).map((e) => e.join('=')).join('\n')`); strings.Contains(kept, `"rows":[[`) || len(kept) > 1<<20 {
		t.Errorf("what is kept has results, or %d bytes: %.300s", len(kept), kept)
	}
	p.button("History")
	p.wait("the run before", `document.querySelector('.history-entry')?.innerText.includes("SELECT 'first tab'")`)
	p.click(".history-entry button[aria-label='Keep by name']")
	p.wait("the question", `document.querySelector('dialog input')`)
	p.fill("dialog input", "First of all")
	p.click("dialog button.primary")
	p.wait("that it is kept", `document.querySelector('.sql-history h2')?.innerText === 'Kept'`)

	other := open(t, s, "/dashboard/sql") // another browser: nothing kept from the first
	other.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	other.button("History")
	other.named("the kept query", `.sql-history .node`,
		`e.innerText.includes('First of all') && !e.innerText.includes('this browser')`)
	other.wait("its text",
		`document.querySelector('.editor').shadowRoot.querySelector('.cm-content').innerText.includes("SELECT 'first tab'")`)
}

// TestSQLChecked: a second after typing the server is asked whether it can read the statements, but for those with
// variables, which the page fills in.
func TestSQLChecked(t *testing.T) {
	t.Parallel()
	p := openSQLWith(t, start(t), "SELECT 1 WHERE now() >= $from; SELEC 2; SELECT 3", `(() => {
		const real = window.fetch;
		window.checked = [];
		window.fetch = (url, how) => {
			if (String(url).includes('v1/sql/parse')) checked.push(how.body.get('sql'));
			return real(url, how);
		};
	})()`)
	p.allow("/v1/sql/parse") // of the second
	p.wait("what is wrong",
		`document.querySelector('.editor').shadowRoot.querySelector('.cm-lintRange-error')?.innerText === 'SELEC'`)
	if got := eval[string](p, `checked.map((s) => s.trim()).join()`); got != "SELEC 2,SELECT 3" {
		t.Errorf("the server is asked for %q", got)
	}
}

// TestSQLTyping: what is typed while the address takes the text of before stays.
func TestSQLTyping(t *testing.T) {
	t.Parallel()
	p := openSQL(t, start(t), "SELECT 1")
	p.allow("/v1/sql/parse") // what is typed so far may be no statement
	p.quiet()
	eval[bool](p,
		`(() => { document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus(); return true; })()`)
	p.mod(kb.End)
	eval[bool](p, `new Promise((resolve) => {
		const type = (text) => document.execCommand('insertText', false, text), write = history.replaceState;
		history.replaceState = function (...how) {
			write.apply(history, how);
			if (String(how[2]).endsWith('12')) setTimeout(() => { type('3'); resolve(true); });
		};
		type('2');
	})`)
	p.quiet()
	p.wait("all that was typed",
		`document.querySelector('.editor').shadowRoot.querySelector('.cm-content').innerText === 'SELECT 123'`)
	p.wait("it in the address", `new URLSearchParams(location.hash.slice(1)).get('sql') === 'SELECT 123'`)
}

// waitFor asks until something is so.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if ok() {
			return
		}
	}
	t.Fatalf("waited for %s", what)
}

// TestTreeNamesWhole: names that begin alike are told apart in the tree.
func TestTreeNamesWhole(t *testing.T) {
	t.Parallel()
	p := openSQL(t, shop(t), "SELECT 1")
	p.wait("the tables", `document.querySelectorAll('.table-node').length > 5`)
	if cut := eval[[]string](p,
		`[...document.querySelectorAll('.table-node .row .text')].filter((e) => e.scrollWidth > e.clientWidth ||
			e.scrollHeight > e.clientHeight + 1).map((e) => e.innerText)`); len(cut) > 0 {
		t.Errorf("cut off: %q", cut)
	}
	p.shot("sql-tree")
}
