//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// alertmanager starts a real Alertmanager and returns its address; empty: there is no such program.
func alertmanager(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		if os.Getenv("VARVE_NEED_ALERTMANAGER") != "" {
			t.Fatal(err)
		}
		t.Log("there is no prometheus-alertmanager: silences are not looked at")
		return ""
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "am.yml")
	text := "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c := exec.Command(path, "--config.file="+config, "--storage.path="+dir, "--web.listen-address=127.0.0.1:0",
		"--cluster.listen-address=")
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill() //nolint:errcheck // it may have ended
		c.Wait()         //nolint:errcheck // it was killed
	})
	listens := regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)`)
	for end := time.Now().Add(patience); ; {
		text, err := os.ReadFile(said.Name())
		if err != nil {
			t.Fatal(err)
		}
		if m := listens.FindSubmatch(text); m != nil {
			return "http://" + string(m[1])
		}
		if time.Now().After(end) {
			t.Fatalf("the Alertmanager does not listen:\n%s", text)
		}
	}
}

const realRules = `groups:
- name: real
  interval: 200ms
  rules:
  - {alert: Warm, expr: room_temperature > 25, labels: {severity: page}, annotations: {summary: "{{ $value }} degrees"}}
  - {alert: Waits, expr: room_temperature > 20, for: 1h}
  - {alert: Broken, expr: room_temperature * on () group_left () room_temperature > 0}
  - {record: "room:max", expr: max(room_temperature)}
