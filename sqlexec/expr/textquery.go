package expr

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// textQuery is a query of matches(): words and phrases that occur in a text as they are, byte for byte.
//
//	a b       one of them is enough        "a b"    a phrase
//	+a b      a must be there, b may       -a       a must not be there
//	a AND b   both; binds tighter than OR  (..)     as one
//
// When any part of a sequence is required, the optional ones decide nothing.
type textQuery struct {
	op    byte // 0: optional, '+': required, '-': forbidden
	word  []byte
	parts []*textQuery // a sequence; nil: a word
	all   bool         // parts are joined by AND
}

// maxQueryDepth bounds parentheses inside each other.
const maxQueryDepth = 64

// parseTextQuery reads a query. Errors say what is wrong with it.
func parseTextQuery(text string) (*textQuery, error) {
	r := &queryReader{s: text}
	q, err := r.sequence()
	switch {
	case err != nil:
		return nil, err
	case r.s != "":
		return nil, fmt.Errorf("the query '%s' has a ) too many", text)
	}
	return q, nil
}

type queryReader struct {
	s     string
	depth int
}

func (r *queryReader) space() { r.s = strings.TrimLeft(r.s, " \t\r\n") }

// keyword takes AND or OR as a word of its own.
func (r *queryReader) keyword(w string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.s, w)
	if !ok || rest != "" && !strings.ContainsRune(" \t\r\n()\"", rune(rest[0])) {
		return false
	}
	r.s = rest
	return true
}

// sequence reads chains with OR or nothing between them, to the end or a closing parenthesis.
func (r *queryReader) sequence() (*textQuery, error) {
	if r.depth++; r.depth > maxQueryDepth {
		return nil, fmt.Errorf("a query has more than %d parentheses inside each other", maxQueryDepth)
	}
	defer func() { r.depth-- }()
	q := &textQuery{}
	for {
		r.space()
		if r.s == "" || r.s[0] == ')' {
			break
		}
		if len(q.parts) > 0 && r.keyword("OR") {
			if r.space(); r.s == "" || r.s[0] == ')' {
				return nil, errors.New("a query ends after OR")
			}
		}
		part, err := r.chain()
		if err != nil {
			return nil, err
		}
		q.parts = append(q.parts, part)
	}
	if len(q.parts) == 0 {
		return nil, errors.New("a query has no words")
	}
	return q, nil
}

// chain reads terms with AND between them.
func (r *queryReader) chain() (*textQuery, error) {
	first, err := r.term()
	if err != nil || !r.keyword("AND") {
		return first, err
	}
	q := &textQuery{all: true, parts: []*textQuery{first}}
	for {
		part, err := r.term()
		if err != nil {
			return nil, err
		}
		if q.parts = append(q.parts, part); !r.keyword("AND") {
			return q, nil
		}
	}
}

// term reads a word, a phrase or a sequence in parentheses, with + or - before it.
func (r *queryReader) term() (*textQuery, error) {
	r.space()
	op := byte(0)
	if len(r.s) > 1 && (r.s[0] == '+' || r.s[0] == '-') {
		op = r.s[0]
		r.s = r.s[1:]
	}
	if r.s == "" || r.s[0] == ')' {
		return nil, errors.New("a query needs a word at its end")
	}
	switch r.s[0] {
	case '(':
		r.s = r.s[1:]
		q, err := r.sequence()
		if err != nil {
			return nil, err
		}
		if r.s == "" {
			return nil, errors.New("a query has a ( without its )")
		}
		r.s = r.s[1:]
		return &textQuery{op: op, parts: []*textQuery{q}}, nil
	case '"':
		word, ok := r.phrase()
		if !ok {
			return nil, errors.New(`a query has a " without its pair`)
		}
		return &textQuery{op: op, word: word}, nil
	}
	end := strings.IndexAny(r.s, " \t\r\n()\"")
	if end < 0 {
		end = len(r.s)
	}
	word := r.s[:end]
	r.s = r.s[end:]
	return &textQuery{op: op, word: []byte(word)}, nil
}

// phrase reads to the closing quote; a backslash takes the next character as it is.
func (r *queryReader) phrase() ([]byte, bool) {
	var word []byte
	for i := 1; i < len(r.s); i++ {
		switch c := r.s[i]; {
		case c == '"':
			r.s = r.s[i+1:]
			return word, true
		case c == '\\' && i+1 < len(r.s):
			i++
			word = append(word, r.s[i])
		default:
			word = append(word, c)
		}
	}
	return nil, false
}

// match reports whether a text answers the query.
func (q *textQuery) match(s []byte) bool {
	if q.parts == nil {
		return bytes.Contains(s, q.word)
	}
	if q.all {
		for _, p := range q.parts {
			if p.match(s) == (p.op == '-') {
				return false
			}
		}
		return true
	}
	required, optional, some := false, false, false
	for _, p := range q.parts {
		switch hit := p.match(s); p.op {
		case '-':
			if hit {
				return false
			}
		case '+':
			if !hit {
				return false
			}
			required = true
		default:
			optional = true
			some = some || hit
		}
	}
	return required || !optional || some
}
