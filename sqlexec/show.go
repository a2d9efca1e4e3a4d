package sqlexec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"varve/engine"
	"varve/engine/convert"
	"varve/engine/nearest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// table is an answer of SHOW while it is made: named columns of text and numbers.
type table struct {
	fields []vector.Field
	b      *vector.Builder
}

// newTable makes a table of STRING columns.
func newTable(names ...string) *table {
	t := &table{b: vector.NewBuilder()}
	for _, n := range names {
		t.fields = append(t.fields, vector.Field{Name: n, Type: vector.StringType})
	}
	return t
}

// column gives a column another type than STRING.
func (t *table) typed(name string, typ vector.Type) *table {
	for i := range t.fields {
		if t.fields[i].Name == name {
			t.fields[i].Type = typ
		}
	}
	return t
}

// nullCell is the cell of a NULL.
type nullCell struct{}

var null = nullCell{}

// add appends a row: string, int or null.
func (t *table) add(cells ...any) {
	for i, cell := range cells {
		c, err := t.b.Column(t.fields[i].Name, t.fields[i].Type)
		if err != nil {
			panic("sqlexec: a SHOW table has two columns of one name and different types")
		}
		switch cell := cell.(type) {
		case string:
			c.SetString(cell)
		case int:
			c.SetInt(int64(cell))
		case nullCell:
			c.SetNull()
		}
	}
	t.b.Pin()
	t.b.EndRow()
}

func (t *table) result() (*Result, error) {
	for _, f := range t.fields {
		if _, err := t.b.Column(f.Name, f.Type); err != nil {
			return nil, err
		}
	}
	t.b.Pin()
	_, b := t.b.Finish()
	return rowsResult(t.fields, b), nil
}

// filtered gives the rows that LIKE on the first column and WHERE let through, sorted by the first column. names are
// further names of the first column in WHERE.
func (t *table) filtered(ctx context.Context, x *Executor, s *Session, st *parse.Show, names ...string) (*Result, error) {
	if st.Like == nil && st.Where == nil {
		return t.result()
	}
	r, err := t.result()
	if err != nil {
		return nil, err
	}
	defer r.Rows.Close()
	all, err := collect(ctx, r.Rows, t.fields, 1<<31-1)
	if err != nil {
		return nil, err
	}
	fields := t.fields
	for range names { // a column more for each further name
		fields = append(fields[:len(fields):len(fields)], fields[0])
		all.Cols = append(all.Cols, all.Cols[0])
	}
	for i, n := range names {
		fields[len(t.fields)+i].Name = n
	}
	q, err := t.filterQuery(st, fields)
	if err != nil {
		return nil, err
	}
	rel := &plan.Relation{Name: schema.Name{Table: "show"}, Virtual: &plan.Virtual{
		Fields: fields, Rows: func(map[string]string) (*vector.Batch, error) { return all, nil },
	}}
	n, err := plan.Bind(ctx, x.context(s), only{rel}, x.runner(s), s.Database(), q)
	if err != nil {
		return nil, err
	}
	rows, err := x.stream(ctx, s, n)
	if err != nil {
		return nil, err
	}
	return &Result{Fields: t.fields, Rows: rows}, nil
}

// filterQuery is SELECT columns FROM show WHERE first LIKE p AND condition; names are folded as SHOW's are written.
func (t *table) filterQuery(st *parse.Show, fields []vector.Field) (*parse.Query, error) {
	sel := &parse.Select{From: []parse.TableRef{&parse.Table{Name: parse.Name{{Name: "show"}}}}}
	for _, f := range t.fields {
		name := parse.Ident{Name: f.Name, Quote: '"'}
		sel.Items = append(sel.Items, parse.SelectItem{X: &parse.Column{Parts: parse.Name{name}}, Alias: &name})
	}
	if st.Like != nil {
		first := &parse.Column{Parts: parse.Name{{Name: t.fields[0].Name, Quote: '"'}}}
		sel.Where = &parse.Like{X: first, Op: "like", Pattern: &parse.Literal{Kind: parse.StringLiteral, Text: *st.Like}}
	}
	if st.Where != nil {
		parse.Walk(st.Where, func(e parse.Expr) bool {
			if c, ok := e.(*parse.Column); ok && len(c.Parts) == 1 {
				for _, f := range fields {
					if strings.EqualFold(f.Name, c.Parts[0].Name) {
						c.Parts = parse.Name{{Name: f.Name, Quote: '"', At: c.Parts[0].At}}
						break
					}
				}
			}
			return true
		})
		sel.Where = and(sel.Where, st.Where)
	}
	return &parse.Query{Body: sel}, nil
}

