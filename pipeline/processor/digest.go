package processor

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl/regex"
)

// digest removes the parts in which similar texts differ, such as numbers.
type digest struct {
	fields
	targets  []int
	patterns []*value.Regex
}

// digestPresets are the presets by name.
var digestPresets = map[string]*value.Regex{
	"numbers":   mustCompile(`\p{Nd}+`),
	"quoted":    mustCompile(`["'“”‘’][^"'“”‘’]*["'“”‘’]`),
	"bracketed": mustCompile(`[({\[<「『【〔［｛〈《][^({\[<「『【〔［｛〈《)}\]>」』】〕］｝〉》]*[)}\]>」』】〕］｝〉》]`),
	"uuid":      mustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`),
	"ip": mustCompile(
		`\p{Nd}{1,3}\.\p{Nd}{1,3}\.\p{Nd}{1,3}\.\p{Nd}{1,3}(?::\p{Nd}{1,5})?|\[[0-9a-fA-F:]*:[0-9a-fA-F:.]*\](?::\p{Nd}{1,5})?`),
}

func mustCompile(text string) *value.Regex {
	re, err := regex.Compile(text)
	if err != nil {
		panic("processor: preset " + text + ": " + err.Error())
	}
	return re
}

func newDigest(s Settings, names *Names) (Processor, error) {
	p := &digest{}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key != "presets" && x.Key != "regex" {
			continue
		}
		list, err := x.Strings()
		if err != nil {
			return nil, x.Invalid("Wrong digest pattern: %s", x.Key)
		}
		for _, text := range list {
			re, known := digestPresets[text]
			if x.Key == "presets" && !known {
				return nil, x.Invalid("Wrong digest pattern: %s", text)
			}
			if x.Key == "regex" {
				if re, err = names.Room.Compile(text); err != nil {
					return nil, x.Invalid("Wrong digest pattern: %s: %v", text, err)
				}
			}
			p.patterns = append(p.patterns, re)
		}
	}
	for _, f := range p.list {
		p.targets = append(p.targets, names.Slot(f.name+"_digest"))
	}
	return p, nil
}

func (p *digest) Run(e *Event) error {
	for i := range p.list {
		text, ok, err := p.text(e, &p.list[i], "digest")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for _, re := range p.patterns {
			if on := re.OnAll(e.Arena, text); on.MatchString(text) {
				text = on.ReplaceAllLiteralString(text, "")
			}
		}
		e.Set(p.targets[i], value.String(text))
	}
	return nil
}
