package promql

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/status"
)

// object is a node of the tree that parse_query shows. What is absent is null, lists are never null.
type object map[string]any

// AppendTree appends an expression as a tree of JSON objects, each with its type.
func AppendTree(dst []byte, x parser.Expr) ([]byte, error) {
	b, err := json.Marshal(tree(x))
	if err != nil {
		return dst, status.Wrap(err, status.InvalidArguments, "the expression has no JSON form: %s", err)
	}
	return append(dst, b...), nil
}

func tree(x parser.Expr) any {
	switch n := x.(type) {
	case *parser.AggregateExpr:
		return object{"type": "aggregation", "op": n.Op.String(), "expr": tree(n.Expr), "param": tree(n.Param),
			"grouping": list(n.Grouping), "without": n.Without}
	case *parser.BinaryExpr:
		return object{"type": "binaryExpr", "op": n.Op.String(), "lhs": tree(n.LHS), "rhs": tree(n.RHS),
			"matching": matchingTree(n.VectorMatching), "bool": n.ReturnBool}
	case *parser.Call:
		args := []any{}
		for _, arg := range n.Args {
			args = append(args, tree(arg))
		}
		return object{"type": "call", "args": args,
			"func": object{"name": n.Func.Name, "argTypes": list(n.Func.ArgTypes),
				"variadic": n.Func.Variadic, "returnType": n.Func.ReturnType}}
	case *parser.MatrixSelector:
		vs := n.VectorSelector.(*parser.VectorSelector)
		o := selectorTree("matrixSelector", vs)
		o["range"], o["rangeExpr"] = n.Range.Milliseconds(), durationTree(n.RangeExpr)
		return o
	case *parser.VectorSelector:
		return selectorTree("vectorSelector", n)
	case *parser.SubqueryExpr:
		o := object{"type": "subquery", "expr": tree(n.Expr), "range": n.Range.Milliseconds(),
			"rangeExpr": durationTree(n.RangeExpr),
			"step":      n.Step.Milliseconds(), "stepExpr": durationTree(n.StepExpr)}
		o.addTime(n.OriginalOffset, n.OriginalOffsetExpr, n.Timestamp, n.StartOrEnd)
		return o
	case *parser.NumberLiteral:
		return object{"type": "numberLiteral", "val": strconv.FormatFloat(n.Val, 'f', -1, 64)}
	case *parser.StringLiteral:
		return object{"type": "stringLiteral", "val": n.Val}
	case *parser.ParenExpr:
		return object{"type": "parenExpr", "expr": tree(n.Expr)}
	case *parser.UnaryExpr:
		return object{"type": "unaryExpr", "op": n.Op.String(), "expr": tree(n.Expr)}
	case *parser.DurationExpr:
		return durationTree(n)
	}
	return nil
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func matchingTree(m *parser.VectorMatching) any {
	if m == nil {
		return nil
	}
	return object{"card": m.Card.String(), "labels": list(m.MatchingLabels), "on": m.On, "include": list(m.Include),
		"fillValues": object{"lhs": m.FillValues.LHS, "rhs": m.FillValues.RHS}}
}

func selectorTree(kind string, vs *parser.VectorSelector) object {
	o := object{"type": kind, "name": vs.Name, "matchers": matcherTree(vs.LabelMatchers), "anchored": vs.Anchored,
		"smoothed": vs.Smoothed}
	o.addTime(vs.OriginalOffset, vs.OriginalOffsetExpr, vs.Timestamp, vs.StartOrEnd)
	return o
}

func matcherTree(ms []*labels.Matcher) []object {
	out := []object{}
	for _, m := range ms {
		out = append(out, object{"name": m.Name, "value": m.Value, "type": m.Type.String()})
	}
	return out
}

// addTime adds the members of offset and @.
func (o object) addTime(offset time.Duration, x *parser.DurationExpr, timestamp *int64, startOrEnd parser.ItemType) {
	o["offset"], o["offsetExpr"], o["timestamp"], o["startOrEnd"] = offset.Milliseconds(), durationTree(x), timestamp,
		nil
	if startOrEnd != 0 {
		o["startOrEnd"] = startOrEnd.String()
	}
}

// durationTree is the tree of a duration expression; null if there is none.
func durationTree(x parser.Expr) any {
	switch n := x.(type) {
	case *parser.DurationExpr:
		if n == nil {
			return nil
		}
		return object{"type": "durationExpr", "op": n.Op.String(), "lhs": durationTree(n.LHS),
			"rhs": durationTree(n.RHS), "wrapped": n.Wrapped}
	case *parser.NumberLiteral:
		return object{"type": "numberLiteral", "val": strconv.FormatFloat(n.Val, 'f', -1, 64), "duration": n.Duration}
	}
	return nil
}
