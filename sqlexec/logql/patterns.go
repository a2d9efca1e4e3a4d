package logql

import (
	"cmp"
	"context"
	"slices"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/parse"
)

// Shape is a form of lines: a line in which Hole stands for each part that varies.
type Shape struct {
	Text    string
	Level   string
	Total   int64
	Seconds []int64 // begins of the steps that have such lines
	Counts  []int64 // lines of each
}

// Hole stands for a part of a line that varies from line to line.
const Hole = "<_>"

// variable are the parts of a line that vary: quoted texts, ids, addresses, times and numbers.
const variable = `"[^"]*"|'[^']*'|\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b|` +
	`\b[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\b|[+-]?\d+([.:,_/-]\d+)*[a-zA-Zµ%]*`

// The bounds of shapes: lines that are looked at, the newest; shapes; and bytes of a shape.
const (
	shapeLines = 200_000
	maxShapes  = 300
	shapeBytes = 512
)

// Shapes counts the forms of the newest lines of a selector in a time, ns, by steps of so many seconds. The most
// frequent come first.
func Shapes(ctx context.Context, store Store, q *syntax.LogQuery, from, to, step int64) ([]Shape, error) {
	matchers, err := tests(q.Matchers)
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
	found := map[string]*Shape{}
	for _, s := range tables {
		var w where
		w.within(s, from, to)
		w.matched(s, matchers)
		w.filtered(s, q.Stages)
		if err := s.shapes(ctx, store, w, step, found); err != nil {
			return nil, err
		}
	}
	out := make([]Shape, 0, len(found))
	for _, one := range found {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), maxShapes)], nil
}

// shapes counts the forms of the rows of a table that meet a condition.
func (s *source) shapes(ctx context.Context, store Store, w where, step int64, found map[string]*Shape) error {
	at := parse.QuoteIdent(s.time.Name)
	statement := "SELECT substr(regexp_replace(l, " + parse.QuoteText(variable) + ", " + parse.QuoteText(Hole) +
		", 'g'), 1, " + number(shapeBytes) + ") AS p, date_bin(INTERVAL '" + number(int(step)) +
		" seconds', t) AS b, count(*), min(l) FROM (SELECT " + at + " AS t, " + s.line + " AS l FROM " + s.from() +
		w.String() + " ORDER BY " + at + " DESC LIMIT " + number(shapeLines) + ") AS newest GROUP BY 1, 2 ORDER BY 2"
	rows, err := store.Run(ctx, statement, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	var b vector.Batch
	for {
		more, err := rows.Next(&b)
		if err != nil || !more {
			return err
		}
		bytes := int64(0)
		for i := range b.N {
			if b.Cols[0].IsNull(i) || b.Cols[1].IsNull(i) {
				continue
			}
			one := found[string(b.Cols[0].Bytes(i))]
			if one == nil {
				text := string(b.Cols[0].Bytes(i))
				one = &Shape{Text: text, Level: detectLevel(b.Cols[3].Bytes(i), nil, nil)}
				found[text] = one
				bytes += 2*int64(len(text)) + streamBytes
			}
			seconds, _ := convert.Time(b.Cols[1].Int(i), b.Cols[1].Type, vector.Timestamp(0))
			n := integer(b.Cols[2], i)
			one.Total += n
			one.Seconds, one.Counts = append(one.Seconds, seconds), append(one.Counts, n)
			bytes += tallyBytes
		}
		if err := store.Reserve(bytes); err != nil {
			return err
		}
	}
}
