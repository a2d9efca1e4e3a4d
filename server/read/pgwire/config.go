package pgwire

import (
	"context"
	"slices"
	"strings"
	"time"

	"varve/sqlexec/parse"
)

// config is a call of set_config in a statement, or one of pg_sleep.
type config struct {
	name, value string         // name empty: the arguments are no constants
	null, local bool           // the value is NULL: that of the beginning counts; it counts for the transaction only
	text        parse.Expr     // what stands for the call
	wait        *time.Duration // of pg_sleep; nil: it is set_config
}

// literalOf is the text of a literal of some kinds, in a cast or by itself.
func literalOf(x parse.Expr, kinds ...parse.LiteralKind) (string, bool) {
	if cast, ok := x.(*parse.Cast); ok {
		x = cast.X
	}
	lit, ok := x.(*parse.Literal)
	if !ok || !slices.Contains(kinds, lit.Kind) {
		return "", false
	}
	return lit.Text, true
}

// configure does the calls of set_config and pg_sleep of a statement that runs. Each has to be a column of a query of
// one row, so that it is called once: which rows a query has is not known before.
func (k *conn) configure(ctx context.Context, st parse.Statement, list []config) error {
	if len(list) == 0 {
		return nil
	}
	var items []parse.SelectItem
	absent := false
	if s, ok := st.(*parse.SelectStmt); ok && s.Query != nil && s.Query.Limit == nil && s.Query.Offset == nil {
		if one, ok := s.Query.Body.(*parse.Select); ok && len(one.GroupBy) == 0 && one.Having == nil &&
			one.Qualify == nil {
			name, ofSettings := oneSetting(one)
			if ofSettings || len(one.From) == 0 && one.Where == nil {
				items, absent = one.Items, ofSettings && known[strings.ToLower(name)] == nil
			}
		}
	}
	for _, c := range list {
		if c.name == "" || !slices.ContainsFunc(items, func(i parse.SelectItem) bool { return i.X == c.text }) {
			return fail("0A000", c.function()+" is supported with constants only, as a column of a SELECT without FROM, "+
				"WHERE, GROUP BY and LIMIT, or FROM pg_settings WHERE name = '..'")
		}
	}
	if absent { // the query has no rows
		return nil
	}
	before := k.settings.now(k)
	for _, c := range list {
		if err := k.called(ctx, st, c); err != nil {
			k.settings.back(k, before)
			return err
		}
	}
	return nil
}

// oneSetting reports whether a SELECT is FROM pg_settings WHERE name = '..', and the name.
func oneSetting(s *parse.Select) (name string, ok bool) {
	if len(s.From) != 1 {
		return "", false
	}
	t, ok := s.From[0].(*parse.Table)
	where, equal := s.Where.(*parse.Binary)
	if !ok || !equal || where.Op != "=" || t.Name[len(t.Name)-1].Name != "pg_settings" {
		return "", false
	}
	c, ok := where.L.(*parse.Column)
	name, text := literalOf(where.R, parse.StringLiteral)
	return name, ok && text && c.Parts[len(c.Parts)-1].Name == "name"
}

// function is the name of the function.
func (c *config) function() string {
	if c.wait != nil {
		return sleepCall
	}
	return "set_config"
}

// called does one call.
func (k *conn) called(ctx context.Context, st parse.Statement, c config) error {
	if c.wait != nil {
		return k.sleep(ctx, st, *c.wait)
	}
	return k.configured(c)
}

// configured does one call of set_config.
func (k *conn) configured(c config) error {
	if _, err := find(c.name); err != nil {
		return err
	}
	if c.null {
		c.value = k.settings.first(c.name)
	}
	switch {
	case !c.local:
		return k.settings.set(k, c.name, c.value)
	case k.state != idleState:
		return k.settings.local(k, c.name, c.value)
	}
	return nil // the transaction ends with the statement
}
