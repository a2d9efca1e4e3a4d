// Package ingest implements `varve ingest`: it sends files and streams to a running server.
//
// # Flow
//
//	input -> unpack -> cutter -> batch -> worker -> request
//
// One goroutine reads the inputs, one after the other, and cuts them into batches at the ends of entries. Workers send
// the batches, one worker a connection. When the server refuses a batch, the worker halves it until the bad entry is
// alone. The ledger of an input records which batches are acknowledged; the state file is written from it.
//
// # Memory
//
// A fixed number of buffers holds the batches, so memory does not depend on the input: connections x 2 x batch, and
// what the program itself needs. A line larger than a batch goes through a temporary file.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"varve/cmd/varve/client"
)

// Options say what is sent and how. The zero value of a field is its default.
type Options struct {
	Args []string // files, directories, patterns or "-"
	// Manifest is a directory of exported tables, instead of Args.
	Manifest string
	Stdin    io.Reader
	Notes    io.Writer // notes and progress
	Result   io.Writer // the summary, and tables of dry runs
	Width    int       // columns of the terminal that Notes is; 0: it is none, so no line is written again
	Quiet    bool

	Table, DB                 string
	Pipeline, PipelineVersion string
	PipelineFile              string
	Format                    string // empty: by looking
	Time                      string // "auto" or a custom_time_index
	MaxNestedLevels           int
	Hints                     []string // k=v
	SkipError                 bool

	Batch       int // bytes
	Connections int
	Compress    string // auto, zstd or none
	Rate        Rate
	RetryFor    time.Duration

	Rejects    string // a file
	MaxRejects int    // negative: without a bound where there is a file, else none

	State           string // a file; empty: in StateDir
	StateDir        string
	Resume, Restart bool
	Follow          bool
	DryRun          int
}

// Bounds of options.
const (
	defaultBatch = 4 << 20
	leastBatch   = 4 << 10
	mostBatch    = 1 << 30
	// mostEntry is the largest entry that is sent where batches are smaller: the server's own limit of a body.
	mostEntry = 64 << 20
	// identity is the pipeline that takes entries as they are.
	identity = "service_identity"
)

// running is one run of the command.
type running struct {
	o      *Options
	c      *client.Client
	report *report
	state  *state
	inputs []*input
	unmade []error // tables of a manifest that the server refuses to make
	// targets are what the tables of the inputs are.
	targets map[string]target

	buffers chan []byte // free ones
	work    chan *batch
	stop    chan struct{} // closed when nothing further is to be sent
	ended   func() error  // of the context: an end is known by it before stop is closed
	send    *sender
}

// Run sends everything. It ends early when ctx does, with what is in flight answered and the state written; the error
// is then the cause of ctx. Other errors: client.UsageError, client.PartialError, those of the client, and of files.
func Run(ctx context.Context, c *client.Client, o *Options) error {
	if err := o.complete(c); err != nil {
		return err
	}
	r := &running{o: o, c: c, report: newReport(o), stop: make(chan struct{}), ended: ctx.Err,
		targets: map[string]target{}}
	var err error
	if o.Manifest != "" {
		err = r.readManifest(ctx)
	} else {
		r.inputs, err = findInputs(o)
		if r.lookAtRows(); err == nil && o.DryRun == 0 {
			err = r.findColumns(ctx)
		}
	}
	if err != nil {
		return err
	}
	if o.DryRun > 0 {
		return r.dryRun(ctx)
	}
	if r.state, err = openState(o, c.Base); err != nil {
		return err
	}
	if err := r.identifyAll(ctx); err != nil {
		return err
	}
	if err := r.place(); err != nil {
		return err
	}
	if len(r.inputs) == 0 {
		return r.left(nil)
	}
	removePipeline, err := r.uploadPipeline(ctx)
	if err != nil {
		return err
	}
	return errors.Join(r.sendAll(ctx), removePipeline())
}

// complete checks the options and fills in defaults.
func (o *Options) complete(c *client.Client) error {
	near := isLoopback(c.Base)
	o.DB = cmp.Or(o.DB, "public")
	o.Batch = cmp.Or(o.Batch, defaultBatch)
	o.RetryFor = cmp.Or(o.RetryFor, 10*time.Minute)
	if o.Connections == 0 {
		o.Connections = 4
		if near {
			o.Connections = 2
		}
	}
	if o.Compress == "" || o.Compress == "auto" {
		o.Compress = "zstd"
		if near {
			o.Compress = "none"
		}
	}
	usage := func(format string, args ...any) error { return &client.UsageError{Err: fmt.Errorf(format, args...)} }
	f := formats[o.Format]
	switch {
	case o.Batch < leastBatch || o.Batch > mostBatch:
		return usage("--batch %d: between 4KiB and 1GiB is possible", o.Batch)
	case o.Connections < 1 || o.Connections > 64:
		return usage("--connections %d: between 1 and 64 are possible", o.Connections)
	case o.Resume && o.Restart:
		return usage("--resume and --restart exclude each other")
	case o.Manifest != "" && (len(o.Args) > 0 ||
		o.Table+o.Pipeline+o.PipelineVersion+o.PipelineFile+o.Format+o.Time != "" ||
		len(o.Hints) > 0 || o.SkipError || o.MaxNestedLevels != 0 || o.Follow || o.DryRun > 0):
		return usage(
			"--manifest takes tables, formats and times from the directory: leave out flags and files that name others")
	case o.Manifest != "":
		o.Batch = min(o.Batch, mostInsert)
		o.slowDown()
		return nil
	case len(o.Args) == 0:
		return usage("nothing to send: name files, directories, or - for standard input")
	case o.Format != "" && f == nil:
		return usage("--format %s: expected one of %s", o.Format, formatNames)
	case o.Table == "" && (f == nil || !f.namesTables && f.name != "logpush"):
		return usage("--table is missing: the table that the entries go to")
	case o.Follow && o.DryRun > 0:
		return usage("--follow and --dry-run exclude each other")
	case o.Pipeline != "" && o.PipelineFile != "":
		return usage("--pipeline and --pipeline-file exclude each other")
	case o.PipelineVersion != "" && o.Pipeline == "":
		return usage("--pipeline-version needs --pipeline")
	case f == insert && (o.Time+o.Pipeline+o.PipelineFile != "" || len(o.Hints) > 0 || o.SkipError ||
		o.MaxNestedLevels != 0):
		return usage(
			"--format insert takes rows as the table has them: leave out --time and all flags of pipelines")
	case o.Time != "" && (o.PipelineFile != "" || o.Pipeline != "" && o.Pipeline != identity):
		return usage("--time is for entries without a pipeline: a pipeline has a time index of its own")
	case o.Time != "" && f != nil && (f.namesTables || f.name == "text" || f.name == "logpush"):
		return usage("--time names a field, and --format %s has none", f.name)
	}
	if f == insert {
		o.Batch = min(o.Batch, mostInsert)
	}
	o.slowDown()
	return checkTime(o.Time)
}

