package sqlexec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"varve/engine"
	"varve/engine/nearest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

func (x *Executor) show(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	switch st.What {
	case "databases":
		return x.showDatabases(ctx, s, st)
	case "tables", "views":
		return x.showTables(ctx, s, st)
	case "table status":
		return x.showTableStatus(ctx, s, st)
	case "columns":
		return x.showColumns(ctx, s, st)
	case "index":
		return x.showIndex(ctx, s, st)
	case "region":
		return x.showRegion(s, st)
	case "create table":
		return x.showCreateTable(s, st)
	case "create database":
		return x.showCreateDatabase(st)
	case "create view":
		return x.showCreateView(s, st)
	case "processlist":
		return x.showProcesses(ctx, s, st)
	case "variables":
		return x.showVariables(ctx, s, st)
	case "grants":
		return x.showGrants(ctx, s, st)
	case "status":
		return newTable("Variable_name", "Value").filtered(ctx, x, s, st)
	case "warnings":
		return newTable("Level", "Code", "Message").filtered(ctx, x, s, st)
	case "engines":
		t := newTable("Engine", "Support")
		t.add("metric", "YES")
		t.add("mito", "DEFAULT")
		return t.filtered(ctx, x, s, st)
	case "charset":
		t := newTable("Charset", "Description", "Default collation", "Maxlen").typed("Maxlen", vector.Int64Type)
		t.add("utf8", "UTF-8 Unicode", "utf8_bin", 4)
		return t.filtered(ctx, x, s, st)
	case "collation":
		t := newTable("Collation", "Charset", "Id", "Default", "Compiled", "Sortlen").typed("Id",
			vector.Int64Type).typed("Sortlen", vector.Int64Type)
		t.add("utf8_bin", "utf8", 1, "Yes", "Yes", 1)
		return t.filtered(ctx, x, s, st)
	case "search_path":
		t := newTable("search_path")
		t.add(s.database())
		return t.result()
	}
	return nil, status.New(status.Unsupported, "SQL statement is not supported: SHOW %s", strings.ToUpper(st.What))
}

func (x *Executor) showDatabases(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	t := newTable("Database")
	if st.Full {
		t = newTable("Database", "Options")
	}
	list := append(x.e.Databases(), engine.Database{Name: infoschema.DB})
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	for _, d := range list {
		if st.Full {
			t.add(d.Name, infoschema.OptionsText(d.Options))
		} else {
			t.add(d.Name)
		}
	}
	return t.filtered(ctx, x, s, st, "Schema")
}

// showDatabase is the database of SHOW .. FROM d.
func (x *Executor) showDatabase(s *Session, st *parse.Show) (string, error) {
	db := s.database()
	if st.DBSet {
		db = foldInfo(st.DB)
	}
	return db, x.checkDatabase(db)
}

func (x *Executor) showTables(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	db, err := x.showDatabase(s, st)
	if err != nil {
		return nil, err
	}
	views, err := x.viewsOf(db)
	if err != nil {
		return nil, err
	}
	if st.What == "views" {
		t := newTable("Views")
		for _, v := range views {
			t.add(v.name.Table)
		}
		return t.filtered(ctx, x, s, st)
	}
	names := []string{"Tables_in_" + db}
	if st.Full {
		names = append(names, "Table_type")
	}
	t := newTable(names...)
	list, err := x.tableNames(db)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		list = append(list, named{v.name.Table, "VIEW"})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	for _, n := range list {
		cells := []any{n.name, n.kind}
		t.add(cells[:len(names)]...)
	}
	return t.filtered(ctx, x, s, st, "Tables")
}

// named is a table's name and its table_type.
type named struct{ name, kind string }

func (x *Executor) tableNames(db string) ([]named, error) {
	var list []named
	if db == infoschema.DB {
		for _, t := range infoschema.Tables() {
			list = append(list, named{t.Name, "LOCAL TEMPORARY"})
		}
		return list, nil
	}
	tables, err := x.e.Tables(db)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		list = append(list, named{t.Schema.Name.Table, "BASE TABLE"})
	}
	if db == DefaultDB && !slices.ContainsFunc(list, func(n named) bool { return n.name == Numbers }) {
		list = append(list, named{Numbers, "LOCAL TEMPORARY"})
	}
	return list, nil
}

