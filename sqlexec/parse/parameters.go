package parse

import (
	"strconv"
	"strings"

	"varve/engine/status"
)

// MaxParameters is the largest number of a parameter: protocols count parameters in 16 bits.
const MaxParameters = 65535

// Dialect is how clients of the wire protocol write SQL. Names of types, operators and orders of texts may have
// pg_catalog before them.
type Dialect struct {
	// Parameter gives the expression that stands for parameter $n; at is its place.
	Parameter func(n int, at Node) (Expr, error)
	// Count is told of a parameter after LIMIT, OFFSET or FETCH, which is a number of rows; nil: nobody asks.
	Count func(n int)
	// Call gives the expression that stands for a call, which may be the call itself.
	Call func(c *Call) (Expr, error)
	// Cast does the same for a cast.
	Cast func(c *Cast) (Expr, error)
	// Index gives what stands for x[i], Items what stands for a list alone in ANY or ALL, and Field what stands for
	// (x).name; nil: they stay, and there are no fields.
	Index func(x *Index) Expr
	Items func(list Expr) Expr
	Field func(x Expr, name string) (Expr, error)
	// Table gives the name of the table that stands for a function in FROM, nil if none does; nil: none does.
	Table func(c *Call) Name
	// Select changes a SELECT that is read; nil: it stays.
	Select func(s *Select)
	// Text is told of a text that has a backslash; nil: nobody asks.
	Text func(x *Literal)
	// List gives the values that a text is which stands alone in ANY or ALL; nil: the text is one value.
	List func(text *Literal) ([]Expr, error)
	// Insert changes an INSERT that is read; nil: it stays.
	Insert func(st *Insert) error
	// Default gives what stands for the default of a column of a table; t is nil where the statement does not say its
	// type. Default nil: it stays.
	Default func(table Name, column string, t *DataType, x Expr) (Expr, error)
}

