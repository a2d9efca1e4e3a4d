package sqlexec

import (
	"context"
	"slices"
	"strings"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

func (x *Executor) alterTable(ctx context.Context, sess *Session, s *parse.AlterTable) (*Result, error) {
	t, err := x.table(sess, s.Name)
	if err != nil {
		return nil, err
	}
	for _, op := range s.Ops {
		if r, ok := op.(*parse.RenameTable); ok {
			if err := x.checkRename(sess, t.Schema.Name, r); err != nil {
				return nil, err
			}
		}
	}
	// The change must not call the store: a stopping store lets no new call in and waits for the running ones.
	err = x.e.Alter(ctx, t.Schema.Name, func(old *schema.Table) (*schema.Table, error) {
		n := old
		for _, op := range s.Ops {
			var err error
			if n, err = x.alterOp(sess, n, op); err != nil {
				return nil, err
			}
		}
		if n == old {
			return nil, errNoChange
		}
		n.Version = old.Version + 1
		return n, nil
	})
	if err == errNoChange {
		err = nil
	}
	return &Result{}, err
}

// alterOp returns the schema that one operation makes of t; t itself when nothing changes.
func (x *Executor) alterOp(sess *Session, t *schema.Table, op parse.AlterOp) (*schema.Table, error) {
	switch o := op.(type) {
	case *parse.AddColumn:
		return x.addColumn(sess, t, o)
	case *parse.DropColumn:
		return dropColumn(t, o)
	case *parse.ModifyType:
		return modifyType(t, o)
	case *parse.ModifyDefault:
		return x.modifyDefault(sess, t, o)
	case *parse.ModifyIndex:
		return modifyIndex(t, o)
	case *parse.RenameTable:
		n := cloneTable(t)
		n.Name = newName(t.Name, o)
		return n, nil
	case *parse.RenameColumn:
		return renameColumn(t, o)
	case *parse.SetOptions:
		var set []schema.Option
		var unset []string
		for _, p := range o.Options {
			switch none := withoutValue(p); {
			case none && p.Key == "ttl": // for ever: not what the database has
				set = append(set, schema.Option{Key: p.Key})
			case none:
				unset = append(unset, p.Key)
			default:
				set = append(set, schema.Option{Key: p.Key, Value: p.Value})
			}
		}
		return alterOptions(t, set, unset)
	case *parse.UnsetOptions:
		return alterOptions(t, nil, o.Keys)
	}
	return nil, status.New(status.Unsupported, "SQL statement is not supported: this form of ALTER TABLE")
}

func (x *Executor) addColumn(sess *Session, t *schema.Table, o *parse.AddColumn) (*schema.Table, error) {
	c, err := x.column(sess, &o.Column)
	if err != nil {
		if c.Type == vector.Interval {
			return nil, status.New(status.Unsupported, "column %s: type INTERVAL cannot be the type of a column",
				c.Name)
		}
		return nil, err
	}
	if t.Column(c.Name) >= 0 {
		if o.IfNotExists {
			return t, nil
		}
		return nil, status.New(status.TableColumnExists, "Column %s already exists in table %s", c.Name, t.Name)
	}
	if o.Column.TimeIndex > 0 {
		return nil, status.New(status.InvalidArguments, "column %s cannot be a time index: table %s already has the time index %s",
			c.Name, t.Name.Table, t.TimeColumn().Name)
	}
	if !c.Nullable && c.Default == nil {
		return nil, status.New(status.InvalidArguments, "no default value for the new column %s, which is NOT NULL",
			c.Name)
	}
	if o.Column.PrimaryKey > 0 {
		if c.Type == vector.JSONType {
			return nil, status.New(status.InvalidArguments, "column %s of type JSON cannot be part of the primary key",
				c.Name)
		}
		c.Semantic = schema.Tag
	}
	n, err := t.Evolve([]schema.Column{c})
	if err != nil {
		return nil, err
	}
	at := len(n.Columns) - 1
	switch {
	case o.First:
		return moveColumn(n, at, 0), nil
	case o.After != "":
		i := n.Column(o.After)
		if i < 0 || i == at {
			return nil, columnNotFound(o.After, t)
		}
		return moveColumn(n, at, i+1), nil
	}
	return n, nil
}

// moveColumn moves the column at from to position to <= from; n is the caller's own.
func moveColumn(n *schema.Table, from, to int) *schema.Table {
	c := n.Columns[from]
	copy(n.Columns[to+1:from+1], n.Columns[to:from])
	n.Columns[to] = c
	place := func(i int) int {
		switch {
		case i == from:
			return to
		case i >= to && i < from:
			return i + 1
		}
		return i
	}
	n.Time = place(n.Time)
	for k, i := range n.Tags {
		n.Tags[k] = place(i)
	}
	return n
}

func dropColumn(t *schema.Table, o *parse.DropColumn) (*schema.Table, error) {
	i := t.Column(o.Name.Name)
	if i < 0 {
		if o.IfExists {
			return t, nil
		}
		return nil, parse.PlaceError(columnNotFound(o.Name.Name, t), o.Name.At)
	}
	if t.Columns[i].Semantic != schema.Field {
		return nil, status.New(status.InvalidArguments, "Not allowed to remove index column %s from table %s",
			o.Name.Name, t.Name)
	}
	n := cloneTable(t)
	n.Columns = slices.Delete(n.Columns, i, i+1)
	if n.Time > i {
		n.Time--
	}
	for k := range n.Tags {
		if n.Tags[k] > i {
			n.Tags[k]--
		}
	}
	return n, nil
}

// renameColumn changes a column's name: what is stored knows columns by their ids.
func renameColumn(t *schema.Table, o *parse.RenameColumn) (*schema.Table, error) {
	i := t.Column(o.Name.Name)
	to := o.To.Name
	switch {
	case i < 0:
		return nil, parse.PlaceError(columnNotFound(o.Name.Name, t), o.Name.At)
	case to == o.Name.Name:
		return t, nil
	case t.Column(to) >= 0:
		return nil, parse.PlaceError(status.New(status.TableColumnExists, "Column %s already exists in table %s", to,
			t.Name), o.To.At)
	}
	if err := schema.CheckColumnName(to); err != nil {
		return nil, parse.PlaceError(err, o.To.At)
	}
	n := cloneTable(t)
	n.Columns[i].Name = to
	return n, nil
}

func modifyType(t *schema.Table, o *parse.ModifyType) (*schema.Table, error) {
	i := t.Column(o.Name.Name)
	if i < 0 {
		return nil, parse.PlaceError(columnNotFound(o.Name.Name, t), o.Name.At)
	}
	to, err := o.Type.Resolve()
	if err != nil {
		return nil, err
	}
	c := &t.Columns[i]
	switch {
	case to == vector.Interval:
		return nil, status.New(status.Unsupported, "column %s: type INTERVAL cannot be the type of a column", c.Name)
	case !storable(to):
		return nil, status.New(status.InvalidArguments, "column %s: type %s cannot be the type of a column", c.Name,
			o.Type)
	case c.Semantic != schema.Field:
		return nil, status.New(status.InvalidArguments, "Not allowed to change the type of index column %s in table %s",
			c.Name, t.Name)
	case !c.Nullable:
		return nil, status.New(status.InvalidArguments,
			"Not allowed to change the type of column %s, which is NOT NULL", c.Name)
	case c.Type == to:
		return t, nil
	case !convert.Possible(c.Type, to):
		return nil, status.New(status.InvalidArguments, "column %s: %s cannot be cast to %s", c.Name, c.Type, to)
	case slices.ContainsFunc(c.Indexes, func(x schema.Index) bool { return x.Kind == schema.Fulltext }) && !to.IsText():
		return nil, status.New(status.InvalidArguments, "column %s has a full-text index, which needs a string column",
			c.Name)
	}
	n := cloneTable(t)
	n.Columns[i].Type = to
	return n, recastDefault(&n.Columns[i])
}

func (x *Executor) modifyDefault(sess *Session, t *schema.Table, o *parse.ModifyDefault) (*schema.Table, error) {
	i := t.Column(o.Name.Name)
	if i < 0 {
		return nil, parse.PlaceError(columnNotFound(o.Name.Name, t), o.Name.At)
	}
	n := cloneTable(t)
	c := &n.Columns[i]
	if o.Default == nil {
		if !c.Nullable {
			return nil, status.New(status.InvalidArguments, "column %s is NOT NULL and keeps its default", c.Name)
		}
		c.Default, c.DefaultExpr, c.DefaultText = nil, "", ""
		return n, nil
	}
	return n, x.setDefault(sess, c, o.Default)
}

func modifyIndex(t *schema.Table, o *parse.ModifyIndex) (*schema.Table, error) {
	i := t.Column(o.Name.Name)
	if i < 0 {
		return nil, parse.PlaceError(columnNotFound(o.Name.Name, t), o.Name.At)
	}
	n := cloneTable(t)
	c := &n.Columns[i]
	kind := indexKinds[o.Index.Kind]
	at := slices.IndexFunc(c.Indexes, func(x schema.Index) bool { return x.Kind == kind })
	if o.Unset {
		if at < 0 {
			return t, nil
		}
		c.Indexes = slices.Delete(slices.Clone(c.Indexes), at, at+1)
		return n, nil
	}
	index, err := indexOf(&o.Index, c.Name, c.Type)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		c.Indexes = append(slices.Clone(c.Indexes), index)
		return n, nil
	}
	for _, key := range []string{"analyzer", "case_sensitive"} {
		if old := c.Indexes[at].Options[key]; old != index.Options[key] {
			return nil, status.New(status.InvalidArguments,
				"column %s: %s of a full-text index cannot change from %s to %s", c.Name, key, old, index.Options[key])
		}
	}
	c.Indexes = slices.Clone(c.Indexes)
	c.Indexes[at] = index
	return n, nil
}

