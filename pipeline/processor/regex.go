package processor

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl/regex"
)

// regexExtract takes the named groups of regular expressions out of a text.
type regexExtract struct {
	fields
	patterns []extraction
}

// extraction is a pattern and the groups to take from it.
type extraction struct {
	re *value.Regex
	// plain and unicode do what the programs of re do, faster; nil where the pattern has not the shape for it.
	plain, unicode *scanner
	names          []string
	numbers        []int
	slots          []int // of field f and group g: slots[f*len(numbers)+g]
}

func newRegex(s Settings, names *Names) (Processor, error) {
	p := &regexExtract{}
	var patterns []*Setting
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key == "pattern" || x.Key == "patterns" {
			patterns = append(patterns, x)
		}
	}
	if len(p.list) == 0 {
		return nil, s.Invalid("No valid field found in regex processor")
	}
	for _, x := range patterns {
		if err := p.addAll(x, names.Room); err != nil {
			return nil, err
		}
	}
	if len(p.patterns) == 0 {
		return nil, s.Invalid("No valid pattern found in regex processor")
	}
	for i := range p.patterns {
		x := &p.patterns[i]
		for _, f := range p.list {
			for _, group := range x.names {
				x.slots = append(x.slots, names.Slot(names.Name(f.target)+"_"+group))
			}
		}
	}
	return p, nil
}

// addAll compiles what "pattern" or "patterns" says.
func (p *regexExtract) addAll(x *Setting, room *regex.Room) error {
	if x.Key == "pattern" {
		text, err := x.String()
		if err != nil {
			return err
		}
		return p.add(x, text, room)
	}
	texts, err := x.Strings()
	if err != nil {
		return err
	}
	for _, text := range texts {
		if err := p.add(x, text, room); err != nil {
			return err
		}
	}
	return nil
}

// add compiles a pattern.
func (p *regexExtract) add(x *Setting, text string, room *regex.Room) error {
	re, err := room.Compile(text)
	if err != nil {
		return x.Invalid("Invalid regex pattern: %s: %v", text, err)
	}
	names, numbers := namedGroups(re)
	if len(names) == 0 {
		return x.Invalid("No named group found in regex %s", text)
	}
	e := extraction{re: re, plain: newScanner(re.Regexp), names: names, numbers: numbers}
	if re.Unicode != nil {
		e.unicode = newScanner(re.Unicode)
	}
	p.patterns = append(p.patterns, e)
	return nil
}

func (p *regexExtract) Run(e *Event) error {
	for i := range p.list {
		text, ok, err := p.text(e, &p.list[i], "regex")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for k := range p.patterns {
			x := &p.patterns[k]
			x.extract(e, text, x.slots[i*len(x.numbers):(i+1)*len(x.numbers)])
		}
	}
	return nil
}

// extract puts the groups of the first match into slots.
func (x *extraction) extract(e *Event, text string, slots []int) {
	at := x.match(e, text)
	if at == nil {
		return
	}
	for g, number := range x.numbers {
		if from, to := at[2*number], at[2*number+1]; from >= 0 {
			e.setText(slots[g], text[from:to])
		}
	}
}

// match returns the places of the groups of the first match, nil for none. They are good until the next match.
func (x *extraction) match(e *Event, text string) []int {
	re := x.re.On(e.Arena, text)
	scan := x.plain
	if re != x.re.Regexp {
		scan = x.unicode
	}
	if scan == nil {
		return re.FindStringSubmatchIndex(text)
	}
	n := 2 * scan.groups
	if n > len(e.groups) {
		e.groups = make([]int, n)
	}
	switch scan.match(text, e.groups[:n]) {
	case scanFound:
		return e.groups[:n]
	case scanNone:
		return nil
	}
	return re.FindStringSubmatchIndex(text)
}
