package logql

import (
	"context"
	"encoding/binary"
	"slices"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// Parts know the bytes of their lines by series and block. Where labels are tags and the line is a column, sizes of
// streams need no line of blocks that lie within the time asked for.

// sizes says where a table has what the sizes of its streams need.
type sizes struct {
	line  schema.ColumnID
	tests []tagTest
	keys  []int // tags of the labels that part streams
}

// tagTest is a matcher of the label of one tag, or of ServiceLabel by several tags.
type tagTest struct {
	*test
	tags    []int  // of ServiceLabel the first that has a value counts
	missing string // the value of a series without any
}

// sizes finds what sizes of streams need, which labels part; nil: some of it is no column of its own.
func (s *source) sizes(matchers []test, labels []column) *sizes {
	if s.time.Type != vector.Timestamp(9) {
		return nil
	}
	line := slices.IndexFunc(s.schema.Columns, func(c schema.Column) bool {
		return c.Semantic == schema.Field && c.Type.IsText() && parse.QuoteIdent(c.Name) == s.line
	})
	if line < 0 {
		return nil
	}
	out := &sizes{line: s.schema.Columns[line].ID}
	var ok bool
	if out.keys, ok = s.tagsOf(labels); !ok {
		return nil
	}
	for i := range matchers {
		t := &matchers[i]
		one := tagTest{test: t}
		switch c := s.label(t.Name); {
		case t.Name == TableLabel:
			continue
		case t.Name == ServiceLabel:
			one.tags, ok = s.tagsOf(s.serviceColumns())
			one.missing = unknownService
		case c == nil:
			continue
		default:
			one.tags, ok = s.tagsOf([]column{*c})
		}
		if !ok {
			return nil
		}
		out.tests = append(out.tests, one)
	}
	return out
}

// tagsOf are the places of labels among the tags of the table; ok false: one of them is no tag of texts.
func (s *source) tagsOf(labels []column) (list []int, ok bool) {
	for i := range labels {
		at := slices.IndexFunc(s.schema.Tags, func(tag int) bool {
			c := &s.schema.Columns[tag]
			return c.Type.IsText() && parse.QuoteIdent(c.Name) == labels[i].sql
		})
		if at < 0 {
			return nil, false
		}
		list = append(list, at)
	}
	return list, true
}

// passes reports whether a series passes all matchers.
func (z *sizes) passes(tags [][]byte) bool {
	for i := range z.tests {
		t := &z.tests[i]
		value := t.missing
		for _, at := range t.tags {
			if len(tags[at]) > 0 {
				value = string(tags[at])
				break
			}
		}
		if !t.matches(value) {
			return false
		}
	}
	return true
}

// request is the request for a span of a table.
func (z *sizes) request(s *source, span timeSpan) engine.SizeRequest {
	return engine.SizeRequest{Table: s.stored, Column: z.line, Time: scan.Range{From: span.from, To: span.to - 1}}
}

// numbered gives numbers to groups of series by their keys.
type numbered struct {
	numbers map[string]int
	keys    []string
}

// number is the number of a group.
func (n *numbered) number(store Store, key []byte) (int, error) {
	if at, ok := n.numbers[string(key)]; ok {
		return at, nil
	}
	if n.numbers == nil {
		n.numbers = map[string]int{}
	}
	n.numbers[string(key)] = len(n.keys)
	n.keys = append(n.keys, string(key))
	return len(n.keys) - 1, store.Reserve(labelBytes + 2*int64(len(key)))
}

// readSizes adds the sizes of the lines of a table.
func (q *leafQuery) readSizes(ctx context.Context, store Store, p *leafPlan, found map[string]*series) error {
	from, to := q.frame.span()
	r := p.sizes.request(p.s, timeSpan{from, to})
	r.Bucket = func(t int64) int64 {
		bucket, _ := q.frame.bucketOf(t)
		return bucket
	}
	var groups numbered
	var key []byte
	r.Group = func(tags [][]byte) (int, error) {
		if !p.sizes.passes(tags) {
			return -1, nil
		}
		key = p.keys.appendKey(key[:0], p.s, func(n int) []byte { return tags[p.sizes.keys[n]] })
		return groups.number(store, key)
	}
	r.Add = func(group int, bucket, _, texts, bytes int64) error {
		if texts == 0 {
			return nil
		}
		s, memory := seriesOf(found, []byte(groups.keys[group]))
		if q.most > 0 && len(found) > q.most {
			return tooManySeries(q.most)
		}
		if n := len(s.tallies); n > 0 && s.tallies[n-1].bucket == bucket {
			s.tallies[n-1].total += float64(bytes)
		} else {
			s.tallies = append(s.tallies, tally{bucket, float64(bytes)})
			memory += tallyBytes
		}
		if memory == 0 {
			return nil
		}
		return store.Reserve(memory)
	}
	return store.TextSizes(ctx, r)
}

// measure adds the streams of a table with a line in a time.
func (t *Size) measure(ctx context.Context, store Store, s *source, z *sizes, span timeSpan) error {
	r := z.request(s, span)
	r.Bucket = func(int64) int64 { return 0 }
	var groups numbered
	var key []byte
	r.Group = func(tags [][]byte) (int, error) {
		if !z.passes(tags) {
			return -1, nil
		}
		key = key[:0]
		for _, at := range z.keys {
			if key = append(key, 0); tags[at] != nil {
				key[len(key)-1] = 1
				key = binary.AppendUvarint(key, uint64(len(tags[at])))
				key = append(key, tags[at]...)
			}
		}
		return groups.number(store, key)
	}
	var seen []bool
	r.Add = func(group int, _, rows, _, bytes int64) error {
		for len(seen) <= group {
			seen = append(seen, false)
		}
		if !seen[group] {
			seen[group] = true
			t.Streams++
		}
		t.Lines += rows
		t.Bytes += bytes
		return nil
	}
	return store.TextSizes(ctx, r)
}
