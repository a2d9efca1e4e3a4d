//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// watching gives a page the function watch: it notes in every frame what a function gives as it is painted, each text
// once in a row, in the list seen. The size of an element changes in each frame, so that its observer has its turn
// after all else of the frame.
const watching = `(() => {
	window.seen = [];
	window.watch = (look) => {
		window.seen = [];
		const host = document.createElement('div'), ruler = document.createElement('div');
		host.style.position = 'fixed';
		host.attachShadow({ mode: 'open' }).append(ruler); // where quiet does not see it change
		document.body.append(host);
		new ResizeObserver(() => {
			const now = JSON.stringify(look());
			if (seen.at(-1) !== now) seen.push(now);
		}).observe(ruler);
		const frame = (n) => {
			ruler.style.width = n % 2 + 1 + 'px';
			requestAnimationFrame(() => frame(n + 1));
		};
		frame(0);
		return true;
	};
	window.fresh = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility() && !e.closest('.stale'));
	window.number = (text) => Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', ''));
})()`

// logFigures are how many rows the parts of the Logs page tell of that are not shown as stale: the messages are
// numbered by level. asked is the level that the address names.
const logFigures = `(() => {
	const figures = {}, note = (name, list) => { if (list.length > 0) figures[name] = list.reduce((a, b) => a + b); };
	note('rows', fresh('.logs-main .grid-row[data-row="0"]').filter((r) => r.lastElementChild.innerText).map((r) => number(r.lastElementChild.innerText) + 1));
	note('total', fresh('.logs-status .figures b').map((e) => number(e.innerText)).filter(Number.isFinite));
	note('legend', fresh('.logs-histogram .legend .num').map((e) => number(e.title)));
	note('patterns', fresh('.patterns tbody tr').map((r) => number(r.cells[0].innerText)));
	note('patterns, said', fresh('.patterns > p').map((e) => number(/of ([\d,]+) rows/.exec(e.innerText)?.[1] ?? '')));
	note('values', fresh('.values .value .n').map((e) => number(e.title)));
	return { asked: /level:(\w+)/.exec(params.value.q)?.[1], figures };
})()`

// logKinds are the requests of the Logs page.
var logKinds = map[string]string{
	"rows": `LIMIT 500$`, "histogram": `date_bin.*"level" AS k`, "patterns": `'all' AS k|regexp_replace`,
	"values": `AS v, count|approx_distinct`,
	"sample": `AS newest`,
}

// numbered posts rows with numbered messages of a level.
func numbered(t *testing.T, s *server, level string, from, to int) {
	t.Helper()
	var lines []string
	for i := from; i < to; i++ {
		lines = append(lines, logLine(time.Minute-time.Duration(i)*time.Millisecond,
			fmt.Sprintf(`"level":%q,"message":"message %d of its level"`, level, i)))
	}
	s.ingest(t, "app", lines)
}

// figured is what a page showed in a frame.
type figured struct {
	Asked   string
	Figures map[string]int
}

// oneRun holds that in every frame seen all figures were of the run that the address asked for.
func (p *page) oneRun(t *testing.T, want map[string][]int) {
	t.Helper()
	for _, frame := range eval[[]figured](p, `seen.map(JSON.parse)`) {
		for _, of := range want[frame.Asked] {
			same := true
			for _, n := range frame.Figures {
				same = same && n == of
			}
			if same {
				goto next
			}
		}
		t.Errorf("a frame has figures of other runs: asked for %s %v, shown %v", frame.Asked, want[frame.Asked],
			frame.Figures)
	next:
	}
}

