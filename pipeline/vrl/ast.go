package vrl

import "varve/pipeline/value"

// span is a part of the source in bytes.
type span struct{ start, end int }

func (s span) at() span { return s }

// node is an expression as written in the source.
type node interface{ at() span }

// literalNode is a value written out.
type literalNode struct {
	span
	value value.Value
}

// patternNode is a regular expression or timestamp, compiled later.
type patternNode struct {
	span
	kind tokenKind
	text string
}

// templateNode is a string with variables in it.
type templateNode struct {
	span
	parts []stringPart
}

type arrayNode struct {
	span
	items []node
}

type objectNode struct {
	span
	keys   []string
	values []node
}

// blockNode is { ... }: a scope.
type blockNode struct {
	span
	body []node
}

// groupNode is ( ... ).
type groupNode struct {
	span
	inner node
}

// ifNode has a predicate of one or several expressions; the last one decides. orElse is nil, or the block after `else`;
// `else if` is a block of one expression without a scope of its own.
type ifNode struct {
	span
	predicate     []node
	predicateSpan span
	then          *blockNode
	orElse        *blockNode
}

type abortNode struct {
	span
	message node // nil: the default
}

type returnNode struct {
	span
	result node
}

// targetNode is what an assignment writes to.
type targetNode struct {
	span
	noop     bool   // _
	variable string // empty: below the event or the metadata
	meta     bool
	path     value.Path
	starts   []int // as in pathNode
}

// assignNode is x = e, or x, err = e.
type assignNode struct {
	span
	ok, err *targetNode // err is nil for the single form
	merge   bool        // |=
	expr    node
}

type opNode struct {
	span
	op          string
	opSpan      span
	left, right node
}

type notNode struct {
	span
	operand node
}

type variableNode struct {
	span
	name string
}

// pathNode reads below the event, the metadata (meta) or the value of an expression.
type pathNode struct {
	span
	base   node // nil: the event or the metadata
	meta   bool
	path   value.Path
	starts []int // where each step of the path begins in the source
}

type argumentNode struct {
	span
	name     string // empty: by position
	nameSpan span
	expr     node
}

type closureNode struct {
	span
	params     []string
	paramsSpan span
	body       *blockNode
}

type callNode struct {
	span
	name     string
	nameSpan span
	aborts   bool // f!(...)
	args     []argumentNode
	closure  *closureNode
}
