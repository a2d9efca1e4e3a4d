package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// paced is a store whose clock the test owns.
type paced struct {
	*Engine
	t   *testing.T
	now time.Time
}

func newPaced(t *testing.T, r Rates) *paced {
	p := &paced{t: t, now: time.Unix(1_700_000_000, 0)}
	o := testOptions(vfs.NewMem())
	o.Now, o.Rates = func() time.Time { return p.now }, r
	p.Engine = mustOpen(t, o)
	t.Cleanup(func() { mustClose(t, p.Engine) })
	return p
}

// write writes rows of a table at times from 0 on.
func (p *paced) write(ctx context.Context, table string, rows int64) error {
	var set WriteSet
	if err := fill(set.Rows(public(table), hintOf(appendOnly)), rowsAt(0, rows, 1)); err != nil {
		p.t.Fatal(err)
	}
	_, err := p.Write(ctx, &set)
	return err
}

// refused checks that a write is refused, and says when to come again.
func (p *paced) refused(err error, after int, words string) {
	p.t.Helper()
	var rate *RateError
	if status.Of(err) != status.RateLimited || !errors.As(err, &rate) || rate.RetryAfter() != after ||
		!strings.Contains(err.Error(), words) {
		p.t.Errorf("got %v, want a refusal for %d s that says %q", err, after, words)
	}
}

func (p *paced) taken(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Errorf("refused: %v", err)
	}
}

// rows counts the rows of a table.
func (p *paced) rows(table string) int {
	p.t.Helper()
	lines, err := scanTable(p.Engine, public(table), everything)
	if err != nil {
		p.t.Fatal(err)
	}
	return len(lines)
}

// TestRateOfUser: a user writes a burst at once and the rate after it; a body larger than a burst passes once and is
// paid for; others are not held back; of what is refused nothing is stored, no table either.
func TestRateOfUser(t *testing.T) {
	p := newPaced(t, Rates{Default: Rate{Rows: 10}, Users: map[string]Rate{"free": {}, "fat": {Bytes: 1000}}})
	as := func(user string) context.Context { return WithWriter(ctx, user) }
	p.taken(p.write(as("a"), "t", 30))
	p.taken(p.write(as("a"), "t", 20)) // the burst of 5 s
	p.refused(p.write(as("a"), "new", 1), 1, "write_rate.rows of user a, 10 rows a second, is reached")
	if _, err := p.Table(public("new")); err == nil {
		t.Error("a refused write has made a table")
	}
	p.taken(p.write(as("b"), "t", 1))
	p.taken(p.write(as("free"), "t", 1000))
	p.taken(p.write(ctx, "t", 1000)) // no user: a listener
	p.taken(p.write(AsServer(as("a")), "t", 1))
	p.now = p.now.Add(100 * time.Millisecond)
	p.taken(p.write(as("a"), "t", 200)) // larger than the burst
	p.refused(p.write(as("a"), "t", 1), 20, "try again in 20 s")
	p.now = p.now.Add(19 * time.Second)
	p.refused(p.write(as("a"), "t", 1), 1, "")
	p.now = p.now.Add(1100 * time.Millisecond)
	p.taken(p.write(as("a"), "t", 1))
	if got, want := p.rows("t"), 30+20+1+1000+1000+1+200+1; got != want {
		t.Errorf("%d rows are stored, want %d", got, want)
	}
	p.taken(p.write(as("fat"), "t", 1000))
	again := p.retry(p.write(as("fat"), "t", 1))
	p.refused(p.write(as("fat"), "t", 1), again, "write_rate.bytes of user fat, 1000 bytes")
	p.taken(p.write(as("a"), "t", 5))
	p.now = p.now.Add(-time.Hour) // a clock that is put back gives and takes nothing
	p.refused(p.write(as("a"), "t", 1), 1, "")
	p.now = p.now.Add(time.Second)
	p.taken(p.write(as("a"), "t", 1))
}

