package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestRulesCheck: files that are right and wrong, with the exit codes of promtool.
func TestRulesCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	twice := write("twice.yml", "groups: [{name: g, rules: [{record: r, expr: x}, {record: r, expr: y}]}]")
	wrong := write("wrong.yml", "groups:\n- name: g\n  rules:\n  - {alert: A, expr: 'x >'}")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"check", "testdata/rules/hosts.yml"}, 0,
			"Checking testdata/rules/hosts.yml\n  SUCCESS: 5 rules found\n"},
		{[]string{"check", twice}, 0, "1 duplicate rule(s) found."},
		{[]string{"check", "--lint-fatal", twice}, 3, "line 1: r"},
		{[]string{"check", wrong, twice}, 1, wrong + `:4: group "g", rule "A": could not parse the expression`},
		{[]string{"check", filepath.Join(dir, "none.yml")}, 1, "no such file"}, {[]string{"check"}, exitUsage, ""},
		{[]string{"test", "testdata/rules/hosts_test.yml"}, 0,
			"Unit Testing:  testdata/rules/hosts_test.yml\n  SUCCESS\n"},
		{[]string{"test", wrong}, 1, "FAILED"},
	} {
		code, out, errs := command(append([]string{"rules"}, c.args...)...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%q: %d\n%s%s\nwant %d and %s", c.args, code, out, errs, c.code, c.want)
		}
	}
}

// unitTests are files of tests with what they say of rules: whether they pass.
var unitTests = []struct {
	name, text string
	passes     bool
}{
	{"a value", "promql_expr_test: [{expr: 'r', eval_time: 1m, exp_samples: [{labels: 'r', value: 2}]}]", true},
	{"another value",
		"promql_expr_test: [{expr: 'r', eval_time: 1m, exp_samples: [{labels: 'r', value: 3}]}]", false},
	{"another label",
		"promql_expr_test: [{expr: 'r', eval_time: 1m, exp_samples: [{labels: 'r{a=\"b\"}', value: 2}]}]", false},
	{"a sample too many", "promql_expr_test: [{expr: 'r', eval_time: 1m}]", false},
	{"nothing", "promql_expr_test: [{expr: 'nothing', eval_time: 1m}]", true},
	{"a scalar", "promql_expr_test: [{expr: '1 + 1', eval_time: 1m, exp_samples: [{value: 2}]}]", true},
	{"an alert",
		"alert_rule_test: [{alertname: A, eval_time: 2m, " +
			"exp_alerts: [{exp_labels: {l: x2}, exp_annotations: {s: '2'}}]}]", true},
	{"an alert that is pending", "alert_rule_test: [{alertname: A, eval_time: 30s}]", true},
	{"an alert that is not there",
		"alert_rule_test: [{alertname: A, eval_time: 0s, exp_alerts: [{exp_labels: {l: x2}}]}]", false},
	{"another annotation",
		"alert_rule_test: [{alertname: A, eval_time: 2m, " +
			"exp_alerts: [{exp_labels: {l: x2}, exp_annotations: {s: '3'}}]}]", false},
	{"a wrong expression", "promql_expr_test: [{expr: 'r +', eval_time: 1m}]", false},
	{"a wrong series", "input_series: [{series: 'x{', values: '1'}]", false},
	{"an unknown field", "promql: []", false},
}

