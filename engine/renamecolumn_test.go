package engine

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// exchangeNames is a change of a schema by which two columns exchange their names.
func exchangeNames(a, b string) func(*schema.Table) (*schema.Table, error) {
	return func(s *schema.Table) (*schema.Table, error) {
		n := *s
		n.Columns = slices.Clone(s.Columns)
		n.Columns[s.Column(a)].Name, n.Columns[s.Column(b)].Name = b, a
		return &n, nil
	}
}

// TestExchangeNamesCrash cuts the power at each operation of the file system while columns with rows in a part, in
// memory and in the log exchange their names twice over: the rows before have the values of one of the two schemas, and
// nothing is lost.
func TestExchangeNamesCrash(t *testing.T) {
	states := []string{ // after so many steps
		"t:\n   ts=1 v=1 w=10\n   ts=2 v=2 w=20\n",
		"t:\n   ts=1 v=10 w=1\n   ts=2 v=20 w=2\n",
		"t:\n   ts=1 v=10 w=1\n   ts=2 v=20 w=2\n   ts=3 v=3 w=30\n",
		"t:\n   ts=1 v=1 w=10\n   ts=2 v=2 w=20\n   ts=3 v=30 w=3\n",
	}
	row := func(ts int64) []modelRow { return []modelRow{{"ts": ts, "v": ts, "w": ts * 10}} }
	for at := 0; ; at++ {
		disk := vfs.NewMem()
		f := &fuse{left: -1}
		o := testOptions(vfs.WithFaults(disk, f.before))
		e := mustOpen(t, o)
		for ts := range int64(2) {
			if err := put(e, "t", appendOnly, row(ts+1)); err != nil {
				t.Fatal(err)
			}
			if ts > 0 {
				continue // stays in memory
			}
			if err := e.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
		}
		f.mu.Lock()
		f.left = at
		f.mu.Unlock()
		done := 0
		for _, step := range []func() error{
			func() error { return e.Alter(ctx, public("t"), exchangeNames("v", "w")) },
			func() error { return put(e, "t", appendOnly, row(3)) },
			func() error { return e.Alter(ctx, public("t"), exchangeNames("v", "w")) },
		} {
			if err := step(); errors.Is(err, errPower) {
				break
			} else if err != nil {
				t.Fatalf("operation %d: %v", at, err)
			}
			done++
		}
		_ = e.Close(ctx, at%2 == 0)
		o.FS = disk.Crash(rand.New(rand.NewPCG(uint64(at), 9)))
		e = mustOpen(t, o)
		got, err := dump(e)
		if err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		if k := slices.Index(states, got); k < done || k > done+1 {
			t.Fatalf("operation %d: after %d steps state %d was found:\n%s", at, done, k, got)
		}
		mustClose(t, e)
		if done == 3 {
			return
		}
	}
}
