package stage

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// jsonPathStep makes labels of the values at given places of an object or array.
type jsonPathStep struct{ paths []jsonPath }

// jsonPath is the place of a label's value.
type jsonPath struct {
	label int32
	parts []pathPart
}

// pathPart is one step into a value: a key, or the index of an element.
type pathPart struct {
	key   []byte
	index int // -1: it is a key
}

// maxPath bounds the parts of a path.
const maxPath = maxNesting

// jsonPaths compiles a json stage with expressions.
func (c *compiler) jsonPaths(s *syntax.JSON) (step, error) {
	step := &jsonPathStep{}
	for _, x := range s.Extractions {
		parts, err := parsePath(x.Expression)
		if err != nil {
			return nil, fmt.Errorf("cannot parse expression [%s]: %w", x.Expression, err)
		}
		if ofErrors(x.Name) {
			continue
		}
		step.paths = append(step.paths, jsonPath{label: c.number(x.Name), parts: parts})
	}
	if w := c.wanted[c.at]; !w.all && len(w.names) == 0 {
		return nil, nil
	}
	return step, nil
}

// parsePath reads a path: names joined by points, ["key"] and [index]. The empty path is that of the whole line.
func parsePath(text string) ([]pathPart, error) {
	var parts []pathPart
	words := pathWords{text}
	first, point := true, false // a point that needs a name behind it was read
	for {
		if len(parts) > maxPath {
			return nil, fmt.Errorf("the path has more than the limit of %d parts", maxPath)
		}
		w, err := words.next()
		switch {
		case err != nil:
			return nil, err
		case (w.kind == "FIELD" || w.kind == "INDEX") && (first || point):
			parts = append(parts, pathPart{key: []byte(w.text), index: -1})
			point = false
		case point:
			return nil, unexpectedPart(w, "FIELD")
		case w.kind == "LSB":
			part, err := words.bracket()
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		case w.kind == "$end":
			return parts, nil
		case first:
			return nil, unexpectedPart(w, "LSB or FIELD")
		case w.kind == "DOT":
			point = true
		default:
			return nil, unexpectedPart(w, "")
		}
		first = false
	}
}

// unexpectedPart returns the error of a word that does not fit. Clients know the names of kinds.
func unexpectedPart(w pathWord, expected string) error {
	if expected != "" {
		expected = ", expecting " + expected
	}
	return errors.New("syntax error: unexpected " + w.kind + expected)
}

// pathWord is a word of a path: of kind FIELD, STRING, INDEX, DOT, LSB, RSB or $end.
type pathWord struct{ kind, text string }

// pathWords cuts a path into words.
type pathWords struct{ rest string }

// bracket reads what follows "[".
func (p *pathWords) bracket() (part pathPart, err error) {
	w, err := p.next()
	if err != nil {
		return part, err
	}
	switch w.kind {
	case "STRING":
		part = pathPart{key: []byte(w.text), index: -1}
	case "INDEX":
		if part.index, err = strconv.Atoi(w.text); err != nil {
			return part, fmt.Errorf("syntax error: %q is no index", w.text)
		}
	default:
		return part, unexpectedPart(w, "STRING or INDEX")
	}
	if w, err = p.next(); err == nil && w.kind != "RSB" {
		err = unexpectedPart(w, "RSB")
	}
	return part, err
}

// next cuts one word.
func (p *pathWords) next() (pathWord, error) {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest == "" {
		return pathWord{kind: "$end"}, nil
	}
	word := func(kind string, n int) (pathWord, error) {
		w := pathWord{kind, p.rest[:n]}
		p.rest = p.rest[n:]
		return w, nil
	}
	switch c := p.rest[0]; c {
	case '[':
		return word("LSB", 1)
	case ']':
		return word("RSB", 1)
	case '.':
		return word("DOT", 1)
	case '"':
		return p.quoted()
	}
	n, digits := 0, 0
	for n < len(p.rest) && inPath(p.rest[n]) {
		if p.rest[n] >= '0' && p.rest[n] <= '9' {
			digits++
		}
		n++
	}
	switch {
	case n == 0:
		return pathWord{}, fmt.Errorf("syntax error: unexpected %q", p.rest)
	case digits == n:
		return word("INDEX", n)
	}
	return word("FIELD", n)
}