func (x *Executor) showTableStatus(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	db, err := x.showDatabase(s, st)
	if err != nil {
		return nil, err
	}
	t := newTable("Name", "Engine", "Version", "Row_format", "Rows", "Data_length", "Index_length", "Create_options",
		"Comment").
		typed("Version", vector.Int64Type).typed("Rows", vector.Int64Type).typed("Data_length",
		vector.Int64Type).typed("Index_length", vector.Int64Type)
	if db != infoschema.DB {
		tables, err := x.e.Tables(db)
		if err != nil {
			return nil, err
		}
		for _, tb := range tables {
			sizes := tb.Stats()
			t.add(tb.Schema.Name.Table, tb.Schema.Engine, 11, "Fixed", int(sizes.Rows), int(sizes.DiskBytes),
				int(sizes.IndexBytes), "", tb.Schema.Options.Comment)
		}
	}
	return t.filtered(ctx, x, s, st)
}

// shownSchema finds the table of SHOW COLUMNS and INDEX, information_schema's included.
func (x *Executor) shownSchema(s *Session, n parse.Name, db string) (*schema.Table, error) {
	inner := *s
	if db != "" {
		inner.DB = foldInfo(db)
	}
	name, err := inner.tableName(n)
	if err != nil {
		return nil, err
	}
	if name.DB == infoschema.DB {
		t := infoschema.Find(name.Table)
		if t == nil {
			return nil, x.noTable(s, nil, "", name)
		}
		return &schema.Table{Name: name, Time: -1, Columns: t.Columns}, nil
	}
	t, err := x.e.Table(name)
	if err != nil {
		if name.DB == DefaultDB && name.Table == Numbers {
			return infoschema.NumbersSchema(), nil
		}
		return nil, x.tableNotFound(s, err, name)
	}
	return t.Schema.Shown(), nil
}

// describedSchema is shownSchema, for views too: their columns are those that their query has now, all of them fields.
func (x *Executor) describedSchema(ctx context.Context, s *Session, n parse.Name, db string) (*schema.Table, error) {
	t, err := x.shownSchema(s, n, db)
	if status.Of(err) != status.TableNotFound {
		return t, err
	}
	inner := *s
	if db != "" {
		inner.DB = foldInfo(db)
	}
	name, nameErr := inner.tableName(n)
	if nameErr != nil {
		return nil, nameErr
	}
	if v, viewErr := x.view(name); viewErr != nil || v == nil {
		return nil, errors.Join(err, viewErr)
	}
	cols, err := x.viewColumns(ctx, &inner, n)
	if err != nil {
		return nil, err
	}
	return &schema.Table{Name: name, Time: -1, Columns: cols}, nil
}

func (x *Executor) showColumns(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	tb, err := x.describedSchema(ctx, s, st.Table, st.DB)
	if err != nil {
		return nil, err
	}
	names := []string{"Field", "Type"}
	if st.Full {
		names = append(names, "Collation")
	}
	names = append(names, "Null", "Key", "Default")
	if st.Full {
		names = append(names, "Comment", "Privileges")
	}
	t := newTable(append(names, "Extra", "Service_type")...)
	cols := slices.Clone(tb.Columns)
	sort.Slice(cols, func(i, j int) bool { return cols[i].Name < cols[j].Name })
	for i := range cols {
		c := &cols[i]
		var def any = null
		if c.Default != nil {
			def = c.DefaultText
		}
		row := []any{c.Name, parse.InfoText(c.Type)}
		if st.Full {
			var collation any = null
			if c.Type.IsText() {
				collation = "utf8_bin"
			}
			row = append(row, collation)
		}
		row = append(row, infoschema.YesNo(c.Nullable), infoschema.Key(c), def)
		if st.Full {
			row = append(row, c.Comment, "select,insert")
		}
		t.add(append(row, "", c.Type.String())...)
	}
	return t.filtered(ctx, x, s, st)
}

