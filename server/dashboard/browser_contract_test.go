//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// held is a server behind a proxy that keeps requests of some path back until it is let go.
func held(t *testing.T, s *server, path string) (front *server, let func()) {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	free := make(chan struct{})
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = to.Host
		r.Out.Header.Del("Origin")
	}}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, path) {
			select {
			case <-free:
			case <-r.Context().Done():
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	done := false
	let = func() {
		if !done {
			done = true
			close(free)
		}
	}
	t.Cleanup(let)
	return &server{url: h.URL}, let
}

// TestChartsWaitForTheirSheet: a chart that is drawn before the library's sheet is here would lie where its legend is.
func TestChartsWaitForTheirSheet(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	front, let := held(t, s, "/plot.css")
	p := open(t, front, "/dashboard/status")
	p.shown("status")
	eval[bool](p,
		`import(new URL('./core/router.js', document.querySelector('script[type=module]').src)).then((m) => m.go('metrics', { q: 'room_temperature' }))`)
	p.wait("that the page comes",
		`document.querySelector('#page .wait') && document.querySelector('link[href$="plot.css"]')`)
	if n := eval[int](p, `document.querySelectorAll('.chart').length`); n != 0 {
		t.Errorf("%d charts without the sheet", n)
	}
	let()
	p.wait("the chart", `document.querySelector('.chart canvas')?.width > 0`)
	if off := eval[float64](p,
		`(() => { const c = document.querySelector('.chart').getBoundingClientRect(), u = document.querySelector('.chart canvas').getBoundingClientRect();
			return Math.abs(u.top - c.top) + Math.max(0, u.bottom - c.bottom); })()`); off > 4 {
		t.Errorf("the picture lies %.0f px off its place", off)
	}
}

// TestD16Table: a table that the page chose by itself is in the address, so that somebody else sees the same, however
// full others are by then.
func TestD16Table(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "first", shopLines(50, time.Second))
	s.ingest(t, "second", shopLines(20, time.Second))
	asked := func(p *page) int {
		return eval[int](p, `performance.getEntriesByType('resource').filter((e) => e.name.includes('/v1/sql')).length`)
	}
	p := open(t, s, "/dashboard/")
	p.figures()
	p.settled()
	address := strings.TrimPrefix(eval[string](p, `location.href`), s.url)
	if !strings.Contains(address, "t=first") {
		t.Errorf("the address is %s", address)
	}
	before := asked(p)
	s.ingest(t, "second", shopLines(300, time.Second))
	other := open(t, s, address)
	other.figures()
	other.settled()
	if got := other.text(".table-button .name"); got != "first" {
		t.Errorf("somebody else sees %s", got)
	}
	if n := asked(other); before > n {
		t.Errorf("%d statements where the address named no table, %d where it did", before, n)
	}
	p.click("#rail a[href$='/dashboard/sql']")
	p.wait("SQL", `location.pathname.endsWith('/sql')`)
	eval[bool](p, `history.back() ?? true`)
	p.wait("the same again",
		`location.hash.includes('t=first') && document.querySelector('.table-button .name')?.innerText === 'first'`)
}

// TestOffersOfTheRange: the values that the search line offers are those of the range that is shown.
func TestOffersOfTheRange(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", []string{logLine(5*time.Hour, `"level":"info","host":"older","message":"a"`),
		logLine(time.Minute, `"level":"info","host":"newer","message":"b"`)})
	p := logsAt(t, s, "t=app")
	offered := func(want, not string) {
		t.Helper()
		p.figures()
		p.click("#logs-search")
		p.fill("#logs-search", "host:")
		p.wait("the offer "+want,
			fmt.Sprintf(
				`(() => { const o = [...document.querySelectorAll('#search-offers li')].map((e) => e.innerText)
					.join(' '); return o.includes(%q) && !o.includes(%q); })()`, want, not))
	}
	offered("newer", "older")
	eval[bool](p,
		`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.setRange('now-6h', 'now-4h'); return true; })`)
	p.wait("the other range",
		`document.querySelector('.logs-status .figures b')?.innerText === '1 row' && location.hash.includes('now-4h')`)
	offered("older", "newer")
}