// TestLogsOneRun: no two figures on the Logs page are of different runs, in whatever order answers arrive: what belongs
// to the run before is gone or shown as stale in the frame in which the address names another search.
func TestLogsOneRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	want := map[string][]int{"error": {70}, "warn": {130}, "info": {200}}
	for level, n := range want {
		numbered(t, s, level, 0, n[0])
	}
	g := gated(t, s, logKinds)
	p := open(t, g.server, "/dashboard/status", watching)
	for _, c := range []struct {
		tab   string
		kinds []string
		parts map[string][]string // figures that a kind brings
	}{
		{"rows", []string{"rows", "histogram"},
			map[string][]string{"rows": {"rows"}, "histogram": {"total", "legend"}}},
		{"patterns", []string{"rows", "histogram", "patterns"},
			map[string][]string{"histogram": {"total", "legend"}, "patterns": {"patterns", "patterns, said"}}},
		{"fields", []string{"rows", "histogram", "values"},
			map[string][]string{"histogram": {"total", "legend"}, "values": {"values"}}},
	} {
		for _, order := range orders(c.kinds) {
			t.Run(c.tab+"/"+strings.Join(order, ","), func(t *testing.T) {
				p.anew(t, "/dashboard/logs#t=app&fold=0&q=level:error&tab="+c.tab)
				p.wait("the page", `document.querySelector('.logs-histogram .legend .num')`)
				if c.tab == "fields" {
					p.click(`.field .name[title^="level:"]`)
				}
				p.quiet()
				search := func(level string) {
					t.Helper()
					p.fill("#logs-search", "level:"+level)
					p.press("\r")
				}
				eval[bool](p,
					`import(new URL('./core/router.js', document.querySelector('script[type=module]').src)).then((m) => { window.params = m.params; return watch(() => `+logFigures+`); })`)
				g.close(c.kinds...)
				search("info") // which is superseded
				p.wait("the run", `params.value.q === 'level:info'`)
				search("warn")
				p.wait("the next run", `params.value.q === 'level:warn'`)
				for _, kind := range order {
					g.open(kind)
					for _, part := range c.parts[kind] {
						p.wait(part+" after "+kind, fmt.Sprintf(`(%s).figures[%q] === 130`, logFigures, part))
					}
				}
				p.quiet()
				p.oneRun(t, want)
			})
		}
	}
}

// TestLogsOneRunRefreshed: where the page runs by itself, all figures change in one frame, in whatever order answers
// arrive.
func TestLogsOneRunRefreshed(t *testing.T) {
	t.Parallel()
	for _, order := range orders([]string{"rows", "histogram"}) {
		t.Run(strings.Join(order, ","), func(t *testing.T) {
			s := start(t)
			numbered(t, s, "warn", 0, 130)
			g := gated(t, s, logKinds)
			p := open(t, g.server, "/dashboard/logs#t=app&fold=0&q=level:warn", watching, hastened)
			p.rowsShown()
			eval[bool](p,
				`Promise.all(['router', 'state'].map((m) => import(new URL('./core/' + m + '.js', document.querySelector('script[type=module]').src)))).then(([r, s]) => { window.params = r.params; s.refresh.value = 300; return true; })`)
			p.quiet()
			numbered(t, s, "warn", 130, 140)
			g.close("rows", "histogram")
			eval[bool](p, `watch(() => `+logFigures+`) && elapse()`)
			for _, kind := range order {
				p.holds(g, kind, 1)
				g.open(kind)
			}
			p.wait("the new figures", fmt.Sprintf(`(%s).figures.total === 140`, logFigures))
			p.quiet()
			p.oneRun(t, map[string][]int{"warn": {130, 140}})
			for _, frame := range eval[[]figured](p, `seen.map(JSON.parse)`) {
				if len(frame.Figures) != 3 {
					t.Errorf("a frame has %v: what was shown stays until all is there", frame.Figures)
				}
			}
		})
	}
}

// TestLogsOffersClosedAtOnce: offers that are closed before they are asked for are not asked for.
func TestLogsOffersClosedAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	g := gated(t, s, logKinds)
	p := open(t, g.server, "/dashboard/logs#t=app")
	p.rowsShown()
	g.close("sample")
	eval[bool](p, `(() => {
		const box = document.querySelector('#logs-search'), key = { key: 'Enter', bubbles: true, cancelable: true };
		box.focus();
		box.value = 'level:';
		box.dispatchEvent(new InputEvent('input', { bubbles: true }));
		return box.dispatchEvent(new KeyboardEvent('keydown', key)) || true;
	})()`)
	p.quiet()
	if came, left := g.counts("sample"); came != left {
		t.Errorf("%d questions for values were asked, %d of them given up", came, left)
	}
}

// holds waits until a gate holds requests of a kind.
func (p *page) holds(g *gate, kind string, n int) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		if came, _ := g.counts(kind); came >= n {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("no request of kind %s came", kind)
		}
		p.frame()
	}
}

// frame waits for the next frame.
func (p *page) frame() {
	p.t.Helper()
	eval[bool](p, `new Promise((r) => requestAnimationFrame(() => r(true)))`)
}

