package plan

import (
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// elementsOf is the element of FROM that takes lists apart, or counts by columns, and so sees the tables before it;
// nil: it is another one.
func elementsOf(t parse.TableRef) *parse.TableFunc {
	f, ok := t.(*parse.TableFunc)
	if !ok {
		return nil
	}
	if of, known := tableFunctions[f.Call.Name]; known && !of.counts || seriesOf(f) {
		return f
	}
	return nil
}

// oneRow is what FROM begins with.
func oneRow() Node { return &Values{Batch: &vector.Batch{N: 1}} }

// unnestOver binds UNNEST(list, ..) in FROM, whose lists see the columns of in. keep says that rows of in without an
// element stay.
func (b *binder) unnestOver(in Node, f *parse.TableFunc, out *outer, keep bool) (Node, error) {
	args, of := f.Call.Args, tableFunctions[f.Call.Name]
	if of.counts { // the series is a list
		args = []parse.Expr{f.Call}
	} else if len(args) == 0 || !of.many && len(f.Call.Args) != 1 {
		return nil, parse.PlaceError(planError("function '%s' takes lists, found %d arguments", f.Call.Name,
			len(f.Call.Args)), f.Call.Position())
	}
	eb := &exprBinder{b: b, sc: &scope{cols: in.Columns(), outer: out}, where: "FROM"}
	n := &Unnest{Input: in, Outer: keep, Ordinality: f.Ordinality}
	table, name := f.Call.Name, of.column
	if f.Alias != nil {
		table = f.Alias.Name.Name
		if len(args) == 1 {
			name = table
		}
	}
	if of.counts {
		name = of.column
	}
	if len(args) == 1 && isUnnest(args[0]) { // the elements of elements
		inner, x, err := b.unnestInner(in, args[0].(*parse.Call), out, keep)
		if err != nil {
			return nil, err
		}
		in, args = inner, []parse.Expr{x}
		n.Input, eb.sc = in, &scope{cols: in.Columns(), outer: out}
	}
	var cols []Column
	for _, x := range args {
		list, err := eb.bind(x)
		if err != nil {
			return nil, err
		}
		if list, err = listOf(list, f.Call.Name); err != nil {
			return nil, parse.PlaceError(err, x.Position())
		}
		n.Lists = append(n.Lists, list)
		cols = append(cols, Column{Table: table, Name: name, Type: list.Type().Elem(), Nullable: true})
	}
	if f.Ordinality {
		cols = append(cols, Column{Table: table, Name: "ordinality", Type: vector.Int64Type, Nullable: keep})
	}
	if f.Alias != nil {
		if len(f.Alias.Columns) > len(cols) {
			return nil, planError("Source table contains %d columns but %d names given as column alias", len(cols),
				len(f.Alias.Columns))
		}
		for i, id := range f.Alias.Columns {
			cols[i].Name = id.Name
		}
	}
	n.Cols = concat(in.Columns(), cols)
	return n, nil
}

// unnestInner adds the elements of the lists of unnest(list), which is the argument of another unnest, to the rows of
// in, and gives their column.
func (b *binder) unnestInner(in Node, c *parse.Call, out *outer, keep bool) (Node, parse.Expr, error) {
	if len(c.Args) != 1 {
		return nil, nil, parse.PlaceError(planError("function 'unnest' takes 1 argument, found %d", len(c.Args)),
			c.Position())
	}
	list := c.Args[0]
	if isUnnest(list) {
		var err error
		if in, list, err = b.unnestInner(in, list.(*parse.Call), out, keep); err != nil {
			return nil, nil, err
		}
	}
	bound, err := (&exprBinder{b: b, sc: &scope{cols: in.Columns(), outer: out}, where: "FROM"}).bind(list)
	if err != nil {
		return nil, nil, err
	}
	if bound, err = listOf(bound, "unnest"); err != nil {
		return nil, nil, parse.PlaceError(err, c.Position())
	}
	at := len(in.Columns())
	col := Column{Name: parse.PrintExpr(c), Type: bound.Type().Elem(), Nullable: true, Shadow: true, Hidden: true}
	n := &Unnest{Input: in, Lists: []expr.Expr{bound}, Outer: keep, Cols: concat(in.Columns(), []Column{col})}
	return n, &parse.Slot{Node: c.Node, Index: at, Name: col.Name}, nil
}

// listOf returns the list that a function of FROM unnests: JSON arrays are lists of JSON, or of texts.
func listOf(e expr.Expr, function string) (expr.Expr, error) {
	elem, of := vector.JSONType, tableFunctions[function]
	if of.text {
		elem = vector.StringType
	}
	switch t := e.Type(); {
	case t == vector.NullType:
		return nullOf(vector.List(elem)), nil
	case t.ID == vector.TypeJSON:
		return expr.Elements(e, elem), nil
	case t.ID == vector.TypeList && of.lists:
		return e, nil
	default:
		return nil, planError("function '%s' takes lists and JSON arrays, found %s", function, t)
	}
}

// unnestJoin binds a join with UNNEST(list) on its right side, which may use columns of the left side.
func (b *binder) unnestJoin(l Node, f *parse.TableFunc, t *parse.Join, out *outer) (Node, error) {
	kind, always, err := besideLateral(t)
	if err != nil {
		return nil, err
	}
	n, err := b.unnestOver(l, f, out, kind == LeftJoin)
	if err != nil || always {
		return n, err
	}
	return b.where(n, &scope{cols: n.Columns(), outer: out}, t.On, nil)
}

// besideLateral reports whether a join whose right side uses columns of the left side is an inner or a left join
// without a filter after ON: a left join takes only TRUE there.
func besideLateral(t *parse.Join) (kind JoinKind, always bool, err error) {
	lit, ok := t.On.(*parse.Literal)
	always = t.On == nil || ok && lit.Kind == parse.TrueLiteral
	switch {
	case t.Natural || len(t.Using) > 0:
		return 0, false, status.New(status.Unsupported, "JOIN LATERAL needs ON")
	case t.Kind == parse.CrossJoin, t.Kind == parse.InnerJoin:
		return InnerJoin, always, nil
	case t.Kind == parse.LeftJoin && always:
		return LeftJoin, true, nil
	}
	return 0, false, status.New(status.Unsupported, "%s JOIN LATERAL is not supported with this condition", t.Kind)
}
