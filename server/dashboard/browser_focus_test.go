//go:build dashboard && browser

package dashboard

import (
	"strings"
	"testing"
)

// hastened gives a page the function elapse, which lets all that waits for two seconds or more have its turn now: what
// a page asks again and again by itself.
const hastened = `(() => {
	const turns = new Map(), start = window.setTimeout, stop = window.clearTimeout, every = window.setInterval, end = window.clearInterval;
	window.setTimeout = (run, ms, ...of) => {
		const turn = () => { turns.delete(id); run(...of); }, id = start(turn, ms);
		if (ms >= 2000) turns.set(id, () => { stop(id); turn(); });
		return id;
	};
	window.clearTimeout = (id) => { turns.delete(id); stop(id); };
	window.setInterval = (run, ms) => {
		const id = every(run, ms);
		if (ms >= 2000) turns.set(id, run);
		return id;
	};
	window.clearInterval = (id) => { turns.delete(id); end(id); };
	window.elapse = () => { for (const turn of [...turns.values()]) turn(); return true; };
})()`

// controls keeps what can have the focus on the page, in shadow roots, too: window.controls.
const controls = `(() => {
	const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
	window.controls = all(document).filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility()).map((e) => ({ e, looks: e.outerHTML.slice(0, 200) }));
	return window.controls.length;
})()`

// replaced lists those that others stand for now, which look the same, and those that would lose the focus where they
// are.
const replaced = `(() => {
	const before = window.controls;
	` + controls + `;
	const now = new Map(window.controls.map((c) => [c.looks, c.e]));
	return before.filter(({ e, looks }) => (e.isConnected ? e.disabled || !e.checkVisibility() : now.has(looks))).map((c) => c.looks);
})()`

// TestFocusStays: nothing that could have the focus is put there anew when a page asks again, by itself or by its key:
// who is on it with Tab would begin at the top again.
func TestFocusStays(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/sql")
	p.before(hastened)
	for _, one := range []struct{ path, ready string }{
		{"logs#t=app", `document.querySelector('.grid-row')`},
		{"logs#t=app&tab=patterns", `document.querySelector('.patterns tbody tr')`},
		{"logs#t=app&tab=fields", `document.querySelector('.field .name')`},
		{"logs#t=app&tab=changes", `document.querySelector('.changes')`},
		{"sql#sql=SELECT%201", ""}, {"metrics#q=rate(http_requests_total%5B1m%5D)", ""},
		{"metrics#q=last_over_time(http_requests_total%5B1h%5D)&view=table",
			`document.querySelector('.metrics-results table')`},
		{"metrics", ""}, {"traces", ""}, {"traces#view=operations", `document.querySelector('table tbody tr')`},
		{"traces#id=" + traceID(0), `document.querySelector('.waterfall .grid-row .operation')`},
		{"boards", `document.querySelectorAll('.boards li').length === 4`},
		{"boards#board=ready%3Aservices", `document.querySelectorAll('.board-rows tbody tr').length > 0`},
		{"alerts", `document.querySelector('.alerts .state h2')`},
		{"pipelines#name=shop&s=info%20hello", ""}, {"ingest#t=app", ""}, {"status", ""},
		{"status#tab=tables", `document.querySelector('table.tables tbody tr')`},
		{"status#tab=queries", ""}, {"status#tab=inside", ""}, {"status#tab=config", ""},
	} {
		t.Run(one.path, func(t *testing.T) {
			p.visit("/dashboard/" + one.path)
			p.wait("the page", `document.querySelector('#page h1') && !document.querySelector('.coming')`)
			if one.ready != "" {
				p.wait("what is on it", one.ready)
			}
			p.quiet()
			if n := eval[int](p, controls); n < 10 {
				t.Fatalf("%d controls\n%s", n, p.describe())
			}
			for range 2 {
				eval[bool](p, `elapse()`)
				// there the key asks for a new result, in place of the one shown
				if !strings.HasPrefix(one.path, "sql") {
					eval[bool](p,
						`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'r', bubbles: true })) ||
							true`)
				}
				p.quiet()
				for _, looks := range eval[[]string](p, replaced) {
					t.Errorf("taken away or put there anew: %s", looks)
				}
			}
		})
	}
}
