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
type parser struct {
	tokens []lexeme
	at     int
	depth  int
}

type syntaxError struct{ Diagnostic }

// rootItem is a statement of the program, or the error in its place.
type rootItem struct {
	expr  node
	fault *Diagnostic
}

// parse gives the statements of a source; a lexical error is the only item.
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

// skipEnd goes past what ends an expression.
func (p *parser) skipEnd() {
	if p.isPunct(";") {
		p.at++
	}
	p.skipNewlines()
}

// statement takes one expression of the program with what ends it.
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

// atEnd says whether an expression may end here.
func (p *parser) atEnd() bool {
	k := p.peek().kind
	return k == newlineToken || k == endToken || p.isPunct(";")
}

func (p *parser) peek() *lexeme { return &p.tokens[p.at] }

func (p *parser) take() *lexeme {
	t := &p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

func (p *parser) isPunct(text string) bool {
	t := p.peek()
	return t.kind == punctToken && t.text == text
}

func (p *parser) isOperator(text string) bool {
	t := p.peek()
	return t.kind == operatorToken && t.text == text
}

func (p *parser) isKeyword(text string) bool {
	t := p.peek()
	return t.kind == keywordToken && t.text == text
}

// adjacent says whether nothing stands between the last lexeme and the next.
func (p *parser) adjacent() bool { return p.at > 0 && p.tokens[p.at-1].end == p.peek().start }

func (p *parser) skipNewlines() {
	for p.peek().kind == newlineToken {
		p.at++
	}
}

func (p *parser) want(punct string) *lexeme {
	if !p.isPunct(punct) {
		p.unexpected()
	}
	return p.take()
}

func (p *parser) fail(code int, title string, at span, labels ...string) {
	panic(syntaxError{Diagnostic{Code: code, Title: title, Labels: labelled(at, labels...)}})
}

// unexpected fails with the next lexeme.
func (p *parser) unexpected() {
	t := p.peek()
	at := span{t.start, t.end}
	switch t.kind {
	case endToken:
		p.fail(codeUnexpectedEnd, titleSyntax, at, "unexpected end of program")
	case reservedToken:
		p.fail(codeReserved, titleReserved, at, "this identifier name is reserved for future use in the language", "use a different name instead")
	}
	p.fail(codeUnexpectedToken, titleSyntax, at, fmt.Sprintf("unexpected syntax token: %q", t.name()))
}

// nest counts a level of nesting; the caller calls leave.
func (p *parser) nest() {
	if p.depth++; p.depth > maxNesting {
		t := p.peek()
		p.fail(codeSyntax, titleSyntax, span{t.start, t.end}, fmt.Sprintf("expressions nest deeper than %d levels", maxNesting))
	}
}

func (p *parser) leave() { p.depth-- }

// end is where the last lexeme taken ends.
func (p *parser) end() int { return p.tokens[p.at-1].end }

// expr takes any expression.
func (p *parser) expr() node {
	if t := p.peek(); t.kind == keywordToken {
		switch t.text {
		case "if":
			return p.ifExpr()
		case "abort":
			p.take()
			p.nest()
			defer p.leave()
			n := &abortNode{span: span{t.start, t.end}}
			if !p.atEnd() && !p.isPunct("}") && !p.isPunct(")") {
				n.message = p.expr()
				n.end = p.end()
			}
			return n
		case "return":
			p.take()
			p.nest()
			defer p.leave()
			n := &returnNode{span: span{t.start, t.end}}
			n.result = p.expr()
			n.end = p.end()
			return n
		}
	}
	return p.assignment()
}

// assignment takes an assignment or an operation.
func (p *parser) assignment() node {
	start := p.at
	if t := p.peek(); t.kind == identToken && t.text == "_" {
		p.take()
		return p.assignTo(&targetNode{span: span{t.start, t.end}, noop: true})
	}
	n := p.operation(1, nil)
	if !p.isOperator("=") && !p.isOperator("|=") && !p.isPunct(",") {
		return n
	}
	target := targetOf(n)
	if target == nil || p.isPunct(",") && !p.errorTarget() {
		return n // what follows is an error, or belongs to somebody else
	}
	target.start = p.tokens[start].start
	return p.assignTo(target)
}

// errorTarget says whether what follows is the comma and second target of an assignment.
func (p *parser) errorTarget() bool {
	t := p.tokens[min(p.at+1, len(p.tokens)-1)]
	return t.kind == identToken || t.kind == punctToken && (t.text == "." || t.text == "%") || t.kind == reservedToken
}

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
	if p.isPunct(",") {
		p.take()
		n.err = p.secondTarget()
	}
	switch {
	case p.isOperator("="):
	case p.isOperator("|="):
		n.merge = true
	default:
		p.unexpected()
	}
	p.take()
	p.skipNewlines()
	n.expr = p.expr()
	n.end = p.end()
	return n
}

func (p *parser) secondTarget() *targetNode {
	if t := p.peek(); t.kind == identToken && t.text == "_" {
		p.take()
		return &targetNode{span: span{t.start, t.end}, noop: true}
	}
	at := p.at
	t := targetOf(p.term())
	if t == nil {
		p.at = at
		p.unexpected()
	}
	return t
}

// levels are the binary operators by precedence.
var levels = map[string]int{
	"??": 1, "&&": 2, "||": 2, "==": 3, "!=": 3, ">=": 4, ">": 4, "<=": 4, "<": 4, "|": 5, "+": 6, "-": 6, "*": 7, "/": 7,
}

