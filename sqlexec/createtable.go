package sqlexec

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

func (x *Executor) createTable(ctx context.Context, sess *Session, s *parse.CreateTable) (*Result, error) {
	name, err := sess.tableName(s.Name)
	if err != nil {
		return nil, err
	}
	if err := readOnly(name.DB); err != nil {
		return nil, err
	}
	if s.External {
		return nil, status.New(status.Unsupported, "SQL statement is not supported: CREATE EXTERNAL TABLE")
	}
	if err := x.checkDatabase(name.DB); err != nil {
		return nil, err
	}
	if err := checkName("table", name.Table, s.Name[len(s.Name)-1].Quote != 0); err != nil {
		return nil, err
	}
	if s.IfNotExists && s.Query != nil {
		if _, err := x.e.Table(name); err == nil {
			return &Result{}, nil
		}
	}
	var t *schema.Table
	switch {
	case s.Like != nil:
		t, err = x.tableLike(sess, s)
	case s.Query != nil && s.Columns == nil:
		t, err = x.tableOfQuery(ctx, sess, s)
	default:
		t, err = x.tableSchema(sess, s)
	}
	if err != nil {
		return nil, err
	}
	t.Name = name
	if v, err := x.view(name); err != nil {
		return nil, err
	} else if v != nil {
		return nil, alreadyExists(name)
	}
	if s.Query != nil || s.OrReplace {
		return x.makeTable(ctx, sess, s, t)
	}
	_, err = x.e.CreateTable(ctx, t)
	return created(s, name, &Result{}, err)
}

// created is the answer to a CREATE TABLE that ended with err.
func created(s *parse.CreateTable, name schema.Name, r *Result, err error) (*Result, error) {
	switch {
	case status.Of(err) == status.TableAlreadyExists && s.IfNotExists:
		return &Result{}, nil
	case status.Of(err) == status.TableAlreadyExists:
		return nil, alreadyExists(name)
	case err != nil:
		return nil, err
	}
	return r, nil
}

// makeTable is CREATE TABLE .. AS and CREATE OR REPLACE TABLE. The table is made and filled under no name that others
// know, and gets its name when it is whole, by the same step that drops the one it replaces: the query may read that
// one, and whatever fails or crashes leaves it as it is.
func (x *Executor) makeTable(ctx context.Context, sess *Session, s *parse.CreateTable, t *schema.Table) (*Result,
	error) {
	if _, err := x.e.Table(t.Name); err == nil && !s.OrReplace {
		return created(s, t.Name, nil, alreadyExists(t.Name))
	}
	draft, err := x.e.CreateDraft(ctx, t)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	if s.Query != nil {
		name := parse.Name{{Name: t.Name.DB, Quote: '"'}, {Name: draft.Schema.Name.Table, Quote: '"'}}
		result, err = x.insert(ctx, sess, &parse.Insert{Table: name, Query: s.Query})
	}
	if err == nil {
		err = x.e.PublishDraft(ctx, draft.Schema.Name, s.OrReplace)
	}
	if err != nil {
		drop := x.e.DropTables(context.WithoutCancel(ctx), []schema.Name{draft.Schema.Name})
		if status.Of(drop) == status.TableNotFound { // dropped with its database, or published after all
			drop = nil
		}
		if drop != nil {
			err = errors.Join(err, drop)
		}
	}
	return created(s, t.Name, result, err)
}

// tableLike copies the schema of another table.
func (x *Executor) tableLike(sess *Session, s *parse.CreateTable) (*schema.Table, error) {
	other, err := x.table(sess, s.Like)
	if err != nil {
		return nil, err
	}
	return cloneTable(other.Schema.Given()), nil
}

// tableSchema checks a definition and gives the schema without ids.
func (x *Executor) tableSchema(sess *Session, s *parse.CreateTable) (*schema.Table, error) {
	var columns []schema.Column
	for i := range s.Columns {
		c, err := x.column(sess, &s.Columns[i])
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return x.tableOf(sess, s, columns)
}

// tableOf puts columns, constraints and options of a definition together.
func (x *Executor) tableOf(sess *Session, s *parse.CreateTable, columns []schema.Column) (*schema.Table, error) {
	t := &schema.Table{Engine: s.Engine, Time: -1, CreatedMS: x.now(sess).UnixMilli()}
	switch t.Engine {
	case "":
		t.Engine = "mito"
	case "mito", "metric":
	default:
		return nil, status.New(status.Unsupported, "table engine %s is not supported", s.Engine)
	}
	time, err := timeIndex(s)
	if err != nil {
		return nil, err
	}
	tags, err := primaryKey(s)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if t.Column(c.Name) >= 0 {
			return nil, status.New(status.InvalidArguments, "Column %s is defined twice", c.Name)
		}
		t.Columns = append(t.Columns, c)
	}
	if err := placeTimeIndex(t, s, time); err != nil {
		return nil, err
	}
	if err := placeTags(t, tags); err != nil {
		return nil, err
	}
	if t.Options, err = x.tableOptions(sess, s); err != nil {
		return nil, err
	}
	return t, x.checkMetric(sess, s, t)
}

