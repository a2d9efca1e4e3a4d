// Package export implements `varve export`: it writes rows of a server to files. It exports a table in slices of time,
// and fetches a slice again when its answer breaks off; or the result of a statement; or all tables of a database.
//
//	plan.go              the slices of a table
//	fetch.go             a slice from the server, as Arrow, which loses nothing
//	sink.go format.go    rows as CSV, NDJSON, JSON, Arrow; packing
//	part.go parquet.go   the file under another name until it is complete, and where to go on; Parquet is made of it
//	directory.go         all tables of a database
//	progress.go          what is said meanwhile
//
// An export holds one batch of an answer and the buffers of the compressor, for Parquet one row group, whatever the
// size of the table.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// Options say what is exported, and to where.
type Options struct {
	DB      string
	Table   string // or
	Query   string // a statement
	Columns []string
	Where   string // SQL
	Search  string // a line of the search language
	Since   *time.Time
	Until   *time.Time
	Zone    *time.Location // of times in notes

	Output      string // a file, or - for standard output; or
	OutputDir   string // a directory for all tables of DB
	Format      Format // empty: by the name of Output
	NewestFirst bool
	RawTimes    bool // times are counts of their unit; not with Arrow
	Resume      bool
	RetryFor    time.Duration
	Quiet       bool
}

// Run exports rows. out is standard output; notes and progress go to notes. When ctx ends, what is whole stays in the
// part file, and notes tell of it.
func Run(ctx context.Context, c *client.Client, o Options, out, notes io.Writer) error {
	if o.OutputDir != "" {
		return toDirectory(ctx, c, o, notes)
	}
	r, err := begin(ctx, c, o, notes)
	if err != nil {
		return err
	}
	if o.Output == "-" {
		return r.toStream(ctx, out)
	}
	return r.toFile(ctx)
}

// begin finds out what an export has to do.
func begin(ctx context.Context, c *client.Client, o Options, notes io.Writer) (*running, error) {
	r := &running{c: c, o: o, notes: newNotes(notes, o.Quiet)}
	r.tries = progress.Tries{First: progress.FirstWait, For: o.RetryFor, Again: mends, Say: r.sayAgain}
	var err error
	if r.format, r.packing, err = formatOf(o.Output, o.Format); err != nil {
		return nil, err
	}
	if r.format == Arrow && o.RawTimes {
		return nil, &client.UsageError{Err: errors.New(
			"--raw-times does not go with arrow, whose times are whole numbers that are known as times")}
	}
	return r, r.describe(ctx)
}

// running is an export while it runs.
type running struct {
	c       *client.Client
	o       Options
	notes   *notes
	tries   progress.Tries
	retries int // of all statements
	format  Format
	packing Packing

	table      *client.Table // nil: a statement
	conditions []string
	columns    []string
	plan       *plan // nil: the rows are fetched by one statement
	all        span  // what the plan covers
	done       *int64
	rows       int64
	sink       *sink
	sections   int64 // their bytes, once all of them are written
}

// describe finds out what the rows are.
func (r *running) describe(ctx context.Context) (err error) {
	if r.o.Query != "" {
		return nil
	}
	if r.table, err = r.c.Table(ctx, r.o.DB, r.o.Table); err != nil {
		return err
	}
	if err := r.table.Pick(r.o.Columns); err != nil {
		return err
	}
	if r.columns = r.o.Columns; len(r.columns) == 0 {
		for _, c := range r.table.Columns {
			r.columns = append(r.columns, c.Name)
		}
	}
	found, err := r.table.Search(r.o.Search)
	if err != nil {
		return err
	}
	r.conditions = []string{r.o.Where, found.Where}
	if r.table.Time < 0 {
		if r.o.Since != nil || r.o.Until != nil || r.o.NewestFirst || r.o.Resume {
			return &client.UsageError{Err: fmt.Errorf(
				"%s has no time index: --since, --until, --newest-first and --resume do not go with it", r.o.Table)}
		}
		return nil
	}
	r.conditions = append(r.conditions, r.table.Within(r.o.Since, r.o.Until))
	r.plan = &plan{
		server: r.c, db: r.o.DB, table: client.Name(r.o.Table), time: client.Name(r.table.Columns[r.table.Time].Name),
		conditions: r.conditions, newestFirst: r.o.NewestFirst,
	}
	return nil
}

// task is what tells this export from others.
func (r *running) task() task {
	columns := ""
	for _, c := range r.table.Columns {
		if slices.Contains(r.columns, c.Name) {
			columns += c.Name + " " + c.Type + ", "
		}
	}
	return task{Base: r.c.Base, DB: r.o.DB, Table: r.o.Table, Names: client.Names(r.columns), Columns: columns,
		Conditions: r.conditions, Format: r.format, Packing: r.packing,
		NewestFirst: r.o.NewestFirst, RawTimes: r.o.RawTimes}
}

