package parse

import (
	"maps"
	"slices"
	"strings"
)

// Binding powers, rising. The order is the contract's: note that ^ binds weaker than +. The sign binds stronger than
// **.
const (
	powOr = iota + 1
	powAnd
	powNot
	powIs
	powCompare
	powLike
	powBitOr
	powBitXor
	powBitAnd
	powShift
	powAdd
	powMul
	powPower
	powUnary
	powPostfix
)

var binaryPower = map[string]int{
	"or": powOr, "and": powAnd,
	"=": powCompare, "==": powCompare, "<>": powCompare, "!=": powCompare, "<": powCompare, "<=": powCompare,
	">": powCompare, ">=": powCompare, "<=>": powCompare,
	"~~": powLike, "~~*": powLike, "!~~": powLike, "!~~*": powLike, "~": powLike, "~*": powLike, "!~": powLike,
	"!~*": powLike, "@@": powLike,
	"|": powBitOr, "^": powBitXor, "&": powBitAnd, "<<": powShift, ">>": powShift,
	"+": powAdd, "-": powAdd, "||": powAdd, "*": powMul, "/": powMul, "//": powMul, "%": powMul, "**": powPower,
	"->": powPostfix, "->>": powPostfix,
}

// reserved words cannot stand alone as a column in an expression.
var reserved = wordSet(
	`select from where group having order limit offset union except intersect join on using and or not
	case when then else end as by distinct is like ilike between in into values with inner cross natural
	full window qualify align fetch set create alter insert delete`)

// soft are the reserved words that are a column's name where an operand is due and what follows can only follow an
// operand: SELECT offset FROM t.
var soft = wordSet(
	`limit offset align fetch full window qualify values inner cross natural set create alter insert delete`)

// endsOperand reports whether t can only follow an operand.
func endsOperand(t token) bool {
	switch t.kind {
	case tokEOF:
		return true
	case tokOp:
		return t.text != "(" && t.text != "["
	case tokWord:
		return afterOperand[t.text]
	}
	return false
}

var afterOperand = wordSet(`from as asc desc nulls is in between like ilike and or having when then else end
	group order limit offset union except intersect`)

// notAlias are the words that cannot be an alias without AS.
var notAlias = wordSet(
	`select from where group having order limit offset union except intersect join on using and or not
	case when then else end as by is like ilike between in inner left right full cross natural window qualify align
	fetch fill range with set values to similar at tablesample lateral asof semi anti isnull notnull asc desc nulls for collate partition div escape over filter into`)

// ReservedWords are the words that are names only in quotes, in order.
func ReservedWords() []string { return slices.Sorted(maps.Keys(reserved)) }

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// expr reads an expression of any precedence.
func (p *parser) expr() (Expr, error) { return p.binary(0) }

// exprList reads a, b, .. with at least one element.
func (p *parser) exprList() ([]Expr, error) {
	var list []Expr
	for {
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		if ok, err := p.more(); err != nil || !ok {
			return list, err
		}
	}
}

// members is exprList for IN: literals do not count, there may be many.
func (p *parser) members() ([]Expr, error) {
	var list []Expr
	for {
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		switch x := x.(type) {
		case *Literal:
			p.operands--
			p.unasked -= operandBytes - cellBytes
		case *Cast: // the value of a parameter
			if _, ok := x.X.(*Literal); ok && p.dialect != nil {
				p.operands--
			}
		}
		list = append(list, x)
		if ok, err := p.more(); err != nil || !ok {
			return list, err
		}
	}
}

// binary reads operators that bind stronger than min.
func (p *parser) binary(min int) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.countOperand(); err != nil {
		return nil, err
	}
	left, err := p.prefix()
	if err != nil {
		return nil, err
	}
	for chain := 0; ; chain++ {
		if chain > maxChain {
			return nil, p.fail(p.tok.pos, "more than %d operators in a row", maxChain)
		}
		next, err := p.infix(left, min)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return left, nil
		}
		left = next
	}
}

