//go:build dashboard && browser

package dashboard

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestSlowStatements: the Status page lists what took long, the newest first, and opens it on the page of SQL; where
// nothing is recorded it says how that is changed.
func TestSlowStatements(t *testing.T) {
	t.Parallel()
	const rows = `[...document.querySelectorAll('table.slow tbody tr')]`
	t.Run("on", func(t *testing.T) {
		dir := t.TempDir()
		s := startAt(t, dir, "127.0.0.1:0", "--set", "slow_query.threshold=0s")
		s.ingest(t, "app", shopLines(20, time.Second))
		s.sql(t, "SELECT 'older' AS mark")
		for _, path := range []string{"/v1/sql?sql=" + url.QueryEscape("SELECT newer FROM app"),
			"/v1/metricsapi/api/v1/query_range?query=vector(7)&start=60&end=120&step=30"} {
			// in which they begin is all that is kept of their order
			for now := time.Now(); time.Since(now) < time.Millisecond; {
			}
			r, err := http.Get(s.url + path)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
		}
		s.stop()
		// what the page asks takes less than its threshold, and pushes nothing out of the list
		s = startAt(t, dir, "127.0.0.1:0")
		p := open(t, s, "/dashboard/status#tab=queries")
		text := func(part string) string { return rows + `.findIndex((r) => r.innerText.includes(` + part + `))` }
		p.wait("the statements", text(`"SELECT 'older'"`)+` >= 0 && `+text(`"SELECT newer"`)+` >= 0 && `+
			text(`"vector(7)"`)+` >= 0`)
		if !eval[bool](p, text(`"vector(7)"`)+` < `+text(`"SELECT newer"`)+` && `+text(`"SELECT newer"`)+` < `+
			text(`"SELECT 'older'"`)) {
			t.Error("the newest is not the first")
		}
		if !eval[bool](p, `(() => { const r = `+rows+`[`+text(`"SELECT newer"`)+
			`]; return r.innerText.includes('failed') && r.innerText.includes('No field named newer'); })()`) {
			t.Error("it does not say why a statement failed")
		}
		p.shot("status-slow")
		eval[bool](p, `(() => { `+rows+`[`+text(`"vector(7)"`)+`].querySelector('button').click(); return true; })()`)
		p.wait("the statement in the editor",
			`new URLSearchParams(location.hash.slice(1)).get('sql') === "TQL EVAL (60, 120, '30000ms') vector(7)"`)
		p.button("Run")
		p.wait("its rows", `document.querySelectorAll('.grid-row').length === 3`)
	})
	t.Run("nothing slow", func(t *testing.T) {
		p := open(t, start(t), "/dashboard/status#tab=queries")
		p.wait("that there is none",
			`document.querySelector('.status').innerText.includes('No statement took 10s or longer.')`)
	})
	for _, c := range []struct{ name, setting, says string }{
		{"off", "slow_query.enable=false", "set slow_query.enable = true in the configuration"},
		{"lines", "slow_query.record_type=log", "are lines of the server's log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, start(t, "--set", c.setting), "/dashboard/status#tab=queries")
			p.wait("the sentence", `document.querySelector('.status').innerText.includes(`+quoteJSON(c.says)+`)`)
		})
	}
}
