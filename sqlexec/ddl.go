package sqlexec

import (
	"context"
	"errors"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

func (x *Executor) createDatabase(ctx context.Context, s *parse.CreateDatabase) (*Result, error) {
	name, err := databaseName(s.Name)
	if err != nil {
		return nil, err
	}
	if err := checkName("database", name, s.Name[len(s.Name)-1].Quote != 0); err != nil {
		return nil, err
	}
	options, err := databaseOptions(s.Options, false)
	if err != nil {
		return nil, err
	}
	if x.HasDatabase(name) {
		if s.IfNotExists {
			return &Result{Affected: 1}, nil
		}
		return nil, status.New(status.InvalidArguments, "Schema %s already exists", name)
	}
	err = x.e.CreateDatabase(ctx, engine.Database{Name: name, Options: options})
	if status.Of(err) == status.DatabaseAlreadyExists {
		if s.IfNotExists {
			return &Result{Affected: 1}, nil
		}
		return nil, status.Wrap(err, status.InvalidArguments, "Schema %s already exists", name)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Affected: 1}, nil
}

// checkDatabaseKey checks the key of a database option: those that ALTER changes, and for a new database all defaults
// of its tables.
func checkDatabaseKey(key string, alter bool) error {
	switch {
	case slices.Contains([]string{"ttl", schema.ColdOption, schema.OpenOption, schema.MaxSizeOption, "sst_format"},
		key), strings.HasPrefix(key, "compaction."):
		return nil
	case !slices.Contains(schema.DefaultKeys, key):
		return status.New(status.InvalidArguments, "Unrecognized database option key: %s", key)
	case alter:
		return status.New(status.InvalidArguments,
			"Database option %s is set by CREATE DATABASE alone: ALTER DATABASE takes ttl, cold_after, open_format, max_size, "+
				"sst_format and compaction.*",
			key)
	}
	return nil
}

// databaseOptions checks the options of a database and gives them in normal form.
func databaseOptions(list []parse.Option, alter bool) ([]schema.Option, error) {
	given := map[string]string{}
	for _, o := range list {
		if err := checkDatabaseKey(o.Key, alter); err != nil {
			return nil, err
		}
		given[o.Key] = o.Value
		if o.Null {
			given[o.Key] = ""
		}
	}
	if strings.EqualFold(strings.TrimSpace(given["ttl"]), "instant") {
		return nil, status.New(status.InvalidArguments, "the ttl of a database cannot be instant")
	}
	size, bounded := given[schema.MaxSizeOption]
	delete(given, schema.MaxSizeOption)
	options, err := schema.ParseOptions(given)
	if err != nil || !bounded || strings.TrimSpace(size) == "" {
		return options.All, err
	}
	_, size, err = schema.ParseMaxSize(size)
	return mergeOptions(options.All, []schema.Option{{Key: schema.MaxSizeOption, Value: size}}, nil), err
}

func (x *Executor) alterDatabase(ctx context.Context, s *parse.AlterDatabase) (*Result, error) {
	name, err := databaseName(s.Name)
	if err != nil {
		return nil, err
	}
	if err := readOnly(name); err != nil {
		return nil, err
	}
	if err := x.checkDatabase(name); err != nil {
		return nil, err
	}
	var unset []string
	var given []parse.Option
	for _, o := range s.Set {
		if withoutValue(o) {
			unset = append(unset, o.Key)
		} else {
			given = append(given, o)
		}
	}
	set, err := databaseOptions(given, true)
	if err != nil {
		return nil, err
	}
	unset = append(unset, s.Unset...)
	for _, k := range unset {
		if err := checkDatabaseKey(k, true); err != nil {
			return nil, err
		}
	}
	return &Result{}, x.e.AlterDatabase(ctx,
		engine.Database{Name: name, Options: mergeOptions(x.databaseOptions(name), set, unset)})
}

// databaseOptions are the current options of a database.
func (x *Executor) databaseOptions(name string) []schema.Option {
	for _, d := range x.e.Databases() {
		if d.Name == name {
			return d.Options
		}
	}
	return nil
}

// mergeOptions returns old with set put in and unset taken out, sorted by key.
func mergeOptions(old, set []schema.Option, unset []string) []schema.Option {
	var all []schema.Option
	for _, o := range old {
		named := func(n schema.Option) bool { return n.Key == o.Key }
		if !slices.Contains(unset, o.Key) && !slices.ContainsFunc(set, named) {
			all = append(all, o)
		}
	}
	all = append(all, set...)
	slices.SortFunc(all, func(a, b schema.Option) int { return strings.Compare(a.Key, b.Key) })
	return all
}

func (x *Executor) dropDatabase(ctx context.Context, sess *Session, s *parse.DropDatabase) (*Result, error) {
	name, err := databaseName(s.Name)
	if err != nil {
		return nil, err
	}
	if err := readOnly(name); err != nil {
		return nil, err
	}
	if !x.HasDatabase(name) {
		if s.IfExists {
			return &Result{}, nil
		}
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", name)
	}
	if name == sess.database() {
		return nil, status.New(status.InvalidArguments, "Schema %s is in use", name)
	}
	if name == DefaultDB || name == infoschema.Private {
		return nil, status.New(status.InvalidArguments, "Schema %s cannot be dropped", name)
	}
	inside, err := x.viewsOf(name)
	if err != nil {
		return nil, err
	}
	var names []schema.Name
	for _, v := range inside {
		names = append(names, v.name)
	}
	if err := x.dropViews(ctx, names, true); err != nil {
		return nil, err
	}
	err = x.e.DropDatabase(ctx, name)
	if s.IfExists && status.Of(err) == status.DatabaseNotFound {
		err = nil
	}
	return &Result{}, err
}

func (x *Executor) dropTable(ctx context.Context, sess *Session, s *parse.DropTable) (*Result, error) {
	var names []schema.Name
	for _, n := range s.Names {
		name, err := sess.tableName(n)
		if err != nil {
			return nil, err
		}
		if err := readOnly(name.DB); err != nil {
			return nil, err
		}
		if s.View {
			names = append(names, name)
			continue
		}
		if _, err := x.e.Table(name); err != nil {
			if s.IfExists && notFound(err) {
				continue
			}
			return nil, x.tableNotFound(sess, err, name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if s.View {
		return &Result{}, x.dropViews(ctx, names, s.IfExists)
	}
	if len(names) == 0 {
		return &Result{}, nil
	}
	err := x.e.DropTables(ctx, names)
	if s.IfExists && notFound(err) {
		err = nil
	}
	return &Result{}, err
}

func notFound(err error) bool {
	c := status.Of(err)
	return c == status.TableNotFound || c == status.DatabaseNotFound
}

// tableNotFound makes the error of a missing table or database of a table's name TableNotFound with the contract's
// text; other errors stay.
func (x *Executor) tableNotFound(s *Session, err error, n schema.Name) error {
	if !notFound(err) {
		return err
	}
	return x.noTable(s, err, "", n)
}

// table finds a table that a statement changes or writes to.
func (x *Executor) table(sess *Session, n parse.Name) (*engine.Table, error) {
	name, err := sess.tableName(n)
	if err != nil {
		return nil, err
	}
	if err := readOnly(name.DB); err != nil {
		return nil, err
	}
	t, err := x.e.Table(name)
	if err != nil {
		if err := x.notView(name); err != nil {
			return nil, err
		}
	}
	return t, x.tableNotFound(sess, err, name)
}

func (x *Executor) truncate(ctx context.Context, sess *Session, s *parse.Truncate) (*Result, error) {
	t, err := x.table(sess, s.Name)
	if err != nil {
		return nil, err
	}
	return &Result{}, x.e.Truncate(ctx, t.Schema.Name)
}

func (x *Executor) comment(ctx context.Context, sess *Session, s *parse.Comment) (*Result, error) {
	t, err := x.table(sess, s.Table)
	if err != nil {
		return nil, err
	}
	return &Result{}, x.e.Alter(ctx, t.Schema.Name, func(old *schema.Table) (*schema.Table, error) {
		n := cloneTable(old)
		if s.Column != "" {
			i := old.Column(s.Column)
			if i < 0 {
				return nil, columnNotFound(s.Column, old)
			}
			n.Columns[i].Comment = s.Text
			return n, nil
		}
		options, err := parseOptions(mergeOptions(old.Options.All, []schema.Option{{Key: "comment", Value: s.Text}},
			nil))
		if s.Null {
			options, err = parseOptions(mergeOptions(old.Options.All, nil, []string{"comment"}))
		}
		n.Options = options
		return n, err
	})
}

// parseOptions checks options in key-value form.
func parseOptions(list []schema.Option) (schema.Options, error) {
	given := make(map[string]string, len(list))
	for _, o := range list {
		given[o.Key] = o.Value
	}
	return schema.ParseOptions(given)
}

// cloneTable is the next version of a schema, free to be changed.
func cloneTable(old *schema.Table) *schema.Table {
	n := *old
	n.Version++
	n.Columns = slices.Clone(old.Columns)
	n.Tags = slices.Clone(old.Tags)
	return &n
}

func columnNotFound(name string, t *schema.Table) error {
	return status.New(status.TableColumnNotFound, "Column %s not found in table %s", name, t.Name)
}

// alreadyExists returns TableAlreadyExists with the contract's text.
func alreadyExists(n schema.Name) error {
	return status.New(status.TableAlreadyExists, "Table already exists: `%s`", n)
}

var errNoChange = errors.New("nothing to change")
