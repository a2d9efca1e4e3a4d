package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/bench/process"
)

// told are the changes of alerts that a receiver was told of, by instance, the oldest first.
type told struct {
	mu      sync.Mutex
	changes map[string][]string
	keys    map[string]int // how often each message came, by its key
}

// add notes a change. A message without a key is one of its own.
func (l *told) add(instance, status, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key != "" {
		if l.keys[key]++; l.keys[key] > 1 {
			return
		}
	}
	l.changes[instance] = append(l.changes[instance], status)
}

// counts are how many changes of each instance were told.
func (l *told) counts(instances []string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]int, len(instances))
	for i, name := range instances {
		list[i] = len(l.changes[name])
	}
	return fmt.Sprint(list)
}

// check wants that each instance fired and was resolved in turn.
func (l *told) check(t *testing.T, who string) (messages, repeated int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for instance, list := range l.changes {
		for i, status := range list {
			if want := []string{"firing", "resolved"}[i%2]; status != want {
				t.Errorf("%s was told of %s: %v", who, instance, list)
				break
			}
		}
		messages += len(list)
	}
	for _, n := range l.keys {
		repeated += n - 1
	}
	return messages, repeated
}

// receiver takes what read finds in the body of a message.
func receiver(t *testing.T, read func(body *json.Decoder) error) string {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := read(json.NewDecoder(r.Body)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(hook.Close)
	return hook.URL
}

// alertmanager starts a real Alertmanager that tells a hook of each instance by itself, and returns its address; empty:
// there is no such program.
func alertmanager(t *testing.T, hook string) string {
	t.Helper()
	path, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		if os.Getenv("VARVE_NEED_ALERTMANAGER") != "" {
			t.Fatal(err)
		}
		t.Log("there is no prometheus-alertmanager: only a webhook is told")
		return ""
	}
	dir := t.TempDir()
	config := "route: {receiver: hook, group_by: [instance], group_wait: 10ms, group_interval: 50ms, " +
		"repeat_interval: 1h}\nreceivers: [{name: hook, webhook_configs: [{url: '" + hook + "'}]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "am.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, err := process.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	manager := exec.Command(path, "--config.file="+filepath.Join(dir, "am.yml"), "--storage.path="+dir,
		"--web.listen-address="+addr, "--cluster.listen-address=")
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		manager.Process.Kill() //nolint:errcheck // it may have ended
		manager.Wait()         //nolint:errcheck // it was killed
	})
	return "http://" + addr
}

// TestAlertsOfAKilledServer kills the server at random moments while alerts fire and end. A webhook and a real
// Alertmanager are told of each change once: none is lost, and a message that comes again has the key that it had.
func TestAlertsOfAKilledServer(t *testing.T) {
	t.Logf("seed %d, %d rounds", *seed, *rounds)
	random := rand.New(rand.NewPCG(*seed, 3))
	byHook := &told{changes: map[string][]string{}, keys: map[string]int{}}
	byManager := &told{changes: map[string][]string{}, keys: map[string]int{}}
	hook := receiver(t, func(body *json.Decoder) error {
		var m struct {
			Key, Status string
			Labels      map[string]string
		}
		err := body.Decode(&m)
		byHook.add(m.Labels["instance"], m.Status, m.Key)
		return err
	})
	manager := alertmanager(t, receiver(t, func(body *json.Decoder) error {
		var m struct {
			Status      string
			GroupLabels map[string]string
		}
		err := body.Decode(&m)
		byManager.add(m.GroupLabels["instance"], m.Status, "")
		return err
	}))
	dir := t.TempDir()
	rules := filepath.Join(t.TempDir(), "r.yml")
	text := "groups: [{name: g, interval: 50ms, rules: [{alert: Down, expr: up == 0}]}]\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := process.Options{Dir: dir, Args: []string{"--set", "rules.files=" + rules, "--set", "rules.webhooks=" + hook}}
	if manager != "" {
		o.Args = append(o.Args, "--set", "rules.alertmanagers="+manager)
	}
	instances, down := []string{"a", "b", "c", "d"}, map[string]bool{}
	changes := make([]int, len(instances))
	s := launch(t, o)
	for range *rounds {
		change(t, s, random, instances, down, changes)
		kill(t, s, time.Duration(random.IntN(250))*time.Millisecond)
		for random.IntN(3) == 0 {
			killInRecovery(t, dir, time.Duration(random.IntN(60))*time.Millisecond)
		}
		s = launch(t, o)
		awaitTold(t, byHook, "the webhook", instances, changes)
		if manager != "" {
			awaitTold(t, byManager, "the Alertmanager", instances, changes)
		}
	}
	stop(t, s)
	sent, again := byHook.check(t, "the webhook")
	shown, _ := byManager.check(t, "the Alertmanager")
	t.Logf("%d rounds: %d changes told to the webhook, %d of them again with the same key; %d by the Alertmanager",
		*rounds, sent, again, shown)
	if again > *rounds {
		t.Errorf("%d messages came again after %d kills", again, *rounds)
	}
}

// change changes whether some instances are up, and counts the changes.
func change(t *testing.T, s *process.Server, random *rand.Rand, instances []string, down map[string]bool,
	changes []int) {
	t.Helper()
	var body strings.Builder
	for i, name := range instances {
		if random.IntN(2) == 0 {
			down[name] = !down[name]
			changes[i]++
		}
		fmt.Fprintf(&body, "up,instance=%s value=%d\n", name, map[bool]int{true: 0, false: 1}[down[name]])
	}
	answer, err := http.Post(s.URL+"/v1/lineproto/write", "", strings.NewReader(body.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Fatalf("a write is answered by %s", answer.Status)
	}
}

// kill kills a server after a time.
func kill(t *testing.T, s *process.Server, after time.Duration) {
	t.Helper()
	<-time.After(after)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
}

// awaitTold waits until all changes were told.
func awaitTold(t *testing.T, l *told, who string, instances []string, changes []int) {
	t.Helper()
	want := fmt.Sprint(changes)
	for tick, limit := time.NewTicker(10*time.Millisecond), time.After(startLimit); ; <-tick.C {
		got := l.counts(instances)
		if got == want {
			return
		}
		select {
		case <-limit:
			t.Fatalf("%s was told of %s changes, want %s", who, got, want)
		default:
		}
	}
}
