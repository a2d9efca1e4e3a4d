//go:build dashboard && browser

package dashboard

import (
	"os"
	"testing"
)

// withoutChildren keeps in the set window.bare what at any time since the page began has a role that is nothing without
// children of certain roles, and has none: empty rows, lists, menus. What says that it is busy may be so.
const withoutChildren = `(() => {
	window.bare = new Set();
	const needs = { row: '[role=gridcell], [role=columnheader]', rowgroup: '[role=row]', grid: '[role=row]', listbox: '[role=option]', tablist: '[role=tab]', menu: '[role^=menuitem]', radiogroup: '[role=radio]', tree: '[role=treeitem]' };
	new MutationObserver(() => {
		for (const [role, child] of Object.entries(needs)) {
			for (const e of document.querySelectorAll('[role=' + role + ']')) if (!e.querySelector(child) && !e.closest('[aria-busy=true]')) window.bare.add(e.outerHTML.slice(0, 200));
		}
	}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['role', 'aria-busy'] });
})()`

// TestD83States lets axe look at what pages show besides their first sight: empty, refused and cut states, other tabs,
// what is loaded later. Each is an address, and what somebody does there.
func TestD83States(t *testing.T) {
	t.Parallel()
	full, empty := shop(t), start(t)
	full.post(t, "/v1/dashboards/query.kept", "application/json",
		[]byte(`{"kind":"query","version":1,"name":"Kept","sql":"SELECT 1"}`))
	axe, err := os.ReadFile("libsrc/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Logf(
			"axe is not installed (make dashboard-compiler installs it): names of buttons and fields alone are looked at")
	}
	run := func(p *page) {
		p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
		p.mod("\r")
	}
	tab, bare := open(t, full, "/dashboard/status", withoutChildren),
		open(t, empty, "/dashboard/status", withoutChildren)
	for _, c := range []struct {
		name, path string
		act        func(p *page) // nil: nothing
		ready      string
	}{
		{"logs, no tables", "logs", nil, `document.querySelector('.first')`},
		{"logs, unknown table", "logs#t=nosuch", nil, `document.querySelector('.state')`},
		{"logs, nothing in the range", "logs#t=app&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z", nil,
			`document.querySelector('.logs-main .state')`},
		{"logs, nothing found", "logs#t=app&from=all&q=nosuchword%20level:error", nil,
			`document.querySelector('.logs-main .state')`},
		{"logs, refused", "logs#t=app&w=nosuch%20%3D%201", nil, `document.querySelector('.error')`},
		{"logs, filters", "logs#t=app&f=%5B%22level%22%252C%22info%22%252C%22%22%5D", nil,
			`document.querySelector('.logs-where .chip')`},
		{"logs, patterns", "logs#t=app&tab=patterns", nil, `document.querySelector('.patterns tbody tr')`},
		{"logs, fields", "logs#t=app&tab=fields", func(p *page) {
			p.wait("a field", `document.querySelector('.field .name')`)
			p.click(".field .name")
		}, `document.querySelector('.values .value')`},
		{"logs, what changed", "logs#t=app&tab=changes", nil, `document.querySelector('.changes')`},
		{"logs, live", "logs#t=app&live=1", nil, `document.querySelector('.live-bar')`},
		{"logs, palette", "logs#t=app", func(p *page) { p.mod("k") },
			`document.querySelectorAll('.palette li').length > 5`},
		{"logs, palette, nothing found", "logs#t=app", func(p *page) {
			p.mod("k")
			p.wait("the palette", `document.activeElement.ariaLabel === 'Command'`)
			p.press("nothing is called so")
		}, `document.querySelector('.palette p')`},
		{"sql, result", "sql#sql=SELECT%20*%20FROM%20app%20LIMIT%2020", run,
			`document.querySelectorAll('.sql-results .grid-row').length > 5`},
		{"sql, log", "sql#view=log&sql=SELECT%201", run, `document.querySelector('.sql-results tbody tr')`},
		{"sql, history", "sql#sql=SELECT%201", func(p *page) {
			run(p)
			p.button("History")
		}, `document.querySelectorAll('.sql-history h2').length === 2 && document.querySelector('.history-entry')`},
		{"sql, refused", "sql#sql=SELEC", run, `document.querySelector('.sql-results .error')`},
		{"metrics, table", "metrics#q=last_over_time(http_requests_total%5B1h%5D)&view=table", nil,
			`document.querySelector('.metrics-table, table')`},
		{"metrics, explain", "metrics#q=http_requests_total&view=explain", nil,
			`document.querySelector('.metrics-explain tbody tr')`},
		{"metrics, none", "metrics", nil, `document.querySelector('.toolbar h1')`},
		{"traces, one", "traces#id=" + traceID(0), nil, `document.querySelector('.waterfall .grid-row .operation')`},
		{"traces, one, services", "traces#tab=services&id=" + traceID(0), nil,
			`document.querySelector('.trace-logs tbody tr')`},
		{"traces, map", "traces#view=map", nil, `document.querySelector('.traces-map .traces-list tbody tr')`},
		{"traces, operations", "traces#view=operations", nil, `document.querySelector('table tbody tr')`},
		{"pipelines, refused", "pipelines#doc=processors%3A%0A%20%20-%20nosuch%3A%20%7B%7D%0A&s=x", nil,
			`document.querySelector('.error[role=alert]')`},
		{"status, tables", "status#tab=tables", nil, `document.querySelector('table tbody tr')`},
		{"status, configuration", "status#tab=config", nil, `document.querySelector('.status')`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := tab
			if c.name == "logs, no tables" || c.name == "metrics, none" {
				p = bare
			}
			p.allow("400 (Bad Request)")
			p.allow("beforeunload") // what is written in the editor is not stored
			p.anew(t, "/dashboard/"+c.path)
			if c.act != nil {
				p.wait("the page", `document.querySelector('.toolbar h1') && !document.querySelector('.bar')`)
				c.act(p)
			}
			for _, theme := range []string{"light", "dark"} {
				p.system(theme)
				p.wait(c.name, c.ready)
				p.accessible(t, c.name+", "+theme, string(axe))
				for _, bare := range eval[[]string](p, `[...window.bare]`) {
					t.Errorf("without what its role needs: %s", bare)
				}
			}
		})
	}
}
