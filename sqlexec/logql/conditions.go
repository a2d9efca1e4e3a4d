package logql

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/logql/stage"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/parse"
)

// test is a matcher whose expression is compiled.
type test struct {
	syntax.Matcher
	pattern *regexp.Regexp
}

// matches reports whether a value passes.
func (t *test) matches(value string) bool {
	switch t.Op {
	case syntax.MatchEqual:
		return value == t.Value
	case syntax.MatchNotEqual:
		return value != t.Value
	case syntax.MatchRegexp:
		return t.pattern.MatchString(value)
	}
	return !t.pattern.MatchString(value)
}

// tests compiles matchers.
func tests(list []syntax.Matcher) ([]test, error) {
	out := make([]test, len(list))
	for i, m := range list {
		out[i].Matcher = m
		if m.Op == syntax.MatchRegexp || m.Op == syntax.MatchNotRegexp {
			var err error
			if out[i].pattern, err = regexp.Compile("^(?s:" + m.Value + ")$"); err != nil {
				return nil, status.Wrap(err, status.InvalidSyntax, "parse error : %s", err)
			}
		}
	}
	return out, nil
}

// where is a condition in the making: parts that all hold.
type where []string

func (w *where) add(parts ...string) { *w = append(*w, parts...) }

// String is the clause; empty: there is no condition.
func (w where) String() string {
	if len(w) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w, " AND ")
}

// matched adds the conditions of matchers; ok false: no row of the table can pass.
func (w *where) matched(s *source, list []test) (ok bool) {
	for i := range list {
		t := &list[i]
		c := s.label(t.Name)
		switch {
		case t.Name == TableLabel:
			if !t.matches(s.schema.Name.Table) {
				return false
			}
		case t.Name == ServiceLabel:
			condition, ok := s.serviceIs(t)
			if !ok {
				return false
			}
			if condition != "" {
				w.add(condition)
			}
		case c == nil:
			if !t.matches("") {
				return false
			}
		default:
			w.add(t.sql(c.sql))
		}
	}
	return true
}

// sql is the condition of a matcher over a column, whose NULL is the empty value.
func (t *test) sql(column string) string {
	text, empty := parse.QuoteText(t.Value), t.matches("")
	condition := ""
	switch t.Op {
	case syntax.MatchEqual:
		condition = column + " = " + text
	case syntax.MatchNotEqual:
		condition = column + " <> " + text
	case syntax.MatchRegexp:
		condition = column + " ~ " + parse.QuoteText("^(?s:"+t.Value+")$")
	case syntax.MatchNotRegexp:
		condition = column + " !~ " + parse.QuoteText("^(?s:"+t.Value+")$")
	}
	if empty {
		return "(" + column + " IS NULL OR " + condition + ")"
	}
	return condition
}

// within adds the condition of a range of times, ns: from included, to not.
func (w *where) within(s *source, from, to int64) {
	at := parse.QuoteIdent(s.time.Name)
	w.add(at+" >= "+instant(from), at+" < "+instant(to))
}

