package parse

// lambdaFunctions are those whose arguments after the first may be lambdas: elsewhere x -> y is the arrow of JSON.
var lambdaFunctions = wordSet(
	`list_transform array_transform list_apply array_apply list_filter array_filter list_reduce array_reduce
	list_any_match array_any_match any_match list_all_match array_all_match all_match list_none_match array_none_match none_match`)

// arguments reads the arguments of a function: a, b, ..
func (p *parser) arguments(function string) ([]Expr, error) {
	var list []Expr
	for {
		x, err := p.argument(lambdaFunctions[function] && len(list) > 0)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		if ok, err := p.more(); err != nil || !ok {
			return list, err
		}
	}
}

// argument reads an expression or a lambda: lambda x, y: body and, where arrows are lambdas, x -> body and (x, y) ->
// body.
func (p *parser) argument(arrows bool) (Expr, error) {
	at := Node{p.tok.pos}
	switch {
	case p.is("lambda") && (p.peek().kind == tokWord || p.peek().kind == tokQuoted):
		if err := p.advance(); err != nil {
			return nil, err
		}
		l := &Lambda{Node: at}
		for {
			id, err := p.ident("the name of a parameter")
			if err != nil {
				return nil, err
			}
			l.Params = append(l.Params, id)
			if ok, err := p.takeOp(","); err != nil {
				return nil, err
			} else if !ok {
				return l, p.lambdaBody(l, ":")
			}
		}
	case !arrows:
	case (p.tok.kind == tokWord || p.tok.kind == tokQuoted) && p.peek().op("->"):
		id, err := p.ident("the name of a parameter")
		if err != nil {
			return nil, err
		}
		l := &Lambda{Node: at, Params: []Ident{id}}
		return l, p.lambdaBody(l, "->")
	case p.isOp("("):
		m := p.mark()
		if params, err := p.identList("the name of a parameter"); err == nil && p.isOp("->") {
			l := &Lambda{Node: at, Params: params}
			return l, p.lambdaBody(l, "->")
		}
		p.back(m)
	}
	return p.expr()
}

func (p *parser) lambdaBody(l *Lambda, between string) error {
	if err := p.expectOp(between); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, id := range l.Params {
		if seen[id.Name] {
			return p.fail(id.At, "two parameters are called %s", id.Name)
		}
		seen[id.Name] = true
	}
	var err error
	l.Body, err = p.expr()
	return err
}

// columns reads the part after COLUMNS, or after t.COLUMNS: (*), (* EXCLUDE (c)), ('expression'), (['a', 'b']) or (c ->
// condition).
func (p *parser) columns(at Node, table Name) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	c := &Columns{Node: at, Star: &Star{At: at.At, Table: table}}
	var err error
	if p.isOp("*") {
		var item SelectItem
		if item, err = p.star(table); err == nil && item.Star == nil { // * LIKE 'p'
			c = item.X.(*Columns)
		} else {
			c.Star = item.Star
		}
	} else {
		from := p.tok.pos
		c.Match, err = p.argument(true)
		if err == nil && !matchesColumns(c.Match) {
			err = p.fail(from, "COLUMNS takes *, a regular expression, a list of names or a lambda of one name")
		}
	}
	if err != nil {
		return nil, err
	}
	return c, p.expectOp(")")
}

func matchesColumns(x Expr) bool {
	switch x := x.(type) {
	case *Literal:
		return x.Kind == StringLiteral
	case *Lambda:
		return len(x.Params) == 1
	case *Array:
		for _, e := range x.Items {
			if lit, ok := e.(*Literal); !ok || lit.Kind != StringLiteral {
				return false
			}
		}
		return len(x.Items) > 0
	}
	return false
}

// starLike reads [NOT] LIKE 'p' and its relatives behind a star: the columns whose names are like it; nil: nothing of
// the kind.
func (p *parser) starLike(star *Star) (*Columns, error) {
	next := p.peek()
	if !p.isAny("like", "ilike", "similar") &&
		!(p.is("not") && (next.is("like") || next.is("ilike") || next.is("similar"))) {
		return nil, nil
	}
	at := Node{star.At}
	name := Ident{Name: "c", At: star.At}
	body, err := p.likeExpr(at, &Column{Node: at, Parts: Name{name}})
	return &Columns{Node: at, Star: star, Match: &Lambda{Node: at, Params: []Ident{name}, Body: body}}, err
}