// inPath reports whether a byte may stand in a name of a path.
func inPath(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '@' || c >= 0x80
}

// quoted cuts a string in double quotes. One that is not closed takes the rest.
func (p *pathWords) quoted() (pathWord, error) {
	quoted, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		w := pathWord{"STRING", p.rest[1:]}
		p.rest = ""
		return w, nil
	}
	p.rest = p.rest[len(quoted):]
	text, err := strconv.Unquote(quoted)
	return pathWord{"STRING", text}, err
}

func (s *jsonPathStep) run(e *Entry) bool {
	if len(e.Line) == 0 {
		return true
	}
	if c := e.Line[0]; c != '{' && c != '[' && c != '"' {
		e.fail(ErrJSON, "")
		return true
	}
	for i := range s.paths {
		p := &s.paths[i]
		value, kind, escaped, err := find(e.Line, p.parts)
		switch {
		case err == errMissing:
			if e.find(p.label) == nil && len(e.Labels) < maxLabels {
				e.add(p.label, nil, Parsed)
			}
			continue
		case err != nil:
			e.fail(ErrJSON, err.Error())
			return true
		case kind == jsonText:
			value = e.unescape(value, escaped)
		case kind == jsonNull:
			value = nil
		}
		if !e.overwrite(p.label, value) {
			e.fail(ErrJSON, errLabels.Error())
			return true
		}
	}
	return true
}

// overwrite keeps a label that a parser was asked for by name. It returns false if the line has too many labels.
func (e *Entry) overwrite(n int32, value []byte) bool {
	n = e.target(n)
	if e.find(n) == nil && len(e.Labels) >= maxLabels {
		return false
	}
	e.set(n, value, Parsed)
	return true
}

// errMissing says that a path leads nowhere.
const errMissing lineError = "Key path not found"

// find returns the value at a path.
func find(text []byte, parts []pathPart) (value []byte, kind jsonKind, escaped bool, err error) {
	at := 0
	for i := range parts {
		if at, err = enter(text, at, &parts[i]); err != nil {
			return nil, 0, false, err
		}
	}
	value, kind, escaped, _, err = jsonValue(text, at)
	return value, kind, escaped, err
}

// enter returns the position of the value at one part below the value at a position.
func enter(text []byte, at int, part *pathPart) (int, error) {
	open := byte('{')
	if part.index >= 0 {
		open = '['
	}
	if at >= len(text) || text[at] != open {
		return 0, errMissing
	}
	at = jsonBlank(text, at+1)
	for n := 0; at < len(text); n++ {
		if text[at] == '}' || text[at] == ']' {
			return 0, errMissing
		}
		hit := n == part.index
		if part.index < 0 {
			if text[at] != '"' {
				return 0, errMalformed
			}
			end, escaped := jsonString(text, at+1)
			if end < 0 {
				return 0, errString
			}
			hit = sameKey(text[at+1:end], escaped, part.key)
			if at = jsonBlank(text, end+1); at >= len(text) || text[at] != ':' {
				return 0, errMalformed
			}
			at = jsonBlank(text, at+1)
		}
		if hit {
			return at, nil
		}
		_, _, _, next, err := jsonValue(text, at)
		if err != nil {
			return 0, err
		}
		if at = jsonBlank(text, next); at < len(text) && text[at] == ',' {
			at = jsonBlank(text, at+1)
		}
	}
	return 0, errMissing
}

// sameKey reports whether a key as it stands in JSON is a text.
func sameKey(raw []byte, escaped bool, key []byte) bool {
	if !escaped {
		return bytes.Equal(raw, key)
	}
	var e Entry
	return bytes.Equal(e.unescape(raw, true), key)
}
