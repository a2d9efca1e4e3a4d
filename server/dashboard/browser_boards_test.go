//go:build dashboard && browser

package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// keepBoard keeps a board on a server.
func keepBoard(t *testing.T, s *server, id string, board map[string]any) {
	t.Helper()
	body, err := json.Marshal(board)
	if err != nil {
		t.Fatal(err)
	}
	s.post(t, "/v1/dashboards/"+id, "application/json", body)
}

// kept reads a board that a server keeps; nil: there is none.
func (s *server) kept(t *testing.T, id string) map[string]any {
	t.Helper()
	answer, err := http.Get(s.url + "/v1/dashboards/" + id)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == 404 {
		return nil
	}
	var list struct{ Dashboards []struct{ Definition string } }
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	var board map[string]any
	if err := json.Unmarshal([]byte(list.Dashboards[0].Definition), &board); err != nil {
		t.Fatal(err)
	}
	return board
}

// shopLogs writes 60 rows of the last minutes, of two hosts; every tenth is an error.
func shopLogs(t *testing.T, s *server) {
	t.Helper()
	var lines []string
	for i := range 60 {
		level := "info"
		if i%10 == 0 {
			level = "error"
		}
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"host":"web-%d","level":%q,"message":"order %d is paid","ms":%d}`,
			time.Now().Add(time.Duration(-i)*10*time.Second).UnixNano(), 1+i%2, level, i, i))
	}
	s.ingest(t, "shop", lines)
}

// panel is one of a board.
func panel(kind, lang, query string, x, y, w, h int, more ...string) map[string]any {
	p := map[string]any{"type": kind, "lang": lang, "x": x, "y": y, "w": w, "h": h,
		"queries": []map[string]string{{"q": query}}}
	for i := 0; i < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	return p
}

const panelText = `(document.querySelector('[data-panel="%d"] .board-content')?.innerText ?? '')`

// TestBoardShows: panels of each type show what their queries give, a variable narrows all of them, and the range is
// that of the tab. Kept values of the address win over those of the board.
func TestBoardShows(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	shopLogs(t, s)
	keepBoard(t, s, "board.shop", map[string]any{"kind": "board", "version": 1, "name": "Shop", "db": "public",
		"variables": []map[string]any{
			{"name": "host", "kind": "query", "lang": "sql", "query": "SELECT DISTINCT host FROM shop ORDER BY 1",
				"multi": true, "all": true, "value": []string{"$__all"}},
			{"name": "room", "label": "Room", "kind": "query", "lang": "promql",
				"query": "label_values(room_temperature, host)", "multi": true, "all": true}},
		"panels": []map[string]any{
			panel("figure", "sql", "SELECT count(*) AS n FROM shop WHERE $__timeFilter(ts) AND host IN ($host)", 0, 0, 6, 4,
				"title", "Rows of $host"),
			panel("graph", "promql", `room_temperature{host=~"$room"}`, 6, 0, 18, 8, "title", "Rooms"),
			panel("table", "sql", "SELECT level, count(*) AS n FROM shop WHERE host IN ($host) GROUP BY 1 ORDER BY 1", 0, 4, 6, 4),
			panel("logs", "sql", "SELECT ts, level, host, message FROM shop WHERE $__timeFilter(ts) AND host IN ($host) "+
				"ORDER BY ts DESC", 0, 8, 12, 8),
			panel("heat", "promql", "http_duration_bucket", 12, 8, 12, 8),
			{"type": "text", "text": "# Shop\nRows of **orders**.", "x": 0, "y": 16, "w": 12, "h": 4},
			panel("table", "promql", "room_temperature", 12, 16, 12, 4),
			panel("graph", "sql", "SELECT date_bin($step, ts) AS t, level, count(*) AS n FROM shop WHERE $__timeFilter(ts) "+
				"GROUP BY 1, 2 ORDER BY 1", 0, 20, 12, 6),
			panel("figure", "sql", "DELETE FROM shop", 12, 20, 6, 4),
			panel("figure", "promql", "nonsense(", 18, 20, 6, 4),
		}})
	p := open(t, s, "/dashboard/boards")
	p.wait("the list", `[...document.querySelectorAll('.boards li b')].some((b) => b.innerText === 'Shop')`)
	p.allow("status of 400")
	p.button(`Shop10 panels · public · revision 0`)
	for i, want := range []string{"60", "web-2", "error", "order 0 is paid", "", "Rows of orders", "web-1", "info",
		"A board asks one statement that reads", "parse error"} {
		p.wait("panel "+want, fmt.Sprintf(panelText+`.includes(%q)`, i+1, want))
	}
	p.wait("the heat map", `document.querySelector('[data-panel="5"] canvas')`)
	if n := eval[int](p, `document.querySelectorAll('.board-panel').length`); n != 10 {
		t.Errorf("%d panels are shown", n)
	}
	if got := eval[string](p, `document.querySelector('[data-panel="1"] h2').innerText`); got != "Rows of all" {
		t.Errorf("the title is %q", got)
	}
	p.quiet()
	p.shot("board")
	p.size(380, 760)
	p.quiet()
	p.shot("board-narrow")
	p.size(1280, 800)
	if n := s.sql(t, "SELECT count(*) FROM shop")[0][0]; fmt.Sprint(n) != "60" {
		t.Errorf("%v rows are left", n)
	}

	eval[bool](p, `document.querySelector('.board-variable button').click() ?? true`)
	p.wait("the values", `document.querySelectorAll('.board-choice .scroll label').length === 3`)
	eval[bool](p, `document.querySelectorAll('.board-choice .scroll input')[1].click() ?? true`)
	p.wait("the rows of one host", fmt.Sprintf(panelText+`.includes('30') && `+panelText+`.includes('24')`, 1, 3))
	p.wait("its name", `document.querySelector('[data-panel="1"] h2').innerText === 'Rows of web-1'`)

	said := url.QueryEscape(`{"host":["web-2"],"room":["web-1"]}`)
	p.afresh("/dashboard/boards#board=board.shop&full=1&v=" + said)
	p.wait("one panel", `document.querySelectorAll('.board-panel').length === 1`)
	p.wait("its rows", fmt.Sprintf(panelText+`.includes('30')`, 1))
	p.press("\x1b")
	p.wait("all of them", `document.querySelectorAll('.board-panel').length === 10`)
	p.wait("one room", fmt.Sprintf(panelText+`.includes('room_temperature')`, 2))
}

// TestBoardNeverMixesRuns: while an answer is on its way the one before is dimmed, whatever the order in which answers
// arrive; and a board that asks again by itself shows all new answers at once.
func TestBoardNeverMixesRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopLogs(t, s)
	keepBoard(t, s, "board.two", map[string]any{"kind": "board", "name": "Two", "db": "public",
		"variables": []map[string]any{{"name": "n", "kind": "text", "value": []string{"1"}}},
		"panels": []map[string]any{panel("figure", "sql", "SELECT ${n:raw} * 10 AS a", 0, 0, 6, 4),
			panel("figure", "sql", "SELECT ${n:raw} * 100 AS b", 6, 0, 6, 4)}})
	// answers of statements that were held come when they are let go
	const hold = `(() => {
		const real = window.fetch;
		window.held = [];
		window.fetch = async (url, how) => {
			const sql = how?.body instanceof URLSearchParams ? how.body.get('sql') : '';
			if (window.holding && sql?.includes(window.holding)) await new Promise((go) => window.held.push(go));
			return real(url, how);
		};
	})()`
	p := open(t, s, "/dashboard/boards#board=board.two", hold)
	p.wait("both", fmt.Sprintf(panelText+`.trim().startsWith('10') && `+panelText+`.trim().startsWith('100')`, 1, 2))
	eval[bool](p, `(window.holding = '* 100', true)`)
	p.fill(".board-variable input", "2")
	p.press("\r")
	p.wait("the first of the new run", fmt.Sprintf(panelText+`.trim().startsWith('20')`, 1))
	p.wait("that the second is held and dimmed", `held.length === 1 &&
		document.querySelector('[data-panel="2"] .board-content.stale')`)
	p.fill(".board-variable input", "3")
	p.press("\r")
	p.wait("the first of the run after", fmt.Sprintf(panelText+`.trim().startsWith('30')`, 1))
	eval[bool](p, `(window.holding = '', held.forEach((go) => go()), true)`)
	p.wait("the second of the run after", fmt.Sprintf(panelText+`.trim().startsWith('300')`, 2))
	p.wait("that nothing is dimmed", `!document.querySelector('.stale')`)
	p.quiet()
	if got := eval[string](p, fmt.Sprintf(panelText, 2)); !strings.HasPrefix(strings.TrimSpace(got), "300") {
		t.Errorf("an older answer came last: %q", got)
	}
}

// TestBoardIsMade: a board is made, gets a panel, is arranged by keys and by mouse, saved, and its revision before can
// be taken again. Somebody else's save meanwhile is not lost.
func TestBoardIsMade(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopLogs(t, s)
	p := open(t, s, "/dashboard/boards")
	p.wait("the list", `document.querySelector('.boards')?.innerText.includes('None yet')`)
	p.button("Board")
	p.fill("dialog input", "My shop")
	p.button("Make it")
	p.wait("the board", `document.querySelector('.board-page')?.innerText.includes('No panels yet')`)
	for i, q := range []string{"SELECT 41 + 1", "SELECT count(*) FROM shop"} {
		p.button("Panel")
		p.wait("the editor", `document.querySelector('dialog.board-edit textarea')`)
		p.fill("dialog input", fmt.Sprintf("Panel %c", 'A'+i))
		eval[bool](p, `(() => { for (const [i, v] of [[0, 'figure'], [1, 'sql']]) { const s = document.querySelectorAll(
			'dialog select')[i]; s.value = v; s.dispatchEvent(new Event('change', { bubbles: true })); } return true; })()`)
		p.wait("its language", `document.querySelector('dialog textarea')?.placeholder.startsWith('SELECT')`)
		p.fill("dialog textarea", q)
		p.wait("the trial", fmt.Sprintf(`document.querySelector('.board-trial:not(.stale)')?.innerText.includes(%q)`,
			[]string{"42", "60"}[i]))
		p.button("Add")
		p.wait("the panel", fmt.Sprintf(`document.querySelectorAll('.board-panel').length === %d`, i+1))
	}
	p.button("Save")
	p.said("My shop is kept, revision 2")
	if got := s.kept(t, "board.my-shop"); got["revision"] != 2.0 || len(got["panels"].([]any)) != 2 {
		t.Errorf("kept is %v", got)
	}

	place := `(() => { const g = document.querySelector('[data-panel="2"]').style; return g.gridColumn + ' ' + g.gridRow; })()`
	if got := eval[string](p, place); got != "13 / span 12 1 / span 8" {
		t.Errorf("the second panel is at %s", got)
	}
	p.button("Arrange")
	eval[bool](p, `document.querySelector('[data-panel="2"]').focus() ?? true`)
	p.press("\u0302") // an arrow to the left
	p.wait("that it makes room", place+` === '12 / span 12 1 / span 8'`)
	eval[bool](p, `document.querySelector('[data-panel="2"]').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft',
		shiftKey: true, bubbles: true }))`)
	p.wait("its new size", place+` === '12 / span 11 1 / span 8'`)
	at := eval[[]float64](p, `(() => { const r = document.querySelector('[data-panel="2"] header').getBoundingClientRect();
		return [r.left + 60, r.top + 8]; })()`)
	p.drag(at[0], at[1], at[0], at[1]+600)
	p.wait("that it lies below", `document.querySelector('[data-panel="2"]').style.gridRow === '9 / span 8'`)
	p.button("Arrange")

	other := s.kept(t, "board.my-shop")
	other["revision"], other["about"] = 3, "of somebody else"
	keepBoard(t, s, "board.my-shop", other)
	p.button("Save")
	p.wait("the question", `document.querySelector('dialog')?.innerText.includes('was saved by somebody else')`)
	p.button("Save over it")
	p.said("My shop is kept, revision 4")
	if got := s.kept(t, "was.my-shop.3"); got["about"] != "of somebody else" {
		t.Errorf("the revision before is %v", got)
	}

	eval[bool](p, `document.querySelector('.toolbar button[title=Board]').click() ?? true`)
	p.button("Settings and variables")
	p.wait("the revisions", `document.querySelectorAll('.board-revisions li').length === 2`)
	eval[bool](p, `[...document.querySelectorAll('.board-revisions li')].at(-1).querySelector('button').click() ?? true`)
	p.wait("the first revision", `document.querySelectorAll('.board-panel').length === 0 &&
		document.querySelector('.toolbar .badge')?.innerText === 'not saved'`)
}

// TestBoardImports: dashboards of the tool that most people have come in as far as their panels ask PromQL or SQL, and
// what is left out is said.
func TestBoardImports(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/boards")
	p.button("Import")
	p.wait("the dialog", `document.querySelector('dialog textarea')`)
	text := `{"title":"Old one","time":{"from":"now-6h","to":"now"},"refresh":"30s","templating":{"list":[
		{"type":"custom","name":"env","query":"prod,test","multi":true,"current":{"value":["test"]}},
		{"type":"datasource","name":"ds"},{"type":"adhoc","name":"filters"}]},"annotations":{"list":[{"name":"deploys","enable":true}]},
		"panels":[{"type":"timeseries","title":"Rate","gridPos":{"x":0,"y":0,"w":12,"h":8},"targets":[{"expr":"rate(x{env=~\"$env\"}[$__rate_interval])","legendFormat":"{{env}}"},{"expr":"y","hide":true}],"fieldConfig":{"defaults":{"unit":"bytes","custom":{"stacking":{"mode":"normal"}}}}},
		{"type":"row","panels":[{"type":"stat","title":"One","gridPos":{"x":0,"y":9,"w":6,"h":4},"datasource":{"type":"postgres"},"targets":[{"rawSql":"SELECT 1 WHERE 'prod' IN ($env)"}]}]},
		{"type":"geomap","title":"Map","targets":[{"expr":"z"}]},
		{"type":"logs","title":"Lines","datasource":{"type":"loki"},"targets":[{"expr":"{a=\"b\"}"}]},
		{"type":"text","title":"Note","options":{"content":"*hello*"},"gridPos":{"x":12,"y":0,"w":12,"h":4}}]}`
	p.fill("dialog textarea", text)
	p.wait("what it finds", `document.querySelector('dialog [role=status]')?.innerText.startsWith('3 panels, 1 variable')`)
	left := eval[string](p, `document.querySelector('.board-left').innerText`)
	for _, want := range []string{`Panel "Map": the kind geomap is not known.`, `Panel "Lines": a query of loki.`,
		"Variable filters: the kind adhoc is not known.", "Annotations."} {
		if !strings.Contains(left, want) {
			t.Errorf("%q is not said in\n%s", want, left)
		}
	}
	p.button("Keep it")
	p.said("Old one is kept")
	p.wait("its panels", `document.querySelectorAll('.board-panel').length === 3`)
	kept := s.kept(t, "board.old-one")
	first := kept["panels"].([]any)[0].(map[string]any)
	if first["unit"] != "bytes" || first["form"] != "stacked" || first["lang"] != "promql" ||
		len(first["queries"].([]any)) != 1 || kept["from"] != "now-6h" || kept["refresh"] != 30.0 {
		t.Errorf("kept is %v", kept)
	}
	p.afresh("/dashboard/boards")
	p.button("Import")
	p.wait("the dialog", `document.querySelector('dialog textarea')`)
	p.fill("dialog textarea", `{"title":"no panels"}`)
	p.wait("what is wrong", `document.querySelector('dialog .warn')?.innerText.includes('neither a board nor a dashboard')`)
}

// TestBoardsReady: the boards that come with the program can be opened, and every query of theirs is understood by the
// server where the tables are there.
func TestBoardsReady(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := open(t, s, "/dashboard/boards")
	p.wait("the list", `document.querySelectorAll('.boards li').length === 4`)
	for _, id := range []string{"server", "hosts", "access", "services"} {
		p.allow("status of 400") // tables that are not there
		p.afresh("/dashboard/boards#board=ready:" + id)
		p.wait("the panels of "+id, `document.querySelectorAll('.board-panel').length >= 9`)
		p.wait("that all answered", `document.querySelectorAll('.board-content .wait').length === 0`)
		if bad := eval[string](p, `[...document.querySelectorAll('.board-content .error .text')].map((e) => e.innerText)
			.filter((e) => !/Table not found|not found/i.test(e)).join('\n')`); bad != "" {
			t.Errorf("%s: %s", id, bad)
		}
	}
}

// TestPutOnABoard: what Metrics, SQL and Logs show is put on a board, and is there the same.
func TestPutOnABoard(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	shopLogs(t, s)
	p := openMetrics(t, s, "room_temperature", "")
	p.button("Board")
	p.wait("the dialog", `document.querySelector('dialog select')`)
	p.fill("dialog label:nth-of-type(3) input", "From pages")
	p.button("Put it there")
	p.said("It is on From pages")

	p.afresh("/dashboard/sql#sql=" + url.QueryEscape("SELECT count(*) AS n FROM shop"))
	p.wait("the editor", metricsEditor)
	p.button("Board")
	p.wait("the board", `[...document.querySelectorAll('dialog option')].some((o) => o.innerText === 'From pages')`)
	eval[bool](p, `(() => { const s = document.querySelector('dialog select'); s.value = 'board.from-pages';
		return s.dispatchEvent(new Event('change', { bubbles: true })); })()`)
	p.button("Put it there")
	p.said("It is on From pages")

	p.afresh("/dashboard/logs#t=shop&q=" + url.QueryEscape("level:error"))
	p.wait("the rows", `document.querySelector('.grid-row')`)
	p.quiet()
	p.click(".toolbar button[title=More]")
	p.button("Put on a board…")
	p.wait("the board", `[...document.querySelectorAll('dialog option')].some((o) => o.innerText === 'From pages')`)
	eval[bool](p, `(() => { const s = document.querySelector('dialog select'); s.value = 'board.from-pages';
		return s.dispatchEvent(new Event('change', { bubbles: true })); })()`)
	p.button("Put it there")
	p.said("It is on From pages")
	p.button("Open")
	p.wait("three panels", `document.querySelectorAll('.board-panel').length === 3`)
	p.wait("the rows", fmt.Sprintf(panelText+`.includes('60')`, 2))
	p.wait("the errors", `document.querySelectorAll('[data-panel="3"] .board-logs li').length === 6`)
	if kept := s.kept(t, "board.from-pages"); kept["revision"] != 3.0 {
		t.Errorf("kept is %v", kept)
	}
}

// TestBoardModules: values of variables stay values, whatever they contain.
func TestBoardModules(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/ingest")
	p.wait("the page", `document.querySelector('.try')`)
	const env = `{ from: 1000, to: 4600, step: 15, db: 'public', values: new Map([
		['one', { list: ["it's"], all: false }], ['two', { list: ['a.b', 'c"d'], all: false }],
		['all', { list: ['x', 'y'], all: true }], ['n', { list: ['5m'], all: false }], ['none', { list: [], all: false }]]) }`
	for _, c := range []struct{ module, name, expression, want string }{
		{"boardvars", "several values", `m.fillPromQL('x{a=~"$two"}', env)`, `"x{a=~\"(a\\\\.b|c\\\"d)\"}"`},
		{"boardvars", "all values", `m.fillPromQL('x{a=~"${all}",b!~"[[all]]"}', env)`, `"x{a=~\".*\",b!~\".*\"}"`},
		{"boardvars", "equal", `m.fillPromQL('x{a="$one"}', env)`, `"x{a=\"it's\"}"`},
		{"boardvars", "a length", `m.fillPromQL('rate(x[$n]) + rate(y[$__rate_interval])', env)`,
			`"rate(x[5m]) + rate(y[60s])"`},
		{"boardvars", "a comment", `m.fillPromQL('x # "$one', env)`, `"x # \"$one"`},
		{"boardvars", "what nobody knows", `m.fillPromQL('x{a="$other"}', env)`, `"x{a=\"$other\"}"`},
		{"boardvars", "outside of quotes", `(() => { try { return m.fillPromQL('$two', env); } catch (e) { return e.name; } })()`,
			`"Error"`},
		{"boardvars", "literals", `m.fillSQL('a IN ($two) AND b = $one', env)`,
			`"a IN ('a.b', 'c\"d') AND b = 'it''s'"`},
		{"boardvars", "no value", `m.fillSQL('a IN ($none)', env)`, `"a IN (NULL)"`},
		{"boardvars", "in a text", `m.fillSQL("a LIKE '%$one%'", env)`, `"a LIKE '%it''s%'"`},
		{"boardvars", "a plain word", `m.fillSQL('x > ${n:raw}', env)`, `"x > 5m"`},
		{"boardvars", "no plain word",
			`(() => { try { return m.fillSQL('${one:raw}', env); } catch (e) { return e.message.includes('outside of quotes'); } })()`,
			`true`},
		{"boardvars", "the range", `m.fillSQL('$__timeFilter(ts)', env)`,
			`"(ts >= '1970-01-01T00:16:40.000Z' AND ts < '1970-01-01T01:16:40.000Z')"`},
		{"boardvars", "groups of time", `m.fillSQL("SELECT $__timeGroupAlias(ts, '5m'), $__timeGroup(ts, $__interval)", env)`,
			`"SELECT date_bin(INTERVAL '5 minutes', ts) AS \"time\", date_bin(INTERVAL '15 seconds', ts)"`},
		{"boardvars", "names of the SQL page", `m.fillSQL('$step $db', env)`, `"INTERVAL '15 seconds' 'public'"`},
		{"boardvars", "comments stay", `m.fillSQL('1 -- $one', env)`, `"1 -- $one"`},
		{"boardvars", "one value only",
			`m.chosenOf({ kind: 'list', multi: false, all: false, value: [] }, ['a', 'b'], ['b', 'c'])`,
			`{"list":["b"],"all":false}`},

		{"boardlayout", "room is made",
			`m.placed([{ id: 1, x: 0, y: 0, w: 12, h: 4 }, { id: 2, x: 12, y: 0, w: 12, h: 4 }], 2, { x: 0 }).map((p) => [p.id, p.x, p.y])`,
			`[[2,0,0],[1,0,4]]`},
		{"boardlayout", "none floats", `m.compact([{ id: 1, x: 0, y: 9, w: 4, h: 2 }]).map((p) => p.y)`, `[0]`},
		{"boardlayout", "within the columns", `m.placed([{ id: 1, x: 0, y: 0, w: 4, h: 2 }], 1, { x: 99, w: 30 })`,
			`[{"id":1,"x":0,"y":0,"w":24,"h":2}]`},
		{"boardlayout", "down past a neighbour",
			`m.stepped([{ id: 1, x: 0, y: 0, w: 4, h: 2 }, { id: 2, x: 0, y: 2, w: 4, h: 5 }], 1, 'ArrowDown').map((p) => [p.id, p.y])`,
			`[[2,0],[1,5]]`},
		{"boardlayout", "random places never overlap", `(() => { let s = 7; const r = (n) => (s = s * 48271 % 2147483647) % n;
			for (let k = 0; k < 300; k++) {
				const list = m.compact(Array.from({ length: 12 }, (_, id) => ({ id, x: r(20), y: r(30), w: 1 + r(4), h: 1 + r(6) })));
				for (const a of list) for (const b of list) if (a.id < b.id && a.x < b.x + b.w && b.x < a.x + a.w &&
					a.y < b.y + b.h && b.y < a.y + a.h) return [a, b];
			} return true; })()`, `true`},
		{"boards", "what is none", `['x', null, {}, { kind: 'board' }, { kind: 'board', name: 'a', panels: Array(101).fill({}) }]
			.map((d) => { try { m.boardOf(d); return true; } catch { return false; } })`, `[false,false,false,false,false]`},
		{"boards", "wrong parts have their defaults",
			`(({ panels: [p], variables }) => [p.type, p.w, p.x, p.queries, variables])(m.boardOf({ kind: 'board', name: 'a',
				panels: [{ type: 'nosuch', w: 999, x: -4, queries: [7, { q: 1 }] }], variables: [{ name: 'a b' }, { name: '__x' }] }))`,
			`["graph",12,0,[{"q":"","name":""},{"q":"","name":""}],[]]`},
	} {
		got := eval[string](p, fmt.Sprintf(`import(new URL('./core/%s.js', document.querySelector(
			'script[type=module]').src)).then((m) => { const env = %s; return JSON.stringify(%s); })`,
			c.module, env, c.expression))
		if got != c.want {
			t.Errorf("%s, %s: got %s, want %s", c.module, c.name, got, c.want)
		}
	}
}
