package sqlexec

import (
	"context"
	"strings"
	"testing"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// TestTextsAreListedWhileTheyAreRead: a long text is on the list of running statements before its first statement
// begins, and ends when it is killed, its client is gone or its time is over.
func TestTextsAreListedWhileTheyAreRead(t *testing.T) {
	insert := "INSERT INTO t VALUES " + commas(200_000, func(int) string { return "(1, 'x')" })
	for name, c := range map[string]struct {
		end  func(x *Executor, id string, cancel context.CancelCauseFunc)
		code status.Code
		want string
	}{
		"killed": {func(x *Executor, id string, _ context.CancelCauseFunc) {
			if _, err := x.kill(&parse.Kill{ID: id}); err != nil {
				t.Error(err)
			}
		}, status.Cancelled, "Query was killed"},
		"gone": {func(_ *Executor, _ string, cancel context.CancelCauseFunc) { cancel(nil) }, status.Cancelled,
			"Query was cancelled"},
		"expired": {func(_ *Executor, _ string, cancel context.CancelCauseFunc) { cancel(context.DeadlineExceeded) },
			status.DeadlineExceeded, "time limit"},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var x *Executor
		ended := false
		pool := exec.PoolOf(ledger.Single(admission.Query, 1<<30, func(bytes int64) { // what is read so far is counted
			if ended || bytes == 0 {
				return
			}
			ended = true
			list := x.Running()
			if len(list) != 1 || list[0].Client != "here" || len(list[0].Query) != maxQueryText+3 ||
				!strings.HasPrefix(insert, strings.TrimSuffix(list[0].Query, "...")) {
				t.Fatalf("%s: %d are listed: %.200v", name, len(list), list)
			}
			c.end(x, list[0].ID, cancel)
		}))
		x = New(openStore(t), Options{Workers: 2, Memory: pool})
		began := time.Now()
		_, release, err := x.ParseWithin(ctx, &Session{Client: "here"}, insert)
		if status.Of(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: after %s", name, took)
		}
		release()
		if list := x.Running(); len(list) > 0 || pool.Used() != 0 {
			t.Errorf("%s: %d are listed, %d bytes are taken", name, len(list), pool.Used())
		}
		cancel(nil)
	}
}

// TestRequestIsKilledBetweenStatements: an id that was listed while a text was read, or for one of its statements, ends
// those after it.
func TestRequestIsKilledBetweenStatements(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	list, release, err := x.ParseWithin(context.Background(), s, "SELECT 1; SELECT 2")
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(context.Background(), s, list[0])
	if err != nil {
		t.Fatal(err)
	}
	running := x.Running()
	if len(running) != 1 || running[0].Query != "SELECT 1" {
		t.Fatalf("%v are listed", running)
	}
	r.Rows.Close()
	if _, err := x.kill(&parse.Kill{ID: running[0].ID}); err != nil {
		t.Error(err)
	}
	if _, err := x.Execute(context.Background(), s, list[1]); status.Of(err) != status.Cancelled {
		t.Errorf("after KILL: %v", err)
	}
	release()
	if _, err := x.kill(&parse.Kill{ID: running[0].ID}); status.Of(err) != status.InvalidArguments {
		t.Errorf("KILL of a request that is over: %v", err)
	}
}

// TestReaderHeeds: the reader asks at least every few thousand words whether it is waited for, whatever it reads.
func TestReaderHeeds(t *testing.T) {
	for _, text := range []string{
		"INSERT INTO t VALUES " + commas(20_000, func(int) string { return "(1)" }),
		"SELECT 1 IN (" + commas(20_000, func(int) string { return "1" }) + ")",
		strings.Repeat("SELECT 1;", 20_000),
		"SELECT 1" + strings.Repeat("+1", 4_900),
	} {
		for at := range int64(4) {
			d := &doomed{Context: context.Background()}
			d.left.Store(at)
			if _, err := parse.ParseWithin(text, exec.NewPool(0).Budget(d)); err != context.Canceled {
				t.Errorf("%.30s: %v after it was asked %d times", text, err, at)
			}
		}
	}
}
