// Package notify sends alerts to Alertmanagers and to webhooks: each target has a bounded queue of its own, and what
// cannot be sent is tried again, later and later.
//
//	notify.go   options, alerts, the targets of a server
//	target.go   one target: its queue and its sender
//	bodies.go   what is sent
//	silences.go what Alertmanagers keep to themselves
//	figures.go  figures
package notify

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"varve/server/rules/expand"
)

// Alert is an alert as targets are told of it.
type Alert struct {
	ID                  string // the same for all that is said of one alert
	File, Group, Rule   string
	Labels, Annotations map[string]string
	Value               float64
	Firing              bool
	ActiveAt            time.Time
	StartsAt, EndsAt    time.Time // EndsAt of one that fires: when it counts as ended if nobody is told again
	URL                 string
	// Done are the targets that know of this state: webhooks among them are not told again.
	Done map[string]bool
	// Before says that it happened before the start: only webhooks are told.
	Before bool
	// Ref belongs to the sender.
	Ref any

	number uint64 // in a queue
	alone  bool   // it was refused, and is sent by itself
}

// Options of a Notifier.
type Options struct {
	// Alertmanagers are base addresses of servers with the API v2, Webhooks are addresses that take JSON.
	Alertmanagers, Webhooks []string
	// Template makes the body for webhooks; empty: the usual JSON.
	Template string
	// Header and Secret are a header of webhooks and its value; an empty secret: none is sent.
	Header, Secret string
	// Timeout bounds a request. Default 10 s.
	Timeout time.Duration
	// Queue is the number of alerts that wait for a target; when there are more, the oldest are dropped. Default
	// 10,000.
	Queue int
	// Least and Most are the first and the longest pause after a failure. Default 1 s and 1 min.
	Least, Most time.Duration
	// Delivered is called after a target took alerts; it may be called by several goroutines. nil: nobody wants to
	// know.
	Delivered func(target string, list []Alert)
	Logger    *slog.Logger
}

// maxTargets bounds the targets.
const maxTargets = 64

// Notifier sends alerts. Safe for concurrent use.
type Notifier struct {
	o       Options
	client  *http.Client
	body    *expand.Template // of webhooks; nil: the usual one
	targets []*target
	ctx     context.Context // of requests; ends when Stop is out of time
	cancel  context.CancelFunc
}

// New makes a notifier, whose queues wait for Start. The error says which option is wrong.
func New(o Options) (*Notifier, error) {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Queue <= 0 {
		o.Queue = 10_000
	}
	if o.Least <= 0 {
		o.Least = time.Second
	}
	if o.Most <= 0 {
		o.Most = time.Minute
	}
	if o.Header == "" {
		o.Header = "X-Varve-Secret"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Notifier{o: o, client: &http.Client{Timeout: o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if o.Template != "" {
		var err error
		if n.body, err = expand.NewDocument(o.Template); err != nil {
			return nil, fmt.Errorf("the template of webhooks: %w", err)
		}
	}
	if len(o.Alertmanagers)+len(o.Webhooks) > maxTargets {
		return nil, fmt.Errorf("at most %d Alertmanagers and webhooks are told", maxTargets)
	}
	for _, address := range o.Alertmanagers {
		if err := n.add("alertmanager", address); err != nil {
			return nil, err
		}
	}
	for _, address := range o.Webhooks {
		if err := n.add("webhook", address); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// add adds a target.
func (n *Notifier) add(kind, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an address such as http://host:9093", Hidden(address))
	}
	if slices.ContainsFunc(n.targets, func(t *target) bool { return t.address == address }) {
		return fmt.Errorf("%s is there twice", Hidden(address))
	}
	t := newTarget(n, kind, address, u)
	t.shown = Hidden(address)
	for k := 2; slices.ContainsFunc(n.targets, func(o *target) bool { return o.shown == t.shown }); k++ {
		t.shown = fmt.Sprintf("%s (%d)", Hidden(address), k)
	}
	n.targets = append(n.targets, t)
	return nil
}

// Hidden is an address without its password and its query, which may hold a secret.
func Hidden(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	if u.User != nil {
		u.User = url.UserPassword("xxxxx", "xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.String()
}

// Any reports whether there is a target.
func (n *Notifier) Any() bool { return len(n.targets) > 0 }

// KnownBy reports whether all targets are in a set.
func (n *Notifier) KnownBy(set map[string]bool) bool {
	return !slices.ContainsFunc(n.targets, func(t *target) bool { return !set[t.address] })
}

// WebhooksKnow reports whether all webhooks are in a set.
func (n *Notifier) WebhooksKnow(set map[string]bool) bool {
	return !slices.ContainsFunc(n.targets, func(t *target) bool { return t.kind == "webhook" && !set[t.address] })
}

// Start begins to send.
func (n *Notifier) Start() {
	for _, t := range n.targets {
		t.start()
	}
}

// Stop sends what waits until ctx ends, each request once, and ends.
func (n *Notifier) Stop(ctx context.Context) {
	for _, t := range n.targets {
		t.close()
	}
	for _, t := range n.targets {
		select {
		case <-t.done:
		case <-ctx.Done():
			n.cancel()
			<-t.done
		}
	}
	n.cancel()
	n.client.CloseIdleConnections()
}

// Send has the targets told of alerts. It never waits.
func (n *Notifier) Send(list []Alert) {
	if len(list) == 0 {
		return
	}
	for _, t := range n.targets {
		t.put(list)
	}
}

// Told is what a target was told.
type Told struct {
	Kind, Address                  string // the address without its secrets
	Sent, Dropped, Waiting, Errors int64
	LastError                      string // empty: the last request went well
}

// Targets lists the targets.
func (n *Notifier) Targets() []Told {
	list := make([]Told, len(n.targets))
	for i, t := range n.targets {
		list[i] = t.told()
	}
	return list
}
