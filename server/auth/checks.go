package auth

import (
	"context"
	"runtime"
	"sync"

	"varve/engine/status"
)

// maxWaiting bounds the logins of one address that wait to be checked.
const maxWaiting = 32

// checks bounds the passwords that are checked at a time, each of which keeps a processor busy by design: half of the
// processors, so that those who are signed in go on, and one for an address, so that an address that tries names and
// passwords waits for itself and not others for it.
type checks struct {
	slots chan struct{}

	mu      sync.Mutex
	clients map[string]*turn // of addresses with a check at work or waiting
}

// turn is held by the login of an address that is checked.
type turn struct {
	free    chan struct{} // holds one when nobody has the turn
	entered int           // logins that have it or wait for it; under mu
}

func newChecks() checks {
	return checks{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), clients: map[string]*turn{}}
}

// enter waits until a password of a client may be checked; leave ends the check. An address with too many that wait is
// refused with RateLimited.
func (c *checks) enter(ctx context.Context, client string) (leave func(), err error) {
	c.mu.Lock()
	t := c.clients[client]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		c.clients[client] = t
	}
	if t.entered > maxWaiting {
		c.mu.Unlock()
		return nil, status.New(status.RateLimited, "more than %d logins from %s wait to be checked: try again later", maxWaiting, client)
	}
	t.entered++
	c.mu.Unlock()
	select {
	case <-t.free:
	case <-ctx.Done():
		c.drop(client, t)
		return nil, ctx.Err()
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		t.free <- struct{}{}
		c.drop(client, t)
		return nil, ctx.Err()
	}
	return func() {
		<-c.slots
		t.free <- struct{}{}
		c.drop(client, t)
	}, nil
}

// drop forgets an address when nobody of it is left.
func (c *checks) drop(client string, t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.entered--; t.entered == 0 {
		delete(c.clients, client)
	}
}
