package promql

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/status"
)

// language is the parser with all that the language has.
var language = parser.NewParser(parser.Options{
	EnableExperimentalFunctions:  true,
	ExperimentalDurationExpr:     true,
	EnableExtendedRangeSelectors: true,
	EnableBinopFillModifiers:     true,
})

// maxTokens bounds the words and operators of an expression: the parser takes the square of their number, a tenth of a
// second for as many as this, and cannot be stopped.
const maxTokens = 20_000

// tokens counts the words and operators of an expression, those in its strings left out; about, and no fewer than there
// are nodes.
func tokens(query string) (n int) {
	quote, word := byte(0), false
	for i := 0; i < len(query); i++ {
		c := query[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
			continue
		case c == '"' || c == '\'' || c == '`':
			quote = c
			n++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ')' || c == '}' || c == ']':
			word = false
			continue
		case legacyName(query[i:i+1]) || c >= '0' && c <= '9' || c == ':' || c == '.':
			if !word {
				n++
			}
			word = true
			continue
		default:
			n++
		}
		word = false
	}
	return n
}

// Parser reads the expressions, selectors and matchers of one request, which share bounds. The zero value is ready; one
// goroutine at a time.
type Parser struct {
	tokens   int
	patterns patterns
}

// admit counts the words and patterns of an expression before they are read.
func (p *Parser) admit(query string) error {
	if p.tokens += tokens(query); p.tokens > maxTokens {
		return status.New(status.InvalidSyntax, "1:1: parse error: %d words and operators, at most %d are taken",
			p.tokens, maxTokens)
	}
	if err := p.patterns.admitAll(query); err != nil {
		return status.Wrap(err, status.InvalidSyntax, "1:1: parse error: %s", err)
	}
	return nil
}

// Matcher makes a matcher of what a client wrote.
func (p *Parser) Matcher(t MatchType, name, value string) (*Matcher, error) {
	if t == MatchRegexp || t == MatchNotRegexp {
		if err := p.patterns.admit(value); err != nil {
			return nil, err
		}
	}
	return NewMatcher(t, name, value)
}

// Parse reads an expression. The error is of code InvalidSyntax and begins with line and column.
func Parse(query string) (parser.Expr, error) {
	return new(Parser).parse(query)
}

func (p *Parser) parse(query string) (parser.Expr, error) {
	if err := p.admit(query); err != nil {
		return nil, err
	}
	x, err := language.ParseExpr(query)
	if err != nil {
		return nil, placed(query, err)
	}
	return x, nil
}

// placed is an error of the parser with the place of the first one.
func placed(query string, err error) error {
	out := status.Wrap(err, status.InvalidSyntax, "%s", err)
	var all parser.ParseErrors
	if !errors.As(err, &all) || len(all) == 0 {
		return out
	}
	start := min(max(0, int(all[0].PositionRange.Start)), len(query))
	end := min(max(start, int(all[0].PositionRange.End)), len(query))
	head := query[:start]
	return out.At(strings.Count(head, "\n")+1, utf8.RuneCountInString(head[strings.LastIndexByte(head, '\n')+1:])+1,
		utf8.RuneCountInString(query[start:end]))
}

// Selector reads a series selector, as match[] has them. One that every series passes is refused.
func (p *Parser) Selector(text string) ([]*Matcher, error) {
	if err := p.admit(text); err != nil {
		return nil, err
	}
	ms, err := language.ParseMetricSelector(text)
	if err != nil {
		return nil, status.Wrap(err, status.InvalidSyntax, "%s", err)
	}
	out, err := matchers(ms)
	if err != nil {
		return nil, err
	}
	for _, m := range out {
		if !m.Matches("") {
			return out, nil
		}
	}
	return nil, status.New(status.InvalidSyntax, "match[] must contain at least one non-empty matcher")
}

// Format is the expression printed at 100 columns.
func Format(query string) (string, error) {
	x, err := Parse(query)
	if err != nil {
		return "", err
	}
	return parser.Prettify(x), nil
}

// Selectors are the matchers of all selectors of an expression.
func Selectors(x parser.Expr) ([][]*Matcher, error) {
	var out [][]*Matcher
	for _, ms := range parser.ExtractSelectors(x) {
		own, err := matchers(ms)
		if err != nil {
			return nil, err
		}
		out = append(out, own)
	}
	return out, nil
}

// matchers takes the text of the parser's matchers: patterns run over dictionaries of the store, not over its own.
func matchers(ms []*labels.Matcher) ([]*Matcher, error) {
	out := make([]*Matcher, len(ms))
	for i, m := range ms {
		own, err := NewMatcher(MatchType(m.Type), m.Name, m.Value)
		if err != nil {
			return nil, status.Wrap(err, status.InvalidSyntax, "matcher %s: %s", m, err)
		}
		out[i] = own
	}
	return out, nil
}

// execution is an error of the evaluation that the client sees.
func execution(format string, args ...any) error {
	return status.New(status.EngineExecuteQuery, "%s", fmt.Sprintf(format, args...))
}

// asStatus adds to errors of storage and context the code that they lack.
func asStatus(err error) error {
	var known *status.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return contextError(err)
}
