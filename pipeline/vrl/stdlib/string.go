package stdlib

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// stringFunctions work on text.
var stringFunctions = []vrl.Function{
	{Name: "upcase", Params: stringParam, Returns: vrl.Of(vrl.String), Run: upcase},
	{Name: "downcase", Params: stringParam, Returns: vrl.Of(vrl.String), Run: downcase},
	{Name: "strip_whitespace", Params: stringParam, Returns: vrl.Of(vrl.String),
		Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return value.String(strings.TrimFunc(args[0].Str(), unicode.IsSpace)), nil
		}},
	{Name: "strip_ansi_escape_codes", Params: stringParam, Returns: vrl.Of(vrl.String), Run: stripANSI},
	{Name: "truncate", Params: []vrl.Param{arg("value", vrl.String), arg("limit", vrl.Integer), text("suffix", "")},
		Returns: vrl.Of(vrl.String), Run: truncate},
	{Name: "contains", Params: affixParams, Returns: vrl.Of(vrl.Boolean), Run: affixTest(strings.Contains)},
	{Name: "starts_with", Params: affixParams, Returns: vrl.Of(vrl.Boolean), Run: affixTest(strings.HasPrefix)},
	{Name: "ends_with", Params: affixParams, Returns: vrl.Of(vrl.Boolean), Run: affixTest(strings.HasSuffix)},
	{Name: "contains_all", Params: []vrl.Param{arg("value", vrl.String), arg("substrings", vrl.Array),
		flag("case_sensitive", true)},
		Fails:   func(c *vrl.Call) bool { return !allWithin(c.Type("substrings"), vrl.String) },
		Returns: vrl.Of(vrl.Boolean), Run: containsAll},
	{Name: "join", Params: []vrl.Param{arg("value", vrl.Array), text("separator", "")}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: join},
	{Name: "slice", Params: []vrl.Param{arg("value", vrl.String|vrl.Array), arg("start", vrl.Integer),
		opt("end", vrl.Integer)}, Fails: vrl.Always,
		ReturnsFor: func(c *vrl.Call) vrl.Type {
			t := c.Type("value").Only(vrl.String | vrl.Array)
			start, known := c.Const("start")
			whole := known && start.Kind() == value.IntKind && start.Int() == 0 && !c.Given("end")
			if t.May(vrl.Array) && !whole { // the items move
				items := t.Members()
				t = vrl.Union(t.Without(vrl.Array), vrl.ArrayOf(items))
			}
			return t
		}, Run: slice},
	{Name: "strlen", Params: stringParam, Returns: vrl.Of(vrl.Integer),
		Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return value.Int(int64(utf8.RuneCountInString(args[0].Str()))), nil
		}},
	{Name: "length", Light: true, Params: []vrl.Param{arg("value", vrl.String|vrl.Array|vrl.Object)},
		Returns: vrl.Of(vrl.Integer), Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return value.Int(int64(length(args[0]))), nil
		}},
	{Name: "chunks", Params: []vrl.Param{arg("value", vrl.String), arg("chunk_size", vrl.Integer)},
		Fails:   vrl.UnlessConst("chunk_size", positive),
		Returns: vrl.ArrayOf(vrl.Of(vrl.String)), Compile: func(c *vrl.Call) (vrl.Run, error) {
			if size, ok := c.Const("chunk_size"); ok && !positive(size) {
				return nil, c.Invalid("chunk_size", `"chunk_size" must be at least 1 byte`)
			}
			return chunks, nil
		}},
}

var affixParams = []vrl.Param{arg("value", vrl.String), arg("substring", vrl.String), flag("case_sensitive", true)}

func positive(v value.Value) bool { return v.Kind() == value.IntKind && v.Int() >= 1 }

// allWithin reports whether all items of an array are known to be of some kinds.
func allWithin(t vrl.Type, kinds vrl.Kinds) bool {
	items := t.Members()
	return items.Never() || items.Within(kinds)
}

// isASCII reports whether a text has bytes below 0x80 only.
func isASCII(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if (s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7])&0x80 != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// validText is a text with U+FFFD in place of invalid UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func upcase(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	if !isASCII(s) {
		return value.String(Upper(validText(s))), nil
	}
	b := f.Arena.Alloc(len(s))
	for i := range b {
		c := s[i]
		if c-'a' < 26 {
			c -= 'a' - 'A'
		}
		b[i] = c
	}
	return value.Bytes(b), nil
}

// Upper returns text in upper case. One character may become several: "ß" becomes "SS".
func Upper(text string) string { return cases.Upper(language.Und).String(text) }

// fullLower returns text in lower case. One character may become several, too.
func fullLower(text string) string { return cases.Lower(language.Und).String(text) }

func downcase(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	return value.String(lower(f.Arena, args[0].Str())), nil
}

