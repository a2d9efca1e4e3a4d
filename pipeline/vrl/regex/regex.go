// Package regex compiles the regular expressions of scripts: the syntax of the Rust regex library, run by Go's regexp.
//
// Both run in linear time, have no look-around and no back references, and prefer the leftmost match and the first
// alternative. The differences are translated:
//
//   - verbose mode (?x): blanks and comments are taken out;
//   - set operations and nesting in classes: [a-z&&[^x]], [\w--\d], [a~~b], [[ab]c] become plain lists of ranges;
//   - \w \d \s stand for Unicode classes. On text that is pure ASCII this is the same as the ASCII classes, which run
//     faster, so an expression has two programs when they differ;
//   - group names may hold dots and brackets; escapes of punctuation, \u, \U and \x in all their forms.
//
// The word boundary \b stays ASCII: Go has no Unicode form of it.
package regex

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"varve/engine/automaton"
	"varve/pipeline/value"
)

// MaxSource is the largest expression, in bytes.
const MaxSource = 64 << 10

// maxNesting bounds groups and classes inside each other.
const maxNesting = 200

// Compile reads an expression. Errors state the fault and its byte position.
func Compile(source string) (*value.Regex, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("regex parse error: %d bytes, at most %d", len(source), MaxSource)
	}
	t := translator{src: source, names: []string{""}}
	plain, err := t.translate()
	if err != nil {
		return nil, err
	}
	re := &value.Regex{Source: source, Names: t.names}
	if re.Regexp, re.Steps, re.Bytes, err = compileGo(plain); err != nil || !t.classes {
		return re, err
	}
	t = translator{src: source, names: []string{""}, unicode: true}
	wide, err := t.translate()
	if err != nil {
		return nil, err
	}
	more := int64(0)
	re.Unicode, _, more, err = compileGo(wide)
	re.Bytes += more
	return re, err
}

// MaxSteps is the most steps that an expression may become: repetitions in each other multiply.
const MaxSteps = 10_000

// compileGo compiles an expression that is translated to the syntax of Go. It gives its steps, and about how many bytes
// it takes.
func compileGo(source string) (re *regexp.Regexp, steps int, bytes int64, err error) {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err == nil {
		if steps = automaton.Steps(tree); steps > MaxSteps {
			return nil, 0, 0, fmt.Errorf("regex parse error: the expression takes more than %d steps", MaxSteps)
		}
		bytes = nodeBytes * Size(tree)
		re, err = regexp.Compile(source)
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("regex parse error: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, steps, bytes, nil
}

// translator translates one source into Go's syntax, left to right.
type translator struct {
	src     string
	at      int
	out     strings.Builder
	unicode bool     // \w \d \s are Unicode classes
	classes bool     // one of them was seen
	names   []string // of the groups so far
	nesting int
	// atom is where the last thing that can be repeated begins in out, -1 without one; repeated says that it has an
	// operator already.
	atom     int
	repeated bool
}

// mode is what flags switch for the rest of a group.
type mode struct {
	verbose bool
	ascii   bool // (?-u)
}

// Error is why an expression cannot be read.
type Error struct {
	Text string
	At   int // byte of the source
}

func (e *Error) Error() string { return fmt.Sprintf("regex parse error: %s at byte %d", e.Text, e.At) }

func (t *translator) fail(at int, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), at}
}

func (t *translator) translate() (string, error) {
	t.atom = -1
	if err := t.group(mode{}); err != nil {
		return "", err
	}
	if t.at < len(t.src) {
		return "", t.fail(t.at, "unopened group")
	}
	return t.out.String(), nil
}

