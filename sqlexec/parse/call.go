package parse

import "strings"

// call reads the arguments of a function and what may follow it: WITHIN GROUP, FILTER, OVER. The current token is
// the opening parenthesis.
func (p *parser) call(at Node, name string) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	c := &Call{Node: at, Name: name}
	if err := p.callArgs(c); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return c, p.callTail(c)
}

func (p *parser) callArgs(c *Call) error {
	if p.isOp(")") {
		return nil
	}
	if p.isOp("*") && p.peek().op(")") {
		c.Star = true
		return p.advance()
	}
	if ok, err := p.take("distinct"); err != nil {
		return err
	} else if ok {
		c.Distinct = true
	} else if p.is("all") && startsOperand(p.peek()) && !p.peek().op("(") {
		if err := p.advance(); err != nil {
			return err
		}
	}
	var err error
	if c.Args, err = p.arguments(c.Name); err != nil {
		return err
	}
	if err := p.nullTreatment(c); err != nil {
		return err
	}
	if p.is("order") {
		c.OrderBy, err = p.orderBy()
	}
	return err
}

func (p *parser) nullTreatment(c *Call) error {
	if ok, err := p.takeWords("ignore", "nulls"); err != nil || ok {
		c.IgnoreNulls = ok
		return err
	}
	_, err := p.takeWords("respect", "nulls")
	return err
}

func (p *parser) callTail(c *Call) error {
	if p.is("within") && p.peek().is("group") {
		if _, err := p.takeWords("within", "group"); err != nil {
			return err
		}
		if err := p.expectOp("("); err != nil {
			return err
		}
		var err error
		if c.OrderBy, err = p.orderBy(); err != nil {
			return err
		}
		c.Within = true
		if err := p.expectOp(")"); err != nil {
			return err
		}
	}
	if err := p.nullTreatment(c); err != nil {
		return err
	}
	if p.is("filter") && p.peek().op("(") {
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.expectOp("("); err != nil {
			return err
		}
		if _, err := p.take("where"); err != nil {
			return err
		}
		var err error
		if c.Filter, err = p.expr(); err != nil {
			return err
		}
		if err := p.expectOp(")"); err != nil {
			return err
		}
	}
	if !p.is("over") {
		return nil
	}
	if next := p.peek(); !next.op("(") && next.kind != tokWord && next.kind != tokQuoted {
		return nil
	}
	at := p.tok.pos
	if err := p.advance(); err != nil {
		return err
	}
	if !p.isOp("(") {
		id, err := p.ident("a window name")
		c.Over = &Window{At: at, Ref: id.Name}
		return err
	}
	var err error
	c.Over, err = p.window()
	return err
}

// window reads (base PARTITION BY .. ORDER BY .. frame).
func (p *parser) window() (*Window, error) {
	w := &Window{At: p.tok.pos}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if (p.tok.kind == tokWord || p.tok.kind == tokQuoted) && !p.isAny("partition", "order", "rows", "range", "groups") {
		id, err := p.ident("a window name")
		if err != nil {
			return nil, err
		}
		w.Ref = id.Name
	}
	outside := p.inWindow
	p.inWindow = true
	defer func() { p.inWindow = outside }()
	var err error
	if ok, err := p.take("partition"); err != nil {
		return nil, err
	} else if ok {
		if err := p.expect("by"); err != nil {
			return nil, err
		}
		if w.Partition, err = p.exprList(); err != nil {
			return nil, err
		}
	}
	if p.is("order") {
		if w.OrderBy, err = p.orderBy(); err != nil {
			return nil, err
		}
	}
	if p.isAny("rows", "range", "groups") {
		if w.Frame, err = p.frame(); err != nil {
			return nil, err
		}
		if w.Frame.Exclude, err = p.exclude(); err != nil {
			return nil, err
		}
	}
	return w, p.expectOp(")")
}

