//go:build dashboard && browser

package dashboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// logsAt opens the Logs page with state and waits for its figures.
func logsAt(t *testing.T, s *server, state string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/logs#"+state)
	p.figures()
	return p
}

// figures waits until the exact total is there.
func (p *page) figures() {
	p.t.Helper()
	p.quiet() // else they may be those of the run before
	p.wait("the figures",
		`/^[\d,]+ rows?$/.test(document.querySelector('.logs-status .figures b')?.innerText ?? '') && !document.querySelector('.bar')`)
}

func (s *server) count(t *testing.T, where string) string {
	t.Helper()
	return fmt.Sprint(s.sql(t, "SELECT count(*) FROM app WHERE "+where)[0][0])
}

func state(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

func TestLogsSearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := time.Now() // the newest row; parts of the test come much later
	s.ingest(t, "app", shopLines(20_000, 150*time.Millisecond))

	t.Run("D03 search", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=all")
		for _, q := range []string{
			"", "timeout", `"connection reset"`, "time*", "~TIMEOUT", `/order \d+/`, "level:error", "status:500",
			"status:>=500", "bytes:10..2000",
			"level:(error,warn)", "trace_id:*", "-trace_id:*", "host:web*", "host:~EB-1", "-level:debug", "-timeout",
			"timeout OR reset",
			"(timeout OR slow) -level:error", "ctx.user.id:7", "level:error -service:web timeout",
			"NOT (level:info OR level:debug)",
		} {
			p.fill("#logs-search", q)
			p.press(kb.Enter)
			p.wait("the run of "+q, fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get('q') === %s`,
				orNull(q)))
			eval[bool](p, `(() => { document.querySelector('.toolbar button.primary').click(); return true; })()`)
			p.settled()
			where := strings.TrimPrefix(eval[string](p, `document.querySelector('.logs-where .sql').title`), "WHERE ")
			want := s.count(t, "true")
			if where != "" {
				want = s.count(t, where)
			}
			p.wait(fmt.Sprintf("%s rows for %s (%s)", want, q, where),
				fmt.Sprintf(
					`document.querySelector('.logs-status .figures b').innerText.replaceAll(',', '').startsWith('%s row')`, want))
		}
	})

	t.Run("D03 cases", func(t *testing.T) {
		text, err := os.ReadFile("testdata/search.json")
		if err != nil {
			t.Fatal(err)
		}
		var table struct {
			Columns []struct{ Name, Type string }
			Cases   []struct {
				Name, Line, Where, Error string
				AnyCase                  bool `json:"any_case"`
				NoMessage                bool `json:"no_message"`
			}
		}
		if err := json.Unmarshal(text, &table); err != nil {
			t.Fatal(err)
		}
		types := map[string]string{"TimestampNanosecond": "TIMESTAMP(9) TIME INDEX", "Int64": "BIGINT",
			"UInt64": "BIGINT UNSIGNED", "Float64": "DOUBLE", "Binary": "VARBINARY"}
		var columns []string
		for _, c := range table.Columns {
			kind, other := types[c.Type]
			if !other {
				kind = c.Type
			}
			columns = append(columns, `"`+strings.ReplaceAll(c.Name, `"`, `""`)+`" `+kind)
		}
		s.sql(t, "CREATE TABLE cases ("+strings.Join(columns, ", ")+")")
		now := time.Now().UnixNano()
		for i, values := range []string{`'timeout: connection reset', 'error', 'web-1', '/api/v1/users', 500, 15, 0.25, true`, `'GET /a 200', 'debug', 'web-3', '/health/', 200, 7, 1.5, false`, `NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`} {
			s.sql(t,
				fmt.Sprintf(
					`INSERT INTO cases (ts, message, level, host, path, status, bytes, ratio, ok) VALUES (%d, %s)`,
					now-int64(i), values))
		}
		p := logsAt(t, s, "t=cases&from=all")
		tried := 0
		for i, c := range table.Cases {
			if c.Error != "" || c.NoMessage || c.AnyCase || strings.ContainsAny(c.Line, "\r\n") ||
				strings.TrimSpace(c.Line) != c.Line || i%2 == 1 {
				continue
			}
			tried++
			p.fill("#logs-search", c.Line)
			p.press(kb.Enter)
			p.wait("the run of "+c.Line,
				fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get('q') === %s`, orNull(c.Line)))
			p.settled()
			if where := strings.TrimPrefix(eval[string](p, `document.querySelector('.logs-where .sql').title`),
				"WHERE "); where != c.Where {
				t.Errorf("%s: %s is shown as %s, want %s", c.Name, c.Line, where, c.Where)
			}
			want := fmt.Sprint(s.sql(t, "SELECT count(*) FROM cases WHERE "+cmp.Or(c.Where, "true"))[0][0])
			p.wait(fmt.Sprintf("%s rows for %s", want, c.Line),
				fmt.Sprintf(`document.querySelector('.logs-status .figures b')?.innerText.startsWith('%s row')`, want))
		}
		if tried < 40 {
			t.Errorf("%d cases were tried, at least 40", tried)
		}
	})

	t.Run("D06 zoom", func(t *testing.T) {
		begin := time.Now().Add(-30 * time.Minute)
		p := logsAt(t, s, state("t", "app", "from", begin.UTC().Format(time.RFC3339), "to",
			begin.Add(20*time.Minute).UTC().Format(time.RFC3339)))
		all, address := total(p), eval[string](p, `location.hash`)
		box := eval[[]float64](p,
			`(() => { const r = document.querySelector('.histogram').getBoundingClientRect();
				return [r.left, r.top, r.width, r.height]; })()`)
		p.drag(box[0]+box[2]*0.5, box[1]+30, box[0]+box[2]*0.75, box[1]+30)
		p.wait("the zoomed range", fmt.Sprintf(`location.hash !== %q`, address))
		p.wait("fewer rows",
			fmt.Sprintf(
				`(() => { const n = document.querySelector('.logs-status .figures b').innerText.replace(/\D/g, '');
					return n !== '' && n !== '%s'; })()`, all))
		p.figures()
		from, to := eval[string](p, `new URLSearchParams(location.hash.slice(1)).get('from')`),
			eval[string](p, `new URLSearchParams(location.hash.slice(1)).get('to')`)
		if want := s.count(t, fmt.Sprintf("ts >= '%s' AND ts < '%s'", from, to)); total(p) != want {
			t.Errorf("total %s, want %s", total(p), want)
		}
		if bars := p.sumOfBars(); bars != total(p) {
			t.Errorf("the bars add up to %s, the total is %s", bars, total(p))
		}
		p.shot("logs-zoom")
		eval[bool](p, `history.back() ?? true`)
		p.wait("the old range and its rows",
			fmt.Sprintf(
				`location.hash === %q && document.querySelector('.logs-status .figures b')?.innerText === '%s rows'`,
				address, grouped(all)))
	})

	t.Run("D07 field values", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=all")
		eval[bool](p,
			`(() => { [...document.querySelectorAll('.field .name')].find((b) => b.innerText.includes('host')).click();
				return true; })()`)
		p.wait("values", `document.querySelectorAll('.values .value').length >= 10`)
		shown := func() []string {
			return eval[[]string](p,
				`[...document.querySelectorAll('.values .value')]
					.map((v) => v.querySelector('.text').innerText + ' ' + v.querySelector('.n').title.replace(/ rows?$/, '') + ' ' + v.querySelector('.p').innerText)`)
		}
		counted := func(column, of string, rows float64) (lines []string) {
			for _, row := range s.sql(t, "SELECT "+column+", count(*) FROM "+of+" WHERE "+column+
				" IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10") {
				n, _ := row[1].(json.Number).Float64()
				lines = append(lines, fmt.Sprintf("%v %s %s%%", row[0], grouped(row[1].(json.Number).String()),
					strings.TrimSuffix(fmt.Sprintf("%.1f", 100*n/rows), ".0")))
			}
			return lines
		}
		got, want := shown(), counted("host", "app", 20_000)
		slices.Sort(got) // equal counts have no order
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("values\n%q\nwant\n%q", got, want)
		}
		p.shot("logs-field")

		// Rows without the field are a line of their own, and share in the whole.
		var lines []string
		for i := range 40 {
			user := ""
			if i%4 != 0 {
				user = fmt.Sprintf(`,"user":"u%d"`, i%4)
			}
			lines = append(lines, logLine(time.Duration(i)*time.Second, `"message":"m"`+user))
		}
		s.ingest(t, "partly", lines)
		p.afresh("/dashboard/logs#t=partly")
		p.named("the field", ".field .name", `e.innerText.trim().endsWith('user')`)
		p.wait("what has it not", `document.querySelector('.values .value.none')`)
		got, want = shown(), append(counted("user", "partly", 40), "not there 10 25%")
		slices.Sort(got[:3])
		if !slices.Equal(got, want) {
			t.Errorf("values\n%q\nwant\n%q", got, want)
		}
		if said := p.text(".values p"); said != "3 values in 30 rows" {
			t.Errorf("it says %q", said)
		}
	})

	t.Run("D09 context", func(t *testing.T) {
		p := logsAt(t, s, "t=app&q=timeout&from=all")
		p.rowsShown()
		p.click(".grid-row[data-row='20']")
		p.wait("the drawer", `document.querySelector('table.fields')`)
		p.click("[data-tab=context]")
		p.wait("the rows around it", `document.querySelector('.grid-row.origin')`)
		text := p.text(".drawer")
		if !strings.Contains(text, "50 before, 50 after") {
			t.Errorf("the context says %q", text)
		}
		p.shot("logs-context")
		place := `Math.round(document.querySelector('.drawer .grid-row.origin').getBoundingClientRect().top)`
		eval[bool](p, `(() => { document.querySelector('.drawer .grid').scrollTop += 60; return true; })()`)
		before := eval[int](p, place)
		for i, c := range []struct{ button, says string }{{"50 earlier", "100 before, 50 after"},
			{"50 later", "100 before, 100 after"}} {
			p.button(c.button)
			p.wait(c.says, fmt.Sprintf(`document.querySelector('.drawer').innerText.includes(%q)`, c.says))
			p.wait(fmt.Sprintf("the origin in place, %d", i), fmt.Sprintf(`%s === %d`, place, before))
		}
	})

	// The row stands in the middle of its context, in the order in which rows were stored, however many there are of
	// its instant.
	for _, c := range []struct{ atOnce, origin int }{{30, 7}, {400, 125}, {400, 1}, {400, 199}} {
		t.Run(fmt.Sprintf("D09 equal times, %d of %d", c.origin, c.atOnce), func(t *testing.T) {
			at, table := time.Now().Add(-10*time.Minute), fmt.Sprintf("equal%d", c.origin)
			var lines, texts []string
			for i := -60; i < 60+c.atOnce; i++ {
				when, text := at, fmt.Sprintf("at once %d.", i/2) // each text twice
				switch {
				case i < 0:
					when, text = at.Add(time.Duration(i)*time.Second), fmt.Sprintf("before %d.", -i)
				case i >= c.atOnce:
					when, text = at.Add(time.Duration(i-c.atOnce+1)*time.Second), fmt.Sprintf("after %d.", i-c.atOnce+1)
				}
				lines = append(lines, fmt.Sprintf(`{"ts":%d,"service":"one","message":%q}`, when.UnixNano(), text))
				texts = append(texts, text)
			}
			s.ingest(t, table, lines)
			origin := 60 + 2*c.origin
			want := texts[origin-50 : origin+51]
			p := logsAt(t, s, fmt.Sprintf(`t=%s&q="at+once+%d."&fold=0`, table, c.origin))
			p.rowsShown()
			p.click(".grid-row[data-row='1'] .grid-cell")
			p.wait("the drawer", `document.querySelector('table.fields')`)
			p.click("[data-tab=context]")
			p.wait("the rows around it",
				fmt.Sprintf(
					`document.querySelector('.drawer .grid-row.origin')?.innerText.includes('at once %d.') &&
						document.querySelector('.drawer').innerText.includes('50 before, 50 after')`, c.origin))
			if got := p.everyRow(".drawer .grid"); !slices.Equal(got, want) {
				t.Errorf("%d rows\n%q\nwant %d\n%q", len(got), got, len(want), want)
			}
		})
	}

	t.Run("D15 patterns", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=all&tab=patterns")
		p.wait("patterns", `document.querySelectorAll('.patterns tbody tr').length > 3`)
		cells := eval[[]string](p,
			`[...document.querySelectorAll('.patterns tbody tr')]
				.map((r) => r.cells[0].innerText + ' ' + r.cells[2].innerText)`)
		top := eval[string](p, `document.querySelector('.patterns tbody tr td:nth-child(3)').innerText`)
		like := strings.NewReplacer("%", `\%`, "_", `\_`, "∗", "%").Replace(top)
		if want := grouped(s.count(t, "message LIKE '"+like+"'")); !strings.HasPrefix(cells[0], want+" ") {
			t.Errorf("the first pattern is %q, rows like %s are %s", cells[0], like, want)
		}
		if want := grouped(s.count(t, "message LIKE 'cache hit for user %'")) +
			" cache hit for user"; !slices.ContainsFunc(cells,
			func(c string) bool { return strings.HasPrefix(c, want) }) {
			t.Errorf("no pattern %q among %q", want, cells)
		}
		p.shot("logs-patterns")
	})

	t.Run("what changed", func(t *testing.T) {
		at := func(share float64) string {
			return made.Add(-time.Duration((1 - share) * 20_000 * 150 * float64(time.Millisecond))).UTC().Format(
				time.RFC3339)
		}
		p := open(t, s, "/dashboard/logs#"+state("t", "app", "from", at(0.6), "to", at(0.64), "tab", "changes"))
		p.wait("changes", `document.querySelectorAll('.changes tbody tr').length > 2`)
		if text := eval[string](p,
			`[...document.querySelectorAll('.changes tbody tr')].slice(0, 6)
				.map((r) => r.cells[0].innerText + '=' + r.cells[1].innerText)
				.join(' ')`); !strings.Contains(text, "level=error") || !strings.Contains(text, "status=503") {
			t.Errorf("the first changes are %s", text)
		}
		p.shot("logs-changes")
	})

	t.Run("D16 share", func(t *testing.T) {
		p := logsAt(t, s, state("t", "app", "q", "level:error timeout", "cols", "host,status", "split", "service",
			"from", "all"))
		p.rowsShown()
		address := strings.TrimPrefix(eval[string](p, `location.href`), s.url)
		other := open(t, s, address)
		other.figures()
		if a, b := total(p), total(other); a != b {
			t.Errorf("%s and %s rows", a, b)
		}
		other.rowsShown() // the figures may come a frame before the grid
		if heads := eval[string](other,
			`[...document.querySelectorAll('.grid-th')].map((e) => e.innerText).join(' ')`); !strings.Contains(heads,
			"host status") {
			t.Errorf("columns %q", heads)
		}

		// A pinned link shows the same rows after others came.
		p.afresh("/dashboard/logs#" + state("t", "app", "q", "level:error", "from", "now-3h")) // all rows, however late
		p.figures()
		before := total(p)
		eval[bool](p, clipboard)
		p.mod("k")
		p.wait("the palette", `document.activeElement.ariaLabel === 'Command'`)
		p.press("fixed times" + kb.Enter)
		p.wait("the link", `window.copied`)
		s.ingest(t, "app", []string{logLine(0, `"level":"error","service":"web","message":"later than the link"`)})
		other = open(t, s, strings.TrimPrefix(eval[string](p, `window.copied`), s.url))
		other.figures()
		if after := total(other); after != before {
			t.Errorf("the pinned link shows %s rows, it was made of %s", after, before)
		}
		p.press("r")
		p.wait("the new one where the range is not pinned",
			`document.querySelector('.grid-row[data-row="0"]')?.innerText.includes('later than the link')`)
	})

	t.Run("D17 empty range", func(t *testing.T) {
		p := open(t, s, "/dashboard/logs#"+state("t", "app", "from", "2020-01-01T00:00:00Z", "to",
			"2020-01-02T00:00:00Z"))
		p.wait("the sentence", `document.querySelector('.state h2')?.innerText.startsWith('No rows between')`)
		p.wait("the newest row", `document.querySelector('.state').innerText.includes('The newest row')`)
		p.shot("logs-empty")
		p.click(".state button.primary")
		p.rowsShown()
	})
}

// orNull is a value of the address, which leaves defaults out.
func orNull(text string) string {
	if text == "" {
		return "null"
	}
	b, _ := json.Marshal(text)
	return string(b)
}

// grouped writes a number as the page does.
func grouped(n string) string {
	for i := len(n) - 3; i > 0; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}

// TestD13Export compares what the page writes with what the server itself writes.
func TestD13Export(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(60_000, 50*time.Millisecond))
	p := logsAt(t, s, "t=app&from=all")
	eval[bool](p, caught)
	p.click(".toolbar button[title=More]")
	p.named("Export", ".menu button", `e.innerText.startsWith('Export')`)
	p.wait("the dialog", `document.querySelector('dialog form select[name=format]')`)
	p.click("dialog button.primary")
	p.wait("the file", `window.named === 'app.csv'`)
	p.said("^60,000 rows saved in app.csv")
	same := eval[string](p, `(async () => {
		const own = await window.blob.text();
		const columns = own.slice(0, own.indexOf('\r\n')).split(',').map((c) => '"' + c + '"').join(', ');
		const whole = await (await fetch('/v1/sql?format=csvWithNames', { method: 'POST', body: new URLSearchParams({ sql: 'SELECT ' + columns + ' FROM app ORDER BY ts DESC' }) })).text();
		return own === whole ? '' : own.length + ' and ' + whole.length + ' bytes';
	})()`)
	if same != "" {
		t.Error(same)
	}

	export := func(format string) {
		t.Helper()
		eval[bool](p, `(() => { window.blob = window.named = undefined; return true; })()`)
		p.click(".toolbar button[title=More]")
		p.named("Export", ".menu button", `e.innerText.startsWith('Export')`)
		p.wait("the dialog", `document.querySelector('dialog form select[name=format]')`)
		eval[bool](p,
			fmt.Sprintf(
				`(() => { const e = document.querySelector('dialog select[name=format]'); e.value = %q;
					e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`, format))
		p.click("dialog button.primary")
	}
	s.ingest(t, "app", shopLines(60_000, 50*time.Millisecond)[:7]) // after they were counted
	export("csv")
	p.wait("the file", `window.named === 'app.csv'`)
	p.said("^60,007 rows saved in app.csv")
	export("ndjson")
	p.wait("the file", `window.named === 'app.ndjson'`)
	if off := eval[string](p, `(async () => {
		const lines = (await window.blob.text()).trimEnd().split('\n');
		const text = await (await fetch('/v1/sql', { method: 'POST', body: new URLSearchParams({ sql: 'SELECT * FROM app ORDER BY ts DESC' }) })).text();
		const { records } = JSON.parse(text.replace(/\[(\d{19})/g, '["$1"').replace(/,(\d{19})/g, ',"$1"')).output[0];
		const names = records.schema.column_schemas.map((c) => c.name);
		if (lines.length !== records.rows.length) return lines.length + ' lines of ' + records.rows.length + ' rows';
		const at = lines.findIndex((line, i) => { const o = JSON.parse(line.replace(/:(\d{19})/g, ':"$1"')); return !names.every((n, c) => String(o[n]) === String(records.rows[i][c])); });
		return at < 0 ? '' : 'line ' + at + ' ' + lines[at] + ' is not ' + JSON.stringify(records.rows[at]);
	})()`); off != "" {
		t.Error(off)
	}

	// Cancelled on the way: no file at all.
	eval[bool](p, `(() => {
		const real = window.fetch;
		let asked = 0;
		window.fetch = (url, how) => !/v1\/sql\?/.test(url) || asked++ === 0 ? real(url, how) : new Promise((_, stop) => how.signal.addEventListener('abort', () => stop(how.signal.reason)));
		return true;
	})()`)
	export("csv")
	p.wait("that it is on the way",
		`document.querySelector('dialog button.primary').disabled &&
			document.querySelector('dialog progress').value > 0`)
	p.named("Cancel", "dialog .buttons button", `e.innerText === 'Cancel'`)
	p.said("no file was kept")
	if eval[bool](p, `window.named !== undefined`) {
		t.Error("a cancelled export leaves a file")
	}
}

// TestD08Exact: nothing that a row has is rounded or mistaken for something else.
func TestD08Exact(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.sql(t,
		`CREATE TABLE app (ts TIMESTAMP(9) TIME INDEX, message STRING, big BIGINT UNSIGNED, low BIGINT, f DOUBLE, empty STRING, nothing STRING, doc JSON)`)
	ts := time.Now().UnixNano()/1000*1000 + 789
	s.sql(t,
		fmt.Sprintf(
			`INSERT INTO app VALUES (%d, 'a row', 18446744073709551615, -9223372036854775808, 0.1, '', NULL, parse_json('{"a":{"b":[1,2,{"c":"deep"}]}}'))`, ts))
	p := logsAt(t, s, "t=app")
	p.rowsShown()
	p.click(".grid-row[data-row='0']")
	p.wait("the drawer", `document.querySelector('table.fields')`)
	p.click("table.fields + p button") // what is NULL
	value := func(name string) string {
		return eval[string](p,
			fmt.Sprintf(
				`[...document.querySelectorAll('table.fields tr')]
					.find((r) => r.cells[0].innerText === %q)?.cells[1].innerText ?? 'no row'`, name))
	}
	for name, want := range map[string]string{"big": "18446744073709551615", "low": "-9223372036854775808", "f": "0.1",
		"empty": "''", "nothing": "NULL"} {
		if got := value(name); got != want {
			t.Errorf("%s is shown as %q, want %q", name, got, want)
		}
	}
	if got := value("ts"); !strings.Contains(got, fmt.Sprint(ts)) {
		t.Errorf("ts is shown as %q, want %d in it", got, ts)
	}
	if got := value("doc"); !strings.Contains(got, "a") || !strings.Contains(got, "{1}") {
		t.Errorf("doc is shown as %q, want a tree", got)
	}
}

// TestD12Rows100k scrolls on until a hundred thousand rows are loaded.
func TestD12Rows100k(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100_000, 20*time.Millisecond))
	p := logsAt(t, s, "t=app&from=all")
	p.rowsShown()
	eval[bool](p, `new Promise((resolve) => {
		const g = document.querySelector('.grid');
		const step = () => { if (Number(g.getAttribute('aria-rowcount')) >= 100000) return resolve(true); g.scrollTop = g.scrollHeight; setTimeout(step, 20); };
		step();
	})`)
	oldest := fmt.Sprint(s.sql(t, "SELECT message FROM app ORDER BY ts LIMIT 1")[0][0])
	eval[bool](p, `(() => { const g = document.querySelector('.grid'); g.scrollTop = g.scrollHeight; return true; })()`)
	p.wait("the oldest row",
		fmt.Sprintf(`document.querySelector('.grid-row[data-row="99999"]')?.innerText.includes(%q)`, oldest))
	nodes := eval[int](p, `document.querySelectorAll('*').length`)
	if nodes > 3000 {
		t.Errorf("%d elements", nodes)
	}
	p.do("focus", chromedp.KeyEvent("f", chromedp.KeyModifiers(2)))
	p.wait("the box", `document.querySelector('.find input')`)
	began := time.Now()
	p.fill(".find input", oldest)
	p.wait("the hits", `/of/.test(document.querySelector('.find').innerText)`)
	t.Logf("%d elements; found in 100,000 rows after %v, the test's own way included", nodes,
		time.Since(began).Round(time.Millisecond))
	p.shot("logs-100k")
}

// TestLogsPatternsLarge: of many rows the patterns of a sample come first, marked as estimates, and become exact where
// they stand as the rows are counted. Counting can be cancelled and taken up again; another search ends it.
func TestLogsPatternsLarge(t *testing.T) {
	t.Parallel()
	s := start(t)
	for part := range 5 {
		var lines []string
		for i := range 50_000 {
			n := part*50_000 + i // the newest ones, which are most of the sample, are rare ones
			lines = append(lines, logLine(50*time.Minute-time.Duration(n)*10*time.Millisecond,
				fmt.Sprintf(`"message":"%s %d"`, []string{"common", "rare"}[n/230_000], n)))
		}
		s.ingest(t, "app", lines)
	}
	g := gated(t, s, map[string]string{"sample": `regexp_replace.*AS sampled`,
		"parts": `regexp_replace.*AS example FROM "app"`})
	g.close("sample", "parts")
	p := open(t, g.server, "/dashboard/logs#t=app&tab=patterns")
	p.holds(g, "sample", 1)
	g.open("sample")
	p.wait("an estimate that says so",
		`/2 patterns of 250,000 rows, estimated: 20,00\d of 250,000 rows sampled/.test(document.querySelector('.patterns p')?.innerText) && /^≈ (19|20)\d,/.test(document.querySelector('.patterns tbody td').innerText)`)
	given := func(n int) {
		t.Helper()
		p.holds(g, "parts", 1)
		for end := time.Now().Add(patience); ; p.frame() {
			if _, left := g.counts("parts"); left == n {
				return
			} else if time.Now().After(end) {
				t.Fatalf("%d statements are given up, want %d", left, n)
			}
		}
	}
	p.holds(g, "parts", 1)
	p.button("Cancel")
	given(1)
	p.button("Count all")
	p.holds(g, "parts", 2)
	g.open("parts")
	const rows = `[...document.querySelectorAll('.patterns tbody tr')].map((r) => r.cells[0].innerText).join()`
	p.wait("the exact numbers",
		`document.querySelector('.patterns p').innerText.startsWith('2 patterns of 250,000 rows.') && `+rows+
			` === '20,000,230,000'`)
	p.button("Sort by rows")
	p.wait("their order", rows+` === '230,000,20,000'`)
	g.close("parts")
	search := func(text string) {
		t.Helper()
		p.fill("#logs-search", text)
		p.press("\r")
	}
	search("common")
	p.holds(g, "parts", 1)
	search("rare")
	given(1)
	g.open("parts")
	p.wait("the next answer", `document.querySelector('.patterns p').innerText.startsWith('1 pattern of 20,000 rows.')`)
}

// TestLogsViews: a view is kept by name for the team, and opened from the toolbar by somebody else.
func TestLogsViews(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := logsAt(t, s, "t=app&q=level:error")
	p.figures()
	p.button("Views")
	p.wait("that there is none", `document.querySelector('.menu')?.innerText.includes('No view is kept yet')`)
	p.named("Keep", ".menu button", `e.innerText.startsWith('Keep this view')`)
	p.fill("dialog input", "Errors of the shop")
	p.button("Keep")
	p.said("Kept as Errors of the shop")
	eval[bool](p, `localStorage.clear() ?? true`)
	p.afresh("/dashboard/logs#t=app")
	p.figures()
	p.button("Views")
	p.named("the view", ".menu button", `e.innerText.trim() === 'Errors of the shop'`)
	p.wait("its search", `new URLSearchParams(location.hash.slice(1)).get('q') === 'level:error'`)
}
