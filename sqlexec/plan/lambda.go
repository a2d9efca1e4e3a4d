package plan

import (
	"slices"
	"strconv"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// lambdaFrame is a lambda while it is bound: its parameters are the first columns of its body, behind them come the
// values that it takes from the row around it, which outer binds.
type lambdaFrame struct {
	outer  *exprBinder
	params map[string]*expr.Column
	count  int // columns of parameters
	row    []expr.Expr
	known  map[parse.Expr]bool // whether an expression depends on a parameter
}

// lambdaOf is the lambda among the arguments of a call; nil: none.
func lambdaOf(x *parse.Call) *parse.Lambda {
	for _, a := range x.Args {
		if l, ok := a.(*parse.Lambda); ok {
			return l
		}
	}
	return nil
}

// lambdaCall binds a function of a list and a lambda.
func (eb *exprBinder) lambdaCall(x *parse.Call, l *parse.Lambda) (expr.Expr, error) {
	form := expr.LambdaOf(x.Name)
	switch {
	case form == expr.NoLambda:
		return nil, parse.PlaceError(misplaced(l), l.Position())
	case len(x.Args) < 2 || x.Args[1] != parse.Expr(l) || form == expr.MapForm && len(x.Args) > 2 || len(x.Args) > 3:
		return nil, planError("function '%s' takes a list and a lambda", x.Name)
	}
	list, err := eb.bind(x.Args[0])
	if err != nil {
		return nil, err
	}
	t := list.Type()
	if list, err = listOf(list, "unnest"); err != nil {
		return nil, planError("function '%s' takes a list and a lambda, found %s", x.Name, t)
	}
	if form == expr.FoldForm {
		return eb.fold(x, l, list)
	}
	f, err := eb.frame(x.Name, l, list.Type().Elem(), vector.Int64Type)
	if err != nil {
		return nil, err
	}
	body, err := f.body(l)
	if err != nil {
		return nil, err
	}
	return eb.b.ctx.CallLambda(x.Name, list, nil, f.row,
		&expr.Lambda{Text: parse.PrintExpr(l), Body: body, Params: f.count})
}

// maxWidened bounds how often the type of a result of array_reduce is widened for the results of the lambda.
const maxWidened = 8

// fold binds array_reduce: its result so far has the type that the first value, or the elements, and the lambda have in
// common.
func (eb *exprBinder) fold(x *parse.Call, l *parse.Lambda, list expr.Expr) (expr.Expr, error) {
	var start expr.Expr
	elem := list.Type().Elem()
	t := elem
	if len(x.Args) == 3 {
		var err error
		if start, err = eb.bind(x.Args[2]); err != nil {
			return nil, err
		}
		if t = start.Type(); t == vector.NullType {
			t = elem
		}
	}
	for widened := 0; ; widened++ {
		f, err := eb.frame(x.Name, l, t, elem, vector.Int64Type)
		if err != nil {
			return nil, err
		}
		body, err := f.body(l)
		if err != nil {
			return nil, err
		}
		common, err := expr.CommonType([]expr.Expr{&expr.Column{T: t}, body})
		if err != nil {
			return nil, err
		}
		if common != t && widened < maxWidened { // products of decimals would widen for ever
			t = common
			continue
		}
		if body, err = eb.b.ctx.Cast(body, t, false); err != nil {
			return nil, err
		}
		if start == nil && t != elem {
			if list, err = eb.castElements(list, t); err != nil {
				return nil, err
			}
			elem = t
			continue
		}
		if start != nil {
			if start, err = eb.b.ctx.Cast(start, t, false); err != nil {
				return nil, err
			}
		}
		return eb.b.ctx.CallLambda(x.Name, list, start, f.row,
			&expr.Lambda{Text: parse.PrintExpr(l), Body: body, Params: f.count})
	}
}

// castElements returns a list with elements of another type.
func (eb *exprBinder) castElements(list expr.Expr, to vector.Type) (expr.Expr, error) {
	body, err := eb.b.ctx.Cast(&expr.Column{Name: "x", T: list.Type().Elem(), Null: true}, to, false)
	if err != nil {
		return nil, err
	}
	return eb.b.ctx.CallLambda("list_transform", list, nil, nil,
		&expr.Lambda{Text: "lambda x: x::" + to.String(), Body: body, Params: 2})
}

// frame returns the frame of a lambda whose parameters have the given types; the lambda may omit the last parameter.
func (eb *exprBinder) frame(function string, l *parse.Lambda, types ...vector.Type) (*lambdaFrame, error) {
	if n := len(l.Params); n > len(types) || n < len(types)-1 {
		return nil, parse.PlaceError(planError("the lambda of '%s' has %d or %d parameters, found %d", function,
			len(types)-1, len(types), n), l.Position())
	}
	f := &lambdaFrame{outer: eb, params: map[string]*expr.Column{}, count: len(types), known: map[parse.Expr]bool{}}
	for i, id := range l.Params {
		f.params[id.Name] = &expr.Column{Index: i, Name: id.Name, T: types[i], Null: true}
	}
	return f, nil
}

// body binds the body of a lambda, which no row may need: a list may be empty.
func (f *lambdaFrame) body(l *parse.Lambda) (e expr.Expr, err error) {
	inner := *f.outer
	inner.special = f.special
	err = f.outer.b.ctx.InBranch(func() error {
		e, err = inner.bind(l.Body)
		return err
	})
	return e, err
}

// param is the parameter that an expression names; nil: none.
func (f *lambdaFrame) param(x parse.Expr) *expr.Column {
	if c, ok := x.(*parse.Column); ok && len(c.Parts) == 1 {
		return f.params[c.Parts[0].Name]
	}
	return nil
}

// depends reports whether a parameter is named in an expression.
func (f *lambdaFrame) depends(x parse.Expr) bool {
	if x == nil {
		return false
	}
	if d, ok := f.known[x]; ok {
		return d
	}
	f.known[x] = f.param(x) != nil || slices.ContainsFunc(parse.Children(x), f.depends)
	return f.known[x]
}

// special finds parameters, and what has a value for the row around the lambda.
func (f *lambdaFrame) special(x parse.Expr) (expr.Expr, bool, error) {
	if c := f.param(x); c != nil {
		return c, true, nil
	}
	if f.depends(x) {
		return nil, false, nil
	}
	switch x := x.(type) {
	case *parse.Literal, *parse.Interval, *parse.Lambda:
		return nil, false, nil
	case *parse.Column, *parse.Slot, *parse.Subquery, *parse.Exists:
		return f.outside(f.outer.bind(x))
	case *parse.In:
		if x.Query != nil {
			return f.outside(f.outer.bind(x))
		}
	case *parse.Quantified:
		if x.Query != nil {
			return f.outside(f.outer.bind(x))
		}
	}
	if f.outer.special == nil {
		return nil, false, nil
	}
	if e, ok, err := f.outer.special(x); ok || err != nil {
		return f.outside(e, err)
	}
	return nil, false, nil
}

// outside makes a value of the row around the lambda a column of its body.
func (f *lambdaFrame) outside(e expr.Expr, err error) (expr.Expr, bool, error) {
	if err != nil {
		return nil, false, err
	}
	if _, ok := e.(*expr.Const); ok {
		return e, true, nil
	}
	at := 0
	for at < len(f.row) && !equal(f.row[at], e) {
		at++
	}
	if at == len(f.row) {
		f.row = append(f.row, e)
	}
	return &expr.Column{Index: f.count + at, Name: "$" + strconv.Itoa(at+1), T: e.Type(), Null: true}, true, nil
}
