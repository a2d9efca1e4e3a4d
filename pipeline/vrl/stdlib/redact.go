package stdlib

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/regex"
)

// redactFunctions replace confidential text.
var redactFunctions = []vrl.Function{
	{Name: "redact", Params: []vrl.Param{arg("value", vrl.String|vrl.Array|vrl.Object),
		constant(arg("filters", vrl.Array)), {Name: "redactor", Kinds: vrl.String | vrl.Object, Const: true,
			Default: value.String("full")}}, ReturnsFor: func(c *vrl.Call) vrl.Type {
		if t := vrl.Of(c.Type("value").Kinds() & (vrl.String | vrl.Array | vrl.Object)); !t.Never() {
			return t
		}
		return vrl.Of(vrl.String, vrl.Array, vrl.Object)
	}, Compile: compileRedact},
}

// socialSecurity finds the numbers that the United States give: an area other than 000, 666 and those from 900 on, a
// group and a serial other than zeros.
const socialSecurity = `\b(?:00[1-9]|0[1-9][0-9]|[1-578][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])-(?:0[1-9]|[1-9][0-9])-(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\b`

// redactFilter finds what is to be hidden: by a regular expression, or as a text.
type redactFilter struct {
	re   *value.Regex
	text string
}

// redactor writes the replacement of a text.
type redactor func(dst []byte, s string) []byte

func compileRedact(c *vrl.Call) (vrl.Run, error) {
	list, _ := c.Const("filters")
	filters, err := redactFilters(list, c.Room())
	if err != nil {
		return nil, c.Invalid("filters", "%v", err)
	}
	named, _ := c.Const("redactor")
	replace, err := redactorOf(named)
	if err != nil {
		return nil, c.Invalid("redactor", "%v", err)
	}
	r := redaction{filters, replace}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) { return r.value(f, args[0]) }, nil
}

func redactFilters(list value.Value, room *regex.Room) ([]redactFilter, error) {
	var filters []redactFilter
	for i := range list.Array().Len() {
		v := list.Array().At(i)
		switch v.Kind() {
		case value.RegexKind:
			filters = append(filters, redactFilter{re: v.Regex()})
			continue
		case value.StringKind, value.ObjectKind:
		default:
			return nil, fmt.Errorf("unknown literal for filter, must be a regex, filter name, or object")
		}
		name, patterns := v, value.Null
		if v.Kind() == value.ObjectKind {
			name, _ = v.Object().Get("type")
			patterns, _ = v.Object().Get("patterns")
			if name.Kind() != value.StringKind {
				return nil, errors.New("filters specified as objects must have type parameter")
			}
		}
		more, err := namedFilter(name.Str(), patterns, v.Kind() == value.ObjectKind, room)
		if err != nil {
			return nil, err
		}
		filters = append(filters, more...)
	}
	return filters, nil
}

// namedFilter is a filter by its name, with patterns if it takes some.
func namedFilter(name string, patterns value.Value, isObject bool, room *regex.Room) ([]redactFilter, error) {
	switch name {
	case "us_social_security_number":
		re, err := room.Compile(socialSecurity)
		return []redactFilter{{re: re}}, err
	case "pattern":
		if !isObject {
			return nil, errors.New("pattern cannot be used without arguments")
		}
		if patterns.Kind() != value.ArrayKind {
			return nil, errors.New("filters of type pattern must have patterns, an array")
		}
		var filters []redactFilter
		for i := range patterns.Array().Len() {
			switch p := patterns.Array().At(i); p.Kind() {
			case value.RegexKind:
				filters = append(filters, redactFilter{re: p.Regex()})
			case value.StringKind:
				filters = append(filters, redactFilter{text: p.Str()})
			default:
				return nil, errors.New("patterns must be regular expressions or strings")
			}
		}
		return filters, nil
	}
	return nil, fmt.Errorf("unknown filter name %s", name)
}