// checkMetric checks that ENGINE=metric comes with the option that says whether the table is a physical or a logical
// one, and those options with the engine.
func (x *Executor) checkMetric(sess *Session, s *parse.CreateTable, t *schema.Table) error {
	physical, logical := t.Options.Find(schema.LogicalOption)
	switch {
	case t.Engine == "metric" && logical == t.Shared():
		return status.New(status.InvalidArguments, "a table of ENGINE=metric needs one of the options %s and %s",
			schema.PhysicalOption, schema.LogicalOption)
	case t.Engine != "metric" && (logical || t.Shared()):
		return status.New(status.InvalidArguments, "options %s and %s need ENGINE=metric", schema.PhysicalOption,
			schema.LogicalOption)
	case !logical:
		return nil
	}
	name, err := sess.tableName(s.Name)
	if err != nil {
		return err
	}
	p, err := x.e.Table(schema.Name{DB: name.DB, Table: physical})
	if err != nil {
		return err
	}
	for _, c := range t.Columns {
		i := p.Schema.Column(c.Name)
		if c.Semantic != schema.Tag && (i < 0 || p.Schema.Columns[i].Semantic != c.Semantic) {
			return status.New(status.InvalidArguments, "column %s: physical table %s has no %s column of that name",
				c.Name, physical, strings.ToLower(c.Semantic.String()))
		}
	}
	return nil
}

// timeIndex finds the name of the one time index.
func timeIndex(s *parse.CreateTable) (string, error) {
	var names []string
	for _, c := range s.Columns {
		for range c.TimeIndex {
			names = append(names, c.Name.Name)
		}
	}
	for _, list := range s.TimeIndexes {
		if len(list) != 1 {
			return "", status.New(status.InvalidSyntax, "Invalid SQL syntax: the time index must be exactly one column")
		}
		names = append(names, list[0].Name)
	}
	switch len(names) {
	case 0:
		return "", status.New(status.InvalidSyntax, "Missing time index constraint")
	case 1:
		return names[0], nil
	}
	return "", status.New(status.InvalidSyntax, "Invalid SQL syntax: more than one time index: %s",
		strings.Join(names, ", "))
}

// primaryKey finds the names of the primary key columns: inline on one column, or one table constraint.
func primaryKey(s *parse.CreateTable) ([]string, error) {
	var names []string
	keys := len(s.PrimaryKeys)
	for _, c := range s.Columns {
		if c.PrimaryKey > 0 {
			names = append(names, c.Name.Name)
			keys += c.PrimaryKey
		}
	}
	if keys > 1 {
		return nil, status.New(status.InvalidArguments,
			"Illegal primary keys definition: found definitions of primary keys in multiple places")
	}
	for _, list := range s.PrimaryKeys {
		for _, id := range list {
			names = append(names, id.Name)
		}
	}
	return names, nil
}

func placeTimeIndex(t *schema.Table, s *parse.CreateTable, name string) error {
	i := t.Column(name)
	if i < 0 {
		return status.New(status.InvalidArguments, "time index column %s is not among the columns", name)
	}
	c := &t.Columns[i]
	if !c.Type.IsTimestamp() {
		return status.New(status.InvalidArguments, "time index column %s must be a TIMESTAMP, it is %s", name, c.Type)
	}
	if i < len(s.Columns) && s.Columns[i].Null == parse.NullAllowed {
		return status.New(status.InvalidArguments, "time index column %s cannot be NULL", name)
	}
	if len(c.Indexes) > 0 && slices.ContainsFunc(c.Indexes,
		func(x schema.Index) bool { return x.Kind == schema.Fulltext }) {
		return status.New(status.InvalidArguments, "time index column %s cannot have a full-text index", name)
	}
	c.Semantic, c.Nullable, t.Time = schema.Timestamp, false, i
	return nil
}

func placeTags(t *schema.Table, tags []string) error {
	for _, name := range tags {
		i := t.Column(name)
		switch {
		case i < 0:
			return status.New(status.InvalidArguments, "primary key column %s is not among the columns", name)
		case i == t.Time:
			return status.New(status.InvalidArguments, "time index column %s cannot be part of the primary key", name)
		case slices.Contains(t.Tags, i):
			return status.New(status.InvalidArguments, "primary key column %s is named twice", name)
		case t.Columns[i].Type == vector.JSONType:
			return status.New(status.InvalidArguments, "column %s of type JSON cannot be part of the primary key", name)
		}
		t.Columns[i].Semantic = schema.Tag
		t.Tags = append(t.Tags, i)
	}
	return nil
}

