package ingest

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"varve/cmd/varve/client"
)

// gate bounds the requests in flight: one fewer each time the server says that it has too many, one more again after
// many that went well.
type gate struct {
	mu       sync.Mutex
	most     int
	limit    int
	inFlight int
	good     int           // requests in a row that were taken
	changed  chan struct{} // closed when somebody may enter
}

// goodRow is how many requests of each connection must go well before one more is tried.
const goodRow = 16

func (g *gate) open(most int) { g.most, g.limit, g.changed = most, most, make(chan struct{}) }

// enter waits for a place; false: nothing further is to be sent.
func (g *gate) enter(stop <-chan struct{}) bool {
	for {
		g.mu.Lock()
		if g.inFlight < g.limit {
			g.inFlight++
			g.mu.Unlock()
			return true
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-stop:
			return false
		}
	}
}

// leave gives a place back; err is what became of the request.
func (g *gate) leave(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	var answer *client.AnswerError
	switch {
	case err == nil:
		if g.good++; g.good >= goodRow*g.limit && g.limit < g.most {
			g.limit++
			g.good = 0
		}
	case errors.As(err, &answer) && answer.Status == http.StatusTooManyRequests:
		g.limit = max(1, g.limit-1)
		g.good = 0
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

// Rate bounds what is sent a second; one of both, or none, is above zero.
type Rate struct{ Rows, Bytes int64 }

// pacer lets batches go so that the rate is kept.
type pacer struct {
	mu   sync.Mutex
	next time.Time
}

// wait waits until a part, or a line of so many bytes, may go; false: nothing further is to be sent.
func (p *pacer) wait(what *part, bytes int64, r Rate, stop <-chan struct{}) bool {
	var cost time.Duration
	switch {
	case r.Rows > 0:
		cost = time.Duration(float64(what.entries()) / float64(r.Rows) * float64(time.Second))
	case r.Bytes > 0:
		cost = time.Duration(float64(max(bytes, int64(len(what.body)))) / float64(r.Bytes) * float64(time.Second))
	default:
		return true
	}
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(cost)
	p.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}
