// Package tail implements `varve tail`: it prints the newest rows of a table, then the rows that arrive.
//
//	tail.go     what runs: the last rows, then polls
//	poll.go     which rows are new, late ones too
//	seen.go     rows that were shown
//	print.go    rows as text, NDJSON, CSV or by a template
//	level.go    words that mean how grave a row is
//	reader.go   whether somebody still reads
package tail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// MostRows is how many rows may be asked for at the start.
const MostRows = 10_000

// Rows of the start without a number, of a range without one, and of each poll.
const (
	defaultRows = 20
	perPoll     = 1000
)

// Options say what is shown, and how.
type Options struct {
	DB, Table string
	Rows      int    // at the start; below 0: 20, or where Since is given those since then up to 1,000
	Where     string // SQL
	Search    string // a line of the search language
	Columns   []string
	Since     *time.Time
	Zone      *time.Location

	Follow  bool
	Every   time.Duration // between polls
	Overlap time.Duration // how late rows may come and still be seen

	Format   string // text, ndjson or csv
	Template string // a line with names of columns in it, such as {{.level}}, instead of a format
	Raw      bool   // control characters as they are
	Color    bool
	Terminal bool // what is written is read on a terminal
	Quiet    bool
}

// waits are those between tries to reach a server again.
var waits = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// pollLimit is how long a poll may take, whose rows are the newest and so near at hand.
const pollLimit = time.Minute

// errLeft: nobody reads what is written any more.
var errLeft = errors.New("the reader was closed")

// Run shows rows until ctx ends, or only the last ones. Rows go to out, notes to notes. A reader of out that leaves,
// and while it follows Ctrl-C, are no errors.
func Run(ctx context.Context, c *client.Client, o Options, out, notes io.Writer) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	defer whenLeft(out, func() { leave(errLeft) })()
	r := &running{c: c, o: o, out: out, notes: progress.Line{W: notes, Quiet: o.Quiet}}
	err := r.start(ctx)
	if err == nil && o.Follow {
		err = r.follow(ctx)
	}
	var interrupted *client.InterruptedError
	if errors.Is(err, errLeft) || o.Follow && errors.As(err, &interrupted) {
		return nil
	}
	return err
}

// running is a list of rows while it is shown.
type running struct {
	c     *client.Client
	o     Options
	out   io.Writer
	notes progress.Line
	*poller
	print printer
}

// start shows the last rows.
func (r *running) start(ctx context.Context) error {
	table, err := r.c.Table(ctx, r.o.DB, r.o.Table)
	if err != nil {
		return err
	}
	if table.Time < 0 {
		return &client.UsageError{Err: fmt.Errorf("%s has no time index, so it has no last rows",
			r.o.Table)}
	}
	if err := table.Pick(r.o.Columns); err != nil {
		return err
	}
	found, err := table.Search(r.o.Search)
	if err != nil {
		return err
	}
	if r.print, err = newPrinter(r.o, table, found.Words, r.out); err != nil {
		return err
	}
	r.poller = newPoller(r.c, table, r.o, []string{r.o.Where, found.Where, table.Within(r.o.Since, nil)})
	rows, leftOut, err := r.first(ctx)
	if err != nil {
		return err
	}
	r.sayLeftOut(leftOut)
	return r.print.rows(r.poller.columns, rows)
}

// follow shows rows as they come. Errors that may pass are told once, and borne.
func (r *running) follow(ctx context.Context) error {
	wait, failures := r.o.Every, 0
	for {
		if err := progress.Sleep(ctx, wait); err != nil {
			return err
		}
		begun := time.Now()
		rows, leftOut, err := r.pollFor(ctx, pollLimit)
		if again, least := client.Temporary(err); err != nil && again && ctx.Err() == nil {
			if failures == 0 {
				r.notes.Say("%s Trying again", sentence(err))
			}
			wait = max(least, waits[min(failures, len(waits)-1)])
			failures++
			continue
		}
		if err != nil {
			return err
		}
		if failures > 0 {
			r.notes.Say("the server answers again")
			failures = 0
		}
		r.sayLeftOut(leftOut)
		if err := r.print.rows(r.poller.columns, rows); err != nil {
			return err
		}
		wait = max(r.o.Every-time.Since(begun), r.o.Every/10)
	}
}

// pollFor polls; a server that does not answer in time is away.
func (r *running) pollFor(ctx context.Context, limit time.Duration) (rows [][]any, leftOut int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return r.poll(ctx)
}

// sentence ends an error with a point.
func sentence(err error) string {
	text := client.Line(err)
	if last := text[len(text)-1]; last == '.' || last == ')' || last == '?' {
		return text
	}
	return text + "."
}

func (r *running) sayLeftOut(n int64) {
	if n == 1 {
		r.notes.Say("1 row left out")
	} else if n > 1 {
		r.notes.Say("%d rows left out", n)
	}
}
