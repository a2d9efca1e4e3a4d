//go:build dashboard && browser

package dashboard

import "testing"

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

// TestCancelledSaysSo: where the Cancel of the frame ended what a page waits for, it says so, and the next run gives an answer.
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
