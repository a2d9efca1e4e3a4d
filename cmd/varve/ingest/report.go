package ingest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// report counts what happens and says it. Safe for concurrent use.
type report struct {
	o     *Options
	start time.Time
	raw   atomic.Int64 // bytes read of the inputs, packed or not

	mu      sync.Mutex // protects what is below
	sums    sums
	known   int64  // bytes of all inputs; 0: not known
	current string // input
	line    progress.Line
	told    map[string]bool
	fatal   error

	ended chan struct{}
	shows sync.WaitGroup
}

// sums are the figures of a run.
type sums struct {
	files              int
	stored, skipped    int64 // rows, entries
	rejected           int64
	bytes              int64 // of entries
	requests, retries  int64
	doubtful, doubtRow int64 // batches whose answer was lost and that were sent again, and their rows
	lost, lostRow      int64 // and those that were not
	remembers          bool  // the server does, and stores them once
	failed             []error
	took               time.Duration
	fatal              error
}

func newReport(o *Options) *report {
	return &report{o: o, start: time.Now(), told: map[string]bool{}, ended: make(chan struct{}),
		line: progress.Line{W: o.Notes, Quiet: o.Quiet, Width: o.Width}}
}

// note says something, above the line of progress.
func (r *report) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Say(format, args...)
}

// once says something the first time.
func (r *report) once(text string) {
	if r.told[text] || len(r.told) > 100 {
		return
	}
	r.told[text] = true
	r.line.Say("%s", text)
}

// took says what an input was taken for, where that is not what the one before was.
func (r *report) took(in *input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = in.name
	r.sums.files++
	what := in.format.title
	if in.packed != "" {
		what = in.packed + ", " + what
	}
	if in.timeIndex != "" && r.o.Time == autoTime {
		what += ", time " + in.timeIndex
	}
	if r.told["taken for "+what] {
		return
	}
	r.told["taken for "+what] = true
	r.line.Say("%s: read as %s", in.name, what)
	if in.format.namesTables && in.table != "" {
		r.once("entries of " + in.format.title + " name their tables: --table is not used for them")
	}
}

// read counts bytes that were read.
func (r *report) read(n int) { r.raw.Add(int64(n)) }

// request counts one.
func (r *report) request() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums.requests++
}

// stored counts a part that the server took.
func (r *report) stored(t taken, p *part, long int64, doubtful bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums.stored += t.rows
	r.sums.skipped += t.skipped
	r.sums.bytes += max(long, int64(len(p.body)))
	if doubtful {
		r.sums.doubtful++
		r.sums.doubtRow += t.rows
	}
	for _, w := range t.warnings {
		r.once("the server says: " + w)
	}
}

// lost counts a part that may be stored, though no answer said so.
func (r *report) lost(p *part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums.lost++
	r.sums.lostRow += p.entries()
}

// retry counts an attempt that was for nothing.
func (r *report) retry(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums.retries++
	r.once(fmt.Sprintf("%v; tried again for %s", err, r.o.RetryFor))
}

// reject counts an entry that was refused, and gives how many there are by now.
func (r *report) reject() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums.rejected++
	return r.sums.rejected
}

func (r *report) nothingStored() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sums.stored == 0
}

// fail notes that an input cannot be read whole; what came before that is sent. The command ends with it; as that may
// be far away where files are followed, it is said there at once, even when notes are not wanted.
func (r *report) fail(in *input, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err = fmt.Errorf("%s: %w", in.name, client.FileReason(err))
	if r.sums.failed = append(r.sums.failed, err); r.o.Follow {
		r.line.Insist(err.Error())
	}
}

// begin begins to show progress.
func (r *report) begin(inputs []*input) {
	r.start = time.Now()
	for _, in := range inputs {
		if in.record == nil {
			r.known = 0
			break
		}
		r.known += in.record.Size
		if len(in.resume) > 0 && !in.record.Packed {
			r.raw.Add(in.resume[0].To.Byte)
		}
	}
	if r.o.Quiet {
		return
	}
	r.shows.Go(func() {
		tick := time.NewTicker(r.line.Every())
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.show()
			case <-r.ended:
				return
			}
		}
	})
}

// end ends the progress.
func (r *report) end() {
	close(r.ended)
	r.shows.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums.took = time.Since(r.start)
	r.line.Wipe()
}

// show writes one line of progress.
func (r *report) show() {
	r.mu.Lock()
	defer r.mu.Unlock()
	took, raw := time.Since(r.start), r.raw.Load()
	whole := r.known > 0 && !r.o.Follow
	parts := []string{r.current, client.Bytes(raw)}
	if whole {
		parts[1] = fmt.Sprintf("%s of %s, %d %%", client.Bytes(raw), client.Bytes(r.known), min(100, raw*100/r.known))
	}
	parts = append(parts, client.Number(r.sums.stored)+" rows",
		client.Number(progress.PerSecond(r.sums.stored, took))+" rows/s",
		client.Bytes(progress.PerSecond(r.sums.bytes, took))+"/s")
	if r.sums.retries > 0 {
		parts = append(parts, client.Plural(r.sums.retries, "retry"))
	}
	if whole && raw > 0 && raw < r.known {
		parts = append(parts, progress.Left(raw, r.known, took).String()+" left")
	}
	r.line.Draw(strings.Join(parts, "  "))
}

// sum gives the figures.
func (r *report) sum() sums {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sums
	s.failed, s.fatal = slices.Clone(r.sums.failed), r.fatal
	return s
}

// summary says what became of everything.
func (r *report) summary(s *sums) {
	if r.o.Quiet {
		return
	}
	fmt.Fprintf(r.o.Result, "%s: %s stored, %s rejected%s, %s skipped by the server; %s in %s, %s rows/s; %s, %s\n",
		client.Plural(int64(s.files), "input"), client.Plural(s.stored, "row"), client.Number(s.rejected),
		rejectsFile(r.o, s), client.Number(s.skipped),
		client.Bytes(s.bytes), s.took.Round(time.Millisecond), client.Number(progress.PerSecond(s.stored, s.took)),
		client.Plural(s.requests, "request"), client.Plural(s.retries, "retry"))
	if s.doubtful > 0 {
		fmt.Fprintf(r.o.Result, "%s of %s may be stored twice: the answer was lost\n",
			client.Plural(s.doubtful, "batch"), client.Plural(s.doubtRow, "row"))
	}
	if s.lost > 0 {
		again := "resuming stores them again"
		if s.remembers {
			again = "resuming stores what is not"
		}
		fmt.Fprintf(r.o.Result, "%s of %s may be stored although no answer said so: %s\n",
			client.Plural(s.lost, "batch"), client.Plural(s.lostRow, "entry"), again)
	}
}

func rejectsFile(o *Options, s *sums) string {
	if o.Rejects == "" || s.rejected == 0 {
		return ""
	}
	return " (in " + client.Visible(o.Rejects) + ")"
}
