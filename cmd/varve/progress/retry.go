package progress

import (
	"context"
	"math/rand/v2"
	"time"
)

// Waits between two tries.
const (
	FirstWait = 250 * time.Millisecond
	mostWait  = 30 * time.Second
)

// Backoff gives the waits between tries: the first at most as long as it says, each at most twice the one before, half
// of it by chance so that clients do not come back together.
type Backoff time.Duration

// Next is the next wait.
func (b *Backoff) Next() time.Duration {
	wait := time.Duration(*b)
	*b = Backoff(min(2*wait, mostWait))
	return wait/2 + rand.N(wait/2) //nolint:gosec // no secret
}

// Tries are made until one goes well, fails for good, or too much time is over.
type Tries struct {
	First time.Duration // wait
	For   time.Duration // since the first failure
	// Again says whether an error may be gone the next time, and how long to wait at least. A success is never tried
	// again.
	Again func(err error) (again bool, least time.Duration)
	// Say is told of each failure that is borne.
	Say func(err error, pause time.Duration)
	// Sleep waits; nil: by the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Run tries. When ctx ends while it waits, the cause is the error.
func (t *Tries) Run(ctx context.Context, do func() error) error {
	sleep := t.Sleep
	if sleep == nil {
		sleep = Sleep
	}
	waits := Backoff(t.First)
	var failed time.Time
	for {
		err := do()
		again, least := t.Again(err)
		if !again {
			return err
		}
		pause := max(least, waits.Next())
		if failed.IsZero() {
			failed = time.Now()
		}
		if time.Since(failed)+pause > t.For {
			return err
		}
		t.Say(err, pause)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Sleep waits, unless ctx ends, whose cause is the error then.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
