package promql

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/strutil"

	"varve/engine/automaton"
)

// Bounds of the regular expressions of a request: one of twenty bytes may become a hundred megabytes, because
// repetitions in each other multiply. A choice of a thousand names is far from both.
const (
	maxPatternBytes = 256 << 10
	maxPatternSteps = 200_000
)

// patterns counts the regular expressions of a request before they are compiled.
type patterns struct{ bytes, steps int }

// admit counts an expression. It accepts an invalid one, because compiling it gives the error.
func (p *patterns) admit(pattern string) error {
	if p.bytes += len(pattern); p.bytes > maxPatternBytes {
		return fmt.Errorf("regular expressions of more than %d bytes", maxPatternBytes)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	if p.steps += automaton.Steps(tree); p.steps > maxPatternSteps {
		return fmt.Errorf("the regular expressions take more than %d steps", maxPatternSteps)
	}
	return nil
}

// admitAll counts the patterns of an expression: its parser compiles them while it parses.
func (p *patterns) admitAll(query string) error {
	if !strings.Contains(query, "=~") && !strings.Contains(query, "!~") {
		return nil
	}
	lexer, follows := parser.Lex(query), false
	for {
		var item parser.Item
		lexer.NextItem(&item)
		switch item.Typ {
		case parser.EOF, parser.ERROR:
			return nil // the parser names the place
		case parser.COMMENT:
		case parser.EQL_REGEX, parser.NEQ_REGEX:
			follows = true
		case parser.STRING:
			if follows {
				pattern, err := strutil.Unquote(item.Val)
				if err != nil {
					return nil
				}
				if err := p.admit(pattern); err != nil {
					return err
				}
			}
			follows = false
		default:
			follows = false
		}
	}
}
