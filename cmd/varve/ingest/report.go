package ingest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"varve/cmd/varve/client"
)

// How often progress is shown.
const (
	liveEvery  = 250 * time.Millisecond
	plainEvery = 10 * time.Second
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
	shown   bool   // a line of progress stands in the terminal
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
	return &report{o: o, start: time.Now(), told: map[string]bool{}, ended: make(chan struct{})}
}

// note says something, above the line of progress.
func (r *report) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(fmt.Sprintf(format, args...))
}

func (r *report) write(text string) {
	if !r.o.Quiet {
		r.say(text)
	}
}

// say writes a line whether notes are wanted or not. Names and answers of servers are among what it says.
func (r *report) say(text string) {
	r.wipe()
	fmt.Fprintf(r.o.Notes, "varve: %s\n", client.Visible(text))
}

// wipe removes the line of progress.
func (r *report) wipe() {
	if r.shown {
		fmt.Fprint(r.o.Notes, "\r\x1b[K")
		r.shown = false
	}
}

// once says something the first time.
func (r *report) once(text string) {
	if r.told[text] || len(r.told) > 100 {
		return
	}
	r.told[text] = true
	r.write(text)
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
	r.write(fmt.Sprintf("%s: read as %s", in.name, what))
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
		r.say(err.Error())
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
	every := plainEvery
	if r.o.Width > 0 {
		every = liveEvery
	}
	r.shows.Go(func() {
		tick := time.NewTicker(every)
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
	r.wipe()
}

// show writes one line of progress.
func (r *report) show() {
	r.mu.Lock()
	defer r.mu.Unlock()
	seconds := max(time.Since(r.start).Seconds(), 0.001)
	raw := r.raw.Load()
	parts := []string{r.current}
	if r.known > 0 && !r.o.Follow {
		parts = append(parts, fmt.Sprintf("%s of %s, %d %%", client.Bytes(raw), client.Bytes(r.known),
			min(100, raw*100/r.known)))
	} else {
		parts = append(parts, client.Bytes(raw))
	}
	parts = append(parts, client.Number(r.sums.stored)+" rows",
		client.Number(int64(float64(r.sums.stored)/seconds))+" rows/s",
		client.Bytes(int64(float64(r.sums.bytes)/seconds))+"/s")
	if r.sums.retries > 0 {
		parts = append(parts, counted(r.sums.retries, "retry", "retries"))
	}
	if r.known > 0 && !r.o.Follow && raw > 0 && raw < r.known {
		left := time.Duration(float64(r.known-raw) / float64(raw) * seconds * float64(time.Second))
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	line := client.Visible(strings.Join(parts, "  "))
	if r.o.Width > 0 {
		r.wipe()
		if runes := []rune(line); len(runes) >= r.o.Width { // a longer one would not be wiped whole
			line = string(runes[:r.o.Width-1])
		}
		fmt.Fprint(r.o.Notes, line)
		r.shown = true
		return
	}
	fmt.Fprintf(r.o.Notes, "varve: %s\n", line)
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
	seconds := max(s.took.Seconds(), 0.001)
	fmt.Fprintf(r.o.Result, "%s: %s stored, %s rejected%s, %s skipped by the server; %s in %s, %s rows/s; %s, %s\n",
		counted(int64(s.files), "input", "inputs"), counted(s.stored, "row", "rows"), client.Number(s.rejected),
		rejectsFile(r.o, s), client.Number(s.skipped),
		client.Bytes(s.bytes), s.took.Round(time.Millisecond), client.Number(int64(float64(s.stored)/seconds)),
		counted(s.requests, "request", "requests"), counted(s.retries, "retry", "retries"))
	if s.doubtful > 0 {
		fmt.Fprintf(r.o.Result, "%s of %s may be stored twice: the answer was lost\n",
			counted(s.doubtful, "batch", "batches"), counted(s.doubtRow, "row", "rows"))
	}
	if s.lost > 0 {
		again := "resuming stores them again"
		if s.remembers {
			again = "resuming stores what is not"
		}
		fmt.Fprintf(r.o.Result, "%s of %s may be stored although no answer said so: %s\n",
			counted(s.lost, "batch", "batches"), counted(s.lostRow, "entry", "entries"), again)
	}
}

func rejectsFile(o *Options, s *sums) string {
	if o.Rejects == "" || s.rejected == 0 {
		return ""
	}
	return " (in " + client.Visible(o.Rejects) + ")"
}

// counted writes a number with its noun.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return client.Number(n) + " " + many
}
