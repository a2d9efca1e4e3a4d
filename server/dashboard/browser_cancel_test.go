//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
)

// unanswered keeps requests that say window.hold from being answered, until they are given up.
const unanswered = `(() => {
	const real = window.fetch;
	window.hold = '';
	window.fetch = (what, how) => {
		const said = decodeURIComponent(String(how?.body ?? '')) + what;
		if (!window.hold || !said.includes(window.hold)) return real(what, how);
		return new Promise((_, reject) => how.signal.addEventListener('abort', () => reject(how.signal.reason), { once: true }));
	};
})()`

// TestCancelledSaysSo: where the Cancel of the frame ended what a page waits for, it says so, and the next run gives an
// answer.
func TestCancelledSaysSo(t *testing.T) {
	t.Parallel()
	s := shop(t)
	for _, one := range []struct{ path, hold, again, ready string }{
		{"logs#t=app", "LIMIT+500", "Run", `document.querySelector('.grid-row')`},
		{"metrics#q=http_requests_total", "query_range", "Run", `document.querySelector('.chart canvas')`},
		{"traces", "SELECT+trace_id", "Run", `document.querySelector('.traces-list tbody tr')`},
		{"traces#view=operations", "approx_percentile_cont", "Run", `document.querySelector('.operations tbody tr')`},
		{"traces#view=map", "approx_percentile_cont", "Run", `document.querySelector('.traces-map')`},
		{"traces#id=" + traceID(0), traceID(0), "Try again", `document.querySelector('.waterfall .operation')`},
	} {
		t.Run(one.path, func(t *testing.T) {
			p := open(t, s, "/dashboard/ingest", unanswered+`; window.hold = `+quoteJSON(one.hold))
			p.visit("/dashboard/" + one.path)
			p.click(".waiting button")
			p.wait("that it says so", `document.querySelector('.error[role=alert]')?.innerText.includes('Cancelled.')`)
			eval[bool](p, `(window.hold = '') === ''`)
			p.button(one.again)
			p.wait("the answer", one.ready+` && !document.querySelector('.error')`)
		})
	}
}

// TestCancelledParts: so do the parts of pages, which keep what they had and can be asked again.
func TestCancelledParts(t *testing.T) {
	t.Parallel()
	s := shop(t)
	t.Run("context", func(t *testing.T) {
		p := open(t, s, "/dashboard/logs#t=app", unanswered)
		p.shown("logs")
		eval[bool](p, `(window.hold = '"ts"+=+') !== ''`)
		p.click(".grid-row[data-row='3'] .grid-cell")
		p.wait("the drawer", `document.querySelector('table.fields')`)
		p.press("]")
		p.press("]")
		p.click(".waiting button")
		p.wait("that it says so",
			`document.querySelector('.drawer .error[role=alert]')?.innerText.includes('Cancelled.')`)
		eval[bool](p, `(window.hold = '') === ''`)
		p.button("50 later")
		p.wait("the rows",
			`document.querySelector('.drawer .grid-row.origin') && !document.querySelector('.drawer .error')`)
	})
	t.Run("pipeline", func(t *testing.T) {
		p := open(t, s, "/dashboard/ingest", unanswered+`; window.hold = '/v1/pipelines/shop'`)
		p.visit("/dashboard/pipelines#name=shop&s=info%20hello")
		p.click(".waiting button")
		p.wait("that it says so", `document.querySelector('.error[role=alert]')?.innerText.includes('Cancelled.')`)
	})
	t.Run("dry run", func(t *testing.T) {
		p := open(t, s, "/dashboard/ingest#t=app", unanswered)
		p.wait("the box", `document.querySelector('.try textarea')`)
		p.fill(".try textarea", `{"message":"hello"}`)
		eval[bool](p, `(window.hold = '/dryrun') !== ''`)
		p.button("Dry run")
		p.named("its Cancel", ".try [role=status] button", `e.innerText === 'Cancel'`)
		p.wait("that it says so",
			`document.querySelector('.try .error')?.innerText.includes('Cancelled.') &&
				!document.querySelector('.try [role=status] button')`)
		eval[bool](p, `(window.hold = '') === ''`)
		p.button("Dry run")
		p.wait("the rows",
			`document.querySelectorAll('.dry tbody tr').length === 1 && !document.querySelector('.try .error')`)
	})
	t.Run("sending", func(t *testing.T) {
		p := open(t, s, "/dashboard/ingest#t=pieces", unanswered+`; window.hold = '"the last"'`)
		p.wait("the box", `document.querySelector('.try textarea')`)
		line := `{"message":"` + strings.Repeat("x", 100_000) + `"}` + "\n"
		eval[bool](p,
			fmt.Sprintf(
				`(() => { const box = document.querySelector('.try textarea');
					box.value = %s.repeat(50) + '{"message":"the last"}';
					return box.dispatchEvent(new Event('input', { bubbles: true })); })()`, quoteJSON(line)))
		p.button("Send")
		p.wait("the second piece",
			`document.querySelector('.try [role=status]')?.innerText.startsWith('Sending 1 of 2')`)
		p.named("its Cancel", ".try [role=status] button", `e.innerText === 'Cancel'`)
		stored := s.sql(t, "SELECT count(*) FROM pieces")
		p.wait("what is stored",
			fmt.Sprintf(
				`document.querySelector('.try .error')?.innerText.includes('Cancelled. (the first %v lines are stored)')`, stored[0][0]))
	})
}
