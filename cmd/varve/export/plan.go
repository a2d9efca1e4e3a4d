package export

import (
	"context"
	"fmt"
	"slices"

	"varve/cmd/varve/client"
)

// sliceRows is about how many rows are fetched at a time: what is fetched again when an answer breaks off.
const sliceRows = 50_000

// buckets is into how many pieces of equal length a range is cut to count their rows.
const buckets = 1000

// span is a range of instants, both ends included, in units of the time index.
type span struct {
	first, last int64
	rows        int64 // counted when the span was made
}

// plan cuts the rows of a table into spans. It counts as it goes: a part of the range is looked at closer when its turn
// comes.
type plan struct {
	server      *client.Client
	db, table   string
	time        string // the time index, quoted
	conditions  []string
	newestFirst bool
	spans       []span // the next one last
}

// begin counts all rows and fixes the range.
func (p *plan) begin(ctx context.Context) (span, error) {
	a, err := p.server.Query(ctx, p.db, fmt.Sprintf("SELECT min(%s), max(%s), count(*) FROM %s%s", p.time, p.time,
		p.table, client.Where(p.conditions...)))
	if err != nil {
		return span{}, err
	}
	var all span
	if len(a.Rows) != 1 || len(a.Rows[0]) != 3 || client.Whole(a.Rows[0][2], &all.rows) != nil {
		return span{}, fmt.Errorf("%s did not answer with a count", p.server.Base)
	}
	if all.rows == 0 {
		return all, nil
	}
	for i, to := range []*int64{&all.first, &all.last} {
		if err := client.Whole(a.Rows[0][i], to); err != nil {
			return span{}, err
		}
	}
	return all, nil
}

// next is the next span whose rows are fetched; ok is false when there is none left.
func (p *plan) next(ctx context.Context) (s span, ok bool, err error) {
	for len(p.spans) > 0 {
		s = p.spans[len(p.spans)-1]
		p.spans = p.spans[:len(p.spans)-1]
		length := uint64(s.last) - uint64(s.first) // one less than its instants
		step := length/buckets + 1
		if s.rows <= sliceRows*3/2 || length == 0 || length > 1<<63-1 {
			return s, true, nil
		}
		parts, err := p.cut(ctx, s, int64(step))
		if err != nil {
			p.spans = append(p.spans, s)
			return span{}, false, err
		}
		if !p.newestFirst {
			slices.Reverse(parts)
		}
		p.spans = append(p.spans, parts...)
	}
	return span{}, false, nil
}

// cut counts the rows of a span by steps, and joins those that are small. The parts are the whole span, oldest first.
func (p *plan) cut(ctx context.Context, s span, step int64) ([]span, error) {
	a, err := p.server.Query(ctx, p.db,
		fmt.Sprintf("SELECT (CAST(%s AS BIGINT) - (%d)) / %d, count(*) FROM %s%s GROUP BY 1 ORDER BY 1",
			p.time, s.first, step, p.table, client.Where(append([]string{p.within(s)}, p.conditions...)...)))
	if err != nil {
		return nil, err
	}
	var parts []span
	open := span{first: s.first}
	for _, row := range a.Rows {
		var bucket, rows int64
		if len(row) != 2 || client.Whole(row[0], &bucket) != nil || client.Whole(row[1], &rows) != nil {
			return nil, fmt.Errorf("%s did not answer with counts by time", p.server.Base)
		}
		// What is too large alone stands alone, without the emptiness before it too, so that it is looked at closer
		// next.
		full := open.rows > 0 && open.rows+rows > sliceRows || rows > sliceRows
		if begin := s.first + bucket*step; full && begin > open.first {
			open.last = begin - 1
			parts = append(parts, open)
			open = span{first: begin}
		}
		open.rows += rows
		if end := s.first + bucket*step + (step - 1); open.rows > sliceRows && end < s.last {
			open.last = end
			parts = append(parts, open)
			open = span{first: end + 1}
		}
	}
	open.last = s.last
	return append(parts, open), nil
}

// within is the condition that a row lies in a span.
func (p *plan) within(s span) string {
	return fmt.Sprintf("%s >= %d AND %s <= %d", p.time, s.first, p.time, s.last)
}

// rows is the statement of a span's rows. Those of one instant have no order.
func (p *plan) rows(columns string, s span) string {
	order := ""
	switch {
	case s.first == s.last:
	case p.newestFirst:
		order = " ORDER BY " + p.time + " DESC"
	default:
		order = " ORDER BY " + p.time
	}
	return "SELECT " + columns + " FROM " + p.table + client.Where(append([]string{p.within(s)}, p.conditions...)...) +
		order
}
