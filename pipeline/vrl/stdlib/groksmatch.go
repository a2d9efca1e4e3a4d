package stdlib

import (
	"fmt"
	"math"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/grok"
	"varve/pipeline/vrl/regex"
)

// The expressions of matchers; a %{NAME} in them is of the classic set.
var matcherExpressions = map[string]string{
	"notSpace": `\S+`, "data": `.*?`, "word": `\b\w+\b`,
	"numberStr": `[+-]?(?:\d+(?:\.\d*)?|\.\d+)`, "number": `[+-]?(?:\d+(?:\.\d*)?|\.\d+)`,
	"numberExtStr": `[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`,
	"numberExt":    `[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`,
	"integerStr":   `[+-]?\d+`, "integer": `[+-]?\d+`, "integerExtStr": `[+-]?\d+(?:[eE][+-]?\d+)?`,
	"integerExt": `[+-]?\d+(?:[eE][+-]?\d+)?`,
	"boolean":    `(?i:true|false)`, "doubleQuotedString": `"(?:[^"\\]|\\.)*"`,
	"singleQuotedString": `'(?:[^'\\]|\\.)*'`,
	"quotedString":       `(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`, "port": `\b\d{1,5}\b`,
}

// classicMatchers have their expression from the classic set.
var classicMatchers = map[string]string{"uuid": "UUID", "mac": "MAC", "ipv4": "IPV4", "ipv6": "IPV6", "ip": "IP",
	"hostname": "HOSTNAME", "ipOrHost": "IPORHOST"}

func invalidArguments(name string) error {
	return fmt.Errorf("invalid arguments for the function '%s'", name)
}

// matcherOf returns the expression of a matcher and the filter that comes with it. Without an expression it is no
// matcher.
func matcherOf(c ruleCall) (expression string, auto groksFilter, err error) {
	switch c.name {
	case "regex":
		if len(c.args) != 1 || !c.args[0].quoted {
			return "", nil, invalidArguments(c.name)
		}
		return c.args[0].text, nil, nil
	case "date":
		return dateMatcher(c)
	case "boolean":
		return booleanMatcher(c)
	case "number", "numberExt":
		auto = filterNumber
	case "integer", "integerExt":
		auto = filterInteger
	}
	if name, ok := classicMatchers[c.name]; ok {
		var e grok.Expansion
		if err := e.Append("%{" + name + "}"); err != nil {
			return "", nil, err
		}
		return e.String(), nil, nil
	}
	return matcherExpressions[c.name], auto, nil
}

// booleanMatcher matches one of two words, true and false unless others are given.
func booleanMatcher(c ruleCall) (string, groksFilter, error) {
	if len(c.args) == 0 {
		return matcherExpressions["boolean"], filterBoolean, nil
	}
	yes, no := c.args[0], ruleCall{quoted: true, text: "false"}
	if len(c.args) == 2 {
		no = c.args[1]
	}
	if len(c.args) > 2 || !yes.quoted || !no.quoted {
		return "", nil, invalidArguments(c.name)
	}
	truth := strings.ToLower(yes.text)
	return "(?i:" + yes.text + "|" + no.text + ")", func(_ *vrl.Frame, v value.Value) (value.Value, bool) {
		return value.Bool(strings.ToLower(v.Str()) == truth), true
	}, nil
}

// whole is a number without a fraction as an integer.
func whole(x float64) value.Value {
	if x == math.Trunc(x) && math.Abs(x) < 1<<63 {
		return value.Int(int64(x))
	}
	return value.Float(x)
}