// TestRulesTestBesidePromtool: unit tests pass and fail as they do there, where promtool is installed.
func TestRulesTestBesidePromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("VARVE_NEED_PROMETHEUS") != "" {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rules := "groups: [{name: g, rules: [{record: r, expr: x * 2}, {alert: A, expr: 'r > 1', for: 1m, " +
		"labels: {l: 'x{{ $value }}'}, annotations: {s: '{{ $value }}'}}]}]"
	if err := os.WriteFile(filepath.Join(dir, "r.yml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range unitTests {
		text := "rule_files: [r.yml]\ntests:\n- interval: 1m\n  " + c.text + "\n"
		if !strings.Contains(c.text, "input_series") {
			text += "  input_series: [{series: x, values: '1+0x5'}]\n"
		}
		name := filepath.Join(dir, fmt.Sprintf("%d_test.yml", i))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := command("rules", "test", name)
		said := map[bool]string{true: "SUCCESS", false: "FAILED"}[c.passes]
		if code == 0 != c.passes || !strings.Contains(out, said) {
			t.Errorf("%s: %d %s, passes: %v", c.name, code, out, c.passes)
		}
		if promtool == "" {
			continue
		}
		theirs, err := exec.Command(promtool, "test", "rules", name).CombinedOutput()
		if (err == nil) != (code == 0) {
			t.Errorf("%s: promtool says %v\n%s\nours is %d\n%s", c.name, err, theirs, code, out)
		}
	}
}

// pager is a webhook that remembers what it was told.
type pager struct {
	*httptest.Server
	mu    sync.Mutex
	keys  map[string]map[string]bool // by status and instance: the messages, by their keys
	again int                        // messages that came a second time
	came  chan struct{}
}

func newPager(t *testing.T) *pager {
	p := &pager{keys: map[string]map[string]bool{}, came: make(chan struct{}, 1)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the server was killed while it told
		}
		var m struct {
			Key, Status string
			Labels      map[string]string
		}
		if err := json.Unmarshal(body, &m); err != nil {
			t.Errorf("the body is %s", body)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		of := m.Status + " " + m.Labels["instance"]
		if p.keys[of] == nil {
			p.keys[of] = map[string]bool{}
		}
		if p.keys[of][m.Key] {
			p.again++
		}
		p.keys[of][m.Key] = true
		select {
		case p.came <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// await waits until the pager knows of so many alerts with a status.
func (p *pager) await(t *testing.T, status string, n int) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		p.mu.Lock()
		known := 0
		for of := range p.keys {
			if strings.HasPrefix(of, status+" ") {
				known++
			}
		}
		p.mu.Unlock()
		if known >= n {
			return
		}
		select {
		case <-p.came:
		case <-limit:
			t.Fatalf("the pager knows of %d alerts that are %s, want %d", known, status, n)
		}
	}
}

// TestRulesSurviveKills: a server that is killed at random moments tells of each alert once that it fires and once that
// it has ended. A message that was delivered in the moment of a kill may come again, under its key.
func TestRulesSurviveKills(t *testing.T) {
	const alerts, kills = 12, 6
	p, dir := newPager(t), t.TempDir()
	rules := filepath.Join(dir, "r.yml")
	text := "groups: [{name: g, interval: 40ms, rules: [{alert: Down, expr: up == 0, for: 80ms}]}]"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *served {
		return serve(t, nil, "--data-dir", filepath.Join(dir, "data"), "--set", "rules.files="+rules, "--set",
			"rules.webhooks="+p.URL)
	}
	s := start()
	kill := func() {
		<-time.After(time.Duration(rand.IntN(250)) * time.Millisecond)
		s.signal(syscall.SIGKILL)
		<-s.ended
		s = start()
	}
	up := func(instance, value int) {
		t.Helper()
		line := fmt.Sprintf("up,instance=i%d value=%d", instance, value)
		answer, err := http.Post(s.url+"/v1/lineproto/write", "", strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			t.Fatalf("%s: %s", line, answer.Status)
		}
	}
	for value, status := range []string{"firing", "resolved"} {
		for i := range alerts {
			up(i, value)
			if i%(2*alerts/kills) == 0 {
				kill()
			}
		}
		p.await(t, status, alerts)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for of, keys := range p.keys {
		if len(keys) != 1 {
			t.Errorf("%s was told %d times", of, len(keys))
		}
	}
	if len(p.keys) != 2*alerts || p.again > kills {
		t.Errorf("%d messages, %d of them again", len(p.keys), p.again)
	}
}