// instant is a time in SQL.
func instant(ns int64) string {
	return parse.QuoteText(time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z"))
}

// like is a text as a pattern of LIKE that it contains.
func like(text string) string {
	return parse.QuoteText("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%")
}

// filtered takes the line filters in front of all other stages that SQL can decide into the condition, and returns the
// stages that are left.
func (w *where) filtered(s *source, stages []syntax.Stage) []syntax.Stage {
	for len(stages) > 0 {
		f, ok := stages[0].(*syntax.LineFilter)
		if !ok {
			break
		}
		condition, ok := lineCondition(s.line, f)
		if !ok {
			break
		}
		if condition != "" {
			w.add(condition)
		}
		stages = stages[1:]
	}
	return stages
}

// narrowed adds what the label filters in front of all other stages say of columns: statistics of columns leave blocks
// out. The stages test the rows that are left again.
func (w *where) narrowed(s *source, stages []syntax.Stage) {
	for _, one := range stages {
		switch one := one.(type) {
		case *syntax.LineFilter:
		case *syntax.LabelFilter:
			if !w.holds(s, one.Cond) {
				return
			}
		default:
			return
		}
	}
}

// holds adds the conditions on columns that hold if a condition does; false: it may raise an error, with which a line
// passes the conditions behind it.
func (w *where) holds(s *source, cond syntax.Cond) bool {
	switch cond := cond.(type) {
	case *syntax.And:
		return w.holds(s, cond.Left) && w.holds(s, cond.Right)
	case *syntax.Matched:
		if c := s.columnOf(cond.Name); c != nil && cond.Op == syntax.MatchEqual && cond.Value != "" {
			w.add(c.sql + " = " + parse.QuoteText(cond.Value))
		}
		return cond.Name != syntax.LabelError && cond.Name != syntax.LabelErrorDetails
	case *syntax.Compared:
		c := s.columnOf(cond.Name)
		if c == nil || cond.Unit != syntax.UnitNumber || math.Trunc(cond.Value) != cond.Value ||
			math.Abs(cond.Value) >= 1<<53 { // integers beyond are rounded before they are compared
			return false
		}
		for i := range s.schema.Columns {
			stored := &s.schema.Columns[i]
			kind := stored.Type.Kind()
			if textOf(stored) == c.sql && stored.Type.IsInteger() && (kind == vector.Int64 || kind == vector.Uint64) {
				w.add(parse.QuoteIdent(stored.Name) + " " + sqlOperators[cond.Op] + " " +
					strconv.FormatInt(int64(cond.Value), 10))
				return true
			}
		}
	}
	return false
}

// sqlOperators are the operators of conditions in SQL.
var sqlOperators = map[syntax.CompareOp]string{syntax.Equal: "=", syntax.NotEqual: "<>", syntax.Greater: ">",
	syntax.GreaterEqual: ">=", syntax.Less: "<", syntax.LessEqual: "<="}

// columnOf is the column that alone holds a label or metadata of a name; nil: there is none. Metadata has the name of a
// label in rows without the label, and a name with takenSuffix in rows with it.
func (s *source) columnOf(name string) (only *column) {
	if isDerived(name) || len(s.objects) > 0 || strings.HasSuffix(name, takenSuffix) {
		return nil
	}
	for _, list := range [...][]column{s.labels, s.fields} {
		for i := range list {
			if list[i].name != name {
				continue
			}
			if only != nil {
				return nil
			}
			only = &list[i]
		}
	}
	return only
}

// hinted adds the conditions that the raw line of every row meets that can pass the stages.
func (w *where) hinted(s *source, p *stage.Pipeline) {
	for _, h := range p.Hints() {
		if isDerived(h.Label) {
			continue // its value need not be in the line
		}
		var parts []string
		for _, text := range h.Texts {
			parts = append(parts, s.line+" LIKE "+like(text))
		}
		if h.Escaped {
			parts = append(parts, s.line+" LIKE "+like(`\`))
		}
		if h.Label != "" {
			parts = append(parts, s.mayHave(h.Label)...)
		}
		if len(parts) == 1 {
			w.add(parts[0])
		} else if len(parts) > 1 {
			w.add("(" + strings.Join(parts, " OR ") + ")")
		}
	}
}

// mayHave are the conditions of which a row meets one that has a label or metadata of a name.
func (s *source) mayHave(name string) (parts []string) {
	plain := strings.TrimSuffix(name, "_extracted")
	for _, list := range [...][]column{s.labels, s.fields} {
		for i := range list {
			if list[i].name == name || list[i].name == plain {
				parts = append(parts, list[i].sql+" <> ''")
			}
		}
	}
	for _, object := range s.objects {
		parts = append(parts, "CAST("+object.sql+" AS STRING) <> '{}'")
	}
	return parts
}

// lineCondition is the condition of a line filter; ok false: SQL cannot decide it.
func lineCondition(line string, f *syntax.LineFilter) (condition string, ok bool) {
	var parts []string
	for _, v := range f.Values {
		if v.IP {
			return "", false
		}
		switch f.Op {
		case syntax.LineContains:
			if v.Text == "" {
				return "", true
			}
			parts = append(parts, line+" LIKE "+like(v.Text))
		case syntax.LineContainsNot:
			parts = append(parts, line+" NOT LIKE "+like(v.Text))
		case syntax.LineMatches:
			parts = append(parts, line+" ~ "+parse.QuoteText("(?s)"+v.Text))
		case syntax.LineMatchesNot:
			parts = append(parts, line+" !~ "+parse.QuoteText("(?s)"+v.Text))
		default:
			return "", false
		}
	}
	if len(parts) == 1 {
		return parts[0], true
	}
	if f.Op == syntax.LineContainsNot || f.Op == syntax.LineMatchesNot {
		return strings.Join(parts, " AND "), true
	}
	return "(" + strings.Join(parts, " OR ") + ")", true
}

// number is a number in SQL.
func number(n int) string { return strconv.Itoa(n) }
