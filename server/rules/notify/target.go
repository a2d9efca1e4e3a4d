package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mostAtOnce is the number of alerts of a request, maxAnswer how much of an answer is read.
const (
	mostAtOnce = 64
	maxAnswer  = 64 << 10
)

// errRefused says that it is the alerts that are at fault: others may be taken.
var errRefused = errors.New("the alerts are refused")

// target is one Alertmanager or webhook.
type target struct {
	n             *Notifier
	kind, address string
	shown         string // the address without its secrets, and a number where two are alike then
	url           string // of requests, without the user
	user          *url.Userinfo

	mu        sync.Mutex
	queue     []Alert
	numbered  uint64 // of the last alert that was put
	closed    bool
	started   bool
	lastError string
	wake      chan struct{} // has an element when there is something to look at
	done      chan struct{} // is closed when the sender has ended

	sent, dropped, failures atomic.Int64
	nanoseconds             atomic.Int64 // that requests took
	requests                atomic.Int64
}

func newTarget(n *Notifier, kind, address string, u *url.URL) *target {
	own := *u
	t := &target{n: n, kind: kind, address: address, user: u.User, wake: make(chan struct{}, 1),
		done: make(chan struct{})}
	own.User = nil
	if kind == "alertmanager" {
		own.Path = strings.TrimRight(own.Path, "/") + "/api/v2/alerts"
	}
	t.url = own.String()
	return t
}

// put appends alerts to the queue. A later state of an alert takes the place of one that waits for an Alertmanager, as
// these want the last one only.
func (t *target) put(list []Alert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	waiting := make(map[string]int, len(t.queue)) // the places of the last that waits of each alert
	for i := range t.queue {
		waiting[t.queue[i].ID] = i
	}
	for _, a := range list {
		i, waits := waiting[a.ID]
		if t.kind == "webhook" {
			if a.Done[t.address] || waits && key(&t.queue[i]) == key(&a) {
				continue
			}
			waits = false // each change is sent
		} else if a.Before {
			continue
		}
		t.numbered++
		a.number = t.numbered
		if waits {
			a.alone = t.queue[i].alone
			t.queue[i] = a
			continue
		}
		waiting[a.ID] = len(t.queue)
		t.queue = append(t.queue, a)
	}
	if more := len(t.queue) - t.n.o.Queue; more > 0 {
		t.queue = append(t.queue[:0:0], t.queue[more:]...)
		t.dropped.Add(int64(more))
	}
	t.signal()
}

func (t *target) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// start begins to send.
func (t *target) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started = true
	go func() {
		defer close(t.done)
		t.loop()
	}()
}

// close ends the queue: what is in it is tried once more.
func (t *target) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.signal()
	if !t.started {
		close(t.done)
	}
}

// loop sends what waits.
func (t *target) loop() {
	pause := t.n.o.Least
	for {
		list, closed := t.head()
		if len(list) == 0 {
			if closed {
				return
			}
			<-t.wake
			continue
		}
		err := t.send(t.n.ctx, list)
		if err == nil {
			pause = t.n.o.Least
			if t.n.o.Delivered != nil {
				t.n.o.Delivered(t.address, list)
			}
			t.take(list)
			t.sent.Add(int64(len(list)))
			continue
		}
		t.failed(err)
		if t.n.ctx.Err() != nil || t.over() {
			return
		}
		if errors.Is(err, errRefused) {
			t.setBack(list)
		}
		t.rest(pause)
		pause = min(2*pause, t.n.o.Most)
	}
}

// head is a copy of the first alerts that wait.
func (t *target) head() (list []Alert, closed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := mostAtOnce
	if t.kind == "webhook" {
		most = 1 // each is delivered by itself: a template may make anything of it
	}
	n := min(len(t.queue), most)
	for i := range n {
		if t.queue[i].alone {
			n = max(i, 1)
			break
		}
	}
	return append(list, t.queue[:n]...), t.closed
}

// take removes alerts that were sent, unless a later state has taken their place. They are the first of the queue, or
// were, before the oldest were dropped.
func (t *target) take(list []Alert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sent := map[uint64]bool{}
	for i := range list {
		sent[list[i].number] = true
	}
	head := min(len(list), len(t.queue))
	rest := slices.DeleteFunc(slices.Clone(t.queue[:head]), func(a Alert) bool { return sent[a.number] })
	left := t.queue[head-len(rest):]
	copy(left, rest)
	clear(t.queue[:head-len(rest)]) // what was sent is let go of
	t.queue = left
}

// setBack puts alerts that the target refuses behind all others, with what waits of the same alerts, so that they keep
// nobody waiting. From then on each is sent by itself, as one of them may be at fault for all.
func (t *target) setBack(list []Alert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := map[string]bool{}
	for i := range list {
		refused[list[i].ID] = true
	}
	var back []Alert
	rest := make([]Alert, 0, len(t.queue))
	for _, a := range t.queue {
		if refused[a.ID] {
			a.alone = true
			back = append(back, a)
			continue
		}
		rest = append(rest, a)
	}
	t.queue = append(rest, back...)
}

func (t *target) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// rest waits before the next try; a stop ends it.
func (t *target) rest(pause time.Duration) {
	until := time.NewTimer(pause)
	defer until.Stop()
	for {
		select {
		case <-until.C:
			return
		case <-t.wake:
			if t.over() {
				return
			}
		}
	}
}

// failed notes an error.
func (t *target) failed(err error) {
	t.failures.Add(1)
	t.mu.Lock()
	first := t.lastError == ""
	t.lastError = err.Error()
	t.mu.Unlock()
	if first {
		t.n.o.Logger.Warn("alerts cannot be sent, they are sent again", "target", t.shown, "error", err)
	}
}

// send makes one request.
func (t *target) send(ctx context.Context, list []Alert) error {
	body, err := t.bodyOf(ctx, list)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "varve")
	if t.user != nil {
		password, _ := t.user.Password()
		r.SetBasicAuth(t.user.Username(), password)
	}
	if t.kind == "webhook" {
		r.Header.Set("Idempotency-Key", key(&list[0]))
		if t.n.o.Secret != "" {
			r.Header.Set(t.n.o.Header, t.n.o.Secret)
		}
	}
	began := time.Now()
	answer, err := t.n.client.Do(r)
	t.requests.Add(1)
	t.nanoseconds.Add(time.Since(began).Nanoseconds())
	if err != nil {
		return hideURL(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return hideURL(err)
	}
	switch code := answer.StatusCode; {
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge,
		code == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: the answer is %s", errRefused, answer.Status)
	case code/100 != 2:
		return fmt.Errorf("the answer is %s", answer.Status)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastError = ""
	return nil
}

// hideURL is an error without the address, which may hold a secret.
func hideURL(err error) error {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // the client makes it itself
		return u.Err
	}
	return err
}

// told is what the target was told.
func (t *target) told() Told {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Told{Kind: t.kind, Address: t.shown, Sent: t.sent.Load(), Dropped: t.dropped.Load(),
		Errors: t.failures.Load(), Waiting: int64(len(t.queue)), LastError: t.lastError}
}
