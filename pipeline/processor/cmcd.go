package processor

import (
	"strconv"
	"strings"

	"varve/engine/status"
	"varve/pipeline/value"
)

// cmcdKeys are the keys of Common Media Client Data with the forms of their values.
// Source: CTA-5004.
var cmcdKeys = []struct {
	name string
	form cmcdForm
}{
	{"bs", cmcdPresence}, {"su", cmcdPresence},
	{"br", cmcdInt}, {"bl", cmcdInt}, {"d", cmcdInt}, {"dl", cmcdInt}, {"mtp", cmcdInt}, {"rtp", cmcdInt},
	{"tb", cmcdInt},
	{"pr", cmcdFloat},
	{"cid", cmcdText}, {"nrr", cmcdText}, {"ot", cmcdText}, {"sf", cmcdText}, {"sid", cmcdText}, {"st", cmcdText},
	{"v", cmcdText},
	{"nor", cmcdEncoded},
}

type cmcdForm uint8

const (
	cmcdPresence cmcdForm = iota
	cmcdInt
	cmcdFloat
	cmcdText
	cmcdEncoded // text with percent signs
)

// cmcd reads Common Media Client Data.
type cmcd struct {
	fields
	slots []int // of field f and key k: slots[f*len(cmcdKeys)+k]
}

func newCMCD(s Settings, names *Names) (Processor, error) {
	p := &cmcd{}
	for _, x := range s.All() {
		if _, err := p.take(&x, names); err != nil {
			return nil, err
		}
	}
	for _, f := range p.list {
		prefix := names.Name(f.target)
		for _, k := range cmcdKeys {
			p.slots = append(p.slots, names.Slot(prefix+"_"+k.name))
		}
	}
	return p, nil
}

func (p *cmcd) Run(e *Event) error {
	for i := range p.list {
		text, ok, err := p.text(e, &p.list[i], "cmcd")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		slots := p.slots[i*len(cmcdKeys) : (i+1)*len(cmcdKeys)]
		for part := range strings.SplitSeq(text, ",") {
			if err := cmcdPart(e, slots, part, text); err != nil {
				return About(err, p.list[i].name, value.String(text), "")
			}
		}
	}
	return nil
}

// cmcdPart takes one key with its value.
func cmcdPart(e *Event, slots []int, part, whole string) error {
	key, rest, given := strings.Cut(part, "=")
	text, _, _ := strings.Cut(rest, "=")
	for k := range cmcdKeys {
		if cmcdKeys[k].name != key {
			continue
		}
		if cmcdKeys[k].form != cmcdPresence && !given {
			return status.New(status.InvalidArguments, "Cmcd %s missing value in %s", key, shorten(whole))
		}
		v, err := cmcdValue(e, cmcdKeys[k].form, key, text)
		if err != nil {
			return err
		}
		e.Set(slots[k], v)
	}
	return nil
}

func cmcdValue(e *Event, form cmcdForm, key, text string) (value.Value, error) {
	switch form {
	case cmcdPresence:
		return value.Bool(true), nil
	case cmcdInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return value.Value{}, status.Wrap(err, status.InvalidArguments, "Failed to parse %s as int: %s", key,
				shorten(text))
		}
		return value.Int(n), nil
	case cmcdFloat:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x != x {
			return value.Value{}, status.Wrap(err, status.InvalidArguments, "Failed to parse %s as float: %s", key,
				shorten(text))
		}
		return value.Float(x), nil
	case cmcdText:
		return value.String(text), nil
	}
	return percentDecode(e.Arena, text), nil
}