// retry is what a refusal says.
func (p *paced) retry(err error) int {
	var rate *RateError
	if !errors.As(err, &rate) {
		p.t.Fatalf("not refused: %v", err)
	}
	return rate.RetryAfter()
}

// TestRateOfTable: a table's own rates hold for all who write to it, and act when they are set and taken off; a write
// to several tables is refused as a whole.
func TestRateOfTable(t *testing.T) {
	p := newPaced(t, Rates{})
	p.taken(p.write(ctx, "t", 5))
	p.taken(setOption(p.Engine, "t", schema.RowRateOption, "10"))
	p.taken(p.write(ctx, "t", 60))
	p.refused(p.write(WithWriter(ctx, "a"), "t", 1), 2,
		"max_rows_per_second of table service.public.t, 10 rows a second")
	p.taken(p.write(ctx, "other", 60))
	var set WriteSet
	for _, table := range []string{"other", "t"} {
		if err := fill(set.Rows(public(table), hintOf(appendOnly)), rowsAt(0, 3, 1)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.Write(ctx, &set)
	p.refused(err, 2, "")
	if n := p.rows("other"); n != 60 {
		t.Errorf("a refused write to two tables has stored rows of one: %d, want 60", n)
	}
	p.taken(setOption(p.Engine, "t", schema.RowRateOption, ""))
	p.taken(p.write(ctx, "t", 1))
	p.taken(setOption(p.Engine, "t", schema.ByteRateOption, "1KiB"))
	p.taken(p.write(ctx, "t", 1000))
	if err := p.write(ctx, "t", 1); status.Of(err) != status.RateLimited {
		t.Errorf("bytes: %v, want a refusal", err)
	}
	putMetric := func(at int64) error {
		return put(p.Engine, "m", metric, []modelRow{{"ts": at, "host": "a", "value": 1.0}})
	}
	p.taken(putMetric(1))
	p.taken(setOption(p.Engine, "phys", schema.RowRateOption, "1"))
	for at := range int64(5) {
		p.taken(putMetric(at))
	}
	p.refused(putMetric(9), 1, "max_rows_per_second of table service.public.phys")
	for _, bad := range []string{"x", "-1", "1.5"} {
		if err := setOption(p.Engine, "t", schema.RowRateOption, bad); status.Of(err) != status.InvalidArguments {
			t.Errorf("%s = %s: %v", schema.RowRateOption, bad, err)
		}
	}
}

// TestRateOfRefused: what is refused for another reason, and what is left out row by row, has paid nothing.
func TestRateOfRefused(t *testing.T) {
	p := newPaced(t, Rates{Default: Rate{Rows: 10, Bytes: 10_000}})
	p.taken(p.write(ctx, "t", 1))
	p.taken(setOption(p.Engine, "t", schema.RowRateOption, "10"))
	p.taken(setOption(p.Engine, "t", "read_only", "true"))
	tab, err := p.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	keys := vector.NewBatch(vector.Timestamp(3))
	keys.Append(&vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstInt(vector.Timestamp(3), 1)}}, 0, 1)
	shut := func(err error) {
		t.Helper()
		if err == nil || status.Of(err) == status.RateLimited {
			t.Fatalf("got %v, want a refusal by the table", err)
		}
	}
	for range 20 {
		as := WithWriter(ctx, "a")
		shut(p.write(as, "t", 30))
		_, err := p.Delete(as, tab.Schema, keys)
		shut(err)
		var set WriteSet
		hint := hintOf(appendOnly)
		hint.Reject = func(int, error) {}
		if err := fill(set.Rows(public("t"), hint), rowsAt(0, 30, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write(as, &set); err != nil {
			t.Fatalf("rows that can be left out: %v", err)
		}
	}
	p.taken(setOption(p.Engine, "t", "read_only", "false"))
	p.taken(p.write(WithWriter(ctx, "a"), "t", 50)) // the burst of 5 s is there, and no more
	p.refused(p.write(WithWriter(ctx, "a"), "t", 1), 1, "10 rows a second")
}

// TestRateOfKeys: keys of rows that are deleted count as rows, for the user and for the table, and what is refused
// deletes nothing.
func TestRateOfKeys(t *testing.T) {
	p := newPaced(t, Rates{Users: map[string]Rate{"rows": {Rows: 10}, "bytes": {Bytes: 100}}})
	if err := put(p.Engine, "t", lastRow, rowsAt(0, 400, 1)); err != nil {
		t.Fatal(err)
	}
	tab, err := p.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	del := func(ctx context.Context, from, to int64) error {
		keys := vector.NewBatch(vector.StringType, vector.Timestamp(3))
		for at := from; at < to; at++ {
			keys.Append(&vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstString("a"),
				vector.ConstInt(vector.Timestamp(3), at)}}, 0, 1)
		}
		_, err := p.Delete(ctx, tab.Schema, keys)
		return err
	}
	for _, user := range []string{"rows", "bytes"} {
		p.taken(del(WithWriter(ctx, user), 0, 100))
		if err := del(WithWriter(ctx, user), 100, 101); status.Of(err) != status.RateLimited {
			t.Errorf("%s: %v, want a refusal", user, err)
		}
	}
	p.taken(del(AsServer(WithWriter(ctx, "rows")), 100, 110))
	p.taken(del(ctx, 110, 120)) // no user
	whole := WithWriter(ctx, "free")
	p.taken(setOption(p.Engine, "t", schema.RowRateOption, "1"))
	if tab, err = p.Table(public("t")); err != nil {
		t.Fatal(err)
	}
	p.taken(del(whole, 120, 200))
	p.taken(del(whole, 200, 300)) // the rest of a statement
	p.refused(del(WithWriter(ctx, "free"), 300, 301), 176, "max_rows_per_second of table service.public.t")
	if n := p.rows("t"); n != 100 {
		t.Errorf("%d rows are left, want 100", n)
	}
}

