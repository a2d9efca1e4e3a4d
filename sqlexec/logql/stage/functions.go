package stage

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"regexp"
	rsyntax "regexp/syntax"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"varve/engine/automaton"
	"varve/sqlexec/logql/syntax"
)

// loopGuard is the function behind what a template walks over. It has a name that no template can give.
const loopGuard = "_loop"

// maxExpressions bounds the expressions that a template keeps compiled.
const maxExpressions = 64

// errWork says that the functions of a template do too much.
var errWork = fmt.Errorf("the template makes more than the limit of %d bytes or walks over more than %d elements", maxWork,
	maxWork/elementWork)

// elementWork is what an element that a loop walks over counts as, in bytes, at least; nodeWork is that for each node
// of the loop.
const (
	elementWork = 64
	nodeWork    = 8
)

// functions returns the functions of templates.
func (st *templateState) functions() template.FuncMap {
	all := template.FuncMap{}
	for _, some := range []template.FuncMap{st.textFunctions(), integerFunctions, floatFunctions, timeFunctions} {
		for name, f := range some {
			all[name] = st.counted(f)
		}
	}
	maps.Copy(all, st.printFunctions())
	return all
}

// textFunctions are the functions over texts, and those that read the line.
func (st *templateState) textFunctions() template.FuncMap {
	return template.FuncMap{
		loopGuard:       st.loop,
		"__line__":      func() (string, error) { return string(st.e.Line), st.spend(len(st.e.Line)) },
		"__timestamp__": func() time.Time { return st.e.time() },

		"ToLower": strings.ToLower, "lower": strings.ToLower, "ToUpper": strings.ToUpper, "upper": strings.ToUpper,
		"Replace": func(s, old, with string, n int) (string, error) { return st.replace(s, old, with, n) },
		"replace": func(old, with, s string) (string, error) { return st.replace(s, old, with, -1) },
		"Trim":    strings.Trim, "TrimLeft": strings.TrimLeft, "TrimRight": strings.TrimRight,
		"TrimPrefix": strings.TrimPrefix, "TrimSuffix": strings.TrimSuffix, "TrimSpace": strings.TrimSpace,
		"trim":       strings.TrimSpace,
		"trimAll":    func(chars, s string) string { return strings.Trim(s, chars) },
		"trimPrefix": func(prefix, s string) string { return strings.TrimPrefix(s, prefix) },
		"trimSuffix": func(end, s string) string { return strings.TrimSuffix(s, end) },
		"title":      title, "trunc": trunc, "substr": substr,
		"contains":   func(part, s string) bool { return strings.Contains(s, part) },
		"hasPrefix":  func(prefix, s string) bool { return strings.HasPrefix(s, prefix) },
		"hasSuffix":  func(end, s string) bool { return strings.HasSuffix(s, end) },
		"repeat":     st.repeat,
		"indent":     func(n int, s string) (string, error) { return st.indent("", n, s) },
		"nindent":    func(n int, s string) (string, error) { return st.indent("\n", n, s) },
		"alignLeft":  func(n int, s string) (string, error) { return st.align(n, s, true) },
		"alignRight": func(n int, s string) (string, error) { return st.align(n, s, false) },
		"default":    defaultValue, "fromJson": fromJSON,
		"b64enc":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"b64dec":    base64Decode,
		"urlencode": url.QueryEscape,
		"urldecode": url.QueryUnescape,
		"count":     st.count,

		"regexReplaceAll": func(expr, s, with string) (string, error) { return st.regexReplace(expr, s, with, true) },
		"regexReplaceAllLiteral": func(expr, s, with string) (string, error) {
			return st.regexReplace(expr, s, with, false)
		},
	}
}

