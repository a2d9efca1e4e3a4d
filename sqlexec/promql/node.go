package promql

import (
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
)

// node is a part of a compiled query. Its value is evaluated by evaluator.eval. Nodes never change once a query is
// compiled, and parentheses have none.
type node interface {
	base() *facts
	// operands are the parts that it holds; nil: they are absent.
	operands() []node
	// appendSelf appends what it is without its operands. Nodes with equal texts and equal operands have equal values.
	appendSelf(dst []byte) []byte
	// eval makes the rows of the value.
	eval(e *evaluator, g grid) (nodeMatrix, error)
}

// facts is what is known of every node.
type facts struct {
	pos   posrange.PositionRange // in the text of the query
	kind  parser.ValueType       // of the value
	same  bool                   // the value is the same at all steps
	class int32                  // equal nodes have equal classes
	// shared: the value is needed more than once, and is evaluated once for all that are equal.
	shared bool
}

func (f *facts) base() *facts { return f }

// numberNode is a number.
type numberNode struct {
	facts
	value float64
}

// textNode is a string, the argument of a function.
type textNode struct {
	facts
	value string
}

// when is the time that a selector or a subquery looks at.
type when struct {
	offset int64  // ms
	at     *int64 // ms; nil: the time of each step
}

// selectorNode is a selector of series at instants.
type selectorNode struct {
	facts
	when
	matchers           []*Matcher
	anchored, smoothed bool
	counts             bool     // of histograms only counts and sums are read, see wants
	presence           bool     // of floats only times are read, see Selection.Presence
	labels             []string // the only ones that are wanted, see Selection.Labels
}

// rangeNode is a selector of windows, the argument of a range function.
type rangeNode struct {
	facts
	selector *selectorNode
	rangeMS  int64
}

// subqueryNode is windows over the values of a node.
type subqueryNode struct {
	facts
	when
	of      node
	rangeMS int64
	stepMS  int64 // 0: the default
}

// callNode is a call of a function.
type callNode struct {
	facts
	*function
	name    string
	args    []node
	window  int                    // the number of the argument that is windows; -1: there is none
	argsPos posrange.PositionRange // of all arguments
}

// aggregateNode is an aggregation.
type aggregateNode struct {
	facts
	op      parser.ItemType
	of      node
	param   node     // nil: there is none
	names   []string // sorted; with without the name of the metric is among them
	without bool
	folds   bool // rows are added to their groups as series are read
}

// binaryNode is an operator with two operands.
type binaryNode struct {
	facts
	op          parser.ItemType
	left, right node
	matching    *parser.VectorMatching // of two vectors
	returnBool  bool
	kernel      func(dst, a, b []float64) // nil for operators that compute nothing of two floats
}

// unaryNode is an operator with one operand.
type unaryNode struct {
	facts
	of      node
	negates bool // otherwise the operator is +
}

func (*numberNode) operands() []node     { return nil }
func (*textNode) operands() []node       { return nil }
func (*selectorNode) operands() []node   { return nil }
func (n *rangeNode) operands() []node    { return []node{n.selector} }
func (n *subqueryNode) operands() []node { return []node{n.of} }
func (n *callNode) operands() []node     { return n.args }
func (n *binaryNode) operands() []node   { return []node{n.left, n.right} }
func (n *unaryNode) operands() []node    { return []node{n.of} }
func (n *aggregateNode) operands() []node {
	if n.param == nil {
		return []node{n.of}
	}
	return []node{n.of, n.param}
}

func (n *numberNode) eval(e *evaluator, g grid) (nodeMatrix, error) {
	return e.scalar(g, func(int) float64 { return n.value })
}

func (n *selectorNode) eval(e *evaluator, g grid) (nodeMatrix, error)  { return e.selector(n, g) }
func (n *callNode) eval(e *evaluator, g grid) (nodeMatrix, error)      { return e.call(n, g) }
func (n *aggregateNode) eval(e *evaluator, g grid) (nodeMatrix, error) { return e.aggregate(n, g) }
func (n *binaryNode) eval(e *evaluator, g grid) (nodeMatrix, error)    { return e.binary(n, g) }
func (n *unaryNode) eval(e *evaluator, g grid) (nodeMatrix, error)     { return e.unary(n, g) }

// The parser lets these stand only where a function or the query itself takes them.

func (n *textNode) eval(*evaluator, grid) (nodeMatrix, error)     { return nil, notRows(n) }
func (n *rangeNode) eval(*evaluator, grid) (nodeMatrix, error)    { return nil, notRows(n) }
func (n *subqueryNode) eval(*evaluator, grid) (nodeMatrix, error) { return nil, notRows(n) }

func notRows(n node) error { return execution("%s cannot be evaluated here", n.appendSelf(nil)) }