// TestLogsOffers: letters behind a field share one question for its values, which another field or a run ends, and the
// histogram comes before it. Of a field with many values those of the newest rows are offered, and it is said.
func TestLogsOffers(t *testing.T) {
	t.Parallel()
	s := start(t)
	var lines []string
	for i := range 25_000 {
		lines = append(lines, logLine(time.Duration(i)*time.Millisecond,
			fmt.Sprintf(`"level":%q,"trace_id":"%032x","message":"m"`, []string{"info", "error"}[i/24_000], i)))
	}
	s.ingest(t, "app", lines)
	g := gated(t, s, logKinds)
	p := open(t, g.server, "/dashboard/logs#t=app")
	p.rowsShown()
	offers := `[...document.querySelectorAll('.offers li')].map((e) => e.innerText.replace(/\s+/g, ' ')).join('; ')`
	p.click("#logs-search")
	g.close("sample")
	p.press("trace_id:0000")
	p.holds(g, "sample", 1)
	for range 5 {
		p.frame()
	}
	if came, left := g.counts("sample"); came != 1 || left != 0 {
		t.Errorf("five letters behind a field made %d questions, %d were given up", came, left)
	}
	g.open("sample")
	p.wait("values of the newest rows, which say so", offers+`.includes('1 of the newest 20,000 rows')`)

	g.close("sample", "values")
	p.fill("#logs-search", "level:")
	p.wait("the offers of the other field are shown as such", `document.querySelector('.offers.coming')`)
	g.open("sample")
	p.holds(g, "values", 1)
	p.fill("#logs-search", "level:error")
	p.press("\r")
	p.gaveUp(g, "values")
	g.open("values")
	p.rowsShown()
	p.wait("the rows", `document.querySelector('.logs-status .figures b').innerText === '1,000 rows'`)

	p.fill("#logs-search", "level:")
	p.wait("all values of a field with few, which the newest rows have not all",
		offers+` === 'info 24,000; error 1,000'`)

	g.close("histogram", "sample")
	p.press("\r") // nothing: a value is missing
	eval[bool](p,
		`[...document.querySelectorAll('.toolbar button')].find((b) => b.innerText === 'Run').click() ?? true`)
	p.holds(g, "histogram", 1)
	p.fill("#logs-search", "message:")
	for range 10 {
		p.frame()
	}
	if came, _ := g.counts("sample"); came != 0 {
		t.Errorf("completion is asked for before the histogram is there")
	}
	g.open("histogram")
	p.holds(g, "sample", 1)
	g.open("sample")
}

// gaveUp waits until the page gave up all requests of a kind that are held.
func (p *page) gaveUp(g *gate, kind string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		if came, left := g.counts(kind); came > 0 && came == left {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("requests of kind %s are still wanted", kind)
		}
		p.frame()
	}
}

// TestTracesOneRun: no two figures on the Traces page are of different searches, in whatever order answers arrive.
func TestTracesOneRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-10 * time.Minute)
	for i := range 8 {
		s.postSpans(t, traceID(i), begin.Add(time.Duration(i)*time.Second),
			[]span{{service: "web", id: spanID(i), name: "op", to: 10, failed: i < 3},
				{service: "pay", id: spanID(100 + i), parent: spanID(i), name: "charge", to: 5, failed: i < 3}})
	}
	// Of 8 traces with two spans each, 3 failed in both.
	want := map[string]int{"any": 8, "error": 3, "ok": 5}
	const figures = `(() => {
		const figures = {}, note = (name, list) => { if (list.length > 0) figures[name] = list.reduce((a, b) => a + b); };
		note('traces', fresh('.traces-figures').map((e) => number(/([\d,]+) traces? listed/.exec(e.innerText)?.[1] ?? '')).filter(Number.isFinite));
		note('spans', fresh('.traces-figures').map((e) => number(/([\d,]+) matching/.exec(e.innerText)?.[1] ?? '') / 2).filter(Number.isFinite));
		const rows = fresh('.traces-list:not(.operations) tbody tr').length;
		if (rows > 0) figures.rows = rows;
		note('calls', fresh('.operations tbody tr').map((r) => number(r.cells[1].innerText) / 2));
		return { asked: params.value.st ?? 'any', figures };
	})()`
	g := gated(t, s, map[string]string{"spans": `^\S+ sql=SELECT trace_id, "timestamp", duration`, "traces": `IN \('`,
		"operations": `approx_percentile_cont`})
	p := open(t, g.server, "/dashboard/status", watching)
	for _, c := range []struct {
		view, part string
		kinds      []string
	}{{"traces", "rows", []string{"spans", "traces"}}, {"operations", "calls", []string{"operations"}}} {
		for _, order := range orders(c.kinds) {
			t.Run(c.view+"/"+strings.Join(order, ","), func(t *testing.T) {
				p.anew(t, "/dashboard/traces#view="+c.view)
				p.wait("the page", `document.querySelector('.traces-list tbody tr')`)
				p.quiet()
				eval[bool](p,
					`import(new URL('./core/router.js', document.querySelector('script[type=module]').src)).then((m) => { window.params = m.params; return watch(() => `+figures+`); })`)
				g.close(c.kinds...)
				choose := func(status string) {
					t.Helper()
					eval[bool](p,
						fmt.Sprintf(
							`(() => { const e = document.querySelector('select[name=st]'); e.value = %q;
								return e.dispatchEvent(new Event('change', { bubbles: true })); })()`, status))
					p.wait("the search", fmt.Sprintf(`params.value.st === %q`, status))
				}
				choose("ok") // which is superseded
				choose("error")
				for _, kind := range order {
					p.frame()
					g.open(kind)
				}
				p.wait("the answer", fmt.Sprintf(`(%s).figures[%q] === 3`, figures, c.part))
				p.quiet()
				for _, frame := range eval[[]figured](p, `seen.map(JSON.parse)`) {
					for part, n := range frame.Figures {
						if n != want[frame.Asked] {
							t.Errorf("asked for %s, a frame shows %d as %s, want %d", frame.Asked, n, part,
								want[frame.Asked])
						}
					}
				}
			})
		}
	}
}

