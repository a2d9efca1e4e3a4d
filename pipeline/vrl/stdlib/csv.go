package stdlib

import (
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// csvFunctions read and write lines of separated fields.
var csvFunctions = []vrl.Function{
	{Name: "parse_csv", Params: []vrl.Param{arg("value", vrl.String), text("delimiter", ",")}, Fails: vrl.Always,
		Returns: vrl.ArrayOf(vrl.Of(vrl.String)), Run: parseCSV},
	{Name: "encode_csv", Params: []vrl.Param{arg("value", vrl.Array), text("delimiter", ",")}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: encodeCSV},
	{Name: "parse_tokens", Params: stringParam, Returns: vrl.ArrayOf(vrl.Of(vrl.String, vrl.Null)), Run: parseTokens},
}

// parseCSV reads the first record. Fields may be in double quotes; two quotes inside stand for one.
func parseCSV(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if len(args[1].Str()) != 1 {
		return f.Fail("delimiter must be a single character")
	}
	s, delimiter := strings.TrimLeft(args[0].Str(), "\r\n"), args[1].Str()[0]
	list := f.Arena.Array(8)
	for s != "" {
		var field string
		var more bool
		field, s, more = csvField(f.Arena, s, delimiter)
		list.Push(f.Arena, value.String(field))
		if !more {
			break
		}
		if s == "" { // a delimiter at the end has an empty field behind it
			list.Push(f.Arena, value.String(""))
		}
	}
	if fl := f.Spend(list.Len()); fl != nil {
		return value.Null, fl
	}
	return list.Of(), nil
}

// csvField takes one field; more says that a delimiter followed.
func csvField(a *value.Arena, s string, delimiter byte) (field, rest string, more bool) {
	if s[0] != '"' {
		end := 0
		for end < len(s) && s[end] != delimiter && s[end] != '\n' && s[end] != '\r' {
			end++
		}
		if end < len(s) && s[end] == delimiter {
			return s[:end], s[end+1:], true
		}
		return s[:end], "", false
	}
	if end := strings.IndexByte(s[1:], '"') + 1; end > 0 && (end+1 == len(s) || s[end+1] == delimiter) {
		if end+1 == len(s) {
			return s[1:end], "", false
		}
		return s[1:end], s[end+2:], true
	}
	b := a.Alloc(len(s))[:0]
	quoted := true
	i := 1
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c == '"' && i+1 < len(s) && s[i+1] == '"':
			b = append(b, '"')
			i++
		case quoted && c == '"':
			quoted = false
		case !quoted && c == delimiter:
			return value.View(b), s[i+1:], true
		case !quoted && (c == '\n' || c == '\r'):
			return value.View(b), "", false
		default:
			b = append(b, c)
		}
	}
	return value.View(b), "", false
}

// encodeCSV writes one record. Fields with delimiters, quotes or line ends are quoted.
func encodeCSV(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if len(args[1].Str()) != 1 {
		return f.Fail("delimiter must be a single character")
	}
	list, delimiter := args[0].Array(), args[1].Str()[0]
	b := f.Arena.Begin()
	for i := range list.Len() {
		if i > 0 {
			b = append(b, delimiter)
		}
		v := list.At(i)
		if v.IsContainer() {
			f.Arena.End(b[:0])
			return f.Fail("unable to encode %k as a CSV field", v)
		}
		start := len(b)
		b = appendScalar(b, v)
		field := string(b[start:])
		if field == "" && list.Len() == 1 || strings.IndexByte(field, delimiter) >= 0 ||
			strings.ContainsAny(field, "\"\r\n") {
			b = append(b[:start], '"')
			b = append(b, strings.ReplaceAll(field, `"`, `""`)...)
			b = append(b, '"')
		}
	}
	return f.Arena.End(b), nil
}

// parseTokens splits at blanks; text in double quotes or brackets is one token.
func parseTokens(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	list := f.Arena.Array(8)
	for s = skipBlanks(s); s != ""; s = skipBlanks(s) {
		var text string
		end := 0
		switch s[0] {
		case '"':
			end = valueEnd(s, 1)
		case '[':
			end = bracketEnd(s)
		}
		if end > 0 && (end == len(s) || isBlankByte(s[end])) {
			text, s = s[1:end-1], s[end:]
		} else {
			text, s = token(s)
		}
		v := value.String(text)
		if text == "" || text == "-" {
			v = value.Null
		}
		list.Push(f.Arena, v)
	}
	return list.Of(), f.Spend(list.Len())
}

// bracketEnd returns the position after the bracket that closes the one at the start; 0 if there is none. A backslash
// protects the next character.
func bracketEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return 0
}
