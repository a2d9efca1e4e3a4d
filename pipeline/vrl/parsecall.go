package vrl

func (p *parser) block() *blockNode {
	start := p.want(leftBraceToken).start
	p.skipNewlines()
	return p.blockFrom(start, p.expr())
}

// blockFrom takes the rest of a block that starts with an expression already read.
func (p *parser) blockFrom(start int, first node) *blockNode {
	n := &blockNode{span: span{start, 0}}
	for e := first; ; e = p.expr() {
		n.body = append(n.body, e)
		if !p.is(rightBraceToken) && !p.atEnd() {
			p.unexpected()
		}
		p.skipEnd()
		if p.is(rightBraceToken) {
			n.end = p.take().end
			return n
		}
	}
}

func (p *parser) ifExpr() node {
	p.nest()
	defer p.leave()
	n := &ifNode{span: span{p.take().start, 0}}
	start := p.peek().start
	if p.is(leftParenToken) {
		n.predicate = p.parenthesised()
	} else {
		n.predicate = []node{p.operation(1, nil)}
	}
	n.predicateSpan = span{start, p.end()}
	p.skipNewlines()
	n.then = p.block()
	if p.accept(elseToken) {
		p.skipNewlines()
		if p.is(ifToken) {
			// A chain of `else if` counts as one level of nesting.
			p.leave()
			inner := p.ifExpr()
			p.depth++
			n.orElse = &blockNode{inner.at(), []node{inner}}
		} else {
			n.orElse = p.block()
		}
	}
	n.end = p.end()
	return n
}

// parenthesised takes a predicate that starts with a parenthesis: one or more expressions, the last of which decides,
// with line ends next to the parentheses, or an operation whose first operand is a group.
func (p *parser) parenthesised() []node {
	open := p.take()
	grouped := !p.is(newlineToken)
	p.skipNewlines()
	list := []node{p.assignment()}
	for p.isOneOf(endSet) {
		grouped = false
		for p.isOneOf(endSet) {
			p.at++
		}
		if p.is(rightParenToken) {
			break
		}
		list = append(list, p.assignment())
	}
	end := p.want(rightParenToken).end
	if !grouped {
		return list
	}
	group := p.path(&groupNode{span{open.start, end}, list[0]})
	return []node{p.operation(1, group)}
}

func (p *parser) call() node {
	t := p.take()
	n := &callNode{span: span{t.start, 0}, name: t.text, nameSpan: span{t.start, t.end}}
	n.aborts = p.accept(bangToken)
	if !p.is(leftParenToken) || !p.adjacent() {
		p.unexpected()
	}
	p.take()
	n.end = p.list(rightParenToken, func() { n.args = append(n.args, p.argument()) })
	if p.is(arrowToken) {
		n.closure = p.closure()
		n.end = n.closure.end
	}
	return n
}

// argument takes an argument; a word before a colon is its name.
func (p *parser) argument() argumentNode {
	t := p.peek()
	a := argumentNode{span: span{t.start, 0}}
	name := func() {
		a.name, a.nameSpan = t.text, span{t.start, t.end}
		p.want(colonToken)
		a.expr = p.operation(1, nil)
	}
	switch next := p.tokens[min(p.at+1, len(p.tokens)-1)]; {
	case valueWordSet.has(t.kind):
		v := p.term()
		if _, plain := v.(*pathNode); !plain && p.is(colonToken) {
			name()
		} else {
			a.expr = p.operation(1, v)
		}
	case otherWordsSet.has(t.kind) && next.kind == colonToken:
		p.take()
		name()
	default:
		a.expr = p.operation(1, nil)
	}
	a.end = p.end()
	return a
}

func (p *parser) closure() *closureNode {
	start := p.take().start
	n := &closureNode{}
	n.paramsSpan.start = p.peek().start
	if !p.accept(orToken) {
		p.want(mergeToken)
		for !p.is(mergeToken) {
			if !p.isOneOf(paramSet) {
				p.unexpected()
			}
			n.params = append(n.params, p.take().text)
			if !p.accept(commaToken) && !p.is(mergeToken) {
				p.unexpected()
			}
		}
		p.take()
	}
	n.paramsSpan.end = p.end()
	p.skipNewlines()
	n.body = p.block()
	n.start, n.end = start, n.body.end
	return n
}

// valueWordSet is the words that are values.
var valueWordSet = kindSet(identToken, trueToken, falseToken, nullToken)

// paramSet is what closures call their parameters.
var paramSet = kindSet(identToken, underscoreToken)
