//go:build dashboard && browser

package dashboard

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// ruleDocuments answers in place of the server what keeps documents of rules: window.kept by name, window.tried the
// documents that were tried. A trial of "wrong" is refused.
const ruleDocuments = `(() => {
	const real = window.fetch;
	window.kept = {};
	window.tried = [];
	const answer = (data, status = 200) => new Response(JSON.stringify(data), { status, headers: { 'Content-Type': 'application/json' } });
	window.fetch = async (url, how) => {
		const path = new URL(url, location.href).pathname, name = decodeURIComponent(path.split('/v1/rules/')[1] ?? '');
		if (path.endsWith('/v1/session')) {
			const s = await (await real(url, how)).json();
			return answer({ ...s, features: [...s.features ?? [], 'rules'] });
		}
		if (path.endsWith('/v1/rules/try')) {
			window.tried.push(how.body);
			if (how.body.includes('wrong')) return answer({ error: 'rule "Trial": parse error', code: 1004 }, 400);
			const to = 1795836000, from = to - 86400, step = 60;
			return answer({ from, to, step, left_out: 0, series: [{ labels: { alertname: 'X', host: 'a' },
				states: [{ state: 'pending', from: from + 600, to: from + 840 }, { state: 'firing', from: from + 900, to: from + 1440 }],
				points: Array.from({ length: 15 }, (_, i) => [from + 600 + i * 60, String(i)]) }] });
		}
		if (path.includes('/metricsapi/')) return real(url, how);
		if (path.endsWith('/v1/rules')) return answer({ rules: Object.keys(window.kept).map((name) => ({ name })) });
		if (name && how.method === 'PUT') {
			window.kept[name] = how.body;
			const { name: group, rules: [r] } = JSON.parse(how.body).groups[0];
			window.groups.push({ name: group, file: 'document:' + name, document: name, interval: 60, evaluationTime: 0, lastEvaluation: '0001-01-01T00:00:00Z', rules: [{ name: r.alert, query: r.expr, language: r.language ?? 'promql', type: 'alerting', state: 'inactive', health: 'unknown', duration: 120, evaluationTime: 0, lastEvaluation: '0001-01-01T00:00:00Z', labels: r.labels ?? {}, annotations: r.annotations ?? {}, alerts: [] }] });
			return answer({ rules: [{ name }] });
		}
		if (name && how.method === 'GET') return answer({ rules: [{ name, definition: window.kept[name] }] });
		if (name && how.method === 'DELETE') {
			delete window.kept[name];
			window.groups = window.groups.filter((g) => g.document !== name);
			return answer({ rules: [{ name }] });
		}
		return real(url, how);
	};
})()`

