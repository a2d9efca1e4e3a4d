package plan

import (
	"encoding/hex"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// exprBinder turns syntax into bound expressions over the columns of one scope.
type exprBinder struct {
	b  *binder
	sc *scope
	// special is asked first for every expression: aggregates and window functions that have become columns, group
	// keys. ok false: the expression is bound by its own form.
	special func(x parse.Expr) (e expr.Expr, ok bool, err error)
	// where names the clause in errors about aggregates: "WHERE".
	where string
}

// bind returns the bound form of x. An error carries the place of the innermost expression that has it.
func (eb *exprBinder) bind(x parse.Expr) (expr.Expr, error) {
	if _, ok := x.(*parse.Literal); !ok {
		if err := eb.b.countExpr(); err != nil {
			return nil, err
		}
	}
	e, err := eb.bindForm(x)
	if err != nil {
		return nil, parse.PlaceError(err, x.Position())
	}
	return e, nil
}

func (eb *exprBinder) bindForm(x parse.Expr) (expr.Expr, error) {
	if eb.special != nil {
		if e, ok, err := eb.special(x); ok || err != nil {
			return e, err
		}
	}
	switch x := x.(type) {
	case *parse.Slot:
		return eb.sc.column(x.Index), nil
	case *parse.Column:
		return eb.column(x)
	case *parse.Literal:
		return literal(x)
	case *parse.Unary:
		return eb.unary(x)
	case *parse.Binary:
		return eb.binary(x)
	case *parse.Is:
		return eb.is(x)
	case *parse.Between:
		return eb.between(x)
	case *parse.In:
		return eb.in(x)
	case *parse.Like:
		return eb.like(x)
	case *parse.Case:
		return eb.caseExpr(x)
	case *parse.Cast:
		return eb.cast(x)
	case *parse.Interval:
		return intervalConst(x.Text)
	case *parse.Call:
		return eb.call(x)
	case *parse.Array:
		return eb.callList("make_array", x.Items)
	case *parse.Index:
		return eb.callList("array_element", []parse.Expr{x.X, x.I})
	case *parse.AtTimeZone:
		return eb.callList("at_time_zone", []parse.Expr{x.X, x.Zone})
	case *parse.Subquery:
		return eb.scalar(x)
	case *parse.Exists:
		return eb.exists(x)
	case *parse.Quantified:
		return eb.quantified(x)
	case *parse.Range:
		return nil, status.New(status.InvalidSyntax, "Invalid SQL syntax: RANGE needs ALIGN")
	case *parse.Lambda, *parse.Columns:
		return nil, misplaced(x)
	case *parse.Default:
		return nil, planError("DEFAULT is only possible in VALUES of an INSERT")
	}
	return nil, status.New(status.Unsupported, "expression is not supported: %s", parse.PrintExpr(x))
}

// column returns the bound column at a position.
func (s *scope) column(i int) expr.Expr {
	c := &s.cols[i]
	return &expr.Column{Index: i, Name: c.Name, T: c.Type, Null: c.Nullable}
}

// column resolves a name here or in the queries around.
func (eb *exprBinder) column(x *parse.Column) (expr.Expr, error) {
	i, err := eb.sc.resolve(x.Parts)
	if err == nil {
		return eb.sc.column(i), nil
	}
	if len(eb.sc.find(x.Parts)) > 1 {
		return nil, err
	}
	for o := eb.sc.outer; o != nil; o = o.scope.outer {
		if hits := o.scope.find(x.Parts); len(hits) == 1 {
			return o.value(hits[0]), nil
		}
	}
	return nil, err
}

// literal makes a constant of a literal: integers are Int64, above its range UInt64; with point or exponent Float64.
func literal(x *parse.Literal) (expr.Expr, error) {
	switch x.Kind {
	case parse.NullLiteral:
		return &expr.Const{Value: vector.ConstNull(vector.NullType)}, nil
	case parse.TrueLiteral, parse.FalseLiteral:
		return &expr.Const{Value: vector.ConstBool(x.Kind == parse.TrueLiteral)}, nil
	case parse.StringLiteral:
		return &expr.Const{Value: vector.ConstString(x.Text)}, nil
	case parse.HexLiteral:
		b, err := hex.DecodeString(x.Text)
		if err != nil {
			return nil, status.New(status.InvalidSyntax, "Invalid SQL syntax: bad hex literal x'%s'", x.Text)
		}
		return &expr.Const{Value: vector.ConstBytes(vector.BinaryType, b)}, nil
	}
	if !strings.ContainsAny(x.Text, ".eE") {
		if n, err := strconv.ParseInt(x.Text, 10, 64); err == nil {
			return &expr.Const{Value: vector.ConstInt(vector.Int64Type, n)}, nil
		}
		if n, err := strconv.ParseUint(x.Text, 10, 64); err == nil {
			return &expr.Const{Value: vector.ConstUint(vector.Uint64Type, n)}, nil
		}
	}
	f, err := strconv.ParseFloat(x.Text, 64)
	if err != nil && f == 0 {
		return nil, status.New(status.InvalidSyntax, "Invalid SQL syntax: bad number %s", x.Text)
	}
	return &expr.Const{Value: vector.ConstFloat(vector.FloatType, f)}, nil
}

func intervalConst(text string) (expr.Expr, error) {
	months, days, ns, err := timefmt.ParseInterval(text)
	if err != nil {
		return nil, status.Wrap(err, status.PlanQuery, "Failed to plan SQL: invalid interval '%s'", text)
	}
	b := convert.AppendIntervalBytes(nil, months, days, ns)
	return &expr.Const{Value: vector.ConstBytes(vector.Interval, b)}, nil
}

func (eb *exprBinder) bindList(list []parse.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, x := range list {
		if err := eb.b.countValues(i); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = eb.bind(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (eb *exprBinder) callList(name string, list []parse.Expr) (expr.Expr, error) {
	if expr.Branches(name) && len(list) > 1 {
		return eb.branchCall(name, list)
	}
	args, err := eb.bindList(list)
	if err != nil {
		return nil, err
	}
	return eb.b.ctx.Call(name, args...)
}

// branchCall binds coalesce, if and the like: what follows the first argument may not be needed.
func (eb *exprBinder) branchCall(name string, list []parse.Expr) (e expr.Expr, err error) {
	first, err := eb.bind(list[0])
	if err != nil {
		return nil, err
	}
	err = eb.b.ctx.InBranch(func() error {
		rest, err := eb.bindList(list[1:])
		if err != nil {
			return err
		}
		e, err = eb.b.ctx.Call(name, append([]expr.Expr{first}, rest...)...)
		return err
	})
	return e, err
}

func (eb *exprBinder) unary(x *parse.Unary) (expr.Expr, error) {
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	name := ""
	switch x.Op {
	case "-":
		name = "negate"
	case "~":
		name = "bitwise_not"
	case "+":
		if t := arg.Type(); !t.IsNumber() && t != vector.NullType && t != vector.Interval {
			return nil, planError("Unary operator '+' is not possible on %s", t)
		}
		return arg, nil
	case "not":
		name = "not"
		if arg, err = eb.b.boolean(arg, "NOT"); err != nil {
			return nil, err
		}
	}
	return eb.b.ctx.Call(name, arg)
}

// boolean returns a condition as BOOLEAN: NULL is one, everything else must be.
func (b *binder) boolean(e expr.Expr, what string) (expr.Expr, error) {
	switch e.Type() {
	case vector.BoolType:
		return e, nil
	case vector.NullType:
		return b.ctx.Cast(e, vector.BoolType, false)
	}
	return nil, planError("%s needs a boolean expression, found %s of type %s", what, e, e.Type())
}

func (eb *exprBinder) binary(x *parse.Binary) (expr.Expr, error) {
	if x.Op == "and" || x.Op == "or" {
		return eb.chain(x)
	}
	if isTuple(x.L) || isTuple(x.R) {
		return eb.compareTuples(x.Op, x.L, x.R)
	}
	l, err := eb.bind(x.L)
	if err != nil {
		return nil, err
	}
	r, err := eb.bind(x.R)
	if err != nil {
		return nil, err
	}
	e, err := eb.operator(x, l, r)
	return e, parse.PlaceError(err, literalPlace(x.Position(), x.R, x.L))
}

// literalPlace returns the position of the first text literal among operands, for the error that it cannot be read.
// Without one it returns at.
func literalPlace(at parse.Pos, operands ...parse.Expr) parse.Pos {
	for _, x := range operands {
		if lit, ok := x.(*parse.Literal); ok && lit.Kind == parse.StringLiteral {
			return lit.Position()
		}
	}
	return at
}

func (eb *exprBinder) operator(x *parse.Binary, l, r expr.Expr) (expr.Expr, error) {
	if op := expr.OpOf(x.Op); op.Compares() {
		return eb.b.compare(op, l, r)
	}
	switch x.Op {
	case "<=>":
		return eb.b.compare(expr.IsNotDistinct, l, r)
	case "@@":
		return eb.b.ctx.Call("matches_term", l, r)
	case "||":
		if l.Type().ID == vector.TypeList && r.Type().ID == vector.TypeList {
			return eb.b.ctx.Call("array_concat", l, r)
		}
	}
	return eb.b.ctx.Call(x.Op, l, r)
}

// chain binds a AND b AND c.. without going down the left spine: chains may be long.
func (eb *exprBinder) chain(x *parse.Binary) (expr.Expr, error) {
	var rights []parse.Expr
	var left parse.Expr = x
	for {
		n, ok := left.(*parse.Binary)
		if !ok || n.Op != x.Op {
			break
		}
		rights = append(rights, n.R)
		left = n.L
	}
	acc, err := eb.bind(left)
	if err != nil {
		return nil, err
	}
	if acc, err = eb.b.boolean(acc, strings.ToUpper(x.Op)); err != nil {
		return nil, err
	}
	for i := len(rights) - 1; i >= 0; i-- {
		r, err := eb.bind(rights[i])
		if err != nil {
			return nil, err
		}
		if r, err = eb.b.boolean(r, strings.ToUpper(x.Op)); err != nil {
			return nil, err
		}
		if acc, err = eb.b.ctx.Call(x.Op, acc, r); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

func (eb *exprBinder) is(x *parse.Is) (expr.Expr, error) {
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	name := "is "
	if x.Not {
		name = "is not "
	}
	if x.What != "null" {
		if arg, err = eb.b.boolean(arg, strings.ToUpper(name+x.What)); err != nil {
			return nil, err
		}
	}
	switch x.What {
	case "null", "unknown":
		return eb.b.ctx.Call(name+"null", arg)
	}
	op := expr.IsNotDistinct
	if x.Not {
		op = expr.IsDistinct
	}
	return eb.b.compare(op, arg, &expr.Const{Value: vector.ConstBool(x.What == "true")})
}

func (eb *exprBinder) between(x *parse.Between) (expr.Expr, error) {
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	lo, err := eb.bind(x.Lo)
	if err != nil {
		return nil, err
	}
	hi, err := eb.bind(x.Hi)
	if err != nil {
		return nil, err
	}
	within, err := eb.within(x, arg, lo, hi)
	if err != nil || !x.Symmetric {
		return within, err
	}
	turned, err := eb.within(x, arg, hi, lo)
	if err != nil {
		return nil, err
	}
	either := "or"
	if x.Not {
		either = "and"
	}
	return eb.b.ctx.Call(either, within, turned)
}

// within is x >= lo AND x <= hi, or for NOT BETWEEN the opposite.
func (eb *exprBinder) within(x *parse.Between, arg, lo, hi expr.Expr) (expr.Expr, error) {
	from, to, join := expr.GreaterEqual, expr.LessEqual, expr.And
	if x.Not {
		from, to, join = expr.Less, expr.Greater, expr.Or
	}
	above, err := eb.b.compare(from, arg, lo)
	if err != nil {
		return nil, parse.PlaceError(err, literalPlace(x.Position(), x.Lo, x.Hi))
	}
	below, err := eb.b.compare(to, arg, hi)
	if err != nil {
		return nil, parse.PlaceError(err, literalPlace(x.Position(), x.Hi, x.Lo))
	}
	return eb.b.ctx.Call(join.String(), above, below)
}

func (eb *exprBinder) like(x *parse.Like) (expr.Expr, error) {
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	pattern, err := eb.bind(x.Pattern)
	if err != nil {
		return nil, err
	}
	name := x.Op
	if x.Escape != "" && x.Escape != `\` {
		if pattern, err = reescape(pattern, x.Escape); err != nil {
			return nil, err
		}
	}
	if x.Not {
		name = "not " + name
	}
	return eb.b.ctx.Call(name, arg, pattern)
}

// reescape returns a constant pattern with another escape character in the form with backslashes.
func reescape(pattern expr.Expr, escape string) (expr.Expr, error) {
	c, ok := pattern.(*expr.Const)
	if !ok || !c.Value.Type.IsText() {
		return nil, planError("ESCAPE needs a constant pattern")
	}
	if c.Value.IsNull(0) {
		return pattern, nil
	}
	var out strings.Builder
	escaped := false
	for _, r := range c.Value.Str(0) {
		switch {
		case escaped:
			out.WriteString(`\` + string(r))
			escaped = false
		case string(r) == escape:
			escaped = true
		case r == '\\':
			out.WriteString(`\\`)
		default:
			out.WriteRune(r)
		}
	}
	return &expr.Const{Value: vector.ConstString(out.String())}, nil
}

// caseExpr binds CASE, whose conditions and results no row may need.
func (eb *exprBinder) caseExpr(x *parse.Case) (e expr.Expr, err error) {
	err = eb.b.ctx.InBranch(func() error {
		e, err = eb.caseBranches(x)
		return err
	})
	return e, err
}

func (eb *exprBinder) caseBranches(x *parse.Case) (expr.Expr, error) {
	var operand expr.Expr
	var err error
	if x.Operand != nil {
		if operand, err = eb.bind(x.Operand); err != nil {
			return nil, err
		}
	}
	ifs := make([]expr.Expr, len(x.Whens))
	thens := make([]expr.Expr, len(x.Whens))
	for i, w := range x.Whens {
		if ifs[i], err = eb.bind(w.If); err != nil {
			return nil, err
		}
		if operand != nil {
			ifs[i], err = eb.b.compare(expr.Equal, operand, ifs[i])
		} else {
			ifs[i], err = eb.b.boolean(ifs[i], "WHEN")
		}
		if err != nil {
			return nil, err
		}
		if thens[i], err = eb.bind(w.Then); err != nil {
			return nil, err
		}
	}
	var otherwise expr.Expr
	if x.Else != nil {
		if otherwise, err = eb.bind(x.Else); err != nil {
			return nil, err
		}
	}
	return eb.b.ctx.Case(ifs, thens, otherwise)
}

func (eb *exprBinder) cast(x *parse.Cast) (expr.Expr, error) {
	to, err := x.Type.Resolve()
	if err != nil {
		return nil, err
	}
	if lit, ok := x.X.(*parse.Literal); ok && lit.Kind == parse.NumberLiteral && to.ID == vector.TypeDecimal {
		return eb.typed(expr.Text(lit.Text), to, x.Try) // digit by digit, not through a float
	}
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	return eb.typed(arg, to, x.Try)
}

// typed is a cast that the query asks for.
func (eb *exprBinder) typed(arg expr.Expr, to vector.Type, try bool) (expr.Expr, error) {
	e, err := eb.b.ctx.Cast(arg, to, try)
	if k, ok := e.(*expr.Const); ok && !k.Typed {
		e = &expr.Const{Value: k.Value, Typed: true}
	}
	return e, err
}

func (eb *exprBinder) call(x *parse.Call) (expr.Expr, error) {
	if x.Over != nil {
		return nil, planError("window functions are not possible in %s: %s", eb.where, parse.PrintExpr(x))
	}
	if x.Outer {
		return eb.outerAggregate(x)
	}
	if expr.IsAggregate(x.Name) {
		return nil, planError("aggregate functions are not possible in %s: %s", eb.where, parse.PrintExpr(x))
	}
	switch {
	case x.Star:
		return nil, planError("%s(*) is not a function call", x.Name)
	case x.Filter != nil, len(x.OrderBy) > 0, x.Distinct:
		return nil, planError("%s is not an aggregate function", x.Name)
	case roleOf[x.Name] == typeOf, roleOf[x.Name] == castByName:
		return eb.arrow(x)
	}
	if l := lambdaOf(x); l != nil {
		return eb.lambdaCall(x, l)
	}
	e, err := eb.callList(x.Name, x.Args)
	if roleOf[x.Name] == patterned && len(x.Args) > 1 {
		err = parse.PlaceError(err, literalPlace(x.Position(), x.Args[1]))
	}
	return e, err
}
