package search

import (
	"regexp"
	"strings"

	"varve/engine/nearest"
)

// field reads a term that is no group: a field with its value, or text to look for in the message.
func (p *parser) field() (cond, error) {
	start := p.at
	found, ok := p.fieldName()
	if !ok {
		return p.message()
	}
	subject, known := p.table.subject(found.text)
	if p.ends(p.at, alone) {
		if !known {
			p.at = start
			return p.message()
		}
		return cond{}, p.fail(p.at, 0, "a value is missing behind %s:", found.text)
	}
	if !known {
		return cond{}, &Error{Text: `the table has no column "` + found.text + `"`, At: start,
			Length: found.end - start, Near: p.table.near(found.text)}
	}
	return p.value(subject)
}

// message reads text to look for in the message.
func (p *parser) message() (cond, error) {
	t, err := p.piece(alone)
	if err != nil {
		return cond{}, err
	}
	if t.kind == 'p' && t.text == "" {
		return cond{yes: clause{text: "true"}, no: clause{text: "false"}}, nil
	}
	if p.table.Message == "" {
		return cond{}, p.fail(t.at, t.end-t.at, "the table has no text column to look in: name a field")
	}
	if t.text == "" {
		return cond{}, p.fail(t.at, t.end-t.at, "there is nothing to look for")
	}
	if !p.negated && t.kind != 'r' && t.kind != 'i' {
		p.words = append(p.words, t.text)
	}
	m := name(p.table.Message)
	sql, find := "", t.text
	folded, match := m, "~"
	if p.table.AnyCase {
		folded, find, match = "lower("+m+")", strings.ToLower(find), "~*"
	}
	switch t.kind {
	case 'r':
		sql = m + " ~ " + text(t.text)
	case 'i':
		sql = m + " ~* " + text(t.text)
	case '~':
		sql = m + " ILIKE " + text("%"+like(t.text)+"%")
	case 'p':
		sql = m + " " + match + " " + text(beginning(t.text))
	default:
		sql = "matches_term(" + folded + ", " + text(find) + ")"
	}
	return test(sql, m+" IS NULL"), nil
}

// kind is the kind of comparisons that a column allows.
type kind uint8

const (
	other   kind = iota // whether there is a value
	textual             // texts
	number              // numbers
	truth               // true and false
	instant             // times and days
	member              // a member of a JSON column; each row may have another type
)

// subject is what a condition is about.
type subject struct {
	kind   kind
	column Column
	sql    string
	path   string // of a member
}

// subject finds what a field's name means: a column, else a member of a JSON column.
func (t *Table) subject(field string) (subject, bool) {
	var holder Column
	for _, c := range t.Columns {
		if c.Name == field {
			return subject{kind: kindOf(c.Type), column: c, sql: name(c.Name)}, true
		}
		if strings.EqualFold(c.Type, "json") && len(c.Name) > len(holder.Name) && len(field) > len(c.Name)+1 &&
			strings.HasPrefix(field, c.Name+".") {
			holder = c
		}
	}
	if holder.Name == "" {
		return subject{}, false
	}
	s := subject{kind: member, column: holder, path: field[len(holder.Name)+1:]}
	s.sql = s.as("string")
	return s, true
}

// as is the member as a value of a type.
func (s *subject) as(kind string) string {
	return "json_get_" + kind + "(" + name(s.column.Name) + "," + text(s.path) + ")"
}

// kindOf tells by the name of a type.
func kindOf(dataType string) kind {
	t := strings.ToLower(dataType)
	switch {
	case t == "string":
		return textual
	case t == "boolean":
		return truth
	case strings.HasPrefix(t, "int") && !strings.HasPrefix(t, "interval"), strings.HasPrefix(t, "uint"),
		strings.HasPrefix(t, "float"), strings.HasPrefix(t, "decimal"),
		strings.HasPrefix(t, "bigint"), strings.HasPrefix(t, "smallint"), strings.HasPrefix(t, "tinyint"),
		strings.HasPrefix(t, "double"), strings.HasPrefix(t, "real"):
		return number
	case strings.HasPrefix(t, "timestamp"), strings.HasPrefix(t, "date"):
		return instant
	}
	return other
}

// near returns the columns whose names are similar to a mistyped one, and the columns that end with it after a dot.
func (t *Table) near(mistyped string) []string {
	var names, ends []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
		if strings.HasSuffix(strings.ToLower(c.Name), "."+strings.ToLower(mistyped)) && len(ends) < 3 {
			ends = append(ends, c.Name)
		}
	}
	if found := nearest.Of(mistyped, names); found != "" {
		return append([]string{found}, ends...)
	}
	return ends
}

var (
	isNumber = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	isTime   = regexp.MustCompile(
		`^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$`)
)
