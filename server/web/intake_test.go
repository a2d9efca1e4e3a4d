package web

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
)

// take takes n bytes exactly.
func take(ctx context.Context, s *Share, n int64) error { return s.in.grow(ctx, &s.ticket, n) }

// TestIntakeOldestGoesOn: the oldest body is never held up, whatever its size; others wait for room, and are refused.
func TestIntakeOldestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told int64
		in := IntakeOf(ledger.Single(admission.Body, 100, func(bytes int64) { told = bytes }), 5*time.Second,
			status.RegionBusy)
		a, b := in.Share(), in.Share()
		for range 3 {
			if err := take(t.Context(), a, 60); err != nil {
				t.Fatal(err)
			}
		}
		if in.Bytes() != 180 || told != 180 {
			t.Errorf("%d bytes in hand, told %d", in.Bytes(), told)
		}
		start := time.Now()
		err := take(t.Context(), b, 1)
		if status.Of(err) != status.RegionBusy || time.Since(start) != 5*time.Second {
			t.Errorf("no room: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := take(ctx, b, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request ended: %v", err)
		}
		a.Release()
		a.Release()
		if err := take(t.Context(), b, 1000); err != nil {
			t.Errorf("it is the oldest now: %v", err)
		}
		b.Release()
		if in.Bytes() != 0 || told != 0 || in.Waiting() != 0 {
			t.Errorf("%d bytes in hand, told %d, %d bodies wait", in.Bytes(), told, in.Waiting())
		}
	})
}

// TestIntakeOlderFirst: room that comes goes to the bodies in the order in which they began, and none barges in.
func TestIntakeOlderFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(100, time.Minute, status.RegionBusy)
		first := in.Share()
		if err := take(t.Context(), first, 90); err != nil {
			t.Fatal(err)
		}
		var order []int
		parts := make([]*Share, 4)
		for i := range parts {
			parts[i] = in.Share()
			go func() {
				if err := take(t.Context(), parts[i], 60); err != nil {
					t.Error(err)
				}
				order = append(order, i) // one at a time: the next has room when this one gives back
			}()
			synctest.Wait()
		}
		if n := in.Waiting(); n != len(parts) || in.Limit() != 100 {
			t.Errorf("%d of %d bodies wait, the limit is %d", n, len(parts), in.Limit())
		}
		if late := in.Share(); late.ticket.Try(10) {
			t.Error("a body that came last barged in")
		}
		first.Release()
		for _, p := range parts {
			synctest.Wait()
			p.Release()
		}
		if n := in.Waiting(); n != 0 {
			t.Errorf("%d bodies wait after all", n)
		}
		if want := []int{0, 1, 2, 3}; !slices.Equal(order, want) {
			t.Errorf("they went on in the order %v, want %v", order, want)
		}
	})
}

// TestIntakeSkipsThoseThatLeft: a body that no longer waits does not keep those behind it from room.
func TestIntakeSkipsThoseThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(100, time.Minute, status.RegionBusy)
		first, second, third := in.Share(), in.Share(), in.Share()
		if err := take(t.Context(), first, 50); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		left, taken := false, false
		go func() { left = take(ctx, second, 60) != nil }()
		synctest.Wait()
		go func() { taken = take(t.Context(), third, 50) == nil }()
		synctest.Wait()
		if taken {
			t.Error("a body went on before an older one that waits")
		}
		cancel()
		synctest.Wait()
		if !left || !taken {
			t.Errorf("the older body left: %v, the younger goes on: %v", left, taken)
		}
	})
}
