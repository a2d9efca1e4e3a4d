package regex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The Unicode classes of \w, \d and \s, as members of a class.
const (
	wordClass  = `\p{L}\p{M}\p{Nd}_\p{Pc}`
	digitClass = `\p{Nd}`
	spaceClass = `\p{Z}\t-\r\x{85}`
)

// escape takes a backslash and what belongs to it, outside of classes.
func (t *translator) escape(m mode) error {
	start := t.at
	if t.at+1 >= len(t.src) {
		return t.fail(start, "%v", errEnd)
	}
	c := t.src[t.at+1]
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		t.at += 2
		t.out.WriteString(t.perl(c, m, false))
		return nil
	case 'p', 'P':
		text, err := t.property()
		if err != nil {
			return err
		}
		t.out.WriteString(text)
		return nil
	case 'b', 'B', 'A', 'z':
		if c == 'b' && strings.HasPrefix(t.src[t.at+2:], "{") {
			return t.fail(start, "special word boundaries are not supported")
		}
		t.at += 2
		t.out.WriteString(`\` + string(c))
		return nil
	}
	r, err := t.literalEscape()
	if err != nil {
		return err
	}
	t.out.WriteString(quoteRune(r))
	return nil
}

// perl returns the class of \d, \s, \w or their negations, as members of a class or alone.
func (t *translator) perl(c byte, m mode, inClass bool) string {
	t.classes = t.classes || !m.ascii
	if !t.unicode || m.ascii {
		switch {
		case c == 's' && inClass:
			return `\s\v` // \v is white space in Rust, not in Go
		case c == 's':
			return `[\s\v]`
		case c == 'S':
			return `[^\s\v]`
		}
		return `\` + string(c)
	}
	members := map[byte]string{'d': digitClass, 's': spaceClass, 'w': wordClass}[c|0x20]
	switch {
	case c >= 'a' && inClass:
		return members
	case c >= 'a':
		return "[" + members + "]"
	}
	return "[^" + members + "]"
}

// property takes \pL, \p{Name}, \P{^Name}, \p{sc=Greek}.
func (t *translator) property() (string, error) {
	start := t.at
	letter := t.src[t.at+1]
	t.at += 2
	if t.at >= len(t.src) {
		return "", t.fail(start, "%v", errEnd)
	}
	name := ""
	if t.src[t.at] == '{' {
		end := strings.IndexByte(t.src[t.at:], '}')
		if end < 0 {
			return "", t.fail(start, "unclosed Unicode class")
		}
		name = t.src[t.at+1 : t.at+end]
		t.at += end + 1
	} else {
		_, size := utf8.DecodeRuneInString(t.src[t.at:])
		name = t.src[t.at : t.at+size]
		t.at += size
	}
	negated := letter == 'P'
	if rest, ok := strings.CutPrefix(name, "^"); ok {
		negated, name = !negated, rest
	}
	if i := strings.IndexAny(name, "=:"); i >= 0 {
		if i > 0 && name[i-1] == '!' {
			negated = !negated
		}
		name = name[i+1:]
	}
	if derived, ok := properties[looseName(name)]; ok {
		if negated {
			return "[^" + derived + "]", nil
		}
		return "[" + derived + "]", nil
	}
	if negated {
		return `\P{` + name + `}`, nil
	}
	return `\p{` + name + `}`, nil
}

// properties are the Unicode properties for which Go has no name, as members of a class.
var properties = map[string]string{
	"alphabetic": `\p{L}\p{Nl}\p{Mc}`, "alpha": `\p{L}\p{Nl}\p{Mc}`, "uppercase": `\p{Lu}`, "upper": `\p{Lu}`,
	"lowercase": `\p{Ll}\x{AA}\x{BA}`, "lower": `\p{Ll}\x{AA}\x{BA}`,
	"whitespace": spaceClass, "space": spaceClass, "any": `\x00-\x{10FFFF}`, "ascii": `\x00-\x7F`,
	"letter": `\p{L}`, "uppercaseletter": `\p{Lu}`, "lowercaseletter": `\p{Ll}`, "titlecaseletter": `\p{Lt}`,
	"modifierletter": `\p{Lm}`, "otherletter": `\p{Lo}`,
	"mark": `\p{M}`, "nonspacingmark": `\p{Mn}`, "spacingmark": `\p{Mc}`, "enclosingmark": `\p{Me}`,
	"number": `\p{N}`, "decimalnumber": `\p{Nd}`, "digit": `\p{Nd}`, "letternumber": `\p{Nl}`, "othernumber": `\p{No}`,
	"punctuation": `\p{P}`, "punct": `\p{P}`, "symbol": `\p{S}`, "mathsymbol": `\p{Sm}`, "currencysymbol": `\p{Sc}`,
	"separator": `\p{Z}`, "spaceseparator": `\p{Zs}`,
	"other": `\p{C}`, "control": `\p{Cc}`, "cntrl": `\p{Cc}`, "format": `\p{Cf}`,
}

// looseName is a property name without what does not count.
func looseName(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// literalEscape takes an escape that stands for one character.
func (t *translator) literalEscape() (rune, error) {
	start := t.at
	if t.at+1 >= len(t.src) {
		return 0, t.fail(start, "%v", errEnd)
	}
	c := t.src[t.at+1]
	t.at += 2
	switch c {
	case 'a':
		return '\a', nil
	case 'f':
		return '\f', nil
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 'v':
		return '\v', nil
	case 'x':
		return t.hex(start, 2)
	case 'u':
		return t.hex(start, 4)
	case 'U':
		return t.hex(start, 8)
	}
	if c >= '0' && c <= '9' {
		return 0, t.fail(start, "backreferences are not supported")
	}
	if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; c < utf8.RuneSelf && !letter && c != '<' && c != '>' {
		return rune(c), nil
	}
	return 0, t.fail(start, "unrecognized escape sequence")
}

// hex takes the digits of an escape: n of them, or any number in braces.
func (t *translator) hex(start, n int) (rune, error) {
	digits := ""
	if strings.HasPrefix(t.src[t.at:], "{") {
		end := strings.IndexByte(t.src[t.at:], '}')
		if end < 0 {
			return 0, t.fail(start, "%v", errEnd)
		}
		digits = t.src[t.at+1 : t.at+end]
		t.at += end + 1
	} else {
		if t.at+n > len(t.src) {
			return 0, t.fail(start, "%v", errEnd)
		}
		digits = t.src[t.at : t.at+n]
		t.at += n
	}
	r, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !utf8.ValidRune(rune(r)) || r > utf8.MaxRune {
		return 0, t.fail(start, "invalid hexadecimal escape")
	}
	return rune(r), nil
}

// quoteRune writes a character as Go reads it, inside and outside of classes.
func quoteRune(r rune) string {
	switch {
	case r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'),
		r > utf8.RuneSelf && r != utf8.RuneError:
		return string(r)
	case r > ' ' && r < 0x7F:
		return `\` + string(r)
	}
	return `\x{` + strconv.FormatInt(int64(r), 16) + `}`
}
