package web

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

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
		if n := in.Waiting(); n != len(parts) || in.Limit() != 100 {
			t.Errorf("%d of %d bodies wait, the limit is %d", n, len(parts), in.Limit())
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

// TestLargeBodyIsCollectedBeforeTheNext: the memory of a body that went on although there was no room for it is free
// when its room is.
func TestLargeBodyIsCollectedBeforeTheNext(t *testing.T) {
	i := NewIntake(1<<20, time.Minute, status.RegionBusy, nil)
	share := i.Share()
	const size = 2 * worthCollecting
	if err := share.Hold(t.Context(), size); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, size)
	there := weak.Make(&body[0])
	runtime.KeepAlive(body)
	share.Release()
	if there.Value() != nil {
		t.Error("the body is in memory when the next may begin")
	}
}

// TestIntakeIsPressed: by a body beyond its share, and for a moment after it.
func TestIntakeIsPressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewIntake(100, 5*time.Second, status.RegionBusy, nil)
		p := newPart(in)
		for _, step := range []struct {
			what string
			do   func()
			want bool
		}{
			{"a body that fits", func() { p.take(t.Context(), 100) }, false},
			{"a body that does not", func() { p.take(t.Context(), 1) }, true},
			{"a long while later", func() { <-time.After(time.Minute) }, true},
			{"its end", p.giveBack, true},
			{"a moment later", func() { <-time.After(pressedTime) }, false},
		} {
			if step.do(); in.Pressed() != step.want {
				t.Errorf("%s: pressed %t, want %t", step.what, !step.want, step.want)
			}
		}
	})
}
