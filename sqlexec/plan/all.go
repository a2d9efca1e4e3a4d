package plan

import (
	"strconv"

	"varve/sqlexec/parse"
)

// groupByAll replaces GROUP BY ALL by the items without aggregates.
func groupByAll(s *parse.Select, items []item) *parse.Select {
	if len(s.GroupBy) != 1 {
		return s
	}
	if _, ok := s.GroupBy[0].X.(*parse.All); !ok {
		return s
	}
	out := *s
	out.GroupBy = []parse.GroupItem{}
	for _, it := range items {
		if !noKey(it.x) {
			out.GroupBy = append(out.GroupBy, parse.GroupItem{X: it.x})
		}
	}
	return &out
}

// noKey reports whether an item is not a key of GROUP BY ALL: it has aggregates or windows, makes rows, or is a
// literal, which would be a position.
func noKey(x parse.Expr) bool {
	if _, ok := x.(*parse.Literal); ok {
		return true
	}
	found := hasAggregate(x) || hasWindow(x)
	parse.Walk(x, func(y parse.Expr) bool {
		found = found || isGrouping(y) || isUnnest(y)
		return !found
	})
	return found
}

// orderByAll replaces ORDER BY ALL by the positions of n columns.
func orderByAll(q *parse.Query, n int) *parse.Query {
	if len(q.OrderBy) != 1 {
		return q
	}
	all, ok := q.OrderBy[0].X.(*parse.All)
	if !ok {
		return q
	}
	out := *q
	out.OrderBy = nil
	for i := range n {
		key := q.OrderBy[0]
		key.X = &parse.Literal{Node: all.Node, Kind: parse.NumberLiteral, Text: strconv.Itoa(i + 1)}
		out.OrderBy = append(out.OrderBy, key)
	}
	return &out
}