// group translates up to the parenthesis that ends it, or the end of the source.
func (t *translator) group(m mode) error {
	if t.nesting++; t.nesting > maxNesting {
		return t.fail(t.at, "groups nest deeper than %d", maxNesting)
	}
	defer func() { t.nesting-- }()
	for t.at < len(t.src) {
		c := t.src[t.at]
		if m.verbose && t.skipBlank(c) {
			continue
		}
		var err error
		switch c {
		case ')':
			return nil
		case '(':
			err = t.openGroup(&m)
		case '[':
			start := t.out.Len()
			err = t.class(m)
			t.atom, t.repeated = start, false
		case '\\':
			start := t.out.Len()
			err = t.escape(m)
			t.atom, t.repeated = start, false
		case '*', '+', '?':
			err = t.repeat(string(c))
		case '{':
			err = t.counted(m)
		case '|':
			t.literalByte(c)
			t.atom = -1
		case '^', '$':
			t.atom, t.repeated = t.out.Len(), false
			t.literalByte(c)
		default:
			_, size := utf8.DecodeRuneInString(t.src[t.at:])
			t.atom, t.repeated = t.out.Len(), false
			t.out.WriteString(t.src[t.at : t.at+size])
			t.at += size
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *translator) literalByte(c byte) {
	t.out.WriteByte(c)
	t.at++
}

// skipBlank skips white space and comments of verbose mode.
func (t *translator) skipBlank(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '\v', '\f':
		t.at++
		return true
	case '#':
		end := strings.IndexByte(t.src[t.at:], '\n')
		if end < 0 {
			t.at = len(t.src)
		} else {
			t.at += end + 1
		}
		return true
	}
	return false
}

// repeat takes an operator and the question mark after it, if there is one.
func (t *translator) repeat(operator string) error {
	if t.atom < 0 {
		return t.fail(t.at, "repetition operator missing expression")
	}
	t.at += len(operator)
	t.wrapRepeated()
	t.out.WriteString(operator)
	t.lazy()
	return nil
}

// wrapRepeated puts a group around an expression that is already repeated: Go has no a**.
func (t *translator) wrapRepeated() {
	if t.repeated {
		text := t.out.String()
		t.out.Reset()
		t.out.WriteString(text[:t.atom] + "(?:" + text[t.atom:] + ")")
	}
	t.repeated = true
}

func (t *translator) lazy() {
	if t.at < len(t.src) && t.src[t.at] == '?' {
		t.literalByte('?')
	}
}

// counted takes {n}, {n,} or {n,m}.
func (t *translator) counted(m mode) error {
	start := t.at
	end := strings.IndexByte(t.src[start:], '}')
	if end < 0 {
		return t.fail(start, "unclosed counted repetition")
	}
	if t.atom < 0 {
		return t.fail(start, "repetition operator missing expression")
	}
	body := t.src[start+1 : start+end]
	if m.verbose {
		body = strings.Join(strings.Fields(body), "")
	}
	lo, hi, ranged := strings.Cut(body, ",")
	if lo = strings.TrimSpace(lo); lo == "" && ranged {
		lo = "0"
	}
	hi = strings.TrimSpace(hi)
	_, badLo := strconv.ParseUint(lo, 10, 32)
	_, badHi := strconv.ParseUint(hi, 10, 32)
	if badLo != nil || hi != "" && badHi != nil {
		return t.fail(start, "repetition quantifier expects a valid decimal")
	}
	t.at = start + end + 1
	t.wrapRepeated()
	t.out.WriteString("{" + lo)
	if ranged {
		t.out.WriteString("," + hi)
	}
	t.out.WriteString("}")
	t.lazy()
	return nil
}

// openGroup takes a group, or flags for the rest of the one around.
func (t *translator) openGroup(m *mode) error {
	start, begin := t.at, t.out.Len()
	inner := *m
	rest := t.src[t.at:]
	switch {
	case strings.HasPrefix(rest, "(?P<"), strings.HasPrefix(rest, "(?<"):
		if strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!") {
			return t.fail(start, "look-around, including look-ahead and look-behind, is not supported")
		}
		if err := t.groupName(); err != nil {
			return err
		}
	case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!"):
		return t.fail(start, "look-around, including look-ahead and look-behind, is not supported")
	case strings.HasPrefix(rest, "(?"):
		ends, err := t.flags(&inner)
		if err != nil {
			return err
		}
		if ends { // flags alone: they hold for the rest of this group
			*m = inner
			t.atom = -1
			return nil
		}
	default:
		t.at++
		t.out.WriteByte('(')
		t.names = append(t.names, "")
	}
	t.atom = -1
	if err := t.group(inner); err != nil {
		return err
	}
	if t.at >= len(t.src) {
		return t.fail(start, "unclosed group")
	}
	t.literalByte(')')
	t.atom, t.repeated = begin, false
	return nil
}

// groupName takes "(?P<name>" or "(?<name>". Go gets a number, as its names are narrower.
func (t *translator) groupName() error {
	start := t.at + strings.IndexByte(t.src[t.at:], '<') + 1
	end := strings.IndexByte(t.src[start:], '>')
	if end < 0 {
		return t.fail(start, "unclosed capture group name")
	}
	name := t.src[start : start+end]
	if !validName(name) {
		return t.fail(start, "invalid capture group name %q", name)
	}
	for _, known := range t.names {
		if known == name {
			return t.fail(start, "duplicate capture group name %q", name)
		}
	}
	t.names = append(t.names, name)
	t.at = start + end + 1
	t.out.WriteByte('(')
	return nil
}

// validName reports whether a group may have a name: a letter or _ first, then also digits, dots and brackets.
func validName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= utf8.RuneSelf && r != utf8.RuneError
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '.' || r == '[' || r == ']')) {
			return false
		}
	}
	return name != ""
}

// flags takes "(?flags)" or "(?flags:"; ends says that it was the former.
func (t *translator) flags(m *mode) (ends bool, err error) {
	start := t.at
	t.at += len("(?")
	on, off := "", ""
	for minus := false; t.at < len(t.src); t.at++ {
		c := t.src[t.at]
		switch c {
		case ':', ')':
			t.at++
			if c == ')' && on == "" && off == "" && !minus && t.at == start+3 {
				return false, t.fail(start, "repetition operator missing expression")
			}
			t.out.WriteString("(?" + on)
			if off != "" {
				t.out.WriteString("-" + off)
			}
			t.out.WriteByte(c)
			if c == ')' && on == "" && off == "" { // "(?)" is no syntax of Go
				text := t.out.String()
				t.out.Reset()
				t.out.WriteString(text[:len(text)-len("(?)")])
			}
			return c == ')', nil
		case '-':
			if minus {
				return false, t.fail(t.at, "flag negation operator repeated")
			}
			minus = true
		case 'x':
			m.verbose = !minus
		case 'u':
			m.ascii = minus
		case 'i', 'm', 's', 'U':
			if strings.IndexByte(on+off, c) >= 0 {
				return false, t.fail(t.at, "duplicate flag")
			}
			if minus {
				off += string(c)
			} else {
				on += string(c)
			}
		default:
			return false, t.fail(t.at, "unrecognized flag")
		}
	}
	return false, t.fail(start, "unclosed group")
}

var errEnd = errors.New("incomplete escape sequence, reached end of pattern prematurely")
