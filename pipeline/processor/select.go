package processor

import (
	"varve/pipeline/value"
)

// selection keeps some keys or removes some.
type selection struct {
	fields
	exclude bool
	renames bool
	keep    []bool // by slot, for include without renaming; slots beyond are not kept
}

func newSelect(s Settings, names *Names) (Processor, error) {
	p := &selection{}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key != "type" {
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
			e.drop(p.list[i].input)
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
