package value

import (
	"unicode/utf16"
	"unicode/utf8"

	"varve/engine/jsontext"
)

// string reads the string that starts at the place.
func (t *jsonText) string() string {
	start := t.at + 1
	end := jsontext.Plain(t.text, start)
	if end < len(t.text) && t.text[end] == '"' {
		t.at = end + 1
		return t.text[start:end]
	}
	return t.escaped(start, end)
}

// escaped reads a string that has escapes, the first at end.
func (t *jsonText) escaped(start, end int) string {
	b := append(t.arena.Begin(), t.text[start:end]...)
	for {
		if end >= len(t.text) {
			t.at = end
			t.fail(endOfString)
			break
		}
		if c := t.text[end]; c == '"' {
			t.at = end + 1
			break
		} else if c != '\\' {
			t.at = end
			t.fail(badControl)
			break
		}
		var ok bool
		if b, end, ok = t.escape(b, end+1); !ok {
			break
		}
		next := jsontext.Plain(t.text, end)
		b = append(b, t.text[end:next]...)
		end = next
	}
	return t.arena.End(b).Str()
}

// escape reads what follows a backslash.
func (t *jsonText) escape(b []byte, i int) (out []byte, next int, ok bool) {
	r, end, ok := jsontext.Escape(t.text, i)
	switch {
	case ok && utf16.IsSurrogate(r):
		t.failHalf(end)
		return b, end, false
	case !ok:
		t.failEscape(end)
		return b, end, false
	}
	return utf8.AppendRune(b, r), end, true
}

// failEscape fails for an escape that goes wrong at i.
func (t *jsonText) failEscape(i int) {
	t.at = i
	if i >= len(t.text) {
		t.fail(endOfString)
	}
	t.fail(badEscape)
}

// failHalf fails for half of a surrogate pair before i, unless the text in place of the other half is not an escape.
func (t *jsonText) failHalf(i int) {
	if digits, ok := jsontext.Word(t.text, i, `\u`); ok {
		if _, end, ok := jsontext.Hex4(t.text, digits); !ok {
			t.failEscape(end)
			return
		}
	}
	t.at = i
	t.fail(badSurrogate)
}

// number reads the number that starts at the place.
func (t *jsonText) number() Value {
	end, kind, n, x := jsontext.ParseNumber(t.text, t.at)
	t.at = end
	switch kind {
	case jsontext.NoNumber:
		if end >= len(t.text) {
			return t.fail(endOfValue)
		}
		return t.fail(badNumber)
	case jsontext.TooBig:
		return t.fail(bigNumber)
	case jsontext.Float:
		return Float(x)
	}
	if n == 0 && end < len(t.text) && t.text[end]-'0' <= 9 { // a zero in front
		return t.fail(badNumber)
	}
	return Int(n)
}
