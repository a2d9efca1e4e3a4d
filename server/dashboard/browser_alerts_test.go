//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// ruleAnswers answers in place of the server what rules there are, window.rules(groups), and when their alerts were
// pending and fired. window.calm: nothing does.
const ruleAnswers = `(() => {
	const now = Date.now(), time = (ms) => new Date(now - ms).toISOString(), real = window.fetch;
	window.calm = location.hash.includes('calm=1');
	window.elsewhere = location.hash.includes('elsewhere=1');
	window.asked = [];
	const rule = (name, query, more) => ({ name, query, labels: {}, health: 'ok', evaluationTime: 0.0031, lastEvaluation: time(12_000), type: 'alerting', state: 'inactive', duration: 300, keepFiringFor: 0, annotations: {}, alerts: [], ...more });
	const alert = (state, labels, value, ms, summary) => ({ state, labels: { alertname: 'ManyErrors', severity: 'page', ...labels }, value, activeAt: time(ms), annotations: { summary } });
	window.groups = [
		{ name: 'shop', file: '/etc/varve/rules/shop.yml', interval: 60, evaluationTime: 0.0123, lastEvaluation: time(12_000), missed: 2, rules: [
			rule('ManyErrors', 'sum by (service) (rate(http_requests_total{code=~"5.."}[5m])) > 1', { state: window.calm ? 'inactive' : 'firing', labels: { severity: 'page' }, annotations: { summary: '{{ $value }} errors a second', runbook: 'https://example.org/run' },
				alerts: window.calm ? [] : [alert('pending', { service: 'cart' }, '1.25e+00', 60_000, '1.25 errors a second'), alert('firing', { service: 'web' }, '7e+00', 900_000, '7 <b>errors</b> a second')] }),
			rule('SlowAnswers', 'histogram_quantile(0.99, http_seconds) > 2', { state: window.calm ? 'inactive' : 'pending', alerts: window.calm ? [] : [{ state: 'pending', labels: { alertname: 'SlowAnswers' }, value: '2.5', activeAt: time(30_000), annotations: {} }] }),
			rule('Quiet', 'up == 0'),
			rule('shop:errors', 'sum(rate(http_requests_total[5m]))', { type: 'recording', state: undefined, alerts: undefined, labels: { team: 'shop' } }),
		] },
		{ name: 'billing', file: 'document: billing', document: 'billing', interval: 300, evaluationTime: 0, lastEvaluation: '0001-01-01T00:00:00Z', missed: 0, rules: [
			rule('Unpaid', "SELECT shop, count(*) AS value FROM orders WHERE ts >= :from AND ts < :to AND state = 'a :to' GROUP BY 1", { language: 'sql', lastEvaluation: '0001-01-01T00:00:00Z', evaluationTime: 0 }),
			rule('Broken', 'nosuch(', { health: window.calm ? 'ok' : 'err', lastError: window.calm ? '' : 'parse <i>error</i>' }),
		] },
	];
	const answer = (data) => new Response(JSON.stringify({ status: 'success', data }), { headers: { 'Content-Type': 'application/json' } });
	window.fetch = async (url, how) => {
		if (/api\/v1\/rules/.test(url)) return window.refused ? new Response('{"error":"no"}', { status: 500 }) : answer({ groups: window.groups });
		if (/v1\/rules\/try/.test(url)) {
			const [from, to] = ['from', 'to'].map((k) => Number(new URL(url, location.href).searchParams.get(k)));
			window.tried = { from, to, of: JSON.parse(how.body) };
			const step = (to - from) / 10;
			return new Response(JSON.stringify({ from, to, step, left_out: window.calm ? 0 : 3, series: window.calm ? [] : [{ labels: { alertname: 'Unpaid', shop: 'north <b>' }, states: [], points: [[from, '3'], [from + step, '4'], [to, '5']] }] }), { headers: { 'Content-Type': 'application/json' } });
		}
		if (!/query_range/.test(url)) return real(url, how);
		const form = new URLSearchParams(how.body), query = form.get('query'), [start, end, step] = ['start', 'end', 'step'].map((k) => Number(form.get(k)));
		window.asked.push(query);
		const places = Math.round((end - start) / step) + 1;
		const series = (metric, from, to, value = '1') => ({ metric, values: Array.from({ length: places }, (_, i) => [start + i * step, value]).slice(Math.floor(places * from), Math.ceil(places * to)) });
		if (!query.includes('ALERTS')) return answer({ resultType: 'matrix', result: [series({ service: 'web' }, 0.5, 1, '7'), series({ service: 'cart' }, 0.9, 1, '1.25')] });
		if (window.calm || window.elsewhere || /alertname="(?!ManyErrors)/.test(query)) return answer({ resultType: 'matrix', result: [] });
		if (query.startsWith('count by')) return answer({ resultType: 'matrix', result: [series({ alertname: 'ManyErrors', alertstate: 'firing' }, 0.5, 1), series({ alertname: 'ManyErrors', alertstate: 'pending' }, 0.4, 1), series({ alertname: 'SlowAnswers', alertstate: 'pending' }, 0.95, 1)] });
		const of = (service, alertstate) => ({ __name__: 'ALERTS', alertname: 'ManyErrors', severity: 'page', service, alertstate });
		return answer({ resultType: 'matrix', result: [series(of('web', 'pending'), 0.4, 0.5), series(of('web', 'firing'), 0.5, 1), series(of('cart', 'pending'), 0.9, 1)] });
	};
})()`

