package vrl

func (p *parser) block() *blockNode {
	n := &blockNode{span: span{p.want("{").start, 0}}
	p.skipNewlines()
	for {
		n.body = append(n.body, p.expr())
		if !p.isPunct("}") && !p.atEnd() {
			p.unexpected()
		}
		p.skipEnd()
		if p.isPunct("}") {
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
	if p.isPunct("(") {
		n.predicate = p.parenthesised()
	} else {
		n.predicate = []node{p.operation(1, nil)}
	}
	n.predicateSpan = span{start, p.end()}
	p.skipNewlines()
	n.then = p.block()
	if p.isKeyword("else") {
		p.take()
		p.skipNewlines()
		if p.isKeyword("if") {
			// A chain of `else if` stands on one level.
			p.leave()
			inner := p.ifExpr()
			p.depth++
			n.orElse = &blockNode{inner.place(), []node{inner}}
		} else {
			n.orElse = p.block()
		}
	}
	n.end = p.end()
	return n
}

// parenthesised takes a predicate that starts with a parenthesis: one or more expressions of which the last counts, with
// line ends next to the parentheses, or an operation whose first operand is a group.
func (p *parser) parenthesised() []node {
	open := p.take()
	grouped := p.peek().kind != newlineToken
	p.skipNewlines()
	list := []node{p.assignment()}
	for p.peek().kind == newlineToken || p.isPunct(";") {
		grouped = false
		for p.isPunct(";") || p.peek().kind == newlineToken {
			p.at++
		}
		if p.isPunct(")") {
			break
		}
		list = append(list, p.assignment())
	}
	end := p.want(")").end
	if !grouped {
		return list
	}
	group := p.path(&groupNode{span{open.start, end}, list[0]})
	return []node{p.operation(1, group)}
}

func (p *parser) call() node {
	t := p.take()
	n := &callNode{span: span{t.start, 0}, name: t.text, nameSpan: span{t.start, t.end}}
	if p.isOperator("!") {
		p.take()
		n.aborts = true
	}
	if !p.adjacent() || !p.isPunct("(") {
		p.unexpected()
	}
	p.take()
	n.end = p.list(")", func() { n.args = append(n.args, p.argument()) })
	if p.isOperator("->") {
		n.closure = p.closure()
		n.end = n.closure.end
	}
	return n
}

func (p *parser) argument() argumentNode {
	t := p.peek()
	a := argumentNode{span: span{t.start, 0}}
	if next := &p.tokens[min(p.at+1, len(p.tokens)-1)]; (t.kind == identToken || t.kind == reservedToken || t.kind == keywordToken) &&
		next.kind == punctToken && next.text == ":" {
		a.name, a.nameSpan = t.text, span{t.start, t.end}
		p.take()
		p.take()
	}
	a.expr = p.operation(1, nil)
	a.end = p.end()
	return a
}

func (p *parser) closure() *closureNode {
	start := p.take().start
	n := &closureNode{}
	n.paramsSpan.start = p.peek().start
	if p.isOperator("||") {
		p.take()
	} else {
		if !p.isOperator("|") {
			p.unexpected()
		}
		p.take()
		for !p.isOperator("|") {
			if p.peek().kind != identToken {
				p.unexpected()
			}
			n.params = append(n.params, p.take().text)
			if p.isPunct(",") {
				p.take()
			} else if !p.isOperator("|") {
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
