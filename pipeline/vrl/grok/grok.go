// Package grok compiles grok patterns: regular expressions in which %{NAME} stands for a named pattern, and
// %{NAME:field} for one whose match is kept as a field.
//
// The forms are %{NAME}, %{NAME:field}, %{NAME:field:extract=definition}, %{NAME:field=definition}, %{NAME=definition}
// and named groups, (?<field>re). A field name may be any text. A pattern may match anywhere in the text.
//
// patterns.go has the classic patterns. Go's regular expressions have no look-around and no atomic groups, so the
// patterns do without: \b replaces look-around that only guards the neighbours of a number or word, and atomic groups
// that only avoid backtracking are not needed.
package grok

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl/regex"
)

const (
	// maxDepth bounds patterns inside patterns.
	maxDepth = 32
	// maxExpanded bounds the expression that a pattern expands to, in bytes.
	maxExpanded = regex.MaxSource
)

// Pattern is a compiled pattern. It may be used by many goroutines.
type Pattern struct {
	Regex *value.Regex
	// Fields[i] is the field of group i, "" for groups that are not kept. A field may have several groups.
	Fields []string
}

// Compile reads a pattern; its expression is compiled in room, which may be nil.
func Compile(source string, room *regex.Room) (*Pattern, error) {
	e := Expansion{Room: room}
	if err := e.Append(source); err != nil {
		return nil, err
	}
	return e.Compile("")
}

// Expansion is an expression that grows from patterns.
type Expansion struct {
	Room *regex.Room // for what is compiled; nil: as much as that takes

	out    strings.Builder
	fields []string          // of the groups g0, g1, ...
	own    map[string]string // definitions of the pattern itself
}

// groupPrefix starts the names of groups that stand for fields.
const groupPrefix = "grok_"

// Append adds a text with patterns in it.
func (e *Expansion) Append(source string) error { return e.append(source, 0) }

// Write adds an expression as it is.
func (e *Expansion) Write(expression string) { e.out.WriteString(expression) }

// String is the expression so far.
func (e *Expansion) String() string { return e.out.String() }

// Open starts the group of a field; Write(")") ends it. It gives the group's index among the fields.
func (e *Expansion) Open(field string) int {
	fmt.Fprintf(&e.out, "(?P<%s%d>", groupPrefix, len(e.fields))
	e.fields = append(e.fields, field)
	return len(e.fields) - 1
}

// Compile makes the pattern of what was added, with flags before it.
func (e *Expansion) Compile(flags string) (*Pattern, error) {
	if e.out.Len() > maxExpanded {
		return nil, fmt.Errorf("the pattern expands to more than %d bytes", maxExpanded)
	}
	re, err := e.Room.Compile(flags + e.out.String())
	if err != nil {
		return nil, err
	}
	p := &Pattern{Regex: re, Fields: make([]string, len(re.Names))}
	for i, name := range re.Names {
		if digits, ok := strings.CutPrefix(name, groupPrefix); ok {
			if n, err := strconv.Atoi(digits); err == nil && n < len(e.fields) {
				p.Fields[i] = e.fields[n]
				continue
			}
		}
		p.Fields[i] = name
	}
	return p, nil
}

// Index is the group of the expression that stands for the n-th field opened.
func (p *Pattern) Index(n int) int {
	name := groupPrefix + strconv.Itoa(n)
	for i := range p.Regex.Names {
		if p.Regex.Names[i] == name {
			return i
		}
	}
	return -1
}

func (e *Expansion) append(source string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("patterns nest deeper than %d", maxDepth)
	}
	for {
		before, rest, found := strings.Cut(source, "%{")
		e.out.WriteString(strings.ReplaceAll(before, "(?>", "(?:")) // a plain group matches the same
		if !found {
			return nil
		}
		if e.out.Len() > maxExpanded {
			return fmt.Errorf("the pattern expands to more than %d bytes", maxExpanded)
		}
		end := closing(rest)
		if end < 0 {
			return errors.New("%{ is not closed")
		}
		if err := e.reference(rest[:end], depth); err != nil {
			return err
		}
		source = rest[end+1:]
	}
}

// closing is where the brace stands that ends a reference; definitions may have braces of their own.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// reference adds the pattern named between the braces.
func (e *Expansion) reference(text string, depth int) error {
	head, definition, defined := strings.Cut(text, "=")
	name, field, hasField := strings.Cut(head, ":")
	if before, _, extracts := strings.Cut(field, ":"); extracts {
		field = before
	}
	if !validName(name) {
		return fmt.Errorf("%q is not a name of a pattern", name)
	}
	if defined {
		if e.own == nil {
			e.own = map[string]string{}
		}
		e.own[name] = definition
	}
	body, known := e.own[name]
	if !known {
		body, known = patterns[name]
	}
	if !known {
		return fmt.Errorf("no pattern has the name %s", name)
	}
	if hasField && field != "" {
		e.Open(field)
	} else {
		e.out.WriteString("(?:")
	}
	if err := e.append(body, depth+1); err != nil {
		return err
	}
	e.out.WriteByte(')')
	return nil
}

func validName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

// Known reports whether the classic set has a pattern.
func Known(name string) bool {
	_, ok := patterns[name]
	return ok
}
