//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
)

// TestViewsAreSteps: another view of a page is a step on each of them: Back goes to the view before, not to the page
// before.
func TestViewsAreSteps(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/")
	for _, one := range []struct {
		path, list string
		tabs       []string // the first is what the address shows
	}{
		{"logs#t=app", ".logs-status", []string{"rows", "patterns", "fields"}},
		{"sql#sql=SELECT%201", ".sql-views", []string{"table", "chart", "log"}},
		{"metrics#q=http_requests_total", ".metrics-views", []string{"graph", "table", "explain"}},
		{"traces", ".traces-views", []string{"traces", "operations", "map"}},
		{"traces#id=" + traceID(0), ".trace-bar", []string{"spans", "flame", "table"}},
		{"pipelines#name=shop&s=info%20hello", ".result", []string{"rows", "steps", "versions"}},
		{"status", ".status-tabs", []string{"overview", "tables", "config"}},
	} {
		t.Run(one.path, func(t *testing.T) {
			p.visit("/dashboard/" + one.path)
			if one.list == ".sql-views" { // there once something ran
				p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
				p.runSQL(false)
			}
			chosen := func(tab string) {
				t.Helper()
				p.wait(tab, fmt.Sprintf(
					`document.querySelector('%s [role=tab][aria-selected=true]')?.dataset.tab === %q`, one.list, tab))
				p.quiet()
			}
			chosen(one.tabs[0])
			for _, tab := range one.tabs[1:] {
				p.click(one.list + " [data-tab=" + tab + "]")
				chosen(tab)
			}
			for i := len(one.tabs) - 2; i >= 0; i-- {
				eval[bool](p, `history.back() ?? true`)
				chosen(one.tabs[i])
			}
		})
	}
}
