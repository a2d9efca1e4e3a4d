package parse

import "strings"

func (p *parser) isExpr(at Node, left Expr) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	not, err := p.take("not")
	if err != nil {
		return nil, err
	}
	switch {
	case p.isAny("null", "true", "false", "unknown"):
		what := p.tok.text
		return &Is{Node: at, X: left, What: what, Not: not}, p.advance()
	case p.is("distinct"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.expect("from"); err != nil {
			return nil, err
		}
		right, err := p.binary(powIs)
		op := "is distinct from"
		if not {
			op = "is not distinct from"
		}
		return &Binary{Node: at, Op: op, L: left, R: right}, err
	}
	return nil, p.expected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
}

func (p *parser) likeExpr(at Node, left Expr) (Expr, error) {
	m := p.mark()
	not, err := p.take("not")
	if err != nil {
		return nil, err
	}
	switch {
	case p.is("between"):
		return p.betweenExpr(at, left, not)
	case p.is("in"):
		return p.inExpr(at, left, not)
	case p.is("regexp"), p.is("rlike"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.binary(powLike)
		op := "~"
		if not {
			op = "!~"
		}
		return &Binary{Node: at, Op: op, L: left, R: right}, err
	case p.is("like"), p.is("ilike"), p.is("similar"):
		like := &Like{Node: at, X: left, Op: p.tok.text, Not: not}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if like.Op == "similar" {
			like.Op = "similar to"
			if err := p.expect("to"); err != nil {
				return nil, err
			}
		}
		if p.quantifierAhead() {
			return p.quantified(at, left, strings.ToLower(negated(not))+like.Op)
		}
		if like.Pattern, err = p.binary(powLike); err != nil {
			return nil, err
		}
		if ok, err := p.take("escape"); err != nil || !ok {
			return like, err
		}
		at := p.tok.pos
		if like.Escape, err = p.text("the escape character"); err == nil && len([]rune(like.Escape)) != 1 {
			err = p.fail(at, "the escape is one character")
		}
		return like, err
	}
	p.back(m)
	return nil, nil
}

func (p *parser) betweenExpr(at Node, left Expr, not bool) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	between := &Between{Node: at, X: left, Not: not}
	if p.isAny("symmetric", "asymmetric") && !endsOperand(p.peek()) {
		between.Symmetric = p.is("symmetric")
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	var err error
	if between.Lo, err = p.binary(powLike); err != nil {
		return nil, err
	}
	if err := p.expect("and"); err != nil {
		return nil, err
	}
	between.Hi, err = p.binary(powLike)
	return between, err
}

func (p *parser) inExpr(at Node, left Expr, not bool) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	in := &In{Node: at, X: left, Not: not}
	var err error
	if p.isOp("(") && p.queryAhead() {
		in.Query, err = p.parenQuery()
		return in, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if ok, err := p.takeOp(")"); ok || err != nil {
		return in, err
	}
	if in.List, err = p.members(); err != nil {
		return nil, err
	}
	if sub, ok := in.List[0].(*Subquery); ok && len(in.List) == 1 {
		in.Query, in.List = sub.Query, nil
		if p.queryGoesOn() {
			if in.Query, err = p.queryAfter(sub.Query); err != nil {
				return nil, err
			}
		}
	}
	return in, p.expectOp(")")
}