// storable reports whether a column may have a type.
func storable(t vector.Type) bool {
	switch t.ID {
	case vector.TypeInterval, vector.TypeDuration, vector.TypeList, vector.TypeTime, vector.TypeNull:
		return false
	}
	return true
}

// column makes a column of its definition. Its role is decided by the caller.
func (x *Executor) column(sess *Session, d *parse.ColumnDef) (schema.Column, error) {
	c := schema.Column{Name: d.Name.Name, Nullable: d.Null != parse.NullForbidden, Comment: d.Comment}
	err := schema.CheckColumnName(c.Name)
	if err != nil {
		return c, err
	}
	if c.Type, err = d.Type.Resolve(); err != nil {
		return c, err
	}
	if !storable(c.Type) {
		return c, status.New(status.InvalidArguments, "column %s: type %s cannot be the type of a column", c.Name,
			d.Type)
	}
	for i := range d.Indexes {
		index, err := indexOf(&d.Indexes[i], c.Name, c.Type)
		if err != nil {
			return c, err
		}
		if slices.ContainsFunc(c.Indexes, func(o schema.Index) bool { return o.Kind == index.Kind }) {
			return c, status.New(status.InvalidArguments, "column %s has two %s indexes", c.Name, d.Indexes[i].Kind)
		}
		c.Indexes = append(c.Indexes, index)
	}
	if d.Default != nil {
		err = x.setDefault(sess, &c, d.Default)
	}
	return c, err
}

// tableOptions checks WITH (..) and adds the defaults of the database.
func (x *Executor) tableOptions(sess *Session, s *parse.CreateTable) (schema.Options, error) {
	given := map[string]string{}
	for _, o := range s.Options {
		given[o.Key] = o.Value
		if o.Null {
			given[o.Key] = ""
		}
	}
	name, err := sess.tableName(s.Name)
	if err != nil {
		return schema.Options{}, err
	}
	own, err := schema.ParseOptions(given)
	if err != nil {
		return schema.Options{}, err
	}
	return own.WithDefaults(x.databaseOptions(name.DB))
}

var indexKinds = map[string]schema.IndexKind{"inverted": schema.Inverted, "skipping": schema.Skipping,
	"fulltext": schema.Fulltext}

// Defaults of index options, as SHOW CREATE TABLE prints them.
var indexDefaults = map[schema.IndexKind]map[string]string{
	schema.Inverted: {},
	schema.Skipping: {"false_positive_rate": "0.01", "granularity": "10240", "type": "BLOOM"},
	schema.Fulltext: {"analyzer": "English", "backend": "bloom", "case_sensitive": "false",
		"false_positive_rate": "0.01", "granularity": "10240"},
}

// indexOf checks an index definition and fills in the defaults.
func indexOf(d *parse.IndexDef, column string, t vector.Type) (schema.Index, error) {
	kind := indexKinds[d.Kind]
	index := schema.Index{Kind: kind, Options: map[string]string{}}
	if kind == schema.Fulltext && !t.IsText() {
		return index, status.New(status.InvalidArguments,
			"column %s: a full-text index needs a string column, it is %s", column, t)
	}
	for k, v := range indexDefaults[kind] {
		index.Options[k] = v
	}
	for _, o := range d.Options {
		if _, ok := index.Options[o.Key]; !ok {
			return index, status.New(status.InvalidArguments, "column %s: invalid %s index option: %s", column,
				strings.ToUpper(d.Kind), o.Key)
		}
		v, ok := indexOption(o.Key, o.Value)
		if !ok {
			return index, status.New(status.InvalidArguments, "column %s: invalid value of %s index option %s: %s",
				column, strings.ToUpper(d.Kind), o.Key, o.Value)
		}
		index.Options[o.Key] = v
	}
	return index, nil
}

// indexOption checks the value of an index option and gives its normal form.
func indexOption(key, value string) (string, bool) {
	oneOf := func(choices ...string) (string, bool) {
		for _, c := range choices {
			if strings.EqualFold(c, value) {
				return c, true
			}
		}
		return "", false
	}
	switch key {
	case "granularity":
		n, err := strconv.ParseUint(value, 10, 32)
		return strconv.FormatUint(n, 10), err == nil && n > 0
	case "false_positive_rate":
		f, err := strconv.ParseFloat(value, 64)
		return strconv.FormatFloat(f, 'g', -1, 64), err == nil && f > 0 && f <= 1
	case "type":
		return oneOf("BLOOM")
	case "analyzer":
		return oneOf("English", "Chinese")
	case "backend":
		return oneOf("bloom", "tantivy")
	case "case_sensitive":
		return oneOf("true", "false")
	}
	return "", false
}
