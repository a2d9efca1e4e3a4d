package parse

import (
	"strings"
	"unicode/utf8"

	"varve/engine/status"
)

// Limits that keep hostile text cheap: each level of nesting costs a few stack frames here and in the binder, each
// operator of a chain one level of the tree.
const (
	maxDepth = 200
	maxChain = 5000
)

// parser reads one text. Only the current token is decoded; peek decodes further tokens each time.
type parser struct {
	lexer
	tok   token
	prev  Pos // end of the token before tok
	depth int
	// inWindow reports that RANGE begins a frame, because the expression before it is a key of a window.
	inWindow bool

	start    Pos   // of the statement
	operands int   // of the statement, so far
	long     bool  // the statement may be longer than MaxStatement
	inValues bool  // the values of INSERT are being read
	unasked  int64 // bytes that were taken since reserve was last asked
	unheard  int   // tokens since memory was last asked whether the statement still runs
	memory   Memory

	dialect *Dialect // nil: SQL of ours
	// stood is the last expression that stands for a call, of the name stoodFor.
	stood    Expr
	stoodFor string
}

// Memory is the memory that the statements of a text may take. It also knows whether the sender still waits.
type Memory interface {
	// Err is what ends the reading of the text, nil as long as nothing does.
	Err() error
	// Reserve takes bytes, or says that they are not there.
	Reserve(bytes int64) error
}

// Parse reads the statements of a text, separated by semicolons. A text without any is InvalidArguments.
func Parse(text string) ([]Statement, error) { return ParseWithin(text, nil) }

// ParseWithin is Parse for a text whose values may take much memory and time: memory, if not nil, is called for both.
func ParseWithin(text string, memory Memory) ([]Statement, error) { return parseAll(text, memory, nil) }