// count counts the rows and fixes the last instant, unless an export goes on that did.
func (r *running) count(ctx context.Context) (err error) {
	if r.plan == nil {
		return nil
	}
	if r.done == nil {
		if err := r.patiently(ctx, func() (err error) {
			r.all, err = r.plan.begin(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	r.notes.total = r.all.rows
	if r.all.rows == 0 {
		r.notes.Say("no row of %s fits", r.o.Table)
		return nil
	}
	if left, any := r.left(); any {
		r.plan.spans = []span{left}
	}
	until := client.AtUnits(r.all.last, r.table.PerSecond()).In(r.o.Zone)
	r.notes.Say("%s of %s, up to %s; what comes later is left out", client.Plural(r.all.rows, "row"),
		r.o.Table, until.Format("2006-01-02 15:04:05.999999999 -07:00"))
	return nil
}

// left is the range that is not written yet.
func (r *running) left() (s span, any bool) {
	s = r.all
	switch {
	case r.done == nil:
	case r.plan.newestFirst && *r.done == s.first, !r.plan.newestFirst && *r.done == s.last:
		return s, false
	case r.plan.newestFirst:
		s.last = *r.done - 1
	default:
		s.first = *r.done + 1
	}
	s.rows = max(1, s.rows-r.rows)
	return s, true
}

// toFile writes the file.
func (r *running) toFile(ctx context.Context) error {
	file, err := r.open()
	if err != nil {
		return err
	}
	if err = r.fill(ctx, file); err == nil {
		err = r.complete(ctx, file)
	}
	r.notes.Wipe()
	if err != nil {
		if left := r.leave(file); left != nil {
			r.notes.Say("nothing can be gone on with: %v", left)
		}
		return err
	}
	r.notes.summary(r.rows, fileSize(r.o.Output), r.o.Output, r.retries)
	r.sayDifference()
	return nil
}

// complete gives a file that is written its name.
func (r *running) complete(ctx context.Context, file *part) error {
	if r.format == Parquet {
		return r.completeParquet(ctx, file)
	}
	return file.complete()
}

// sayDifference tells of rows that came or went while the table was read.
func (r *running) sayDifference() {
	if r.plan != nil && r.rows != r.all.rows {
		r.notes.Say("%s were counted at the start: rows of this range were written or removed meanwhile",
			client.Plural(r.all.rows, "row"))
	}
}

// open begins the file, or goes on with it.
func (r *running) open() (*part, error) {
	r.sink = &sink{format: r.format, packing: r.packing, rawTimes: r.o.RawTimes, empty: true}
	if r.format == Parquet {
		r.sink.format, r.sink.packing = Arrow, Zstd // Parquet is made of it at the end
	}
	var file *part
	var err error
	if r.o.Resume {
		if r.plan == nil {
			return nil, &client.UsageError{Err: errors.New(
				"--resume goes with --table: the rows of a statement have no order to resume from")}
		}
		var state *progressState
		if file, state, err = reopen(r.o.Output, r.task()); err != nil {
			return nil, err
		}
		if file != nil {
			r.all, r.done, r.rows = span{state.First, state.Last, state.Total}, state.Done, state.Rows
			r.sink.restore(state.Sink)
			r.notes.had = r.rows
			r.notes.Say("%s are in %s%s already", client.Plural(r.rows, "row"), r.o.Output, partEnding)
		} else {
			r.notes.Say("there is no %s%s to go on from: the export begins anew", r.o.Output, stateEnding)
		}
	}
	if file == nil {
		if file, err = create(r.o.Output); err != nil {
			return nil, err
		}
	}
	r.sink.out = file
	return file, nil
}

// state is where an export stands.
func (r *running) state() progressState {
	return progressState{Task: r.task(), Sink: r.sink.state(), First: r.all.first, Last: r.all.last, Total: r.all.rows,
		Done: r.done, Rows: r.rows}
}

// leave keeps what is whole, and tells how to go on.
func (r *running) leave(file *part) error {
	if r.done == nil || r.plan == nil {
		file.f.Close() //nolint:errcheck // it is removed
		return os.Remove(file.name + partEnding)
	}
	var err error
	if r.sections > 0 { // what stands behind the rows is written again by whoever goes on
		err = file.cut(r.sections)
	}
	if err == nil {
		err = file.save(r.state(), true)
	}
	switch {
	case err == nil:
		r.notes.Say("%s of %s are in %s%s; the same command with --resume goes on",
			client.Plural(r.rows, "row"), client.Number(r.all.rows), r.o.Output, partEnding)
		return file.leave()
	case file.saved: // the disk is full, perhaps
		r.notes.Say("a part is in %s%s; the same command with --resume goes on", r.o.Output, partEnding)
		file.f.Close() //nolint:errcheck // what the state counts is safe already
		return nil
	}
	file.f.Close() //nolint:errcheck // it is removed
	return errors.Join(err, os.Remove(file.name+partEnding))
}

// dest is what sections are written to.
type dest interface {
	io.Writer
	// written is how many bytes were.
	written() int64
	// cut takes back what is behind a size.
	cut(size int64) error
	// save notes where the export stands, behind a whole section.
	save(s progressState, atOnce bool) error
}

// write writes all sections.
func (r *running) write(ctx context.Context, to dest) error {
	for {
		sql, s, ok, err := r.next(ctx)
		if err != nil || !ok {
			return err
		}
		size, rows, state := to.written(), r.rows, r.sink.state()
		err = r.patiently(ctx, func() error {
			err := r.section(ctx, sql, to)
			if err == nil {
				return nil
			}
			r.rows = rows
			r.sink.abandon(state)
			cut := to.cut(size)
			switch again, _ := mends(err); {
			case cut == nil:
				return r.finally(err)
			case again:
				return finalError{cut}
			}
			return finalError{err} // cutting fails as writing did
		})
		if err != nil || r.plan == nil {
			return err
		}
		if r.done = &s.last; r.plan.newestFirst {
			r.done = &s.first
		}
		if err := to.save(r.state(), false); err != nil {
			return err
		}
	}
}

// next is the next statement, and the span it fetches.
func (r *running) next(ctx context.Context) (sql string, s span, ok bool, err error) {
	switch {
	case r.plan != nil:
		if err := r.patiently(ctx, func() (err error) {
			s, ok, err = r.plan.next(ctx)
			return err
		}); err != nil || !ok {
			return "", s, ok, err
		}
		return r.plan.rows(client.Names(r.columns), s), s, true, nil
	case r.table != nil:
		return "SELECT " + client.Names(r.columns) + " FROM " + client.Name(r.table.Name) +
			client.Where(r.conditions...), s, true, nil
	}
	return r.o.Query, s, true, nil
}

// section writes the rows of a statement.
func (r *running) section(ctx context.Context, sql string, to dest) error {
	err := fetch(ctx, r.c, r.o.DB, sql, func(schema *arrow.Schema, batch arrow.RecordBatch) error {
		if batch == nil {
			return r.sink.begin(schema)
		}
		r.rows += batch.NumRows()
		r.notes.progress(r.rows, to.written())
		return r.sink.write(batch)
	})
	if err != nil {
		return err
	}
	return r.sink.end()
}

// finalError is one that is not tried again.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// finally keeps a statement of the user from being run again once an answer began: nobody knows what it does.
func (r *running) finally(err error) error {
	if broken := (*brokenError)(nil); r.table == nil && errors.As(err, &broken) {
		return finalError{err}
	}
	return err
}

// toStream writes to standard output. What was written cannot be taken back there.
func (r *running) toStream(ctx context.Context, out io.Writer) error {
	if r.o.Resume {
		return &client.UsageError{Err: errors.New("--resume goes with a file: give --output")}
	}
	if r.format == Parquet {
		return r.parquetToStream(ctx, out)
	}
	stream := &stream{w: out}
	r.sink = &sink{out: stream, format: r.format, packing: r.packing, rawTimes: r.o.RawTimes, empty: true}
	err := r.fill(ctx, stream)
	r.notes.Wipe()
	if err == nil {
		r.sayDifference()
	}
	return err
}

// fill writes everything: what stands before the rows, they, and what stands behind them.
func (r *running) fill(ctx context.Context, to dest) error {
	if err := r.count(ctx); err != nil {
		return err
	}
	if err := r.write(ctx, to); err != nil {
		return err
	}
	if !r.sink.head { // there are no rows: the names of the columns are asked for alone
		if err := r.section(ctx, "SELECT "+client.Names(r.columns)+" FROM "+client.Name(r.table.Name)+" LIMIT 0",
			to); err != nil {
			return err
		}
	}
	r.sections = to.written()
	return r.sink.finish()
}

// stream is standard output: what was written cannot be taken back.
type stream struct {
	w io.Writer
	n int64
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	return n, err
}

func (s *stream) written() int64 { return s.n }

func (s *stream) cut(size int64) error {
	if s.n > size {
		return errors.New("standard output already has some of the rows, so they cannot be exported again: use a file")
	}
	return nil
}

func (s *stream) save(progressState, bool) error { return nil }

// fileSize is that of a file, 0 if it is not there.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