// alertsAt opens the page Alerts with answers made for it.
func alertsAt(t *testing.T, s *server, state string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/alerts#"+state, ruleAnswers)
	p.wait("the rules", `document.querySelector('.rule')`)
	p.quiet()
	return p
}

// TestAlerts: the page lists groups and rules with their states, finds and filters them, and opens a rule with
// everything that it is and did.
func TestAlerts(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := alertsAt(t, s, "")
	if got := p.text(".summary"); got != "1 alert firing, 2 alerts pending, 1 rule failing" {
		t.Errorf("the summary is %q", got)
	}
	rules := `[...document.querySelectorAll('.rule b')].map((e) => e.innerText).join()`
	if got := eval[string](p, rules); got != "ManyErrors,SlowAnswers,Quiet,shop:errors,Unpaid,Broken" {
		t.Errorf("the rules are %s", got)
	}
	if got := p.text(".rule-group h2"); !strings.Contains(got, "/etc/varve/rules/shop.yml · every 1m ·") ||
		!strings.Contains(got, "took 12 ms") || !strings.Contains(got, "2 evaluations left out") {
		t.Errorf("the first group says %q", got)
	}
	if got := eval[string](p,
		`document.querySelectorAll('.rule-group h2')[1].innerText`); !strings.Contains(got, "not evaluated yet") {
		t.Errorf("the second group says %q", got)
	}
	p.shot("alerts")

	for _, c := range []struct{ kind, want string }{{"Firing 1", "ManyErrors"}, {"Pending 1", "SlowAnswers"},
		{"Failing 1", "Broken"}, {"Inactive 3", "Quiet,Unpaid,Broken"}, {"Recording 1", "shop:errors"}} {
		eval[bool](p, fmt.Sprintf(
			`(() => { [...document.querySelectorAll('.kinds button')]
				.find((b) => b.innerText.replace(/\s+/g, ' ') === %q).click(); return true; })()`, c.kind))
		p.wait(c.kind, fmt.Sprintf(`%s === %q`, rules, c.want))
	}
	eval[bool](p, `history.back() ?? true`) // a filter is a step
	p.wait("the filter before", rules+` === 'Quiet,Unpaid,Broken'`)
	eval[bool](p, `document.querySelector('.kinds button').click() ?? true`)
	p.wait("all", rules+`.split(',').length === 6`)
	for _, c := range []struct{ typed, want string }{{"shop 5..", "ManyErrors"}, {"service=WEB", "ManyErrors"},
		{"billing sele", "Unpaid"}, {"team=shop", "shop:errors"}, {"nothing is called so", ""}} {
		p.fill(".toolbar input[type=search]", c.typed)
		p.wait(c.typed, fmt.Sprintf(`%s === %q`, rules, c.want))
	}
	p.wait("a word for it", `document.querySelector('.alerts').innerText.includes('No rule fits.')`)
}