// integerFunctions compute with integers.
var integerFunctions = template.FuncMap{
	"add": func(v ...any) int64 { return foldInts(0, v, func(a, b int64) int64 { return a + b }) },
	"sub": func(a, b any) int64 { return toInt(a) - toInt(b) },
	"mul": func(a any, v ...any) int64 {
		return foldInts(toInt(a), v, func(a, b int64) int64 { return a * b })
	},
	"div": func(a, b any) (int64, error) { return divide(a, b, false) },
	"mod": func(a, b any) (int64, error) { return divide(a, b, true) },
	"max": func(a any, v ...any) int64 {
		return foldInts(toInt(a), v, func(a, b int64) int64 { return max(a, b) })
	},
	"min": func(a any, v ...any) int64 {
		return foldInts(toInt(a), v, func(a, b int64) int64 { return min(a, b) })
	},
	"int": func(a any) int { return int(toInt(a)) },
}

// floatFunctions compute with floats.
var floatFunctions = template.FuncMap{
	"addf": func(v ...any) float64 { return foldFloats(0, v, func(a, b float64) float64 { return a + b }) },
	"subf": func(a any, v ...any) float64 {
		return foldFloats(toFloat(a), v, func(a, b float64) float64 { return a - b })
	},
	"mulf": func(a any, v ...any) float64 {
		return foldFloats(toFloat(a), v, func(a, b float64) float64 { return a * b })
	},
	"divf": func(a any, v ...any) float64 {
		return foldFloats(toFloat(a), v, func(a, b float64) float64 { return a / b })
	},
	"maxf":    func(a any, v ...any) float64 { return foldFloats(toFloat(a), v, math.Max) },
	"minf":    func(a any, v ...any) float64 { return foldFloats(toFloat(a), v, math.Min) },
	"ceil":    func(a any) float64 { return math.Ceil(toFloat(a)) },
	"floor":   func(a any) float64 { return math.Floor(toFloat(a)) },
	"round":   round,
	"float64": toFloat,
	"bytes": func(s string) (float64, error) {
		n, err := syntax.ParseBytes(s)
		return float64(n), err
	},
	"duration":         seconds,
	"duration_seconds": seconds,
}

// timeFunctions work on times.
var timeFunctions = template.FuncMap{
	"now":             func() time.Time { return time.Now().UTC() },
	"date":            date,
	"toDate":          toDate,
	"toDateInZone":    toDateInZone,
	"unixToTime":      unixToTime,
	"unixEpoch":       func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	"unixEpochMillis": func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) },
	"unixEpochNanos":  func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) },
}

// spend counts work.
func (st *templateState) spend(n int) error {
	if n < 0 || n > maxWork-st.work {
		return errWork
	}
	st.work += n
	return nil
}

// loop lets a template walk over lists and maps. An element counts as much as the nodes that are executed for it.
func (st *templateState) loop(nodes int, over any) (any, error) {
	v := reflect.ValueOf(over)
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return over, st.spend(v.Len() * max(elementWork, nodes*nodeWork))
	case reflect.String, reflect.Invalid:
		if over == nil || v.Len() == 0 {
			return []any(nil), nil
		}
	}
	return nil, fmt.Errorf("range can't iterate over %v", over)
}

func (st *templateState) replace(s, old, with string, n int) (string, error) {
	hits := strings.Count(s, old)
	if n >= 0 {
		hits = min(hits, n)
	}
	if len(with) > 0 && hits > maxWork/len(with) {
		return "", errWork
	}
	if err := st.spend(len(s) + hits*len(with)); err != nil {
		return "", err
	}
	return strings.Replace(s, old, with, n), nil
}

func (st *templateState) repeat(n int, s string) (string, error) {
	if n < 0 || len(s) > 0 && n > maxWork/len(s) {
		return "", errWork
	}
	return strings.Repeat(s, n), st.spend(n * len(s))
}

