package ledger

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/admission"
)

// TestWhyTicketsDoNotGrow: a ticket that waits ends with its time, its context, or what it waits in; and it grows when
// it is told, or when it looks.
func TestWhyTicketsDoNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Single(admission.Query, 100, nil)
		var first, next Ticket
		l.Begin(&first, admission.Query, netip.Addr{}, nil)
		l.Begin(&next, admission.Query, netip.Addr{}, nil)
		if !first.Try(100) || next.Try(1) || !l.Full(admission.Query) {
			t.Fatal("the first has no room, or the next has")
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		closed := make(chan struct{})
		close(closed)
		looks := 0
		for name, c := range map[string]struct {
			ctx  context.Context
			wait Wait
			want error
			took time.Duration
		}{
			"no time":   {t.Context(), Wait{}, ErrFull, 0},
			"some time": {t.Context(), Wait{Most: 5 * time.Second}, ErrFull, 5 * time.Second},
			"ended":     {ended, Wait{Most: Forever}, context.Canceled, 0},
			"closed":    {t.Context(), Wait{Most: Forever, Closing: closed}, ErrClosing, 0},
			"looks": {t.Context(), Wait{Most: 10*time.Second + 1, Each: time.Second, Look: func(n int) { looks += n }},
				ErrFull, 10*time.Second + 1},
		} {
			start := time.Now()
			if err := next.Grow(c.ctx, 1, c.wait); !errors.Is(err, c.want) || time.Since(start) != c.took {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
			if n := l.Waiting(admission.Query); n != 0 {
				t.Errorf("%s: %d tickets wait afterwards", name, n)
			}
		}
		if looks != 10 {
			t.Errorf("it looked %d times", looks)
		}
		time.AfterFunc(time.Minute, first.Release)
		start := time.Now()
		if err := next.Grow(t.Context(), 1, Wait{Most: Forever}); err != nil || time.Since(start) != time.Minute {
			t.Errorf("room after a minute: %v after %v", err, time.Since(start))
		}
	})
}

// TestPanicLeavesTheQueue: a ticket whose Look panics waits no more, and the next has its turn.
func TestPanicLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Single(admission.Query, 100, nil)
		var first, panics, next Ticket
		for _, ticket := range []*Ticket{&first, &panics, &next} {
			l.Begin(ticket, admission.Query, netip.Addr{}, nil)
		}
		if !first.Try(100) {
			t.Fatal("there is no room")
		}
		go func() {
			defer func() { recover() }()
			panics.Grow(t.Context(), 1, Wait{Most: Forever, Each: time.Second, Look: func(int) { panic("") }})
		}()
		synctest.Wait()
		time.AfterFunc(time.Minute, first.Release)
		start := time.Now()
		if err := next.Grow(t.Context(), 100, Wait{Most: Forever}); err != nil || time.Since(start) != time.Minute {
			t.Errorf("the next: %v after %v", err, time.Since(start))
		}
	})
}

// TestPressed: by a class beyond its share, and for a moment after it.
func TestPressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Single(admission.Body, 100, nil)
		var body Ticket
		l.Begin(&body, admission.Body, netip.Addr{}, nil)
		for _, step := range []struct {
			what string
			do   func()
			want bool
		}{
			{"a body that fits", func() { body.Try(100) }, false},
			{"a body that does not", func() { body.Try(1) }, true},
			{"a long while later", func() { <-time.After(time.Minute) }, true},
			{"its end", body.Release, true},
			{"a moment later", func() { <-time.After(pressedTime) }, false},
		} {
			if step.do(); l.Pressed(admission.Body) != step.want {
				t.Errorf("%s: pressed %t, want %t", step.what, !step.want, step.want)
			}
		}
	})
}

// TestManyAtOnce lets goroutines of all classes grow, give up waiting and release: nobody is forgotten, and nothing is
// left.
func TestManyAtOnce(t *testing.T) {
	var limits admission.Limits
	for i := range limits.Of {
		limits.Of[i] = 1000
	}
	l := New(limits, nil)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for n := range 50 {
				var ticket Ticket
				l.Begin(&ticket, admission.Class(i)%admission.Classes, netip.Addr{}, nil)
				wait := Wait{Most: Forever}
				if n%5 == 0 {
					wait.Most = time.Microsecond
				}
				if err := ticket.Grow(t.Context(), int64(100+n), wait); err != nil && n%5 != 0 {
					t.Error(err)
				}
				if ticket.Take(1) {
					ticket.Give(1)
				}
				ticket.Release()
			}
		})
	}
	all.Wait()
	for of := range admission.Classes {
		if l.Bytes(of) != 0 || l.Waiting(of) != 0 {
			t.Errorf("class %d: %d bytes are left, %d wait", of, l.Bytes(of), l.Waiting(of))
		}
	}
}
