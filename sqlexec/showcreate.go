package sqlexec

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

func (x *Executor) showCreateTable(s *Session, st *parse.Show) (*Result, error) {
	tb, err := x.shownSchema(s, st.Table, "")
	if err != nil {
		return nil, err
	}
	t := newTable("Table", "Create Table")
	t.add(tb.Name.Table, Definition(x.acting(tb)))
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

// Definition is a table's definition as SHOW CREATE TABLE prints it; it reads back as the same definition.
func Definition(t *schema.Table) string {
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
			end := ",\n"
			if i == len(t.Options.All)-1 {
				end = "\n"
			}
			b.WriteString(optionText(o.Key, o.Value) + end)
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

// defaultLiteral is a default as SQL: numbers, booleans and counts of a time's unit bare, bytes as x'..', everything
// else a string.
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

// instantText adds its zone to the default time of a column where it is written without one: whoever reads the
// statement may do so in another.
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
	t := newTable("View", "Create View")
	t.add(name.Table, v.statement("CREATE OR REPLACE VIEW "))
	return t.result()
}

// statement is the statement that makes the view, which begins with the words of create.
func (v *view) statement(create string) string {
	text := create + parse.QuoteIdent(v.name.Table)
	if len(v.columns) > 0 {
		quoted := make([]string, len(v.columns))
		for i, c := range v.columns {
			quoted[i] = parse.QuoteIdent(c)
		}
		text += " (" + strings.Join(quoted, ", ") + ")"
	}
	return text + " AS " + v.definition
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
			list = append(list, optionText(o.Key, o.Value))
		}
		text += "\nWITH(\n" + strings.Join(list, ",\n") + "\n)"
	}
	t := newTable("Database", "Create Database")
	t.add(name, text)
	return t.result()
}

// optionText is a line of WITH. Names that are more than one word are quoted.
func optionText(key, value string) string {
	if strings.ContainsAny(key, ".-") {
		key = parse.QuoteText(key)
	}
	return "  " + key + " = " + parse.QuoteText(value)
}
