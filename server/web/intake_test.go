package web

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/status"
)

func newPart(in *Intake) *intakePart { return &intakePart{in: in} }

// TestIntakeOldestGoesOn: the oldest body is never held up, whatever its size; others wait for room, and are refused.
func TestIntakeOldestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told int64
		in := NewIntake(100, 5*time.Second, status.RegionBusy, func(bytes int64) { told = bytes })
		a, b := newPart(in), newPart(in)
		for range 3 {
			if err := a.take(t.Context(), 60); err != nil {
				t.Fatal(err)
			}
		}
		if in.Bytes() != 180 || told != 180 {
			t.Errorf("%d bytes in hand, told %d", in.Bytes(), told)
		}
		start := time.Now()
		err := b.take(t.Context(), 1)
		if status.Of(err) != status.RegionBusy || time.Since(start) != 5*time.Second {
			t.Errorf("no room: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.take(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request ended: %v", err)
		}
		a.giveBack()
		a.giveBack()
		if err := b.take(t.Context(), 1000); err != nil {
			t.Errorf("it is the oldest now: %v", err)
		}
		b.giveBack()
		if in.Bytes() != 0 || told != 0 || in.parts.Len() != 0 {
			t.Errorf("%d bytes in hand, told %d, of %d bodies", in.Bytes(), told, in.parts.Len())
		}
	})
}

// TestIntakeOlderFirst: room that comes goes to the bodies in the order in which they began, and none barges in.
func TestIntakeOlderFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(100, time.Minute, status.RegionBusy, nil)
		first := newPart(in)
		if err := first.take(t.Context(), 90); err != nil {
			t.Fatal(err)
		}
		var order []int
		parts := make([]*intakePart, 4)
		for i := range parts {
			parts[i] = newPart(in)
			go func() {
				if err := parts[i].take(t.Context(), 60); err != nil {
					t.Error(err)
				}
				order = append(order, i) // one at a time: the next has room when this one gives back
			}()
			synctest.Wait()
		}
		if late := newPart(in); late.try(10) {
			t.Error("a body that came last barged in")
		} else {
			late.standDown()
			late.giveBack()
		}
		first.giveBack()
		for _, p := range parts {
			synctest.Wait()
			p.giveBack()
		}
		if want := []int{0, 1, 2, 3}; !slices.Equal(order, want) {
			t.Errorf("they went on in the order %v, want %v", order, want)
		}
	})
}

// TestIntakeSkipsThoseThatLeft: a body that no longer waits does not keep those behind it from room.
func TestIntakeSkipsThoseThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(100, time.Minute, status.RegionBusy, nil)
		first, second, third := newPart(in), newPart(in), newPart(in)
		if err := first.take(t.Context(), 50); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		left, taken := false, false
		go func() { left = second.take(ctx, 60) != nil }()
		synctest.Wait()
		go func() { taken = third.take(t.Context(), 50) == nil }()
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
