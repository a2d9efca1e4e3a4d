package convert

import (
	"bytes"
	"unicode/utf8"

	"varve/engine/jsontext"
)

// maxSettledDepth bounds the nesting of values; deeper ones go to the decoder, which has a bound of its own.
const maxSettledDepth = 256

// settled reports whether a text is JSON as CompactJSON gives it: no blanks, keys rising, nothing escaped. What it is
// not sure of is for the decoder.
func settled(doc []byte) bool {
	end := settledValue(doc, 0, 0)
	if end != len(doc) {
		return false
	}
	return settledText(doc)
}

// settledText reports whether a text has no letters that a document writes otherwise than by themselves, control
// characters and quotes aside: U+2028 and U+2029, which are always escaped, and what is not UTF-8.
func settledText(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return utf8.Valid(text) && !bytes.Contains(text, []byte("\u2028")) &&
				!bytes.Contains(text, []byte("\u2029"))
		}
	}
	return true
}

// settledPrefix is the number of bytes before the first letter that a document writes otherwise.
func settledPrefix(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			return i
		}
		i += size
	}
	return len(text)
}

// settledValue is where the settled value at i ends; -1: it is none.
func settledValue(b []byte, i, depth int) int {
	if i >= len(b) || depth > maxSettledDepth {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return settledString(b, i)
	case c == '{' || c == '[':
		return settledNested(b, i, depth)
	case c == '-' || c-'0' < 10:
		if end, ok := jsontext.NumberEnd(b, i); ok {
			return end
		}
		return -1
	}
	for _, word := range []string{"true", "false", "null"} {
		if end, ok := jsontext.Word(b, i, word); ok {
			return end
		}
	}
	return -1
}

// settledString is where the string at i ends that has no escapes.
func settledString(b []byte, i int) int {
	if i = jsontext.Plain(b, i+1); i < len(b) && b[i] == '"' {
		return i + 1
	}
	return -1
}

// settledNested is where the settled object or array at i ends; -1: it is none.
func settledNested(b []byte, i, depth int) int {
	object, closing := b[i] == '{', b[i]+2 // ] and } follow two after [ and {
	if i++; i < len(b) && b[i] == closing {
		return i + 1
	}
	var last []byte
	for first := true; i >= 0 && i < len(b); first = false {
		if object {
			end := -1
			if b[i] == '"' {
				end = settledString(b, i)
			}
			if end < 0 || end >= len(b) || b[end] != ':' || !first && bytes.Compare(b[i+1:end-1], last) <= 0 {
				return -1
			}
			last, i = b[i+1:end-1], end+1
		}
		if i = settledValue(b, i, depth+1); i < 0 || i >= len(b) {
			return -1
		}
		if b[i] == closing {
			return i + 1
		}
		if b[i] != ',' {
			return -1
		}
		i++
	}
	return -1
}
