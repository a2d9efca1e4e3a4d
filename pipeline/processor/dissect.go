package processor

import (
	"varve/engine/status"
	"varve/pipeline/value"
)

// dissect splits a text by literal texts.
type dissect struct {
	fields
	patterns  []dissectProgram
	separator string
}

// dissectProgram is a pattern with the slots of its names.
type dissectProgram struct {
	*dissectPattern
	plainSlots, appendSlots []int
}

var errNoPattern = status.New(status.InvalidArguments, "No matching pattern found")

func newDissect(s Settings, names *Names) (Processor, error) {
	d := &dissect{separator: " "}
	for x, err := range d.own(s, names) {
		if err != nil {
			return nil, err
		}
		var texts []string
		switch x.Key {
		case "pattern":
			var text string
			text, err = x.String()
			texts = []string{text}
		case "patterns":
			texts, err = x.Strings()
		case "append_separator":
			d.separator, err = x.String()
		}
		if err != nil {
			return nil, err
		}
		if texts == nil {
			continue
		}
		d.patterns = d.patterns[:0]
		for _, text := range texts {
			p, err := compileDissect(text)
			if err != nil {
				return nil, x.Invalid("Field parse from string failed: %s: %v", x.Key, err)
			}
			d.patterns = append(d.patterns, bindDissect(p, names))
		}
	}
	return d, nil
}

func bindDissect(p *dissectPattern, names *Names) dissectProgram {
	b := dissectProgram{dissectPattern: p}
	for _, c := range p.plain {
		b.plainSlots = append(b.plainSlots, names.Slot(c.name))
	}
	for _, c := range p.appends {
		b.appendSlots = append(b.appendSlots, names.Slot(c.name))
	}
	return b
}

func (d *dissect) Run(e *Event) error {
	for i := range d.list {
		text, ok, err := d.text(e, &d.list[i], "dissect")
		if err != nil {
			return err
		}
		if ok && !d.run(e, text) {
			return About(errNoPattern, d.list[i].name, value.String(text), tried("patterns", d.texts()))
		}
	}
	return nil
}

// run takes the first pattern that matches.
func (d *dissect) run(e *Event, text string) bool {
	for i := range d.patterns {
		p := &d.patterns[i]
		spans := e.scratch(p.spans)
		if p.match(text, spans) {
			p.store(e, text, spans, d.separator)
			return true
		}
	}
	return false
}

// texts are the patterns as they were written.
func (d *dissect) texts() []string {
	list := make([]string, len(d.patterns))
	for i := range d.patterns {
		list[i] = d.patterns[i].text
	}
	return list
}

// store puts the captures of a match into their slots.
func (p *dissectProgram) store(e *Event, text string, spans []span, separator string) {
	for i, c := range p.plain {
		s := spans[c.span]
		e.setText(p.plainSlots[i], text[s.from:s.to])
	}
	for i := range p.appends {
		e.Set(p.appendSlots[i], p.appends[i].join(e, text, spans, separator))
	}
	for _, r := range p.refs {
		k, v := spans[r.key], spans[r.value]
		e.setKey(text[k.from:k.to], value.String(text[v.from:v.to]))
	}
}

// join puts the parts together: as a view where the input has them side by side with the separator between.
func (a *appendCapture) join(e *Event, text string, spans []span, separator string) value.Value {
	whole := spans[a.spans[0]]
	for _, k := range a.spans[1:] {
		s := spans[k]
		if s.from < whole.to || text[whole.to:s.from] != separator {
			return a.copyParts(e, text, spans, separator)
		}
		whole.to = s.to
	}
	return value.String(text[whole.from:whole.to])
}

func (a *appendCapture) copyParts(e *Event, text string, spans []span, separator string) value.Value {
	b := e.Arena.Begin()
	for i, k := range a.spans {
		if i > 0 {
			b = append(b, separator...)
		}
		b = append(b, text[spans[k].from:spans[k].to]...)
	}
	return e.Arena.End(b)
}