`

// TestAlertsOfRealRules: rules that the server evaluates in a database of their own are shown as they are: firing,
// pending, failing, resolved, with their values and their history; an alert is silenced from its row in a real
// Alertmanager, and is told of again when the silence is expired.
func TestAlertsOfRealRules(t *testing.T) {
	t.Parallel()
	manager := alertmanager(t)
	file := filepath.Join(t.TempDir(), "real.yml")
	if err := os.WriteFile(file, []byte(realRules), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--set", "rules.files=" + file, "--set", "rules.db=ops"}
	if manager != "" {
		args = append(args, "--set", "rules.alertmanagers="+manager)
	}
	s := start(t, args...)
	s.sql(t, "CREATE DATABASE ops")
	put := func(a, b float64) {
		t.Helper()
		body := fmt.Sprintf("room_temperature,room=a value=%v\nroom_temperature,room=b value=%v", a, b)
		answer, err := http.Post(s.url+"/v1/lineproto/write?db=ops", "", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != 204 {
			t.Fatalf("the write is answered %s", answer.Status)
		}
	}
	put(30, 21)
	p := open(t, s, "/dashboard/alerts#r=real%2FWarm&from=now-5m")
	p.wait("what is so",
		`document.querySelector('.summary')?.innerText === '1 alert firing, 2 alerts pending, 1 rule failing'`)
	states := `[...document.querySelectorAll('.rule')].map((r) => r.querySelector('.alert-state').innerText + ' ' +
		r.querySelector('b').innerText + (r.querySelector('.badge.bad') ? ' failing' : '')).join()`
	p.wait("the rules", states+` === 'firing Warm,pending Waits,inactive Broken failing,recording room:max'`)
	p.wait("its alert", `document.querySelector('.rule-details tbody')?.innerText.includes('30 degrees')`)
	p.wait("its history, of the database of the rules",
		`document.querySelector('.rule-details .alert-history .strip rect.firing') &&
			document.querySelector('.rule > .strip rect.firing')`)
	p.wait("its values", `document.querySelector('.rule-details .alert-values canvas')`)
	if manager != "" {
		silenceOne(t, p)
	}
	put(10, 21)
	p.wait("that it is resolved",
		`document.querySelector('.summary').innerText.startsWith('Nothing fires, 1 alert pending')`)
	p.wait("the rules", states+` === 'inactive Warm,pending Waits,inactive Broken failing,recording room:max'`)
	p.wait("that its history stays", `document.querySelector('.rule-details .alert-history .strip rect.firing')`)

	p.visit("/dashboard/status")
	p.wait("the line of the rules", `[...document.querySelectorAll('.status .figure')].some((f) =>
		f.innerText.replace(/\s+/g, ' ').startsWith('Failing 1')) &&
		[...document.querySelectorAll('.status .figure')].some((f) =>
		f.innerText.replace(/\s+/g, ' ') === 'Rules 4 in 1 group')`)
}

// silenceOne silences the alert of an opened rule from its row, and expires the silence.
func silenceOne(t *testing.T, p *page) {
	t.Helper()
	p.wait("the button", `document.querySelector('.rule-details tbody button')`)
	eval[bool](p, `document.querySelector('.rule-details tbody button').click() ?? true`)
	p.wait("its labels", `document.querySelector('.make input')?.value === 'alertname="Warm", room="a", severity="page"'`)
	for _, c := range []struct{ field, text, want string }{
		{"2h", "soon", "Say why.|A time is written"}, {"2h", "30m", "Say why."},
		{"alertname", `alertname="Warm`, "Conditions are written"}, {"alertname", `alertname=~"War.*"`, "Say why."},
	} {
		p.fill(fmt.Sprintf(".make input[placeholder^='%s']", c.field), c.text)
		p.wait(c.want, fmt.Sprintf(`/%s/.test(document.querySelector('.make .actions').innerText)`, c.want))
	}
	p.fill(".make input[placeholder='the disk is replaced']", "the window is open")
	p.quiet()
	p.accessible(t, "a silence that is made", "")
	p.shot("alerts-silence")
	eval[bool](p, `[...document.querySelectorAll('.make button')].find((b) => b.innerText === 'Silence').click() ?? true`)
	p.said("The alerts are silenced")
	p.wait("the silence",
		`/in force[^]*alertname=~"War\.\*"[^]*the window is open/
			.test(document.querySelector('.silences')?.innerText)`)
	p.wait("that its alert is silenced",
		`document.querySelector('.summary').innerText.startsWith('1 alert firing, 1 silenced') &&
		document.querySelector('.rule-details tbody .badge')?.innerText === 'silenced' &&
		document.querySelector('.rule .badge').innerText === 'silenced'`)
	for _, width := range []int64{1280, 380} {
		p.size(width, 800)
		p.quiet()
		p.accessible(t, "silences", "")
		for _, lost := range eval[[]string](p, outOfReach) {
			t.Errorf("%d px: out of reach: %s", width, lost)
		}
	}
	p.size(1280, 800)
	eval[bool](p, `[...document.querySelectorAll('.silences button')].find((b) => b.innerText === 'Expire')
		.click() ?? true`)
	p.wait("the question", `document.querySelector('dialog')?.innerText.includes('Expire the silence')`)
	eval[bool](p, `[...document.querySelectorAll('dialog button')].find((b) => b.innerText === 'Expire').click() ?? true`)
	p.said("The silence has ended")
	p.wait("that nothing is silenced", `!document.querySelector('.silences') &&
		!document.querySelector('.rule .badge:not(.bad)')`)
}

// TestLogsMakeRule: what the Logs page looks at becomes a rule, which is tried over the last day before it is saved.
func TestLogsMakeRule(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(50, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&q=level%3Aerror")
	p.wait("the rows", `document.querySelector('.grid')`)
	p.quiet()
	p.click(`button[aria-label="More"]`)
	p.wait("the menu",
		`[...document.querySelectorAll('[role=menuitem]')].some((b) => b.innerText.includes('Make a rule'))`)
	eval[bool](p, `[...document.querySelectorAll('[role=menuitem]')]
		.find((b) => b.innerText.includes('Make a rule')).click() ?? true`)
	p.wait("the statement", `location.pathname.endsWith('/alerts') &&
		document.querySelector('.make textarea')?.value.includes(":to - INTERVAL '5 minutes'") &&
		document.querySelector('.make textarea').value.includes('level')`)
	p.wait("the trial", `document.querySelector('.make .trial')?.innerText.includes('over the last day') &&
		document.querySelector('.make .trial b')`)
	p.fill(".make input[placeholder=ManyErrors]", "LogErrors")
	p.button("Save")
	p.said("LogErrors is evaluated")
	p.wait("the rule", `[...document.querySelectorAll('.rule.open b')].some((b) => b.innerText === 'LogErrors')`)
}
