//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestLogsLogQL: the search may be written in the language of log queries; bars, total and rows are all of that query.
func TestLogsLogQL(t *testing.T) {
	t.Parallel()
	s := start(t)
	var values []string
	begin := time.Now().Add(-50 * time.Minute)
	for i := range 1200 {
		level := []string{"info", "warn", "error"}[i%3]
		at := begin.Add(time.Duration(i) * 2 * time.Second)
		values = append(values, fmt.Sprintf(`["%d","level=%s n=%d <b>"]`, at.UnixNano(), level, i))
	}
	resp, err := http.Post(s.url+"/loki/api/v1/push", "application/json",
		strings.NewReader(`{"streams":[{"stream":{"app":"shop"},"values":[`+strings.Join(values, ",")+`]}]}`))
	if err != nil || resp.StatusCode != 204 {
		t.Fatalf("the push: %v %v", resp, err)
	}
	resp.Body.Close()
	p := logsAt(t, s, "t=loki_logs&from=now-1h")
	p.button("LogQL")
	p.figures()
	if got := eval[string](p, `document.querySelector('#logs-search').value`); got != `{service_table="loki_logs"}` {
		t.Errorf("the query begins as %s", got)
	}
	for _, c := range []struct {
		query, total, first string
		loaded              int
	}{
		{`{app="shop"}`, "1200", "level=error n=1199 <b>", 500},
		{`{app="shop"} |= "error"`, "400", "level=error n=1199 <b>", 400},
		{`{app="shop"} | logfmt | n >= 100 | level="info" # a comment`, "366", "level=info n=1197 <b>", 366},
		{`{app="shop"} | json | line_format "{{.app}}!"`, "1200", "shop!", 500},
		{`{app="nobody"}`, "0", "", 0},
	} {
		p.fill("#logs-search", c.query)
		p.press(kb.Enter)
		p.wait("the run of "+c.query, fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get('lq') === %q`, c.query))
		p.figures()
		if got := total(p); got != c.total {
			t.Errorf("%s: %s rows, want %s", c.query, got, c.total)
		}
		if c.loaded > 0 { // without lines there are no bars
			if got := p.sumOfBars(); got != c.total {
				t.Errorf("%s: the bars have %s rows, want %s", c.query, got, c.total)
			}
		}
		rows := eval[[]string](p, `[...document.querySelectorAll('.logql-lines summary .text')].map((e) => e.innerText)`)
		if len(rows) != c.loaded || len(rows) > 0 && rows[0] != c.first {
			t.Errorf("%s: %d lines, the first is %.60q", c.query, len(rows), strings.Join(rows[:min(1, len(rows))], ""))
		}
	}
	p.fill("#logs-search", `{app="shop"}`)
	p.press(kb.Enter)
	p.figures()
	p.click(".logql-lines summary")
	p.wait("the labels of the line", `/detected_level\s+error/.test(document.querySelector('.logql-lines dl')?.innerText)`)
	p.button("Load up to 5,000 lines")
	p.wait("all lines", `document.querySelectorAll('.logql-lines summary').length === 1200`)

	p.allow("status of 400")
	for _, c := range []struct{ query, want string }{
		{`{app="shop"} |= `, `parse error at line 1, col 17: syntax error: unexpected $end`},
		{`sum(rate({app="shop"}[1m]))`, `This query gives numbers`},
	} {
		p.fill("#logs-search", c.query)
		p.press(kb.Enter)
		p.wait("the error of "+c.query, fmt.Sprintf(
			`document.querySelector('.error[role=alert] .text')?.innerText.startsWith(%q)`, c.want))
	}
	p.fill("#logs-search", `{app="shop"`)
	p.press(kb.Enter)
	p.wait("the query with a mark", `document.querySelector('.error[role=alert] pre')?.innerText.startsWith('{app="shop"')`)
	p.button("Back to search")
	p.figures()
	if got := total(p); got != "1200" {
		t.Errorf("the page of rows has %s rows", got)
	}
}
