package processor

import (
	"strings"

	"varve/engine/status"
	"varve/pipeline/value"
)

// plainText is a value as text: strings as they are, null as <null>, lists and objects as JSON.
func plainText(v value.Value) string { return string(appendPlain(nil, v)) }

func appendPlain(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.NullKind:
		return append(dst, "<null>"...)
	case value.StringKind:
		return append(dst, v.Str()...)
	case value.FloatKind:
		return AppendDecimal(dst, v.Float())
	case value.TimestampKind:
		return value.AppendTime(dst, v.Nanos())
	}
	return value.AppendJSON(dst, v)
}

// jsonParse reads JSON text.
type jsonParse struct{ fields }

func newJSONParse(s Settings, names *Names) (Processor, error) {
	p := &jsonParse{}
	for _, x := range s.All() {
		if _, err := p.take(&x, names); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *jsonParse) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		v, has, err := p.present(e, f, "json_parse")
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		if v.Kind() != value.StringKind {
			return About(status.New(status.InvalidArguments, "Field %s must be a string", shorten(plainText(v))),
				f.name, v, "")
		}
		got, fault := value.ReadJSON(e.Arena, v.Str(), value.JSONOptions{})
		if fault.Failed() {
			return About(status.New(status.InvalidArguments, "Failed to parse json: %s", fault.In(v.Str())), f.name, v,
				"")
		}
		if !got.IsContainer() {
			return About(status.New(status.InvalidArguments, "Processor json_parse: unsupported value %s",
				shorten(plainText(got))), f.name, v, "only objects and arrays are taken")
		}
		e.Set(f.target, got)
	}
	return nil
}

// simpleExtract walks objects by keys.
type simpleExtract struct {
	fields
	keys []string
}

func newSimpleExtract(s Settings, names *Names) (Processor, error) {
	p := &simpleExtract{}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key != "key" {
			continue
		}
		text, err := x.String()
		if err != nil {
			return nil, err
		}
		p.keys = strings.Split(text, ".")
	}
	return p, nil
}

func (p *simpleExtract) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		v, has, err := p.present(e, f, "simple_extract")
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		for _, key := range p.keys {
			if v.Kind() != value.ObjectKind {
				v = value.Null
				break
			}
			v, _ = v.Object().Get(key)
		}
		e.Set(f.target, v.Share())
	}
	return nil
}
