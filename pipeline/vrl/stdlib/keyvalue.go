package stdlib

import (
	"fmt"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// keyValueFunctions read lines of keys with values.
var keyValueFunctions = []vrl.Function{
	{Name: "parse_key_value", Params: []vrl.Param{arg("value", vrl.String), text("key_value_delimiter", "="),
		text("field_delimiter", " "),
		word("whitespace", "lenient", "lenient", "strict"), flag("accept_standalone_key", true)}, Fails: vrl.Always,
		Returns: keyValueType, Run: parseKeyValue},
	{Name: "parse_logfmt", Params: stringParam, Fails: vrl.Always, Returns: keyValueType, Run: parseLogfmt},
}

var keyValueType = vrl.ObjectOfAny(vrl.Union(vrl.Of(vrl.String, vrl.Boolean),
	vrl.ArrayOf(vrl.Of(vrl.String, vrl.Boolean))))

func parseLogfmt(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	r := keyValueReader{s: args[0].Str(), equals: "=", between: " ", lenient: true, alone: true}
	return r.read(f)
}

func parseKeyValue(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	r := keyValueReader{s: args[0].Str(), equals: args[1].Str(), between: args[2].Str(),
		lenient: args[3].Str() == "lenient", alone: args[4].True()}
	if r.equals == "" || r.between == "" {
		return f.Fail("delimiters must not be empty")
	}
	return r.read(f)
}

// keyValueReader reads a line. s[at:] is the unread rest.
type keyValueReader struct {
	s               string
	at              int
	equals, between string
	lenient         bool // blanks may stand around equals
	alone           bool // a key may have no value
}

func (r *keyValueReader) read(f *vrl.Frame) (value.Value, *vrl.Failure) {
	a := f.Arena
	o := a.Object(12)
	for r.skipBetween(); ; r.skipBetween() {
		if r.at == len(r.s) && o.Len() > 0 {
			return o.Of(), nil
		}
		start := r.at
		key, ok := r.key(a)
		if !ok {
			return r.badKey(f, o, start)
		}
		v := value.Bool(true)
		if r.takeEquals() {
			v = r.value(a)
		} else if !r.alone {
			return r.noValue(f, o)
		}
		if r.at < len(r.s) && !r.atBetween() {
			r.toBetween()
			continue
		}
		if addRepeated(a, o, key, v); o.Len() > maxFields {
			return f.Fail("more than %s fields", value.Int(maxFields))
		}
	}
}

// badKey is the failure of a field at start that has no key. The texts are those of the reference's parser.
func (r *keyValueReader) badKey(f *vrl.Frame, o *value.Object, start int) (value.Value, *vrl.Failure) {
	if o.Len() > 0 {
		return f.Fail("could not parse whole line successfully")
	}
	return f.Fail("%s", value.String(parserError(r.s, "Verify", start)))
}

// noValue handles a key without a required value. The key is dropped; if there is no other key, that is an error.
func (r *keyValueReader) noValue(f *vrl.Frame, o *value.Object) (value.Value, *vrl.Failure) {
	if o.Len() > 0 {
		return o.Of(), nil
	}
	return f.Fail("%s", value.String(parserError(r.s, "Tag", r.at, "ManyMN", r.at)))
}

// parserError is the text of an error of the reference's parser: for each step its name and a caret under the place.
func parserError(s string, steps ...any) string {
	var b strings.Builder
	for i := 0; i < len(steps); i += 2 {
		name, at := steps[i].(string), steps[i+1].(int)
		if s == "" {
			fmt.Fprintf(&b, "%d: in %s, got empty input\n\n", i/2, name)
			continue
		}
		begin := strings.LastIndexByte(s[:at], '\n') + 1
		line, _, _ := strings.Cut(s[begin:], "\n")
		fmt.Fprintf(&b, "%d: at line %d, in %s:\n%s\n%*s\n\n", i/2, strings.Count(s[:at], "\n")+1, name, line,
			at-begin+1, "^")
	}
	return b.String()
}

// toBetween goes on to the next delimiter of fields.
func (r *keyValueReader) toBetween() {
	if i := strings.Index(r.s[r.at:], r.between); i >= 0 {
		r.at += i
	} else {
		r.at = len(r.s)
	}
}

// maxFields bounds the fields that one text makes: each is put in its place among those before it.
const maxFields = 10_000

// addRepeated sets a field; values of a repeated one become an array. A key alone adds nothing to values.
func addRepeated(a *value.Arena, o *value.Object, key string, v value.Value) {
	old, repeated := o.Get(key)
	switch {
	case repeated && v.Kind() == value.BoolKind:
	case !repeated || old.Kind() == value.BoolKind:
		o.Set(a, key, v)
	case old.Kind() == value.ArrayKind:
		old.Array().Push(a, v)
	default:
		list := a.Array(4)
		list.Push(a, old)
		list.Push(a, v)
		o.Set(a, key, list.Of())
	}
}

func (r *keyValueReader) blanks() {
	for r.at < len(r.s) && isBlankByte(r.s[r.at]) {
		r.at++
	}
}

func isBlankByte(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipBetween skips delimiters of fields and, when lenient, blanks.
func (r *keyValueReader) skipBetween() {
	if len(r.between) == 1 {
		between := r.between[0]
		for r.at < len(r.s) && (r.s[r.at] == between || r.lenient && isBlankByte(r.s[r.at])) {
			r.at++
		}
		return
	}
	for {
		start := r.at
		if r.lenient {
			r.blanks()
		}
		for strings.HasPrefix(r.s[r.at:], r.between) {
			r.at += len(r.between)
		}
		if r.at == start {
			return
		}
	}
}

// atBetween reports whether a field ends here; when lenient, blanks may come before.
func (r *keyValueReader) atBetween() bool {
	rest := r.s[r.at:]
	if strings.HasPrefix(rest, r.between) {
		return true
	}
	if r.lenient {
		rest = skipBlanks(rest)
	}
	return rest == "" || strings.HasPrefix(rest, r.between)
}

// takeEquals takes the delimiter between key and value.
func (r *keyValueReader) takeEquals() bool {
	start := r.at
	if r.lenient {
		r.blanks()
	}
	if strings.HasPrefix(r.s[r.at:], r.equals) {
		r.at += len(r.equals)
		return true
	}
	r.at = start
	return false
}

// key takes a key: in quotes, up to the delimiter before its value, or up to that between fields, which may hold the
// former: "=x" alone is a key. Where every key has a value, it goes up to the delimiter before that. ok is false for an
// empty key.
func (r *keyValueReader) key(a *value.Arena) (key string, ok bool) {
	if r.at == len(r.s) {
		return "", false
	}
	if c := r.s[r.at]; c == '"' || c == '\'' {
		if text, end, ok := quotedEnd(a, r.s, r.at); ok {
			start := r.at
			r.at = end
			if r.takesEquals() || r.at == len(r.s) || r.alone && r.atBetween() {
				return text, text != ""
			}
			r.at = start
		}
	}
	start, end := r.at, r.at
	for first, other := r.equals[0], r.between[0]; end < len(r.s); end++ {
		if c := r.s[end]; c == first && strings.HasPrefix(r.s[end:], r.equals) ||
			c == other && r.alone && strings.HasPrefix(r.s[end:], r.between) {
			break
		}
	}
	key = trimBlanksRight(skipBlanks(r.s[start:end]))
	if r.at = end; key != "" {
		if rest := skipBlanks(r.s[end:]); !r.lenient && strings.HasPrefix(rest, r.equals) {
			r.at = len(r.s) - len(rest) // blanks before it are the key's
		}
		return key, true
	}
	if !r.alone {
		return "", false
	}
	r.toBetween()
	key = trimBlanksRight(skipBlanks(r.s[start:r.at]))
	return key, key != ""
}

// takesEquals looks for the delimiter between key and value and stays where it is.
func (r *keyValueReader) takesEquals() bool {
	start := r.at
	ok := r.takeEquals()
	r.at = start
	return ok
}

// value takes a value, in quotes or up to the end of the field.
func (r *keyValueReader) value(a *value.Arena) value.Value {
	if r.lenient {
		r.blanks()
	}
	if r.at < len(r.s) && (r.s[r.at] == '"' || r.s[r.at] == '\'') {
		if text, end, ok := quotedEnd(a, r.s, r.at); ok {
			start := r.at
			if r.at = end; r.atBetween() {
				return value.String(text)
			}
			r.at = start
		}
	}
	rest := r.s[r.at:]
	if i := strings.Index(rest, r.between); i >= 0 {
		rest = rest[:i]
	}
	r.at += len(rest)
	return value.String(trimBlanksRight(skipBlanks(rest)))
}

func trimBlanksRight(s string) string {
	for len(s) > 0 && isBlankByte(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// quotedEnd reads the text in the quotes that start at i: \" \\ and \n are escapes, other backslashes stay. end is
// behind the closing quote.
func quotedEnd(a *value.Arena, s string, i int) (text string, end int, ok bool) {
	quote, start := s[i], i+1
	escaped := false
	for i = start; i < len(s); i++ {
		switch s[i] {
		case '\\':
			escaped = true
			i++
		case quote:
			if escaped {
				return unescaped(a, s[start:i], '"'), i + 1, true
			}
			return s[start:i], i + 1, true
		}
	}
	return "", 0, false
}

// unescaped resolves the escapes of a quoted text.
func unescaped(a *value.Arena, s string, quote byte) string {
	b := a.Alloc(len(s))
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case quote, '\\':
				i++
				c = s[i]
			case 'n':
				i++
				c = '\n'
			}
		}
		b[n] = c
		n++
	}
	return value.View(b[:n])
}
