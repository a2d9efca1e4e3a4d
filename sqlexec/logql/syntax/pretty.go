package syntax

import (
	"strconv"
	"strings"
)

// prettyWidth is the length up to which a part of a query stays in one line.
const prettyWidth = 100

// Pretty prints a query in several lines where one would be long. Parse reads it again as the same query.
func Pretty(q Query) string {
	p := prettyPrinter{lengths: map[Query]int{}}
	p.write(q, 0)
	return p.String()
}

// prettyPrinter collects lines. It knows the lengths of prints, so that no part is printed once for each level above.
type prettyPrinter struct {
	strings.Builder
	lengths map[Query]int
}

// length is the length of a query in one line.
func (p *prettyPrinter) length(q Query) int {
	if n, ok := p.lengths[q]; ok {
		return n
	}
	n := 0
	switch q := q.(type) {
	case *VectorAggregation:
		n = len(q.head()) + p.length(q.Expr) + len(")")
	case *LabelReplace:
		n = len("label_replace()") + p.length(q.Expr) + len(q.arguments())
	case *Binary:
		n = len("(  )") + p.length(q.Left) + len(q.operator()) + p.length(q.Right)
	default:
		n = len(q.String())
	}
	p.lengths[q] = n
	return n
}

// indent returns the blanks of a level.
func indent(level int) string { return strings.Repeat("  ", level) }

// write prints a query that begins at a level.
func (p *prettyPrinter) write(q Query, level int) {
	if p.length(q) <= prettyWidth {
		p.WriteString(indent(level) + q.String())
		return
	}
	switch q := q.(type) {
	case *LogQuery:
		p.stages(q, nil, "", level)
	case *RangeAggregation:
		p.WriteString(indent(level) + string(q.Op) + "(\n")
		if q.Op == OpQuantileOverTime {
			p.WriteString(indent(level+1) + numberString(q.Param) + ",\n")
		}
		p.stages(q.Range.Query, q.Range.Unwrap, " "+q.Range.prettyWindow(), level+1)
		p.WriteString("\n" + indent(level) + ")" + q.Grouping.String())
	case *VectorAggregation:
		p.WriteString(indent(level) + string(q.Op) + q.Grouping.String() + "(\n")
		if q.Param != 0 {
			p.WriteString(indent(level+1) + numberString(float64(q.Param)) + ",\n")
		}
		p.write(q.Expr, level+1)
		p.WriteString("\n" + indent(level) + ")")
	case *LabelReplace:
		p.WriteString(indent(level) + "label_replace(\n")
		p.write(q.Expr, level+1)
		for _, text := range []string{q.Dst, q.Replacement, q.Source, q.Regex} {
			p.WriteString(",\n" + indent(level+1) + strconv.Quote(text))
		}
		p.WriteString("\n" + indent(level) + ")")
	case *Binary:
		priority := priorities[kind(q.Op)]
		left, right := priority, priority+1 // operands that bind less tightly are in parentheses
		if q.Op == OpPow {
			left, right = right, left
		}
		p.operand(q.Left, level+1, left)
		p.WriteString("\n" + indent(level) + q.prettyOperator() + "\n")
		p.operand(q.Right, level+1, right)
	default:
		p.WriteString(indent(level) + q.String())
	}
}

// operand prints an operand, in parentheses if its operator binds less tightly than a priority. A short operand
// has parentheses already.
func (p *prettyPrinter) operand(e Expr, level, priority int) {
	inner, ok := e.(*Binary)
	if !ok || priorities[kind(inner.Op)] >= priority || p.length(e) <= prettyWidth {
		p.write(e, level)
		return
	}
	p.WriteString(indent(level) + "(\n")
	p.write(e, level+1)
	p.WriteString("\n" + indent(level) + ")")
}

// prettyOperator is operator with a blank behind each comma.
func (e *Binary) prettyOperator() string { return strings.ReplaceAll(e.operator(), ",", ", ") }

// prettyWindow returns range and offset, both in whole units of the metrics language.
func (r *LogRange) prettyWindow() string {
	text := "[" + durationString(r.Interval) + "]"
	switch {
	case r.Offset > 0:
		text += " offset " + durationString(r.Offset)
	case r.Offset < 0:
		text += " offset -" + durationString(-r.Offset)
	}
	return text
}

// stages prints a selector and, one a line, its stages; window follows the last one.
func (p *prettyPrinter) stages(q *LogQuery, unwrap *Unwrap, window string, level int) {
	p.WriteString(indent(level) + selectorString(q.Matchers))
	for _, s := range stageStrings(q.Stages) {
		p.WriteString("\n" + indent(level+1) + s)
	}
	if unwrap != nil {
		p.WriteString("\n" + indent(level+1) + unwrap.name())
		for _, f := range unwrap.Filters {
			p.WriteString("\n" + indent(level+1) + f.String())
		}
	}
	p.WriteString(window)
}
