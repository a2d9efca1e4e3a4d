package logql

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"varve/sqlexec/expr"
	"varve/sqlexec/logql/stage"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/parse"
)

// LineQuery asks for lines. Times are ns: From is included, To is not.
type LineQuery struct {
	Query    *syntax.LogQuery
	From, To int64
	Limit    int
	Forward  bool  // the oldest lines first, else the newest
	Interval int64 // ns between two lines of the answer, at least; 0: all
	// Categorized keeps structured metadata and parsed labels apart from those of the stream.
	Categorized bool
	Stats       *Stats
}

// Stream is the lines of one set of labels, in the order that was asked for.
type Stream struct {
	Labels Labels
	Lines  []Line
}

// Line is a line of a stream. Metadata and Parsed are those of a categorized answer.
type Line struct {
	At               int64 // ns
	Text             string
	Metadata, Parsed Labels
}

// found is a line before it is in a stream.
type found struct {
	Line
	key    string // of its stream
	stream Labels
	bytes  int64
}

// foundBytes is about the memory of a line of an answer besides its texts, labelBytes that of a label.
const (
	foundBytes = 160
	labelBytes = 32
)

// Run finds lines. They are sorted by time within a stream, and streams by their labels.
func (q *LineQuery) Run(ctx context.Context, store Store) ([]Stream, error) {
	plans, err := q.plan(ctx, store)
	if err != nil {
		return nil, err
	}
	if q.Interval > 0 {
		all, err := q.spaced(ctx, store, plans)
		return inStreams(all), err
	}
	var all []found
	span := timeSpan{q.From, q.To}
	for i := range plans {
		if all, err = q.read(ctx, store, &plans[i], span, all); err != nil {
			return nil, err
		}
		if i > 0 {
			if err := Sort(ctx, all, func(a, b found) int { return q.order(a.At, b.At) }); err != nil {
				return nil, err
			}
			all = all[:min(len(all), q.Limit)]
		}
		if len(all) == q.Limit {
			span = q.before(span, all[len(all)-1].At)
		}
	}
	return inStreams(all), nil
}

// timeSpan is times in ns: from included, to not.
type timeSpan struct{ from, to int64 }

// before is the part of a span whose lines come before those of a time in the order of the query.
func (q *LineQuery) before(span timeSpan, at int64) timeSpan {
	if q.Forward {
		return timeSpan{span.from, min(span.to, at)}
	}
	return timeSpan{max(span.from, at+1), span.to}
}

