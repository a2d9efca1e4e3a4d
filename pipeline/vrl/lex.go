package vrl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// lexeme is a word of the source. Strings keep their value in text, with escapes resolved, or in parts when they have
// templates.
type lexeme struct {
	kind       tokenKind
	start, end int
	text       string
	parts      []stringPart
	integer    int64
	float      float64
}

// stringPart is a part of a string with templates: text, or the name of a variable.
type stringPart struct {
	text       string
	variable   bool
	start, end int
}

var reserved = wordSet(
	"array bool boolean break continue do emit float for forall foreach all each any try undefined int integer " +
		"iter object regex string traverse timestamp duration unless walk while loop")

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

const operatorBytes = "!&*+-/<=>?|"

// lexer cuts source text into tokens.
type lexer struct {
	source string
	at     int
	tokens []lexeme
	fault  *Diagnostic
}

// lex returns the tokens of a source, or the one error that ends its compilation.
func lex(source string) ([]lexeme, *Diagnostic) {
	l := lexer{source: source}
	for l.fault == nil && l.at < len(source) {
		l.next()
	}
	if l.fault != nil {
		return nil, l.fault
	}
	l.add(endToken, l.at)
	return l.tokens, nil
}

func (l *lexer) add(kind tokenKind, end int) *lexeme {
	l.tokens = append(l.tokens, lexeme{kind: kind, start: l.at, end: end, text: l.source[l.at:end]})
	l.at = end
	return &l.tokens[len(l.tokens)-1]
}

func (l *lexer) fail(code int, title string, start, end int, label string) {
	l.fault = &Diagnostic{Code: code, Title: title, Labels: []Label{{start, end, label}}}
}

func (l *lexer) next() {
	c := l.source[l.at]
	var after byte
	if l.at+1 < len(l.source) {
		after = l.source[l.at+1]
	}
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case c == '#':
		l.comment()
	case c == '\n':
		l.newline()
	case c == '"':
		l.quoted()
	case after == '\'' && (c == 's' || c == 'r' || c == 't'):
		l.raw(c)
	case isWordByte(c) && !isDigit(c):
		l.word()
	case isDigit(c) || c == '-' && isDigit(after):
		l.number()
	case strings.IndexByte(operatorBytes, c) >= 0:
		l.operator()
	case punctuation[c] != endToken:
		l.add(punctuation[c], l.at+1)
	default:
		_, size := utf8.DecodeRuneInString(l.source[l.at:])
		l.add(badToken, l.at+size)
	}
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) || c == '_' || c == '@'
}

func (l *lexer) comment() {
	if i := strings.IndexByte(l.source[l.at:], '\n'); i >= 0 {
		l.at += i
	} else {
		l.at = len(l.source)
	}
}

// newline takes all line ends, blanks and comments up to the next word; before `else` they are nothing.
func (l *lexer) newline() {
	start := l.at
	for l.at < len(l.source) {
		if c := l.source[l.at]; c == '#' {
			l.comment()
		} else if c == '\n' || c == ' ' || c == '\t' || c == '\r' {
			l.at++
		} else {
			break
		}
	}
	rest := l.source[l.at:]
	if strings.HasPrefix(rest, "else") && (len(rest) == 4 || !isWordByte(rest[4])) {
		return
	}
	l.tokens = append(l.tokens, lexeme{kind: newlineToken, start: start, end: start + 1, text: "\n"})
}

func (l *lexer) word() {
	end := l.at
	for end < len(l.source) && isWordByte(l.source[end]) {
		end++
	}
	text := l.source[l.at:end]
	kind := identToken
	switch {
	case keywords[text] != endToken:
		kind = keywords[text]
	case strings.IndexByte(text, '@') >= 0:
		kind = fieldToken
	case end < len(l.source) && (l.source[end] == '(' || l.source[end] == '!'):
		kind = functionToken
	case text == "_":
		kind = underscoreToken
	case reserved[text]:
		kind = reservedToken
	}
	l.add(kind, end)
}

// number takes an integer or float with its sign.
func (l *lexer) number() {
	end := l.at
	if l.source[end] == '-' {
		end++
	}
	digits := func() {
		for end < len(l.source) && (isDigit(l.source[end]) || l.source[end] == '_') {
			end++
		}
	}
	digits()
	if end < len(l.source) && isWordByte(l.source[end]) && isDigit(l.source[l.at]) {
		for end < len(l.source) && isWordByte(l.source[end]) {
			end++
		}
		l.add(fieldToken, end)
		return
	}
	if end < len(l.source) && l.source[end] == '.' {
		end++
		digits()
		t := l.add(floatToken, end)
		x, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
		if err != nil {
			l.fail(codeInvalidNumber, titleInvalidNumber, t.start, t.end, "this float is out of range")
		}
		t.float = x
		return
	}
	t := l.add(integerToken, end)
	n, err := strconv.ParseInt(strings.ReplaceAll(t.text, "_", ""), 10, 64)
	if err != nil {
		l.fail(codeInvalidNumber, titleInvalidNumber, t.start, t.end,
			"this integer is out of range: at most 64 bits with sign")
	}
	t.integer = n
}