// slowDown makes batches so small that one is about a second.
func (o *Options) slowDown() {
	if o.Rate.Bytes > 0 {
		o.Batch = int(max(leastBatch, min(int64(o.Batch), o.Rate.Bytes)))
	}
}

// isLoopback reports whether an address is on this machine.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// place finds for each input where to begin, by the state, and leaves out those that are stored.
func (r *running) place() error {
	left := r.inputs[:0:0]
	for _, in := range r.inputs {
		more, skip, err := r.state.begin(in, r.targets[in.table], r.o)
		switch {
		case err != nil:
			return err
		case skip != "":
			r.report.note("%s: %s", in.name, skip)
			continue
		}
		more = append(more, in)
		for _, in := range more {
			if err := r.streamOf(in); err != nil {
				return err
			}
			if in.note != "" {
				r.report.note("%s", in.note)
			}
		}
		left = append(left, more...)
	}
	r.inputs = left
	return nil
}

// streamOf gives an input its stream, and the places at which earlier runs cut it: batches have to hold what theirs
// held.
func (r *running) streamOf(in *input) (err error) {
	if in.record == nil {
		in.stream = newStream()
		return nil
	}
	in.stream = in.record.Stream
	if in.ends, err = r.state.sentEnds(in.stream); len(in.ends) > 0 {
		r.o.Batch = max(r.o.Batch, in.record.Batch)
	}
	return err
}

// drainTime is how long answers are awaited once the user has asked to stop.
const drainTime = 10 * time.Second

// sendAll reads and sends all inputs and says what became of them.
func (r *running) sendAll(ctx context.Context) (err error) {
	// Requests outlive ctx by a little: an answer that nobody waits for leaves it open what is stored.
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	r.send = newSender(r, requests)
	defer func() { err = errors.Join(err, r.send.rejects.close()) }()
	if err := r.send.check(ctx); err != nil {
		return err
	}
	r.work = make(chan *batch)
	r.buffers = make(chan []byte, max(2, 2*r.o.Connections-1)) // and what a cutter carries over
	for range cap(r.buffers) {
		r.buffers <- nil
	}
	r.report.begin(r.inputs)
	if err := r.state.begun(r); err != nil {
		return err
	}
	drained := context.AfterFunc(ctx, func() {
		r.end(nil)
		time.AfterFunc(drainTime, func() { cancel(context.Cause(ctx)) })
	})
	workers := r.send.start()
	r.readAll()
	close(r.work)
	workers.Wait()
	drained()
	err = r.state.finish()
	r.report.end()
	return errors.Join(r.outcome(ctx), err)
}

// end lets nothing further be sent; the first cause is what the command ends with.
func (r *running) end(cause error) {
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	if r.report.fatal == nil {
		r.report.fatal = cause
	}
}

// outcome is the error that the command ends with, after its summary.
func (r *running) outcome(ctx context.Context) error {
	s := r.report.sum()
	s.remembers = r.targets[r.inputs[0].table].known()
	r.report.summary(&s)
	switch {
	case s.fatal != nil:
		return s.fatal
	case ctx.Err() != nil && r.o.Follow && len(s.failed) == 0 && s.rejected == 0:
		return nil // following has no other end
	case ctx.Err() != nil && !r.o.Follow:
		return context.Cause(ctx)
	case len(s.failed) == len(r.inputs) && s.stored == 0:
		return errors.Join(s.failed...)
	case len(r.unmade) > 0:
		return r.left(s.failed)
	case len(s.failed) > 0:
		return &client.PartialError{Err: errors.Join(
			append(s.failed, fmt.Errorf("%d of %d inputs could not be read whole", len(s.failed), len(r.inputs)))...)}
	case s.rejected > 0:
		were := "were"
		if s.rejected == 1 {
			were = "was"
		}
		return &client.PartialError{Err: fmt.Errorf("%s %s rejected%s", client.Plural(s.rejected, "entry"), were,
			r.send.rejects.where())}
	}
	return nil
}

// left is the error of what was left out of a manifest, and of inputs that failed besides; nil: nothing was.
func (r *running) left(failed []error) error {
	if len(r.unmade) == 0 {
		return nil
	}
	return &client.PartialError{Err: errors.Join(append(r.unmade, failed...)...)}
}
