package lineproto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/server/web"
)

// leavesOut decodes a body as version 3 does. What is left are the rows that it has without the lines that cannot be
// stored.
func leavesOut(t *testing.T, body string) {
	t.Helper()
	r := newRequest(1, nil)
	r.left = &leftOut{number: 1}
	d := newDecoder(r, new(engine.WriteSet))
	if err := d.decode([]byte(body)); err != nil {
		if _, text := web.Message(err); len(r.left.lines) < maxLeftOut {
			t.Fatalf("%q: %s", body, text)
		}
		return
	}
	lines := strings.Split(body, "\n")
	for _, l := range r.left.lines {
		if whole := strings.TrimLeft(lines[l.number-1], " \t\r"); !strings.HasPrefix(whole,
			l.line[:min(len(l.line), 200)]) || l.reason == "" {
			t.Fatalf("%q: line %d is shown as %q, %s", body, l.number, l.line, l.reason)
		}
	}
	for _, l := range slices.Backward(r.left.lines) {
		lines = slices.Delete(lines, l.number-1, l.number)
	}
	if got, want := shown(d), describe(strings.Join(lines, "\n"), 1, nil); got != want {
		t.Fatalf("%q\n got %s\nwant %s", body, got, want)
	}
}

// TestLeavesOut: lines that cannot be stored leave nothing behind, neither values nor columns nor types nor tags,
// wherever they go wrong.
func TestLeavesOut(t *testing.T) {
	pool := []string{
		"m,a=1 x=1 5", "m,a=1,b=2 x=2,y=3i 6", "m,a=2 y=1i", "n z=\"t\" 1", "n,a=1 z=\"u\",w=t", "m x=1,x=2,x=3 9", "",
		"m,a= x=1", "m,a=1,c=2 x=1,y=2", "m,b=7 x=\"text\"", "m,d=1 e=1,f=2i,g=\"h\",bad", "m,a=1,a=2 x=1", "n w=1",
		"n,z=1 w=t", "m", "k q=1,", "m y=1i 5.5", "m x=\"open", "n new=1i,time=5", "q,t=1 v=1x",
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		var body []string
		for range rng.IntN(12) {
			body = append(body, pool[rng.IntN(len(pool))])
		}
		leavesOut(t, strings.Join(body, "\n"))
	}
}

// TestLeavesOutHasABound: of a body with more bad lines nothing is stored.
func TestLeavesOutHasABound(t *testing.T) {
	for n, want := range map[int]string{maxLeftOut: "", maxLeftOut + 1: "more than 1000 lines cannot be stored"} {
		r := newRequest(1, nil)
		r.left = &leftOut{number: 1}
		err := newDecoder(r, new(engine.WriteSet)).decode([]byte("m v=1\n" + strings.Repeat("m v=bad\n", n)))
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestGuessed: a time says its unit by its size.
func TestGuessed(t *testing.T) {
	for x, want := range map[int64]time.Duration{
		0: time.Second, 1700000000: time.Second, -1700000000: time.Second, 1700000000000: time.Millisecond,
		1700000000000000: time.Microsecond, 1700000000000000000: 1, math.MaxInt64: 1, math.MinInt64: 1,
	} {
		if got := guessed(x); got != int64(want) {
			t.Errorf("%d: %v", x, time.Duration(got))
		}
	}
}
