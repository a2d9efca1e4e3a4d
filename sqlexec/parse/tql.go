package parse

import (
	"errors"
	"strings"

	"varve/engine/status"
)

// tql reads TQL {EVAL|EXPLAIN|ANALYZE} [(start, end, step [, lookback]) [,]] expr [AS alias]. The expression is in
// another language: it is kept as text up to the semicolon or, inside a common table expression, the closing
// parenthesis.
func (p *parser) tql(nested bool) (*TQL, error) {
	t := &TQL{At: p.tok.pos}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case p.isAny("eval", "evaluate"):
		t.Kind = "eval"
	case p.isAny("explain", "analyze"):
		t.Kind = p.tok.text
	default:
		return nil, p.expected("EVAL, EXPLAIN or ANALYZE")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if t.Kind != "eval" {
		var err error
		if t.Verbose, err = p.take("verbose"); err != nil {
			return nil, err
		}
		if ok, err := p.take("format"); err != nil {
			return nil, err
		} else if ok {
			id, err := p.ident("a format")
			if err != nil {
				return nil, err
			}
			t.Format = id.Name
		}
	}
	if p.isOp("(") {
		if err := p.tqlGrid(t); err != nil {
			return nil, err
		}
	}
	return t, p.tqlExpr(t, nested)
}

// tqlGrid reads (start, end, step [, lookback]). The current token after it is not read: it is of the other language.
func (p *parser) tqlGrid(t *TQL) error {
	if err := p.advance(); err != nil {
		return err
	}
	list, err := p.exprList()
	if err != nil {
		return err
	}
	if !p.isOp(")") {
		return p.expected("')'")
	}
	if len(list) < 3 || len(list) > 4 {
		return p.fail(t.At, "TQL needs (start, end, step [, lookback]), found %d values", len(list))
	}
	t.Start, t.End, t.Step = list[0], list[1], list[2]
	if len(list) == 4 {
		t.Lookback = list[3]
	}
	p.tok.pos = p.tok.end // the expression begins here
	return nil
}

// tqlExpr takes the raw text up to its end and splits AS alias off.
func (p *parser) tqlExpr(t *TQL, nested bool) error {
	start := int(p.tok.pos)
	if t.Start != nil {
		start = len(p.src) - len(strings.TrimLeft(p.src[start:], ", \t\r\n"))
	}
	end, as, err := p.tqlEnd(start, nested)
	if err != nil {
		return err
	}
	expr := strings.TrimSpace(p.src[start:end])
	if as >= 0 {
		l := lexer{src: p.src[:end], off: as + len("as")}
		alias, err := l.next()
		if err == nil && (alias.kind == tokWord || alias.kind == tokQuoted) &&
			strings.TrimSpace(p.src[alias.end:end]) == "" {
			expr, t.Alias = strings.TrimSpace(p.src[start:as]), alias.text
		}
	}
	if expr == "" {
		return p.fail(Pos(start), "expected a metrics expression")
	}
	t.Expr = expr
	blanks := len(p.src[start:]) - len(strings.TrimLeft(p.src[start:], " \t\r\n"))
	t.ExprAt.Line, t.ExprAt.Column = Place(p.src, Pos(start+blanks))
	p.off = end
	p.tok.end = Pos(start + len(strings.TrimRight(p.src[start:end], " \t\r\n")))
	return p.advance()
}

// tqlEnd finds the end of the expression that begins at start and its last AS outside quotes and brackets, -1 when
// there is none.
func (p *parser) tqlEnd(start int, nested bool) (end, as int, err error) {
	depth, as := 0, -1
	for i := start; i < len(p.src); i++ {
		switch c := p.src[i]; c {
		case '"', '\'', '`':
			close := closeQuote(p.src, i)
			if close < 0 {
				return 0, 0, p.fail(Pos(i), "unterminated string")
			}
			i = close
		case '#':
			if nl := strings.IndexByte(p.src[i:], '\n'); nl >= 0 {
				i += nl
			} else {
				i = len(p.src)
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 && nested && c == ')' {
				return i, as, nil
			}
			depth--
		case ';':
			return i, as, nil
		case 'a', 'A':
			if depth == 0 && isBlank(p.src[i-1]) && i+2 < len(p.src) && p.src[i+1]|0x20 == 's' && isBlank(p.src[i+2]) {
				as = i
			}
		}
	}
	return len(p.src), as, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ')' }

// closeQuote finds the end of a quoted text of the metrics language: backslash escapes but in backquotes.
func closeQuote(s string, open int) int {
	q := s[open]
	for i := open + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q != '`':
			i++
		case s[i] == q:
			return i
		}
	}
	return -1
}

// copy reads COPY t|(query)|DATABASE d TO|FROM 'path' [WITH (..)] [LIMIT n].
func (p *parser) copy() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	c := &Copy{}
	var err error
	switch {
	case p.isOp("("):
		c.Query, err = p.parenQuery()
	case p.is("database"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		var n Name
		if n, err = p.name("a database name", true); err == nil {
			c.Database = n.String()
		}
	default:
		if p.is("table") && !p.peek().is("to") && !p.peek().is("from") {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		c.Table, err = p.name("a table name", true)
	}
	if err != nil {
		return nil, err
	}
	if !p.isAny("to", "from") {
		return nil, p.expected("TO or FROM")
	}
	c.To = p.is("to")
	if err := p.advance(); err != nil {
		return nil, err
	}
	if c.Path, err = p.text("a path"); err != nil {
		return nil, err
	}
	for p.isAny("with", "connection") && p.peek().op("(") {
		into := &c.Options
		if p.is("connection") {
			into = &c.Connection
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if *into, err = p.optionList(); err != nil {
			return nil, err
		}
	}
	if ok, err := p.take("limit"); err != nil {
		return nil, err
	} else if ok {
		c.Limit, err = p.expr()
		return c, err
	}
	return c, nil
}

// Within returns an error of the expression its place in the text of the statement.
func (t *TQL) Within(err error) error {
	var e *status.Error
	if !errors.As(err, &e) || e.Place == nil || t.ExprAt.Line == 0 {
		return err
	}
	at := *e.Place
	if at.Line == 1 {
		at.Column += t.ExprAt.Column - 1
	}
	return e.WithMessage("%s", e.Msg).At(at.Line+t.ExprAt.Line-1, at.Column, at.Length)
}
