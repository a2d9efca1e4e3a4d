package plan

import (
	"errors"
	"fmt"
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/parse"
)

func columnNumber(i int) string { return fmt.Sprintf("column%d", i+1) }

// from binds FROM: without tables it is one row without columns.
func (b *binder) from(list []parse.TableRef, out *outer) (Node, *scope, error) {
	if len(list) == 0 {
		return oneRow(), &scope{outer: out}, nil
	}
	n, err := b.tableRef(list[0], out)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range list[1:] {
		if d, ok := t.(*parse.Derived); ok && d.Lateral {
			if n, err = b.lateral(n, d, out, InnerJoin); err != nil {
				return nil, nil, err
			}
			continue
		}
		if f := elementsOf(t); f != nil {
			if n, err = b.unnestOver(n, f, out, false); err != nil {
				return nil, nil, err
			}
			continue
		}
		r, err := b.tableRef(t, out)
		if err != nil {
			return nil, nil, err
		}
		n = &Join{Kind: CrossJoin, L: n, R: r, Cols: concat(n.Columns(), r.Columns())}
	}
	seen := map[string]bool{}
	for _, name := range tableNames(list, nil) {
		if seen[name] {
			return nil, nil, planError("table name %q specified more than once", name)
		}
		seen[name] = true
	}
	return n, &scope{cols: n.Columns(), outer: out}, nil
}

// tableNames lists the names of the tables of FROM as expressions use them; a table without an alias also has a name
// with its database.
func tableNames(list []parse.TableRef, names []string) []string {
	for _, t := range list {
		switch t := t.(type) {
		case *parse.Table:
			if t.Alias != nil {
				names = append(names, t.Alias.Name.Name)
			} else {
				names = append(names, t.Name.String())
			}
		case *parse.Derived:
			names = aliasNames(names, t.Alias)
		case *parse.TableFunc:
			names = aliasNames(names, t.Alias)
		case *parse.Pivot:
			names = aliasNames(names, t.Alias)
		case *parse.Unpivot:
			names = aliasNames(names, t.Alias)
		case *parse.Summary:
			names = aliasNames(names, t.Alias)
		case *parse.Join:
			names = tableNames([]parse.TableRef{t.L, t.R}, names)
		}
	}
	return names
}

func aliasNames(names []string, a *parse.Alias) []string {
	if a == nil {
		return names
	}
	return append(names, a.Name.Name)
}

func concat(a, b []Column) []Column { return append(append([]Column(nil), a...), b...) }

func (b *binder) tableRef(t parse.TableRef, out *outer) (Node, error) {
	switch t := t.(type) {
	case *parse.Table:
		return b.table(t)
	case *parse.Derived:
		if t.Lateral {
			return nil, status.New(status.Unsupported,
				"LATERAL is supported after a comma and on the right of CROSS, INNER and LEFT JOIN")
		}
		n, err := b.query(t.Query, out)
		if err != nil {
			return nil, err
		}
		return rename(n, t.Alias, "")
	case *parse.TableFunc:
		if elementsOf(t) != nil {
			return b.unnestOver(oneRow(), t, out, false)
		}
		return b.tableFunc(t)
	case *parse.Join:
		return b.join(t, out)
	case *parse.Pivot:
		return b.pivot(t, out)
	case *parse.Unpivot:
		return b.unpivot(t, out)
	case *parse.Summary:
		return b.summary(t, out)
	}
	return nil, status.New(status.Unsupported, "this element of FROM is not supported")
}

// rename sets the qualifier of a node's columns to an alias and, where given, its column names.
func rename(n Node, a *parse.Alias, table string) (Node, error) {
	cols := unqualified(n.Columns())
	if a != nil {
		table = a.Name.Name
		if len(a.Columns) > len(cols) {
			return nil, planError("Source table contains %d columns but %d names given as column alias", len(cols),
				len(a.Columns))
		}
		for i, id := range a.Columns {
			cols[i].Name = id.Name
		}
	}
	for i := range cols {
		cols[i].Table = table
	}
	sc := &scope{cols: n.Columns()}
	p := &Project{Input: n, Cols: cols}
	for i := range cols {
		p.Exprs = append(p.Exprs, sc.column(i))
	}
	return p, nil
}

