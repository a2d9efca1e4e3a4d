package vrl

import (
	"fmt"
	"math"

	"varve/pipeline/value"
)

// maxNesting is how deep expressions may nest.
const maxNesting = 200

// parser makes a tree of tokens. A syntax error unwinds to the statement of the program it is in (see program), so the
// methods do not hand errors on: they panic with syntaxError, which program catches.
//
// Whatever a method looks for at a token it notes, found or not. So the tokens that may stand where none of them stands
// are those that were looked for there, and the lists of error texts follow the grammar.
type parser struct {
	tokens   []lexeme
	at       int
	depth    int
	wanted   tokenSet // what was looked for at wantedAt
	wantedAt int
}

type syntaxError struct{ Diagnostic }

// rootItem is a statement of the program, or the error in its place.
type rootItem struct {
	expr  node
	fault *Diagnostic
}

// parse returns the statements of a source; a lexical error is the only item.
func parse(source string) []rootItem {
	tokens, fault := lex(source)
	if fault != nil {
		return []rootItem{{fault: fault}}
	}
	p := parser{tokens: tokens}
	return p.program()
}

func (p *parser) program() (items []rootItem) {
	for p.skipNewlines(); p.peek().kind != endToken; p.skipEnd() {
		expr, fault := p.statement()
		if fault != nil {
			// Go on at the next line.
			for p.peek().kind != newlineToken && p.peek().kind != endToken {
				p.at++
			}
		}
		items = append(items, rootItem{expr, fault})
	}
	return items
}

// skipEnd skips the end of an expression.
func (p *parser) skipEnd() {
	p.accept(semicolonToken)
	p.skipNewlines()
}

// statement takes one expression of the program, including its end.
func (p *parser) statement() (expr node, fault *Diagnostic) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			expr, fault = nil, &e.Diagnostic
		}
	}()
	p.depth = 0
	expr = p.expr()
	if !p.atEnd() {
		p.unexpected()
	}
	return expr, nil
}

// atEnd reports whether an expression may end here.
func (p *parser) atEnd() bool { return p.isOneOf(endSet) || p.peek().kind == endToken }

func (p *parser) peek() *lexeme { return &p.tokens[p.at] }