// operation takes binary operators of at least a level. left, if not nil, is their first operand, already read.
func (p *parser) operation(level int, left node) node {
	if left == nil {
		left = p.unary()
	}
	for {
		t := p.peek()
		if t.kind != operatorToken {
			return left
		}
		l, ok := levels[t.text]
		if !ok || l < level {
			return left
		}
		p.take()
		p.skipNewlines()
		right := p.operation(l+1, nil)
		left = &opNode{span{left.place().start, right.place().end}, t.text, span{t.start, t.end}, left, right}
	}
}

func (p *parser) unary() node {
	if !p.isOperator("!") {
		return p.term()
	}
	t := p.take()
	p.nest()
	defer p.leave()
	operand := p.unary()
	return &notNode{span{t.start, operand.place().end}, operand}
}

// term takes an operand with the path behind it.
func (p *parser) term() node {
	t := p.peek()
	at := span{t.start, t.end}
	switch t.kind {
	case integerToken:
		p.take()
		return &literalNode{at, value.Int(t.integer)}
	case floatToken:
		p.take()
		return &literalNode{at, value.Float(t.float)}
	case stringToken:
		p.take()
		if t.parts != nil {
			return &templateNode{at, t.parts}
		}
		return &literalNode{at, value.String(t.text)}
	case rawToken:
		p.take()
		return &literalNode{at, value.String(t.text)}
	case regexToken, timeToken:
		p.take()
		return &patternNode{at, t.kind, t.text}
	case keywordToken:
		switch t.text {
		case "true", "false":
			p.take()
			return &literalNode{at, value.Bool(t.text == "true")}
		case "null":
			p.take()
			return &literalNode{at, value.Null}
		}
	case identToken:
		if t.text != "_" {
			p.take()
			return p.path(&variableNode{at, t.text})
		}
	case functionToken:
		p.nest()
		defer p.leave()
		return p.path(p.call())
	case punctToken:
		p.nest()
		defer p.leave()
		switch t.text {
		case ".", "%":
			return p.rootPath()
		case "(":
			return p.path(p.group())
		case "[":
			return p.path(p.array())
		case "{":
			return p.path(p.braces())
		}
	}
	p.unexpected()
	return nil
}

// rootPath takes a path below the event or the metadata.
func (p *parser) rootPath() node {
	t := p.take()
	n := &pathNode{span: span{t.start, t.end}, meta: t.text == "%"}
	if p.adjacent() {
		switch next := p.peek(); {
		case p.isField(next):
			p.field(n)
		case p.isPunct("["):
			p.index(n)
		}
	}
	p.segments(n)
	n.end = p.end()
	return n
}

// path takes what follows a term directly.
func (p *parser) path(base node) node {
	n := &pathNode{span: span{base.place().start, 0}, base: base}
	if p.segments(n); n.path == nil {
		return base
	}
	n.end = p.end()
	return n
}

// isField says whether a lexeme may be the field of a path.
func (p *parser) isField(t *lexeme) bool {
	switch t.kind {
	case identToken, fieldToken, keywordToken, reservedToken:
		return true
	case stringToken:
		return t.parts == nil
	}
	return false
}

// segments takes the steps that follow directly.
func (p *parser) segments(n *pathNode) {
	for p.adjacent() {
		switch {
		case p.isPunct("["):
			p.index(n)
		case p.isPunct("."):
			dot := p.take()
			if next := p.peek(); !p.adjacent() || next.kind == newlineToken || next.kind == endToken {
				p.fail(codeUnexpectedToken, titleSyntax, span{dot.start, dot.end}, "unexpected end of query path")
			} else if !p.isField(next) {
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
	if p.peek().kind != integerToken {
		p.unexpected()
	}
	i := p.take().integer
	p.want("]")
	// Beyond what an array can hold all indices are alike.
	item := value.Item(int(max(min(i, math.MaxInt32), math.MinInt32)))
	n.path, n.starts = append(n.path, item), append(n.starts, start)
}

func (p *parser) group() node {
	t := p.take()
	inner := p.assignment()
	end := p.want(")").end
	return &groupNode{span{t.start, end}, inner}
}

func (p *parser) array() node {
	n := &arrayNode{span: span{p.take().start, 0}}
	n.end = p.list("]", func() { n.items = append(n.items, p.operation(1, nil)) })
	return n
}

// list takes members divided by commas up to the closing bracket and gives where that ends.
func (p *parser) list(closing string, member func()) (end int) {
	p.skipNewlines()
	for !p.isPunct(closing) {
		member()
		if p.isPunct(",") {
			p.take()
			p.skipNewlines()
			continue
		}
		p.skipNewlines()
		break
	}
	return p.want(closing).end
}

// braces takes an object or a block.
func (p *parser) braces() node {
	start := p.at
	p.take()
	p.skipNewlines()
	if p.isPunct("}") || p.peek().kind == stringToken && p.tokens[p.at+1].kind == punctToken && p.tokens[p.at+1].text == ":" {
		n := &objectNode{span: span{p.tokens[start].start, 0}}
		n.end = p.list("}", func() {
			t := p.peek()
			if t.kind != stringToken || t.parts != nil {
				p.unexpected()
			}
			p.take()
			p.want(":")
			n.keys = append(n.keys, t.text)
			n.values = append(n.values, p.operation(1, nil))
		})
		return n
	}
	p.at = start
	return p.block()
}
