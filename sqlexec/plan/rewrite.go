package plan

import (
	"bytes"
	"math"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// splitAnd splits a condition at its ANDs and appends the parts.
func splitAnd(e expr.Expr, list []expr.Expr) []expr.Expr {
	op, args := operator(e)
	if op != expr.And {
		return append(list, e)
	}
	for _, a := range args {
		list = splitAnd(a, list)
	}
	return list
}

// operator returns the meaning of a call and its arguments; expr.NoOp for everything else.
func operator(e expr.Expr) (expr.Op, []expr.Expr) {
	if c, ok := e.(*expr.Call); ok {
		return expr.OpOfCall(c), c.Args
	}
	return expr.NoOp, nil
}

// children are the expressions directly inside e.
func children(e expr.Expr) []expr.Expr {
	switch e := e.(type) {
	case *expr.Call:
		return e.Args
	case *expr.Cast:
		return []expr.Expr{e.Arg}
	case *expr.In:
		return append([]expr.Expr{e.Arg}, e.List...)
	case *expr.Case:
		list := append(append([]expr.Expr(nil), e.When...), e.Then...)
		if e.Else != nil {
			list = append(list, e.Else)
		}
		return list
	case *expr.Pending:
		return e.Args
	}
	return nil
}

// withChildren is e with other expressions inside, in the order of children.
func withChildren(e expr.Expr, list []expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Call:
		c := *e
		c.Args = list
		return &c
	case *expr.Cast:
		c := *e
		c.Arg = list[0]
		return &c
	case *expr.In:
		c := *e
		c.Arg, c.List = list[0], list[1:]
		return &c
	case *expr.Case:
		c := *e
		n := len(e.When)
		c.When, c.Then = list[:n], list[n:2*n]
		if e.Else != nil {
			c.Else = list[2*n]
		}
		return &c
	case *expr.Pending:
		c := *e
		c.Args = list
		return &c
	}
	return e
}

// mapColumns puts f's answer in for every column of e.
func mapColumns(e expr.Expr, f func(*expr.Column) expr.Expr) expr.Expr {
	if c, ok := e.(*expr.Column); ok {
		return f(c)
	}
	list := children(e)
	if len(list) == 0 {
		return e
	}
	out := make([]expr.Expr, len(list))
	for i, x := range list {
		out[i] = mapColumns(x, f)
	}
	return withChildren(e, out)
}

// substitute puts exprs[i] in for column i.
func substitute(e expr.Expr, exprs []expr.Expr) expr.Expr {
	return mapColumns(e, func(c *expr.Column) expr.Expr { return exprs[c.Index] })
}

// remap moves column i to m[i].
func remap(e expr.Expr, m []int) expr.Expr {
	return mapColumns(e, func(c *expr.Column) expr.Expr {
		n := *c
		n.Index = m[c.Index]
		return &n
	})
}

// shift moves all columns by d.
func shift(e expr.Expr, d int) expr.Expr {
	return mapColumns(e, func(c *expr.Column) expr.Expr {
		n := *c
		n.Index += d
		return &n
	})
}

// equal reports whether two expressions are the same computation.
func equal(a, b expr.Expr) bool {
	switch a := a.(type) {
	case *expr.Column:
		b, ok := b.(*expr.Column)
		return ok && a.Index == b.Index
	case *expr.Const:
		b, ok := b.(*expr.Const)
		return ok && sameConst(a.Value, b.Value)
	case *expr.Call:
		b, ok := b.(*expr.Call)
		if !ok || !a.Same(b) {
			return false
		}
	case *expr.Cast:
		b, ok := b.(*expr.Cast)
		if !ok || a.To != b.To || a.Try != b.Try {
			return false
		}
	case *expr.In:
		b, ok := b.(*expr.In)
		if !ok || a.Not != b.Not || a.Values != b.Values {
			return false
		}
	case *expr.Case:
		b, ok := b.(*expr.Case)
		if !ok || len(a.When) != len(b.When) || (a.Else == nil) != (b.Else == nil) {
			return false
		}
	default:
		return false
	}
	ca, cb := children(a), children(b)
	if len(ca) != len(cb) {
		return false
	}
	for i := range ca {
		if !equal(ca[i], cb[i]) {
			return false
		}
	}
	return true
}

func sameConst(a, b *vector.Vector) bool {
	if a.Type != b.Type || a.IsNull(0) != b.IsNull(0) {
		return false
	}
	if a.IsNull(0) {
		return true
	}
	switch a.Type.Kind() {
	case vector.Bool:
		return a.Bool(0) == b.Bool(0)
	case vector.Int64:
		return a.Int(0) == b.Int(0)
	case vector.Uint64:
		return a.Uint(0) == b.Uint(0)
	case vector.Float64:
		return math.Float64bits(a.Float(0)) == math.Float64bits(b.Float(0))
	}
	return bytes.Equal(a.Bytes(0), b.Bytes(0))
}

// aggExprs are the expressions of an aggregate.
func aggExprs(a *expr.Agg) []expr.Expr {
	list := a.Inputs()
	if a.Filter != nil {
		list = append(list, a.Filter)
	}
	return list
}

func remapAgg(a *expr.Agg, m []int) *expr.Agg {
	return a.Map(func(e expr.Expr) expr.Expr { return remap(e, m) })
}