func (p *parser) take() *lexeme {
	t := &p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

// note adds to the set of tokens that are allowed next.
func (p *parser) note(set tokenSet) {
	if p.wantedAt != p.at {
		p.wanted, p.wantedAt = 0, p.at
	}
	p.wanted |= set
}

func (p *parser) is(kind tokenKind) bool { return p.isOneOf(1 << kind) }

func (p *parser) isOneOf(set tokenSet) bool {
	p.note(set)
	return set.has(p.peek().kind)
}

// accept takes the next token if it is of a kind.
func (p *parser) accept(kind tokenKind) bool {
	if !p.is(kind) {
		return false
	}
	p.at++
	return true
}

// want takes the next token, which must be of a kind.
func (p *parser) want(kind tokenKind) *lexeme {
	if !p.is(kind) {
		p.unexpected()
	}
	return p.take()
}

// adjacent reports whether nothing stands between the last lexeme and the next.
func (p *parser) adjacent() bool { return p.at > 0 && p.tokens[p.at-1].end == p.peek().start }

func (p *parser) skipNewlines() {
	for p.accept(newlineToken) {
	}
}

func (p *parser) fail(code int, title string, at span, labels ...string) {
	panic(syntaxError{Diagnostic{Code: code, Title: title, Labels: labelled(at, labels...)}})
}

// unexpected fails with the next token, at which something was looked for.
func (p *parser) unexpected() {
	t := p.peek()
	at := span{t.start, t.end}
	p.note(0)
	expected := "expected one of: " + p.wanted.list()
	switch t.kind {
	case endToken:
		p.fail(codeUnexpectedEnd, titleSyntax, at, "unexpected end of program", expected)
	case reservedToken:
		p.fail(codeReserved, titleReserved, at, "this identifier name is reserved for future use in the language",
			"use a different name instead")
	}
	p.fail(codeUnexpectedToken, titleSyntax, at, fmt.Sprintf("unexpected syntax token: %q", tokenNames[t.kind].got),
		expected)
}

// nest counts a level of nesting; the caller calls leave.
func (p *parser) nest() {
	if p.depth++; p.depth > maxNesting {
		t := p.peek()
		p.fail(codeSyntax, titleSyntax, span{t.start, t.end},
			fmt.Sprintf("expressions nest deeper than %d levels", maxNesting))
	}
}

func (p *parser) leave() { p.depth-- }

// end is where the last lexeme taken ends.
func (p *parser) end() int { return p.tokens[p.at-1].end }

// expr takes any expression.
func (p *parser) expr() node {
	p.note(exprSet)
	switch t := p.peek(); t.kind {
	case ifToken:
		return p.ifExpr()
	case abortToken:
		p.take()
		p.nest()
		defer p.leave()
		n := &abortNode{span: span{t.start, t.end}}
		if p.isOneOf(exprSet) {
			n.message = p.expr()
			n.end = p.end()
		}
		return n
	case returnToken:
		p.take()
		p.nest()
		defer p.leave()
		n := &returnNode{span: span{t.start, t.end}}
		n.result = p.expr()
		n.end = p.end()
		return n
	}
	return p.assignment()
}

// assignment takes an assignment or an operation.
func (p *parser) assignment() node {
	t := p.peek()
	if p.accept(underscoreToken) {
		return p.assignTo(&targetNode{span: span{t.start, t.end}, noop: true})
	}
	n := p.operation(1, nil)
	target := targetOf(n)
	if target == nil || !p.isOneOf(assignSet) {
		return n
	}
	target.start = t.start
	return p.assignTo(target)
}

// assignSet is what follows the first target of an assignment.
var assignSet = kindSet(assignToken, mergeAssignToken, commaToken)

// targetOf turns an expression that was read into the target of an assignment; nil: it is none.
func targetOf(n node) *targetNode {
	switch n := n.(type) {
	case *variableNode:
		return &targetNode{span: n.span, variable: n.name}
	case *pathNode:
		t := &targetNode{span: n.span, meta: n.meta, path: n.path, starts: n.starts}
		if n.base == nil {
			return t
		}
		if v, ok := n.base.(*variableNode); ok {
			t.variable = v.name
			return t
		}
	}
	return nil
}

// assignTo takes the rest of an assignment whose first target was read.
func (p *parser) assignTo(ok *targetNode) node {
	p.nest()
	defer p.leave()
	n := &assignNode{span: span{ok.start, 0}, ok: ok}
	if p.accept(commaToken) {
		n.err = p.secondTarget()
	}
	if n.merge = p.accept(mergeAssignToken); !n.merge {
		p.want(assignToken)
	}
	p.skipNewlines()
	n.expr = p.expr()
	n.end = p.end()
	return n
}

func (p *parser) secondTarget() *targetNode {
	t := p.peek()
	if p.accept(underscoreToken) {
		return &targetNode{span: span{t.start, t.end}, noop: true}
	}
	if !p.isOneOf(rootSet | 1<<identToken) {
		p.unexpected()
	}
	return targetOf(p.term())
}

// operation takes binary operators of at least a level. left, if not nil, is their first operand, already read.
func (p *parser) operation(level int, left node) node {
	if left == nil {
		left = p.unary()
	}
	for {
		if !p.isOneOf(levelSets[level]) {
			return left
		}
		t := p.take()
		p.skipNewlines()
		right := p.operation(levels[t.kind]+1, nil)
		left = &opNode{span{left.at().start, right.at().end}, t.text, span{t.start, t.end}, left, right}
	}
}

func (p *parser) unary() node {
	if !p.is(bangToken) {
		return p.term()
	}
	t := p.take()
	p.nest()
	defer p.leave()
	operand := p.unary()
	return &notNode{span{t.start, operand.at().end}, operand}
}

// term takes an operand with the path behind it.
func (p *parser) term() node {
	if !p.isOneOf(termSet) {
		p.unexpected()
	}
	switch t := p.peek(); t.kind {
	case identToken:
		return p.path(p.variable())
	case functionToken, dotToken, percentToken, leftParenToken, leftBracketToken, leftBraceToken:
		p.nest()
		defer p.leave()
		switch t.kind {
		case functionToken:
			return p.path(p.call())
		case leftParenToken:
			return p.path(p.group())
		case leftBracketToken:
			return p.path(p.array())
		case leftBraceToken:
			return p.path(p.braces())
		}
		return p.rootPath()
	}
	return p.literal()
}

func (p *parser) variable() node {
	t := p.take()
	return &variableNode{span{t.start, t.end}, t.text}
}

func (p *parser) literal() node {
	t := p.take()
	at := span{t.start, t.end}
	switch t.kind {
	case integerToken:
		return &literalNode{at, value.Int(t.integer)}
	case floatToken:
		return &literalNode{at, value.Float(t.float)}
	case trueToken, falseToken:
		return &literalNode{at, value.Bool(t.kind == trueToken)}
	case nullToken:
		return &literalNode{at, value.Null}
	case regexToken, timeToken:
		return &patternNode{at, t.kind, t.text}
	}
	if t.parts != nil {
		return &templateNode{at, t.parts}
	}
	return &literalNode{at, value.String(t.text)}
}

// rootPath takes a path below the event or the metadata.
func (p *parser) rootPath() node {
	t := p.take()
	n := &pathNode{span: span{t.start, t.end}, meta: t.kind == percentToken}
	if p.adjacent() && p.isField() {
		p.field(n)
	}
	p.segments(n)
	n.end = p.end()
	return n
}

// path takes what follows a term directly.
func (p *parser) path(base node) node {
	n := &pathNode{span: span{base.at().start, 0}, base: base}
	if p.segments(n); n.path == nil {
		return base
	}
	n.end = p.end()
	return n
}

// isField reports whether the next token may be the field of a path.
func (p *parser) isField() bool {
	t := p.peek()
	return p.isOneOf(fieldSet) && t.parts == nil || otherWordsSet.has(t.kind)
}

// segments takes the steps that follow directly.
func (p *parser) segments(n *pathNode) {
	for p.adjacent() {
		switch {
		case p.is(leftBracketToken):
			p.index(n)
		case p.is(dotToken):
			dot := p.take()
			if found := p.isField(); !p.adjacent() || p.peek().kind == newlineToken || p.peek().kind == endToken {
				p.fail(codeUnexpectedToken, titleSyntax, span{dot.start, dot.end}, "unexpected end of query path",
					"expected one of: "+fieldSet.list())
			} else if !found {
				p.unexpected()
			}
			p.field(n)
		default:
			return
		}
	}
}

// field takes the field of a path.
func (p *parser) field(n *pathNode) {
	t := p.take()
	n.path, n.starts = append(n.path, value.Field(t.text)), append(n.starts, t.start)
}

// index takes [n].
func (p *parser) index(n *pathNode) {
	start := p.take().start
	i := p.want(integerToken).integer
	p.want(rightBracketToken)
	// All indices past the largest array are alike.
	item := value.Item(int(max(min(i, math.MaxInt32), math.MinInt32)))
	n.path, n.starts = append(n.path, item), append(n.starts, start)
}

func (p *parser) group() node {
	t := p.take()
	inner := p.assignment()
	end := p.want(rightParenToken).end
	return &groupNode{span{t.start, end}, inner}
}

func (p *parser) array() node {
	n := &arrayNode{span: span{p.take().start, 0}}
	n.end = p.list(rightBracketToken, func() { n.items = append(n.items, p.operation(1, nil)) })
	return n
}

// list takes members divided by commas up to the closing bracket and gives where that ends.
func (p *parser) list(closing tokenKind, member func()) (end int) {
	p.skipNewlines()
	if p.is(closing) {
		return p.take().end
	}
	return p.members(closing, member)
}

// members is a list with at least one element.
func (p *parser) members(closing tokenKind, member func()) (end int) {
	for member(); p.accept(commaToken); member() {
		if p.skipNewlines(); p.is(closing) {
			break
		}
	}
	p.skipNewlines()
	return p.want(closing).end
}

// braces takes an object or a block: the colon after a text distinguishes them.
func (p *parser) braces() node {
	start := p.take().start
	p.skipNewlines()
	t := p.peek()
	switch {
	case p.is(rightBraceToken):
		return &objectNode{span: span{start, p.take().end}}
	case !p.is(stringToken) || t.parts != nil:
		return p.blockFrom(start, p.expr())
	}
	first := p.literal()
	if !p.is(colonToken) {
		return p.blockFrom(start, p.operation(1, first))
	}
	n := &objectNode{span: span{start, 0}}
	n.end = p.members(rightBraceToken, func() {
		if len(n.keys) > 0 {
			if t = p.want(stringToken); t.parts != nil {
				p.at--
				p.unexpected()
			}
		}
		p.want(colonToken)
		n.keys = append(n.keys, t.text)
		n.values = append(n.values, p.operation(1, nil))
	})
	return n
}