// TestRefreshWaits: a page that runs by itself waits for its answer, however long that takes.
func TestRefreshWaits(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-10 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	p := open(t, s, "/dashboard/status")
	p.wait("the page", `document.querySelector('.status')`)
	// An answer takes twenty times as long as the page waits between two runs.
	eval[bool](p, `(async () => {
		const state = await import(new URL('./core/state.js', document.querySelector('script[type=module]').src));
		state.refresh.value = 0.02;
		const real = window.fetch;
		window.fetch = async (url, options) => {
			if (String(url).includes('/v1/sql')) await new Promise((go, stop) => { setTimeout(go, 400); options?.signal?.addEventListener('abort', () => stop(options.signal.reason)); });
			return real(url, options);
		};
		document.querySelector('#rail a[href$="/traces"]').click();
		return true;
	})()`)
	p.wait("the traces", `document.querySelectorAll('.traces-list tbody tr').length === 1`)
}

// TestListsSayWhatTheyLeaveOut: no list of names ends without a word.
func TestListsSayWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(20, time.Second))
	var create strings.Builder
	for i := range 520 {
		fmt.Fprintf(&create, "CREATE TABLE many_%03d (ts TIMESTAMP(3) TIME INDEX);", i)
	}
	s.sql(t, create.String())
	p := logsAt(t, s, "t=app")
	p.click(".table-button")
	p.wait("tables of the chooser",
		`document.querySelector('.table-list .cut')?.innerText === '321 more: type a part of the name'`)
	p.fill(".table-list input", "many_51")
	p.wait("all that are called so",
		`!document.querySelector('.table-list .cut') &&
			document.querySelector('.table-list .row')?.innerText.includes('many_510')`)
	eval[bool](p,
		`(() => { localStorage.setItem('varve.sql.history.', JSON.stringify(Array.from({ length: 230 }, (_, i) => ({ sql: 'SELECT ' + i, db: 'public', at: i + 1, elapsedMS: 1, rows: 1 }))));
			return true; })()`)
	p.visit("/dashboard/sql")
	p.wait("tables of the tree",
		`document.querySelector('.sql-tree .cut')?.innerText === '371 more: type a part of the name'`)
	p.button("History")
	p.wait("runs before", `document.querySelector('.sql-history .cut')?.innerText === '30 more: type a part of one'`)
}

// TestTimeTicks: the moments written along spans and dots are round ones, by the clock of the zone.
func TestTimeTicks(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-5 * time.Minute)
	s.postSpans(t, traceID(0), begin, shopTrace(begin))
	p := open(t, s, "/dashboard/traces#id="+traceID(0))
	p.operations()
	if got := eval[string](p, `[...document.querySelectorAll('.grid-th .tick')].map((e) => e.innerText).join()`); got !=
		"0,50 ms,100 ms,150 ms,200 ms,250 ms,300 ms" {
		t.Errorf("ticks %s", got)
	}
	// A span begins where the ticks say.
	if off := eval[float64](p, `(() => {
		const at = (e) => e.getBoundingClientRect().left, ticks = [...document.querySelectorAll('.grid-th .tick')];
		const bar = [...document.querySelectorAll('.waterfall .grid-row')].find((r) => r.textContent.includes('GET /cart')).querySelector('.span-bar'); // 10 ms after the begin
		return Math.abs(at(bar) - at(ticks[0]) - (at(ticks[6]) - at(ticks[0])) / 30);
	})()`); off > 1.5 {
		t.Errorf("the bar lies %.1f px off", off)
	}
	for _, c := range []struct{ call, want string }{
		{`timeTicks(m.parseTime('2026-11-21T03:07:11Z', 'UTC', 0n).ns, m.parseTime('2026-11-21T04:07:11Z', 'UTC', 0n).ns, 9, 'UTC', m.parseTime('2026-11-21T05:00:00Z', 'UTC', 0n).ns)`, "03:10 03:20 03:30 03:40 03:50 04:00"},
		{`timeTicks(m.parseTime('2026-11-19T00:00:00Z', 'UTC', 0n).ns, m.parseTime('2026-11-21T00:00:00Z', 'UTC', 0n).ns, 5, 'Asia/Kathmandu', m.parseTime('2026-11-21T05:00:00Z', 'UTC', 0n).ns)`, "11-19 12:00 11-20 00:00 11-20 12:00 00:00"},
		{`timeTicks(1_000_000n, 9_000_000n, 5, 'UTC', m.day * 9n)`,
			"01-01 00:00:00.002 01-01 00:00:00.004 01-01 00:00:00.006 01-01 00:00:00.008"},
	} {
		if got := eval[string](p,
			`Promise.all(['core/time.js', 'page/tracesscatter.js'].map((f) => import(new URL(f, document.querySelector('script[type=module]').src)))).then(([m, { timeTicks }]) => `+c.call+`.map((t) => t.text).join(' '))`); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.call, got, c.want)
		}
	}
	// A line of syslog has no year: one of December that is read in January is of the year before.
	if got := eval[string](p,
		`import(new URL('./core/time.js', document.querySelector('script[type=module]').src)).then((m) => ['Dec 31 23:59:59 web-1 sshd[1]: x', 'Jan  2 00:00:01 web-1 x'].map((l) => m.rfc3339(m.parseTime(l, 'UTC', m.parseTime('2027-01-02T00:00:00Z', 'UTC', 0n).ns).ns)).join(' '))`); got != "2026-12-31T23:59:59Z 2027-01-02T00:00:01Z" {
		t.Errorf("read as %s", got)
	}
}

