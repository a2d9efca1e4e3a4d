package sqlexec

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

// viewsTable keeps a row for each view. Its time is 0, so that the last one written replaces those before.
var viewsTable = private.Table{OwnTable: engine.OwnTable{
	Name: engine.ViewsTable, Time: "ts", Tags: []string{"view_schema", "view_name"},
	Columns: []vector.Field{
		{Name: "columns", Type: vector.StringType}, {Name: "definition", Type: vector.StringType},
		{Name: "ts", Type: vector.Timestamp(3)},
		{Name: "view_name", Type: vector.StringType}, {Name: "view_schema", Type: vector.StringType},
	},
}}

// views is the content of the table. It is read once and then updated: all changes go through this executor.
type views struct {
	mu   sync.Mutex // protects the rest, and orders changes
	list map[schema.Name]*view
}

type view struct {
	name       schema.Name
	definition string
	columns    []string
	query      *parse.Query
}

// allViews returns the views, reading them at first use. The lock is held.
func (x *Executor) allViews() (map[schema.Name]*view, error) {
	v := &x.views
	if v.list != nil {
		return v.list, nil
	}
	list := map[schema.Name]*view{}
	for row, err := range viewsTable.Rows(context.Background(), x.e,
		private.Query{Columns: []string{"view_schema", "view_name", "definition", "columns"}}) {
		if err != nil {
			return nil, err
		}
		d, err := readView(row)
		if err != nil { // an older program let others write here
			x.o.Logger.Error("a view cannot be read, and is not there", "view", d.name, "error", err)
			continue
		}
		list[d.name] = d
	}
	for name := range list {
		if err := x.e.Views().Take(name); err != nil {
			x.o.Logger.Error("a view has the name of a table, which it hides", "view", name, "error", err)
		}
	}
	v.list = list
	return list, nil
}

// readView reads a row of the table; the view has its name where that can be read.
func readView(row private.Row) (d *view, err error) {
	d = &view{name: schema.Name{DB: row.Text(0), Table: row.Text(1)}, definition: row.Text(2)}
	if err := schema.CheckName("view", d.name.Table); err != nil {
		return d, err
	}
	if columns := row.Bytes(3); len(columns) > 0 {
		if err := json.Unmarshal(columns, &d.columns); err != nil {
			return d, err
		}
	}
	d.query, err = parse.ParseQuery(d.definition)
	return d, err
}

// view finds a view; nil if it does not exist.
func (x *Executor) view(n schema.Name) (*view, error) {
	x.views.mu.Lock()
	defer x.views.mu.Unlock()
	list, err := x.allViews()
	return list[n], err
}

// isView reports whether a name is that of a view. Where the views cannot be read none is known, and none hides a
// table.
func (x *Executor) isView(n schema.Name) bool {
	v, err := x.view(n)
	return err == nil && v != nil
}

// viewsOf lists the views of a database, by name; all databases when db is empty.
func (x *Executor) viewsOf(db string) ([]*view, error) {
	x.views.mu.Lock()
	defer x.views.mu.Unlock()
	all, err := x.allViews()
	if err != nil {
		return nil, err
	}
	var list []*view
	for n, v := range all {
		if db == "" || n.DB == db {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *view) int { return strings.Compare(a.name.String(), b.name.String()) })
	return list, nil
}

func (x *Executor) createView(ctx context.Context, s *Session, st *parse.CreateView) (*Result, error) {
	name, err := s.tableName(st.Name)
	if err != nil {
		return nil, err
	}
	if err := readOnly(name.DB); err != nil {
		return nil, err
	}
	if err := x.e.MayChange(ctx, name.DB); err != nil {
		return nil, err
	}
	if err := x.checkDatabase(name.DB); err != nil {
		return nil, err
	}
	if st.TQL != nil {
		return nil, status.New(status.Unsupported, "SQL statement is not supported: CREATE VIEW .. AS TQL")
	}
	if err := checkName("view", name.Table, st.Name[len(st.Name)-1].Quote != 0); err != nil {
		return nil, err
	}
	if _, err := x.e.Table(name); err == nil {
		return nil, alreadyExists(name)
	}
	old, err := x.view(name)
	switch {
	case err != nil:
		return nil, err
	case old != nil && st.IfNotExists:
		return &Result{}, nil
	case old != nil && !st.OrReplace:
		return nil, alreadyExists(name)
	}
	v := &view{name: name, definition: st.Definition, query: st.Query}
	for _, id := range st.Columns {
		v.columns = append(v.columns, id.Name)
	}
	stmt := x.statement(s, x.context(s))
	stmt.Catalog, stmt.DB = &storeCatalog{x: x, sess: s, defining: name}, name.DB
	n, err := stmt.Shape(ctx, st.Query)
	if err != nil {
		return nil, err
	}
	if len(v.columns) > 0 && len(v.columns) != len(n.Columns()) {
		return nil, status.New(status.PlanQuery, "Failed to plan SQL: view %s names %d columns, its query gives %d",
			name, len(v.columns), len(n.Columns()))
	}
	return &Result{}, x.putView(ctx, v, st)
}

