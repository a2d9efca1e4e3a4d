package logapi

import (
	"slices"
	"strings"
	"time"

	"varve/engine/status"
	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/promql"
)

// The limits of queries.
const (
	usualLines = 100
	maxLines   = 5_000
	maxSeries  = 500
	maxPoints  = 11_000
	// maxLength is the longest time that a query may look at, ranges of aggregations included.
	maxLength = 721 * time.Hour
	// usualSince is how far a query looks back that has no start.
	usualSince = int64(time.Hour)
)

// parse reads the query of a request.
func (r *request) parse() (syntax.Query, error) {
	q, err := syntax.Parse(r.p.text("query"))
	return q, parsed(err)
}

// query answers query: a query at one time.
func query(r *request) (answer, error) {
	at, err := r.p.time("time", r.now)
	if err != nil {
		return answer{}, err
	}
	if _, err := r.p.count("limit", usualLines); err != nil {
		return answer{}, err
	}
	if _, err := r.p.forward(); err != nil {
		return answer{}, err
	}
	q, err := r.parse()
	if err != nil {
		return answer{}, err
	}
	x, ok := q.(syntax.Expr)
	if !ok {
		return answer{}, invalid("log queries are not supported as an instant query type, please change your query " +
			"to a range query type")
	}
	if err := checkLength(x, 0); err != nil {
		return answer{}, err
	}
	return r.numbers(&logql.MetricQuery{Expr: x, Start: at, End: at})
}

// queryRange answers query_range: the lines of a time, or numbers at its steps.
func queryRange(r *request) (answer, error) {
	start, end, err := r.p.span(r.now, usualSince)
	if err != nil {
		return answer{}, err
	}
	if end <= start {
		return answer{}, invalid("end timestamp must not be before or equal to start time")
	}
	limit, err := r.p.count("limit", usualLines)
	if err != nil {
		return answer{}, err
	}
	forward, err := r.p.forward()
	if err != nil {
		return answer{}, err
	}
	step, err := r.p.seconds("step", usualStep(start, end))
	if err != nil {
		return answer{}, err
	}
	step -= step % 1e6
	if step <= 0 {
		return answer{}, invalid("zero or negative query resolution step widths are not accepted. Try a positive integer")
	}
	if (end-start)/step > maxPoints {
		return answer{}, invalid("exceeded maximum resolution of 11,000 points per time series. Try increasing the " +
			"value of the step parameter")
	}
	interval, err := r.p.seconds("interval", 0)
	if err != nil {
		return answer{}, err
	}
	if interval < 0 {
		return answer{}, invalid("interval must be >= 0")
	}
	q, err := r.parse()
	if err != nil {
		return answer{}, err
	}
	if err := checkLength(q, time.Duration(end-start)); err != nil {
		return answer{}, err
	}
	switch q := q.(type) {
	case *syntax.LogQuery:
		if limit > maxLines {
			return answer{}, invalid("max entries limit per query exceeded, limit > max_entries_limit_per_query (%d > %d)",
				limit, maxLines)
		}
		return r.lines(&logql.LineQuery{Query: q, From: start, To: end, Limit: limit, Forward: forward,
			Interval: interval, Categorized: slices.Contains(r.flags(), categorize), Stats: r.stats})
	case syntax.Expr:
		start, end = aligned(start, end, step)
		return r.numbers(&logql.MetricQuery{Expr: q, Start: start, End: end, Step: step})
	}
	return answer{}, status.New(status.Internal, "a query of the type %T", q)
}

// usualStep is the step of a request that names none, ns.
func usualStep(start, end int64) int64 { return max((end-start)/1e9/250, 1) * 1e9 }

// aligned are the first and the last step: multiples of the step, so that panels that move on see the same points.
func aligned(start, end, step int64) (int64, int64) {
	start = floor(start, step)
	if last := floor(end, step); last != end {
		return start, last + step
	}
	return start, end
}

// floor is the greatest multiple of a step that is not above a time.
func floor(at, step int64) int64 {
	rest := at % step
	if rest < 0 {
		rest += step
	}
	return at - rest
}

// checkLength refuses a query that looks at too long a time.
func checkLength(q syntax.Query, span time.Duration) error {
	if x, ok := q.(syntax.Expr); ok {
		span += logql.LongestRange(x)
	}
	if span > maxLength {
		return invalid("the query time range exceeds the limit (query length: %s, limit: 30d1h)", span)
	}
	return nil
}

// categorize is the flag of answers whose lines keep their labels apart by kind.
const categorize = "categorize-labels"

// flags are the encoding flags that the request asks for.
func (r *request) flags() (list []string) {
	for flag := range strings.SplitSeq(r.c.HeaderText("X-Loki-Response-Encoding-Flags"), ",") {
		if flag = strings.TrimSpace(flag); flag != "" && len(list) < 16 {
			list = append(list, flag)
		}
	}
	return list
}

// lines answers with the lines of a query.
func (r *request) lines(q *logql.LineQuery) (answer, error) {
	if r.p.text("explain") == "true" {
		list, err := q.Statements(r.ctx, r)
		if err != nil {
			return answer{}, err
		}
		return r.explain(list, "")
	}
	streams, err := q.Run(r.ctx, r)
	if err != nil {
		return answer{}, err
	}
	return r.streamsAnswer(streams, q.Categorized)
}

// numbers answers with the numbers of a query.
func (r *request) numbers(q *logql.MetricQuery) (answer, error) {
	q.Stats, q.MostSeries = r.stats, maxSeries
	if r.p.text("explain") == "true" {
		list, text, err := q.Statements(r.ctx, r)
		if err != nil {
			return answer{}, err
		}
		return r.explain(list, text)
	}
	base := promql.Query{MaxSamples: r.h.o.Queries.MaxSamples()}
	if r.memory != nil {
		base.Memory = r.memory
	}
	result, err := q.Run(r.ctx, r, base)
	if err != nil {
		return answer{}, err
	}
	return r.numbersAnswer(result, q.Start)
}