// TestAlertsRule: an opened rule shows its query, texts, alerts with values, and history; what strangers wrote stays
// text. The address holds it.
func TestAlertsRule(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := alertsAt(t, s, "r=shop%2FManyErrors")
	p.wait("its chart", `document.querySelector('.rule-details .chart canvas') &&
		document.querySelectorAll('.alert-history li').length === 2`)
	p.quiet()
	text := p.text(".rule-details")
	for _, part := range []string{`rate(http_requests_total{code=~"5.."}[5m])) > 1`, "severity=page",
		"{{ $value }} errors a second", "https://example.org/run", "7 <b>errors</b> a second", "1.25", "5m",
		"service=web"} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
	if n := eval[int](p, `document.querySelectorAll('.rule-details a, .rule-details td b').length`); n != 0 {
		t.Errorf("%d pieces of text became links or markup", n)
	}
	if got := eval[string](p,
		`[...document.querySelectorAll('.rule-details tbody tr')].map((r) => r.cells[0].innerText + ' ' + r.cells[3].innerText).join()`); got != "firing 7,pending 1.25" {
		t.Errorf("its alerts are %s", got)
	}
	if got := eval[string](p, `document.querySelector('.alert-history svg').ariaLabel ??
		document.querySelector('.alert-history svg').getAttribute('aria-label')`); !strings.Contains(got, "fired ") {
		t.Errorf("its history says %q", got)
	}
	want := `ALERTS{alertname="ManyErrors", severity="page"}`
	if !eval[bool](p, fmt.Sprintf(`asked.some((q) => q.includes(%q) && !q.startsWith('count'))`, want)) {
		t.Errorf("it did not ask for %s, but %s", want, eval[string](p, `asked.join('\n')`))
	}
	p.shot("alerts-rule")
	p.button("Open in Metrics")
	p.wait("the query on Metrics", `location.pathname.endsWith('/metrics') &&
		new URLSearchParams(location.hash.slice(1)).get('q').startsWith('sum by (service)')`)

	q := alertsAt(t, s, "r=billing%2FUnpaid")
	q.wait("the values of a statement", `document.querySelector('.rule-details .chart canvas') &&
		document.querySelector('.rule-details').innerText.includes('Values that meet the condition')`)
	if got := q.text(".rule-details"); !strings.Contains(got, "the highest 1 of 4 series") ||
		!strings.Contains(got, "No alert of this rule was pending or fired") {
		t.Errorf("a rule of SQL says %q", got)
	}
	if got := eval[string](q, `(({ alert, language, for: held, expr }) => [alert, language, held, expr.slice(0, 12)]
		.join())(tried.of.groups[0].rules[0]) + ',' + tried.of.groups[0].interval`); got !=
		"Unpaid,sql,300000ms,SELECT shop,,300000ms" {
		t.Errorf("it tried %s", got)
	}
	if !eval[bool](q, `Math.abs(tried.to - Date.now() / 1000) < 300 && tried.to - tried.from >= 900`) {
		t.Errorf("it tried another range than that of the page: %s", eval[string](q, `JSON.stringify(tried)`))
	}
	q.button("Open in SQL")
	q.wait("the statement on SQL", `location.pathname.endsWith('/sql') &&
		new URLSearchParams(location.hash.slice(1)).get('sql').includes("ts >= $from AND ts < $to AND state = 'a :to'")`)
}

// TestAlertsAgain: the page asks again by itself; what is open and has the focus stays, and when the server refuses,
// what was shown stays with the reason.
func TestAlertsAgain(t *testing.T) {
	t.Parallel()
	p := open(t, start(t), "/dashboard/alerts#r=shop%2FManyErrors", hastened, ruleAnswers)
	p.wait("the rule", `document.querySelectorAll('.rule-details tbody tr').length === 2`)
	p.quiet()
	eval[bool](p, `document.querySelectorAll('.rule > button')[1].focus() ?? true`)
	eval[bool](p, `(groups[0].rules[0].alerts.shift(), true) && elapse()`)
	p.wait("what is so now", `document.querySelector('.summary').innerText.startsWith('1 alert firing, 1 alert pending') &&
		document.querySelectorAll('.rule-details tbody tr').length === 1`)
	if !eval[bool](p, `document.activeElement === document.querySelectorAll('.rule > button')[1]`) {
		t.Error("the focus went elsewhere")
	}
	p.allow("status of 500")
	eval[bool](p, `(refused = true) && elapse()`)
	p.wait("the reason beside the rules",
		`document.querySelector('.alerts > .error')?.innerText.includes('no') && document.querySelectorAll('.rule').length === 6`)
	eval[bool](p, `(refused = false) || elapse()`)
	p.wait("no reason any more", `!document.querySelector('.alerts > .error')`)
}

