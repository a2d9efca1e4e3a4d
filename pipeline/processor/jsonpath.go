package processor

import (
	"varve/engine/status"
	"varve/pipeline/value"
)

// jsonPath takes what a JSON path finds.
type jsonPath struct {
	fields
	path  *path
	one   bool  // take one match instead of all, as an array
	index int64 // of that match; out of range it is null
}

func newJSONPath(s Settings, names *Names) (Processor, error) {
	p := &jsonPath{}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		switch x.Key {
		case "json_path":
			text, err := x.String()
			if err != nil {
				return nil, err
			}
			if p.path, err = parsePath(text); err != nil {
				return nil, x.Invalid("Parse json path error: %v", err)
			}
		case "result_index":
			var ok bool
			if p.index, ok = x.Int(); !ok {
				return nil, x.Invalid("Json path result index not number")
			}
			p.one = true
		}
	}
	if p.path == nil {
		return nil, s.Invalid("Processor json_path: missing field: json_path")
	}
	return p, nil
}

func (p *jsonPath) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		v, has, err := p.present(e, f, "json_path")
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		found, ok := p.path.find(v)
		if !ok {
			return About(status.New(status.InvalidArguments, "Processor json_path: more than %d matches", maxMatches),
				f.name, v, "")
		}
		if !p.one {
			all := e.Arena.Array(len(found))
			for _, v := range found {
				all.Push(e.Arena, v)
			}
			e.Set(f.target, all.Of())
			continue
		}
		v = value.Null
		if 0 <= p.index && p.index < int64(len(found)) {
			v = found[p.index]
		}
		e.Set(f.target, v)
	}
	return nil
}
