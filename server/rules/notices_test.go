package rules

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/server/rules/notify"
)

// receiver is a webhook and an Alertmanager.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	hooks   []string // status and instance of each message
	managed []string // the same of alerts, by whether they have ended
	down    bool
	came    chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{came: make(chan struct{}, 1000)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// options has alerts sent to the receiver.
func (r *receiver) options(o *Options) {
	o.Notify = notify.Options{Webhooks: []string{r.URL + "/hook"}, Alertmanagers: []string{r.URL + "/am"},
		Least: time.Millisecond, Most: time.Millisecond}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		select {
		case r.came <- struct{}{}:
		default:
		}
	}()
	if r.down {
		w.WriteHeader(503)
		return
	}
	if q.URL.Path == "/hook" {
		var m notify.Message
		if err := json.Unmarshal(body, &m); err != nil || m.Key != q.Header.Get("Idempotency-Key") {
			w.WriteHeader(400)
			return
		}
		r.hooks = append(r.hooks, m.Status+" "+m.Labels["instance"])
		return
	}
	var list []struct {
		Labels           map[string]string
		StartsAt, EndsAt time.Time
	}
	if err := json.Unmarshal(body, &list); err != nil || q.URL.Path != "/am/api/v2/alerts" {
		w.WriteHeader(400)
		return
	}
	for _, a := range list {
		r.managed = append(r.managed, fmt.Sprintf("%s %d", a.Labels["instance"], a.EndsAt.Unix()-begin.Unix()))
	}
}

// waitFor waits until the receiver was told so many things.
func (r *receiver) waitFor(t *testing.T, hooks, managed int) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		r.mu.Lock()
		ok := len(r.hooks) >= hooks && len(r.managed) >= managed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.came:
		case <-limit:
			r.mu.Lock()
			defer r.mu.Unlock()
			t.Fatalf("the receiver was told %q and %q, want %d and %d", r.hooks, r.managed, hooks, managed)
		}
	}
}

// took are what the receiver was told since the last call.
func (r *receiver) took() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.managed)
	out := strings.Join(r.hooks, ", ") + " | " + strings.Join(r.managed, ", ")
	r.hooks, r.managed = nil, nil
	return out
}

func wantTold(t *testing.T, r *receiver, hooks, managed int, want string) {
	t.Helper()
	r.waitFor(t, hooks, managed)
	if got := r.took(); got != want {
		t.Errorf("the receiver was told %q, want %q", got, want)
	}
}

// quick are rules that fire at once.
var quick = strings.Replace(down, "for: 2m", "for: 0s", 1)

// TestNotices: webhooks are told when an alert fires and when it ends, Alertmanagers again after a while, and for 15
// minutes after the end.
func TestNotices(t *testing.T) {
	r := newReceiver(t)
	b := newBench(t, r.options)
	b.use(quick)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	wantTold(t, r, 1, 1, "firing a | a 240")
	b.step(30 * time.Second)
	b.step(30 * time.Second)
	wantTold(t, r, 0, 1, " | a 300")
	b.put(`up{instance="a"}`, 1)
	b.step(time.Second)
	wantTold(t, r, 1, 1, "resolved a | a 61")
	b.step(time.Minute)
	wantTold(t, r, 0, 1, " | a 61")
	for range 13 {
		b.put(`up{instance="a"}`, 1)
		b.step(time.Minute)
		wantTold(t, r, 0, 1, " | a 61")
	}
	b.put(`up{instance="b"}`, 0)
	b.step(2 * time.Minute)
	wantTold(t, r, 1, 1, "firing b | b 1261")
	for row, err := range documentsOf(b, "rule_alerts") {
		if err != nil || !strings.Contains(row, `"b"`) {
			t.Errorf("the table of alerts has %s, %v", row, err)
		}
	}
}

// TestRestartTellsNobodyTwice: what was delivered before a restart is not delivered again.
func TestRestartTellsNobodyTwice(t *testing.T) {
	r := newReceiver(t)
	b := newBench(t, r.options)
	b.use(quick)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	wantTold(t, r, 1, 1, "firing a | a 240")
	b.restart(10*time.Second, quick)
	b.step(0)
	b.step(10 * time.Second)
	b.put(`up{instance="b"}`, 0)
	b.step(10 * time.Second) // b comes after all that might have come
	wantTold(t, r, 1, 1, "firing b | b 270")
	b.step(40 * time.Second) // now it is time to tell the Alertmanager again
	r.waitFor(t, 0, 1)
	b.restart(time.Second, quick)
	b.put(`up{instance="a"}`, 1)
	b.put(`up{instance="b"}`, 0)
	b.step(0)
	r.waitFor(t, 1, 2)
	if got := r.took(); !strings.HasPrefix(got, "resolved a | ") {
		t.Errorf("the receiver was told %q", got)
	}
}

// TestRestartForgetsNobody: what could not be delivered before a restart is delivered after it, also of rules that are
// gone then.
func TestRestartForgetsNobody(t *testing.T) {
	r := newReceiver(t)
	r.down = true
	b := newBench(t, r.options)
	b.use(quick)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	<-r.came
	b.restart(time.Second, quick)
	r.mu.Lock()
	r.down = false
	r.mu.Unlock()
	b.step(0)
	wantTold(t, r, 1, 1, "firing a | a 241")
	b.restart(time.Second, "groups: []")
	wantTold(t, r, 1, 1, "resolved a | a 2")
	b.restart(time.Second, "groups: []")
	b.use(quick)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	wantTold(t, r, 1, 1, "firing a | a 243")
}

// documentsOf reads a table of the server's own as lines.
func documentsOf(b *bench, _ string) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		list, err := b.m.readKept(b.Context())
		if err != nil {
			yield("", err)
			return
		}
		for _, k := range list {
			if !yield(fmt.Sprintf("%s %q", k.rule, k.labels.Get("instance")), nil) {
				return
			}
		}
	}
}
