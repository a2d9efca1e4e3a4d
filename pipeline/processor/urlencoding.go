package processor

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"varve/pipeline/value"
)

// urlEncoding writes or reads percent signs.
type urlEncoding struct {
	fields
	encode bool
}

func newURLEncoding(s Settings, names *Names) (Processor, error) {
	p := &urlEncoding{}
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
		if text != "encode" && text != "decode" {
			return nil, x.Invalid("Invalid method: %s", text)
		}
		p.encode = text == "encode"
	}
	return p, nil
}

func (p *urlEncoding) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		text, ok, err := p.text(e, f, "urlencoding")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if p.encode {
			e.Set(f.target, percentEncode(e.Arena, text))
		} else {
			e.Set(f.target, percentDecode(e.Arena, text))
		}
	}
	return nil
}

// unreserved reports whether a byte stands for itself in an encoded text.
// Source: RFC 3986, section 2.3.
func unreserved(c byte) bool {
	return c|0x20-'a' <= 25 || c-'0' <= 9 || c == '-' || c == '_' || c == '.' || c == '~'
}

func percentEncode(a *value.Arena, text string) value.Value {
	i := 0
	for i < len(text) && unreserved(text[i]) {
		i++
	}
	if i == len(text) {
		return value.String(text)
	}
	b := append(a.Begin(), text[:i]...)
	for ; i < len(text); i++ {
		if c := text[i]; unreserved(c) {
			b = append(b, c)
		} else {
			b = value.AppendPercentEncoded(b, c)
		}
	}
	return a.End(b)
}

// percentDecode reads %XX; bytes that are no UTF-8 then become U+FFFD.
func percentDecode(a *value.Arena, text string) value.Value {
	at := strings.IndexByte(text, '%')
	if at < 0 {
		return value.String(text)
	}
	b := value.AppendPercentDecoded(append(a.Begin(), text[:at]...), text[at:])
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return a.End(b)
}
