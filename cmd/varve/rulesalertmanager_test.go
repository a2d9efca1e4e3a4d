package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// lastLines keeps what a program prints.
type lastLines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.grown <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

// find waits for what an expression finds.
func (l *lastLines) find(t *testing.T, what *regexp.Regexp) string {
	t.Helper()
	for limit := time.After(30 * time.Second); ; {
		l.mu.Lock()
		m := what.FindStringSubmatch(l.text.String())
		said := l.text.String()
		l.mu.Unlock()
		if m != nil {
			return m[1]
		}
		select {
		case <-l.grown:
		case <-limit:
			t.Fatalf("there is no %s in\n%s", what, said)
		}
	}
}

var listensOn = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)`)

// managerOf starts a real Alertmanager with a configuration, and returns its address; empty: there is no such program.
func managerOf(t *testing.T, config string) string {
	t.Helper()
	path, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		if os.Getenv("VARVE_NEED_ALERTMANAGER") != "" {
			t.Fatal(err)
		}
		t.Log("there is no prometheus-alertmanager: only the server is looked at")
		return ""
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "am.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	manager := exec.Command(path, "--config.file="+file, "--storage.path="+dir, "--web.listen-address=127.0.0.1:0",
		"--cluster.listen-address=")
	lines := &lastLines{grown: make(chan struct{}, 1)}
	manager.Stderr = lines
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		manager.Process.Kill() //nolint:errcheck // it may have ended
		manager.Wait()         //nolint:errcheck // it was killed
	})
	return "http://" + lines.find(t, listensOn)
}

// TestAlertmanager: a real Alertmanager groups the alerts of a server, shows where they come from, and tells when they
// have ended, at once and not when they would have run out.
func TestAlertmanager(t *testing.T) {
	groups := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			Status string
			Alerts []struct{ Labels map[string]string }
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		groups <- fmt.Sprintf("%s %d %s", m.Status, len(m.Alerts), m.Alerts[0].Labels["site"])
	}))
	defer hook.Close()
	address := managerOf(t, "route: {receiver: hook, group_by: [alertname], group_wait: 1s, group_interval: 1s,"+
		" repeat_interval: 1h}\n"+
		"receivers: [{name: hook, webhook_configs: [{url: '"+hook.URL+"', send_resolved: true}]}]\n")
	if address == "" {
		return
	}
	rules := filepath.Join(t.TempDir(), "r.yml")
	text := "groups: [{name: g, interval: 100ms, rules: [{alert: Down, expr: up == 0, labels: {severity: page}}]}]\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil, "--set", "rules.files="+rules, "--set", "rules.alertmanagers="+address,
		"--set", "rules.external_labels=site=north", "--set", "rules.external_url=http://varve.example/")
	up := func(value int) {
		t.Helper()
		line := fmt.Sprintf("up,instance=a value=%d\nup,instance=b value=%[1]d", value)
		answer, err := http.Post(s.url+"/v1/lineproto/write", "", strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	want := func(expected string) {
		t.Helper()
		for limit := time.After(30 * time.Second); ; {
			select {
			case got := <-groups:
				if got == expected {
					return
				}
			case <-limit:
				t.Fatalf("the group %q does not come", expected)
			}
		}
	}
	up(0)
	want("firing 2 north")
	answer, err := http.Get(address + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || strings.Count(string(body), `"generatorURL":"http://varve.example/"`) != 2 ||
		!strings.Contains(string(body), `"severity":"page"`) {
		t.Errorf("the Alertmanager has %s, %v", body, err)
	}
	up(1)
	want("resolved 2 north")
}

// TestSilences: silences of a real Alertmanager are made, listed, changed and expired through the server, the alerts
// that they are for are named, and it is told of them no more.
func TestSilences(t *testing.T) {
	address := managerOf(t, "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
	if address == "" {
		return
	}
	rules := filepath.Join(t.TempDir(), "r.yml")
	text := "groups: [{name: g, interval: 100ms, rules: [{alert: Down, expr: up == 0}]}]\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	away := "http://user:hush@127.0.0.1:1/am" // nobody listens there
	s := serve(t, nil, "--set", "rules.files="+rules, "--set", "rules.alertmanagers="+address,
		"--set", "rules.external_labels=site=north")
	do := func(method, url, body string, want int) string {
		t.Helper()
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		got, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != want {
			t.Fatalf("%s %s %s: %d %s, %v; want %d", method, url, body, answer.StatusCode, got, err, want)
		}
		return string(got)
	}
	until := func(url, want string) string {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; {
			got := do("GET", url, "", 200)
			if strings.Contains(got, want) {
				return got
			}
			if time.Now().After(end) {
				t.Fatalf("%s is %s, want %s", url, got, want)
			}
		}
	}
	do("POST", s.url+"/v1/lineproto/write", "up,instance=a value=0\nup,instance=b value=0", 204)
	until(address+"/api/v2/alerts", `"instance":"b"`)
	ends := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	silence := func(id, matchers string) string {
		return `{"id":"` + id + `","matchers":[` + matchers + `],"endsAt":"` + ends +
			`","comment":"work on a","createdBy":"me"}`
	}
	const site = `{"name":"site","value":"no.*","isRegex":true}`
	made := do("POST", s.url+"/v1/silences",
		silence("", `{"name":"instance","value":"a","isRegex":false,"isEqual":true},`+site), 200)
	var ids struct{ IDs []string }
	if err := json.Unmarshal([]byte(made), &ids); err != nil || len(ids.IDs) != 1 {
		t.Fatalf("made %s, %v", made, err)
	}
	listed := until(s.url+"/v1/silences", `"silenced_alerts":[{"labels":{"alertname":"Down","instance":"a"},"by":["`+
		ids.IDs[0]+`"]}]`)
	for _, want := range []string{`"comment":"work on a"`, `"createdBy":"me"`, `"state":"active"`, address} {
		if !strings.Contains(listed, want) {
			t.Errorf("the list lacks %s: %s", want, listed)
		}
	}
	if got := do("GET", address+"/api/v2/alerts?silenced=false&active=true", "", 200); strings.Contains(got,
		`"instance":"a"`) {
		t.Errorf("the Alertmanager still tells of %s", got)
	}
	changed := do("POST", s.url+"/v1/silences", silence(ids.IDs[0], `{"name":"instance","value":"a","isEqual":false},`+
		site), 200)
	until(s.url+"/v1/silences", `"silenced_alerts":[{"labels":{"alertname":"Down","instance":"b"}`)
	if err := json.Unmarshal([]byte(changed), &ids); err != nil {
		t.Fatal(err)
	}
	do("DELETE", s.url+"/v1/silences/"+ids.IDs[0], "", 200)
	until(s.url+"/v1/silences", `"silenced_alerts":[]`)
	do("DELETE", s.url+"/v1/silences/nosuch", "", 404)
	for body, want := range map[string]string{
		"{": "not taken", silence("", ""): "0 matchers",
		silence("", `{"name":"a","value":".*","isRegex":true}`):                                     "every alert",
		silence("", `{"name":"a","value":"(","isRegex":true}`):                                      "matcher 1",
		strings.Replace(silence("", site), ends, "2020-01-01T00:00:00Z", 1):                         "not after",
		strings.Replace(silence("", site), `"comment"`, `"startsAt":"2999-01-01T00:00:00Z","x"`, 1): "not after",
	} {
		if got := do("POST", s.url+"/v1/silences", body, 400); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	lost := serve(t, nil, "--set", "rules.alertmanagers="+away)
	if got := do("GET", lost.url+"/v1/silences", "", 200); !strings.Contains(got, `"failed":[{"url":"http://`) ||
		strings.Contains(got, "hush") {
		t.Errorf("with nobody to ask: %s", got)
	}
	do("POST", lost.url+"/v1/silences", silence("", site), 502)
	do("DELETE", lost.url+"/v1/silences/x", "", 502)
}
