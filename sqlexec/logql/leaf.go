package logql

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/logql/stage"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/promql"
)

// series is a series of an aggregation in the making: tallies or samples.
type series struct {
	tallies []tally
	samples []sample
}

// points are the values of a series at steps: times in ms.
type points struct {
	labels promql.Labels
	t      []int64
	v      []float64
}

// leafPlan is the statement of an aggregation over a table.
type leafPlan struct {
	s         *source
	statement string
	function  *expr.Private
	// Rows are, bucketed, samples with buckets and totals; grouped, values of keys, with bins a time, and totals; else
	// times, and samples with values.
	bucketed, grouped, bins bool
	keys                    groupKeys
	sizes                   *sizes // nil: the statement is run
}

// leafQuery is an aggregation of a range at the steps of a query.
type leafQuery struct {
	leaf  *leaf
	frame frame
	stats *Stats
	also  derived // labels that lines have
	most  int     // series that are too many, one more; 0: no bound, what stands above makes fewer of them
}

// seriesBytes is about the memory of a series besides its key, tallyBytes that of a tally or a sample in a list that
// grows.
const (
	seriesBytes = 256
	tallyBytes  = 32
)

// plan makes the statement of each table.
func (q *leafQuery) plan(ctx context.Context, store Store) ([]leafPlan, error) {
	r := &q.leaf.agg.Range
	matchers, err := tests(r.Query.Matchers)
	if err != nil {
		return nil, err
	}
	if err := checkMatchers(matchers); err != nil {
		return nil, err
	}
	tables, err := sources(ctx, store, matchers)
	if err != nil {
		return nil, err
	}
	q.stats.Tables.Add(int64(len(tables)))
	var list []leafPlan
	for _, s := range tables {
		var w where
		from, to := q.frame.span()
		w.within(s, from, to)
		w.matched(s, matchers)
		rest := w.filtered(s, r.Query.Stages)
		if len(rest) == 0 && countsLines(q.leaf.agg) {
			if p, whole, ok := q.grouped(s, w, q.total(s)); ok {
				if whole && q.countsBytes() && len(r.Query.Stages) == 0 {
					p.sizes = s.sizes(matchers, p.keys.list)
				}
				if list = append(list, p); whole {
					continue
				}
				w.add(s.withMetadata())
			}
		}
		p, err := stage.Compile(rest, r.Unwrap, q.need())
		if err != nil {
			return nil, err
		}
		w.narrowed(s, rest)
		w.hinted(s, p)
		list = append(list, q.planOf(s, p, w, !changesLine(rest)))
	}
	return list, nil
}

// need is what the samples need of an entry. Errors of parsers whose labels nobody wants do not count, and neither do
// those behind the last label that somebody wants.
func (q *leafQuery) need() stage.Need {
	n := stage.Need{Line: q.countsBytes()}
	switch g := q.leaf.grouping; {
	case g == nil || g.Without:
		n.Labels = true
	case len(g.Names) > 0:
		n.Names = slices.Clone(g.Names)
	}
	return n
}

// planOf makes the statement of a table. plain says that stages do not change lines.
func (q *leafQuery) planOf(s *source, p *stage.Pipeline, w where, plain bool) leafPlan {
	f := &sampler{stats: q.stats, frame: q.frame, grouping: q.leaf.grouping, streams: q.leaf.streams}
	bytes := q.countsBytes()
	if u := q.leaf.agg.Range.Unwrap; u != nil {
		f.unwrap = true
		f.without = append(f.without, u.Name)
	}
	switch {
	case bytes && plain:
		f.bucketed = true
	case !bytes && !f.unwrap:
		f.bucketed = true
	}
	f.lengths = bytes
	f.bucketed = f.bucketed && q.frame.bucket > 0
	out := leafPlan{s: s, function: f.function(s, p, q.also), bucketed: f.bucketed}
	call := sampleName + "(" + strings.Join(s.columns(), ", ") + ")"
	if f.bucketed {
		out.statement = "SELECT " + call + ", " + q.total(s) + " FROM " + s.from() + w.String() + " GROUP BY " + call
	} else {
		out.statement = "SELECT " + s.columns()[0] + ", " + call + " FROM " + s.from() + w.String()
	}
	return out
}

