package promql

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/engine/sorting"
	"varve/engine/status"
)

// The defaults of a query.
const (
	DefaultLookback     = 5 * time.Minute
	DefaultSubqueryStep = time.Minute
	DefaultMaxSamples   = 50_000_000

	// MaxPoints bounds the intervals between the steps of a range query: clients that cut their range into as many as
	// may be get one step more.
	MaxPoints = 11_000

	// maxNotes is how many warnings, and how many infos, an answer has before a line that counts the rest.
	maxNotes = 10
)

// Query is one query. Times are in ms.
type Query struct {
	Expr string

	// Start and End are the first and last step, both included. An instant query has Start == End and Step 0.
	Start, End, Step int64

	Lookback     time.Duration // 0: DefaultLookback
	SubqueryStep time.Duration // of subqueries that name none; 0: DefaultSubqueryStep
	MaxSamples   int64         // held at a time; 0: DefaultMaxSamples
	Limit        int           // series of the answer; 0: all
	Memory       Memory        // nil: no limit
	Workers      int           // 0: one for each processor
	User         string        // whose bounds hold, see Limits.Reads
	// ZeroIsNaN makes a division by zero NaN, whatever is divided.
	ZeroIsNaN bool
}

// Run evaluates the query. The query ends with the context: an error is a status.Error of code InvalidSyntax or
// InvalidArguments (the query is wrong), EngineExecuteQuery (it cannot be evaluated), DeadlineExceeded, Cancelled,
// RuntimeResourcesExhausted, or that of the storage.
func (q Query) Run(ctx context.Context, store Storage) (*Result, error) {
	began := time.Now()
	p, err := q.Compile()
	if err != nil {
		return nil, err
	}
	return q.run(ctx, p, store, began)
}

// run evaluates a plan; began is when the query did.
func (q Query) run(ctx context.Context, p *Plan, store Storage, began time.Time) (*Result, error) {
	q.fillIn()
	if err := q.check(p.root.base().kind); err != nil {
		return nil, err
	}
	e := &evaluator{
		ctx: ctx, store: store, lookback: q.Lookback.Milliseconds(), subqueryStep: q.SubqueryStep.Milliseconds(),
		workers: q.Workers,
		instant: q.Step == 0, notes: &annotations.Annotations{},
		limits:   &queryLimits{max: q.MaxSamples, memory: q.Memory},
		queryEnd: q.End, zeroIsNaN: q.ZeroIsNaN,
	}
	defer e.close()
	r := &Result{prepared: time.Since(began), workers: q.Workers}
	evaluating := time.Now()
	if err := e.top(p.root, q.grid(), r); err != nil {
		return nil, asStatus(err)
	}
	r.evaluated = time.Since(evaluating)
	if err := q.finish(r, e); err != nil {
		return nil, err
	}
	r.total = time.Since(began)
	return r, nil
}

// fillIn fills in the defaults.
func (q *Query) fillIn() {
	if q.Lookback <= 0 {
		q.Lookback = DefaultLookback
	}
	if q.SubqueryStep <= 0 {
		q.SubqueryStep = DefaultSubqueryStep
	}
	if q.MaxSamples <= 0 {
		q.MaxSamples = DefaultMaxSamples
	}
	if q.Workers <= 0 {
		q.Workers = runtime.GOMAXPROCS(0)
	}
}

// check refuses times that no expression, or none of the kind t, has values at.
func (q *Query) check(t parser.ValueType) error {
	if q.Step == 0 {
		if q.Start != q.End {
			return status.New(status.InvalidArguments, "an instant query has one time")
		}
		return nil
	}
	switch {
	case q.Step < 0:
		return status.New(status.InvalidArguments,
			`invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer`)
	case q.End < q.Start:
		return status.New(status.InvalidArguments,
			`invalid parameter "end": end timestamp must not be before start time`)
	case (q.End-q.Start)/q.Step > MaxPoints:
		return status.New(status.InvalidArguments,
			"exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)")
	case t != parser.ValueTypeVector && t != parser.ValueTypeScalar:
		return status.New(status.InvalidArguments,
			"invalid expression type %q for range query, must be Scalar or instant Vector", parser.DocumentedType(t))
	}
	return nil
}

func (q *Query) grid() grid {
	if q.Step == 0 {
		return grid{q.Start, 1, 1}
	}
	return grid{q.Start, q.Step, int((q.End-q.Start)/q.Step) + 1}
}

// top evaluates the whole expression into a result.
func (e *evaluator) top(x node, g grid, r *Result) error {
	r.grid = g
	switch n := x.(type) {
	case *textNode:
		r.Type, r.text = String, n.value
		return nil
	case *rangeNode:
		r.Type = Matrix
		return e.raw(n, g, r)
	case *subqueryNode:
		r.Type = Matrix
		child := e.subqueryGrid(n, g)
		if child.n == 0 {
			return nil
		}
		m, err := e.eval(n.of, child)
		r.rows, r.grid = m, child
		return err
	}
	m, err := e.eval(x, g)
	if err != nil {
		return err
	}
	r.rows = m
	_, r.stored = x.(*selectorNode)
	switch {
	case !e.instant:
		r.Type = Matrix
	case x.base().kind == parser.ValueTypeScalar:
		r.Type = Scalar
	default:
		r.Type = Vector
	}
	return nil
}

// finish drops names, joins rows that are one then, sorts and cuts.
func (q *Query) finish(r *Result, e *evaluator) (err error) {
	switch r.Type {
	case Vector, Matrix:
		if err := r.rows.settle(e.ctx, e.limits, r.Type == Matrix); err != nil { // those of a matrix are sorted
			return asStatus(err)
		}
		if !r.stored {
			if r.rows, err = e.join(r.rows, r.grid); err != nil {
				return asStatus(err)
			}
		}
		began := time.Now()
		if r.Type == Matrix {
			if err = r.rows.sort(e.ctx, e.limits,
				func(a, b int32) int { return r.rows[a].labels().Compare(r.rows[b].labels()) }); err != nil {
				return asStatus(err)
			}
			byLabels := func(a, b rawSeries) int { return a.labels.Compare(b.labels) }
			if err := sorting.Func(r.samples, byLabels, e.ctx.Err); err != nil {
				return asStatus(err)
			}
		}
		r.sorted = time.Since(began)
		if q.Limit > 0 && (len(r.rows) > q.Limit || len(r.samples) > q.Limit) {
			r.rows = r.rows[:min(len(r.rows), q.Limit)]
			r.samples = r.samples[:min(len(r.samples), q.Limit)]
			e.notes.Add(errors.New("results truncated due to limit"))
		}
	}
	r.Warnings, r.Infos = notes(*e.notes, q.Expr)
	r.limits = e.limits
	return nil
}

// notes are the texts of annotations in a fixed order, at most maxNotes of each kind.
func notes(all annotations.Annotations, query string) (warnings, infos []string) {
	warnings, infos = all.AsStrings(query, 0, 0)
	return cut(warnings, "warning"), cut(infos, "info")
}

func cut(texts []string, kind string) []string {
	slices.Sort(texts)
	if more := len(texts) - maxNotes; more > 0 {
		texts = append(texts[:maxNotes:maxNotes], moreNotes(more, kind))
	}
	return texts
}

// contextError is the error of a query that ended before it was done.
func contextError(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return status.Wrap(err, status.DeadlineExceeded, "query timed out in expression evaluation")
	case errors.Is(err, context.Canceled):
		return status.Wrap(err, status.Cancelled, "query was canceled in expression evaluation")
	}
	return err
}
