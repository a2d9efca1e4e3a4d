//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
)

// TestBoardValuesStayValues: a value of a link, whatever it is, is a value in the statements and expressions of a
// board, or it is refused.
func TestBoardValuesStayValues(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/ingest")
	p.wait("the page", `document.querySelector('.try')`)
	for _, c := range []struct{ name, fill, query, value, want string }{
		{"the end of an escaped text", "SQL", `SELECT E'a $v'`, `\' OR true --`, `SELECT E'a \\'' OR true --'`},
		{"a text between dollars", "SQL", `SELECT $$a $v$$, $t$$v$t$`, `b'c`, `SELECT $$a b'c$$, $t$b'c$t$`},
		{"the end of a text between dollars", "SQL", `SELECT $$a $v$$`, `$$; x`, "NotPlain"},
		{"a quote before a value", "SQL", `SELECT 'a'$v`, ` OR true --`, `SELECT 'a' ' OR true --'`},
		{"a letter before a value", "SQL", `SELECT E$v`, `\' OR true --`, `SELECT E '\'' OR true --'`},
		{"a name between backquotes", "SQL", "SELECT `$v`", "a` b", "SELECT `a`` b`"},
		{"the name of the database", "SQL", `SELECT $db`, ` OR true --`, `SELECT '$v'`},
		{"a comment", "SQL", `SELECT ${v:raw} WHERE a`, `1--`, "NotPlain"},
		{"a second dash", "SQL", `SELECT a-${v:raw} WHERE a`, `-1`, "NotPlain"},
		{"a number below zero", "SQL", `SELECT a > ${v:raw}`, `-1.5`, `SELECT a > -1.5`},
		{"a cast", "SQL", `SELECT ${v:raw}`, `a::text`, "NotPlain"},
		{"a part of a name", "SQL", `SELECT 1 FROM t_${v:raw}`, `a.b`, `SELECT 1 FROM t_a.b`},
		{"the end of a text of TQL", "SQL", `TQL EVAL (0, 1, '5s') x{a="$v",b="c"}`, `\`, "NotPlain"},
		{"a text of TQL", "SQL", `TQL EVAL ($from, 9, '5s') x{a=~"$v"}`, `a.b`,
			`TQL EVAL ('1970-01-01T00:16:40.000Z', 9, '5s') x{a=~"a\\.b"}`},
		{"TQL within", "SQL", `WITH a AS (TQL EVAL (0, 1, '5s') x{a="$v"}) SELECT 1`, `b c`, "NotPlain"},
		{"a subtraction", "PromQL", `x{a="b"} > $v`, `a-b`, "NotPlain"},
		{"a name of a rule", "PromQL", `$v > -1`, `:a:b`, `:a:b > -1`},
		{"a text of PromQL", "PromQL", `x{a="$v"}`, "\\\"}\n", `x{a="\\\"}\n"}`},
	} {
		got := eval[string](p, fmt.Sprintf(`import(new URL('./core/boardvars.js', document.querySelector(
			'script[type=module]').src)).then((m) => { try { return m.fill%s(%q, { from: 1000, to: 4600, step: 15,
				db: '$v', values: new Map([['v', { list: [%q], all: false }]]) }); } catch (e) {
			return e instanceof m.NotPlain ? 'NotPlain' : String(e); } })`, c.fill, c.query, c.value))
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestBoardOnlyReads: what the server would run as several statements is refused, however it is quoted.
func TestBoardOnlyReads(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopLogs(t, s)
	p := open(t, s, "/dashboard/ingest")
	p.wait("the page", `document.querySelector('.try')`)
	long := strings.Repeat("a", 3000)
	for _, c := range []struct {
		text  string
		reads bool
	}{
		{`SELECT $$'$$; DROP TABLE shop; SELECT $$'$$`, false},
		{`SELECT $a$'$a$; DROP TABLE shop; SELECT $a$'$a$`, false},
		{`SELECT $` + long + `$'$` + long + `$; DROP TABLE shop; SELECT $$'$$`, false},
		{`SELECT E'\''; DROP TABLE shop; SELECT E'\''`, false},
		{"SELECT 1\u00a0, E'\\''; DROP TABLE shop; SELECT\u00a0E'\\''", false},
		{`SELECT 1 //* 2; DROP TABLE shop; -- */`, false},
		{`TQL EVAL (0, 10, '5s') x{a="\""}; DROP TABLE shop; TQL EVAL (0, 10, '5s') x{a="\""}`, false},
		{"TQL EVAL (0, 10, '5s') x # '\n; DROP TABLE shop; -- '", false},
		{`WITH a AS (TQL EVAL (0, 10, '5s') x{a="\""}) SELECT 1; DROP TABLE shop; SELECT '"'`, false},
		{`DELETE FROM shop`, false},
		{`SELECT $$a;b$$, E'c\';', 'it''s;', type'', a$$b FROM shop`, true},
		{`SELECT 1$$;$$`, true},
		{`TQL EVAL (0, 10, '5s') x{a="b"};`, true},
	} {
		got := eval[bool](p, fmt.Sprintf(`import(new URL('./page/boardask.js', document.querySelector(
			'script[type=module]').src)).then((m) => { try { m.reading(%q); return true; } catch (e) { return false; } })`,
			c.text))
		if got != c.reads {
			t.Errorf("%.60s: reads is %v", c.text, got)
		}
	}
	// A document does not do what it may not.
	keepBoard(t, s, "board.bad", map[string]any{"kind": "board", "name": "bad", "panels": []any{
		panel("table", "sql", `SELECT $$'$$; DROP TABLE shop; SELECT $$'$$`, 0, 0, 12, 6),
		map[string]any{"type": "toString", "w": 12, "h": 6}}})
	p = open(t, s, "/dashboard/boards#board=board.bad")
	p.wait("the panel is refused", `document.body.innerText.includes('one statement that reads')`)
	p.wait("a panel of no type is a graph", `document.querySelectorAll('[data-panel]').length === 2`)
	s.sql(t, "SELECT 1 FROM shop")
}

// TestBoardOddDocuments: a revision that is no board keeps nobody from saving or removing a board, and a dashboard with
// nulls and kinds that nobody knows is imported as far as it goes.
func TestBoardOddDocuments(t *testing.T) {
	t.Parallel()
	s := start(t)
	keepBoard(t, s, "board.shop", map[string]any{"kind": "board", "name": "shop", "revision": 20})
	keepBoard(t, s, "was.shop.7", map[string]any{"kind": "alert", "name": 1})
	keepBoard(t, s, "was.shop.8", map[string]any{"kind": "revision", "name": "shop", "revision": 3})
	keepBoard(t, s, "was.shop.19", map[string]any{"kind": "revision", "name": "shop", "revision": 19})
	p := open(t, s, "/dashboard/ingest")
	p.wait("the page", `document.querySelector('.try')`)
	run := func(module, expression, want string) {
		t.Helper()
		got := eval[string](p, fmt.Sprintf(`import(new URL('./core/%s.js', document.querySelector('script[type=module]').src))
			.then(async (m) => JSON.stringify(%s)).catch(String)`, module, expression))
		if got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
	run("boards", `(await m.revisions('board.shop')).map((b) => b.revision)`, `[19,8]`)
	run("boards", `(await m.save({ ...await m.read('board.shop'), about: 'new' })).board.revision`, `21`)
	run("boards", `(await m.revisions('board.shop')).map((b) => b.revision)`, `[20,19]`)
	if s.kept(t, "was.shop.7") != nil {
		t.Error("an old revision that is no board is kept")
	}
	run("boards", `await m.remove('board.shop') ?? null`, `null`)
	if s.kept(t, "board.shop") != nil || s.kept(t, "was.shop.20") != nil {
		t.Error("a board is there after it was removed")
	}
	run("boardimport", `(({ board, left }) => [board.panels.length, left])(m.read(JSON.stringify({ title: 'odd',
		annotations: { list: [null] }, links: null, time: null, templating: { list: [null] },
		panels: [null, 7, { type: 'constructor' }, { type: 'row', panels: [null, { type: 'text', title: 1, options: null,
			gridPos: null }] }, { type: 'graph', targets: [null, { expr: 'x' }], fieldConfig: { defaults: null } }] }), 'public'))`,
		`[2,["Variable undefined: the kind undefined is not known.",`+
			`"A panel of the kind unknown: the kind undefined is not known.",`+
			`"A panel of the kind unknown: the kind undefined is not known.",`+
			`"A panel of the kind constructor: the kind constructor is not known.",`+
			`"A panel of the kind unknown: the kind undefined is not known.",`+
			`"A panel of the kind graph: a query of another source."]]`)
}