// TestAlertsMake: from an expression on Metrics a rule is made: it is tried over the last day as it is typed, says what
// is wrong, is saved, changed and removed. What stood under its name is replaced after a question only.
func TestAlertsMake(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := open(t, s, "/dashboard/metrics#q=room_temperature+%3E+25", ruleAnswers, ruleDocuments)
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.button("Rule")
	p.wait("its expression", `location.pathname.endsWith('/alerts') &&
		document.querySelector('.make textarea')?.value === 'room_temperature > 25'`)
	p.wait("the trial", `document.querySelector('.make .trial')?.innerText.includes(
		'It would have fired 1 time over the last day, for 10m in all') && document.querySelector('.make .strip rect.firing')`)
	if !eval[bool](p, `[...document.querySelectorAll('.make button')].find((b) => b.innerText === 'Save').disabled`) {
		t.Error("it can be saved without a name")
	}
	p.allow("status of 400")
	p.fill(".make textarea", "wrong(")
	p.wait("what is wrong", `document.querySelector('.make .error')?.innerText.includes('parse error')`)
	p.fill(".make textarea", "room_temperature > 26")
	p.fill(".make input[placeholder=ManyErrors]", "Warm")
	p.fill(".make input[placeholder='at once']", "2m")
	p.fill(".make input[placeholder='severity=page']", "severity")
	p.wait("how labels are written", `document.querySelector('.make').innerText.includes('Labels are written a=b')`)
	p.fill(".make input[placeholder='severity=page']", `severity=page, team="shop"`)
	p.fill(".make input[placeholder^='{{']", "{{ $value }} is warm")
	p.wait("the trial", `document.querySelector('.make .strip rect.firing') && !document.querySelector('.make .stale')`)
	p.quiet()
	p.shot("alerts-make")
	p.button("Save")
	p.said("Warm is evaluated")
	p.wait("the rule, opened", `!document.querySelector('.make') && [...document.querySelectorAll('.rule.open b')]
		.some((b) => b.innerText === 'Warm')`)
	var kept struct {
		Groups []struct {
			Name, Interval string
			Rules          []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	text := eval[string](p, `kept.Warm`)
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	g := kept.Groups[0]
	if r := g.Rules[0]; g.Name != "Warm" || g.Interval != "1m" || r.Alert != "Warm" ||
		r.Expr != "room_temperature > 26" || r.For != "2m" || r.Labels["severity"] != "page" ||
		r.Labels["team"] != "shop" || r.Annotations["summary"] != "{{ $value }} is warm" {
		t.Errorf("it kept %s", text)
	}

	const press = `[...document.querySelectorAll('.rule-group')].at(-1)
		.querySelector('.acts button%s').click() ?? true`
	eval[bool](p, `(window.whole = kept.Warm, kept.Warm = kept.Warm.replace('"for"', '"keep_firing_for"')) !== ''`)
	eval[bool](p, fmt.Sprintf(press, ""))
	p.said("Warm holds more than this page can write")
	eval[bool](p, `(kept.Warm = whole) !== ''`)
	eval[bool](p, fmt.Sprintf(press, ""))
	p.wait("its fields", `document.querySelector('.make textarea').value === 'room_temperature > 26' &&
		document.querySelector('.make input[placeholder="at once"]').value === '2m' &&
		document.querySelector('.make input[placeholder="severity=page"]').value === 'severity=page, team=shop'`)
	p.fill(".make textarea", "room_temperature > 27")
	p.button("Save")
	p.wait("the question", `document.querySelector('dialog')?.innerText.includes('Replace Warm')`)
	eval[bool](p, `groups.pop() !== null`)
	p.button("Replace")
	p.wait("that it is replaced", `kept.Warm.includes('> 27') && !document.querySelector('.make')`)
	p.quiet()
	eval[bool](p, fmt.Sprintf(press, ":last-child"))
	p.wait("the question", `document.querySelector('dialog')?.innerText.includes('Remove Warm')`)
	eval[bool](p, `[...document.querySelectorAll('dialog button')].find((b) => b.innerText === 'Remove').click() ?? true`)
	p.wait("that it is gone", `!kept.Warm && ![...document.querySelectorAll('.rule b')].some((b) => b.innerText === 'Warm')`)
}

// TestAlertsMakeSQL: a statement of the SQL page becomes a rule that sees the range of its evaluation; a reader may try
// it and not save it.
func TestAlertsMakeSQL(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	p := openSQLWith(t, s, "SELECT host, count(*) AS value FROM app WHERE ts >= $from GROUP BY host", ruleAnswers,
		ruleDocuments)
	p.button("Rule")
	p.wait("the statement", `document.querySelector('.make textarea')?.value ===
		'SELECT host, count(*) AS value FROM app WHERE ts >= :from GROUP BY host'`)
	p.wait("that it is tried as SQL", `tried.some((d) => JSON.parse(d).groups[0].rules[0].language === 'sql')`)
	for _, width := range []int64{1280, 380} {
		p.size(width, 800)
		p.quiet()
		p.accessible(t, "a rule that is made", "")
		for _, lost := range eval[[]string](p, outOfReach) {
			t.Errorf("%d px: out of reach: %s", width, lost)
		}
		if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%d px wide at %d", wide, width)
		}
	}
	p.shot("alerts-make-380")
	eval[bool](p, `import(new URL('./core/state.js', document.querySelector('script[type=module]').src))
		.then((m) => { m.session.value = { ...m.session.value, mode: 'ro' }; return true; })`)
	p.wait("that saving is closed with the reason",
		`[...document.querySelectorAll('.make button')].find((b) => b.innerText === 'Save').title === 'Your user is read-only.'`)
}