// TestRateOfParts: a request whose first rows are stored is stored whole: its later parts pay, those of a stream wait,
// and a stream that waits ends with its context.
func TestRateOfParts(t *testing.T) {
	p := newPaced(t, Rates{Default: Rate{Rows: 10}})
	body := WithWriter(ctx, "a")
	for range 4 {
		p.taken(p.write(body, "t", 50))
	}
	p.refused(p.write(WithWriter(ctx, "a"), "t", 1), 16, "")
	stream, stop := context.WithCancel(WithStream(ctx, "b"))
	p.taken(p.write(stream, "t", 60))
	ended := make(chan error)
	go func() { ended <- p.write(stream, "t", 1) }()
	stop()
	if err := <-ended; status.Of(err) != status.DeadlineExceeded {
		t.Errorf("a stream that waits ends with %v", err)
	}
	if n := p.rows("t"); n != 260 {
		t.Errorf("%d rows, want 260", n)
	}
}

// TestRatesForget: buckets of users who have gone are forgotten; those that are in debt are not.
func TestRatesForget(t *testing.T) {
	p := newPaced(t, Rates{Default: Rate{Rows: 10}})
	p.taken(p.write(WithWriter(ctx, "debtor"), "t", 100_000))
	for i := range mostBuckets {
		p.toll.buckets[payer{user: string(rune('가' + i))}] = &rateBucket{left: 50, at: p.now}
	}
	p.now = p.now.Add(2 * burst)
	p.taken(p.write(WithWriter(ctx, "a"), "t", 1))
	if n := len(p.toll.buckets); n != 2 {
		t.Errorf("%d buckets are kept, want that of a and of the debtor", n)
	}
	if err := p.write(WithWriter(ctx, "debtor"), "t", 1); status.Of(err) != status.RateLimited {
		t.Errorf("the debtor: %v", err)
	}
}