func (st *templateState) indent(before string, n int, s string) (string, error) {
	lines := 1 + strings.Count(s, "\n")
	if n < 0 || n > maxWork/lines {
		return "", errWork
	}
	if err := st.spend(len(s) + n*lines); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", n)
	return before + pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// align returns n characters: s cut or filled with blanks, at its right end (left) or its left end.
func (st *templateState) align(n int, s string, left bool) (string, error) {
	if n < 0 {
		return s, nil
	}
	if n > maxWork {
		return "", errWork
	}
	if err := st.spend(n + len(s)); err != nil {
		return "", err
	}
	runes := []rune(s)
	switch more := n - len(runes); {
	case more > 0 && left:
		return s + strings.Repeat(" ", more), nil
	case more > 0:
		return strings.Repeat(" ", more) + s, nil
	case left:
		return string(runes[:n]), nil
	}
	return string(runes[len(runes)-n:]), nil
}

// expression returns a compiled expression.
func (st *templateState) expression(expr string) (*expressionPair, error) {
	if x := st.exps[expr]; x != nil {
		return x, nil
	}
	quick, err := automaton.Compile(expr)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	tree, err := rsyntax.Parse(expr, rsyntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := rsyntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if st.exps == nil || len(st.exps) >= maxExpressions {
		st.exps = map[string]*expressionPair{}
	}
	x := &expressionPair{quick: quick, re: re, weight: 1 + len(program.Inst)/16}
	x.matches = maxWork / (16*(re.NumSubexp()+1) + 24)
	st.exps[expr] = x
	return x, nil
}

// find returns all matches of an expression in a text, with their groups.
func (st *templateState) find(expr, s string) (*expressionPair, [][]int, error) {
	x, err := st.expression(expr)
	if err != nil {
		return nil, nil, err
	}
	if err := st.spend(len(s)); err != nil || !x.quick.Match([]byte(s), nil) {
		return x, nil, err
	}
	if err := st.spend(len(s) * (x.weight - 1)); err != nil {
		return nil, nil, err
	}
	found := x.re.FindAllStringSubmatchIndex(s, x.matches)
	if len(found) == x.matches {
		return nil, nil, errWork
	}
	return x, found, nil
}

func (st *templateState) count(expr, s string) (int, error) {
	_, found, err := st.find(expr, s)
	return len(found), err
}

func (st *templateState) regexReplace(expr, s, with string, expand bool) (string, error) {
	x, found, err := st.find(expr, s)
	if err != nil || len(found) == 0 {
		return s, err
	}
	var out []byte
	last := 0
	for _, at := range found {
		out = append(out, s[last:at[0]]...)
		last = at[1]
		before := len(out)
		if expand {
			out = x.re.ExpandString(out, with, s, at)
		} else {
			out = append(out, with...)
		}
		if err := st.spend(len(out) - before); err != nil {
			return "", err
		}
	}
	return string(append(out, s[last:]...)), nil
}

// title returns s with the first letter of each word in upper case.
func title(s string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		begin := !unicode.IsLetter(before) && !unicode.IsDigit(before) && before != '_' && before != '\''
		before = r
		if begin {
			return unicode.ToTitle(r)
		}
		return r
	}, s)
}

// trunc returns the first n characters of s; of a negative n, the last ones.
func trunc(n int, s string) string {
	if n >= 0 {
		return s[:characters(s, n)]
	}
	if count := utf8.RuneCountInString(s); count+n > 0 {
		return s[characters(s, count+n):]
	}
	return s
}

// substr returns the characters from start to end; a negative start counts as 0, a negative or too great end as the
// number of characters. With both negative the result is empty.
func substr(start, end int, s string) string {
	count := utf8.RuneCountInString(s)
	if end < 0 && start >= 0 || end > count {
		end = count
	}
	start = max(start, 0)
	if start > count || end < start {
		return ""
	}
	return s[characters(s, start):characters(s, end)]
}

// characters is the number of bytes that the first n characters of s take.
func characters(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// defaultValue returns a value, or d if it is empty.
func defaultValue(d any, given ...any) any {
	if len(given) == 0 || given[0] == nil {
		return d
	}
	if v := reflect.ValueOf(given[0]); v.IsZero() ||
		(v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
		return d
	}
	return given[0]
}

// fromJSON returns the value of a document; nil if it is none.
func fromJSON(s string) any {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return ""
	}
	return v
}

