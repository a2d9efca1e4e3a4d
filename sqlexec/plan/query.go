// Package plan turns parsed queries into plans. It binds names to columns of the current schemas, checks types and
// folds constants; then it moves conditions and time ranges into the scans, drops columns that are not needed, and
// turns the logical plan into pipelines of exec.
package plan

import (
	"context"
	"slices"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Catalog finds what names in FROM mean. Errors are TableNotFound with the contract's text.
type Catalog interface {
	Relation(n parse.Name, db string) (*Relation, error)
	// TQL evaluates a common table expression in the language of metrics.
	TQL(ctx context.Context, t *parse.TQL) ([]vector.Field, *vector.Batch, error)
}

// binder binds one statement, once.
type binder struct {
	goctx context.Context
	ctx   *expr.Context
	st    *Statement
	db    string
	views int // depth of views inside views
	ctes  []cte
	// recursing: a step of a recursive query is bound, whose subqueries may read the step before.
	recursing bool

	nodes, columns, exprs int // bound so far, see limits.go
}

// cte is a common table expression in scope; later ones hide earlier ones of the same name.
type cte struct {
	name  string
	query *parse.Query
	cols  []parse.Ident
	depth int // how many CTEs it can itself see
	db    string
	out   *outer  // the query around the one that defines it; nil: none
	rows  *Values // of a recursive one; nil: the query is bound anew for every use, so that pushdown differs
}

// Limits of recursive queries.
const (
	maxRecursions    = 10_000
	maxRecursiveRows = 10_000_000
)

// recurse runs a recursive common table expression, anchor UNION [ALL] step, to its end: the step sees the rows that
// the one before it made. UNION keeps each row once. A query that does not name itself is no such thing and is left as
// it is. One that refers to the query around it has other rows for each row of that one, and none while that row is
// only looked at.
func (b *binder) recurse(c *cte) error {
	if c.rows = b.st.recursive[c.query]; c.rows != nil {
		return nil
	}
	op, ok := c.query.Body.(*parse.SetOp)
	if !ok || op.Op != "union" || len(c.query.OrderBy) > 0 || c.query.Limit != nil || !namesItself(op.R, c) {
		return nil
	}
	saved, kept := b.ctes, b.st.kept
	defer func() { b.ctes = saved }()
	around := scope{outer: c.out}
	hits, blanks := around.hits(), around.blanks()
	if err := b.with(c.query, c.out); err != nil {
		return err
	}
	anchor, err := b.body(op.L, c.out)
	if err != nil {
		return err
	}
	if anchor, err = rename(anchor, &parse.Alias{Name: parse.Ident{Name: c.name}, Columns: c.cols}, ""); err != nil {
		return err
	}
	c.cols = nil
	cols := anchor.Columns()
	for i := range cols {
		cols[i].Nullable = true
	}
	if !op.All {
		anchor = &Distinct{Input: anchor}
	}
	all := vector.NewBatch(types(cols)...)
	own := *c
	own.rows = &Values{Cols: cols, Batch: all}
	if c.out != nil {
		if _, err := b.stepOf(op, own); err != nil {
			return err
		}
	}
	alone := around.hits() == hits
	if around.blanks() != blanks {
		c.rows = own.rows
		return nil
	}
	if b.st.sketching {
		c.rows = &Values{Cols: cols, Batch: all, Of: "all rows of " + c.name}
		return b.sketchRecursion(op, own, anchor)
	}
	step, err := b.run(anchor, maxRecursiveRows+1)
	if err != nil {
		return err
	}
	for depth := 0; step.N > 0; depth++ {
		if err := b.keep(exec.BatchBytes(step)); err != nil {
			return err
		}
		if all.Append(step, 0, step.N); depth == maxRecursions || all.N > maxRecursiveRows {
			return status.New(status.RuntimeResourcesExhausted,
				"the recursive query %s goes deeper than %d steps or makes more than %d rows", c.name, maxRecursions,
				maxRecursiveRows)
		}
		own.rows = &Values{Cols: cols, Batch: step}
		if step, err = b.recursion(op, own, all); err != nil {
			return err
		}
	}
	c.rows = &Values{Cols: cols, Batch: all}
	if alone && !b.recursing {
		if b.st.recursive == nil {
			b.st.recursive = map[*parse.Query]*Values{}
		}
		b.st.recursive[c.query], b.st.kept = c.rows, kept
	}
	return nil
}

// stepOf binds the step of a recursive query over the rows of the step before, those of own.
func (b *binder) stepOf(op *parse.SetOp, own cte) (Node, error) {
	saved, around := b.ctes, b.recursing
	defer func() { b.ctes, b.recursing = saved, around }()
	defer b.again()()
	b.recursing = true
	b.ctes = append(b.ctes[:len(b.ctes):len(b.ctes)], own)
	n, err := b.body(op.R, own.out)
	if err != nil {
		return nil, err
	}
	cols := own.rows.Cols
	if len(n.Columns()) != len(cols) {
		return nil, planError("the recursive query %s gives %d columns at first and %d later", own.name, len(cols),
			len(n.Columns()))
	}
	return b.castTo(n, types(cols))
}

// recursion runs the step of a recursive query once. Without ALL the rows that are there already are left out.
func (b *binder) recursion(op *parse.SetOp, own cte, all *vector.Batch) (*vector.Batch, error) {
	n, err := b.stepOf(op, own)
	if err != nil {
		return nil, err
	}
	if cols := own.rows.Cols; !op.All {
		j := &Join{Kind: LeftAntiJoin, L: &Distinct{Input: n}, R: &Values{Cols: cols, Batch: all},
			Cols: unqualified(n.Columns()), NullEqual: true}
		sl, sr := &scope{cols: n.Columns()}, &scope{cols: cols}
		for i := range cols {
			j.LKeys, j.RKeys = append(j.LKeys, sl.column(i)), append(j.RKeys, sr.column(i))
		}
		n = j
	}
	return b.run(n, maxRecursiveRows+1)
}

// sketchRecursion notes what a recursive query would run: its anchor once, its step over the rows of the step before.
func (b *binder) sketchRecursion(op *parse.SetOp, own cte, anchor Node) error {
	b.st.sketch("the first rows of "+own.name, anchor)
	own.rows = &Values{Cols: own.rows.Cols, Batch: own.rows.Batch, Of: "the newest rows of " + own.name}
	step, err := b.stepOf(op, own)
	if err == nil {
		b.st.sketch("each further step of "+own.name, step)
	}
	return err
}

// run runs a plan that binding needs the rows of. A plan that is only shown gets none.
func (b *binder) run(n Node, most int) (*vector.Batch, error) {
	if b.st.sketching {
		return vector.NewBatch(types(n.Columns())...), nil
	}
	return b.runNow(n, most)
}

// runNow runs a plan without whose rows there is none to show.
func (b *binder) runNow(n Node, most int) (*vector.Batch, error) {
	if b.st.open > 0 {
		return nil, errOpen
	}
	rows, _, err := b.st.run(b.goctx, n, most)
	return rows, err
}

// namesItself reports whether the step of a query reads the query: whether it cannot be bound without it.
func namesItself(step parse.Body, c *cte) bool {
	list := []parse.Body{step}
	for len(list) > 0 {
		body := list[0]
		list = list[1:]
		switch body := body.(type) {
		case *parse.Query:
			hidden := false // by a later one of the same name
			for i := range body.With {
				if w := &body.With[i]; !hidden && w.Query != nil {
					list = append(list, w.Query)
				}
				hidden = hidden || body.With[i].Name.Name == c.name
			}
			if !hidden {
				list = append(list, body.Body)
			}
		case *parse.SetOp:
			list = append(list, body.L, body.R)
		case *parse.Select:
			if slices.ContainsFunc(body.From, func(t parse.TableRef) bool { return readsTable(t, c) }) {
				return true
			}
		}
	}
	return false
}

func readsTable(t parse.TableRef, c *cte) bool {
	switch t := t.(type) {
	case *parse.Table:
		return len(t.Name) == 1 && t.Name[0].Name == c.name
	case *parse.Join:
		return readsTable(t.L, c) || readsTable(t.R, c)
	case *parse.Derived:
		return namesItself(t.Query, c)
	}
	return false
}

// maxViews bounds views that read views.
const maxViews = 32

// query binds a query inside an outer one; out is nil at the top.
func (b *binder) query(q *parse.Query, out *outer) (Node, error) {
	saved := b.ctes
	defer func() { b.ctes = saved }()
	if err := b.with(q, out); err != nil {
		return nil, err
	}
	if s, ok := q.Body.(*parse.Select); ok {
		return b.selectBlock(s, q, out)
	}
	if err := b.countNode(0); err != nil {
		return nil, err
	}
	n, err := b.body(q.Body, out)
	if err != nil {
		return nil, err
	}
	return b.orderOutput(n, q, out)
}

// with brings the common table expressions of a query into scope. They may refer to the query around it.
func (b *binder) with(q *parse.Query, out *outer) error {
	seen := map[string]bool{}
	for i := range q.With {
		c := &q.With[i]
		if seen[c.Name.Name] {
			return parse.PlaceError(planError("WITH query name %q specified more than once", c.Name.Name), c.Name.At)
		}
		seen[c.Name.Name] = true
		if c.TQL != nil {
			n, err := b.metrics(c)
			if err != nil {
				return err
			}
			b.ctes = append(b.ctes[:len(b.ctes):len(b.ctes)], n)
			continue
		}
		n := cte{name: c.Name.Name, query: c.Query, cols: c.Columns, depth: len(b.ctes), db: b.db, out: out}
		if q.Recursive {
			if err := b.recurse(&n); err != nil {
				return err
			}
		}
		b.ctes = append(b.ctes[:len(b.ctes):len(b.ctes)], n)
	}
	return nil
}

// metrics is a common table expression in the language of metrics.
func (b *binder) metrics(c *parse.CTE) (cte, error) {
	fields, rows, err := b.st.tql(b.goctx, c.TQL)
	if err != nil {
		return cte{}, err
	}
	if len(c.Columns) > len(fields) {
		return cte{}, planError("Source table contains %d columns but %d names given as column alias", len(fields),
			len(c.Columns))
	}
	v := &Values{Batch: rows}
	for i, f := range fields {
		if i < len(c.Columns) {
			f.Name = c.Columns[i].Name
		}
		v.Cols = append(v.Cols, Column{Name: f.Name, Type: f.Type, Nullable: true})
	}
	return cte{name: c.Name.Name, rows: v, db: b.db}, b.countNode(len(v.Cols))
}

func (b *binder) body(body parse.Body, out *outer) (Node, error) {
	switch body := body.(type) {
	case *parse.Query:
		return b.query(body, out)
	case *parse.Select:
		return b.selectBlock(body, &parse.Query{}, out)
	case *parse.Values:
		return b.values(body, out)
	case *parse.SetOp:
		return b.setOp(body, out)
	}
	return nil, status.New(status.Unsupported, "this query is not supported")
}

// orderOutput puts ORDER BY and limits over a query whose columns are all there are: names, positions and
// expressions of output columns.
func (b *binder) orderOutput(n Node, q *parse.Query, out *outer) (Node, error) {
	cols := n.Columns()
	q = orderByAll(q, len(cols))
	sel := &selection{b: b, sc: &scope{cols: cols, outer: out}, s: &parse.Select{}, node: n}
	sel.eb = &exprBinder{b: b, sc: sel.sc, where: "ORDER BY"}
	for i := range cols {
		sel.items = append(sel.items, item{x: &parse.Slot{Index: i, Name: cols[i].Name}, name: cols[i].Name})
	}
	return sel.finish(q)
}

// limits evaluates LIMIT and OFFSET; -1 is no limit.
func (b *binder) limits(q *parse.Query) (limit, offset int64, err error) {
	limit = -1
	if q.Limit != nil {
		if limit, err = b.count(q.Limit, "LIMIT"); err != nil {
			return 0, 0, err
		}
	}
	if q.Offset != nil {
		offset, err = b.count(q.Offset, "OFFSET")
		offset = max(offset, 0)
	}
	return limit, offset, err
}

// mostRows is more rows than there can be. LIMIT and OFFSET are cut to it, so that their sum fits.
const mostRows = 1 << 61

// count evaluates a constant that counts rows; NULL is -1, no limit.
func (b *binder) count(x parse.Expr, clause string) (int64, error) {
	eb := &exprBinder{b: b, sc: &scope{}, where: clause}
	e, err := eb.bind(x)
	if err != nil {
		return 0, err
	}
	c, ok := e.(*expr.Const)
	if !ok {
		return 0, parse.PlaceError(planError("%s needs a constant, found %s", clause, parse.PrintExpr(x)), x.Position())
	}
	v := c.Value
	if v.IsNull(0) {
		return -1, nil
	}
	switch {
	case v.Type.IsInteger() && v.Type.Kind() == vector.Int64 && v.Int(0) >= 0:
		return min(v.Int(0), mostRows), nil
	case v.Type.IsInteger() && v.Type.Kind() == vector.Uint64:
		return int64(min(v.Uint(0), mostRows)), nil
	}
	return 0, parse.PlaceError(planError("%s needs a non-negative integer, found %s", clause, parse.PrintExpr(x)),
		x.Position())
}

// values binds VALUES: the types of a column's values are made one.
func (b *binder) values(v *parse.Values, out *outer) (Node, error) {
	width := len(v.Rows[0])
	rows := make([][]expr.Expr, len(v.Rows))
	eb := &exprBinder{b: b, sc: &scope{outer: out}, where: "VALUES"}
	for r, row := range v.Rows {
		if len(row) != width || width == 0 {
			return nil,
				planError("Inconsistent data length across values list: got %d values in row %d but expected %d",
					len(row), r, width)
		}
		var err error
		if rows[r], err = eb.bindList(row); err != nil {
			return nil, err
		}
	}
	n := &Values{Batch: &vector.Batch{N: len(rows)}}
	for c := range width {
		column := make([]expr.Expr, len(rows))
		for r := range rows {
			column[r] = rows[r][c]
		}
		v, err := b.constColumn(column)
		if err != nil {
			return nil, err
		}
		n.Batch.Cols = append(n.Batch.Cols, v)
		n.Cols = append(n.Cols, Column{Name: columnNumber(c), Type: v.Type, Nullable: true})
	}
	return n, nil
}

// constColumn makes a vector of constants of one common type.
func (b *binder) constColumn(list []expr.Expr) (*vector.Vector, error) {
	t, err := expr.CommonType(list)
	if err != nil {
		return nil, err
	}
	v := &vector.Vector{Type: t}
	for r, e := range list {
		if e, err = b.ctx.Cast(e, t, false); err != nil {
			return nil, err
		}
		c, ok := e.(*expr.Const)
		if !ok {
			return nil, planError("VALUES need constants, found %s", e)
		}
		v.Append(r, c.Value, 0, 1)
	}
	return v, nil
}

// castTo casts a node's columns to the types; it adds a projection if one differs.
func (b *binder) castTo(n Node, types []vector.Type) (Node, error) {
	return b.castEach(n, types, func(e expr.Expr, to vector.Type) (expr.Expr, error) {
		return b.ctx.Cast(e, to, false)
	})
}

func (b *binder) castEach(n Node, types []vector.Type, cast func(e expr.Expr, to vector.Type) (expr.Expr, error)) (Node,
	error) {
	cols := n.Columns()
	sc := &scope{cols: cols}
	p := &Project{Input: n}
	same := true
	for i, t := range types {
		e := sc.column(i)
		if cols[i].Type != t {
			same = false
			var err error
			if e, err = cast(e, t); err != nil {
				return nil, err
			}
		}
		c := cols[i]
		c.Type = t
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, c)
	}
	if same {
		return n, nil
	}
	return p, nil
}

// CastTo is castTo for INSERT .. SELECT, which reads texts as INSERT .. VALUES does: times without a zone are of the
// request's.
func CastTo(ctx *expr.Context, n Node, types []vector.Type) (Node, error) {
	b := &binder{ctx: ctx, st: &Statement{Context: ctx}}
	return b.castEach(n, types, ctx.CastLocal)
}

// unqualified copies columns without their tables.
func unqualified(cols []Column) []Column {
	out := append([]Column(nil), cols...)
	for i := range out {
		out[i].DB, out[i].Table = "", ""
	}
	return out
}
