package processor

import (
	"regexp"

	"varve/pipeline/value"
)

// digest removes what varies between texts of one kind.
type digest struct {
	fields
	targets  []int
	patterns []*regexp.Regexp
}

// digestPresets are the presets by name.
var digestPresets = map[string]*regexp.Regexp{
	"numbers":   regexp.MustCompile(`\p{Nd}+`),
	"quoted":    regexp.MustCompile(`["'“”‘’][^"'“”‘’]*["'“”‘’]`),
	"bracketed": regexp.MustCompile(`[({\[<「『【〔［｛〈《][^({\[<「『【〔［｛〈《)}\]>」』】〕］｝〉》]*[)}\]>」』】〕］｝〉》]`),
	"uuid":      regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`),
	"ip":        regexp.MustCompile(`\p{Nd}{1,3}\.\p{Nd}{1,3}\.\p{Nd}{1,3}\.\p{Nd}{1,3}(?::\p{Nd}{1,5})?|\[[0-9a-fA-F:]*:[0-9a-fA-F:.]*\](?::\p{Nd}{1,5})?`),
}

func newDigest(s Settings, names *Names) (Processor, error) {
	p := &digest{}
	for _, x := range s.All() {
		if done, err := p.take(&x, names); err != nil {
			return nil, err
		} else if done || x.Key != "presets" && x.Key != "regex" {
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
				if re, err = compileRegex(text); err != nil {
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
			if re.MatchString(text) {
				text = re.ReplaceAllLiteralString(text, "")
			}
		}
		e.Set(p.targets[i], value.String(text))
	}
	return nil
}
