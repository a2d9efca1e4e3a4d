package shell

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is what a text is cut into: a statement, or a meta command.
type piece struct {
	text     string // a statement without its semicolon, or a meta command with its backslash
	line     int    // of its first byte, from 1
	vertical bool   // the statement ended with \G
	meta     bool
}

// splitter cuts a text that arrives in whole lines into pieces, as the server's parser would cut it: semicolons end
// statements but in strings, quoted names, comments and expressions of the metrics language, which has its own quotes.
// A backslash outside of those begins a meta command, to the end of its line; what stands before it stays the begun
// statement.
type splitter struct {
	buf   []byte // what has arrived and was not given out
	at    int    // buf[:at] is looked at
	line  int    // of buf[0], from 1
	quote byte   // what is open at at: ' " ` of texts, e of E'..', $ of $$..$$, * of a comment, 0: nothing
	depth int    // brackets that are open
	tql   tqlState
	base  int // depth around the TQL statement
}

// tqlState is where in a TQL statement a splitter is.
type tqlState uint8

const (
	noTQL   tqlState = iota
	tqlHead          // before the end of (start, end, step)
	tqlExpr          // in the expression
)

func newSplitter() *splitter { return &splitter{line: 1} }

// add takes the next lines of the text.
func (s *splitter) add(lines []byte) { s.buf = append(s.buf, lines...) }

// empty reports whether no statement is begun: comments and blanks are none.
func (s *splitter) empty() bool { return s.quote == 0 && len(trimLead(s.buf)) == 0 }

// reset forgets the begun statement and gives its text.
func (s *splitter) reset() string {
	text := string(bytes.TrimSpace(s.buf))
	s.cut(len(s.buf))
	return text
}

// cut takes n bytes away from the front.
func (s *splitter) cut(n int) {
	s.line += bytes.Count(s.buf[:n], []byte{'\n'})
	s.buf = s.buf[n:]
	s.at, s.quote, s.depth, s.tql, s.base = 0, 0, 0, noTQL, 0
}

// next gives the next piece of what has arrived. end says that nothing follows: what is left is a statement too.
func (s *splitter) next(end bool) (p piece, ok bool) {
	for s.at < len(s.buf) {
		if s.quote != 0 {
			s.inside()
			continue
		}
		switch c := s.buf[s.at]; {
		case c == ';':
			p, ok = s.statement(s.at, s.at+1)
			if ok {
				return p, true
			}
		case c == '\\':
			if p, ok = s.backslash(); ok {
				return p, true
			}
		default:
			s.token(c)
		}
	}
	if end {
		return s.statement(len(s.buf), len(s.buf))
	}
	return piece{}, false
}

// statement gives buf[:end] as one, if there is anything in it, and goes on behind next.
func (s *splitter) statement(end, next int) (p piece, ok bool) {
	text := bytes.TrimRightFunc(trimLead(s.buf[:end]), unicode.IsSpace)
	line := s.line + bytes.Count(s.buf[:end-len(trimLead(s.buf[:end]))], []byte{'\n'})
	p = piece{text: string(text), line: line}
	s.cut(next)
	return p, len(text) > 0
}

// backslash is at one: \g, \G and \r end the statement, others are commands of their own amid it.
func (s *splitter) backslash() (p piece, ok bool) {
	stop := len(s.buf)
	if i := bytes.IndexByte(s.buf[s.at:], '\n'); i >= 0 {
		stop = s.at + i
	}
	text := strings.TrimSpace(string(s.buf[s.at:stop]))
	for _, run := range []string{`\g`, `\G`} {
		rest, found := strings.CutPrefix(text, run)
		if found && (rest == "" || rest[0] == ';' || rest[0] == ' ' || rest[0] == '\t') &&
			len(trimLead(s.buf[:s.at])) > 0 {
			p, ok = s.statement(s.at, s.at+len(run))
			p.vertical = run == `\G`
			return p, ok
		}
	}
	p = piece{text: text, meta: true, line: s.line + bytes.Count(s.buf[:s.at], []byte{'\n'})}
	if len(trimLead(s.buf[:s.at])) == 0 {
		s.cut(stop)
	} else {
		s.buf = append(s.buf[:s.at], s.buf[stop:]...)
	}
	return p, true
}