// table binds a name in FROM: a common table expression, a view, or a table.
func (b *binder) table(t *parse.Table) (Node, error) {
	if len(t.Name) == 1 {
		for i := len(b.ctes) - 1; i >= 0; i-- {
			if b.ctes[i].name == t.Name[0].Name {
				return b.cteRef(i, t.Alias)
			}
		}
	}
	rel, err := b.st.relation(t.Name, b.db)
	if err != nil {
		return nil, parse.PlaceError(err, t.Name[0].At)
	}
	switch {
	case rel.View != nil:
		return b.view(rel, t.Alias)
	case rel.Virtual != nil:
		return b.scanOf(rel, virtualColumns(rel), t.Alias)
	}
	return b.scanOf(rel, tableColumns(rel.Table.Schema), t.Alias)
}

func (b *binder) scanOf(rel *Relation, cols []Column, a *parse.Alias) (Node, error) {
	if err := b.countNode(len(cols)); err != nil {
		return nil, err
	}
	s := &Scan{Rel: rel, Cols: cols, Time: scan.All}
	for i := range cols {
		cols[i].DB, cols[i].Table = rel.Name.DB, rel.Name.Table
		if a != nil {
			cols[i].DB, cols[i].Table = "", a.Name.Name
		}
		s.Positions = append(s.Positions, i)
	}
	if a != nil && len(a.Columns) > 0 {
		return rename(s, a, "")
	}
	return s, nil
}

func tableColumns(t *schema.Table) []Column {
	cols := make([]Column, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Time: i == t.Time,
			Tag: slices.Contains(t.Tags, i), Hidden: t.Hides(&c)}
	}
	return cols
}

func virtualColumns(rel *Relation) []Column {
	cols := make([]Column, len(rel.Virtual.Fields))
	for i, f := range rel.Virtual.Fields {
		cols[i] = Column{Name: f.Name, Type: f.Type, Nullable: true, Hidden: i >= len(cols)-rel.Virtual.Hidden}
	}
	return cols
}

// cteRef binds a use of a common table expression, which sees only those before it.
func (b *binder) cteRef(i int, a *parse.Alias) (Node, error) {
	c := b.ctes[i]
	if c.rows != nil {
		if a == nil {
			a = &parse.Alias{Name: parse.Ident{Name: c.name}}
		}
		return rename(c.rows, a, "")
	}
	saved, db := b.ctes, b.db
	b.ctes, b.db = b.ctes[:c.depth:c.depth], c.db
	defer func() { b.ctes, b.db = saved, db }()
	n, err := b.query(c.query, c.out)
	if err != nil {
		return nil, err
	}
	if n, err = rename(n, &parse.Alias{Name: parse.Ident{Name: c.name}, Columns: c.cols}, ""); err != nil || a == nil {
		return n, err
	}
	return rename(n, a, "")
}

// inView adds the view to an error of planning.
func inView(rel *Relation, err error) error {
	var e *status.Error
	if !errors.As(err, &e) || e.Code != status.PlanQuery {
		return err
	}
	return e.WithMessage("%s (in view %s)", e.Msg, rel.Name)
}

// view binds a stored query in the database of the view.
func (b *binder) view(rel *Relation, a *parse.Alias) (Node, error) {
	if b.views++; b.views > maxViews {
		return nil, planError("views are nested deeper than %d", maxViews)
	}
	saved, db := b.ctes, b.db
	b.ctes, b.db = nil, rel.View.DB
	defer func() { b.ctes, b.db, b.views = saved, db, b.views-1 }()
	n, err := b.query(rel.View.Query, nil)
	if err != nil {
		return nil, inView(rel, parse.Unplace(err))
	}
	if len(rel.View.Columns) > 0 && len(rel.View.Columns) != len(n.Columns()) {
		return nil, planError("view %s has %d columns, its query gives %d", rel.Name, len(rel.View.Columns),
			len(n.Columns()))
	}
	alias := &parse.Alias{Name: parse.Ident{Name: rel.Name.Table}}
	for _, c := range rel.View.Columns {
		alias.Columns = append(alias.Columns, parse.Ident{Name: c})
	}
	if n, err = rename(n, alias, ""); err != nil {
		return nil, err
	}
	if a != nil {
		return rename(n, a, "")
	}
	cols := n.Columns() // of the projection that has just been made
	for i := range cols {
		cols[i].DB = rel.Name.DB
	}
	return n, nil
}