// TestUnknownTable: it says so, names the nearest ones, and offers SQL.
func TestUnknownTable(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(20, time.Second))
	p := open(t, s, "/dashboard/logs#t=apq")
	p.wait("the sentence",
		`document.querySelector('.state h2')?.innerText === 'There is no table apq in public' &&
			[...document.querySelectorAll('.state button')].some((b) => b.innerText === 'app')`)
	p.button("Open SQL")
	p.wait("the page", `location.pathname.endsWith('/sql') && document.querySelector('.sql-actions')`)
}

// TestFindingOfMerges: a queue of merges that grows for some minutes deserves a look, one that is worked off does not.
func TestFindingOfMerges(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/status")
	p.shown("status")
	for name, want := range map[string]string{
		"i": "61 merges of parts wait, 2 waited some minutes ago: merges do not keep up.", "60 - i": "", "i % 2": "",
	} {
		if got := eval[string](p,
			`Promise.all(['core/exposition.js', 'page/findings.js'].map((f) => import(new URL(f, document.querySelector('script[type=module]').src)))).then(([{ Figures }, { findings }]) => {
			const readings = Array.from({ length: 62 }, (_, i) => new Figures('varve_merges_waiting ' + (`+name+
				`), i * 5000));
			return findings({ readings, settings: null, status: null, tables: [], clockMS: null, open: false }, '127.0.0.1').map((f) => f.text).filter((t) => t.includes('merges')).join();
		})`); got != want {
			t.Errorf("a queue of %s: %q, want %q", name, got, want)
		}
	}
}

// TestBarsAreExact: the number beside a bar is that of the row.
func TestBarsAreExact(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(9000, time.Second))
	p := open(t, s, "/dashboard/sql#view=chart&sql="+
		url.QueryEscape("SELECT service, count(*) AS n FROM app GROUP BY 1 ORDER BY 1"))
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.runSQL(false)
	var want []string
	for _, row := range s.sql(t, "SELECT service, count(*) FROM app GROUP BY 1 ORDER BY 1") {
		want = append(want, fmt.Sprint(row[0], " ", grouped(fmt.Sprint(row[1]))))
	}
	p.wait("the bars", fmt.Sprintf(`document.querySelectorAll('.bar-row').length === %d`, len(want)))
	if got := eval[string](p,
		`[...document.querySelectorAll('.bar-row')]
			.map((r) => r.querySelector('.text').innerText + ' ' + r.querySelector('.num').innerText)
			.join()`); got != strings.Join(want, ",") {
		t.Errorf("bars %s, want %s", got, strings.Join(want, ","))
	}
}

// TestDepthTyped: a number is cleared and typed anew without a word about what the address has meanwhile.
func TestDepthTyped(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := openIngest(t, s, "#t=lines")
	p.click(".try .depth")
	p.press(kb.Home)
	p.press(kb.Delete + kb.Delete)
	p.wait("an empty field", `document.querySelector('.try .depth').value === ''`)
	p.press("3")
	p.wait("the number", `location.hash.includes('depth=3')`)
	if said := p.text(".banner"); said != "" {
		t.Errorf("the page says %q", said)
	}
}

// TestSamplesOfATable: rows that are taken as samples keep the digits and the types that they have.
func TestSamplesOfATable(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.sql(t, `CREATE TABLE wide (ts TIMESTAMP(9) TIME INDEX, id BIGINT UNSIGNED, share DOUBLE, ok BOOLEAN)`)
	s.sql(t, `INSERT INTO wide VALUES (1795232762123456789, 18446744073709551615, 0.5, true)`)
	p := openPipelines(t, s, "")
	p.wait("the table", `document.querySelector('#sample-tables option[value=wide]')`)
	p.click("input[list=sample-tables]")
	p.press("wide")
	p.press(kb.Enter)
	p.wait("its row",
		`document.querySelector('.samples textarea').value.trim() === '{"ts":"2026-11-21T03:46:02.123456789Z","id":18446744073709551615,"share":0.5,"ok":true}'`)
}
