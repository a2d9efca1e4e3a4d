package stdlib

import (
	"slices"
	"strings"
	"unicode"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// encodeKeyValueFunctions write objects as lines of keys with values.
var encodeKeyValueFunctions = []vrl.Function{
	{Name: "encode_key_value", Params: []vrl.Param{arg("value", vrl.Object), opt("fields_ordering", vrl.Array),
		text("key_value_delimiter", "="), text("field_delimiter", " "),
		flag("flatten_boolean", false)}, Fails: orderingGiven, Returns: vrl.Of(vrl.String), Run: encodeKeyValue},
	{Name: "encode_logfmt", Params: []vrl.Param{arg("value", vrl.Object), opt("fields_ordering", vrl.Array)},
		Fails: orderingGiven, Returns: vrl.Of(vrl.String), Run: encodeLogfmt},
}

func orderingGiven(c *vrl.Call) bool { return c.Given("fields_ordering") }

func encodeLogfmt(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	w := keyValueWriter{frame: f, equals: "=", between: " "}
	return w.write(args[0].Object(), args[1])
}

func encodeKeyValue(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	w := keyValueWriter{frame: f, equals: args[2].Str(), between: args[3].Str(), bareTrue: args[4].True()}
	return w.write(args[0].Object(), args[1])
}

// keyValueWriter writes the leaves of an object as pairs.
type keyValueWriter struct {
	frame           *vrl.Frame
	equals, between string
	bareTrue        bool // true is a key alone, false is left out
	leaves          []value.Member
	bytes           int // of all joined keys
}

func (w *keyValueWriter) write(o *value.Object, ordering value.Value) (value.Value, *vrl.Failure) {
	w.leaves = make([]value.Member, 0, o.Len())
	if fl := w.collect("", o.Of()); fl != nil {
		return value.Null, fl
	}
	slices.SortStableFunc(w.leaves, func(a, b value.Member) int { return strings.Compare(a.Key, b.Key) })
	first := 0
	if !ordering.IsNull() {
		names := ordering.Array()
		for i := range names.Len() {
			name := names.At(i)
			if name.Kind() != value.StringKind {
				return w.frame.Fail("invalid field value type: expected string, got %k", name)
			}
			if fl := w.frame.Spend(len(w.leaves)); fl != nil {
				return value.Null, fl
			}
			at := slices.IndexFunc(w.leaves[first:], func(m value.Member) bool { return m.Key == name.Str() })
			if at >= 0 {
				m := w.leaves[first+at]
				copy(w.leaves[first+1:], w.leaves[first:first+at])
				w.leaves[first] = m
				first++
			}
		}
	}
	b, start := w.frame.Arena.Begin(), true
	for _, m := range w.leaves {
		bare := w.bareTrue && m.Value.Kind() == value.BoolKind
		if bare && !m.Value.Bool() {
			continue
		}
		if fl := w.frame.Room(len(b) + len(w.between) + len(m.Key) + len(w.equals)); fl != nil {
			return value.Null, fl
		}
		if !start {
			b = append(b, w.between...)
		}
		start = false
		b = appendPairText(b, m.Key)
		if bare {
			continue
		}
		b = append(b, w.equals...)
		if m.Value.Kind() == value.StringKind {
			b = appendPairText(b, m.Value.Str())
		} else if m.Value.IsNull() {
			b = append(b, "null"...)
		} else {
			b = appendPairText(b, string(appendScalar(nil, m.Value)))
		}
	}
	return w.frame.Arena.End(b), nil
}

// collect lists the scalars inside a value under their joined keys.
func (w *keyValueWriter) collect(key string, v value.Value) *vrl.Failure {
	if !v.IsContainer() {
		w.leaves = append(w.leaves, value.Member{Key: key, Value: v})
		return nil
	}
	if fl := w.frame.Spend(length(v)); fl != nil {
		return fl
	}
	for i := range length(v) {
		var name string
		var inner value.Value
		if v.Kind() == value.ObjectKind {
			m := v.Object().Member(i)
			name, inner = m.Key, m.Value
		} else {
			name, inner = groupKey(i), v.Array().At(i)
		}
		if key != "" {
			name = w.frame.Arena.Concat(key, ".", name).Str()
			if w.bytes += len(name); w.bytes > vrl.MaxStringBytes {
				return w.frame.Room(w.bytes)
			}
		}
		if fl := w.collect(name, inner); fl != nil {
			return fl
		}
	}
	return nil
}

// appendPairText appends a key or value, in quotes when it has blanks, quotes or an equals sign in it.
func appendPairText(dst []byte, s string) []byte {
	quote := strings.ContainsFunc(s, func(r rune) bool { return r == '"' || r == '=' || unicode.IsSpace(r) })
	if quote {
		dst = append(dst, '"')
	}
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '"':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\\n`...)
		default:
			dst = append(dst, c)
		}
	}
	if quote {
		dst = append(dst, '"')
	}
	return dst
}
