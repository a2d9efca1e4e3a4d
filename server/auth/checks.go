package auth

import (
	"context"
	"crypto/sha256"
	"runtime"
	"sync"

	"varve/engine/status"
)

// maxWaiting bounds the logins of one address that wait to be checked.
const maxWaiting = 32

// checks bounds the passwords that are checked at a time: each keeps a processor busy by design. Checks use half of the
// processors, so that users who are signed in are not slowed down, and one for each address, so that an address that
// guesses passwords waits for itself and keeps no other address waiting.
type checks struct {
	slots chan struct{}

	mu      sync.Mutex
	clients map[string]*turn   // of addresses with a check at work or waiting
	logins  map[attempt]*check // at work or waiting
}

// attempt is a name with the proof of the password that it comes with.
type attempt struct {
	list  *userList
	name  string
	proof [sha256.Size]byte
}

// check is the outcome of an attempt; valid when done is closed.
type check struct {
	done  chan struct{}
	match bool
	err   error
}

// turn is held by the login of an address that is checked.
type turn struct {
	free    chan struct{} // holds one when nobody has the turn
	entered int           // logins that have it or wait for it; under mu
}

func newChecks() checks {
	return checks{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), clients: map[string]*turn{},
		logins: map[attempt]*check{}}
}

// once verifies an attempt of a client when its turn comes. Requests with the same attempt share one verification: when
// a server starts, all connections of a busy client come with the password that nobody has proven yet.
func (c *checks) once(ctx context.Context, a attempt, client string, verify func() bool) (match bool, err error) {
	for {
		c.mu.Lock()
		k, others := c.logins[a]
		if !others {
			k = &check{done: make(chan struct{})}
			c.logins[a] = k
		}
		c.mu.Unlock()
		if !others {
			defer func() {
				c.mu.Lock()
				delete(c.logins, a)
				c.mu.Unlock()
				close(k.done)
			}()
			k.match, k.err = c.verify(ctx, client, verify)
			return k.match, k.err
		}
		select {
		case <-k.done:
			if k.err == nil {
				return k.match, nil
			} // the other got no turn; this one may get one
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

func (c *checks) verify(ctx context.Context, client string, verify func() bool) (bool, error) {
	leave, err := c.enter(ctx, client)
	if err != nil {
		return false, err
	}
	defer leave()
	return verify(), nil
}

// enter waits until a password of a client may be checked; leave ends the check. It returns RateLimited if too many
// logins of the address wait.
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
		return nil, status.New(status.RateLimited, "more than %d logins from %s wait to be checked: try again later",
			maxWaiting, client)
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