func (x *Executor) showIndex(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	tb, err := x.shownSchema(s, st.Table, st.DB)
	if err != nil {
		return nil, err
	}
	t := newTable("Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation", "Cardinality",
		"Sub_part", "Packed", "Null",
		"Index_type", "Comment", "Index_comment", "Visible", "Expression")
	for _, n := range []string{"Non_unique", "Seq_in_index", "Cardinality", "Sub_part"} {
		t.typed(n, vector.Int64Type)
	}
	if tb.Time >= 0 {
		for _, r := range infoschema.Indexes(tb) {
			nonUnique, nullable := 1, "YES"
			if r.Kind == "PRIMARY" {
				nonUnique = 0
			}
			if !r.Column.Nullable {
				nullable = ""
			}
			t.add(tb.Name.Table, nonUnique, r.Name, r.Seq, r.Column.Name, "A", null, null, null, nullable, r.Kind, "",
				"", "YES", null)
		}
	}
	return t.filtered(ctx, x, s, st)
}

func (x *Executor) showRegion(s *Session, st *parse.Show) (*Result, error) {
	tb, err := x.shownSchema(s, st.Table, st.DB)
	if err != nil {
		return nil, err
	}
	t := newTable("Table", "Region", "Leader")
	t.add(tb.Name.Table, fmt.Sprint(infoschema.RegionID(tb.ID)), "Yes")
	return t.result()
}

func (x *Executor) showProcesses(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	t := newTable("Id", "Catalog", "Schema", "Query", "Elapsed Time")
	if !st.Full {
		t = newTable("Id", "Catalog", "Query", "Elapsed Time")
	}
	for _, p := range x.Running() {
		if st.Full {
			t.add(p.ID, Catalog, p.DB, p.Query, p.Elapsed.String())
		} else {
			t.add(p.ID, Catalog, p.Query, p.Elapsed.String())
		}
	}
	return t.filtered(ctx, x, s, st)
}

func (x *Executor) showVariables(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	env := x.context(s)
	if st.Arg != "" {
		value, ok := env.Variable(strings.ToLower(st.Arg))
		if !ok {
			return nil, status.New(status.Unsupported, "SHOW VARIABLES %s is not supported.%s", st.Arg,
				nearest.Hint(st.Arg, expr.VariableNames()))
		}
		t := newTable(strings.ToUpper(st.Arg))
		t.add(value)
		return t.result()
	}
	t := newTable("Variable_name", "Value")
	for _, n := range expr.VariableNames() {
		value, _ := env.Variable(n)
		t.add(n, value)
	}
	return t.filtered(ctx, x, s, st)
}

// showGrants shows the rights of the session's user, as the statements that would grant them. Rights follow from a
// mode: they hold for everything.
func (x *Executor) showGrants(ctx context.Context, s *Session, st *parse.Show) (*Result, error) {
	user := s.User
	if user == "" {
		user = "anonymous"
	}
	rights := s.Rights
	if rights == "" {
		rights = "ALL PRIVILEGES"
	}
	t := newTable("Grants for " + user)
	t.add("GRANT " + rights + " ON *.* TO " + parse.QuoteText(user))
	return t.filtered(ctx, x, s, st)
}

// described returns what DESC shows as a table: a query has its columns.
func (x *Executor) described(ctx context.Context, s *Session, st *parse.Describe) (*schema.Table, error) {
	if st.Query == nil {
		return x.describedSchema(ctx, s, st.Name, "")
	}
	cols, err := x.queryColumns(ctx, s, st.Query)
	return &schema.Table{Time: -1, Columns: cols}, err
}

func (x *Executor) describe(ctx context.Context, s *Session, st *parse.Describe) (*Result, error) {
	tb, err := x.described(ctx, s, st)
	if err != nil {
		return nil, err
	}
	t := newTable("Column", "Type", "Key", "Null", "Default", "Semantic Type")
	for i := range tb.Columns {
		c := &tb.Columns[i]
		key := ""
		if c.Semantic != schema.Field {
			key = "PRI"
		}
		t.add(c.Name, c.Type.String(), key, infoschema.YesNo(c.Nullable), c.DefaultText, c.Semantic.String())
	}
	return t.result()
}
