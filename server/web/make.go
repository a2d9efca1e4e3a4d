package web

import (
	"context"
	"runtime"
	"time"

	"varve/engine/status"
)

// newTurns makes the places of requests that make a long answer at a time: one for each processor, at least two.
func newTurns() chan struct{} { return make(chan struct{}, max(2, runtime.GOMAXPROCS(0))) }

// Turn waits for a place among the requests that make a long answer. done gives it back.
func (a *Answers) Turn(ctx context.Context) (done func(), err error) {
	patience := time.NewTimer(a.made.wait)
	defer patience.Stop()
	select {
	case a.turns <- struct{}{}:
		return func() { <-a.turns }, nil
	case <-patience.C:
		return nil, status.New(status.RuntimeResourcesExhausted,
			"Other requests with long answers wait for memory: try again later")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Make answers with the body that fill makes when its turn comes. Every answer that can be longer than FreeAnswer goes
// through Make, Pieces or result.Reply, so that all answers together stay within their bound. fill waits neither for
// the client nor for other requests.
func (c *Ctx) Make(httpStatus int, contentType string, fill func() ([]byte, error)) error {
	return c.Turn(func() (int64, error) {
		body, err := fill()
		if err != nil {
			return 0, err
		}
		c.Reply(httpStatus, contentType, body)
		return int64(cap(body)), nil
	})
}

// Turn runs fill when its turn comes. fill makes a long answer, or reads the data of one, and returns its size in
// bytes. Turn gives the place to the next request once these bytes have found room: no more answers are made at once
// than there are places, and answers that clients have not read yet are counted.
func (c *Ctx) Turn(fill func() (bytes int64, err error)) error {
	if c.Answers != nil {
		done, err := c.Answers.Turn(c.Context)
		if err != nil {
			return err
		}
		defer done()
	}
	bytes, err := fill()
	if err != nil || c.Sending == nil {
		return err
	}
	return c.Sending(bytes)
}
