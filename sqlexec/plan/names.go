package plan

import (
	"slices"
	"strconv"
	"strings"

	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// outputName is the name of a result column that has no alias: columns by name alone, functions with the table before
// their columns.
func outputName(x parse.Expr, sc *scope) string {
	switch x := x.(type) {
	case *parse.Column:
		return x.Parts[len(x.Parts)-1].Name
	case *parse.Slot:
		return x.Name
	case *parse.Cast:
		return outputName(x.X, sc)
	}
	return describe(x, sc)
}

// describe is an expression in the form of computed column names.
func describe(x parse.Expr, sc *scope) string {
	list := func(items []parse.Expr) string {
		out := make([]string, len(items))
		for i, a := range items {
			out[i] = describe(a, sc)
		}
		return strings.Join(out, ",")
	}
	switch x := x.(type) {
	case *parse.Column:
		name := x.Parts[len(x.Parts)-1].Name
		if hits := sc.find(x.Parts); len(hits) == 1 && sc.cols[hits[0]].Table != "" {
			return sc.cols[hits[0]].Table + "." + name
		}
		return name
	case *parse.Slot:
		return sc.cols[x.Index].label()
	case *parse.Literal:
		return describeLiteral(x)
	case *parse.Unary:
		if x.Op == "not" {
			return "NOT " + describe(x.X, sc)
		}
		return "(" + x.Op + " " + describe(x.X, sc) + ")"
	case *parse.Binary:
		return describeBinary(x, sc)
	case *parse.Cast:
		return describe(x.X, sc)
	case *parse.Range:
		return describeRange(x, sc)
	case *parse.Call:
		if x.Over != nil || strings.HasPrefix(x.Name, expr.VariablePrefix) {
			return parse.PrintExpr(x)
		}
		args := list(x.Args)
		switch {
		case x.Star:
			args = "*"
		case x.Distinct:
			args = "DISTINCT " + args
		}
		text := x.Name + "(" + args + ")"
		if x.Filter != nil {
			text += " FILTER (WHERE " + describe(x.Filter, sc) + ")"
		}
		return text
	}
	return parse.PrintExpr(x)
}

// describeBinary follows the left operands in a loop, which may be thousands: where the whole does not begin with a
// parenthesis none of them does.
func describeBinary(x *parse.Binary, sc *scope) string {
	if text := parse.PrintExpr(x); strings.HasPrefix(text, "(") {
		return text
	}
	spine := []*parse.Binary{x}
	left, ok := x.L.(*parse.Binary)
	for ; ok; left, ok = left.L.(*parse.Binary) {
		spine = append(spine, left)
	}
	var text strings.Builder
	text.WriteString(describe(spine[len(spine)-1].L, sc))
	for _, b := range slices.Backward(spine) {
		text.WriteString(" " + strings.ToUpper(b.Op) + " ")
		text.WriteString(describe(b.R, sc))
	}
	return text.String()
}

// describeRange is min(host.val) RANGE 5s FILL NULL.
func describeRange(x *parse.Range, sc *scope) string {
	span := parse.PrintExpr(x.Span)
	if lit, ok := x.Span.(*parse.Literal); ok {
		span = lit.Text
	}
	text := describe(x.X, sc) + " RANGE " + span
	if x.Fill == nil {
		return text
	}
	if x.Fill.Kind != "value" {
		return text + " FILL " + strings.ToUpper(x.Fill.Kind)
	}
	if lit, ok := x.Fill.Value.(*parse.Literal); ok {
		return text + " FILL " + lit.Text
	}
	return text + " FILL " + parse.PrintExpr(x.Fill.Value)
}

func describeLiteral(x *parse.Literal) string {
	switch x.Kind {
	case parse.NullLiteral:
		return "NULL"
	case parse.TrueLiteral:
		return "Boolean(true)"
	case parse.FalseLiteral:
		return "Boolean(false)"
	case parse.StringLiteral:
		return `Utf8("` + x.Text + `")`
	case parse.HexLiteral:
		return `Binary("` + x.Text + `")`
	}
	if strings.ContainsAny(x.Text, ".eE") {
		return "Float64(" + x.Text + ")"
	}
	if _, err := strconv.ParseInt(x.Text, 10, 64); err == nil {
		return "Int64(" + x.Text + ")"
	}
	if _, err := strconv.ParseUint(x.Text, 10, 64); err == nil {
		return "UInt64(" + x.Text + ")"
	}
	return "Float64(" + x.Text + ")"
}