// countsBytes reports whether the bytes of lines are added up.
func (q *leafQuery) countsBytes() bool {
	op := q.leaf.agg.Op
	return op == syntax.OpBytesOverTime || op == syntax.OpBytesRate
}

// total is the SQL of what is added up of each line.
func (q *leafQuery) total(s *source) string {
	if q.countsBytes() {
		return "sum(octet_length(" + s.line + "))"
	}
	return "count(*)"
}

// run computes the series of the aggregation.
func (q *leafQuery) run(ctx context.Context, store Store) ([]points, error) {
	plans, err := q.plan(ctx, store)
	if err != nil {
		return nil, err
	}
	found := map[string]*series{}
	for i := range plans {
		if err := q.read(ctx, store, &plans[i], found); err != nil {
			return nil, err
		}
	}
	if q.leaf.agg.Op == syntax.OpAbsentOverTime {
		return q.absent(ctx, found)
	}
	var out []points
	var scratch []float64
	for key, s := range found {
		labels, err := seriesLabels(key)
		if err != nil {
			return nil, err
		}
		p := points{labels: labels}
		if err := store.Reserve(q.frame.most(len(s.tallies)+len(s.samples)) * tallyBytes); err != nil {
			return nil, err
		}
		if err := q.each(ctx, s, &scratch, p.add, &q.frame); err != nil {
			return nil, err
		}
		if len(p.t) > 0 {
			out = append(out, p)
		}
	}
	return out, Sort(ctx, out, func(a, b points) int { return a.labels.Compare(b.labels) })
}

// add adds the value at a time, ns.
func (p *points) add(at int64, value float64) {
	p.t, p.v = append(p.t, floorMS(at)), append(p.v, value)
}

// floorMS is a time in ms.
func floorMS(ns int64) int64 {
	ms := ns / 1e6
	if ns%1e6 < 0 {
		ms--
	}
	return ms
}

// each yields the values of a series at the steps that have one. It heeds the context: windows that overlap may have
// the same samples many times.
func (q *leafQuery) each(ctx context.Context, s *series, scratch *[]float64, yield func(at int64, value float64),
	f *frame) error {
	agg := q.leaf.agg
	if len(s.samples) > 0 && len(s.tallies) > 0 { // one table counted by buckets, another did not
		for _, t := range s.tallies {
			s.samples = append(s.samples, sample{f.start - f.offset + t.bucket*f.bucket, t.total})
		}
		s.tallies = nil
	}
	if len(s.tallies) > 0 {
		if err := Sort(ctx, s.tallies, func(a, b tally) int { return cmp.Compare(a.bucket, b.bucket) }); err != nil {
			return err
		}
		divisor := 1.0
		if agg.Op == syntax.OpRate || agg.Op == syntax.OpBytesRate {
			divisor = float64(f.interval) / 1e9
		}
		f.overBuckets(s.tallies, func(step int, total float64) { yield(f.at(step), total/divisor) })
		return ctx.Err()
	}
	if err := Sort(ctx, s.samples, func(a, b sample) int { return cmp.Compare(a.at, b.at) }); err != nil {
		return err
	}
	op := agg.Op
	if op == syntax.OpCountOverTime && agg.Range.Unwrap == nil {
		op = syntax.OpSumOverTime // samples of lines are ones, or the count of a bucket
	}
	return f.overSamples(s.samples, func(step int, w window) error {
		v := overTime(ctx, op, w, agg.Param, scratch)
		if op != syntax.OpRateCounter || !math.IsNaN(v) {
			yield(f.at(step), v)
		}
		return ctx.Err()
	})
}