// token moves past what begins with c outside of quotes.
func (s *splitter) token(c byte) {
	rest := s.buf[s.at:]
	switch {
	case s.tql != tqlExpr && bytes.HasPrefix(rest, []byte("--")), s.tql == tqlExpr && c == '#':
		s.skipLine()
	case s.tql != tqlExpr && bytes.HasPrefix(rest, []byte("/*")):
		s.quote, s.at = '*', s.at+2
	case bytes.HasPrefix(rest, []byte("//")):
		s.at += 2
	case bytes.HasPrefix(rest, []byte("$$")):
		s.quote, s.at = '$', s.at+2
	case c == '\'' || c == '"' || c == '`':
		s.quote, s.at = c, s.at+1
	case (c == 'e' || c == 'E') && len(rest) > 1 && rest[1] == '\'' && s.tql != tqlExpr:
		s.quote, s.at = 'e', s.at+2
	case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf:
		s.word()
	default:
		s.bracket(c)
		s.at++
	}
}

// bracket counts those that are open, and finds where the expression of a TQL statement begins and ends.
func (s *splitter) bracket(c byte) {
	switch c {
	case '(', '[', '{':
		s.depth++
	case ')', ']', '}':
		s.depth = max(0, s.depth-1)
		switch {
		case s.tql == tqlHead && s.depth == s.base:
			s.tql = tqlExpr
		case s.tql != noTQL && s.depth < s.base:
			s.tql = noTQL
		}
	}
}

// word moves past one.
func (s *splitter) word() {
	start := s.at
	for s.at < len(s.buf) {
		c := s.buf[s.at]
		if c != '_' && c != '#' && c != '$' && c != '@' && !(c >= '0' && c <= '9') &&
			!(c|0x20 >= 'a' && c|0x20 <= 'z') && c < utf8.RuneSelf {
			break
		}
		s.at++
	}
	if s.tql == noTQL && strings.EqualFold(string(s.buf[start:s.at]), "tql") {
		before := trimLead(s.buf[:start])
		if len(before) == 0 || before[len(bytes.TrimRightFunc(before, unicode.IsSpace))-1] == '(' {
			s.tql, s.base = tqlHead, s.depth
		}
	}
}

func (s *splitter) skipLine() {
	if i := bytes.IndexByte(s.buf[s.at:], '\n'); i >= 0 {
		s.at += i + 1
		return
	}
	s.at = len(s.buf)
}

// inside moves to the end of what is open, or to the end of what has arrived.
func (s *splitter) inside() {
	rest := s.buf[s.at:]
	until := func(mark string) {
		if i := bytes.Index(rest, []byte(mark)); i >= 0 {
			s.at, s.quote = s.at+i+len(mark), 0
			return
		}
		s.at = len(s.buf)
	}
	switch s.quote {
	case '*':
		until("*/")
		return
	case '$':
		until("$$")
		return
	}
	quote, escapes := s.quote, s.tql == tqlExpr && s.quote != '`'
	if quote == 'e' {
		quote, escapes = '\'', true
	}
	for i := 0; i < len(rest); i++ {
		switch {
		case escapes && rest[i] == '\\':
			i++
		case rest[i] == quote && i+1 < len(rest) && rest[i+1] == quote && s.tql != tqlExpr:
			i++
		case rest[i] == quote:
			s.at, s.quote = s.at+i+1, 0
			return
		}
	}
	s.at = len(s.buf)
}

// open says what a begun statement waits for: the quote that is open, ( of a bracket, * of a comment, - of anything
// else; 0: none is begun.
func (s *splitter) open() byte {
	switch {
	case s.quote == 'e':
		return '\''
	case s.quote != 0:
		return s.quote
	case s.empty():
		return 0
	case s.depth > 0:
		return '('
	}
	return '-'
}

// trimLead takes blanks and comments away from the front.
func trimLead(b []byte) []byte {
	for {
		b = bytes.TrimLeftFunc(b, unicode.IsSpace)
		end := -1
		switch {
		case bytes.HasPrefix(b, []byte("--")):
			if end = bytes.IndexByte(b, '\n'); end < 0 {
				end = len(b)
			}
		case bytes.HasPrefix(b, []byte("/*")):
			if end = bytes.Index(b, []byte("*/")); end >= 0 {
				end += 2
			}
		}
		if end < 0 {
			return b
		}
		b = b[end:]
	}
}
