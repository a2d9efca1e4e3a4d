package processor

import (
	"regexp"
	"strings"

	"varve/pipeline/value"
)

// gsub replaces all matches of a regular expression.
type gsub struct {
	fields
	re          *regexp.Regexp
	literal     string // what re matches when it is a plain text
	replacement string
	plain       bool // the replacement refers to no group
}

func newGsub(s Settings, names *Names) (Processor, error) {
	p := &gsub{}
	replaced := false
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done {
			continue
		}
		switch x.Key {
		case "pattern":
			text, err := x.String()
			if err != nil {
				return nil, err
			}
			if p.re, err = compileRegex(text); err != nil {
				return nil, x.Invalid("Invalid regex pattern: %s: %v", text, err)
			}
		case "replacement":
			text, err := x.String()
			if err != nil {
				return nil, err
			}
			p.replacement, replaced = text, true
		}
	}
	if p.re == nil {
		return nil, s.Invalid("Pattern is required")
	}
	if !replaced {
		return nil, s.Invalid("Replacement is required")
	}
	p.plain = !strings.Contains(p.replacement, "$")
	if prefix, whole := p.re.LiteralPrefix(); whole {
		p.literal = prefix
	}
	return p, nil
}

func (p *gsub) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		text, ok, err := p.text(e, f, "gsub")
		if err != nil {
			return err
		}
		if ok {
			e.Set(f.target, p.replace(e.Arena, text))
		}
	}
	return nil
}

func (p *gsub) replace(a *value.Arena, text string) value.Value {
	if p.literal != "" && p.plain {
		return replaceLiteral(a, text, p.literal, p.replacement)
	}
	if p.literal != "" && !strings.Contains(text, p.literal) || !p.re.MatchString(text) {
		return value.String(text)
	}
	if p.plain {
		return value.String(p.re.ReplaceAllLiteralString(text, p.replacement))
	}
	return value.String(p.re.ReplaceAllString(text, p.replacement))
}

// replaceLiteral replaces all occurrences of a text that is not empty.
func replaceLiteral(a *value.Arena, text, old, with string) value.Value {
	at := strings.Index(text, old)
	if at < 0 {
		return value.String(text)
	}
	b := a.Begin()
	for ; at >= 0; at = strings.Index(text, old) {
		b = append(append(b, text[:at]...), with...)
		text = text[at+len(old):]
	}
	return a.End(append(b, text...))
}