// parseAll reads the statements of a text.
func parseAll(text string, memory Memory, d *Dialect) ([]Statement, error) {
	if len(text) > MaxText {
		return nil, status.New(status.InvalidArguments, "SQL text of %d bytes is longer than %d", len(text), MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, status.New(status.InvalidSyntax, "Invalid SQL syntax: the text is not valid UTF-8")
	}
	p := &parser{lexer: lexer{src: text, nest: d != nil}, memory: memory, dialect: d}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var list []Statement
	for {
		for p.isOp(";") {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		if p.tok.kind == tokEOF {
			break
		}
		start := p.tok.pos
		if err := p.begin(); err != nil {
			return nil, err
		}
		st, err := p.statement()
		if err != nil {
			return nil, err
		}
		if p.tok.kind != tokEOF && !p.isOp(";") {
			return nil, p.trailing()
		}
		st.setSource(text, start, p.prev)
		list = append(list, st)
	}
	if len(list) == 0 {
		return nil, status.New(status.InvalidArguments, "Invalid SQL, error: empty statements")
	}
	return list, nil
}

// ParseQuery reads a text that is one query: the stored definition of a view.
func ParseQuery(text string) (*Query, error) {
	list, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if s, ok := list[0].(*SelectStmt); ok && len(list) == 1 {
		return s.Query, nil
	}
	return nil, status.New(status.InvalidSyntax, "Invalid SQL syntax: expected a query")
}

// ParseExpr reads a text that is one expression.
func ParseExpr(text string) (Expr, error) {
	p := &parser{lexer: lexer{src: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEOF {
		return nil, p.expected("end of expression")
	}
	return x, nil
}

// trailing is the error for words after a whole statement.
func (p *parser) trailing() error {
	if p.tok.kind == tokWord {
		line, column := Place(p.src, p.tok.pos)
		return status.New(status.Unsupported, "SQL statement is not supported, keyword: %s: %s",
			strings.ToUpper(p.tok.text), p.expected("end of statement").Error()).At(line, column,
			tokenLength(p.src, p.tok.pos))
	}
	return p.expected("end of statement")
}

func (p *parser) advance() error {
	p.prev = p.tok.end
	t, err := p.lexer.next()
	if err != nil {
		return err
	}
	p.tok = t
	if p.unheard++; p.unheard >= cancelTokens && p.memory != nil {
		p.unheard = 0
		if err := p.memory.Err(); err != nil {
			return err
		}
	}
	return p.checkLength()
}

// mark is a place to go back to.
type mark struct {
	off      int
	tok      token
	prev     Pos
	operands int
}

func (p *parser) mark() mark  { return mark{p.off, p.tok, p.prev, p.operands} }
func (p *parser) back(m mark) { p.off, p.tok, p.prev, p.operands = m.off, m.tok, m.prev, m.operands }

// peek returns the token after the current one; an unreadable token counts as the end.
func (p *parser) peek() token {
	off := p.off
	t, err := p.lexer.next()
	p.off = off
	if err != nil {
		return token{kind: tokEOF}
	}
	return t
}

// peek2 is the second token after the current one.
func (p *parser) peek2() token {
	off := p.off
	defer func() { p.off = off }()
	if _, err := p.lexer.next(); err != nil {
		return token{kind: tokEOF}
	}
	t, err := p.lexer.next()
	if err != nil {
		return token{kind: tokEOF}
	}
	return t
}

func (t token) is(word string) bool { return t.kind == tokWord && t.text == word }
func (t token) op(op string) bool   { return t.kind == tokOp && t.text == op }

func (p *parser) is(word string) bool { return p.tok.is(word) }
func (p *parser) isOp(op string) bool { return p.tok.op(op) }

// isAny reports whether the current token is one of the words.
func (p *parser) isAny(words ...string) bool {
	for _, w := range words {
		if p.tok.is(w) {
			return true
		}
	}
	return false
}

// take moves past the word if it is the current token.
func (p *parser) take(word string) (bool, error) {
	if !p.is(word) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) takeOp(op string) (bool, error) {
	if !p.isOp(op) {
		return false, nil
	}
	return true, p.advance()
}

// takeWords moves past all the words if they follow one another.
func (p *parser) takeWords(words ...string) (bool, error) {
	m := p.mark()
	for _, w := range words {
		if !p.is(w) {
			p.back(m)
			return false, nil
		}
		if err := p.advance(); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (p *parser) expect(word string) error {
	if !p.is(word) {
		return p.expected(strings.ToUpper(word))
	}
	return p.advance()
}

func (p *parser) expectOp(op string) error {
	if !p.isOp(op) {
		return p.expected("'" + op + "'")
	}
	return p.advance()
}

// expected returns the error that names the expected and the actual text.
func (p *parser) expected(what string) error {
	found := "'" + p.src[p.tok.pos:p.tok.end] + "'"
	if p.tok.kind == tokEOF {
		found = "the end of the text"
	} else if len(found) > 60 {
		found = strings.ToValidUTF8(found[:57], "") + "...'"
	}
	err := syntaxError(p.src, p.tok.pos, "expected %s, found %s", what, found)
	hint := p.hint(clauseWords)
	err.Msg += hint
	return status.Hinted(err, hint)
}

func (p *parser) fail(at Pos, format string, args ...any) error {
	return syntaxError(p.src, at, format, args...)
}

// enter counts a level of nesting; leave undoes it.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(p.tok.pos, "nesting deeper than %d levels", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// ident reads any word or quoted name as an identifier.
func (p *parser) ident(what string) (Ident, error) {
	if p.tok.kind != tokWord && p.tok.kind != tokQuoted {
		return Ident{}, p.expected(what)
	}
	id := Ident{Name: p.tok.text, Quote: p.tok.quote, At: p.tok.pos}
	return id, p.advance()
}

// name reads a dotted name. quotedText reports whether single-quoted parts are taken, as in DDL.
func (p *parser) name(what string, quotedText bool) (Name, error) {
	var n Name
	for {
		if quotedText && p.tok.kind == tokString {
			n = append(n, Ident{Name: p.tok.text, Quote: '\'', At: p.tok.pos})
			if err := p.advance(); err != nil {
				return nil, err
			}
		} else {
			id, err := p.ident(what)
			if err != nil {
				return nil, err
			}
			n = append(n, id)
		}
		if !p.isOp(".") || len(n) == 4 {
			return n, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

// identList reads (a, b, ..).
func (p *parser) identList(what string) ([]Ident, error) {
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	var list []Ident
	for {
		id, err := p.ident(what)
		if err != nil {
			return nil, err
		}
		list = append(list, id)
		if ok, err := p.more(); err != nil {
			return nil, err
		} else if !ok {
			return list, p.expectOp(")")
		}
	}
}

// listEnds are the words that follow lists without parentheses.
var listEnds = wordSet(
	"from where group having order limit offset union except intersect minus window qualify align fetch select")

// more moves past the comma between elements of a list and reports whether another element follows: a list may end with
// a comma.
func (p *parser) more() (bool, error) {
	if ok, err := p.takeOp(","); err != nil || !ok {
		return false, err
	}
	switch p.tok.kind {
	case tokEOF:
		return false, nil
	case tokOp:
		switch p.tok.text {
		case ")", "]", "}", ";":
			return false, nil
		}
	case tokWord:
		return !listEnds[p.tok.text] || soft[p.tok.text] && endsOperand(p.peek()), nil
	}
	return true, nil
}

// text reads a string literal, or a double-quoted word in place of one.
func (p *parser) text(what string) (string, error) {
	if p.tok.kind != tokString && !(p.tok.kind == tokQuoted && p.tok.quote == '"') {
		return "", p.expected(what)
	}
	s := p.tok.text
	return s, p.advance()
}

// optionList reads (k = v, ..): keys are words, dotted words, quoted names or strings; values literals or words.
func (p *parser) optionList() ([]Option, error) {
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	var list []Option
	for {
		if ok, err := p.takeOp(")"); ok || err != nil {
			return list, err
		}
		o, err := p.option()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if ok, err := p.takeOp(","); err != nil {
			return nil, err
		} else if !ok {
			return list, p.expectOp(")")
		}
	}
}

func (p *parser) option() (Option, error) {
	key, err := p.optionKey()
	if err != nil {
		return Option{}, err
	}
	o := Option{At: p.tok.pos, Key: key}
	if err := p.expectOp("="); err != nil {
		return o, err
	}
	sign := ""
	if p.isOp("-") {
		sign = "-"
		if err := p.advance(); err != nil {
			return o, err
		}
	}
	switch p.tok.kind {
	case tokString, tokNumber, tokSpan, tokWord, tokQuoted:
		o.Null = p.is("null")
		o.Value = sign + p.tok.text
		return o, p.advance()
	}
	return o, p.expected("the value of option " + key)
}

func (p *parser) optionKey() (string, error) {
	if p.tok.kind == tokString {
		key := p.tok.text
		return key, p.advance()
	}
	n, err := p.name("an option name", false)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}
