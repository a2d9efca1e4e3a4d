package web

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/status"
)

// sender is a body that is read as it is sent, and has taken bytes of an intake.
type sender struct {
	part  *Share
	conn  net.Conn // the client's end
	ended error    // of the reader; after done
	done  chan struct{}
}

func newSender(t *testing.T, in *Intake, bytes int64) *sender {
	t.Helper()
	client, server := net.Pipe()
	s := &sender{part: in.Share(), conn: client, done: make(chan struct{})}
	if err := take(t.Context(), s.part, bytes); err != nil {
		t.Fatal(err)
	}
	s.part.pace.stop = func() { server.SetReadDeadline(time.Unix(1, 0)) }
	go func() {
		defer close(s.done)
		_, s.ended = io.Copy(io.Discard, &rawBody{from: server, conn: server, length: -1, pace: &s.part.pace})
		s.part.Release()
		server.Close()
	}()
	return s
}

// send sends n bytes after every pause until the context ends or the reader is gone.
func (s *sender) send(ctx context.Context, n int, pause time.Duration) {
	for tick := time.NewTicker(pause); ; {
		select {
		case <-tick.C:
			if _, err := s.conn.Write(make([]byte, n)); err != nil {
				return
			}
		case <-s.done:
			return
		case <-ctx.Done():
			s.conn.Close()
			return
		}
	}
}

// TestSlowBodiesGiveWay: bodies that stand still or trickle are ended when another waits for room, as many as it needs,
// the slowest first; they are left alone as long as none does. Those that come fast enough go on.
func TestSlowBodiesGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in := NewIntake(100, 5*time.Second, status.RegionBusy)
		still, trickles, pauses, fast := newSender(t, in, 25), newSender(t, in, 25), newSender(t, in, 25),
			newSender(t, in, 25)
		defer still.conn.Close()
		defer cancel()
		go trickles.send(ctx, 1000, 100*time.Millisecond)
		go pauses.send(ctx, slowRate, 900*time.Millisecond)
		go fast.send(ctx, slowRate/10, 50*time.Millisecond)
		<-time.After(20 * time.Second)
		if in.Bytes() != 100 {
			t.Fatalf("%d bytes in hand: a body was ended though none waited", in.Bytes())
		}
		for i, slow := range []*sender{still, trickles} {
			if start := time.Now(); take(ctx, in.Share(), 25) != nil || time.Since(start) > 2*slowGrace {
				t.Fatalf("waiter %d had no room after %v", i, time.Since(start))
			}
			<-slow.done
			if r := (*Reject)(nil); !errors.As(slow.ended, &r) || r.Status != 408 || !r.Close {
				t.Errorf("slow body %d ended with %v", i, slow.ended)
			}
		}
		if err := take(ctx, in.Share(), 25); status.Of(err) != status.RegionBusy {
			t.Errorf("bodies that come fast enough gave way: %v", err)
		}
		cancel()
		<-pauses.done
		<-fast.done
		if pauses.ended != nil || fast.ended != nil {
			t.Errorf("bodies that come fast enough ended with %v and %v", pauses.ended, fast.ended)
		}
	})
}

// TestBodiesThatWaitAreNotSlow: a body is no slower than its client for what it waits itself.
func TestBodiesThatWaitAreNotSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(100, 5*time.Second, status.RegionBusy)
		busy := in.Share()
		busy.pace.begin()
		busy.pace.end(100)
		if err := take(t.Context(), busy, 100); err != nil {
			t.Fatal(err)
		}
		if err := take(t.Context(), in.Share(), 10); status.Of(err) != status.RegionBusy || busy.pace.cancelled.Load() {
			t.Errorf("a body that nothing is read of gave way: %v", err)
		}
	})
}