// TestMetricsOneRun: a panel whose answer is not here shows that its figures are of the range before; where the page
// runs by itself all panels change in one frame.
func TestMetricsOneRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	g := gated(t, s, map[string]string{"first": `query_range.*query=time\(\)&`,
		"second": `query_range.*query=time\(\) \* 1&`})
	p := open(t, g.server, "/dashboard/status", watching, hastened)
	const figures = `(() => fresh('.metrics-panel').map((e) => [...e.querySelectorAll('.facts')]
		.filter((f) => !f.closest('.metrics-results.stale')).map((f) => /step (\S+)/.exec(f.innerText)?.[1]).join()))()`
	for _, order := range orders([]string{"first", "second"}) {
		t.Run(strings.Join(order, ","), func(t *testing.T) {
			p.anew(t, "/dashboard/metrics#q=time()&more="+url.PathEscape(`[{"q":"time() * 1"}]`))
			p.wait("both graphs", `document.querySelectorAll('.metrics-panel .facts').length === 2`)
			p.quiet()
			eval[bool](p, `watch(() => `+figures+`)`)
			g.close("first", "second")
			eval[bool](p,
				`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.setRange('now-30m', 'now'); return true; })`)
			p.wait("both stale", fmt.Sprintf(`(%s).join(';') === ';'`, figures))
			for i, kind := range order {
				g.open(kind)
				p.wait("the answer of "+kind,
					fmt.Sprintf(`(%s).filter((f) => f === '10s').length === %d`, figures, i+1))
			}
			for _, frame := range eval[[]string](p, `seen`) {
				if strings.Contains(frame, "15s") && strings.Contains(frame, "10s") {
					t.Errorf("a frame shows panels of two ranges: %s", frame)
				}
			}

			p.quiet()
			eval[bool](p,
				`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.refresh.value = 300; return true; })`)
			p.quiet()
			last := `[...document.querySelectorAll('.metrics-panel')]
				.map((e) => e.querySelector('.metrics-results table').innerText.replace(/\s+/g, ' ').replace('* 1', ''))
				.join('|')`
			before := eval[string](p, last)
			g.close("first", "second")
			eval[bool](p, `elapse()`)
			for _, kind := range order {
				p.holds(g, kind, 1)
			}
			if now := eval[string](p, last); now != before {
				t.Errorf("while the page runs by itself it shows %q, before %q", now, before)
			}
			if eval[int](p, `document.querySelectorAll('.stale').length`) > 0 {
				t.Error("what the page asks by itself makes figures stale")
			}
			g.open(order[0])
			for range 5 {
				p.frame()
			}
			if now := eval[string](p, last); now != before {
				t.Errorf("with one of two answers it shows %q, before %q", now, before)
			}
			g.open(order[1])
			p.quiet()
		})
	}
}

