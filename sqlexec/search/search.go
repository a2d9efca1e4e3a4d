// Package search parses the search line of the dashboard, `varve tail` and `varve export`: words, phrases and fields,
// which become the condition of a WHERE clause. The clause is shown to the person who types.
//
//	query  = or ; or = and { "OR" and } ; and = not { ["AND"] not } ; not = [ "-" | "NOT" ] term
//	term   = "(" or ")" | field ":" value | text
//	value  = cmp literal | literal ".." literal | "(" literal { "," literal } ")" | "*" | regex | text
//	cmp    = ">" | ">=" | "<" | "<=" | "=" | "!="
//	text   = word | "phrase in quotes" | word "*" | "~" word-or-phrase | regex ;  regex = "/" pattern "/" ["i"]
//
// The dashboard implements the same grammar in JavaScript; server/dashboard/testdata/search.json has the cases that
// both pass.
//
// # What is not in the grammar
//
// A backslash escapes the next character. A name before a colon is a field if it looks like a name and something
// follows that is neither "//" nor ":". So http://x, std::vector, 12:30 and a word that ends with a colon are text. A
// slash begins a regular expression if the next unescaped slash ends the word: /api/v1 is text. Parentheses that open
// inside a word belong to it: call(x) is one word. A negated condition also holds for rows without the field. The
// negation of a group is the negation of its parts.
package search

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a search line: it is typed, or made by clicks.
const (
	MaxLength = 8192 // characters
	MaxDepth  = 50   // parentheses in parentheses
)

// Column is a column of the table that is searched.
type Column struct {
	Name string
	Type string // as information_schema.columns.data_type has it
}

// Table is what a search line is read against.
type Table struct {
	Columns []Column
	// Message is the column in which words are looked for; empty: none.
	Message string
	// AnyCase takes upper and lower case for the same in words of the message.
	AnyCase bool
}

// Error is a line that cannot be read, with its place in characters.
type Error struct {
	Text       string
	At, Length int
	// Near are names of columns that may have been meant, the nearest first.
	Near []string
}

func (e *Error) Error() string { return e.Text }

// Condition is what a search line means.
type Condition struct {
	// Where is empty for a line without any condition. It is not in parentheses although it may have an OR outside.
	Where string
	// Words are the texts that are looked for in the message, as they were typed: what marks the hits.
	Words []string
}

// Where is the condition of a search line in SQL.
func (t *Table) Where(line string) (string, error) {
	c, err := t.Read(line)
	return c.Where, err
}

// Read reads a search line. Its errors are of type *Error.
func (t *Table) Read(line string) (Condition, error) {
	if n := utf8.RuneCountInString(line); n > MaxLength {
		return Condition{}, &Error{Text: fmt.Sprintf("the search has %d characters, the most are %d", n, MaxLength),
			At: MaxLength, Length: n - MaxLength}
	}
	p := &parser{table: t, src: []rune(line)}
	p.blanks()
	if p.at == len(p.src) {
		return Condition{}, nil
	}
	c, err := p.or()
	if err != nil {
		return Condition{}, err
	}
	if p.at < len(p.src) {
		return Condition{}, p.fail(p.at, 1, "this parenthesis was not opened")
	}
	return Condition{Where: c.yes.text, Words: p.words}, nil
}

// parser reads a line from left to right; between two terms it stands on no blank.
type parser struct {
	table *Table
	src   []rune
	at    int
	depth int

	negated bool     // an odd number of negations is around
	words   []string // looked for in the message, where it is not negated
}

func (p *parser) fail(at, length int, format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), At: at, Length: length}
}

func (p *parser) or() (cond, error) {
	var parts []cond
	for {
		c, err := p.and()
		if err != nil {
			return cond{}, err
		}
		parts = append(parts, c)
		if !p.keyword("OR") {
			return anyOf(parts), nil
		}
	}
}

func (p *parser) and() (cond, error) {
	var parts []cond
	for {
		c, err := p.not()
		if err != nil {
			return cond{}, err
		}
		parts = append(parts, c)
		if p.keyword("AND") {
			continue
		}
		if p.at == len(p.src) || p.src[p.at] == ')' || p.ahead("OR") {
			return allOf(parts), nil
		}
	}
}

func (p *parser) not() (cond, error) {
	negated := p.keyword("NOT")
	if !negated && p.peek(0) == '-' && p.at+1 < len(p.src) && !blank(p.src[p.at+1]) && p.src[p.at+1] != ')' {
		p.at++
		negated = true
	}
	p.negated = p.negated != negated
	c, err := p.term()
	p.negated = p.negated != negated
	if negated {
		c.yes, c.no = c.no, c.yes
	}
	return c, err
}

func (p *parser) term() (cond, error) {
	start := p.at
	switch {
	case p.at == len(p.src):
		return cond{}, p.fail(p.at, 0, "a term is missing here")
	case p.src[p.at] == ')', p.ahead("OR"), p.ahead("AND"):
		return cond{}, p.fail(p.at, 1, "a term is missing before this")
	case p.src[p.at] != '(':
		c, err := p.field()
		p.blanks()
		return c, err
	}
	if p.depth++; p.depth > MaxDepth {
		return cond{}, p.fail(start, 1, "more than %d parentheses lie in each other", MaxDepth)
	}
	p.at++
	p.blanks()
	if p.peek(0) == ')' {
		return cond{}, p.fail(start, p.at+1-start, "there is nothing in these parentheses")
	}
	c, err := p.or()
	if err != nil {
		return cond{}, err
	}
	if p.peek(0) != ')' {
		return cond{}, p.fail(start, 1, "this parenthesis is not closed")
	}
	p.at++
	p.depth--
	p.blanks()
	return c, nil
}

// keyword takes a word that joins terms.
func (p *parser) keyword(word string) bool {
	if !p.ahead(word) {
		return false
	}
	p.at += len(word)
	p.blanks()
	return true
}

// ahead reports whether a word that joins terms stands here.
func (p *parser) ahead(word string) bool {
	end := p.at + len(word)
	return end <= len(p.src) && string(p.src[p.at:end]) == word &&
		(end == len(p.src) || blank(p.src[end]) || p.src[end] == '(' || p.src[end] == ')')
}

func (p *parser) blanks() {
	for p.at < len(p.src) && blank(p.src[p.at]) {
		p.at++
	}
}

// peek is the character n places on, 0 at the end.
func (p *parser) peek(n int) rune {
	if p.at+n < len(p.src) {
		return p.src[p.at+n]
	}
	return 0
}

func blank(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r\u00a0", r) }
