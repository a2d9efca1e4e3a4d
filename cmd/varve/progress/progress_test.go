package progress

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestLine: progress is drawn over on a terminal and cut to its width; notes take its place, and steer nothing.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		name string
		line Line
		want string
	}{
		{"terminal", Line{Width: 6}, "12345\r\x1b[K123\r\x1b[Kvarve: a\\x1b\nvarve: b\n"},
		{"lines", Line{}, "varve: 1234567\nvarve: 123\nvarve: a\\x1b\nvarve: b\n"},
		{"quiet", Line{Quiet: true}, "varve: b\n"},
	} {
		var out strings.Builder
		c.line.W = &out
		c.line.Draw("1234567")
		c.line.Draw("123")
		c.line.Say("%s", "a\x1b")
		c.line.Insist("b")
		c.line.Wipe()
		if out.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, out.String(), c.want)
		}
	}
	if got := PerSecond(1000, 500*time.Millisecond); got != 2000 {
		t.Errorf("%d a second", got)
	}
	if got := Left(1, 4, 2*time.Second); got != 6*time.Second {
		t.Errorf("%s are left", got)
	}
}

// TestTries: waits grow up to the longest, what the server asks for is kept, and the time ends it.
func TestTries(t *testing.T) {
	bad, over := errors.New("bad"), errors.New("over")
	var waits []time.Duration
	said, asked := 0, time.Duration(0)
	tries := Tries{First: FirstWait, For: time.Hour,
		Again: func(err error) (bool, time.Duration) { return errors.Is(err, bad), asked },
		Say:   func(error, time.Duration) { said++ },
		Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }}
	n := 0
	err := tries.Run(t.Context(), func() error {
		if n++; n <= 12 {
			return bad
		}
		return over
	})
	if !errors.Is(err, over) || said != 12 || len(waits) != 12 {
		t.Fatalf("%v after %d notes and the waits %v", err, said, waits)
	}
	for i, d := range waits {
		if most := min(FirstWait<<i, mostWait); d < most/2 || d > most {
			t.Errorf("wait %d is %s, expected at most %s", i, d, most)
		}
	}
	asked = 2 * time.Hour
	if err := tries.Run(t.Context(), func() error { return bad }); !errors.Is(err, bad) || said != 12 {
		t.Errorf("a server that asks for more than there is: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	if err := Sleep(ctx, time.Hour); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
}