// TestSQLOneRun: while a statement runs nothing of the one before is shown as its result.
func TestSQLOneRun(t *testing.T) {
	t.Parallel()
	g := gated(t, start(t), map[string]string{"second": `SELECT 222`})
	p := open(t, g.server, "/dashboard/sql#sql="+"SELECT%20111%20AS%20n", watching)
	p.runSQL(false)
	p.wait("the first result",
		`[...document.querySelectorAll('.sql-results .grid-cell')].some((e) => e.innerText === '111')`)
	g.close("second")
	eval[bool](p, `watch(() => fresh('.sql-results .grid-cell').map((e) => e.innerText).join())`)
	eval[bool](p,
		`import(new URL('./core/router.js', document.querySelector('script[type=module]').src)).then((m) => { m.go('sql', { sql: 'SELECT 222 AS n' }); return true; })`)
	p.wait("the statement",
		`document.querySelector('.sql-editor .editor')?.shadowRoot?.querySelector('.cm-content')?.innerText.includes('222')`)
	eval[bool](p,
		`[...document.querySelectorAll('.sql-actions button')].find((b) => b.innerText === 'Run').click() ?? true`)
	p.holds(g, "second", 1)
	if got := eval[string](p, `fresh('.sql-results .grid-cell').map((e) => e.innerText).join()`); got != "" {
		t.Errorf("while a statement runs the results are %q", got)
	}
	g.open("second")
	p.wait("the second result",
		`[...document.querySelectorAll('.sql-results .grid-cell')].some((e) => e.innerText === '222')`)
}

// TestSQLBeforeTheEditor: a statement of a link is shown and run, whether the editor came before it or after it.
func TestSQLBeforeTheEditor(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the link", "the editor"} {
		t.Run(first+" first", func(t *testing.T) {
			g := gated(t, start(t), map[string]string{"editor": `/lib/editor\.js`})
			g.close("editor")
			p := open(t, g.server, "/dashboard/sql#sql="+"SELECT%20111%20AS%20n", watching)
			p.holds(g, "editor", 1)
			p.wait("the address", `location.hash.includes('111') && document.querySelector('.sql-actions')`)
			link := `import(new URL('./core/router.js', document.querySelector('script[type=module]').src)).then((m) => { m.go('sql', { sql: 'SELECT 222 AS n' }); return true; })`
			shown := `document.querySelector('.sql-editor .editor')?.shadowRoot?.querySelector('.cm-content')?.innerText`
			if first == "the link" {
				eval[bool](p, link)
				p.runSQL(false)
				g.open("editor")
			} else {
				g.open("editor")
				p.wait("the first statement", shown+`?.includes('111')`)
				eval[bool](p, link)
				p.wait("the second statement", shown+`?.includes('222')`)
				p.runSQL(false)
			}
			p.wait("the second result",
				`[...document.querySelectorAll('.sql-results .grid-cell')].some((e) => e.innerText === '222')`)
			p.wait("the second statement", shown+`?.includes('222')`)
			if got := eval[int](p, `document.querySelectorAll('.sql-tab').length`); got != 2 {
				t.Errorf("%d tabs, want one for each statement", got)
			}
		})
	}
}

// atFirst opens a page by a link, and a second link at the first change of the document at which a condition holds:
// before the next frame.
const atFirst = `(page, first, second, shown) => import(new URL('./core/router.js',
		document.querySelector('script[type=module]').src)).then((m) => new Promise((resolve) => {
	const watch = new MutationObserver(() => {
		if (!shown()) return;
		watch.disconnect();
		m.go(page, second);
		resolve(true);
	});
	watch.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
	m.go(page, first);
}))`

// TestLinkAtOnce: a link that is opened at the moment at which a page is shown counts.
func TestLinkAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	t.Run("sql", func(t *testing.T) {
		p := open(t, s, "/dashboard/logs#t=app")
		p.shown("logs")
		eval[bool](p, `(`+atFirst+`)('sql', { sql: 'SELECT 111 AS n' }, { sql: 'SELECT 222 AS n' },
			() => document.querySelector('.sql-page'))`)
		p.wait("the second statement",
			`document.querySelector('.sql-editor .editor')?.shadowRoot?.querySelector('.cm-content')?.innerText.includes('222')`)
		p.wait("its address", `location.hash.includes('222')`)
		p.quiet()
		if got := eval[string](p, `location.hash`); !strings.Contains(got, "222") {
			t.Errorf("the address is %s", got)
		}
	})
	t.Run("logs", func(t *testing.T) {
		p := open(t, s, "/dashboard/sql")
		p.shown("sql")
		eval[bool](p, `(localStorage.setItem('varve.logs.cols.public.app', '["level"]'), true)`)
		eval[bool](p, `(`+atFirst+`)('logs', { t: 'app', q: 'first' }, { t: 'app', cols: 'status' },
			() => document.querySelector('.fields-panel')?.innerText.includes('status'))`)
		p.rowsShown()
		p.quiet()
		if got := eval[string](p, `location.hash`); !strings.Contains(got, "cols=status") {
			t.Errorf("the address is %s", got)
		}
	})
}