// numberOf is a value as a number.
func numberOf(v value.Value) (x float64, ok bool) {
	switch v.Kind() {
	case value.IntKind, value.FloatKind:
		return v.Number(), true
	case value.StringKind:
		x, ok = floatOf(strings.TrimSpace(v.Str()))
		return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return 0, false
}

func filterNumber(_ *vrl.Frame, v value.Value) (value.Value, bool) {
	x, ok := numberOf(v)
	return whole(x), ok
}

func filterInteger(_ *vrl.Frame, v value.Value) (value.Value, bool) {
	if v.Kind() == value.StringKind {
		if n, why := decimal(strings.TrimSpace(v.Str())); why == "" {
			return value.Int(n), true
		}
	}
	x, ok := numberOf(v)
	return value.Int(saturated(x)), ok
}

func filterBoolean(_ *vrl.Frame, v value.Value) (value.Value, bool) {
	if v.Kind() == value.BoolKind {
		return v, true
	}
	return value.Bool(v.Kind() == value.StringKind && strings.EqualFold(v.Str(), "true")), v.Kind() == value.StringKind
}

// onText makes a filter of a function of texts.
func onText(run func(f *vrl.Frame, s string) (value.Value, bool)) groksFilter {
	return func(f *vrl.Frame, v value.Value) (value.Value, bool) {
		if v.Kind() != value.StringKind {
			return value.Null, false
		}
		return run(f, v.Str())
	}
}

// byRun makes a filter of a function of the library with one argument and its defaults.
func byRun(run vrl.Run, defaults ...value.Value) groksFilter {
	return onText(func(f *vrl.Frame, s string) (value.Value, bool) {
		v, fl := run(f, append([]value.Value{value.String(s)}, defaults...))
		return v, fl == nil
	})
}

// plainFilters take no arguments.
var plainFilters = map[string]groksFilter{
	"number": filterNumber, "integer": filterInteger, "boolean": filterBoolean,
	"lowercase": byRun(downcase), "uppercase": byRun(upcase), "json": byRun(parseJSON, value.Null, value.Bool(true)),
	"decodeuricomponent": byRun(decodePercent), "rubyhash": byRun(parseRubyHash),
	"url": byRun(parseURL, value.Bool(false)),
	"xml": byRun(parseXML, value.Bool(true), value.Bool(true), value.String("@"), value.String("text"),
		value.Bool(false), value.Bool(true), value.Bool(true), value.Bool(true)),
	"querystring": onText(func(f *vrl.Frame, s string) (value.Value, bool) {
		v, fl := queryObject(f, strings.TrimPrefix(s, "?"), true)
		return v, fl == nil
	}),
}

// filterOf makes the filter of a call.
func filterOf(c ruleCall, room *regex.Room) (groksFilter, error) {
	if c.quoted {
		return nil, errReference
	}
	if filter := plainFilters[c.name]; filter != nil {
		return filter, nil
	}
	switch c.name {
	case "nullIf":
		if len(c.args) != 1 || !c.args[0].quoted {
			return nil, invalidArguments(c.name)
		}
		null := c.args[0].text
		return onText(func(_ *vrl.Frame, s string) (value.Value, bool) { return value.String(s), s != null }), nil
	case "scale":
		if len(c.args) != 1 || c.args[0].quoted {
			return nil, invalidArguments(c.name)
		}
		factor, ok := floatOf(c.args[0].name)
		if !ok {
			return nil, invalidArguments(c.name)
		}
		return func(_ *vrl.Frame, v value.Value) (value.Value, bool) {
			x, ok := numberOf(v)
			y := x * factor
			if math.IsNaN(y) || math.IsInf(y, 0) {
				return value.Null, false
			}
			return whole(y), ok
		}, nil
	case "array":
		return arrayFilter(c, room)
	case "csv":
		return csvFilter(c)
	case "keyvalue":
		return keyValueFilter(c, room)
	}
	return nil, fmt.Errorf("unknown filter '%s'", c.name)
}

// escapedText resolves \n, \r and \t, which delimiters are written with.
func escapedText(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s)
}

// arrayFilter splits a text in brackets: array([brackets,] [delimiter,] [filter of the items]).
func arrayFilter(c ruleCall, room *regex.Room) (groksFilter, error) {
	brackets, delimiter := "[]", ","
	var texts []string
	var each groksFilter
	for i, a := range c.args {
		switch {
		case a.quoted && each == nil && len(texts) < 2:
			texts = append(texts, escapedText(a.text))
		case !a.quoted && i == len(c.args)-1:
			var err error
			if each, err = filterOf(a, room); err != nil {
				return nil, err
			}
		default:
			return nil, invalidArguments(c.name)
		}
	}
	switch len(texts) {
	case 1:
		delimiter = texts[0]
	case 2:
		brackets, delimiter = texts[0], texts[1]
	}
	if len(brackets) != 0 && len(brackets) != 2 || delimiter == "" {
		return nil, invalidArguments(c.name)
	}
	return onText(func(f *vrl.Frame, s string) (value.Value, bool) {
		if brackets != "" {
			if len(s) < 2 || s[0] != brackets[0] || s[len(s)-1] != brackets[1] {
				return value.Null, false
			}
			s = s[1 : len(s)-1]
		}
		list := f.Arena.Array(8)
		if s == "" {
			return list.Of(), true
		}
		for item := range strings.SplitSeq(s, delimiter) {
			v, ok := value.String(strings.TrimSpace(item)), true
			if each != nil {
				v, ok = each(f, v)
			}
			if !ok || f.Spend(1) != nil {
				return value.Null, false
			}
			list.Push(f.Arena, v)
		}
		return list.Of(), true
	}), nil
}

// csvFilter names the fields of a line: csv("header,header"[, separator]).
func csvFilter(c ruleCall) (groksFilter, error) {
	if len(c.args) < 1 || len(c.args) > 3 {
		return nil, invalidArguments(c.name)
	}
	for _, a := range c.args {
		if !a.quoted {
			return nil, invalidArguments(c.name)
		}
	}
	separator := ","
	if len(c.args) > 1 {
		if separator = escapedText(c.args[1].text); separator == "tab" {
			separator = "\t"
		}
	}
	if len(separator) != 1 {
		return nil, invalidArguments(c.name)
	}
	var headers []string
	for h := range strings.SplitSeq(c.args[0].text, ",") {
		headers = append(headers, strings.TrimSpace(h))
	}
	return onText(func(f *vrl.Frame, s string) (value.Value, bool) {
		row, fl := parseCSV(f, []value.Value{value.String(s), value.String(separator)})
		if fl != nil {
			return value.Null, false
		}
		o := f.Arena.Object(len(headers))
		for i := range min(len(headers), row.Array().Len()) {
			if v := row.Array().At(i); headers[i] != "" && v.Str() != "" {
				o.Set(f.Arena, headers[i], v)
			}
		}
		return o.Of(), true
	}), nil
}
