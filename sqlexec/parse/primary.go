package parse

import (
	"strings"
)

// primary reads an operand.
func (p *parser) primary() (Expr, error) {
	at := Node{p.tok.pos}
	switch p.tok.kind {
	case tokNumber:
		x := &Literal{Node: at, Kind: NumberLiteral, Text: p.tok.text}
		return x, p.advance()
	case tokSpan:
		x := &Interval{Node: at, Text: p.tok.text}
		return x, p.advance()
	case tokString:
		x := &Literal{Node: at, Kind: StringLiteral, Text: p.tok.text}
		if p.dialect != nil && p.dialect.Text != nil && strings.Contains(x.Text, `\`) {
			p.dialect.Text(x)
		}
		return x, p.advance()
	case tokHex:
		x := &Literal{Node: at, Kind: HexLiteral, Text: p.tok.text}
		return x, p.advance()
	case tokParameter:
		return p.parameter(at)
	case tokQuoted:
		return p.columnOrCall()
	case tokWord:
		return p.wordExpr()
	case tokOp:
		switch p.tok.text {
		case "(":
			return p.fields(p.paren())
		case "[":
			return p.array(at)
		case "{":
			return p.structLiteral(at)
		case "@@":
			return p.variable(at)
		}
	}
	return nil, p.expected("an expression")
}

// wordExpr reads an operand that begins with an unquoted word.
func (p *parser) wordExpr() (Expr, error) {
	at := Node{p.tok.pos}
	next := p.peek()
	switch word := p.tok.text; word {
	case "null", "true", "false":
		kind := map[string]LiteralKind{"null": NullLiteral, "true": TrueLiteral, "false": FalseLiteral}[word]
		return &Literal{Node: at, Kind: kind}, p.advance()
	case "case":
		return p.caseExpr(at)
	case "cast", "try_cast":
		if next.op("(") {
			return p.castExpr(at)
		}
	case "interval":
		if next.kind == tokString || next.kind == tokNumber || next.kind == tokSpan || next.op("-") || next.op("+") {
			return p.interval(at)
		}
	case "timestamp", "timestamptz", "date", "time", "datetime", "timestamp_s", "timestamp_ms", "timestamp_us",
		"timestamp_ns":
		if next.kind == tokString || next.op("(") || next.is("with") || next.is("without") {
			if x, err := p.typedText(at); x != nil || err != nil {
				return x, err
			}
		}
	case "exists":
		if next.op("(") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			q, err := p.parenQuery()
			return &Exists{Node: at, Query: q}, err
		}
	case "array":
		if next.op("[") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			return p.array(at)
		}
		if p.dialect != nil && next.op("(") {
			return p.arrayQuery(at)
		}
	case "row":
		if next.op("(") {
			return p.row(at)
		}
	case "default":
		if before := p.src[p.prev-1]; (before == '(' || before == ',') && (next.op(",") || next.op(")")) {
			return &Default{at}, p.advance()
		}
	case "extract", "position", "substring", "substr", "trim", "overlay":
		if next.op("(") && word == "substring" {
			return p.called(p.specialCall(at))
		} else if next.op("(") {
			return p.specialCall(at)
		}
	case "current_timestamp", "current_date", "current_time", "current_user", "localtimestamp", "session_user",
		"current_schema":
		if !next.op("(") && !next.op(".") {
			return &Call{Node: at, Name: word, NoParens: true}, p.advance()
		}
	case "user":
		if p.sessionUser() {
			return &Call{Node: at, Name: "current_user", NoParens: true}, p.advance()
		}
	case "current_catalog", "current_role":
		if p.dialect != nil && !next.op("(") && !next.op(".") {
			return p.called(&Call{Node: at, Name: word, NoParens: true}, p.advance())
		}
	}
	if soft[p.tok.text] && endsOperand(next) {
		return p.columnOrCall()
	}
	if reserved[p.tok.text] && !next.op("(") {
		return nil, p.expected("an expression")
	}
	if p.isAny("select", "from", "where", "case", "when") {
		return nil, p.expected("an expression")
	}
	return p.columnOrCall()
}

// typedText reads TIMESTAMP '..' and TIMESTAMP(9) '..'; nil if no text follows the type.
func (p *parser) typedText(at Node) (Expr, error) {
	m := p.mark()
	bare := p.peek().kind == tokString
	t, err := p.dataType()
	if err != nil || p.tok.kind != tokString {
		p.back(m)
		return nil, nil
	}
	if bare && (t.Name == "TIMESTAMP" || t.Name == "TIMESTAMPTZ") {
		t.Args = literalPrecision(p.tok.text)
	}
	lit := &Literal{Node: Node{p.tok.pos}, Kind: StringLiteral, Text: p.tok.text}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.cast(&Cast{Node: at, X: lit, Type: t})
}

// variable reads @@name, @@session.name or @@global.name: a call without parentheses of a function with the name
// @@name.
func (p *parser) variable(at Node) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isAny("session", "global", "local") && p.peek().op(".") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	id, err := p.ident("a variable")
	return &Call{Node: at, Name: "@@" + strings.ToLower(id.Name), NoParens: true}, err
}

// columnOrCall reads a dotted name, and a call when a parenthesis follows.
func (p *parser) columnOrCall() (Expr, error) {
	at := Node{p.tok.pos}
	var n Name
	for {
		id, err := p.ident("a name")
		if err != nil {
			return nil, err
		}
		n = append(n, id)
		if !p.isOp(".") || len(n) == 4 {
			break
		}
		if next := p.peek(); next.kind != tokWord && next.kind != tokQuoted {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.isOp("(") {
		if last := n[len(n)-1]; last.Name == "columns" && last.Quote == 0 {
			return p.columns(at, n[:len(n)-1])
		}
		return p.called(p.call(at, strings.ToLower(n[len(n)-1].Name)))
	}
	return &Column{Node: at, Parts: n}, nil
}

// row reads ROW (a, ..), a tuple of any length.
func (p *parser) row(at Node) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.paren()
	if err != nil {
		return nil, err
	}
	if t, ok := x.(*Tuple); ok {
		return t, nil
	}
	return &Tuple{Node: at, Items: []Expr{x}}, nil
}

// paren reads (expr), (a, b) or (query). It never goes back: nested parentheses are read once.
func (p *parser) paren() (Expr, error) {
	at := Node{p.tok.pos}
	if p.queryAhead() {
		q, err := p.parenQuery()
		return &Subquery{Node: at, Query: q}, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if ok, err := p.takeOp(")"); ok || err != nil {
		return &Tuple{Node: at}, err
	}
	list, err := p.exprList()
	if err != nil {
		return nil, err
	}
	if sub, ok := list[0].(*Subquery); ok && len(list) == 1 && p.queryGoesOn() { // ((SELECT ..) UNION ..)
		q, err := p.queryAfter(sub.Query)
		if err != nil {
			return nil, err
		}
		return &Subquery{Node: at, Query: q}, p.expectOp(")")
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return &Tuple{Node: at, Items: list}, nil
}

func (p *parser) array(at Node) (Expr, error) {
	if err := p.expectOp("["); err != nil {
		return nil, err
	}
	a := &Array{Node: at}
	if ok, err := p.takeOp("]"); ok || err != nil {
		return a, err
	}
	var err error
	if a.Items, err = p.exprList(); err != nil {
		return nil, err
	}
	return a, p.expectOp("]")
}

func (p *parser) structLiteral(at Node) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &Struct{Node: at}
	for {
		var key string
		if p.tok.kind == tokWord {
			key = p.tok.text
			if err := p.advance(); err != nil {
				return nil, err
			}
		} else {
			var err error
			if key, err = p.text("a key"); err != nil {
				return nil, err
			}
		}
		if err := p.expectOp(":"); err != nil {
			return nil, err
		}
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		s.Keys, s.Items = append(s.Keys, key), append(s.Items, x)
		if ok, err := p.more(); err != nil {
			return nil, err
		} else if !ok {
			return s, p.expectOp("}")
		}
	}
}

func (p *parser) caseExpr(at Node) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	c := &Case{Node: at}
	var err error
	if !p.is("when") {
		if c.Operand, err = p.expr(); err != nil {
			return nil, err
		}
	}
	for {
		ok, err := p.take("when")
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		var w When
		if w.If, err = p.expr(); err != nil {
			return nil, err
		}
		if err := p.expect("then"); err != nil {
			return nil, err
		}
		if w.Then, err = p.expr(); err != nil {
			return nil, err
		}
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		return nil, p.expected("WHEN")
	}
	if ok, err := p.take("else"); err != nil {
		return nil, err
	} else if ok {
		if c.Else, err = p.expr(); err != nil {
			return nil, err
		}
	}
	return c, p.expect("end")
}

func (p *parser) castExpr(at Node) (Expr, error) {
	c := &Cast{Node: at, Try: p.is("try_cast")}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	var err error
	if c.X, err = p.expr(); err != nil {
		return nil, err
	}
	if err := p.expect("as"); err != nil {
		return nil, err
	}
	if c.Type, err = p.dataType(); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return p.cast(c)
}

// intervalUnits are the words that may follow INTERVAL '5'.
var intervalUnits = wordSet(
	`year years y month months mon mons week weeks w day days d hour hours h minute minutes min mins m
	second seconds sec secs s millisecond milliseconds ms microsecond microseconds us nanosecond nanoseconds ns quarter`)

// interval reads INTERVAL '1 day 2 hours', INTERVAL '5' minute, INTERVAL 1 MINUTE, INTERVAL -1 day, INTERVAL 1day.
func (p *parser) interval(at Node) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	sign := ""
	if p.isOp("-") || p.isOp("+") {
		sign = strings.TrimPrefix(p.tok.text, "+")
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokString && p.tok.kind != tokNumber && p.tok.kind != tokSpan {
		return nil, p.expected("the text of an interval")
	}
	x := &Interval{Node: at, Text: sign + p.tok.text}
	number := p.tok.kind == tokNumber
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokWord && intervalUnits[p.tok.text] && (number || isPlainNumber(x.Text)) {
		x.Text += " " + p.tok.text
		return x, p.advance()
	}
	if number {
		return nil, p.expected("a unit of time")
	}
	return x, nil
}

func isPlainNumber(s string) bool {
	s = strings.TrimLeft(strings.TrimSpace(s), "+-")
	return s != "" && strings.Trim(s, "0123456789.") == ""
}

// literalPrecision sets the precision of TIMESTAMP '..' to what its fraction needs where the default of three digits
// would cut it.
func literalPrecision(text string) []int {
	_, fraction, _ := strings.Cut(text, ".")
	n := 0
	for n < len(fraction) && isDigit(fraction[n]) {
		n++
	}
	switch n = len(strings.TrimRight(fraction[:n], "0")); {
	case n > 6:
		return []int{9}
	case n > 3:
		return []int{6}
	}
	return nil
}