func and(a, b parse.Expr) parse.Expr {
	if a == nil {
		return b
	}
	return &parse.Binary{Op: "and", L: a, R: b}
}

// only is a catalog of one relation, whatever its name.
type only struct{ rel *plan.Relation }

func (o only) Relation(parse.Name, string) (*plan.Relation, error) { return o.rel, nil }

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
		t := newTable("Collation", "Charset", "Id", "Default", "Compiled", "Sortlen").typed("Id", vector.Int64Type).typed("Sortlen", vector.Int64Type)
		t.add("utf8_bin", "utf8", 1, "Yes", "Yes", 1)
		return t.filtered(ctx, x, s, st)
	case "search_path":
		t := newTable("search_path")
		t.add(s.Database())
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
	db := s.Database()
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
	t := newTable("Name", "Engine", "Version", "Row_format", "Rows", "Data_length", "Index_length", "Create_options", "Comment").
		typed("Version", vector.Int64Type).typed("Rows", vector.Int64Type).typed("Data_length", vector.Int64Type).typed("Index_length", vector.Int64Type)
	if db != infoschema.DB {
		tables, err := x.e.Tables(db)
		if err != nil {
			return nil, err
		}
		for _, tb := range tables {
			sizes := tb.Stats()
			t.add(tb.Schema.Name.Table, tb.Schema.Engine, 11, "Fixed", int(sizes.Rows), int(sizes.DiskBytes), int(sizes.IndexBytes), "", tb.Schema.Options.Comment)
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
			return nil, x.noTable(nil, "", name)
		}
		own := &schema.Table{Name: name, Time: -1}
		for _, f := range t.Fields {
			own.Columns = append(own.Columns, schema.Column{Name: f.Name, Type: f.Type, Nullable: true})
		}
		return own, nil
	}
	t, err := x.e.Table(name)
	if err != nil {
		if name.DB == DefaultDB && name.Table == Numbers {
			return infoschema.NumbersSchema(), nil
		}
		return nil, x.tableNotFound(err, name)
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
	t := newTable("Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation", "Cardinality", "Sub_part", "Packed", "Null",
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
			t.add(tb.Name.Table, nonUnique, r.Name, r.Seq, r.Column.Name, "A", null, null, null, nullable, r.Kind, "", "", "YES", null)
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
	t.add(tb.Name.Table, fmt.Sprint(uint64(tb.ID)<<32), "Yes")
	return t.result()
}

func (x *Executor) showCreateTable(s *Session, st *parse.Show) (*Result, error) {
	tb, err := x.shownSchema(s, st.Table, "")
	if err != nil {
		return nil, err
	}
	t := newTable("Table", "Create Table")
	t.add(tb.Name.Table, createText(x.acting(tb)))
	return t.result()
}

// acting is a table with the time to live that acts on it, where that is its database's.
func (x *Executor) acting(t *schema.Table) *schema.Table {
	if _, own := t.Options.Find("ttl"); own {
		return t
	}
	options := x.databaseOptions(t.Name.DB)
	i := slices.IndexFunc(options, func(o schema.Option) bool { return o.Key == "ttl" })
	if i < 0 {
		return t
	}
	n := *t
	n.Options.All = mergeOptions(t.Options.All, options[i:i+1], nil)
	return &n
}

// Definition is a table's definition as SHOW CREATE TABLE prints it.
func Definition(t *schema.Table) string { return createText(t) }

// createText is a table's definition as SHOW CREATE TABLE prints it; it reads back as the same definition.
func createText(t *schema.Table) string {
	t = t.Given()
	var b strings.Builder
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", quote(t.Name.Table))
	var lines []string
	for i := range t.Columns {
		lines = append(lines, columnText(&t.Columns[i], quote))
	}
	if t.Time >= 0 {
		lines = append(lines, "  TIME INDEX ("+quote(t.Columns[t.Time].Name)+")")
	}
	if len(t.Tags) > 0 {
		names := make([]string, len(t.Tags))
		for k, i := range t.Tags {
			names[k] = quote(t.Columns[i].Name)
		}
		lines = append(lines, "  PRIMARY KEY ("+strings.Join(names, ", ")+")")
	}
	b.WriteString(strings.Join(lines, ",\n") + "\n)\n\nENGINE=" + engineName(t) + "\n")
	if len(t.Options.All) > 0 {
		b.WriteString("WITH(\n")
		for i, o := range t.Options.All {
			key := o.Key
			if strings.ContainsAny(key, ".-") {
				key = parse.QuoteText(key)
			}
			end := ",\n"
			if i == len(t.Options.All)-1 {
				end = "\n"
			}
			b.WriteString("  " + key + " = " + parse.QuoteText(o.Value) + end)
		}
		b.WriteString(")")
	}
	return b.String()
}

func engineName(t *schema.Table) string {
	if t.Engine == "" {
		return "mito"
	}
	return t.Engine
}

func columnText(c *schema.Column, quote func(string) string) string {
	text := "  " + quote(c.Name) + " " + parse.TypeText(c.Type)
	if c.Nullable {
		text += " NULL"
	} else {
		text += " NOT NULL"
	}
	switch {
	case c.DefaultExpr != "":
		text += " DEFAULT " + c.DefaultExpr
	case c.Default != nil:
		text += " DEFAULT " + defaultLiteral(c)
	}
	indexes := slices.Clone(c.Indexes)
	slices.SortFunc(indexes, func(a, b schema.Index) int { return int(b.Kind) - int(a.Kind) })
	for _, x := range indexes {
		text += " " + infoschema.IndexWord(x.Kind) + " INDEX"
		var keys []string
		for k := range x.Options {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for i, k := range keys {
			keys[i] = k + " = " + parse.QuoteText(x.Options[k])
		}
		if len(keys) > 0 {
			text += " WITH(" + strings.Join(keys, ", ") + ")"
		}
	}
	if c.Comment != "" {
		text += " COMMENT " + parse.QuoteText(c.Comment)
	}
	return text
}

// defaultLiteral is a default as SQL: numbers, booleans and counts of a time's unit bare, bytes as x'..', everything else a string.
func defaultLiteral(c *schema.Column) string {
	if c.Type == vector.BinaryType && c.Default != nil {
		return fmt.Sprintf("x'%x'", c.Default.Bytes(0))
	}
	if text, ok := instantText(c); ok {
		return parse.QuoteText(text)
	}
	e, err := parse.ParseExpr(c.DefaultText)
	if lit, ok := e.(*parse.Literal); ok && err == nil {
		count := lit.Kind == parse.NumberLiteral && (c.Type.IsTimestamp() || c.Type.ID == vector.TypeDate)
		if count || c.Type.IsNumber() || c.Type == vector.BoolType {
			return c.DefaultText
		}
	}
	return parse.QuoteText(c.DefaultText)
}

// instantText gives the default time of a column its zone where it is written without one: whoever reads the statement may do so
// in another.
func instantText(c *schema.Column) (text string, ok bool) {
	if !c.Type.IsTimestamp() {
		return "", false
	}
	here, _, err := timefmt.ParseTimestamp(c.DefaultText, time.UTC)
	there, _, _ := timefmt.ParseTimestamp(c.DefaultText, time.FixedZone("", 3600))
	if err != nil || here == there { // a number, or with a zone
		return "", false
	}
	text = string(convert.AppendText(nil, c.Default, 0))
	return strings.Replace(text, "T", " ", 1) + "+0000", true
}

func (x *Executor) showCreateView(s *Session, st *parse.Show) (*Result, error) {
	name, err := s.tableName(st.Table)
	if err != nil {
		return nil, err
	}
	v, err := x.view(name)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, status.New(status.TableNotFound, "View not found: %s", name)
	}
	text := "CREATE OR REPLACE VIEW " + parse.QuoteIdent(name.Table)
	if len(v.columns) > 0 {
		quoted := make([]string, len(v.columns))
		for i, c := range v.columns {
			quoted[i] = parse.QuoteIdent(c)
		}
		text += " (" + strings.Join(quoted, ", ") + ")"
	}
	t := newTable("View", "Create View")
	t.add(name.Table, text+" AS "+v.definition)
	return t.result()
}

func (x *Executor) showCreateDatabase(st *parse.Show) (*Result, error) {
	name, err := databaseName(st.Table)
	if err != nil {
		return nil, err
	}
	if err := x.checkDatabase(name); err != nil {
		return nil, err
	}
	text := "CREATE DATABASE IF NOT EXISTS " + parse.QuoteIdent(name)
	if options := x.databaseOptions(name); len(options) > 0 {
		var list []string
		for _, o := range options {
			key := o.Key
			if strings.ContainsAny(key, ".-") {
				key = parse.QuoteText(key)
			}
			list = append(list, "  "+key+" = "+parse.QuoteText(o.Value))
		}
		text += "\nWITH(\n" + strings.Join(list, ",\n") + "\n)"
	}
	t := newTable("Database", "Create Database")
	t.add(name, text)
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
			return nil, status.New(status.Unsupported, "SHOW VARIABLES %s is not supported.%s", st.Arg, nearest.Hint(st.Arg, expr.VariableNames()))
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

// showGrants tells what the session's user may do, as the statements that would grant it. Rights are those of a mode: they
// hold for everything.
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

// described gives what DESC shows as a table: a query has its columns.
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
