package promql

import (
	"math"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/status"
)

// prepare makes numbers of what depends on the query's times only: duration expressions, start() and end() after @, the
// functions start, end, range and step. It changes the tree, which must be fresh from the parser, and finds the nodes
// whose value is the same at all steps.
func prepare(x parser.Expr, q *Query) (parser.Expr, map[parser.Expr]bool, error) {
	x = fold(x, q)
	var failed error
	parser.Inspect(x, func(n parser.Node, _ []parser.Node) error {
		failed = prepareNode(n, q)
		return failed
	})
	if failed != nil {
		return nil, nil, status.Wrap(failed, status.InvalidArguments, "%s", failed)
	}
	same := map[parser.Expr]bool{}
	markInvariant(x, same)
	return x, same, nil
}

func prepareNode(n parser.Node, q *Query) (err error) {
	at := func(which parser.ItemType, to **int64) {
		switch which {
		case parser.START:
			*to = &q.Start
		case parser.END:
			*to = &q.End
		}
	}
	number := func(x *parser.DurationExpr, to *time.Duration, negative bool) {
		if x != nil && err == nil {
			*to, err = duration(x, q, negative)
		}
	}
	switch n := n.(type) {
	case *parser.VectorSelector:
		number(n.OriginalOffsetExpr, &n.OriginalOffset, true)
		at(n.StartOrEnd, &n.Timestamp)
	case *parser.MatrixSelector:
		number(n.RangeExpr, &n.Range, false)
	case *parser.SubqueryExpr:
		number(n.OriginalOffsetExpr, &n.OriginalOffset, true)
		number(n.StepExpr, &n.Step, false)
		number(n.RangeExpr, &n.Range, false)
		at(n.StartOrEnd, &n.Timestamp)
	}
	return err
}

// fold puts numbers in the place of start(), end(), range() and step(), and takes parentheses off the arguments of
// functions and aggregations: their annotations point at what is inside.
func fold(x parser.Expr, q *Query) parser.Expr {
	switch n := x.(type) {
	case *parser.Call:
		if f := functionOf(n); f != nil && f.setting != nil {
			return &parser.NumberLiteral{Val: f.setting(q), PosRange: n.PosRange}
		}
		for i := range n.Args {
			n.Args[i] = unwrap(fold(n.Args[i], q))
		}
	case *parser.BinaryExpr:
		n.LHS, n.RHS = fold(n.LHS, q), fold(n.RHS, q)
	case *parser.AggregateExpr:
		n.Expr = unwrap(fold(n.Expr, q))
		if n.Param != nil {
			n.Param = unwrap(fold(n.Param, q))
		}
	case *parser.UnaryExpr:
		n.Expr = fold(n.Expr, q)
	case *parser.ParenExpr:
		n.Expr = fold(n.Expr, q)
	case *parser.SubqueryExpr:
		n.Expr = fold(n.Expr, q)
	}
	return x
}

// duration is the value of a duration expression.
func duration(x parser.Expr, q *Query, negative bool) (time.Duration, error) {
	seconds, err := durationSeconds(x, q)
	if err != nil {
		return 0, err
	}
	pos := x.PositionRange()
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0):
		return 0, durationError(pos.Start, pos.End, "duration is NaN or infinite")
	case seconds <= 0 && !negative:
		return 0, durationError(pos.Start, pos.End, "duration must be greater than 0")
	case math.Abs(seconds) > math.MaxInt64/1e9:
		return 0, durationError(pos.Start, pos.End, "duration is out of range")
	}
	return time.Duration(seconds*1000) * time.Millisecond, nil
}

func durationError[P ~int](start, end P, what string) error {
	return status.New(status.InvalidArguments, "%d:%d: %s", int(start), int(end), what)
}

func durationSeconds(x parser.Expr, q *Query) (float64, error) {
	switch n := x.(type) {
	case *parser.NumberLiteral:
		return n.Val, nil
	case *parser.DurationExpr:
		return durationOperation(n, q)
	}
	return 0, status.New(status.InvalidArguments, "%s is not a duration", x)
}

func durationOperation(n *parser.DurationExpr, q *Query) (left float64, err error) {
	if n.LHS != nil {
		if left, err = durationSeconds(n.LHS, q); err != nil {
			return 0, err
		}
	}
	right := 0.0
	if n.RHS != nil {
		if right, err = durationSeconds(n.RHS, q); err != nil {
			return 0, err
		}
	}
	pos := n.PositionRange()
	switch n.Op {
	case parser.STEP:
		return float64(q.Step) / 1000, nil
	case parser.RANGE:
		return float64(q.End-q.Start) / 1000, nil
	case parser.MIN_OF:
		return math.Min(left, right), nil
	case parser.MAX_OF:
		return math.Max(left, right), nil
	case parser.ADD:
		return left + right, nil
	case parser.SUB:
		return left - right, nil
	case parser.MUL:
		return left * right, nil
	case parser.DIV:
		if right == 0 {
			return 0, durationError(pos.Start, pos.End, "division by zero")
		}
		return left / right, nil
	case parser.MOD:
		if right == 0 {
			return 0, durationError(pos.Start, pos.End, "modulo by zero")
		}
		return math.Mod(left, right), nil
	case parser.POW:
		return math.Pow(left, right), nil
	}
	return 0, status.New(status.InvalidArguments, "%d:%d: %s is not an operator of durations", pos.Start, pos.End, n.Op)
}

// markInvariant notes for a node and those below it whether they are the same at all steps.
func markInvariant(x parser.Expr, same map[parser.Expr]bool) bool {
	is := false
	switch n := x.(type) {
	case *parser.NumberLiteral, *parser.StringLiteral:
		is = true
	case *parser.VectorSelector:
		is = n.Timestamp != nil
	case *parser.MatrixSelector:
		is = markInvariant(n.VectorSelector, same)
	case *parser.SubqueryExpr:
		markInvariant(n.Expr, same)
		is = n.Timestamp != nil
	case *parser.ParenExpr:
		is = markInvariant(n.Expr, same)
	case *parser.UnaryExpr:
		is = markInvariant(n.Expr, same)
	case *parser.AggregateExpr:
		is = markInvariant(n.Expr, same)
		if n.Param != nil {
			is = markInvariant(n.Param, same) && is
		}
	case *parser.BinaryExpr:
		left, right := markInvariant(n.LHS, same), markInvariant(n.RHS, same)
		is = left && right
	case *parser.Call:
		is = markCall(n, same)
	}
	same[x] = is
	return is
}

func markCall(n *parser.Call, same map[parser.Expr]bool) bool {
	f, is, selectors := functionOf(n), true, true
	if f == nil {
		return false // evaluating it is an error
	}
	for i, arg := range n.Args {
		if f.matchers && i == 1 {
			break
		}
		is = markInvariant(arg, same) && is
		_, selector := unwrap(arg).(*parser.VectorSelector)
		selectors = selectors && selector
	}
	switch {
	case f.matchers:
		_, uniform := reference(n.Args[0])
		return is && uniform
	case f.steps == unlessSelector:
		return is && selectors
	}
	return is && f.steps == steady
}

// unwrap takes parentheses off.
func unwrap(x parser.Expr) parser.Expr {
	for {
		p, ok := x.(*parser.ParenExpr)
		if !ok {
			return x
		}
		x = p.Expr
	}
}
