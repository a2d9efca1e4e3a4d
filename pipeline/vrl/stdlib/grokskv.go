package stdlib

import (
	"regexp"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/regex"
)

// groksPairs finds the pairs of the keyvalue filter.
type groksPairs struct {
	re     *value.Regex
	groups int // groups of the key; as many of the value follow
}

// keyValueFilter reads all pairs of a text: keyvalue([separator [, more characters of values [, quotes [,
// delimiter]]]]).
func keyValueFilter(c ruleCall, room *regex.Room) (groksFilter, error) {
	texts := []string{"=", "", "", ""}
	if len(c.args) > len(texts) {
		return nil, invalidArguments(c.name)
	}
	for i, a := range c.args {
		if !a.quoted {
			return nil, invalidArguments(c.name)
		}
		texts[i] = a.text
	}
	separator, allowed, quotes, delimiter := texts[0], texts[1], texts[2], texts[3]
	pairs := []string{`""`, `''`, `<>`}
	if quotes != "" {
		pairs = []string{quotes}
	}
	var quoted []string
	for _, q := range pairs {
		if len(q) != 2 {
			return nil, invalidArguments(c.name)
		}
		quoted = append(quoted, regexp.QuoteMeta(q[:1])+`([^`+classText(q[1:])+`]*)`+regexp.QuoteMeta(q[1:]))
	}
	plain := `([\w.\-_@` + classText(allowed) + `]+)`
	text := strings.Join(append(quoted, plain), "|")
	end := `[\s,;]`
	if delimiter != "" {
		end = regexp.QuoteMeta(escapedText(delimiter))
	}
	re, err := room.Compile(`(?:` + text + `)` + regexp.QuoteMeta(separator) + `(?:` + text + `)(?:` + end + `|\s|$)`)
	if err != nil {
		return nil, err
	}
	p := groksPairs{re, len(quoted) + 1}
	return onText(p.object), nil
}

// classText is text as members of a class. What is escaped already stays.
func classText(s string) string {
	if strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`]`, `\]`, `[`, `\[`, `^`, `\^`, `-`, `\-`, `&`, `\&`, `~`, `\~`).Replace(s)
}

// object makes an object of the pairs; keys with dots nest, repeated ones make arrays.
func (p *groksPairs) object(f *vrl.Frame, s string) (value.Value, bool) {
	root := f.Arena.Object(8).Of()
	re := p.re.On(f.Arena, s)
	for s != "" {
		at := re.FindStringSubmatchIndex(s)
		if at == nil || f.Spend(1) != nil {
			break
		}
		key, _ := firstGroup(s, at[2:], p.groups)
		text, inQuotes := firstGroup(s, at[2+2*p.groups:], p.groups)
		key = strings.TrimSpace(key)
		if !inQuotes {
			text = strings.TrimRight(text, ",;")
		}
		if v := groksScalar(strings.TrimSpace(text)); !v.IsNull() && key != "" && !strings.Contains(key, " ") {
			putRepeated(f.Arena, &root, strings.Split(key, "."), v)
		}
		s = s[at[1]:]
	}
	return root, true
}

// firstGroup is the text of the first group that took part; all but the last are texts in quotes.
func firstGroup(s string, at []int, n int) (text string, inQuotes bool) {
	for i := range n {
		if at[2*i] >= 0 {
			return s[at[2*i]:at[2*i+1]], i < n-1
		}
	}
	return "", false
}

// groksScalar makes a number or boolean of a text that looks like one; null is "" and "null". A leading zero makes
// octal digits a number and others a text.
func groksScalar(s string) value.Value {
	switch s {
	case "", "null":
		return value.Null
	case "true", "false":
		return value.Bool(s == "true")
	}
	digits := strings.TrimLeft(s, "+-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && strings.Trim(digits, "01234567") != "" {
		return value.String(s)
	}
	if n, why := decimal(s); why == "" {
		return value.Int(n)
	}
	if last := s[len(s)-1]; last-'0' <= 9 {
		if x, ok := floatOf(s); ok {
			return value.Float(x)
		}
	}
	return value.String(s)
}