// read adds the rows of a table.
func (q *leafQuery) read(ctx context.Context, store Store, p *leafPlan, found map[string]*series) error {
	if p.sizes != nil {
		return q.readSizes(ctx, store, p, found)
	}
	rows, err := store.Run(ctx, p.statement, p.function)
	if err != nil {
		return err
	}
	defer rows.Close()
	var b vector.Batch
	var key []byte
	for {
		more, err := rows.Next(&b)
		if err != nil || !more {
			return err
		}
		bytes := int64(0)
		for i := range b.N {
			n := int64(0)
			switch {
			case p.grouped:
				key, n = q.addGroup(found, p, &b, i, key)
			case p.bucketed:
				n = addTally(found, &b, i)
			default:
				n = addSample(found, p.s, &b, i)
			}
			bytes += n
		}
		if q.most > 0 && len(found) > q.most {
			return tooManySeries(q.most)
		}
		if err := store.Reserve(bytes); err != nil {
			return err
		}
	}
}

// tooManySeries refuses an answer of more series.
func tooManySeries(most int) error {
	return status.New(status.InvalidArguments, "maximum number of series (%d) reached for a single query; consider "+
		"reducing query cardinality by adding more specific stream selectors, reducing the time range, or aggregating "+
		"results with functions like sum(), count() or topk()", most)
}

// seriesOf finds or makes a series.
func seriesOf(found map[string]*series, key []byte) (s *series, bytes int64) {
	if s = found[string(key)]; s != nil {
		return s, 0
	}
	s = new(series)
	found[string(key)] = s
	return s, seriesBytes + 3*int64(len(key))
}

// addTally adds a row of a bucketed statement and returns the memory that it takes.
func addTally(found map[string]*series, b *vector.Batch, i int) int64 {
	if b.Cols[0].IsNull(i) || b.Cols[1].IsNull(i) {
		return 0
	}
	key := b.Cols[0].Bytes(i)
	s, bytes := seriesOf(found, key[8:])
	total := 0.0
	switch v := b.Cols[1]; v.Type.Kind() {
	case vector.Int64:
		total = float64(v.Int(i))
	case vector.Uint64:
		total = float64(v.Uint(i))
	default:
		total = v.Float(i)
	}
	s.tallies = append(s.tallies, tally{int64(binary.BigEndian.Uint64(key)), total})
	return bytes + tallyBytes
}

// addSample adds a row of a statement of samples and returns the memory that it takes.
func addSample(found map[string]*series, s *source, b *vector.Batch, i int) int64 {
	if b.Cols[1].IsNull(i) {
		return 0
	}
	key := b.Cols[1].Bytes(i)
	one, bytes := seriesOf(found, key[8:])
	at, _ := convert.Time(b.Cols[0].Int(i), s.time.Type, vector.Timestamp(9))
	one.samples = append(one.samples, sample{at, math.Float64frombits(binary.BigEndian.Uint64(key))})
	return bytes + tallyBytes
}

// absent is one series with the value 1 at the steps whose windows have no line.
func (q *leafQuery) absent(ctx context.Context, found map[string]*series) ([]points, error) {
	there := make([]bool, q.frame.n)
	var scratch []float64
	at := map[int64]int{}
	for i := range q.frame.n {
		at[q.frame.at(i)] = i
	}
	for _, s := range found {
		note := func(t int64, _ float64) { there[at[t]] = true }
		if err := q.each(ctx, s, &scratch, note, &q.frame); err != nil {
			return nil, err
		}
	}
	p := points{labels: absentLabels(q.leaf.agg.Range.Query.Matchers)}
	for i, has := range there {
		if !has {
			p.add(q.frame.at(i), 1)
		}
	}
	if len(p.t) == 0 {
		return nil, nil
	}
	return []points{p}, nil
}

// absentLabels are the labels that matchers fix to one value.
func absentLabels(list []syntax.Matcher) promql.Labels {
	var pairs []string
	for i, m := range list {
		again := slices.ContainsFunc(list[:i], func(o syntax.Matcher) bool { return o.Name == m.Name }) ||
			slices.ContainsFunc(list[i+1:], func(o syntax.Matcher) bool { return o.Name == m.Name })
		if m.Op == syntax.MatchEqual && !again {
			pairs = append(pairs, m.Name, m.Value)
		}
	}
	return promql.NewLabels(pairs...)
}
