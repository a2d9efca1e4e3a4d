package pgwire

import (
	"context"
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// inference finds the types of the parameters of a statement. A parameter has the type of what it is compared with or
// stored in; one in LIMIT is a number; what says nothing is a text.
type inference struct {
	k     *conn
	ctx   context.Context
	types []uint32 // of parameters, from $1 on; 0: not known yet
	marks map[parse.Expr]int

	catalog bool // the statement reads the catalog
}

// scope is the place of expressions: the tables around them, and the types of expressions over them by their texts.
type scope struct {
	from  []parse.TableRef
	with  []parse.CTE
	known map[string]uint32
}

func newScope(from []parse.TableRef, with []parse.CTE) *scope {
	return &scope{from, with, map[string]uint32{}}
}

// infer returns the type of each parameter of a text; given are those that the client knows, 0 where it does not.
func (k *conn) infer(ctx context.Context, text string, given []uint32) ([]uint32, error) {
	f := &inference{k: k, ctx: ctx, types: append([]uint32(nil), given...), marks: map[parse.Expr]int{}}
	d := k.dialect(f.mark, &f.catalog)
	d.Count = func(n int) {
		f.grow(n)
		f.is(n, oidInt8)
	}
	list, release, err := k.s.o.Executor.ParseDialect(ctx, text, d)
	defer release()
	if err != nil {
		return nil, err
	}
	if len(f.types) > 0 && len(list) == 1 && k.s.o.Statements.Allows(k.user, list[0]) == nil {
		f.statement(list[0])
	}
	for i, oid := range f.types {
		if oid == 0 || oid == oidUnknown {
			f.types[i] = oidText
		}
	}
	return f.types, nil
}

// grow makes room for the type of parameter n.
func (f *inference) grow(n int) {
	for len(f.types) < n {
		f.types = append(f.types, 0)
	}
}

// mark notes a parameter.
func (f *inference) mark(n int, at parse.Node) (parse.Expr, error) {
	f.grow(n)
	x := &parse.Literal{Node: at, Kind: parse.NullLiteral}
	f.marks[x] = n
	return x, nil
}

// is gives a parameter its type, unless it has one.
func (f *inference) is(n int, oid uint32) {
	if f.types[n-1] == 0 || f.types[n-1] == oidUnknown {
		f.types[n-1] = oid
	}
}

// open is the number of the parameter that an expression is, if its type is not known.
func (f *inference) open(x parse.Expr) (n int, ok bool) {
	n, ok = f.marks[x]
	return n, ok && (f.types[n-1] == 0 || f.types[n-1] == oidUnknown)
}

func (f *inference) statement(st parse.Statement) {
	switch st := st.(type) {
	case *parse.SelectStmt:
		f.query(st.Query, nil)
	case *parse.Explain:
		f.statement(st.Of)
	case *parse.Insert:
		f.insert(st)
	case *parse.Delete:
		if st.Where != nil {
			f.clauses([]parse.Expr{st.Where}, newScope([]parse.TableRef{&parse.Table{Name: st.Table}}, nil))
		}
	}
}

// insert gives parameters the types of the columns that they are stored in.
func (f *inference) insert(st *parse.Insert) {
	rows := st.Rows
	if st.Query != nil {
		rows = selected(st.Query.Body, nil)
	}
	var columns []vector.Type
	sc := newScope(nil, nil)
	for _, row := range rows {
		for i, x := range row {
			if c, ok := x.(*parse.Case); ok && slices.ContainsFunc(resultsOf(c), f.marked) {
				if columns == nil {
					fields, err := f.k.tableFields(f.ctx, st.Table)
					if err != nil {
						return
					}
					columns = storedIn(st, fields)
				}
				for _, result := range resultsOf(c) {
					if i < len(columns) && columns[i] != (vector.Type{}) {
						f.put(result, oidOf(columns[i]))
					}
				}
			}
			n, open := f.open(x)
			if _, mark := f.marks[x]; mark && !open {
				continue
			}
			if open {
				if columns == nil {
					fields, err := f.k.tableFields(f.ctx, st.Table)
					if err != nil { // execution meets it as well
						return
					}
					columns = storedIn(st, fields)
				}
				if i < len(columns) && columns[i] != (vector.Type{}) {
					f.is(n, oidOf(columns[i]))
				}
			} else if st.Query == nil {
				f.clauses([]parse.Expr{x}, sc)
			}
		}
	}
	if st.Query != nil {
		f.query(st.Query, nil)
	}
}

// marked reports whether an expression is a parameter whose type is not known.
func (f *inference) marked(x parse.Expr) bool {
	_, ok := f.open(x)
	return ok
}

// query looks at a query and its subqueries; with are the tables that WITH around it defines.
func (f *inference) query(q *parse.Query, with []parse.CTE) {
	with = append(with[:len(with):len(with)], q.With...)
	for _, c := range q.With {
		if c.Query != nil {
			f.query(c.Query, with)
		}
	}
	for _, x := range []parse.Expr{q.Limit, q.Offset} {
		if n, ok := f.open(x); ok {
			f.is(n, oidInt8)
		} else if x != nil {
			f.clauses([]parse.Expr{x}, newScope(nil, with))
		}
	}
	f.body(q.Body, with)
}

func (f *inference) body(b parse.Body, with []parse.CTE) {
	switch b := b.(type) {
	case *parse.Query:
		f.query(b, with)
	case *parse.SetOp:
		f.body(b.L, with)
		f.body(b.R, with)
	case *parse.Values:
		f.values(b, with)
	case *parse.Select:
		list := b.Clauses()
		for _, t := range b.From {
			list = append(list, f.table(t, with)...)
		}
		f.clauses(list, newScope(b.From, with))
	}
}

// values gives the parameters of a column of VALUES the type of another row's value there.
func (f *inference) values(b *parse.Values, with []parse.CTE) {
	sc := newScope(nil, with)
	for i := range b.Rows {
		f.clauses(b.Rows[i], sc)
	}
	if len(b.Rows) == 0 {
		return
	}
	for c := range b.Rows[0] {
		var column []parse.Expr
		for _, row := range b.Rows {
			if c < len(row) {
				column = append(column, row[c])
			}
		}
		f.alike(sc, column...)
	}
}

// table looks into a table of FROM and returns its call, or the conditions of its joins.
func (f *inference) table(t parse.TableRef, with []parse.CTE) []parse.Expr {
	switch t := t.(type) {
	case *parse.Derived:
		f.query(t.Query, with)
	case *parse.TableFunc:
		if t.Call != nil {
			f.tableCall(t.Call, with)
			return []parse.Expr{t.Call}
		}
	case *parse.Join:
		list := append(f.table(t.L, with), f.table(t.R, with)...)
		if t.On != nil {
			list = append(list, t.On)
		}
		return list
	}
	return nil
}

// tableCall gives the parameters of a function in FROM their types, and examples for their values: without these
// nobody knows the columns of FROM, which others are compared with.
func (f *inference) tableCall(c *parse.Call, with []parse.CTE) {
	f.call(c, newScope(nil, with))
	for i, x := range c.Args {
		at := &c.Args[i]
		for cast, ok := x.(*parse.Cast); ok; cast, ok = x.(*parse.Cast) {
			at, x = &cast.X, cast.X
		}
		n, mark := f.marks[x]
		if !mark {
			continue
		}
		if cast, ok := c.Args[i].(*parse.Cast); ok && cast.X == x { // which says the type of the parameter
			f.beside(cast, newScope(nil, with))
		}
		if oid := f.types[n-1]; examples[oid] != "" {
			v := value{oid: oid, text: examples[oid]}
			*at = v.expr(parse.Node{At: x.Position()})
		}
	}
}

// clauses looks at the expressions of one SELECT.
func (f *inference) clauses(list []parse.Expr, sc *scope) {
	for _, x := range list {
		parse.Walk(x, func(x parse.Expr) bool {
			f.beside(x, sc)
			if q := parse.QueryOf(x); q != nil {
				f.query(q, sc.with)
			}
			return true
		})
	}
}

// tableFields are the columns of a table.
func (k *conn) tableFields(ctx context.Context, name parse.Name) ([]vector.Field, error) {
	s := &parse.Select{Items: []parse.SelectItem{{Star: &parse.Star{}}},
		From: []parse.TableRef{&parse.Table{Name: name}}}
	return k.s.o.Executor.Describe(ctx, k.session, &parse.SelectStmt{Query: &parse.Query{Body: s}})
}