// putView makes a view, if its name is still free.
func (x *Executor) putView(ctx context.Context, v *view, st *parse.CreateView) error {
	x.views.mu.Lock()
	defer x.views.mu.Unlock()
	old := x.views.list[v.name]
	if old != nil && !st.OrReplace {
		if st.IfNotExists {
			return nil
		}
		return alreadyExists(v.name)
	}
	if err := x.e.Views().Take(v.name); err != nil {
		return err
	}
	if err := x.writeView(ctx, v); err != nil {
		if old == nil {
			x.e.Views().Free(v.name)
		}
		return err
	}
	x.views.list[v.name] = v
	return nil
}

// writeView writes the row of a view.
func (x *Executor) writeView(ctx context.Context, v *view) error {
	columns := []byte("[]")
	if v.columns != nil {
		var err error
		if columns, err = json.Marshal(v.columns); err != nil {
			return err
		}
	}
	return viewsTable.Put(ctx, x.e, []any{columns, v.definition, int64(0), v.name.Table, v.name.DB})
}

// dropViews drops views: all of them or, when one is missing, none.
func (x *Executor) dropViews(ctx context.Context, names []schema.Name, ifExists bool) error {
	x.views.mu.Lock()
	defer x.views.mu.Unlock()
	list, err := x.allViews()
	if err != nil {
		return err
	}
	var keys [][]any
	for _, n := range names {
		if list[n] == nil {
			if ifExists {
				continue
			}
			return status.New(status.TableNotFound, "View not found: %s", n)
		}
		keys = append(keys, []any{n.DB, n.Table, int64(0)})
	}
	if len(keys) == 0 {
		return nil
	}
	if err := viewsTable.Delete(ctx, x.e, keys...); err != nil {
		return err
	}
	for _, n := range names {
		delete(list, n)
		x.e.Views().Free(n)
	}
	return nil
}

// notView is the error for changes of a view that only tables take.
func (x *Executor) notView(n schema.Name) error {
	if v, err := x.view(n); err != nil || v == nil {
		return err
	}
	return status.New(status.Unsupported, "%s is a view", n)
}

// infoViews are the views for information_schema.
func (x *Executor) infoViews(s *Session) ([]infoschema.View, error) {
	list, err := x.viewsOf("")
	if err != nil {
		return nil, err
	}
	out := make([]infoschema.View, len(list))
	for i, v := range list {
		out[i] = infoschema.View{DB: v.name.DB, Name: v.name.Table, Definition: v.statement("CREATE VIEW "),
			Query: v.definition,
			Columns: func() []schema.Column {
				cols, err := x.viewColumns(context.Background(), s, parse.Name{{Name: v.name.DB}, {Name: v.name.Table}})
				if err != nil { // a table or column of its query is gone: it has no columns until it is back
					return nil
				}
				return cols
			}}
	}
	return out, nil
}

// viewColumns are the columns that the query of a view has now, all of them fields.
func (x *Executor) viewColumns(ctx context.Context, s *Session, n parse.Name) ([]schema.Column, error) {
	all := &parse.Select{Items: []parse.SelectItem{{Star: &parse.Star{}}},
		From: []parse.TableRef{&parse.Table{Name: n}}}
	return x.queryColumns(ctx, s, &parse.Query{Body: all})
}

// queryColumns are the columns of a query as those of a table.
func (x *Executor) queryColumns(ctx context.Context, s *Session, q *parse.Query) ([]schema.Column, error) {
	node, err := x.statement(s, x.context(s)).Shape(ctx, q)
	if err != nil {
		return nil, err
	}
	var cols []schema.Column
	for _, c := range node.Columns() {
		cols = append(cols, schema.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Semantic: schema.Field})
	}
	return cols, nil
}