// TestAlertsByKeys: the keyboard is enough, and letters typed into the search are letters.
func TestAlertsByKeys(t *testing.T) {
	t.Parallel()
	p := alertsAt(t, start(t), "")
	p.press("/")
	p.instead("jk")
	p.wait("letters", `document.activeElement.value === 'jk'`)
	p.fill(".toolbar input[type=search]", "")
	eval[bool](p, `document.activeElement.blur() ?? true`)
	p.press("jj")
	p.wait("the second rule", `document.activeElement.innerText.includes('SlowAnswers')`)
	p.press("k" + kb.Enter)
	p.wait("the first, opened", `document.activeElement.ariaExpanded === 'true' &&
		location.hash.includes('r=shop/ManyErrors')`)
	p.press(kb.Escape)
	p.wait("closed", `!document.querySelector('.rule-details') && document.activeElement.innerText.includes('ManyErrors')`)
}

// TestAlertsCalm: where nothing fires nothing is red; where there are no rules the page says what rules are.
func TestAlertsCalm(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := alertsAt(t, s, "calm=1")
	if got := p.text(".summary"); got != "Nothing fires" {
		t.Errorf("the summary is %q", got)
	}
	for _, theme := range []string{"light", "dark"} {
		p.system(theme)
		p.quiet()
		if red := eval[[]string](p, `(() => {
			const probe = document.body.appendChild(document.createElement('i'));
			probe.style.color = 'var(--bad)';
			const bad = getComputedStyle(probe).color;
			probe.remove();
			return [...document.querySelectorAll('#page *')].filter((e) => ['color', 'backgroundColor', 'fill', 'borderTopColor']
				.some((k) => getComputedStyle(e)[k] === bad)).map((e) => e.outerHTML.slice(0, 120));
		})()`); len(red) > 0 {
			t.Errorf("%s: red: %q", theme, red)
		}
	}
	other := alertsAt(t, s, "elsewhere=1") // the rules write to another database
	if !strings.Contains(other.text(".alerts"), "database public has no alerts") ||
		eval[int](other, `document.querySelectorAll('.strip').length`) != 0 {
		t.Errorf("without a history it says %s", other.text(".alerts"))
	}
	q := open(t, s, "/dashboard/alerts")
	q.wait("what rules are", `document.querySelector('.alerts .state h2')?.innerText === 'There are no rules'`)
}

// TestAlertsFit: the page and an opened rule fit 380 px, are accessible in both themes, and every control is reached.
func TestAlertsFit(t *testing.T) {
	t.Parallel()
	s := start(t)
	axe, _ := os.ReadFile("libsrc/node_modules/axe-core/axe.min.js")
	p := alertsAt(t, s, "r=shop%2FManyErrors")
	for _, width := range []int64{1280, 380} {
		p.size(width, 800)
		for _, theme := range []string{"light", "dark"} {
			p.system(theme)
			p.wait("its chart", `document.querySelector('.rule-details .chart canvas')`)
			p.accessible(t, fmt.Sprintf("alerts, %d px, %s", width, theme), string(axe))
			p.shot(fmt.Sprintf("alerts-%d-%s", width, theme))
		}
		if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%d px wide at %d", wide, width)
		}
		for _, lost := range eval[[]string](p, outOfReach) {
			t.Errorf("%d px: out of reach: %s", width, lost)
		}
	}
}

// TestAlertsMany: of a thousand rules in a hundred groups the page shows some, says so, and is quick to filter.
func TestAlertsMany(t *testing.T) {
	t.Parallel()
	p := alertsAt(t, start(t), "")
	eval[bool](p, `(() => {
		const one = groups[0].rules[2];
		groups = Array.from({ length: 100 }, (_, g) => ({ ...groups[0], name: 'group ' + g,
			rules: Array.from({ length: 10 }, (_, r) => ({ ...one, name: 'Rule' + g + '_' + r })) }));
		return true;
	})()`)
	p.press("r")
	p.wait("some of them", `document.querySelectorAll('.rule').length === 300 &&
		document.querySelector('.alerts').innerText.includes('The first 300 are shown')`)
	p.fill(".toolbar input[type=search]", "Rule99_")
	p.wait("those of the last group", `document.querySelectorAll('.rule').length === 10`)
	began := time.Now()
	p.fill(".toolbar input[type=search]", "Rule9")
	p.wait("more", `document.querySelectorAll('.rule').length === 110`)
	t.Logf("another text is answered after %v", time.Since(began).Round(time.Millisecond))
}
