package processor

import (
	"regexp"
	"strconv"
	"strings"

	"varve/pipeline/value"
)

// gsub replaces all matches of a regular expression.
type gsub struct {
	fields
	re          *value.Regex
	literal     string // what re matches when it is a plain text
	replacement string
	expansion   string // the replacement as package regexp reads it
	groups      int    // references in it
	plain       bool   // the replacement refers to no group
}

func newGsub(s Settings, names *Names) (Processor, error) {
	p := &gsub{}
	replaced := false
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		switch x.Key {
		case "pattern":
			text, err := x.String()
			if err != nil {
				return nil, err
			}
			if p.re, err = names.Room.Compile(text); err != nil {
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
	p.expansion, p.groups = expansionOf(parseTemplate(p.replacement, p.re.Names))
	p.plain = !strings.Contains(p.replacement, "$")
	if prefix, whole := p.re.LiteralPrefix(); whole && p.re.Unicode == nil {
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
			v, err := p.replace(e.Arena, text)
			if err != nil {
				return err
			}
			e.Set(f.target, v)
		}
	}
	return nil
}

func (p *gsub) replace(a *value.Arena, text string) (value.Value, error) {
	if p.literal != "" && p.plain {
		return replaceLiteral(a, text, p.literal, p.replacement)
	}
	if p.literal != "" && !strings.Contains(text, p.literal) {
		return value.String(text), nil
	}
	re := p.re.OnAll(a, text)
	if !re.MatchString(text) {
		return value.String(text), nil
	}
	if !a.Holds(p.mostBytes(re, text)) {
		return value.Null, value.ErrEventTooLarge
	}
	if p.plain {
		text = re.ReplaceAllLiteralString(text, p.replacement)
	} else {
		text = re.ReplaceAllString(text, p.expansion)
	}
	a.Made(len(text))
	return value.String(text), nil
}

// smallText is up to what size of its result a replacement is made without being measured before.
const smallText = 64 << 10

// mostBytes is at least the length of the text with its matches replaced.
func (p *gsub) mostBytes(re *regexp.Regexp, text string) int {
	if (len(text)+1)*(len(p.replacement)+1) <= smallText && p.groups == 0 {
		return smallText
	}
	bytes := len(text)
	re.ReplaceAllStringFunc(text, func(match string) string {
		if bytes <= value.MaxEventBytes {
			bytes += len(p.replacement) + p.groups*len(match)
		}
		return ""
	})
	return bytes
}

// expansionOf writes a template as package regexp reads it.
func expansionOf(parts []templatePart) (text string, groups int) {
	for _, part := range parts {
		text += strings.ReplaceAll(part.text, "$", "$$")
		if part.group >= 0 {
			text += "${" + strconv.Itoa(part.group) + "}"
			groups++
		}
	}
	return text, groups
}

// templatePart is a text of a replacement and the group behind it, -1 for none.
type templatePart struct {
	text  string
	group int
}

// parseTemplate reads a replacement: $1, $name and ${name} are groups, $$ is a dollar; a group that is not there is
// empty.
func parseTemplate(s string, names []string) []templatePart {
	var parts []templatePart
	text := ""
	for s != "" {
		before, after, found := strings.Cut(s, "$")
		text += before
		if !found {
			break
		}
		name, rest, ok := reference(after)
		switch {
		case strings.HasPrefix(after, "$"):
			text += "$"
			s = after[1:]
		case !ok:
			text += "$"
			s = after
		default:
			parts = append(parts, templatePart{text, groupOf(name, names)})
			text, s = "", rest
		}
	}
	return append(parts, templatePart{text, -1})
}

// reference reads the name behind a dollar.
func reference(s string) (name, rest string, ok bool) {
	if inner, found := strings.CutPrefix(s, "{"); found {
		return strings.Cut(inner, "}")
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]-'0' <= 9 || s[n]|0x20-'a' <= 25) {
		n++
	}
	return s[:n], s[n:], n > 0
}

// groupOf is the number of a group by its number or name; -1 when there is none.
func groupOf(name string, names []string) int {
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n
	}
	for i, n := range names {
		if n != "" && n == name {
			return i
		}
	}
	return -1
}

// replaceLiteral replaces all occurrences of a text that is not empty.
func replaceLiteral(a *value.Arena, text, old, with string) (value.Value, error) {
	at := strings.Index(text, old)
	if at < 0 {
		return value.String(text), nil
	}
	if grows := len(with) - len(old); grows > 0 && len(text)*(grows+1) > smallText &&
		!a.Holds(len(text)+grows*strings.Count(text, old)) {
		return value.Null, value.ErrEventTooLarge
	}
	b := a.Begin()
	for ; at >= 0; at = strings.Index(text, old) {
		b = append(append(b, text[:at]...), with...)
		text = text[at+len(old):]
	}
	return a.End(append(b, text...)), nil
}
