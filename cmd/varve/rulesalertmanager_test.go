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

// TestAlertmanager: a real Alertmanager groups the alerts of a server, shows where they come from, and tells when they
// have ended, at once and not when they would have run out.
func TestAlertmanager(t *testing.T) {
	path, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		if os.Getenv("VARVE_NEED_ALERTMANAGER") != "" {
			t.Fatal(err)
		}
		t.Log("there is no prometheus-alertmanager: only the server is looked at")
		return
	}
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
	dir := t.TempDir()
	for name, text := range map[string]string{
		"am.yml": "route: {receiver: hook, group_by: [alertname], group_wait: 1s, group_interval: 1s," +
			" repeat_interval: 1h}\n" +
			"receivers: [{name: hook, webhook_configs: [{url: '" + hook.URL + "', send_resolved: true}]}]\n",
		"r.yml": "groups: [{name: g, interval: 100ms, rules: [{alert: Down, expr: up == 0," +
			" labels: {severity: page}}]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manager := exec.Command(path, "--config.file="+filepath.Join(dir, "am.yml"), "--storage.path="+dir,
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=")
	lines := &lastLines{grown: make(chan struct{}, 1)}
	manager.Stderr = lines
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		manager.Process.Kill() //nolint:errcheck // it may have ended
		manager.Wait()         //nolint:errcheck // it was killed
	}()
	address := "http://" + lines.find(t, listensOn)
	s := serve(t, nil, "--set", "rules.files="+filepath.Join(dir, "r.yml"), "--set", "rules.alertmanagers="+address,
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
