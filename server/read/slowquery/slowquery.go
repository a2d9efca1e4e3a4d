// Package slowquery records slow statements, as rows of a table or as lines of the log. A statement never waits for its
// record and never fails because of it: a record that finds no room in the queue, or cannot be written, is counted and
// dropped.
package slowquery

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/secret"
	"varve/server/web"
	"varve/sqlexec"
)

// Bounds of what waits to be written, and of a text that is kept of a statement.
const (
	maxQueued      = 1024    // statements
	maxQueuedBytes = 4 << 20 // of their texts
	maxText        = 64 << 10
	maxLine        = 1000 // of a text in a line of the log
)

// Options of a Recorder.
type Options struct {
	// Store takes the rows; nil: statements are lines of Logger.
	Store *engine.Engine
	// TTL is the ttl of the table.
	TTL string
	// Threshold is how long a statement takes, at least, that is recorded.
	Threshold time.Duration
	// Ratio is the part of these that is, from 0 to 1.
	Ratio  float64
	Logger *slog.Logger
	// Random gives numbers from 0 up to 1. Default: those of math/rand.
	Random func() float64
}

// Recorder takes statements that are over. Safe for concurrent use.
type Recorder struct {
	o      Options
	ctx    context.Context // of writing; it ends when Close has waited long enough
	cancel context.CancelFunc
	table  table // of the goroutine that writes

	mu      sync.Mutex
	queue   []sqlexec.Ended
	bytes   int           // of the texts in queue
	writing chan struct{} // closed when the goroutine that writes has ended; nil: none writes
	closed  bool

	slow, dropped prometheus.Counter
}

// New makes a recorder.
func New(o Options) *Recorder {
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Recorder{
		o: o, table: table{Table: form, store: o.Store, threshold: o.Threshold},
		slow: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_slow_queries_total",
			Help: "Statements that took slow_query.threshold or longer."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_slow_queries_dropped_total",
			Help: "Slow statements that were to be recorded and are not: too many waited, or the store refused them."}),
	}
	r.table.TTL = o.TTL
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Collectors are the recorder's figures.
func (r *Recorder) Collectors() []prometheus.Collector {
	return []prometheus.Collector{r.slow, r.dropped}
}

// Ended takes a statement that is over, and returns at once.
func (r *Recorder) Ended(e sqlexec.Ended) {
	if e.Took < r.o.Threshold {
		return
	}
	r.slow.Inc()
	if r.o.Ratio < 1 && r.o.Random() >= r.o.Ratio {
		return
	}
	e.Text = kept(e.Text, maxText)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.queue) == maxQueued || r.bytes+len(e.Text) > maxQueuedBytes {
		r.dropped.Inc()
		return
	}
	r.queue, r.bytes = append(r.queue, e), r.bytes+len(e.Text)
	if r.writing == nil {
		r.writing = make(chan struct{})
		go r.drain(r.writing)
	}
}

// kept is what is kept of a text, at most so many bytes: a copy, as the text may be part of a body, which is used
// again.
func kept(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return strings.Clone(text)
}

// drain writes until nothing waits.
func (r *Recorder) drain(done chan struct{}) {
	defer close(done)
	for {
		r.mu.Lock()
		list := r.queue
		if r.queue, r.bytes = nil, 0; len(list) == 0 {
			r.writing = nil
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		if r.o.Store == nil {
			r.log(list)
		} else if !r.write(list) {
			r.dropped.Add(float64(len(list)))
		}
	}
}

// write stores statements as rows. Of troubles the first is told, and then no other before rows were written again.
func (r *Recorder) write(list []sqlexec.Ended) bool {
	err := r.table.write(r.ctx, list)
	switch failed := r.table.failed; {
	case err == nil && failed:
		r.o.Logger.Info("slow statements are recorded again")
	case err != nil && !failed:
		r.o.Logger.Warn("slow statements are not recorded", "error", err)
	}
	r.table.failed = err != nil
	return err == nil
}

// log writes statements as lines.
func (r *Recorder) log(list []sqlexec.Ended) {
	for _, e := range list {
		line := []any{"cost_ms", e.Took.Milliseconds(), "threshold_ms", r.o.Threshold.Milliseconds(), "began",
			e.Began.UTC(), "db", e.DB, "user", e.User, "client", e.Client, "is_promql", e.Metrics, "query",
			secret.Hide(kept(e.Text, maxLine))}
		if g := e.Grid; g != nil {
			line = append(line, "promql_start", g.Start, "promql_end", g.End, "promql_step", g.Step)
		}
		if e.Rows >= 0 {
			line = append(line, "row_count", e.Rows)
		}
		if e.Err != nil {
			line = append(line, "error", reason(&e))
		}
		r.o.Logger.Warn("slow statement", line...)
	}
}

// reason is what the client was told of an error.
func reason(e *sqlexec.Ended) string {
	_, text := web.Message(e.Err)
	return secret.HideFrom(text, e.Text)
}

// Close writes what waits and takes no more. What is not written when ctx ends is dropped.
func (r *Recorder) Close(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	writing := r.writing
	r.mu.Unlock()
	if writing == nil {
		return
	}
	select {
	case <-writing:
	case <-ctx.Done():
		r.cancel()
		<-writing
	}
}
