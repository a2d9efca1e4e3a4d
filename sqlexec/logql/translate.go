package logql

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// leafLabel is the label of a selector in an expression of metrics that names an aggregation of a range.
const leafLabel = "__leaf__"

// translator makes an expression of the metrics language of a query of numbers. Each aggregation of a range becomes a
// selector {__leaf__="n"}, which the leaves answer.
type translator struct {
	leaves []*leaf
}

// leaf is an aggregation of a range, and the labels that its series keep.
type leaf struct {
	agg      *syntax.RangeAggregation
	grouping *syntax.Grouping // nil: all labels
	streams  bool             // series have labels of streams only
}

// expr translates an expression; scalar says that it is a number and has no labels.
func (t *translator) expr(e syntax.Expr) (text string, scalar bool) {
	switch e := e.(type) {
	case *syntax.Literal:
		return literal(e.Value), true
	case *syntax.Vector:
		return "vector(" + literal(e.Value) + ")", false
	case *syntax.RangeAggregation:
		return t.leaf(e, e.Grouping), false
	case *syntax.VectorAggregation:
		return t.aggregation(e), false
	case *syntax.LabelReplace:
		inner, _ := t.expr(e.Expr)
		return "label_replace(" + inner + ", " + strconv.Quote(e.Dst) + ", " + strconv.Quote(e.Replacement) + ", " +
			strconv.Quote(e.Source) + ", " + strconv.Quote(e.Regex) + ")", false
	case *syntax.Binary:
		return t.binary(e)
	}
	return "vector(NaN)", false
}

// leaf is the selector of an aggregation of a range.
func (t *translator) leaf(agg *syntax.RangeAggregation, by *syntax.Grouping) string {
	t.leaves = append(t.leaves, &leaf{agg: agg, grouping: by})
	return "{" + leafLabel + "=" + strconv.Quote(strconv.Itoa(len(t.leaves)-1)) + "}"
}

// literal is a number in the metrics language.
func literal(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Inf"
	case math.IsInf(x, -1):
		return "(-Inf)"
	case x < 0:
		return "(" + strconv.FormatFloat(x, 'g', -1, 64) + ")"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// aggregation translates an aggregation of the series of an instant.
func (t *translator) aggregation(e *syntax.VectorAggregation) string {
	inner := ""
	if agg, ok := e.Expr.(*syntax.RangeAggregation); ok && e.Op == syntax.OpSum && sumsUp(agg) {
		by := e.Grouping
		if by == nil {
			by = &syntax.Grouping{}
		}
		inner = t.leaf(agg, by)
	} else {
		inner, _ = t.expr(e.Expr)
	}
	op := string(e.Op)
	if e.Op == syntax.OpApproxTopK {
		op = string(syntax.OpTopK)
	}
	if g := e.Grouping; g != nil {
		word := " by "
		if g.Without {
			word = " without "
		}
		op += word + "(" + strings.Join(g.Names, ", ") + ") "
	}
	if e.Op == syntax.OpTopK || e.Op == syntax.OpBottomK || e.Op == syntax.OpApproxTopK {
		return op + "(" + strconv.Itoa(e.Param) + ", " + inner + ")"
	}
	return op + "(" + inner + ")"
}

// sumsUp reports whether the sum over series is the same as the aggregation of the lines of all of them.
func sumsUp(agg *syntax.RangeAggregation) bool {
	if agg.Grouping != nil || agg.Range.Unwrap != nil {
		return false
	}
	switch agg.Op {
	case syntax.OpCountOverTime, syntax.OpRate, syntax.OpBytesOverTime, syntax.OpBytesRate:
		return true
	}
	return false
}

// binary translates an operator.
func (t *translator) binary(e *syntax.Binary) (text string, scalar bool) {
	left, leftScalar := t.expr(e.Left)
	right, rightScalar := t.expr(e.Right)
	op := " " + string(e.Op) + " "
	both := leftScalar && rightScalar
	if e.Bool || both && compares(e.Op) {
		op += "bool "
	}
	if m := e.Matching; m != nil && !leftScalar && !rightScalar {
		word := "ignoring"
		if m.On {
			word = "on"
		}
		op += word + "(" + strings.Join(m.Names, ", ") + ") "
		if m.Group != syntax.GroupNone {
			op += string(m.Group) + "(" + strings.Join(m.Include, ", ") + ") "
		}
	}
	return "(" + left + op + right + ")", both
}

func compares(op syntax.BinaryOp) bool {
	return slices.Contains([]syntax.BinaryOp{syntax.OpEq, syntax.OpNe, syntax.OpGt, syntax.OpGe, syntax.OpLt,
		syntax.OpLe}, op)
}
