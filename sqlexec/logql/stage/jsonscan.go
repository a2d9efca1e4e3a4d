package stage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// lineError is what is wrong with a line. Clients of the log query API know the texts.
type lineError string

func (e lineError) Error() string { return string(e) }

// Errors of JSON.
const (
	errObject    lineError = "Value looks like object, but can't find closing '}' symbol"
	errArray     lineError = "Value looks like array, but can't find closing ']' symbol"
	errString    lineError = "Value looks like string, but can't find closing '\"' symbol"
	errValue     lineError = "Value looks like Number/Boolean/None, but can't find its end: ',' or '}' symbol"
	errUnknown   lineError = "Unknown value type"
	errMalformed lineError = "Malformed JSON error"
)

// Errors of bounds.
var (
	errNesting = fmt.Errorf("JSON nests deeper than the limit of %d levels", maxNesting)
	errLabels  = fmt.Errorf("the line has more than the limit of %d labels", maxLabels)
)

// jsonKind is the kind of a value of JSON.
type jsonKind uint8

const (
	jsonNull  jsonKind = iota
	jsonText           // without its quotes
	jsonPlain          // a number, true or false
	jsonObject
	jsonArray
)

// jsonBlank returns the position of the first byte from at on that is no blank.
func jsonBlank(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t') {
		at++
	}
	return at
}

// jsonString returns the position of the quote that ends the string whose content begins at a position, and whether the
// content has escapes. end < 0: nothing ends it.
func jsonString(text []byte, at int) (end int, escaped bool) {
	for {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return -1, false
		}
		end = at + i
		back := end
		for back > at && text[back-1] == '\\' {
			back--
		}
		if back < end {
			escaped = true
		} else if !escaped {
			escaped = bytes.IndexByte(text[at:end], '\\') >= 0
		}
		if (end-back)%2 == 0 {
			return end, escaped
		}
		// An escaped quote: the content before it has an even number of other backslashes in front of it.
		at = end + 1
	}
}

// jsonTextEnd returns the position of the quote that ends the string whose content begins at a position; -1: nothing
// does.
func jsonTextEnd(text []byte, at int) int {
	for end := at; ; end++ {
		i := bytes.IndexByte(text[end:], '"')
		if i < 0 {
			return -1
		}
		end += i
		back := end
		for back > at && text[back-1] == '\\' {
			back--
		}
		if (end-back)%2 == 0 {
			return end
		}
	}
}

// jsonValue returns the value that begins at a position, which is no blank, and the position behind it. A number need
// not be well formed. Of objects and arrays, only the brackets and strings are looked at.
func jsonValue(text []byte, at int) (value []byte, kind jsonKind, escaped bool, next int, err error) {
	if at >= len(text) {
		return nil, 0, false, at, errMalformed
	}
	switch c := text[at]; c {
	case '"':
		end, escaped := jsonString(text, at+1)
		if end < 0 {
			return nil, 0, false, at, errString
		}
		return text[at+1 : end], jsonText, escaped, end + 1, nil
	case '{', '[':
		kind, err = jsonObject, errObject
		if c == '[' {
			kind, err = jsonArray, errArray
		}
		end := jsonBlock(text, at)
		if end < 0 {
			return nil, 0, false, at, err
		}
		return text[at:end], kind, false, end, nil
	}
	end := at
	for end < len(text) && !jsonEnds[text[end]] {
		end++
	}
	if end == len(text) {
		return nil, 0, false, at, errValue
	}
	value = text[at:end]
	switch {
	case string(value) == "true" || string(value) == "false":
		return value, jsonPlain, false, end, nil
	case string(value) == "null":
		return value, jsonNull, false, end, nil
	case len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9'):
		return value, jsonPlain, false, end, nil
	}
	return nil, 0, false, at, errUnknown
}

// jsonEnds are the bytes that end a number, true, false or null.
var jsonEnds = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, ',': true, '}': true, ']': true}

// jsonBlock returns the position behind the bracket that closes the one at a position; -1: none does.
func jsonBlock(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			end, _ := jsonString(text, at+1)
			if end < 0 {
				return -1
			}
			at = end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return -1
}

// unescape returns the content of a string of JSON without its escapes, made in the entry. Bytes that are no UTF-8 and
// the replacement character become a blank. An escape that is none makes the text empty.
func (e *Entry) unescape(text []byte, escaped bool) []byte {
	if !escaped && plain(text) {
		return text
	}
	begin := len(e.buf)
	if !e.appendText(text, escaped, jsonEscape) {
		e.buf = e.buf[:begin]
	}
	return e.buf[begin:len(e.buf):len(e.buf)]
}

// appendText appends a text without its escapes to the entry's buffer and reports whether all of them are escapes.
func (e *Entry) appendText(text []byte, escaped bool, escape func(text []byte) (rune, int)) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf && (c != '\\' || !escaped) {
			e.buf = append(e.buf, c)
			i++
			continue
		}
		r, n := utf8.RuneError, 0
		if c == '\\' {
			if r, n = escape(text[i:]); n == 0 {
				return false
			}
		} else {
			r, n = utf8.DecodeRune(text[i:])
		}
		if r == utf8.RuneError {
			r = ' '
		}
		e.buf = utf8.AppendRune(e.buf, r)
		i += n
	}
	return true
}

// replacement is the character that stands for what is no UTF-8.
var replacement = []byte(string(utf8.RuneError))

// plain reports whether a text is UTF-8 without the replacement character.
func plain(text []byte) bool {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		if binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 != 0 {
			return utf8.Valid(text[i:]) && !bytes.Contains(text[i:], replacement)
		}
	}
	for ; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return utf8.Valid(text[i:]) && !bytes.Contains(text[i:], replacement)
		}
	}
	return true
}

// jsonEscape reads the escape of JSON that a text begins with. n is its length; 0: it is none, or half of a pair.
func jsonEscape(text []byte) (r rune, n int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := jsonHex(text)
		if r >= 0 && !utf16.IsSurrogate(r) {
			return r, 6
		}
		if r >= 0 {
			if r = utf16.DecodeRune(r, jsonHex(text[6:])); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return 0, 0
}

// jsonHex reads \uXXXX; -1: the text does not begin with it.
func jsonHex(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// appendName appends a key as the name of a label, or as a part of one: other characters than letters and digits of
// ASCII become "_", and a name does not begin with a digit.
func appendName(dst, key []byte) []byte {
	key = bytes.TrimSpace(key)
	if len(key) == 0 {
		return dst
	}
	if len(dst) == 0 && key[0] >= '0' && key[0] <= '9' {
		dst = append(dst, '_')
	}
	for i := 0; i < len(key); {
		c := key[i]
		if c < utf8.RuneSelf {
			if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z') {
				c = '_'
			}
			dst = append(dst, c)
			i++
			continue
		}
		_, n := utf8.DecodeRune(key[i:])
		dst = append(dst, '_')
		i += n
	}
	return dst
}