// base64Decode returns the bytes, or the text of the error.
func base64Decode(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func seconds(s string) (float64, error) {
	d, err := time.ParseDuration(s)
	return d.Seconds(), err
}

// toInt converts a value to an integer; 0 if it cannot.
func toInt(v any) int64 {
	switch v := v.(type) {
	case string:
		whole, fraction, _ := strings.Cut(v, ".")
		if strings.Trim(fraction, "0") != "" {
			return 0
		}
		n, err := strconv.ParseInt(whole, 0, 64)
		if err != nil {
			return 0
		}
		return n
	case bool:
		if v {
			return 1
		}
		return 0
	}
	switch x := reflect.ValueOf(v); {
	case !x.IsValid():
		return 0
	case x.CanInt():
		return x.Int()
	case x.CanUint():
		return int64(x.Uint())
	case x.CanFloat():
		return int64(x.Float())
	}
	return 0
}

// toFloat converts a value to a number; 0 if it cannot.
func toFloat(v any) float64 {
	if s, ok := v.(string); ok {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0
		}
		return f
	}
	if x := reflect.ValueOf(v); x.IsValid() && x.CanFloat() {
		return x.Float()
	}
	return float64(toInt(v))
}

func foldInts(first int64, rest []any, f func(a, b int64) int64) int64 {
	for _, v := range rest {
		first = f(first, toInt(v))
	}
	return first
}

func foldFloats(first float64, rest []any, f func(a, b float64) float64) float64 {
	for _, v := range rest {
		first = f(first, toFloat(v))
	}
	return first
}

// divide returns quotient or remainder of two integers.
func divide(a, b any, remainder bool) (int64, error) {
	n, d := toInt(a), toInt(b)
	switch {
	case d == 0:
		return 0, errors.New("runtime error: integer divide by zero")
	case remainder:
		return n % d, nil
	}
	return n / d, nil
}

// round rounds to a number of decimals; on, .5 if it is left out, is the fraction of the last one that rounds up.
func round(a any, decimals int, on ...float64) float64 {
	at := .5
	if len(on) > 0 {
		at = on[0]
	}
	pow := math.Pow(10, float64(decimals))
	digit := pow * toFloat(a)
	if _, fraction := math.Modf(digit); fraction >= at {
		return math.Ceil(digit) / pow
	}
	return math.Floor(digit) / pow
}

// date formats a time, or a number of seconds, in UTC.
func date(layout string, v any) string {
	var t time.Time
	switch v := v.(type) {
	case time.Time:
		t = v
	case *time.Time:
		t = *v
	case int64:
		t = time.Unix(v, 0)
	case int:
		t = time.Unix(int64(v), 0)
	case int32:
		t = time.Unix(int64(v), 0)
	default:
		t = time.Now()
	}
	return t.UTC().Format(layout)
}

// toDate reads a time, of UTC if its text names no zone. What is none is the zero time.
func toDate(layout, s string) time.Time {
	t, err := time.ParseInLocation(layout, s, time.UTC)
	if err != nil {
		return time.Time{}
	}
	return t
}

// toDateInZone reads a time of a zone.
func toDateInZone(layout, zone, s string) time.Time {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}
	}
	t, err := time.ParseInLocation(layout, s, loc)
	if err != nil {
		return time.Time{}
	}
	return t
}

// unixToTime reads a number of days, seconds, milliseconds, microseconds or nanoseconds, by its length.
func unixToTime(s string) (time.Time, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("unable to parse time '%v': %w", s, err)
	}
	switch utf8.RuneCountInString(s) {
	case 5:
		return time.Unix(n*24*3600, 0).UTC(), nil
	case 10:
		return time.Unix(n, 0).UTC(), nil
	case 13:
		return time.UnixMilli(n).UTC(), nil
	case 16:
		return time.UnixMicro(n).UTC(), nil
	case 19:
		return time.Unix(0, n).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("unable to parse time '%v': unexpected number of digits", s)
}
