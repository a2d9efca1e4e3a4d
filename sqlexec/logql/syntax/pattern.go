package syntax

import (
	"errors"
	"fmt"
)

// PatternPart is a literal or a capture of a pattern.
type PatternPart struct {
	Literal string // empty: a capture
	Name    string // of a capture; "_": its text is left out
}

// MaxCaptures bounds the labels that a pattern or an expression gives, and the expressions of json and logfmt.
const MaxCaptures = 500

// ParsePattern cuts a pattern into literals and captures, which stand as <name> or <_>. It has at least one part.
func ParsePattern(text string) ([]PatternPart, error) {
	if text == "" {
		return nil, errors.New("syntax error: unexpected $end, expecting IDENTIFIER or LITERAL")
	}
	var parts []PatternPart
	literal := 0 // where the literal before the next capture begins
	for at := 0; at < len(text); {
		name, n := captureAt(text[at:])
		if n == 0 {
			at++
			continue
		}
		if literal < at {
			parts = append(parts, PatternPart{Literal: text[literal:at]})
		} else if len(parts) > 0 {
			return nil, fmt.Errorf("found consecutive capture '<%s><%s>': invalid expression", parts[len(parts)-1].Name,
				name)
		}
		parts = append(parts, PatternPart{Name: name})
		at += n
		literal = at
	}
	if literal < len(text) {
		parts = append(parts, PatternPart{Literal: text[literal:]})
	}
	return parts, nil
}

// captureAt returns the name of the capture that a text begins with, and its length; 0: it begins with none.
func captureAt(text string) (name string, n int) {
	if text[0] != '<' {
		return "", 0
	}
	for n = 1; n < len(text) && text[n] != '>'; n++ {
		if n > maxName {
			return "", 0
		}
	}
	if n == len(text) || !IsName(text[1:n]) {
		return "", 0
	}
	return text[1:n], n + 1
}

// maxName bounds the name of a capture, so that a text of many "<" takes no square time.
const maxName = 1024

// checkPatternParser holds that a pattern has captures with names, each once.
func checkPatternParser(text string) error {
	parts, err := ParsePattern(text)
	if err != nil {
		return Invalid("invalid pattern parser: %v", err)
	}
	names := map[string]bool{}
	for _, p := range parts {
		switch {
		case p.Literal != "" || p.Name == "_":
		case names[p.Name]:
			return Invalid("invalid pattern parser: duplicate capture name (%s): invalid expression", p.Name)
		default:
			names[p.Name] = true
		}
	}
	if len(names) == 0 {
		return Invalid("invalid pattern parser: at least one capture is required")
	}
	if len(names) > MaxCaptures {
		return Invalid("invalid pattern parser: more than the limit of %d captures", MaxCaptures)
	}
	return nil
}

// checkPatternFilter holds that the pattern of a line filter has no captures with names.
func checkPatternFilter(text string) error {
	if text == "" {
		return nil
	}
	parts, err := ParsePattern(text)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.Literal == "" && p.Name != "_" {
			return fmt.Errorf("named captures are not allowed: found '<%s>'", p.Name)
		}
	}
	return nil
}
