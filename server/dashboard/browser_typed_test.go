//go:build dashboard && browser

package dashboard

import (
	"strings"
	"testing"
)

// pauses holds timers of a second until the test lets them go, so that a pause is as long as it has to be:
// window.pauses.
const pauses = `(() => {
	const { setTimeout: later, clearTimeout: clear } = window;
	window.pauses = new Map();
	let ids = 0;
	window.setTimeout = (f, ms, ...more) => (ms === 1000 ? (window.pauses.set(--ids, f), ids) : later(f, ms, ...more));
	window.clearTimeout = (id) => { if (!window.pauses.delete(id)) clear(id); };
})()`

// TestTypedIsToldAfterAPause: what is wrong with a search line is told to readers of the screen when nobody types any
// more, and not at each letter.
func TestTypedIsToldAfterAPause(t *testing.T) {
	t.Parallel()
	s := shop(t)
	for _, one := range []struct{ page, box, note, text string }{
		{"logs", "#logs-search", "#search-note", "nosuchcolumn:7"},
		{"traces", "#traces-search", "#traces-note", "nosuchcolumn:7"},
	} {
		t.Run(one.page, func(t *testing.T) {
			p := open(t, s, "/dashboard/"+one.page, telling, pauses)
			p.shown(one.page)
			p.wait("what the page gave", `window.heard.length > 0`)
			eval[bool](p, `window.heard.splice(0).length > 0 && document.querySelector('`+one.box+
				`').focus() === undefined`)
			for _, letter := range one.text {
				p.press(string(letter))
			}
			p.wait("what is wrong", `document.querySelector('`+one.note+` .level-error')`)
			p.quiet()
			if got := eval[string](p, `window.heard.join('; ') + [...document.querySelectorAll('`+one.note+`[role], `+
				one.note+` [role], `+one.note+`[aria-live]')].length`); got != "0" {
				t.Errorf("while it is typed it tells %s", got)
			}
			eval[bool](p, `[...window.pauses.values()].forEach((f) => f()) === undefined`)
			p.quiet()
			if got, want := eval[string](p, `window.heard.join('; ')`),
				p.text(one.note+" .level-error"); got != want || want == "" {
				t.Errorf("after a pause it tells %q, want %q", got, want)
			}
		})
	}
}

// manyNames answers the question for the names of pipelines: there are 3,000 more.
const manyNames = `(() => {
	const real = window.fetch;
	window.fetch = (what, how) => (decodeURIComponent(String(how?.body ?? '')).includes('SELECT+DISTINCT+name') ? Promise.resolve(new Response(JSON.stringify({ output: [{ records: {
		schema: { column_schemas: [{ name: 'name', data_type: 'String' }] }, rows: [['shop'], ...Array.from({ length: 3000 }, (_, i) => ['other' + i])],
	} }], execution_time_ms: 1 }))) : real(what, how));
})()`

// TestManyPipelines: of thousands of pipelines Ingest offers some, says so, and takes any by its name; it offers tables
// the same way.
func TestManyPipelines(t *testing.T) {
	t.Parallel()
	s := shop(t)
	p := open(t, s, "/dashboard/ingest#t=app", manyNames)
	p.wait("some of them",
		`document.querySelectorAll('#ingest-pipelines option').length === 150 &&
			document.querySelector('[list=ingest-pipelines]').title.startsWith('150 of 3,001 pipelines')`)
	p.fill("[list=ingest-pipelines]", "OTHER299")
	p.wait("those that fit", `document.querySelectorAll('#ingest-pipelines option').length === 11`)
	p.fill("[list=ingest-pipelines]", "shop")
	p.fill(".try textarea", `{"message":"info hello"}`)
	p.button("Dry run")
	p.wait("what it makes of it",
		`[...document.querySelectorAll('.dry thead th')].some((h) => h.innerText.startsWith('text'))`)
	p.fill("[list=ingest-pipelines]", "")
	p.wait("the question for the time",
		`[...document.querySelectorAll('.try .fields label')].some((l) => l.innerText.startsWith('Time'))`)
	if got := eval[string](p, `location.hash`); strings.Contains(got, "p=") {
		t.Errorf("the usual pipeline is in the address: %s", got)
	}
}

// TestSnippetsAreSteps: Back goes to the snippet before.
func TestSnippetsAreSteps(t *testing.T) {
	t.Parallel()
	p := openIngest(t, start(t), "")
	chosen := `document.querySelector('.how .tabs [aria-selected=true]')?.innerText`
	p.wait("the first", chosen+` === 'JSON lines'`)
	p.named("the second", ".how .tabs button", `e.innerText === 'Text lines'`)
	p.wait("the second", chosen+` === 'Text lines'`)
	eval[bool](p, `history.back() === undefined`)
	p.wait("the first", chosen+` === 'JSON lines'`)
}
