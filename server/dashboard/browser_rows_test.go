//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// logLine is a line of a small table with its age.
func logLine(age time.Duration, more string) string {
	return fmt.Sprintf(`{"ts":%d,%s}`, time.Now().Add(-age).UnixNano(), more)
}

// TestLogsFold: rows that differ in time alone are one, with their number; the key shows each, exports have each.
func TestLogsFold(t *testing.T) {
	t.Parallel()
	s := start(t)
	var lines []string
	for i := range 700 { // more than a page: the last run of equal rows goes on in the next
		text := "retrying"
		if i == 3 || i == 40 {
			text = "started"
		}
		lines = append(lines, logLine(time.Duration(i)*time.Second,
			fmt.Sprintf(`"level":"info","host":"web-1","message":%q`, text)))
	}
	s.ingest(t, "app", lines)
	p := logsAt(t, s, "t=app")
	p.wait("all loaded, five rows",
		`document.querySelector('.grid').getAttribute('aria-rowcount') === '5' &&
			document.querySelector('.logs-status').innerText.includes('700 loaded')`)
	p.wait("their numbers",
		`[...document.querySelectorAll('.badge.repeats')].map((e) => e.innerText).sort().join(' ') === '×3 ×36 ×659'`)
	if got := total(p); got != "700" {
		t.Errorf("total %s", got)
	}
	p.shot("logs-fold")
	p.click(".grid-row[data-row='2'] .grid-cell")
	p.wait("the drawer of the newest of them", `document.querySelector('table.fields')?.innerText.includes('retrying')`)
	p.click("[data-tab=context]")
	p.wait("what stood around it", `document.querySelector('.grid-row.origin')`)
	p.press(kb.Escape)
	p.press("d")
	p.wait("each by itself",
		`document.querySelector('.grid').getAttribute('aria-rowcount') === '700' &&
			!document.querySelector('.badge.repeats')`)
	p.wait("it in the address", `location.hash.includes('fold=0')`)
	p.press("d")
	p.wait("folded again", `document.querySelector('.grid').getAttribute('aria-rowcount') === '5'`)
	eval[bool](p, caught)
	p.click(".toolbar button[title=More]")
	p.named("Export", ".menu button", `e.innerText.startsWith('Export')`)
	p.wait("the dialog", `document.querySelector('dialog select[name=rows]')`)
	p.wait("the size of all",
		`/^all that match: 700, about [\d.]+ KiB$/.test(document.querySelector('dialog select[name=rows] option').innerText)`)
	eval[bool](p,
		`(() => { const e = document.querySelector('dialog select[name=rows]'); e.value = 'loaded';
			e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.click("dialog button.primary")
	p.wait("the file", `window.named`)
	if n := eval[int](p, `window.blob.text().then((t) => t.trim().split('\n').length)`); n != 701 {
		t.Errorf("the file of 700 loaded rows has %d lines", n)
	}
}

// TestLogsPins: pinned rows are marked in the histogram and open from there; a link opens a row among others of its
// instant.
func TestLogsPins(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(2000, time.Second))
	at := time.Now().Add(-90 * time.Second).UnixNano()
	var same []string
	for i := range 20 {
		same = append(same, fmt.Sprintf(
			`{"ts":%d,"level":"warn","service":"web","host":"web-1","message":"one of twenty: %d"}`, at, i))
	}
	s.ingest(t, "app", same)
	p := logsAt(t, s, "t=app&q=twenty")
	p.rowsShown()
	eval[bool](p, `document.querySelector('.grid').focus() ?? true`)
	p.press("jjjjjjjj" + kb.Enter)
	p.wait("the drawer", `document.querySelector('table.fields')`)
	message := eval[string](p,
		`[...document.querySelectorAll('table.fields tr')]
			.find((r) => r.cells[0].innerText === 'message').cells[1].innerText`)
	p.click(".drawer [aria-label='Pin the row']")
	p.wait("the mark", `document.querySelectorAll('.histogram .chart-mark').length === 1`)
	p.shot("logs-pin")
	eval[bool](p, clipboard)
	p.click(".drawer [aria-label='Copy a link to this row']")
	p.wait("the link", `window.copied`)
	opened := fmt.Sprintf(`[...document.querySelectorAll('table.fields tr')].some((r) => r.cells[1].innerText === %q)`,
		message)
	for _, address := range []string{eval[string](p, `window.copied`), eval[string](p, `location.href`)} {
		other := open(t, s, strings.TrimPrefix(address, s.url))
		other.figures()
		if !strings.Contains(address, "at=") {
			other.wait("the mark of the pinned row", `document.querySelector('.histogram .chart-mark')`)
			other.click(".histogram .chart-mark")
		}
		other.wait("its context", `document.querySelector('.drawer .grid-row.origin')`)
		if got := other.text(".drawer .grid-row.origin"); !strings.Contains(got, message) {
			t.Errorf("the row in the middle is %q, want %q", got, message)
		}
		other.click(".drawer [data-tab=fields]")
		other.wait("the same row", opened)
	}
	p.press("p")
	p.wait("no mark", `!document.querySelector('.histogram .chart-mark') && !location.hash.includes('pins=')`)
}

// TestLogsMembers: members of JSON, in columns of JSON and in texts, are filters; what the page counts is what SQL
// counts.
func TestLogsMembers(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.sql(t, `CREATE TABLE app (ts TIMESTAMP(9) TIME INDEX, message STRING, doc JSON)`)
	now := time.Now().UnixNano()
	for i := range 30 {
		text, doc := "plain text", "{}"
		if i%3 != 0 {
			text = fmt.Sprintf(`{"user":{"first.name":"it''s %d"},"tags":["a","t%d"],"ok":%v,"ratio":%d.5,"none":null}`,
				i%2, i%4, i%2 == 0, i%5)
			doc = text
		}
		s.sql(t, fmt.Sprintf(`INSERT INTO app VALUES (%d, '%s', parse_json('%s'))`, now-int64(i+1)*1e9, text, doc))
	}
	p := logsAt(t, s, "t=app&fold=0")
	p.rowsShown()
	for _, c := range []struct{ label, where string }{
		{"Only rows with this doc.user.first.name", `doc -> 'user' ->> 'first.name' = 'it''s 1'`},
		{"Not this doc.tags.1", `(doc -> 'tags' ->> 1) IS DISTINCT FROM 't1'`},
		{"Only rows with this doc.ok", `doc ->> 'ok' = 'false'`},
		{"Only rows with this doc.ratio", `TRY_CAST(doc ->> 'ratio' AS DOUBLE) = 1.5`},
		{"Only rows with this doc.none", `doc ->> 'none' IS NULL`},
		{"Only rows with this message.user.first.name",
			`TRY_CAST(message AS JSON) -> 'user' ->> 'first.name' = 'it''s 1'`},
		{"Not this message.ok", `(TRY_CAST(message AS JSON) ->> 'ok') IS DISTINCT FROM 'false'`},
	} {
		p.afresh("/dashboard/logs#t=app&fold=0")
		p.figures()
		p.rowsShown()
		p.click(".grid-row[data-row='1'] .grid-cell")
		p.wait("the tree", `document.querySelectorAll('.drawer details').length > 3`)
		eval[bool](p, fmt.Sprintf(`document.querySelector('[aria-label=%q]').click() ?? true`, c.label))
		want := s.count(t, c.where)
		p.wait(fmt.Sprintf("%s rows of %s", want, c.label),
			fmt.Sprintf(
				`document.querySelectorAll('.chip').length === 1 &&
					document.querySelector('.logs-status .figures b')?.innerText === '%s rows'`, want))
		if shown := eval[string](p, `document.querySelector('.logs-where .sql').title`); s.count(t, shown) != want {
			t.Errorf("the condition shown is %q", shown)
		}
	}
	p.shot("logs-members")
	p.button("View")
	p.named("Rows as JSON", ".pop.menu button", `e.innerText.startsWith('Rows as JSON')`)
	p.wait("rows as JSON",
		`[...document.querySelectorAll('.grid-row .grid-cell')].some((e) => e.innerText.startsWith('{"message":'))`)
}

// TestLogsRoles: a table without a column called message shows its longest text; another can be chosen, and stays.
func TestLogsRoles(t *testing.T) {
	t.Parallel()
	s := start(t)
	var lines []string
	for i := range 30 {
		lines = append(lines, logLine(time.Duration(i)*time.Second,
			fmt.Sprintf(`"verb":"GET","what":"a longer sentence about number %d","grade":"error"`, i)))
	}
	s.ingest(t, "app", lines)
	p := logsAt(t, s, "t=app")
	p.wait("the longest text is the message", headTitles+`.endsWith('what')`)
	field := func(name string) {
		p.named(name, ".field .name", fmt.Sprintf(`e.innerText.trim().endsWith(%q)`, name))
		p.wait("its values", `document.querySelector('.values .value')`)
	}
	field("grade")
	p.named("Is the level", ".values button", `e.innerText === 'Is the level'`)
	p.wait("levels in colour",
		`document.querySelector('.grid-row .level-error') &&
			document.querySelector('.legend')?.innerText.includes('error')`)
	field("verb")
	p.named("Is the message", ".values button", `e.innerText === 'Is the message'`)
	p.wait("the other message", headTitles+`.endsWith('verb')`)

	p.afresh("/dashboard/logs#t=app")
	p.wait("the same later", headTitles+`.endsWith('verb') && document.querySelector('.grid-row .level-error')`)
}

// TestLogsReading: text is selected as it stands on the screen, also after scrolling; a trace id leads to its trace
// from any column.
func TestLogsReading(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(400, time.Second))
	p := logsAt(t, s, "t=app&cols=trace_id")
	p.rowsShown()
	eval[bool](p, `(() => { document.querySelector('.grid').scrollTop = 130; return true; })()`)
	p.wait("rows scrolled", `document.querySelector('.grid-row[data-row="35"]')`)
	p.wait("elements in the order of their rows",
		`(() => { const rows = [...document.querySelectorAll('.grid-row')].map((r) => r.dataset.row)
			.filter((r) => r >= '0').map(Number); return rows.length > 20 && rows.every((r, i) => i === 0 ||
			r > rows[i - 1]); })()`)
	selected := eval[string](p, `(() => {
		const text = (i) => [...document.querySelector('.grid-row[data-row="' + i + '"]').children].at(-1).firstChild;
		getSelection().setBaseAndExtent(text(10), 0, text(13), text(13).length);
		return String(getSelection()).replace(/\s+/g, ' ');
	})()`)
	at := 0
	for i, row := range s.sql(t, "SELECT message FROM app ORDER BY ts DESC LIMIT 4 OFFSET 10") {
		place := strings.Index(selected, row[0].(string))
		if place < at {
			t.Errorf("row %d stands at %d of the selected text, after one at %d: %q", 10+i, place, at, selected)
		}
		at = place
	}
	eval[bool](p, `getSelection().removeAllRanges() ?? true`)
	p.click(".grid-row[data-row='12'] .grid-cell")
	p.named("open trace", "table.fields .value button.link", `e.innerText === 'open trace'`)
	id := s.sql(t, "SELECT trace_id FROM app ORDER BY ts DESC LIMIT 1 OFFSET 12")[0][0]
	p.wait("the trace", fmt.Sprintf(`location.pathname.endsWith('/traces') && location.hash.includes('id=%s')`, id))
}

// TestLogsLiveLate: how late a row may be and still be seen is chosen, and so in the next visit.
func TestLogsLiveLate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", []string{logLine(time.Second, `"level":"info","message":"the first"`)})
	p := open(t, s, "/dashboard/logs#t=app&live=1")
	p.wait("the live list", `document.querySelector('.grid-row')?.innerText.includes('the first')`)
	eval[bool](p,
		`(() => { const e = document.querySelector('[aria-label="late by, s"]'); e.value = '60';
			e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
	p.wait("the first again",
		`[...document.querySelectorAll('.grid-row')].some((r) => r.innerText.includes('the first'))`)
	s.ingest(t, "app", []string{logLine(0, `"level":"info","message":"the second"`),
		logLine(40*time.Second, `"level":"info","message":"late by forty"`)})
	p.wait("the late one",
		`['the second', 'late by forty'].every((m) => [...document.querySelectorAll('.grid-row')].some((r) => r.innerText.includes(m)))`)
	p.afresh("/dashboard/logs#t=app&live=1")
	p.wait("the same choice", `document.querySelector('[aria-label="late by, s"]')?.value === '60'`)
}

// TestLogsWideRow: the drawer has all fields of a row of a table of which the list asks for some columns only.
func TestLogsWideRow(t *testing.T) {
	t.Parallel()
	s := start(t)
	var lines []string
	at := time.Now().Add(-time.Minute).UnixNano()
	for i := range 5 { // of one instant
		var b strings.Builder
		fmt.Fprintf(&b, `{"ts":%d,"level":"info","message":"wide %d"`, at, i)
		for c := range 507 {
			fmt.Fprintf(&b, `,"f%03d":%d`, c, i*1000+c)
		}
		lines = append(lines, b.String()+"}")
	}
	s.ingest(t, "wide", lines)
	p := open(t, s, "/dashboard/logs#t=wide")
	shown := p.rowsShown()
	p.click(".grid-row[data-row='2'] .grid-cell")
	p.wait("the drawer", `document.querySelector('table.fields')`)
	p.wait("all fields",
		`[...document.querySelectorAll('.drawer p')].some((e) => e.innerText.startsWith('Fields 1 to 100 of 510'))`)
	var i int
	fmt.Sscanf(shown[2][strings.Index(shown[2], "wide "):], "wide %d", &i)
	p.wait("the fields of this row",
		fmt.Sprintf(
			`[...document.querySelectorAll('table.fields tr')].some((r) => r.innerText.includes('f042') &&
				r.querySelector('.value').innerText.includes('%d'))`, i*1000+42))
	p.click(`.drawer button[aria-label="Pin the row"]`)
	p.wait("the pin", `location.hash.includes('pins=')`)
	pin := eval[string](p, `/pins=([^&]+)/.exec(location.hash)[1]`)
	p.afresh("/dashboard/logs#t=wide&at=" + pin)
	p.wait("the row that a link names",
		fmt.Sprintf(`document.querySelector('.grid-row.origin')?.innerText.includes('wide %d')`, i))
}

// TestManyRowsOfOneInstant: an instant may have more rows than two pages of the list; each of them is loaded once.
func TestManyRowsOfOneInstant(t *testing.T) {
	t.Parallel()
	s := start(t)
	at := time.Now().Add(-time.Minute).UnixNano()
	lines := []string{fmt.Sprintf(`{"ts":%d,"message":"the oldest"}`, at-1)}
	for i := range 16_000 {
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"message":"row %d"}`, at, i))
	}
	s.ingest(t, "burst", lines)
	p := open(t, s, "/dashboard/logs#t=burst")
	p.rowsShown()
	loaded := eval[[]int](p, `(async () => {
		const at = document.querySelector('script[type=module]').src;
		const [api, catalog, logsql, { older }] = await Promise.all(
			['core/api.js', 'core/catalog.js', 'page/logsquery.js', 'page/logsmore.js']
				.map((f) => import(at.replace('app.js', f))));
		const columns = await catalog.columns('public', 'burst'), roles = logsql.rolesOf(columns);
		const scope = { table: 'burst', columns, roles, range: { from: null, to: null }, filters: [] };
		const rows = await api.query(logsql.rows(scope, '*', 500));
		const place = (name) => rows.columns.findIndex((c) => c.name === name);
		const run = { timeOf: () => place(roles.time.name), state: { get: () => [] } };
		for (let i = 0; i < 30 && !await older(run, rows, scope, new AbortController().signal); i++);
		return [rows.total, new Set(await rows.column(place('message'))).size];
	})()`)
	if want := len(lines); loaded[0] != want || loaded[1] != want {
		t.Errorf("%d rows are loaded, %d of them different, want %d", loaded[0], loaded[1], want)
	}
}
