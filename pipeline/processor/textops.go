package processor

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"varve/pipeline/value"
)

// letter changes the case of letters.
type letter struct {
	fields
	change func(a *value.Arena, text string) value.Value
}

func newLetter(s Settings, names *Names) (Processor, error) {
	p := &letter{change: lower}
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done || x.Key != "method" {
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

// capital makes the first character upper case.
func capital(a *value.Arena, text string) value.Value {
	r, size := utf8.DecodeRuneInString(text)
	up := unicode.ToUpper(r)
	if up == r {
		return value.String(text)
	}
	b := utf8.AppendRune(a.Begin(), up)
	return a.End(append(b, text[size:]...))
}

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

// urlEncoding writes or reads percent signs.
type urlEncoding struct {
	fields
	encode bool
}

func newURLEncoding(s Settings, names *Names) (Processor, error) {
	p := &urlEncoding{}
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done || x.Key != "method" {
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

// unreserved tells whether a byte stands for itself in an encoded text.
// Source: RFC 3986, section 2.3.
func unreserved(c byte) bool {
	return c|0x20-'a' <= 25 || c-'0' <= 9 || c == '-' || c == '_' || c == '.' || c == '~'
}

func percentEncode(a *value.Arena, text string) value.Value {
	const hex = "0123456789ABCDEF"
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
			b = append(b, '%', hex[c>>4], hex[c&15])
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
	b := append(a.Begin(), text[:at]...)
	for i := at; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			hi, ok1 := hexDigit(text[i+1])
			lo, ok2 := hexDigit(text[i+2])
			if ok1 && ok2 {
				b = append(b, hi<<4|lo)
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return a.End(b)
}

func hexDigit(c byte) (n byte, ok bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case c|0x20-'a' <= 5:
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// join makes one text of the items of an array.
type join struct {
	fields
	separator string
}

func newJoin(s Settings, names *Names) (Processor, error) {
	p := &join{}
	given := false
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done || x.Key != "separator" {
			continue
		}
		var err error
		if p.separator, err = x.String(); err != nil {
			return nil, err
		}
		given = true
	}
	if !given {
		return nil, s.Invalid("Separator is required")
	}
	return p, nil
}

func (p *join) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		v, has := e.Get(f.input)
		switch {
		case !has || v.IsNull():
			if !p.ignoreMissing {
				return missing("join", f.name)
			}
		case v.Kind() != value.ArrayKind:
			return notString("join", v)
		default:
			list := v.Array()
			b := e.Arena.Begin()
			for k := range list.Len() {
				if k > 0 {
					b = append(b, p.separator...)
				}
				b = appendPlain(b, list.At(k))
			}
			e.Set(f.target, e.Arena.End(b))
		}
	}
	return nil
}

// filter drops entries by the text of a field.
type filter struct {
	fields
	targets []string
	notIn   bool
	exact   bool // upper and lower case differ
}

func newFilter(s Settings, names *Names) (Processor, error) {
	p := &filter{}
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done {
			continue
		}
		if err := p.setting(&x); err != nil {
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
			return notString("filter", v)
		}
		if p.matches(v.Str()) != p.notIn {
			e.Discard()
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

// selection keeps some keys or removes some.
type selection struct {
	fields
	exclude bool
	renames bool
	keep    []bool // by slot, for include without renaming; slots beyond are not kept
}

func newSelect(s Settings, names *Names) (Processor, error) {
	p := &selection{}
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done || x.Key != "type" {
			continue
		}
		word, err := x.String()
		if err != nil {
			return nil, err
		}
		if word != "include" && word != "exclude" {
			return nil, x.Invalid("Processor select: unsupported value '%s', expect 'include' or 'exclude'", word)
		}
		p.exclude = word == "exclude"
	}
	p.keep = make([]bool, names.Len())
	for _, f := range p.list {
		p.keep[f.input] = true
		p.renames = p.renames || f.input != f.target
	}
	return p, nil
}

func (p *selection) Run(e *Event) error {
	switch {
	case p.exclude:
		for i := range p.list {
			e.Drop(p.list[i].input)
		}
		return nil
	case !p.renames:
		e.keepOnly(p.keep)
		return nil
	}
	values := e.Arena.Values(2 * len(p.list))
	for i := range p.list {
		if v, has := e.Get(p.list[i].input); has {
			values[2*i], values[2*i+1] = v, value.Bool(true)
		}
	}
	e.keepOnly(nil)
	for i := range p.list {
		if values[2*i+1].Bool() {
			e.Set(p.list[i].target, values[2*i])
		}
	}
	return nil
}