func redactorOf(v value.Value) (redactor, error) {
	name, settings := v, (*value.Object)(nil)
	if v.Kind() == value.ObjectKind {
		settings = v.Object()
		if name, _ = settings.Get("type"); name.Kind() != value.StringKind {
			return nil, errors.New("redactor specified as object must have type parameter")
		}
	}
	switch name.Str() {
	case "full":
		return func(dst []byte, _ string) []byte { return append(dst, "[REDACTED]"...) }, nil
	case "text":
		if settings == nil {
			return nil, errors.New("text redactor must have replacement parameter")
		}
		with, _ := settings.Get("replacement")
		if with.Kind() != value.StringKind {
			return nil, errors.New("text redactor must have replacement parameter")
		}
		replacement := strings.Clone(with.Str())
		return func(dst []byte, _ string) []byte { return append(dst, replacement...) }, nil
	case "sha2":
		return hashRedactor(settings, "SHA-512/256", sha2Variants)
	case "sha3":
		return hashRedactor(settings, "SHA3-512", sha3Variants)
	}
	return nil, fmt.Errorf("unknown redactor name %s", name.Str())
}

// hashRedactor returns the digest of what it hides, in base64 or base16.
func hashRedactor(settings *value.Object, variant string, variants map[string]func() hash.Hash) (redactor, error) {
	encoding := "base64"
	if settings != nil {
		for _, s := range []struct {
			name string
			to   *string
		}{{"variant", &variant}, {"encoding", &encoding}} {
			if v, ok := settings.Get(s.name); ok {
				if v.Kind() != value.StringKind {
					return nil, fmt.Errorf("%s must be a string", s.name)
				}
				*s.to = v.Str()
			}
		}
	}
	newHash := variants[variant]
	if newHash == nil {
		return nil, fmt.Errorf("unexpected variant %s", variant)
	}
	var write func(dst, sum []byte) []byte
	switch encoding {
	case "base64":
		write = base64.StdEncoding.AppendEncode
	case "base16":
		write = hex.AppendEncode
	default:
		return nil, fmt.Errorf("unexpected encoding %s", encoding)
	}
	return func(dst []byte, s string) []byte {
		h := newHash()
		h.Write([]byte(s))
		var sum [64]byte
		return write(dst, h.Sum(sum[:0]))
	}, nil
}

// redaction holds the filters and the redactor of one call.
type redaction struct {
	filters []redactFilter
	replace redactor
}

// value hides what the filters find in all strings of a value.
func (r *redaction) value(f *vrl.Frame, v value.Value) (value.Value, *vrl.Failure) {
	if fl := f.Spend(1); fl != nil {
		return value.Null, fl
	}
	switch v.Kind() {
	case value.StringKind:
		s := v.Str()
		for i := range r.filters {
			var fl *vrl.Failure
			if s, fl = r.text(f, s, &r.filters[i]); fl != nil {
				return value.Null, fl
			}
			if fl := f.Room(len(s)); fl != nil {
				return value.Null, fl
			}
		}
		return value.String(s), nil
	case value.ArrayKind:
		list := f.Arena.Array(v.Array().Len())
		for i := range v.Array().Len() {
			item, fl := r.value(f, v.Array().At(i))
			if fl != nil {
				return value.Null, fl
			}
			list.Push(f.Arena, item)
		}
		return list.Of(), nil
	case value.ObjectKind:
		o := f.Arena.Object(v.Object().Len())
		for i := range v.Object().Len() {
			m := v.Object().Member(i)
			item, fl := r.value(f, m.Value)
			if fl != nil {
				return value.Null, fl
			}
			o.Append(f.Arena, m.Key, item)
		}
		return o.Of(), nil
	}
	return v, nil
}

// text replaces the matches of one filter.
func (r *redaction) text(f *vrl.Frame, s string, filter *redactFilter) (string, *vrl.Failure) {
	var hits [][]int
	if filter.re != nil {
		var fl *vrl.Failure
		if hits, fl = f.FindAll(filter.re, s, -1); fl != nil {
			return s, fl
		}
	} else if filter.text != "" {
		for from := 0; ; {
			i := strings.Index(s[from:], filter.text)
			if i < 0 {
				break
			}
			hits = append(hits, []int{from + i, from + i + len(filter.text)})
			from += i + len(filter.text)
		}
	}
	if len(hits) == 0 {
		return s, nil
	}
	b, last := f.Arena.Begin(), 0
	for _, at := range hits {
		b = append(b, s[last:at[0]]...)
		b = r.replace(b, s[at[0]:at[1]])
		last = at[1]
	}
	return f.Arena.End(append(b, s[last:]...)).Str(), nil
}