// checkRename checks the new name of a table.
func (x *Executor) checkRename(sess *Session, from schema.Name, o *parse.RenameTable) error {
	to := newName(from, o)
	if len(o.To) > 1 {
		named, err := sess.tableName(o.To)
		if err != nil {
			return err
		}
		if named.DB != from.DB {
			return status.New(status.InvalidArguments, "a table cannot be renamed into another database: %s", named)
		}
	}
	if err := checkName("table", to.Table, o.To[len(o.To)-1].Quote != 0); err != nil {
		return err
	}
	if _, err := x.e.Table(to); err == nil {
		return alreadyExists(to)
	}
	if v, err := x.view(to); err != nil {
		return err
	} else if v != nil {
		return alreadyExists(to)
	}
	return nil
}

func newName(from schema.Name, o *parse.RenameTable) schema.Name {
	return schema.Name{DB: from.DB, Table: o.To[len(o.To)-1].Name}
}

// alterOptions checks the new set of options and what may not be taken back.
func alterOptions(t *schema.Table, set []schema.Option, unset []string) (*schema.Table, error) {
	for _, k := range unset { // unknown keys are errors here too
		if err := schema.CheckOption(k); err != nil {
			return nil, err
		}
	}
	sets := func(key, value string) bool {
		return slices.ContainsFunc(set, func(o schema.Option) bool {
			return o.Key == key && (value == "" || strings.EqualFold(strings.TrimSpace(o.Value), value))
		})
	}
	if sets("append_mode", "true") && !sets("merge_mode", "") {
		unset = append(unset, "merge_mode") // no row replaces another from now on
	}
	options, err := parseOptions(mergeOptions(t.Options.All, set, unset))
	if err != nil {
		return nil, err
	}
	if t.Options.AppendMode && !options.AppendMode {
		return nil, status.New(status.InvalidArguments, "append_mode cannot be switched off")
	}
	if t.Options.SkipWAL && !options.SkipWAL {
		return nil, status.New(status.InvalidArguments, "skip_wal cannot be switched off")
	}
	n := cloneTable(t)
	n.Options = options
	return n, nil
}

// withoutValue reports whether SET takes an option out: its value is NULL or an empty text.
func withoutValue(o parse.Option) bool { return o.Null || strings.TrimSpace(o.Value) == "" }
