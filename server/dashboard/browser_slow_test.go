//go:build dashboard && browser

package dashboard

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// slow makes every page that many times slower, and its answers late by a random time: what hides on a quick machine
// shows. The bounds of time hold without it.
var slow = flag.Float64("slow", 1, "how many times slower pages are; answers come late then, too")

// lateAnswers holds each answer up to a third of a second for each time that a page is slower, most of them for less:
// they also come in another order. What is given up meanwhile is given up at once.
const lateAnswers = `(() => {
	const real = window.fetch;
	const late = (signal) => new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, 333 * %g * Math.random() ** 3);
		signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
	});
	window.fetch = async (what, how) => {
		const answer = await real(what, how);
		await late(how?.signal);
		return answer;
	};
})()`

// slowed tells whether pages are slower than the machine makes them: bounds of time say nothing then.
func slowed() bool { return *slow > 1 }

// slowDown makes a page as slow as the flag says.
func (p *page) slowDown() {
	p.t.Helper()
	if !slowed() {
		return
	}
	p.before(fmt.Sprintf(lateAnswers, *slow))
	if _, err := chromedp.Call(p.ctx, emulation.SetCPUThrottlingRate,
		emulation.SetCPUThrottlingRateParams{Rate: *slow}); err != nil {
		p.t.Fatal(err)
	}
	// Files come late as well, one after the other where one asks for the next.
	late := &network.Conditions{Latency: 20 * *slow, DownloadThroughput: -1, UploadThroughput: -1}
	files := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{late}}
	if _, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule, files); err != nil {
		p.t.Fatal(err)
	}
}

// TestTabFitsTheText: what Tab takes fits what is typed, however late the offers come: those shown may be for the text
// before. Letters and Tab are one task of the page here, so that no answer comes between.
func TestTabFitsTheText(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/status", fmt.Sprintf(lateAnswers, max(*slow, 3)))
	for _, c := range []struct{ name, page, box, first, then, want string }{
		{"a field of spans", "traces", "#traces-search", "r", "out", "span_attributes.http.route:"},
		{"a field of log lines", "logs#t=app", "#logs-search", "e", "rvic", "service:"},
		{"values in place of fields", "logs#t=app", "#logs-search", "servic", "e:", "service:web"},
		{"another value", "logs#t=app", "#logs-search", "service:", "sto", "service:stock"},
		{"no offer fits", "logs#t=app", "#logs-search", "servic", "xyz", "servicxyz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.anew(t, "/dashboard/"+c.page)
			p.wait("the page", fmt.Sprintf(`document.querySelector(%q)`, c.box))
			p.quiet()
			eval[bool](p, fmt.Sprintf(
				`document.querySelector(%q).focus() ?? document.execCommand('insertText', false, %q)`, c.box, c.first))
			p.wait("offers", `document.querySelector('.offers li')`)
			p.quiet()
			eval[bool](p,
				fmt.Sprintf(
					`document.execCommand('insertText', false, %q) &&
						(document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true })) ||
						true)`, c.then))
			p.wait("what was typed is completed", fmt.Sprintf(`document.querySelector(%q).value === %q`, c.box, c.want))
			p.quiet()
			if got := eval[string](p, fmt.Sprintf(`document.querySelector(%q).value`, c.box)); got != c.want {
				t.Errorf("in the end the text is %q, want %q", got, c.want)
			}
		})
	}
}
