package processor

import (
	"varve/pipeline/value"
)

// join makes one text of the items of an array.
type join struct {
	fields
	separator string
}

func newJoin(s Settings, names *Names) (Processor, error) {
	p := &join{}
	given := false
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key != "separator" {
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
			return notString("join", f.name, v)
		default:
			list := v.Array()
			b := e.Arena.Begin()
			for k := range list.Len() {
				item := list.At(k)
				size := len(b) + len(p.separator)
				if item.Kind() == value.StringKind {
					size += len(item.Str())
				}
				if size > smallText && !e.Arena.Holds(size) {
					return value.ErrEventTooLarge
				}
				if k > 0 {
					b = append(b, p.separator...)
				}
				b = appendPlain(b, item)
			}
			e.Set(f.target, e.Arena.End(b))
		}
	}
	return nil
}