// lower is a text in lower case.
func lower(a *value.Arena, s string) string {
	if !isASCII(s) {
		return fullLower(validText(s))
	}
	b := a.Alloc(len(s))
	for i := range b {
		c := s[i]
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		b[i] = c
	}
	return value.View(b)
}

// stripANSI drops the escape sequences of terminals: ESC [ parameters final, ESC ] text up to BEL or ESC \, the other
// strings of ECMA-48, and ESC with one character.
func stripANSI(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	if strings.IndexByte(s, 0x1B) < 0 && !strings.Contains(s, "\u009b") {
		return args[0], nil
	}
	b := f.Arena.Begin()
	for i := 0; i < len(s); {
		switch {
		case s[i] == 0x1B:
			i = escapeEnd(s, i+1)
		case strings.HasPrefix(s[i:], "\u009b"):
			i = controlEnd(s, i+len("\u009b"))
		default:
			b = append(b, s[i])
			i++
		}
	}
	return f.Arena.End(b), nil
}

// escapeEnd returns the end of the escape sequence whose ESC is just before i.
func escapeEnd(s string, i int) int {
	if i >= len(s) {
		return i
	}
	switch c := s[i]; {
	case c == '[':
		return controlEnd(s, i+1)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		for i++; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1B && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return i
	case c >= 0x20 && c <= 0x2F: // intermediates and a final
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2F {
			i++
		}
		return min(i+1, len(s))
	case c >= 0x30 && c <= 0x7E:
		return i + 1
	}
	return i
}

// controlEnd is where a control sequence ends whose parameters start at i.
func controlEnd(s string, i int) int {
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3F {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7E {
		i++
	}
	return i
}

func truncate(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, limit := args[0].Str(), args[1].Int()
	if limit >= int64(len(s)) {
		return args[0], nil
	}
	end := 0
	for ; limit > 0 && end < len(s); limit-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end == len(s) {
		return args[0], nil
	}
	if suffix := args[2].Str(); suffix != "" {
		return f.Arena.Concat(s[:end], suffix), nil
	}
	return value.String(s[:end]), nil
}

// affixTest makes a test of one text in another, with letter case or without.
func affixTest(test func(s, part string) bool) vrl.Run {
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		s, part := args[0].Str(), args[1].Str()
		if !args[2].True() {
			s, part = lower(f.Arena, s), lower(f.Arena, part)
		}
		return value.Bool(test(s, part)), nil
	}
}

func containsAll(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, parts, folded := args[0].Str(), args[1].Array(), !args[2].True()
	if folded {
		s = lower(f.Arena, s)
	}
	all := true
	for i := range parts.Len() {
		item := parts.At(i)
		if item.Kind() != value.StringKind {
			return f.Fail("expected string, got %k", item)
		}
		part := item.Str()
		if folded {
			part = lower(f.Arena, part)
		}
		all = all && strings.Contains(s, part)
	}
	return value.Bool(all), nil
}

func join(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	items, separator := args[0].Array(), args[1].Str()
	size := 0
	for i := range items.Len() {
		if items.At(i).Kind() != value.StringKind {
			return f.Fail("all array items must be strings")
		}
		size += len(items.At(i).Str()) + len(separator)
	}
	if fl := f.Room(size); fl != nil {
		return value.Null, fl
	}
	b := f.Arena.Grow(f.Arena.Begin(), size)
	for i := range items.Len() {
		if i > 0 {
			b = append(b, separator...)
		}
		b = append(b, items.At(i).Str()...)
	}
	return f.Arena.End(b), nil
}

func slice(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v := args[0]
	size := int64(length(v))
	start, end := args[1].Int(), size
	if !args[2].IsNull() {
		end = args[2].Int()
	}
	if start < -size || start > size {
		return f.Fail(`"start" must be between "%s" and "%s"`, value.Int(-size), value.Int(size))
	}
	if start < 0 {
		start += size
	}
	if end < 0 {
		end += size
	}
	if end < start {
		return f.Fail(`"end" must be greater or equal to "start"`)
	}
	end = min(end, size)
	if v.Kind() == value.StringKind {
		return value.String(v.Str()[start:end]), nil
	}
	part := f.Arena.Array(int(end - start))
	for i := start; i < end; i++ {
		part.Push(f.Arena, v.Array().At(int(i)).Share())
	}
	return part.Of(), nil
}

func chunks(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, size := args[0].Str(), args[1].Int()
	if size < 1 {
		return f.Fail(`"chunk_size" must be at least 1 byte`)
	}
	size = min(size, int64(max(len(s), 1)))
	n := (len(s) + int(size) - 1) / int(size)
	if fl := f.Spend(n); fl != nil {
		return value.Null, fl
	}
	list := f.Arena.Array(n)
	for ; s != ""; s = s[min(int(size), len(s)):] {
		list.Push(f.Arena, value.String(s[:min(int(size), len(s))]))
	}
	return list.Of(), nil
}
