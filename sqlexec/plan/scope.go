package plan

import (
	"strings"

	"varve/engine/nearest"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Column is a column of a relation or of a node's output.
type Column struct {
	DB, Table string // where it can be qualified; empty: by name alone
	Name      string
	Type      vector.Type
	Nullable  bool
	// Shadow columns are found by qualified name only and are not part of a star: the second column of USING.
	Shadow bool
	// Hidden columns are found by name and are not part of a star.
	Hidden bool
	// Time marks the time index of a table; subqueries pass it through: range queries need it.
	Time bool
	// Tag tells a primary key column of a table.
	Tag bool
}

// label is the column with its table, as error texts show it.
func (c *Column) label() string {
	if c.Table == "" {
		return quoteMixed(c.Name)
	}
	return quoteMixed(c.Table) + "." + quoteMixed(c.Name)
}

func quoteMixed(name string) string {
	if strings.ToLower(name) != name {
		return `"` + name + `"`
	}
	return name
}

// scope is what names can refer to: the columns of a node, by position.
type scope struct {
	cols  []Column
	outer *outer // the query around this subquery; nil: none
	// rows are what the columns of a query that aggregates were made of; nil: it does not.
	rows *scope
	// aggregate binds an aggregate of this query that a subquery has; nil: the query has none here.
	aggregate func(o *outer, c *parse.Call) (expr.Expr, error)
}

// outer is the row of an enclosing query that a correlated subquery is bound against.
type outer struct {
	scope *scope
	// values has one Const vector per column when the subquery is bound for a row; nil while it is only looked at.
	values []*vector.Vector
	used   map[int]bool // columns that were referred to
	// behind is the number of columns of the joined subquery; the columns of the enclosing query follow them.
	behind int
	hits   int // references
	blanks int // references without a row, for which NULL stands
}

// planError is a PlanQuery error with the contract's beginning.
func planError(format string, args ...any) error {
	return status.New(status.PlanQuery, "Failed to plan SQL: "+format, args...)
}

// find returns the positions of the columns that a name can mean.
func (s *scope) find(n parse.Name) []int {
	var hits []int
	name := n[len(n)-1].Name
	for i := range s.cols {
		c := &s.cols[i]
		if c.Name == name && c.qualifies(n[:len(n)-1]) && (!c.Shadow || len(n) > 1) {
			hits = append(hits, i)
		}
	}
	return hits
}

// qualifies reports whether the column can be written with the qualifier: table, db.table or service.db.table.
func (c *Column) qualifies(q parse.Name) bool {
	switch len(q) {
	case 0:
		return true
	case 1:
		return c.Table == q[0].Name
	case 2:
		return c.Table == q[1].Name && c.DB == q[0].Name
	case 3:
		return c.Table == q[2].Name && c.DB == q[1].Name && q[0].Name == "service"
	}
	return false
}

// resolve finds the one column that a name means.
func (s *scope) resolve(n parse.Name) (int, error) {
	hits := s.find(n)
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return -1, s.noField(n)
	}
	return -1, status.Because(planError("Ambiguous reference to unqualified field %s", n), status.AmbiguousColumn)
}

// maxNamed bounds the columns that an error lists.
const maxNamed = 64

// noField returns the error for an unknown name, with the valid names and the nearest of them.
func (s *scope) noField(n parse.Name) error {
	name := n.String()
	if len(n) == 1 {
		name = quoteMixed(n[0].Name)
	}
	text := "No field named " + name + "."
	var valid []string
	near := nearest.Finder{To: n[len(n)-1].Name}
	dotted := ""
	for i := range s.cols {
		if s.cols[i].Shadow || s.cols[i].Hidden {
			continue
		}
		if len(valid) < maxNamed {
			valid = append(valid, s.cols[i].label())
		}
		near.Look(s.cols[i].Name, s.cols[i].label())
		if len(n) > 1 && s.cols[i].Name == plainName(n) {
			dotted = `"` + s.cols[i].Name + `"`
		}
	}
	if len(valid) > 0 {
		text += " Valid fields are " + strings.Join(valid, ", ")
		if len(s.cols) > maxNamed {
			text += ", ..."
		}
		text += "."
	}
	plain := len(text) // without a hint
	switch {
	case dotted != "": // a column of flattened JSON
		text += " Did you mean '" + dotted + "'?"
	case near.Found != "":
		text += " Did you mean '" + near.Found + "'?"
	}
	if len(n) == 1 && n[0].Quote == '"' {
		text += " Text stands in single quotes, names in double ones: is " + parse.QuoteText(n[0].Name) + " meant?"
	}
	return status.Hinted(status.Because(planError("%s", text), status.NoColumn), text[plain:])
}

// plainName is a dotted name without quotes.
func plainName(n parse.Name) string {
	parts := make([]string, len(n))
	for i := range n {
		parts[i] = n[i].Name
	}
	return strings.Join(parts, ".")
}
