package pgwire

import (
	"fmt"
	"strings"

	"varve/sqlexec/parse"
)

// templates are the patterns of templates of times that literals may have, each with its digits; the longest comes
// first where one begins like another.
var templates = []struct {
	pattern string
	digits  int
	field   int // of readTemplate
}{{"YYYY", 4, 0}, {"MM", 2, 1}, {"DD", 2, 2}, {"HH24", 2, 3}, {"MI", 2, 4}, {"SS", 2, 5}, {"US", 6, 6}, {"MS", 3, 6}}

// timeCall is to_timestamp and to_date of constants, as clients write them: with a template, or a text alone, which is
// read in the zone of the session. c: it is not one of these.
func (k *conn) timeCall(c *parse.Call) (parse.Expr, error) {
	if c.Name != "to_timestamp" && c.Name != "to_date" || len(c.Args) == 0 || len(c.Args) > 2 {
		return c, nil
	}
	text, ok := literalOf(c.Args[0], parse.StringLiteral)
	if !ok || c.Name == "to_date" && len(c.Args) == 1 {
		return c, nil
	}
	if len(c.Args) == 2 {
		template, ok := literalOf(c.Args[1], parse.StringLiteral)
		if !ok || strings.Contains(template, "%") { // which is a format of ours
			return c, nil
		}
		var err error
		if text, err = readTemplate(text, template); err != nil {
			return nil, err
		}
	}
	kind := sqlType(c.Node, "TIMESTAMP")
	if c.Name == "to_date" {
		kind, text = sqlType(c.Node, "DATE"), text[:len("2006-01-02")]
	}
	return k.cast(&parse.Cast{Node: c.Node, X: textOf(c.Node, text), Type: kind})
}

// readTemplate is a time that is written by a template such as YYYY-MM-DD HH24:MI:SS.US in the form of literals. Signs
// between patterns have to be signs in the text, spaces spaces.
func readTemplate(text, template string) (string, error) {
	wrong := func(why string) (string, error) {
		return "", fail("22007", fmt.Sprintf("cannot read %q by the template %q: %s", text, template, why))
	}
	fields := [7]string{"0001", "01", "01", "00", "00", "00", "0"}
	rest, left := text, template
next:
	for left != "" {
		upper := strings.ToUpper(left)
		for _, t := range templates {
			if !strings.HasPrefix(upper, t.pattern) {
				continue
			}
			n := 0
			for n < len(rest) && n < t.digits && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			if n == 0 {
				return wrong("there are no digits for " + t.pattern)
			}
			digits := rest[:n]
			if t.field < 6 {
				digits = strings.Repeat("0", t.digits-n) + digits
			}
			fields[t.field], rest, left = digits, rest[n:], left[len(t.pattern):]
			continue next
		}
		sign := left[0]
		if sign >= '0' && sign <= '9' || sign >= 'A' && sign <= 'Z' || sign >= 'a' && sign <= 'z' && sign != 'T' ||
			sign == '"' {
			if sign != '"' {
				return wrong("it has a pattern that is not supported")
			}
			quoted, after, closed := strings.Cut(left[1:], `"`)
			if !closed || !strings.HasPrefix(rest, quoted) {
				return wrong("the text does not have " + quoted)
			}
			rest, left = rest[len(quoted):], after
			continue
		}
		left = left[1:]
		switch {
		case rest == "": // what is missing at the end is zero
		case rest[0] >= '0' && rest[0] <= '9':
			return wrong("a sign is missing")
		default:
			rest = rest[1:]
		}
	}
	if strings.TrimSpace(rest) != "" {
		return wrong("there is more text")
	}
	return fmt.Sprintf("%s-%s-%s %s:%s:%s.%s", fields[0], fields[1], fields[2], fields[3], fields[4], fields[5],
		fields[6]), nil
}
