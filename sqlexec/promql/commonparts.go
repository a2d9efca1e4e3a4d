package promql

import (
	"encoding/binary"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/vector"
)

// sharedKey is a subtree, by the number that equal ones have, at the steps of a grid.
type sharedKey struct {
	number int32
	grid   grid
}

// shareSubtrees finds the subtrees that occur more than once.
func (e *evaluator) shareSubtrees(x parser.Expr) {
	if !branches(x) {
		return // no part is as long as another
	}
	c := commonParts{e: e, byKey: map[string]int32{}, numbers: map[parser.Expr]int32{}}
	c.number(x)
	for n, number := range c.numbers {
		if c.counts[number] > 1 {
			if e.shared == nil {
				e.shared, e.known = map[parser.Expr]int32{}, map[sharedKey]nodeMatrix{}
			}
			e.shared[n] = number
		}
	}
}

// branches reports whether a node has two parts that are not literals.
func branches(x parser.Node) bool {
	parts := 0
	for child := range parser.ChildrenIter(x) {
		switch child.(type) {
		case *parser.NumberLiteral, *parser.StringLiteral:
			continue
		}
		if parts++; parts > 1 || branches(child) {
			return true
		}
	}
	return false
}

// commonParts numbers the subtrees of a query from the leaves up: equal ones have one number. A subtree is known by
// what its root says itself and by the numbers of its parts, so that a query takes time by its length.
type commonParts struct {
	e       *evaluator
	byKey   map[string]int32
	numbers map[parser.Expr]int32 // of subtrees that can be evaluated once for all
	counts  []int                 // of these, by number
}

// number numbers a subtree and those in it.
func (c *commonParts) number(x parser.Expr) int32 {
	switch n := x.(type) {
	case *parser.VectorSelector:
		return c.count(n, c.numberOf('s', c.selector(n)))
	case *parser.MatrixSelector: // its selector is read by the range function
		return c.numberOf('m', n.String()+c.selector(n.VectorSelector.(*parser.VectorSelector)))
	case *parser.Call:
		parts := make([]int32, len(n.Args))
		for i, arg := range n.Args {
			parts[i] = c.number(arg)
		}
		return c.count(n, c.numberOf('c', n.ShortString(), parts...))
	case *parser.AggregateExpr:
		parts := []int32{c.number(n.Expr)}
		if n.Param != nil {
			parts = append(parts, c.number(n.Param))
		}
		return c.count(n, c.numberOf('a', n.ShortString(), parts...))
	case *parser.BinaryExpr:
		return c.count(n, c.numberOf('b', n.ShortString(), c.number(n.LHS), c.number(n.RHS)))
	case *parser.SubqueryExpr:
		return c.numberOf('q', n.ShortString(), c.number(n.Expr))
	case *parser.UnaryExpr:
		return c.numberOf('u', n.ShortString(), c.number(n.Expr))
	case *parser.ParenExpr:
		return c.numberOf('p', "", c.number(n.Expr))
	}
	return c.numberOf('l', x.String())
}

// selector is what a selector says, and which of its samples' values are read: histograms with buckets or without,
// floats with their values or without.
func (c *commonParts) selector(n *parser.VectorSelector) string {
	return n.String() + string('0'+rune(vector.Bit(c.e.counts[n])+2*vector.Bit(c.e.presence[n])))
}

// numberOf is the number of a subtree of a kind, by what its root says and the numbers of its parts.
func (c *commonParts) numberOf(kind byte, own string, parts ...int32) int32 {
	key := append(make([]byte, 0, 1+len(own)+4*len(parts)), kind)
	key = append(key, own...)
	for _, part := range parts {
		key = binary.LittleEndian.AppendUint32(key, uint32(part))
	}
	number, ok := c.byKey[string(key)]
	if !ok {
		number = int32(len(c.byKey))
		c.byKey[string(key)], c.counts = number, append(c.counts, 0)
	}
	return number
}

// count counts a subtree that can be evaluated once for all that are equal to it.
func (c *commonParts) count(x parser.Expr, number int32) int32 {
	c.numbers[x] = number
	c.counts[number]++
	return number
}
