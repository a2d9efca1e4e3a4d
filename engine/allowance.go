package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"varve/engine/scan"
	"varve/engine/status"
	"varve/engine/vector"
)

// ReadLimit bounds what one query may read; 0: no bound.
type ReadLimit struct {
	Rows  int64 // of the blocks that are looked at
	Bytes int64 // encoded, of the pages that are decoded; pages found decoded in the cache do not count
}

// ReadLimits bounds what the queries of users read.
type ReadLimits struct {
	Default ReadLimit
	Users   map[string]ReadLimit
}

// Of is the bound of a user's queries.
func (l *ReadLimits) Of(user string) ReadLimit {
	if own, ok := l.Users[user]; ok {
		return own
	}
	return l.Default
}

// Allowance is what a query may read and has read so far, in all its scans together. Safe for concurrent use.
type Allowance struct {
	limit       ReadLimit
	rows, bytes atomic.Int64
	ended       atomic.Bool // the bound is passed
	end         context.CancelCauseFunc
}

type allowanceKey struct{}

// WithAllowance bounds what the scans and selections of a context read. Past the bound the context ends; ReadBound says
// why. end is to be called after the query. A context that has an allowance keeps it, and so does one without a bound.
func WithAllowance(ctx context.Context, limit ReadLimit) (bounded context.Context, end func()) {
	if limit == (ReadLimit{}) || allowanceOf(ctx) != nil {
		return ctx, func() {}
	}
	a := &Allowance{limit: limit}
	ctx, a.end = context.WithCancelCause(ctx)
	return context.WithValue(ctx, allowanceKey{}, a), func() { a.end(nil) }
}

func allowanceOf(ctx context.Context) *Allowance {
	a, _ := ctx.Value(allowanceKey{}).(*Allowance) //nolint:errcheck // nil: there is no bound
	return a
}

// readBoundError is the cause of a context that ended because its query read too much.
type readBoundError struct{ error }

// ReadBound returns the error of a query whose context ended because it read too much; nil: that is not why.
func ReadBound(ctx context.Context) error {
	if e, ok := context.Cause(ctx).(readBoundError); ok {
		return e.error
	}
	return nil
}

// check ends the query if it has read too much.
func (a *Allowance) check(m *Metrics) {
	over := ""
	switch {
	case a.limit.Rows > 0 && a.rows.Load() > a.limit.Rows:
		over = fmt.Sprintf("query.max_read_rows = %d rows", a.limit.Rows)
	case a.limit.Bytes > 0 && a.bytes.Load() > a.limit.Bytes:
		over = fmt.Sprintf("query.max_read_bytes = %d bytes", a.limit.Bytes)
	default:
		return
	}
	if a.ended.CompareAndSwap(false, true) {
		m.ReadsBounded.Inc()
	}
	a.end(readBoundError{status.New(status.RuntimeResourcesExhausted,
		"the query reads more than %s: narrow its range of time or its conditions, or have the bound raised", over)})
}

// spending is what one scan takes of an allowance. Safe for concurrent use.
type spending struct {
	ctx         context.Context
	of          *Allowance // nil: there is no bound
	metrics     *Metrics
	stats       *scan.Stats
	rows, bytes atomic.Int64 // of stats, that the allowance knows of
}

// begin begins to count what a scan reads; its counters are stats, or new ones that it returns.
func (x *spending) begin(ctx context.Context, m *Metrics, stats *scan.Stats) *scan.Stats {
	x.ctx, x.of, x.metrics = ctx, allowanceOf(ctx), m
	if x.of != nil && stats == nil {
		stats = new(scan.Stats)
	}
	if x.of != nil { // other scans of the query may have counted into them
		x.rows.Store(stats.RowsScanned.Load())
		x.bytes.Store(stats.BytesRead.Load())
	}
	x.stats = stats
	return stats
}

// err takes what was read since the last call, and returns the error of the context, which may end by that.
func (x *spending) err() error {
	if x.of != nil {
		rows, bytes := x.stats.RowsScanned.Load(), x.stats.BytesRead.Load()
		x.of.rows.Add(rows - x.rows.Swap(rows))
		x.of.bytes.Add(bytes - x.bytes.Swap(bytes))
		x.of.check(x.metrics)
	}
	return x.ctx.Err()
}

// context is the context of the scan; whoever asks it for its error has what was read counted.
func (x *spending) context() context.Context {
	if x.of == nil {
		return x.ctx
	}
	return countedContext{x.ctx, x}
}

// countedContext is the context of a scan that has an allowance.
type countedContext struct {
	context.Context
	spent *spending
}

func (c countedContext) Err() error { return c.spent.err() }

// countedCursor counts what its scan reads batch by batch.
type countedCursor struct {
	scan.Cursor
	spent *spending
}

func (c *countedCursor) Next(b *vector.Batch) (bool, error) {
	ok, err := c.Cursor.Next(b)
	if err == nil {
		err = c.spent.err()
	}
	return ok, err
}

// countedSeries counts what its scan reads series by series and batch by batch.
type countedSeries struct {
	scan.Series
	spent *spending
}

func (w *countedSeries) Next() ([]byte, bool, error) {
	key, ok, err := w.Series.Next()
	if err == nil {
		err = w.spent.err()
	}
	return key, ok, err
}

func (w *countedSeries) Rows(b *vector.Batch) (bool, error) {
	ok, err := w.Series.Rows(b)
	if err == nil {
		err = w.spent.err()
	}
	return ok, err
}