// order compares times in the direction of the query.
func (q *LineQuery) order(a, b int64) int {
	if q.Forward {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(b, a)
}

// linePlan is how the lines of a table are found.
type linePlan struct {
	s        *source
	where    where           // but for the time
	stages   *stage.Pipeline // all of them, for the rows of the answer
	function *expr.Private
}

// statement is the statement for the lines of a span, at most as many as the answer has unless they are spaced.
func (q *LineQuery) statement(p *linePlan, span timeSpan) string {
	var w where
	w.within(p.s, span.from, span.to)
	text := "SELECT " + strings.Join(p.s.columns(), ", ") + " FROM " + p.s.from() + append(w, p.where...).String() +
		" ORDER BY " + parse.QuoteIdent(p.s.time.Name)
	if !q.Forward {
		text += " DESC"
	}
	if q.Interval == 0 {
		text += " LIMIT " + number(q.Limit)
	}
	return text
}

// Statements are the statements of a query over its whole time, for EXPLAIN.
func (q *LineQuery) Statements(ctx context.Context, store Store) (list []Statement, err error) {
	plans, err := q.plan(ctx, store)
	for i := range plans {
		whole := q.statement(&plans[i], timeSpan{q.From, q.To})
		list = append(list, Statement{whole, plans[i].function})
	}
	return list, err
}

// Statement is a statement of SQL that a query runs, and the private function that it calls; nil: it calls none.
type Statement struct {
	Text     string
	Function *expr.Private
}

// plan makes the statement of each table.
func (q *LineQuery) plan(ctx context.Context, store Store) (list []linePlan, err error) {
	if q.Stats == nil {
		q.Stats = new(Stats)
	}
	matchers, err := tests(q.Query.Matchers)
	if err != nil {
		return nil, err
	}
	if err := checkMatchers(matchers); err != nil {
		return nil, err
	}
	all, err := stage.Compile(q.Query.Stages, nil, stage.Need{Line: true, Labels: true})
	if err != nil {
		return nil, err
	}
	tables, err := sources(ctx, store, matchers)
	if err != nil {
		return nil, err
	}
	named := namedBy(q.Query)
	q.Stats.Tables.Add(int64(len(tables)))
	for _, s := range tables {
		p := linePlan{s: s, stages: all}
		w := &p.where
		w.matched(s, matchers)
		rest := w.filtered(s, q.Query.Stages)
		if filters(rest) {
			left, err := stage.Compile(rest, nil, stage.Need{})
			if err != nil {
				return nil, err
			}
			w.narrowed(s, rest)
			w.hinted(s, left)
			p.function = keep(s, left, named, q.Stats)
			w.add(keepName + "(" + strings.Join(s.columns(), ", ") + ")")
		}
		list = append(list, p)
	}
	return list, nil
}

// read appends the lines of a table in a span, at most as many as the answer has.
func (q *LineQuery) read(ctx context.Context, store Store, p *linePlan, span timeSpan, all []found) ([]found, error) {
	if span.from >= span.to {
		return all, nil
	}
	c, err := q.open(ctx, store, p, span)
	if err != nil {
		return nil, err
	}
	defer c.rows.Close()
	for range q.Limit {
		more, err := c.step()
		if err != nil || !more {
			return all, err
		}
		one, err := q.take(c, store)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// apart reports whether a line is far enough from the last one.
func (q *LineQuery) apart(last, at int64) bool {
	if q.Forward {
		return at-last >= q.Interval
	}
	return last-at >= q.Interval
}

// sharer keeps the last set of labels, which the next line mostly has as well.
type sharer struct {
	key    []byte
	last   string
	labels Labels
}

// keep copies an entry out of the rows.
func (q *LineQuery) keep(w *worker, s *sharer) found {
	e := w.e
	f := found{Line: Line{At: w.rows.at, Text: string(e.Line)}}
	f.bytes = foundBytes + int64(len(f.Text))
	stream := labelsOf(e, func(k stage.Kind) bool { return !q.Categorized || k == stage.Stream })
	if q.Categorized {
		f.Metadata = labelsOf(e, func(k stage.Kind) bool { return k == stage.Metadata })
		f.Parsed = withError(labelsOf(e, func(k stage.Kind) bool { return k == stage.Parsed }), e)
	} else {
		stream = withError(stream, e)
	}
	for _, l := range [...]Labels{f.Metadata, f.Parsed} {
		for i := range l {
			f.bytes += labelBytes + int64(len(l[i].Value))
		}
	}
	if s.key = appendKey(s.key[:0], stream); s.labels == nil || s.last != string(s.key) {
		s.last, s.labels = string(s.key), stream
		f.bytes += int64(len(s.key)) * 2
	}
	f.stream, f.key = s.labels, s.last
	return f
}

// labelsOf copies the labels of some kinds, sorted. Those that a stage made may be empty.
func labelsOf(e *stage.Entry, wanted func(stage.Kind) bool) Labels {
	out := Labels{}
	for i := range e.Labels {
		if l := &e.Labels[i]; wanted(l.Kind) && (len(l.Value) > 0 || l.Kind == stage.Parsed) {
			out = append(out, Label{l.Name, string(l.Value)})
		}
	}
	slices.SortStableFunc(out, byName)
	return out
}

func byName(a, b Label) int { return strings.Compare(a.Name, b.Name) }

// withError adds the labels of the error of an entry.
func withError(l Labels, e *stage.Entry) Labels {
	if e.Err == "" {
		return l
	}
	if l = append(l, Label{syntax.LabelError, e.Err}); e.Details != "" {
		l = append(l, Label{syntax.LabelErrorDetails, e.Details})
	}
	slices.SortStableFunc(l, byName)
	return l
}

// appendKey appends labels as a text that no other labels have.
func appendKey(dst []byte, l Labels) []byte {
	for i := range l {
		dst = binary.AppendUvarint(dst, uint64(len(l[i].Name)))
		dst = append(dst, l[i].Name...)
		dst = binary.AppendUvarint(dst, uint64(len(l[i].Value)))
		dst = append(dst, l[i].Value...)
	}
	return dst
}

// inStreams puts lines into the streams of their labels.
func inStreams(all []found) []Stream {
	var out []Stream
	byLabels := map[string]int{}
	for i := range all {
		at, ok := byLabels[all[i].key]
		if !ok {
			at = len(out)
			byLabels[all[i].key] = at
			out = append(out, Stream{Labels: all[i].stream})
		}
		out[at].Lines = append(out[at].Lines, all[i].Line)
	}
	slices.SortStableFunc(out, func(a, b Stream) int { return a.Labels.Compare(b.Labels) })
	return out
}
