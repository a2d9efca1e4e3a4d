package processor

import (
	"strings"

	"varve/engine/status"
	"varve/pipeline/value"
)

// csvRecord takes the values of a record of separated values.
type csvRecord struct {
	fields
	targets          []int
	separator, quote byte
	trim             bool
	empty            value.Value // of values that the record lacks
}

func newCSV(s Settings, names *Names) (Processor, error) {
	p := &csvRecord{separator: ',', quote: '"'}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if err := p.setting(x, names); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *csvRecord) setting(x *Setting, names *Names) (err error) {
	text := ""
	switch x.Key {
	case "trim":
		p.trim, err = x.Bool()
		return err
	case "target_fields", "separator", "quote", "empty_value":
		if text, err = x.String(); err != nil {
			return err
		}
	}
	switch x.Key {
	case "target_fields":
		p.targets = p.targets[:0]
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				p.targets = append(p.targets, names.Slot(name))
			}
		}
	case "separator":
		if len(text) != 1 {
			return x.Invalid("Separator 'separator' must be a single character, but got '%s'", text)
		}
		p.separator = text[0]
	case "quote":
		if len(text) != 1 {
			return x.Invalid("Quote 'quote' must be a single character, but got '%s'", text)
		}
		p.quote = text[0]
	case "empty_value":
		p.empty = value.String(text)
	}
	return nil
}

var errNoRecord = status.New(status.InvalidArguments, "Expected at least one record from csv format, but got none")

func (p *csvRecord) Run(e *Event) error {
	for i := range p.list {
		text, ok, err := p.text(e, &p.list[i], "csv")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if text = strings.TrimLeft(text, "\r\n"); text == "" {
			return About(errNoRecord, p.list[i].name, value.String(text), "")
		}
		p.record(e, text)
	}
	return nil
}

// record reads the first record of a text.
func (p *csvRecord) record(e *Event, text string) {
	more := true
	for _, slot := range p.targets {
		if !more {
			e.Set(slot, p.empty)
			continue
		}
		var v value.Value
		v, text, more = p.next(e.Arena, text)
		if p.trim {
			v = value.String(strings.TrimSpace(v.Str()))
		}
		e.Set(slot, v)
	}
}

// next reads a value. It is a view unless it has quotes inside. more reports whether the record continues.
func (p *csvRecord) next(a *value.Arena, text string) (v value.Value, rest string, more bool) {
	if text != "" && text[0] == p.quote {
		return p.quoted(a, text[1:])
	}
	n := p.end(text)
	rest, more = p.after(text[n:])
	return value.String(text[:n]), rest, more
}

// end is the length of a value without quotes.
func (p *csvRecord) end(text string) int {
	for i := range len(text) {
		if c := text[i]; c == p.separator || c == '\n' || c == '\r' {
			return i
		}
	}
	return len(text)
}

// after takes the separator behind a value.
func (p *csvRecord) after(text string) (rest string, more bool) {
	if text != "" && text[0] == p.separator {
		return text[1:], true
	}
	return "", false
}

// quoted reads a value after its opening quote. Two quotes stand for one quote, and text after the closing quote
// belongs to the value.
func (p *csvRecord) quoted(a *value.Arena, text string) (v value.Value, rest string, more bool) {
	if n := strings.IndexByte(text, p.quote); n >= 0 && p.end(text[n+1:]) == 0 {
		rest, more = p.after(text[n+1:])
		return value.String(text[:n]), rest, more
	}
	b := a.Begin()
	for {
		n := strings.IndexByte(text, p.quote)
		if n < 0 {
			return a.End(append(b, text...)), "", false
		}
		b, text = append(b, text[:n]...), text[n+1:]
		if text == "" || text[0] != p.quote {
			break
		}
		b, text = append(b, p.quote), text[1:]
	}
	n := p.end(text)
	b = append(b, text[:n]...)
	rest, more = p.after(text[n:])
	return a.End(b), rest, more
}
