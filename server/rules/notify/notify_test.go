package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// request is what a receiver got.
type request struct {
	path, body, user string
	header           http.Header
}

// receive answers the request of number n with the code answer(n); several targets may send at once.
func receive(t *testing.T, answer func(n int) int) (address string, got chan request) {
	t.Helper()
	got = make(chan request, 1000)
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answer(int(requests.Add(1)) - 1))
		got <- request{r.URL.Path, string(body), user + ":" + password, r.Header}
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func started(t *testing.T, o Options) *Notifier {
	t.Helper()
	o.Least, o.Most = time.Millisecond, time.Millisecond
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	n.Start()
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

func alertOf(id string, firing bool) Alert {
	return Alert{ID: id, Rule: "R", Labels: map[string]string{"alertname": "R"}, Firing: firing, Value: 1.5,
		StartsAt: time.UnixMilli(1000), EndsAt: time.UnixMilli(5000)}
}

// TestWebhook: the template makes the body, the header has the secret, the user of the address is sent.
func TestWebhook(t *testing.T) {
	address, got := receive(t, func(int) int { return 200 })
	n := started(t, Options{Webhooks: []string{strings.Replace(address, "http://", "http://me:pw@", 1) + "/x"},
		Template: `{"text":"{{ .Name | toUpper }} is {{ .Status }} {{ .Value }} {{ len .Labels }}"}`,
		Header:   "X-Who", Secret: "hush"})
	n.Send([]Alert{alertOf("a", true)})
	r := <-got
	if r.path != "/x" || r.body != `{"text":"R is firing 1.5 1"}` || r.user != "me:pw" ||
		r.header.Get("X-Who") != "hush" ||
		r.header.Get("Content-Type") != "application/json" || r.header.Get("Idempotency-Key") != "a-rs-firing" {
		t.Errorf("the webhook got %+v", r)
	}
	if told := n.Targets()[0]; strings.Contains(told.Address, "pw") {
		t.Errorf("the target is shown as %s", told.Address)
	}
}

// TestTriesAgain: what fails is sent again until it is taken, in order, and is counted.
func TestTriesAgain(t *testing.T) {
	for _, code := range []int{500, 404, 302, 429} {
		all := make(chan struct{}) // is closed once all alerts wait
		address, got := receive(t, func(n int) int {
			<-all
			if n < 3 {
				return code
			}
			return 200
		})
		delivered := make(chan string, 10)
		n := started(t, Options{Webhooks: []string{address}, Delivered: func(_ string, list []Alert) {
			delivered <- fmt.Sprint(list[0].ID, list[0].Firing)
		}})
		n.Send([]Alert{alertOf("a", true)})
		n.Send([]Alert{alertOf("a", true)}) // waits already
		n.Send([]Alert{alertOf("a", false)})
		close(all)
		if first, second := <-delivered, <-delivered; first != "atrue" || second != "afalse" {
			t.Errorf("%d: delivered are %s and %s", code, first, second)
		}
		n.Stop(t.Context())
		if told := n.Targets()[0]; told.Errors != 3 || told.Sent != 2 || told.Waiting != 0 ||
			told.LastError != "" || len(got) != 5 {
			t.Errorf("%d: the target is %+v after %d requests", code, told, len(got))
		}
	}
}

// TestAlertmanagerBatches: an Alertmanager gets many alerts at once and of each the last state.
func TestAlertmanagerBatches(t *testing.T) {
	address, got := receive(t, func(int) int { return 200 })
	n, err := New(Options{Alertmanagers: []string{address + "/am/"}})
	if err != nil {
		t.Fatal(err)
	}
	var list []Alert
	for i := range 100 {
		list = append(list, alertOf(fmt.Sprint(i), true))
	}
	n.Send(list)
	n.Send([]Alert{alertOf("3", false)})
	n.Start()
	n.Stop(t.Context())
	sizes := ""
	for len(got) > 0 {
		r := <-got
		var alerts []map[string]any
		if err := json.Unmarshal([]byte(r.body), &alerts); err != nil || r.path != "/am/api/v2/alerts" {
			t.Fatalf("%s %s: %v", r.path, r.body, err)
		}
		sizes += fmt.Sprint(len(alerts), " ")
	}
	if sizes != "64 36 " {
		t.Errorf("the requests have %salerts", sizes)
	}
}

// TestQueueIsBounded: beyond the bound the oldest are dropped and counted.
func TestQueueIsBounded(t *testing.T) {
	n, err := New(Options{Webhooks: []string{"http://127.0.0.1:1/"}, Queue: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		n.Send([]Alert{alertOf(fmt.Sprint(i), true)})
	}
	told := n.Targets()[0]
	if told.Dropped != 2 || told.Waiting != 3 || n.targets[0].queue[0].ID != "2" {
		t.Errorf("the target is %+v", told)
	}
	n.Stop(t.Context())
}

// TestStopEnds: a stop ends also where a target takes nothing.
func TestStopEnds(t *testing.T) {
	address, got := receive(t, func(int) int { return 500 })
	n := started(t, Options{Webhooks: []string{address}, Alertmanagers: []string{address + "/am"}})
	n.Send([]Alert{alertOf("a", true), alertOf("b", true)})
	<-got
	n.Stop(t.Context())
	n.Send([]Alert{alertOf("c", true)})
}

func TestWrongTargets(t *testing.T) {
	for _, o := range []Options{{Webhooks: []string{"nowhere"}}, {Webhooks: []string{"ftp://a/"}},
		{Alertmanagers: []string{"http://a", "http://a"}}, {Webhooks: []string{"http://a"}, Template: "{{"},
		{Webhooks: make([]string, maxTargets+1)}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestRefusedAlertsKeepNobodyWaiting: one alert that a target never takes does not hold up the others, whose order
// stays; it is tried again.
func TestRefusedAlertsKeepNobodyWaiting(t *testing.T) {
	for _, kind := range []string{"alertmanager", "webhook"} {
		t.Run(kind, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "poison") {
					w.WriteHeader(400)
				}
			}))
			t.Cleanup(s.Close)
			delivered := make(chan Alert, 200)
			o := Options{Delivered: func(_ string, list []Alert) {
				for _, a := range list {
					delivered <- a
				}
			}}
			if kind == "webhook" {
				o.Webhooks = []string{s.URL}
			} else {
				o.Alertmanagers = []string{s.URL}
			}
			n := started(t, o)
			bad := alertOf("bad", true)
			bad.Labels["poison"] = "yes"
			list := []Alert{bad}
			for i := range 50 {
				list = append(list, alertOf(fmt.Sprint(i), true))
			}
			n.Send(list)
			n.Send([]Alert{alertOf("7", false)})
			fires := false
			for got := 0; got < 50; {
				a := <-delivered
				if a.ID == "7" && kind == "webhook" {
					if a.Firing == fires {
						t.Error("the changes of an alert are not in order")
					}
					fires = a.Firing
				}
				if a.ID != "7" || !a.Firing {
					got++
				}
			}
			n.Stop(t.Context())
			if told := n.Targets()[0]; told.Waiting != 1 || told.Errors == 0 || told.Dropped != 0 {
				t.Errorf("the target is %+v", told)
			}
		})
	}
}

// TestLongQueue: a queue at its bound costs each message no more than a short one.
func TestLongQueue(t *testing.T) {
	const count = 10_000
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	n, err := New(Options{Webhooks: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]Alert, count)
	for i := range list {
		list[i] = alertOf(fmt.Sprint(i), true)
	}
	n.Send(list)
	target := n.targets[0]
	if bytes := testing.AllocsPerRun(100, func() {
		head, _ := target.head()
		target.take(head)
	}); bytes > 10 {
		t.Errorf("taking one message allocates %v times", bytes)
	}
	if told := n.Targets()[0]; told.Waiting != count-101 || target.queue[0].ID != "101" {
		t.Errorf("the target is %+v, %s is next", told, target.queue[0].ID)
	}
	n.Stop(t.Context())
}