// operator takes a maximal run of operator characters. A negation is a token of its own.
func (l *lexer) operator() {
	end := l.at + 1
	if l.source[l.at] == '!' && (end == len(l.source) || l.source[end] == '!' ||
		strings.IndexByte(operatorBytes, l.source[end]) < 0) {
		l.add(bangToken, end)
		return
	}
	for end < len(l.source) && strings.IndexByte(operatorBytes, l.source[end]) >= 0 {
		end++
	}
	kind, ok := operators[l.source[l.at:end]]
	if !ok {
		kind = operatorToken
	}
	l.add(kind, end)
}

// raw takes s'...', r'...' or t'...'. A backslash protects the character after it and stays, but for \' in a regex.
func (l *lexer) raw(kind byte) {
	start := l.at
	for i := start + 2; i < len(l.source); i++ {
		switch l.source[i] {
		case '\\':
			i++
		case '\'':
			t := l.add(rawToken, i+1)
			t.text = l.source[start+2 : i]
			switch kind {
			case 'r':
				t.kind = regexToken
				t.text = unquoteRegex(t.text)
			case 't':
				t.kind = timeToken
			}
			return
		}
	}
	l.fail(codeInvalidLiteral, titleInvalidLiteral, start, len(l.source), "invalid literal")
}

// unquoteRegex turns \' into ' and leaves all other escapes to the engine.
func unquoteRegex(s string) string {
	if !strings.Contains(s, `\'`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] != '\'' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// quoted takes "...", resolving escapes and finding templates.
func (l *lexer) quoted() {
	start := l.at
	var parts []stringPart
	var text []byte
	from := start
	i := start + 1
	for i < len(l.source) {
		c := l.source[i]
		switch {
		case c == '"':
			t := l.add(stringToken, i+1)
			t.text = string(text)
			if parts != nil {
				if len(text) > 0 {
					parts = append(parts, stringPart{text: t.text, start: from, end: i + 1})
				}
				t.parts = parts
			}
			return
		case c == '\\':
			if text, i = l.escape(text, i+1); l.fault != nil {
				return
			}
		case c == '{':
			name, end := template(l.source, i)
			if name == "" {
				text = append(text, c)
				i++
				continue
			}
			if len(text) > 0 || parts == nil {
				parts = append(parts, stringPart{text: string(text), start: from, end: i})
			}
			parts = append(parts, stringPart{text: name, variable: true, start: i, end: end})
			text, i, from = nil, end, end
		default:
			text = append(text, c)
			i++
		}
	}
	l.fail(codeInvalidString, titleInvalidString, start, len(l.source), "invalid string literal")
}

// template returns the name of the variable of a template that starts at i, and where the template ends; no name: none
// does.
func template(s string, i int) (name string, end int) {
	if !strings.HasPrefix(s[i:], "{{") {
		return "", i
	}
	skip := func(j int) int {
		for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
			j++
		}
		return j
	}
	j := skip(i + 2)
	from := j
	for j < len(s) && isWordByte(s[j]) && s[j] != '@' {
		j++
	}
	name = s[from:j]
	if j = skip(j); name == "" || isDigit(name[0]) || !strings.HasPrefix(s[j:], "}}") {
		return "", i
	}
	return name, j + 2
}

// escape appends the meaning of an escape; the character after its backslash is at i.
func (l *lexer) escape(text []byte, i int) (out []byte, next int) {
	if i >= len(l.source) {
		return text, i
	}
	switch c := l.source[i]; c {
	case '"', '\'', '\\', '{', '}':
		return append(text, c), i + 1
	case 'n':
		return append(text, '\n'), i + 1
	case 'r':
		return append(text, '\r'), i + 1
	case 't':
		return append(text, '\t'), i + 1
	case '0':
		return append(text, 0), i + 1
	case '\n':
		for i++; i < len(l.source) && strings.IndexByte(" \t\r\n", l.source[i]) >= 0; i++ {
		}
		return text, i
	case 'u':
		rest := l.source[i+1:]
		closing := strings.IndexByte(rest, '}')
		if strings.HasPrefix(rest, "{") && closing > 0 {
			n, err := strconv.ParseUint(rest[1:closing], 16, 32)
			if err == nil && closing <= 7 && utf8.ValidRune(rune(n)) {
				return utf8.AppendRune(text, rune(n)), i + closing + 2
			}
		}
		l.fail(codeInvalidUnicode, titleInvalidUnicode, i-1, i+1,
			`a code point is written \u{1F600}, with one to six hexadecimal digits`)
		return text, i
	default:
		r, size := utf8.DecodeRuneInString(l.source[i:])
		l.fail(codeInvalidEscape, titleInvalidEscape+`: \`+string(r), i, i+size, titleInvalidEscape+": "+string(r))
		return text, i
	}
}
