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
	x, err := q.check()
	if err != nil {
		return nil, err
	}
	x, same, err := prepare(x, &q)
	if err != nil {
		return nil, err
	}
	e := &evaluator{
		ctx: ctx, store: store, lookback: q.Lookback.Milliseconds(), subqueryStep: q.SubqueryStep.Milliseconds(),
		workers: q.Workers,
		instant: q.Step == 0, same: same, counts: countsOnly(x), presence: presenceOnly(x),
		labels: map[*parser.VectorSelector][]string{}, notes: &annotations.Annotations{},
		limits:   &queryLimits{max: q.MaxSamples, memory: q.Memory},
		queryEnd: q.End, zeroIsNaN: q.ZeroIsNaN,
	}
	defer e.close()
	e.shareSubtrees(x)
	r := &Result{prepared: time.Since(began), workers: q.Workers}
	evaluating := time.Now()
	if err := e.top(x, q.grid(), r); err != nil {
		return nil, asStatus(err)
	}
	r.evaluated = time.Since(evaluating)
	if err := q.finish(r, e); err != nil {
		return nil, err
	}
	r.total = time.Since(began)
	return r, nil
}

// check fills in the defaults and parses.
func (q *Query) check() (parser.Expr, error) {
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
	x, err := Parse(q.Expr)
	if err != nil {
		return nil, err
	}
	if q.Step == 0 {
		if q.Start != q.End {
			return nil, status.New(status.InvalidArguments, "an instant query has one time")
		}
		return x, nil
	}
	switch t := x.Type(); {
	case q.Step < 0:
		return nil, status.New(status.InvalidArguments,
			`invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer`)
	case q.End < q.Start:
		return nil, status.New(status.InvalidArguments,
			`invalid parameter "end": end timestamp must not be before start time`)
	case (q.End-q.Start)/q.Step > MaxPoints:
		return nil, status.New(status.InvalidArguments,
			"exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)")
	case t != parser.ValueTypeVector && t != parser.ValueTypeScalar:
		return nil, status.New(status.InvalidArguments,
			"invalid expression type %q for range query, must be Scalar or instant Vector", parser.DocumentedType(t))
	}
	return x, nil
}

func (q *Query) grid() grid {
	if q.Step == 0 {
		return grid{q.Start, 1, 1}
	}
	return grid{q.Start, q.Step, int((q.End-q.Start)/q.Step) + 1}
}

// top evaluates the whole expression into a result.
func (e *evaluator) top(x parser.Expr, g grid, r *Result) error {
	r.grid = g
	switch n := unwrap(x).(type) {
	case *parser.StringLiteral:
		r.Type, r.text = String, n.Val
		return nil
	case *parser.MatrixSelector:
		r.Type = Matrix
		return e.raw(n, g, r)
	case *parser.SubqueryExpr:
		r.Type = Matrix
		child := e.subqueryGrid(n, g)
		if child.n == 0 {
			return nil
		}
		m, err := e.eval(n.Expr, child)
		r.rows, r.grid = m, child
		return err
	}
	m, err := e.eval(x, g)
	if err != nil {
		return err
	}
	r.rows = m
	_, r.stored = unwrap(x).(*parser.VectorSelector)
	switch {
	case !e.instant:
		r.Type = Matrix
	case x.Type() == parser.ValueTypeScalar:
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
