package processor

import (
	"strings"

	"varve/pipeline/value"
)

// decolorize removes the sequences that colour text on terminals.
type decolorize struct{ fields }

func newDecolorize(s Settings, names *Names) (Processor, error) {
	p := &decolorize{}
	for _, x := range s.All() {
		if _, err := p.take(&x, names); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *decolorize) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		text, ok, err := p.text(e, f, "decolorize")
		if err != nil {
			return err
		}
		if ok {
			e.Set(f.target, withoutColor(e.Arena, text))
		}
	}
	return nil
}

const escape = 0x1b

// colorEnd is the length of the colour sequence that text begins with, 0 for none: ESC [ digits and semicolons m.
func colorEnd(text string) int {
	if len(text) < 3 || text[0] != escape || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c-'0' > 9:
			return 0
		}
	}
	return 0
}

func withoutColor(a *value.Arena, text string) value.Value {
	if strings.IndexByte(text, escape) < 0 {
		return value.String(text)
	}
	b := a.Begin()
	for text != "" {
		at := strings.IndexByte(text, escape)
		if at < 0 {
			at = len(text)
		}
		b, text = append(b, text[:at]...), text[at:]
		n := colorEnd(text)
		if n == 0 && text != "" {
			b, n = append(b, text[0]), 1
		}
		text = text[n:]
	}
	return a.End(b)
}