// prefix reads what an expression can begin with.
func (p *parser) prefix() (Expr, error) {
	at := Node{p.tok.pos}
	switch {
	case p.is("not"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := p.binary(powNot)
		return &Unary{Node: at, Op: "not", X: x}, err
	case p.isOp("-"), p.isOp("+"), p.isOp("~"):
		op := p.tok.text
		if err := p.advance(); err != nil {
			return nil, err
		}
		if op == "-" && p.tok.kind == tokNumber { // one literal, so that the smallest integer can be written
			lit := &Literal{Node: at, Kind: NumberLiteral, Text: "-" + p.tok.text}
			return lit, p.advance()
		}
		x, err := p.binary(powUnary)
		return &Unary{Node: at, Op: op, X: x}, err
	}
	return p.primary()
}

// infix reads one operator after left that binds stronger than min, with its right side; nil if there is none.
func (p *parser) infix(left Expr, min int) (Expr, error) {
	switch p.tok.kind {
	case tokOp:
		return p.infixOp(left, min)
	case tokWord:
		return p.infixWord(left, min)
	}
	return nil, nil
}

func (p *parser) infixOp(left Expr, min int) (Expr, error) {
	at := Node{left.Position()}
	op := p.tok.text
	switch op {
	case "::":
		if err := p.advance(); err != nil {
			return nil, err
		}
		t, err := p.dataType()
		if err != nil {
			return nil, err
		}
		return p.cast(&Cast{Node: at, X: left, Type: t})
	case "[":
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.subscript(at, left)
	}
	pow := binaryPower[op]
	if pow == 0 || pow <= min {
		return nil, nil
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if same := sameOperators[op]; same != "" {
		op = same
	}
	like := likeOperators[op]
	if like != "" {
		op = like
	}
	if (pow == powCompare || pow == powLike) && p.quantifierAhead() {
		return p.quantified(at, left, op)
	}
	right, err := p.binary(pow)
	if op == "**" {
		return &Call{Node: at, Name: "power", Args: []Expr{left, right}}, err
	}
	if like != "" {
		kind, negative := strings.CutPrefix(like, "not ")
		return &Like{Node: at, X: left, Pattern: right, Op: kind, Not: negative}, err
	}
	return &Binary{Node: at, Op: op, L: left, R: right}, err
}

// sameOperators are other spellings of operators.
var sameOperators = map[string]string{"==": "=", "!=": "<>", "//": "/"}

// likeOperators are the operators that are LIKE in another spelling.
var likeOperators = map[string]string{"~~": "like", "!~~": "not like", "~~*": "ilike", "!~~*": "not ilike"}

// subscript reads the rest of x[ : an index, or a slice a:b, which is array_slice(x, a, b). Either end of a slice may
// be missing.
func (p *parser) subscript(at Node, x Expr) (Expr, error) {
	ends := []Expr{&Literal{Node: at, Kind: NumberLiteral, Text: "1"},
		&Literal{Node: at, Kind: NumberLiteral, Text: "-1"}}
	var err error
	if !p.isOp(":") {
		if ends[0], err = p.expr(); err != nil {
			return nil, err
		}
	}
	slice, err := p.takeOp(":")
	if err != nil {
		return nil, err
	}
	if !slice {
		return p.indexed(&Index{Node: at, X: x, I: ends[0]}), p.expectOp("]")
	}
	if !p.isOp("]") {
		if ends[1], err = p.expr(); err != nil {
			return nil, err
		}
	}
	return &Call{Node: at, Name: "array_slice", Args: append([]Expr{x}, ends...)}, p.expectOp("]")
}

// quantifierAhead reports whether ANY (, ALL ( or SOME ( stands here.
func (p *parser) quantifierAhead() bool {
	return p.isAny("any", "all", "some") && p.peek().op("(")
}

// quantified reads ANY|ALL|SOME (query) or (list).
func (p *parser) quantified(at Node, left Expr, op string) (Expr, error) {
	x := &Quantified{Node: at, X: left, Op: op, All: p.is("all")}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if p.queryAhead() {
		x.Query, err = p.parenQuery()
		return x, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if x.List, err = p.exprList(); err != nil {
		return nil, err
	}
	if err := p.listOfText(x); err != nil {
		return nil, err
	}
	return x, p.expectOp(")")
}

func (p *parser) infixWord(left Expr, min int) (Expr, error) {
	at := Node{left.Position()}
	switch word := p.tok.text; word {
	case "and", "or":
		pow := binaryPower[word]
		if pow <= min {
			return nil, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.binary(pow)
		return &Binary{Node: at, Op: word, L: left, R: right}, err
	case "div", "mod":
		if powMul <= min || !startsOperand(p.peek()) {
			return nil, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.binary(powMul)
		return &Binary{Node: at, Op: wordOperators[word], L: left, R: right}, err
	case "is":
		if powIs <= min {
			return nil, nil
		}
		return p.isExpr(at, left)
	case "isnull", "notnull":
		if powIs <= min {
			return nil, nil
		}
		return &Is{Node: at, X: left, What: "null", Not: word == "notnull"}, p.advance()
	case "not", "like", "ilike", "similar", "between", "in", "regexp", "rlike":
		if powLike <= min {
			return nil, nil
		}
		return p.likeExpr(at, left)
	case "at":
		if !p.peek().is("time") {
			return nil, nil
		}
		if ok, err := p.takeWords("at", "time", "zone"); err != nil || !ok {
			return nil, err
		}
		zone, err := p.binary(powUnary)
		return &AtTimeZone{Node: at, X: left, Zone: zone}, err
	case "range":
		next := p.peek()
		if p.inWindow || next.kind != tokString && !next.op("(") && next.kind != tokNumber && next.kind != tokSpan &&
			!next.is("interval") {
			return nil, nil
		}
		return p.rangeExpr(at, left)
	case "operator":
		if p.dialect == nil || !p.peek().op("(") {
			return nil, nil
		}
		if err := p.operatorName(); err != nil {
			return nil, err
		}
		return p.infixOp(left, min)
	case "collate":
		if p.dialect != nil {
			return left, p.collation()
		}
		return nil, p.fail(p.tok.pos, "COLLATE is not supported")
	}
	return nil, nil
}

// wordOperators are the words that are an operator in another spelling.
var wordOperators = map[string]string{"div": "/", "mod": "%"}

// startsOperand reports whether an operand can begin with t.
func startsOperand(t token) bool {
	switch t.kind {
	case tokNumber, tokSpan, tokString, tokQuoted, tokParameter:
		return true
	case tokWord:
		return !reserved[t.text]
	}
	return t.op("(")
}

// rangeExpr reads RANGE 'dur' [FILL f] after an aggregate.
func (p *parser) rangeExpr(at Node, left Expr) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	r := &Range{Node: at, X: left}
	var err error
	if r.Span, err = p.prefix(); err != nil {
		return nil, err
	}
	if p.is("fill") {
		r.Fill, err = p.fill()
	}
	return r, err
}

// fill reads FILL NULL|PREV|LINEAR|constant.
func (p *parser) fill() (*Fill, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isAny("null", "prev", "linear") {
		kind := p.tok.text
		return &Fill{Kind: kind}, p.advance()
	}
	x, err := p.binary(powLike)
	return &Fill{Kind: "value", Value: x}, err
}