func (p *parser) frame() (*Frame, error) {
	f := &Frame{Mode: p.tok.text, To: Bound{Kind: "current row"}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	between, err := p.take("between")
	if err != nil {
		return nil, err
	}
	if f.From, err = p.bound(); err != nil || !between {
		return f, err
	}
	if err := p.expect("and"); err != nil {
		return nil, err
	}
	f.To, err = p.bound()
	return f, err
}

// exclude reads EXCLUDE CURRENT ROW|GROUP|TIES|NO OTHERS after a frame; "" is NO OTHERS.
func (p *parser) exclude() (string, error) {
	if ok, err := p.take("exclude"); err != nil || !ok {
		return "", err
	}
	for _, words := range [][]string{{"current", "row"}, {"group"}, {"ties"}, {"no", "others"}} {
		if ok, err := p.takeWords(words...); err != nil || ok {
			return strings.TrimSuffix(strings.Join(words, " "), "no others"), err
		}
	}
	return "", p.expected("CURRENT ROW, GROUP, TIES or NO OTHERS")
}

func (p *parser) bound() (Bound, error) {
	for _, kind := range []string{"preceding", "following"} {
		if ok, err := p.takeWords("unbounded", kind); ok || err != nil {
			return Bound{Kind: "unbounded " + kind}, err
		}
	}
	if ok, err := p.takeWords("current", "row"); ok || err != nil {
		return Bound{Kind: "current row"}, err
	}
	n, err := p.binary(powLike)
	if err != nil {
		return Bound{}, err
	}
	if !p.isAny("preceding", "following") {
		return Bound{}, p.expected("PRECEDING or FOLLOWING")
	}
	b := Bound{Kind: p.tok.text, N: n}
	return b, p.advance()
}

// specialCall reads the functions with words between their arguments and gives plain calls. Nothing is read twice:
// when the first argument is followed by a comma, it was the plain form.
func (p *parser) specialCall(at Node) (Expr, error) {
	name := p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	c := &Call{Node: at, Name: name}
	if !p.isOp(")") {
		var err error
		switch name {
		case "extract":
			err = p.extractArgs(c)
		case "position":
			err = p.positionArgs(c)
		case "trim":
			err = p.trimArgs(c)
		default:
			err = p.fromForArgs(c)
		}
		if err != nil {
			return nil, err
		}
	}
	if ok, err := p.takeOp(","); err != nil {
		return nil, err
	} else if ok {
		rest, err := p.exprList()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, rest...)
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return c, p.callTail(c)
}

func (p *parser) extractArgs(c *Call) error {
	c.Name = "date_part"
	if (p.tok.kind == tokWord || p.tok.kind == tokString) && p.peek().is("from") {
		unit := &Literal{Node: Node{p.tok.pos}, Kind: StringLiteral, Text: p.tok.text}
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.advance(); err != nil {
			return err
		}
		x, err := p.expr()
		c.Args = []Expr{unit, x}
		return err
	}
	x, err := p.expr()
	c.Args = []Expr{x}
	return err
}

// positionArgs reads a IN b: the left operand binds stronger than IN.
func (p *parser) positionArgs(c *Call) error {
	a, err := p.binary(powLike)
	if err != nil {
		return err
	}
	c.Args = []Expr{a}
	if ok, err := p.take("in"); err != nil || !ok {
		return err
	}
	b, err := p.expr()
	c.Name, c.Args = "strpos", []Expr{b, a}
	return err
}

func (p *parser) trimArgs(c *Call) error {
	c.Name = "btrim"
	if next := p.peek(); p.isAny("both", "leading", "trailing") && (startsOperand(next) || next.is("from")) {
		c.Name = map[string]string{"both": "btrim", "leading": "ltrim", "trailing": "rtrim"}[p.tok.text]
		if err := p.advance(); err != nil {
			return err
		}
	}
	var x Expr
	var err error
	if !p.is("from") {
		if x, err = p.expr(); err != nil {
			return err
		}
		c.Args = []Expr{x}
	}
	if ok, err := p.take("from"); err != nil || !ok {
		return err
	}
	from, err := p.expr()
	c.Args = append([]Expr{from}, c.Args...)
	return err
}

// fromForArgs reads s FROM a FOR n, and s PLACING t FROM a FOR n of overlay.
func (p *parser) fromForArgs(c *Call) error {
	x, err := p.expr()
	if err != nil {
		return err
	}
	c.Args = []Expr{x}
	for _, word := range []string{"placing", "from", "for"} {
		ok, err := p.take(word)
		if err != nil {
			return err
		}
		if !ok {
			if word == "from" && p.is("for") {
				c.Args = append(c.Args, &Literal{Node: Node{p.tok.pos}, Kind: NumberLiteral, Text: "1"})
			}
			continue
		}
		if x, err = p.expr(); err != nil {
			return err
		}
		c.Args = append(c.Args, x)
	}
	return nil
}
