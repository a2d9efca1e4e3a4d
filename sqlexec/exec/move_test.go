package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"varve/engine/vector"
)

// trailing passes rows on and has one row of its own at the end.
type trailing struct{ value int64 }

func (o *trailing) String() string      { return "Trailing" }
func (o *trailing) Step(next Step) Step { return next }
func (o *trailing) Rest() Source        { return numbersFrom(o.value, 1) }

// numbersFrom are n numbers that rise by one.
func numbersFrom(first int64, n int) Source {
	v := &vector.Vector{Type: vector.Int64Type}
	for i := range n {
		v.Ints = append(v.Ints, first+int64(i))
	}
	return Values(&vector.Batch{N: n, Cols: []*vector.Vector{v}})
}

// branched is a stream of branches: some numbers, two of many, one behind another, and their rests.
func branched() Stream {
	return Stream{
		Branches: []Stream{
			{Source: numbersFrom(0, 3), Ops: []Operator{&trailing{100}}},
			{Source: numbersFrom(10, 50_000), Ops: []Operator{Limit(1, 2), &trailing{200}}, Serial: true},
			{Branches: []Stream{
				{Source: numbersFrom(20, 1)}, {Source: numbersFrom(30, 1), Ops: []Operator{&trailing{300}}},
			}, Ops: []Operator{&trailing{400}}},
		},
		Ops: []Operator{&trailing{500}},
	}
}

// The limit ends its branch, and with it what its operators would have had, but not the other branches.
const branchedRows = "0 1 2 100 11 12 20 30 300 400 500"

// TestBranches: branches come one after the other, each with the rows that its operators still hold, and those of the
// operators over all of them in the end, once; whether rows are pushed by several workers or pulled.
func TestBranches(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		rows := run(t, Pipeline{branched(), &collector{}}, workers)
		got := make([]int, len(rows))
		for i, row := range rows {
			fmt.Sscan(row[0], &got[i])
		}
		if workers > 1 { // who brings them is chance
			slices.Sort(got)
		}
		want := strings.Fields(branchedRows)
		if workers > 1 {
			want = strings.Fields("0 1 2 11 12 20 30 100 300 400 500")
		}
		if text := strings.Trim(fmt.Sprint(got), "[]"); text != strings.Join(want, " ") {
			t.Errorf("%d workers: %s, want %s", workers, text, want)
		}
	}
	if got := pulled(t, branched(), -1); got != branchedRows {
		t.Errorf("pulled: %s, want %s", got, branchedRows)
	}
}

// pulled reads up to so many batches of a stream; fewer than 0: all.
func pulled(t *testing.T, s Stream, most int) string {
	t.Helper()
	in := Pull(context.Background(), s, nil)
	defer in.Close()
	var got []string
	for b := (vector.Batch{}); most != 0; most-- {
		ok, err := in.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		for i := range b.N {
			got = append(got, fmt.Sprint(b.Cols[0].Int(i)))
		}
	}
	return strings.Join(got, " ")
}

// TestBranchesEnd: a limit over branches ends all of them, and so does a reader that leaves and an error.
func TestBranchesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	first, second := newEndless(nil), newEndless(nil)
	s := Stream{Branches: []Stream{{Source: first}, {Source: second}}, Ops: []Operator{Limit(0, 3), &trailing{7}},
		Serial: true}
	if rows := run(t, Pipeline{s, &collector{}}, 3); len(rows) != 3 {
		t.Errorf("%d rows, want 3", len(rows))
	}
	if got := pulled(t, s, -1); got != "0 1 2" {
		t.Errorf("pulled: %s", got)
	}
	if second.given.Load() != 0 || first.closed.Load() != 2 {
		t.Errorf("the second branch gave %d batches, %d readers of the first are closed", second.given.Load(),
			first.closed.Load())
	}

	first = newEndless(nil)
	if got := pulled(t, Stream{Branches: []Stream{{Source: first}, {Source: second}}}, 2); len(got) == 0 ||
		first.closed.Load() != 1 || second.given.Load() != 0 {
		t.Errorf("a reader that left: %d readers closed, the second branch gave %d", first.closed.Load(),
			second.given.Load())
	}

	cause := errors.New("a disk on fire")
	for name, f := range map[string]func(*vector.Batch) error{
		"error": func(*vector.Batch) error { return cause }, "panic": outOfRange} {
		for workers := 1; workers <= 3; workers++ {
			first, second := newEndless(nil), newEndless(nil)
			p := Pipeline{Stream{Branches: []Stream{{Source: first}, {Source: second}}}, each{f}}
			if _, err := p.Run(context.Background(), workers); err == nil || name == "error" && !errors.Is(err, cause) {
				t.Errorf("%s, %d workers: %v", name, workers, err)
			}
			if first.closed.Load() != int64(workers) || second.given.Load() != 0 {
				t.Errorf("%s, %d workers: %d readers closed, the second branch gave %d", name, workers,
					first.closed.Load(), second.given.Load())
			}
		}
	}
	noMoreGoroutines(t, before)
}

// TestPullFails: an error and a panic below a reader are its error, and a cancelled query is.
func TestPullFails(t *testing.T) {
	for name, c := range map[string]struct {
		ctx  func() context.Context
		op   Operator
		want string
	}{
		"panic": {context.Background, broken{}, "panic in a worker"},
		"cancelled": {func() context.Context {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx
		}, Limit(0, 10), "canceled"},
	} {
		src := newEndless(nil)
		in := Pull(c.ctx(), Stream{Source: src, Ops: []Operator{c.op}}, nil)
		var b vector.Batch
		if ok, err := in.Next(&b); ok || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		in.Close()
		if src.closed.Load() != 1 {
			t.Errorf("%s: %d readers closed", name, src.closed.Load())
		}
	}
}

// broken panics at the first batch.
type broken struct{}

func (broken) String() string { return "Broken" }
func (broken) Step(Step) Step { return outOfRange }
