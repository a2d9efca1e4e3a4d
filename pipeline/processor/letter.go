package processor

import (
	"strings"
	"unicode/utf8"

	"varve/pipeline/value"
	"varve/pipeline/vrl/stdlib"
)

// letter changes the case of letters.
type letter struct {
	fields
	change func(a *value.Arena, text string) value.Value
}

func newLetter(s Settings, names *Names) (Processor, error) {
	p := &letter{change: lower}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key != "method" {
			continue
		}
		text, err := x.String()
		if err != nil {
			return nil, err
		}
		switch strings.ToLower(text) {
		case "upper":
			p.change = upper
		case "lower":
			p.change = lower
		case "capital":
			p.change = capital
		default:
			return nil, x.Invalid("Invalid method: %s", text)
		}
	}
	return p, nil
}

func (p *letter) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		text, ok, err := p.text(e, f, "letter")
		if err != nil {
			return err
		}
		if ok {
			e.Set(f.target, p.change(e.Arena, text))
		}
	}
	return nil
}

func lower(a *value.Arena, text string) value.Value { return flip(a, text, 'A') }
func upper(a *value.Arena, text string) value.Value { return flip(a, text, 'a') }

// flip changes the case of the ASCII letters from first to first+25. Text without such letters is given as it is.
func flip(a *value.Arena, text string, first byte) value.Value {
	i := 0
	for i < len(text) && text[i]-first > 25 {
		i++
	}
	if i == len(text) {
		return value.String(text)
	}
	b := a.Alloc(len(text))
	copy(b, text)
	for ; i < len(b); i++ {
		if b[i]-first <= 25 {
			b[i] ^= 0x20
		}
	}
	return value.Bytes(b)
}

// capital makes the first character upper case, which may be several: "ß" becomes "SS".
func capital(a *value.Arena, text string) value.Value {
	_, size := utf8.DecodeRuneInString(text)
	up := text[:size]
	if size > 1 {
		up = stdlib.Upper(up)
	} else {
		up = upper(a, up).Str()
	}
	if up == text[:size] {
		return value.String(text)
	}
	return a.End(append(append(a.Begin(), up...), text[size:]...))
}
