package search

import "strings"

// clause is SQL with the operator that stands outside of all parentheses: '&', '|' or 0 for none.
type clause struct {
	text string
	op   byte
}

// cond is a condition and what it is when negated: true for rows that have no value, too.
type cond struct{ yes, no clause }

// test is the condition of one term. absent is the result for rows without a value.
func test(sql, absent string) cond {
	return cond{yes: clause{text: sql}, no: clause{text: "(" + absent + " OR NOT " + sql + ")"}}
}

func allOf(parts []cond) cond { return joined(parts, '&', '|') }
func anyOf(parts []cond) cond { return joined(parts, '|', '&') }

// joined puts an operator between conditions, and the opposite operator between their negations.
func joined(parts []cond, yes, no byte) cond {
	if len(parts) == 1 {
		return parts[0]
	}
	var a, b strings.Builder
	for i, c := range parts {
		appendPart(&a, i, c.yes, yes)
		appendPart(&b, i, c.no, no)
	}
	return cond{yes: clause{a.String(), yes}, no: clause{b.String(), no}}
}

func appendPart(b *strings.Builder, i int, c clause, op byte) {
	switch {
	case i == 0:
	case op == '&':
		b.WriteString(" AND ")
	default:
		b.WriteString(" OR ")
	}
	if c.op != 0 && c.op != op {
		b.WriteString("(" + c.text + ")")
		return
	}
	b.WriteString(c.text)
}

// name quotes a column.
func name(column string) string { return `"` + strings.ReplaceAll(column, `"`, `""`) + `"` }

// text quotes a text.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// like takes the meaning away from the characters of a LIKE pattern.
func like(s string) string { return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) }
