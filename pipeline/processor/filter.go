package processor

import (
	"strings"
	"unicode/utf8"

	"varve/pipeline/value"
)

// filter drops entries by the text of a field.
type filter struct {
	fields
	targets []string
	notIn   bool
	exact   bool // upper and lower case differ
}

func newFilter(s Settings, names *Names) (Processor, error) {
	p := &filter{}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if err := p.setting(x); err != nil {
			return nil, err
		}
	}
	if len(p.targets) == 0 {
		return nil, s.Invalid("Processor filter: missing field: targets")
	}
	if !p.exact {
		for i, t := range p.targets {
			p.targets[i] = strings.ToLower(t)
		}
	}
	return p, nil
}

func (p *filter) setting(x *Setting) error {
	switch x.Key {
	case "targets":
		list, err := x.Strings()
		if err != nil {
			return err
		}
		p.targets = p.targets[:0]
		for _, t := range list {
			if t != "" {
				p.targets = append(p.targets, t)
			}
		}
	case "match_op":
		word, err := x.String()
		if err != nil {
			return err
		}
		switch word {
		case "in":
			p.notIn = false
		case "not_in":
			p.notIn = true
		}
	case "mode":
		if _, err := x.String(); err != nil {
			return err
		}
	case "case_insensitive":
		either, err := x.Bool()
		p.exact = !either
		return err
	}
	return nil
}

func (p *filter) Run(e *Event) error {
	for i := range p.list {
		v, has := e.Get(p.list[i].input)
		if !has {
			continue
		}
		if v.Kind() != value.StringKind {
			return notString("filter", p.list[i].name, v)
		}
		if p.matches(v.Str()) != p.notIn {
			e.discard()
			return nil
		}
	}
	return nil
}

func (p *filter) matches(text string) bool {
	if !p.exact && !isASCII(text) {
		text = strings.ToLower(text)
	}
	for _, t := range p.targets {
		if p.exact && t == text || !p.exact && equalLower(text, t) {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// equalLower compares text, its ASCII letters in any case, with a text in lower case.
func equalLower(text, low string) bool {
	if len(text) != len(low) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if c-'A' <= 25 {
			c |= 0x20
		}
		if c != low[i] {
			return false
		}
	}
	return true
}