// ParseDialect is ParseWithin for a text in a dialect. A view whose text means something else without the dialect is
// Unsupported.
func ParseDialect(text string, memory Memory, d *Dialect) ([]Statement, error) {
	list, err := parseAll(text, memory, d)
	if err != nil {
		return nil, err
	}
	for _, st := range list {
		if of, ok := st.(*Explain); ok {
			st = of.Of
		}
		switch st := st.(type) {
		case *CreateView:
			err = checkKept(st, memory)
		case *Insert:
			if d.Insert != nil {
				err = d.Insert(st)
			}
		case *CreateTable:
			for i := range st.Columns {
				if err == nil {
					err = d.columnDefault(st.Name, &st.Columns[i])
				}
			}
		case *AlterTable:
			err = d.defaults(st)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// columnDefault replaces the default of a column, if it has one.
func (d *Dialect) columnDefault(table Name, c *ColumnDef) (err error) {
	if d.Default != nil && c.Default != nil {
		c.Default, err = d.Default(table, c.Name.Name, &c.Type, c.Default)
	}
	return err
}

// defaults replaces the defaults that an ALTER TABLE gives.
func (d *Dialect) defaults(st *AlterTable) (err error) {
	for _, op := range st.Ops {
		switch op := op.(type) {
		case *AddColumn:
			err = d.columnDefault(st.Name, &op.Column)
		case *ModifyDefault:
			if d.Default != nil && op.Default != nil {
				op.Default, err = d.Default(st.Name, op.Name.Name, nil, op.Default)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cast is a cast, or what stands for it.
func (p *parser) cast(c *Cast) (Expr, error) {
	if p.dialect == nil {
		return c, nil
	}
	return p.dialect.Cast(c)
}

// called is a call, or what stands for it.
func (p *parser) called(x Expr, err error) (Expr, error) {
	if c, ok := x.(*Call); ok && err == nil && p.dialect != nil {
		if x, err = p.dialect.Call(c); err == nil && x != Expr(c) {
			p.stood, p.stoodFor = x, c.Name
		}
		return x, err
	}
	return x, err
}

// dialectTable is what stands for a function in FROM: a table, or for one that gives a value a query of that value,
// whose column has the name of the alias. nil: x is a table function.
func (p *parser) dialectTable(at Node, x Expr) (TableRef, error) {
	name := p.stoodFor
	call, ok := x.(*Call)
	if p.stood == x && p.dialect.Table != nil { // what stands for it is a value, and a table does as well
		if of := p.dialect.Table(&Call{Node: at, Name: name}); of != nil {
			t := &Table{Node: at, Name: of}
			var err error
			t.Alias, err = p.tableAlias()
			return t, err
		}
	}
	if ok {
		name = call.Name
	}
	switch name {
	case "generate_series", "range", "unnest":
		return nil, nil
	}
	if ok {
		if p.dialect.Table != nil {
			if of := p.dialect.Table(call); of != nil {
				t := &Table{Node: at, Name: of}
				var err error
				t.Alias, err = p.tableAlias()
				return t, err
			}
		}
	} else if p.stood != x {
		return nil, nil
	}
	alias, err := p.tableAlias()
	if err != nil {
		return nil, err
	}
	if alias == nil {
		alias = &Alias{Name: Ident{Name: name, At: at.At}}
	}
	if len(alias.Columns) == 0 {
		alias.Columns = []Ident{alias.Name}
	}
	return &Derived{Node: at, Alias: alias,
		Query: &Query{Node: at, Body: &Select{Node: at, Items: []SelectItem{{X: x, Alias: &alias.Columns[0]}}}}}, nil
}

// aliasColumns names the columns of series and lists in FROM after their aliases, as clients write them, where a name
// that stands alone is such an alias.
func aliasColumns(s *Select) {
	var of map[string]*Alias
	var look func(t TableRef)
	look = func(t TableRef) {
		switch t := t.(type) {
		case *TableFunc:
			if t.Alias != nil && len(t.Alias.Columns) == 0 && !t.Ordinality {
				if of == nil {
					of = map[string]*Alias{}
				}
				of[t.Alias.Name.Name] = t.Alias
			}
		case *Join:
			look(t.L)
			look(t.R)
		}
	}
	for _, t := range s.From {
		look(t)
	}
	if of == nil {
		return
	}
	for _, x := range s.Clauses() {
		Walk(x, func(x Expr) bool {
			if c, ok := x.(*Column); ok && len(c.Parts) == 1 {
				if a := of[c.Parts[0].Name]; a != nil {
					a.Columns = []Ident{a.Name}
				}
			}
			return true
		})
	}
}

// sessionUser reports whether the word user stands for the name of the user: as a part of a search path.
func (p *parser) sessionUser() bool {
	before := strings.ToLower(strings.Join(strings.Fields(p.src[max(0, int(p.tok.pos)-32):p.tok.pos]), " "))
	return p.dialect != nil && strings.HasSuffix(before, `'"$user"' then`)
}

// indexed is x[i], or what stands for it.
func (p *parser) indexed(x *Index) Expr {
	if p.dialect == nil || p.dialect.Index == nil {
		return x
	}
	return p.dialect.Index(x)
}

// fields reads .name after an expression in parentheses.
func (p *parser) fields(x Expr, err error) (Expr, error) {
	for err == nil && p.dialect != nil && p.dialect.Field != nil && p.isOp(".") {
		if next := p.peek(); next.kind != tokWord && next.kind != tokQuoted {
			break
		}
		if err = p.advance(); err != nil {
			break
		}
		var id Ident
		if id, err = p.ident("a field"); err == nil {
			x, err = p.dialect.Field(x, id.Name)
		}
	}
	return x, err
}

// listOfText puts the values of a text in its place, if it stands alone in ANY or ALL.
func (p *parser) listOfText(x *Quantified) error {
	if p.dialect == nil || p.dialect.List == nil || len(x.List) != 1 {
		return nil
	}
	lit, ok := x.List[0].(*Literal)
	if !ok || lit.Kind != StringLiteral {
		if p.dialect.Items != nil {
			x.List[0] = p.dialect.Items(x.List[0])
		}
		return nil
	}
	err := p.hold(int64(strings.Count(lit.Text, ",")) * cellBytes) // of the values beside the first
	if err != nil {
		return err
	}
	x.List, err = p.dialect.List(lit)
	return err
}

// operatorName reads OPERATOR(pg_catalog.~), and makes the operator the current token.
func (p *parser) operatorName() error {
	for _, word := range []string{"operator", "(", "pg_catalog", "."} {
		if !p.is(word) && !p.isOp(word) {
			return p.expected("OPERATOR(pg_catalog. and an operator")
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	op := p.tok
	if op.kind != tokOp {
		return p.expected("an operator")
	}
	if err := p.advance(); err != nil {
		return err
	}
	if !p.isOp(")") {
		return p.expected("')'")
	}
	p.tok = op
	return nil
}

// skipCatalog moves past pg_catalog before the name of a table function.
func (p *parser) skipCatalog() error {
	if p.dialect == nil || !p.is("pg_catalog") || !p.peek().op(".") {
		return nil
	}
	m := p.mark()
	for range 2 {
		if err := p.advance(); err != nil {
			return err
		}
	}
	if !p.peek().op("(") {
		p.back(m)
	}
	return nil
}

// collation reads COLLATE name. Texts have the order of their bytes, whatever the name is.
func (p *parser) collation() error {
	if err := p.advance(); err != nil {
		return err
	}
	n, err := p.name("a collation", false)
	if err != nil {
		return err
	}
	switch last := strings.ToLower(n[len(n)-1].Name); last {
	case "default", "c", "posix", "ucs_basic":
		return nil
	}
	return p.fail(n[0].At, "collation %s is not supported", n)
}

// arrayQuery reads ARRAY(query): the list of the values of a query of one column, which is empty if there are none.
func (p *parser) arrayQuery(at Node) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	q, err := p.parenQuery()
	if err != nil {
		return nil, err
	}
	column := Ident{Name: "value", At: at.At}
	list := &Call{Node: at, Name: "array_agg", Args: []Expr{&Column{Node: at, Parts: Name{column}}}}
	of := &Derived{Node: at, Query: q, Alias: &Alias{Name: Ident{Name: "list", At: at.At}, Columns: []Ident{column}}}
	values := &Subquery{Node: at, Query: &Query{Node: at, Body: &Select{Node: at, Items: []SelectItem{{X: list}},
		From: []TableRef{of}}}}
	return &Call{Node: at, Name: "coalesce", Args: []Expr{values, &Array{Node: at}}}, nil
}

// parameter reads $n.
func (p *parser) parameter(at Node) (Expr, error) {
	n, err := strconv.Atoi(p.tok.text)
	if err != nil || n < 1 || n > MaxParameters {
		return nil, p.fail(at.At, "parameter $%s does not exist: numbers go from 1 to %d", p.tok.text, MaxParameters)
	}
	if p.dialect == nil {
		return nil, p.fail(at.At, "parameter $%d has no value", n)
	}
	if p.dialect.Count != nil && p.afterCount() {
		p.dialect.Count(n)
	}
	x, err := p.dialect.Parameter(n, at)
	if err != nil {
		return nil, err
	}
	return x, p.advance()
}

// afterCount reports whether the token before the current one is a word that a number of rows follows.
func (p *parser) afterCount() bool {
	before := p.src[:p.prev]
	for _, word := range []string{"limit", "offset", "first", "next"} {
		at := len(before) - len(word)
		if at > 0 && strings.EqualFold(before[at:], word) && !isWordStart(before[at-1]) && !isDigit(before[at-1]) {
			return true
		}
	}
	return false
}

// Piece is the text of one statement of a text, without the semicolon.
type Piece struct {
	Text string
	At   int // bytes before it in the whole text
}

// maxPieces bounds the statements of a text that is cut.
const maxPieces = 10_000

// Pieces cuts a text at the semicolons between its statements. It knows no grammar, so it takes statements that Parse
// does not know. Pieces without a word are left out.
func Pieces(text string) ([]Piece, error) {
	l := lexer{src: text, nest: true}
	var list []Piece
	for begin := -1; ; {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		switch {
		case t.kind == tokEOF || t.op(";"):
			if begin >= 0 {
				list = append(list, Piece{text[begin:t.pos], begin})
			}
			if t.kind == tokEOF {
				return list, nil
			}
			if begin = -1; len(list) > maxPieces {
				return nil, status.New(status.InvalidArguments, "the text has more than %d statements", maxPieces)
			}
		case begin < 0:
			begin = int(t.pos)
		}
	}
}

// Lexeme is one word of a text: what Text is tells Kind.
type Lexeme struct {
	Kind LexemeKind
	Text string // without quotes; words in lower case
	At   int    // bytes before it
}

// LexemeKind is the kind of a lexeme.
type LexemeKind uint8

// The kinds of lexemes.
const (
	WordLexeme   LexemeKind = iota // unquoted
	QuotedLexeme                   // in double quotes
	TextLexeme                     // in single quotes
	OtherLexeme                    // number, operator, parameter
)

// Is reports whether the lexeme is a word without quotes.
func (t Lexeme) Is(word string) bool { return t.Kind == WordLexeme && t.Text == word }

// Lexemes are the first lexemes of a text, at most most of them. What cannot be read ends the list.
func Lexemes(text string, most int) (list []Lexeme) {
	l := lexer{src: text, nest: true}
	for len(list) < most {
		t, err := l.next()
		if err != nil || t.kind == tokEOF {
			break
		}
		one := Lexeme{Kind: OtherLexeme, Text: t.text, At: int(t.pos)}
		switch t.kind {
		case tokWord:
			one.Kind = WordLexeme
		case tokQuoted:
			one.Kind = QuotedLexeme
		case tokString:
			one.Kind = TextLexeme
		}
		list = append(list, one)
	}
	return list
}

// tagged reads $tag$text$tag$; the offset is at the first dollar. ok is false if no tag is there.
func (l *lexer) tagged() (text string, ok bool, err error) {
	end := l.off + 1
	for end < len(l.src) && (isWordStart(l.src[end]) || isDigit(l.src[end])) {
		end++
	}
	if end == len(l.src) || l.src[end] != '$' {
		return "", false, nil
	}
	tag := l.src[l.off : end+1]
	n := strings.Index(l.src[end+1:], tag)
	if n < 0 {
		return "", true, syntaxError(l.src, Pos(l.off), "unterminated string literal")
	}
	l.off = end + 1 + n + len(tag)
	return l.src[end+1 : end+1+n], true, nil
}
