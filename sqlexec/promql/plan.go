package promql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// mostIndented is the level from which on lines are no further in: the text of a query that is deeper than anyone reads
// would grow by the square of its length.
const mostIndented = 100

// Lines are the plan as text: a line for each node, its operands below it, each level two spaces further in. Behind a
// colon stands how the node is evaluated.
func (p *Plan) Lines() []string { return appendLines(nil, p.root, 0) }

func appendLines(dst []string, x node, depth int) []string {
	line := append([]byte(strings.Repeat("  ", min(depth, mostIndented))), []byte(x.appendSelf(nil))...)
	sep := ": "
	for _, way := range ways(x) {
		line = append(append(line, sep...), way...)
		sep = ", "
	}
	dst = append(dst, string(line))
	for _, part := range x.operands() {
		dst = appendLines(dst, part, depth+1)
	}
	return dst
}

// ways is how a node is evaluated.
func ways(x node) (out []string) {
	own := x.base()
	if own.shared {
		out = append(out, "once for all of class "+strconv.Itoa(int(own.class)))
	}
	switch n := x.(type) {
	case *numberNode, *textNode:
		return nil
	case *selectorNode:
		switch {
		case n.labels == nil:
		case len(n.labels) == 0:
			out = append(out, "reads no labels")
		default:
			out = append(out, "reads the labels "+string(appendNames(nil, n.labels)))
		}
	case *aggregateNode:
		if n.folds {
			out = append(out, "adds series as they are read")
		}
	}
	if own.same {
		out = append(out, "once for all steps")
	}
	return out
}

func (n *numberNode) appendSelf(dst []byte) []byte {
	return strconv.AppendFloat(append(dst, "number "...), n.value, 'g', -1, 64)
}

func (n *textNode) appendSelf(dst []byte) []byte {
	return strconv.AppendQuote(append(dst, "text "...), n.value)
}

func (n *selectorNode) appendSelf(dst []byte) []byte {
	dst = append(dst, "series {"...)
	for i, m := range n.matchers {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendQuote(append(appendName(dst, m.Name), m.Type.String()...), m.Value)
	}
	dst = n.when.append(append(dst, '}'))
	for _, mark := range []struct {
		is   bool
		text string
	}{
		{n.anchored, " anchored"}, {n.smoothed, " smoothed"},
		{n.counts, " without buckets"}, {n.presence, " without values"},
	} {
		if mark.is {
			dst = append(dst, mark.text...)
		}
	}
	return dst
}

// append appends a time as the language writes it, if there is something to say.
func (w *when) append(dst []byte) []byte {
	if w.at != nil {
		dst = append(dst, " @ "...)
		dst = strconv.AppendFloat(dst, float64(*w.at)/1000, 'f', 3, 64)
	}
	if w.offset != 0 {
		dst = appendMS(append(dst, " offset "...), w.offset)
	}
	return dst
}

// appendMS appends a duration as the language writes it.
func appendMS(dst []byte, ms int64) []byte {
	if ms < 0 {
		dst, ms = append(dst, '-'), -ms
	}
	for _, u := range units {
		size := max(u.size.Milliseconds(), 1)
		if count := uint64(ms) / uint64(size); count > 0 {
			dst = append(strconv.AppendUint(dst, count, 10), u.name...)
			ms -= int64(count) * size
		}
	}
	return dst
}

func (n *rangeNode) appendSelf(dst []byte) []byte {
	return appendMS(append(dst, "windows of "...), n.rangeMS)
}

func (n *subqueryNode) appendSelf(dst []byte) []byte {
	dst = append(appendMS(append(dst, "windows of "...), n.rangeMS), " over steps"...)
	if n.stepMS != 0 {
		dst = appendMS(append(dst, " of "...), n.stepMS)
	}
	return n.when.append(dst)
}

func (n *callNode) appendSelf(dst []byte) []byte {
	return append(append(dst, "function "...), n.name...)
}

func (n *unaryNode) appendSelf(dst []byte) []byte {
	if n.negates {
		return append(dst, "negation"...)
	}
	return append(dst, "itself"...)
}

func (n *aggregateNode) appendSelf(dst []byte) []byte {
	dst = append(append(dst, "aggregate "...), n.op.String()...)
	switch {
	case n.without:
		left := slices.DeleteFunc(slices.Clone(n.names), func(name string) bool { return name == NameLabel })
		dst = appendNames(append(dst, " without "...), left)
	case len(n.names) > 0:
		dst = appendNames(append(dst, " by "...), n.names)
	}
	return dst
}

func (n *binaryNode) appendSelf(dst []byte) []byte {
	dst = append(append(dst, "operator "...), parser.ItemTypeStr[n.op]...)
	if n.returnBool {
		dst = append(dst, " bool"...)
	}
	m := n.matching
	if m == nil {
		return dst
	}
	if m.On || len(m.MatchingLabels) > 0 {
		kind := " ignoring "
		if m.On {
			kind = " on "
		}
		dst = appendNames(append(dst, kind...), m.MatchingLabels)
	}
	switch m.Card {
	case parser.CardManyToOne:
		dst = appendNames(append(dst, " group_left "...), m.Include)
	case parser.CardOneToMany:
		dst = appendNames(append(dst, " group_right "...), m.Include)
	}
	for _, fill := range []struct {
		side  string
		value *float64
	}{{" fill_left ", m.FillValues.LHS}, {" fill_right ", m.FillValues.RHS}} {
		if fill.value != nil {
			dst = strconv.AppendFloat(append(dst, fill.side...), *fill.value, 'g', -1, 64)
		}
	}
	return dst
}

// appendNames appends names of labels in parentheses.
func appendNames(dst []byte, names []string) []byte {
	dst = append(dst, '(')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendName(dst, name)
	}
	return append(dst, ')')
}
