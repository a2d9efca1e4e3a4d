package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/status"
)

// TestStreamsOfOneSenderWait: where one sender holds all the room and more of its messages wait, the room that comes is
// for the one who holds none.
func TestStreamsOfOneSenderWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many, one := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		in := NewIntake(4*intakeStep, time.Minute, status.RegionBusy)
		var held []*Stream
		for range 4 {
			s := in.Stream(nil, many, 1, nil)
			if err := s.Hold(t.Context(), freeIntake+intakeStep); err != nil {
				t.Fatal(err)
			}
			held = append(held, s)
		}
		turns := make(chan netip.Addr, 4)
		wait := func(of netip.Addr) {
			s := in.Stream(nil, of, 1, nil)
			go func() {
				if err := s.Hold(t.Context(), freeIntake+intakeStep); err != nil {
					t.Error(err)
				}
				turns <- of
				s.Release()
			}()
			synctest.Wait()
		}
		for range 3 {
			wait(many)
		}
		wait(one)
		held[1].Release()
		if first := <-turns; first != one {
			t.Errorf("the room was given to %v", first)
		}
		for range 3 {
			<-turns
		}
		for _, i := range []int{0, 2, 3} {
			held[i].Release()
		}
		synctest.Wait()
		if in.Bytes() != 0 {
			t.Errorf("%d bytes are held by nobody", in.Bytes())
		}
	})
}

// TestSlowStreamsGiveWay: a stream that comes slower than its rate is given up when another waits, and not before.
func TestSlowStreamsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(intakeStep, time.Minute, status.RegionBusy)
		from, to := net.Pipe()
		defer to.Close()
		const rate = 1 << 20
		slow := in.Stream(from, netip.MustParseAddr("192.0.2.1"), rate,
			func() { from.SetReadDeadline(time.Unix(1, 0)) })
		if err := slow.Hold(t.Context(), freeIntake+intakeStep); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := io.Copy(io.Discard, slow)
			slow.Release()
			ended <- err
		}()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { // faster than a body has to be, slower than this stream
			for tick := time.NewTicker(100 * time.Millisecond); ; {
				select {
				case <-tick.C:
					to.Write(make([]byte, rate/20))
				case <-ctx.Done():
					return
				}
			}
		}()
		<-time.After(20 * time.Second)
		select {
		case err := <-ended:
			t.Fatalf("nobody waits, and it was given up: %v", err)
		default:
		}
		next, begun := in.Stream(nil, netip.MustParseAddr("192.0.2.2"), rate, nil), time.Now()
		if err := next.Hold(t.Context(), freeIntake+intakeStep); err != nil || time.Since(begun) > 2*slowGrace {
			t.Errorf("room after %v: %v", time.Since(begun), err)
		}
		if err := <-ended; !errors.Is(err, ErrSlow) {
			t.Errorf("the slow one ended with %v", err)
		}
	})
}
