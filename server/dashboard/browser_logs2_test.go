//go:build dashboard && browser

package dashboard

import (
	"encoding/json"
	"fmt"
	"net/url"
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
	p.wait("the figures", `/^[\d,]+ rows?$/.test(document.querySelector('.logs-status .figures b')?.innerText ?? '') && !document.querySelector('.bar')`)
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
	s := start(t)
	s.ingest(t, "app", shopLines(20_000, 150*time.Millisecond))

	t.Run("D03 search", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=all")
		for _, q := range []string{
			"", "timeout", `"connection reset"`, "time*", "~TIMEOUT", `/order \d+/`, "level:error", "status:500", "status:>=500", "bytes:10..2000",
			"level:(error,warn)", "trace_id:*", "-trace_id:*", "host:web*", "host:~EB-1", "-level:debug", "-timeout", "timeout OR reset",
			"(timeout OR slow) -level:error", "ctx.user.id:7", "level:error -service:web timeout", "NOT (level:info OR level:debug)",
		} {
			p.fill("#logs-search", q)
			p.press(kb.Enter)
			p.wait("the run of "+q, fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get('q') === %s`, orNull(q)))
			eval[bool](p, `(() => { document.querySelector('.toolbar button.primary').click(); return true; })()`)
			p.settled()
			where := strings.TrimPrefix(eval[string](p, `document.querySelector('.logs-where .sql').title`), "WHERE ")
			want := s.count(t, "true")
			if where != "" {
				want = s.count(t, where)
			}
			p.wait(fmt.Sprintf("%s rows for %s (%s)", want, q, where), fmt.Sprintf(`document.querySelector('.logs-status .figures b').innerText.replaceAll(',', '').startsWith('%s row')`, want))
		}
	})

	t.Run("D06 zoom", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=now-1h")
		all := total(p)
		box := eval[[]float64](p, `(() => { const r = document.querySelector('.histogram').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
		p.drag(box[0]+box[2]*0.5, box[1]+30, box[0]+box[2]*0.75, box[1]+30)
		p.wait("the zoomed range", `new URLSearchParams(location.hash.slice(1)).get('from')?.endsWith('Z')`)
		p.wait("fewer rows", fmt.Sprintf(`(() => { const n = document.querySelector('.logs-status .figures b').innerText.replace(/\D/g, ''); return n !== '' && n !== '%s'; })()`, all))
		p.figures()
		from, to := eval[string](p, `new URLSearchParams(location.hash.slice(1)).get('from')`), eval[string](p, `new URLSearchParams(location.hash.slice(1)).get('to')`)
		if want := s.count(t, fmt.Sprintf("ts >= '%s' AND ts < '%s'", from, to)); total(p) != want {
			t.Errorf("total %s, want %s", total(p), want)
		}
		p.shot("logs-zoom")
		eval[bool](p, `history.back() ?? true`)
		p.wait("the old range", `new URLSearchParams(location.hash.slice(1)).get('from') !== null && !location.hash.includes('Z')|| location.hash.indexOf('from=') < 0`)
	})

	t.Run("D07 field values", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=all")
		eval[bool](p, `(() => { [...document.querySelectorAll('.field .name')].find((b) => b.innerText.includes('host')).click(); return true; })()`)
		p.wait("values", `document.querySelectorAll('.values .value').length >= 10`)
		top := s.sql(t, "SELECT host, count(*) FROM app GROUP BY 1 ORDER BY 2 DESC LIMIT 1")[0]
		text := eval[string](p, `(() => { const v = document.querySelector('.values .value'); return v.querySelector('.text').innerText + ' ' + v.querySelector('.n').title + ' ' + v.querySelector('.p').innerText; })()`)
		n, _ := top[1].(json.Number).Float64()
		if want := fmt.Sprintf("%s rows %.1f%%", grouped(top[1].(json.Number).String()), n/200); !strings.HasSuffix(text, want) {
			t.Errorf("the first value is %q, want %v: %s", text, top, want)
		}
		p.shot("logs-field")
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
		for i, c := range []struct{ button, says string }{{"50 earlier", "100 before, 50 after"}, {"50 later", "100 before, 100 after"}} {
			p.button(c.button)
			p.wait(c.says, fmt.Sprintf(`document.querySelector('.drawer').innerText.includes(%q)`, c.says))
			p.wait(fmt.Sprintf("the origin in place, %d", i), fmt.Sprintf(`%s === %d`, place, before))
		}
	})

	t.Run("D15 patterns", func(t *testing.T) {
		p := logsAt(t, s, "t=app&from=all&tab=patterns")
		p.wait("patterns", `document.querySelectorAll('.patterns tbody tr').length > 3`)
		cells := eval[[]string](p, `[...document.querySelectorAll('.patterns tbody tr')].map((r) => r.cells[0].innerText + ' ' + r.cells[2].innerText)`)
		want := grouped(s.count(t, "message LIKE 'cache hit for user %'"))
		found := false
		for _, c := range cells {
			found = found || strings.HasPrefix(c, want+" cache hit for user")
		}
		if !found {
			t.Errorf("no pattern %q among %q", want+" cache hit for user", cells)
		}
		p.shot("logs-patterns")
	})

	t.Run("what changed", func(t *testing.T) {
		at := func(share float64) string {
			return time.Now().Add(-time.Duration((1 - share) * 20_000 * 150 * float64(time.Millisecond))).UTC().Format(time.RFC3339)
		}
		p := open(t, s, "/dashboard/logs#"+state("t", "app", "from", at(0.6), "to", at(0.64), "tab", "changes"))
		p.wait("changes", `document.querySelectorAll('.changes tbody tr').length > 2`)
		if text := eval[string](p, `[...document.querySelectorAll('.changes tbody tr')].slice(0, 6).map((r) => r.cells[0].innerText + '=' + r.cells[1].innerText).join(' ')`); !strings.Contains(text, "level=error") || !strings.Contains(text, "status=503") {
			t.Errorf("the first changes are %s", text)
		}
		p.shot("logs-changes")
	})

	t.Run("D16 share", func(t *testing.T) {
		p := logsAt(t, s, state("t", "app", "q", "level:error timeout", "cols", "host,status", "split", "service", "from", "all"))
		p.rowsShown()
		address := strings.TrimPrefix(eval[string](p, `location.href`), s.url)
		other := open(t, s, address)
		other.figures()
		if a, b := total(p), total(other); a != b {
			t.Errorf("%s and %s rows", a, b)
		}
		if heads := eval[string](other, `[...document.querySelectorAll('.grid-th')].map((e) => e.innerText).join(' ')`); !strings.Contains(heads, "host status") {
			t.Errorf("columns %q", heads)
		}
	})

	t.Run("D17 empty range", func(t *testing.T) {
		p := open(t, s, "/dashboard/logs#"+state("t", "app", "from", "2020-01-01T00:00:00Z", "to", "2020-01-02T00:00:00Z"))
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

func TestD10Live(t *testing.T) {
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&live=1")
	p.wait("the live rows", `document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 10`)
	line := func(at int64, text string) string {
		return fmt.Sprintf(`{"ts":%d,"level":"info","service":"web","host":"web-1","status":200,"bytes":1,"message":%q}`, at, text)
	}
	var posted []string
	for i := range 50 {
		now := time.Now().UnixNano()
		posted = append(posted, line(now, fmt.Sprintf("live %d", i)))
		if i%10 == 3 {
			posted = append(posted, line(now, fmt.Sprintf("live %d", i)), line(now-int64(3*time.Second), fmt.Sprintf("late %d", i))) // an equal one, a late one
		}
	}
	s.ingest(t, "app", posted)
	p.wait("the new rows", `document.querySelector('.grid')?.ariaRowCount == 160 || document.querySelector('.grid').getAttribute('aria-rowcount') == '160'`)
	p.wait("the end", `[...document.querySelectorAll('.grid-row')].some((r) => r.innerText.includes('live 49'))`)
	p.shot("logs-live")
	// Somebody scrolls up: what is seen stays where it is.
	eval[bool](p, `(() => { document.querySelector('.grid').scrollTop = 200; return true; })()`)
	first := `[...document.querySelectorAll('.grid-row')].filter((r) => r.dataset.row !== '' && r.getBoundingClientRect().top >= document.querySelector('.grid-head').getBoundingClientRect().bottom).sort((a, b) => a.dataset.row - b.dataset.row)[0]?.innerText`
	p.wait("the scrolled list, painted", `document.querySelector('.grid').scrollTop === 200 && document.querySelector('.grid-row[data-row="10"]') && `+first)
	before := eval[string](p, first)
	s.ingest(t, "app", []string{line(time.Now().UnixNano(), "after scrolling")})
	p.wait("the button", `[...document.querySelectorAll('.live-bar button')].some((b) => b.innerText === '1 new row')`)
	if after := eval[string](p, first); after != before {
		t.Errorf("the first row was %q, now %q", before, after)
	}
}

// TestD13Export compares what the page writes with what the server itself writes.
func TestD13Export(t *testing.T) {
	s := start(t)
	s.ingest(t, "app", shopLines(60_000, 50*time.Millisecond))
	p := logsAt(t, s, "t=app&from=all")
	eval[bool](p, `(() => {
		window.written = [];
		const real = URL.createObjectURL;
		URL.createObjectURL = (blob) => { window.blob = blob; return real(blob); };
		HTMLAnchorElement.prototype.click = function () { window.named = this.download; };
		return true;
	})()`)
	p.click(".toolbar button[title=More]")
	p.named("Export", ".menu button", `e.innerText.startsWith('Export')`)
	p.wait("the dialog", `document.querySelector('dialog form select[name=format]')`)
	p.click("dialog button.primary")
	p.wait("the file", `window.named === 'app.csv'`)
	same := eval[string](p, `(async () => {
		const own = await window.blob.text();
		const columns = own.slice(0, own.indexOf('\r\n')).split(',').map((c) => '"' + c + '"').join(', ');
		const whole = await (await fetch('/v1/sql?format=csvWithNames', { method: 'POST', body: new URLSearchParams({ sql: 'SELECT ' + columns + ' FROM app ORDER BY ts DESC' }) })).text();
		return own === whole ? '' : own.length + ' and ' + whole.length + ' bytes';
	})()`)
	if same != "" {
		t.Error(same)
	}
}

// TestD08Exact: nothing that a row has is rounded or mistaken for something else.
func TestD08Exact(t *testing.T) {
	s := start(t)
	s.sql(t, `CREATE TABLE app (ts TIMESTAMP(9) TIME INDEX, message STRING, big BIGINT UNSIGNED, low BIGINT, f DOUBLE, empty STRING, nothing STRING, doc JSON)`)
	ts := time.Now().UnixNano()/1000*1000 + 789
	s.sql(t, fmt.Sprintf(`INSERT INTO app VALUES (%d, 'a row', 18446744073709551615, -9223372036854775808, 0.1, '', NULL, parse_json('{"a":{"b":[1,2,{"c":"deep"}]}}'))`, ts))
	p := logsAt(t, s, "t=app")
	p.rowsShown()
	p.click(".grid-row[data-row='0']")
	p.wait("the drawer", `document.querySelector('table.fields')`)
	p.click("table.fields + p button") // what is NULL
	value := func(name string) string {
		return eval[string](p, fmt.Sprintf(`[...document.querySelectorAll('table.fields tr')].find((r) => r.cells[0].innerText === %q)?.cells[1].innerText ?? 'no row'`, name))
	}
	for name, want := range map[string]string{"big": "18446744073709551615", "low": "-9223372036854775808", "f": "0.1", "empty": "''", "nothing": "NULL"} {
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
	p.wait("the oldest row", fmt.Sprintf(`document.querySelector('.grid-row[data-row="99999"]')?.innerText.includes(%q)`, oldest))
	nodes := eval[int](p, `document.querySelectorAll('*').length`)
	if nodes > 3000 {
		t.Errorf("%d elements", nodes)
	}
	p.do("focus", chromedp.KeyEvent("f", chromedp.KeyModifiers(2)))
	p.wait("the box", `document.querySelector('.find input')`)
	began := time.Now()
	p.fill(".find input", oldest)
	p.wait("the hits", `/of/.test(document.querySelector('.find').innerText)`)
	t.Logf("%d elements; found in 100,000 rows after %v, the test's own way included", nodes, time.Since(began).Round(time.Millisecond))
	p.shot("logs-100k")
}
