package stdlib

import (
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// cefFunctions read the common event format.
var cefFunctions = []vrl.Function{
	{Name: "parse_cef", Params: []vrl.Param{arg("value", vrl.String), flag("translate_custom_fields", false),
		flag("strict", true)}, Fails: vrl.Always,
		Returns: vrl.ObjectWith(vrl.Of(vrl.String), fieldsOf(vrl.Of(vrl.String), cefHeader...)...), Run: parseCEF},
}

var cefHeader = []string{"cefVersion", "deviceVendor", "deviceProduct", "deviceVersion", "deviceEventClassId", "name",
	"severity"}

// cefCustom are the fields that have a label in another one, named like them with "Label" behind.
var cefCustom = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{"c6a1", "c6a2", "c6a3", "c6a4", "cfp1", "cfp2", "cfp3", "cfp4", "cn1", "cn2", "cn3",
		"cs1", "cs2", "cs3", "cs4", "cs5", "cs6",
		"deviceCustomDate1", "deviceCustomDate2", "flexDate1", "flexString1", "flexString2"} {
		names[name] = true
	}
	return names
}()

// parseCEF reads "CEF:" and seven fields between bars, then key=value pairs; what stands before "CEF:" does not count.
// When not strict, text in the extension that is no pair is left out.
func parseCEF(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	_, s, found := strings.Cut(args[0].Str(), "CEF:")
	if !found {
		return f.Fail("could not parse: the text has no CEF header")
	}
	a := f.Arena
	o := a.Object(24)
	for i, name := range cefHeader {
		end := barEnd(s)
		if end < 0 && i < len(cefHeader)-1 {
			return f.Fail("could not parse: the CEF header has no %s", value.String(cefHeader[i+1]))
		}
		if end < 0 {
			end = len(s)
		}
		text := cefText(a, strings.TrimSpace(s[:end]), "|\\")
		o.Set(a, name, value.String(unquotedCEF(text)))
		s = s[min(end+1, len(s)):]
	}
	if fl := cefExtension(f, o, s, args[2].True()); fl != nil {
		return value.Null, fl
	}
	if args[1].True() {
		return translateCEF(f, o)
	}
	return o.Of(), nil
}

// barEnd returns the position of the next bar without a backslash before it; -1 if there is none.
func barEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			return i
		}
	}
	return -1
}

// cefText resolves the backslashes before any of protected, and \n and \r in extensions.
func cefText(a *value.Arena, s, protected string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := a.Alloc(len(s))[:0]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			next := s[i+1]
			switch {
			case strings.IndexByte(protected, next) >= 0:
				i++
				c = next
			case (next == 'n' || next == 'r') && strings.IndexByte(protected, '=') >= 0:
				i++
				c = '\n'
			}
		}
		b = append(b, c)
	}
	return value.View(b)
}

// unquotedCEF is a value without the quotes around it.
func unquotedCEF(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// cefExtension reads the pairs. A value goes up to the blank before the next key.
func cefExtension(f *vrl.Frame, o *value.Object, s string, strict bool) *vrl.Failure {
	s = strings.TrimLeft(s, " |")
	for s != "" {
		equals := keyEnd(s)
		if equals <= 0 {
			if strict {
				_, fl := f.Fail("Could not parse whole line successfully")
				return fl
			}
			return nil
		}
		key := s[:equals]
		s = s[equals+1:]
		end, stray := cefValueEnd(s)
		if stray && strict {
			_, fl := f.Fail("Could not parse whole line successfully")
			return fl
		}
		text := strings.TrimRight(s[:end], " ")
		o.Set(f.Arena, key, value.String(unquotedCEF(cefText(f.Arena, text, "=\\"))))
		s = strings.TrimLeft(s[end:], " ")
		if fl := f.Spend(1); fl != nil {
			return fl
		}
	}
	return nil
}

// keyEnd returns the position of the equals sign after the key at the start; -1 if there is no key.
func keyEnd(s string) int {
	for i := range len(s) {
		switch s[i] {
		case '=':
			return i
		case ' ', '\\', '|':
			return -1
		}
	}
	return -1
}

// cefValueEnd is where a value ends: before the blanks of the next key. stray says that it has an equals sign in it
// that no backslash protects.
func cefValueEnd(s string) (end int, stray bool) {
	word := 0 // where the current word begins
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			word = -1
		case ' ':
			word = i + 1
		case '=':
			if word > 0 && i > word {
				return word - 1, stray
			}
			stray = true
		}
	}
	return len(s), stray
}

// translateCEF puts the values of custom fields under their labels.
func translateCEF(f *vrl.Frame, o *value.Object) (value.Value, *vrl.Failure) {
	out := f.Arena.Object(o.Len())
	for i := range o.Len() {
		m := o.Member(i)
		if name, isLabel := strings.CutSuffix(m.Key, "Label"); isLabel && cefCustom[name] {
			v, ok := o.Get(name)
			if !ok {
				return f.Fail("Custom field with missing label or value")
			}
			out.Set(f.Arena, m.Value.Str(), v)
			continue
		}
		if cefCustom[m.Key] {
			if o.Index(f.Arena.Concat(m.Key, "Label").Str()) < 0 {
				return f.Fail("Custom field with missing label or value")
			}
			continue
		}
		out.Set(f.Arena, m.Key, m.Value)
	}
	return out.Of(), nil
}
