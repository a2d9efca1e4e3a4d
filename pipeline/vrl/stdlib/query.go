package stdlib

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// queryFunctions test events by queries of a log search.
var queryFunctions = []vrl.Function{
	{Name: "match_datadog_query", Params: []vrl.Param{arg("value", vrl.Object), constant(arg("query", vrl.String))},
		Returns: vrl.Of(vrl.Boolean), Compile: func(c *vrl.Call) (vrl.Run, error) {
			query, _ := c.Const("query")
			test, err := compileQuery(query.Str())
			if err != nil {
				return nil, c.Invalid("query", "%v", err)
			}
			return func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				return value.Bool(test(args[0])), nil
			}, nil
		}},
}

// queryTest reports whether an event meets a part of a query.
type queryTest func(event value.Value) bool

// valueTest reports the same for the value of one field.
type valueTest func(v value.Value) bool

const (
	// maxQuery and maxQueryDepth bound the text of a query and its parentheses.
	maxQuery      = 4096
	maxQueryDepth = 64
)

var errQuery = errors.New("the query does not follow the search syntax")

// compileQuery reads a query: words, field:value, @path:value, comparisons, ranges, _exists_: and _missing_:, joined by
// AND (or blanks), OR, NOT or a minus, and parentheses. AND binds closer than OR.
func compileQuery(s string) (queryTest, error) {
	if len(s) > maxQuery {
		return nil, fmt.Errorf("the query is longer than %d bytes", maxQuery)
	}
	p := queryParser{s: s}
	if p.blanks(); p.s == "" {
		return func(value.Value) bool { return true }, nil
	}
	test, err := p.any("", 0)
	if err == nil && p.s != "" {
		err = errQuery
	}
	return test, err
}

// queryParser parses a query; s is the unread rest.
type queryParser struct{ s string }

func (p *queryParser) blanks() { p.s = strings.TrimLeft(p.s, " \t\r\n") }

func (p *queryParser) take(text string) bool {
	rest, ok := strings.CutPrefix(p.s, text)
	p.s = rest
	return ok
}

// word takes an operator that is a word.
func (p *queryParser) word(w string) bool {
	if rest, ok := strings.CutPrefix(p.s, w); ok && (rest == "" || strings.IndexByte(" \t\r\n(", rest[0]) >= 0) {
		p.s = rest
		p.blanks()
		return true
	}
	return false
}

// any parses alternatives, one of which suffices. In parentheses after a field, field is that field.
func (p *queryParser) any(field string, depth int) (queryTest, error) {
	tests, err := p.list(depth, func() (queryTest, error) { return p.all(field, depth) },
		func() bool { return p.word("OR") || p.take("||") })
	if err != nil || len(tests) == 1 {
		return first(tests), err
	}
	return func(v value.Value) bool { return slices.ContainsFunc(tests, func(t queryTest) bool { return t(v) }) }, nil
}

// all takes parts that all have to hold.
func (p *queryParser) all(field string, depth int) (queryTest, error) {
	tests, err := p.list(depth, func() (queryTest, error) { return p.one(field, depth) }, func() bool {
		if p.word("AND") || p.take("&&") {
			return true
		}
		return p.s != "" && p.s[0] != ')' && !strings.HasPrefix(p.s, "||") && !strings.HasPrefix(p.s, "OR ") &&
			!strings.HasPrefix(p.s, "OR(")
	})
	if err != nil || len(tests) == 1 {
		return first(tests), err
	}
	return func(v value.Value) bool { return !slices.ContainsFunc(tests, func(t queryTest) bool { return !t(v) }) }, nil
}

func first(tests []queryTest) queryTest {
	if len(tests) == 0 {
		return nil
	}
	return tests[0]
}

// list takes parts as long as something joins them.
func (p *queryParser) list(depth int, part func() (queryTest, error), joined func() bool) (tests []queryTest,
	err error) {
	if depth > maxQueryDepth {
		return nil, errQuery
	}
	for {
		test, err := part()
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
		if p.blanks(); !joined() {
			return tests, nil
		}
		p.blanks()
	}
}

// one takes a part: negated, in parentheses, or a term.
func (p *queryParser) one(field string, depth int) (queryTest, error) {
	p.blanks()
	if p.word("NOT") || p.take("-") || p.take("!") {
		if depth > maxQueryDepth {
			return nil, errQuery
		}
		test, err := p.one(field, depth+1)
		if err != nil {
			return nil, err
		}
		return func(v value.Value) bool { return !test(v) }, nil
	}
	if p.take("(") {
		test, err := p.any(field, depth+1)
		if err == nil && !p.take(")") {
			err = errQuery
		}
		return test, err
	}
	if field != "" {
		return p.term(field)
	}
	start := p.s
	name, quoted, err := p.text(":")
	if err != nil {
		return nil, err
	}
	if quoted || !p.take(":") {
		p.s = start
		return p.term("")
	}
	switch {
	case name == "_exists_", name == "_missing_":
		of, _, err := p.text("")
		exists := fieldExists(of)
		if name == "_missing_" {
			return func(v value.Value) bool { return !exists(v) }, err
		}
		return exists, err
	case name == "*" && p.take("*"):
		return func(value.Value) bool { return true }, nil
	case p.take("("):
		test, err := p.any(name, depth+1)
		if err == nil && !p.take(")") {
			err = errQuery
		}
		return test, err
	}
	return p.term(name)
}

// text takes a word, in quotes or up to a blank, a parenthesis or one of the stops; a backslash protects a character.
// The wildcards of a text stay marked by what text cannot hold.
func (p *queryParser) text(stops string) (text string, quoted bool, err error) {
	var b strings.Builder
	if p.take(`"`) {
		for i := 0; i < len(p.s); i++ {
			switch c := p.s[i]; {
			case c == '"':
				p.s = p.s[i+1:]
				return b.String(), true, nil
			case c == '\\' && i+1 < len(p.s):
				i++
				b.WriteByte(p.s[i])
			default:
				b.WriteByte(c)
			}
		}
		return "", true, errQuery
	}
	i := 0
	for ; i < len(p.s) && strings.IndexByte(" \t\r\n()\"", p.s[i]) < 0 && strings.IndexByte(stops, p.s[i]) < 0; i++ {
		c := p.s[i]
		switch {
		case c == '\\' && i+1 < len(p.s):
			i++
			c = p.s[i]
		case c == '*' && stops == "":
			c = anyText
		case c == '?' && stops == "":
			c = anyByte
		}
		b.WriteByte(c)
	}
	if i == 0 {
		return "", false, errQuery
	}
	p.s = p.s[i:]
	return b.String(), false, nil
}

// The marks of wildcards.
const (
	anyText = 0x01
	anyByte = 0x02
)

// term takes the value of a field, or of the default fields when there is none: a comparison, a range, or a text.
func (p *queryParser) term(field string) (queryTest, error) {
	for _, op := range []string{">=", "<=", ">", "<"} {
		if field != "" && p.take(op) {
			p.blanks()
			text, _, err := p.text("")
			return onField(field, comparison(op, text)), err
		}
	}
	if field != "" && (strings.HasPrefix(p.s, "[") || strings.HasPrefix(p.s, "{")) {
		return p.span(field)
	}
	text, quoted, err := p.text("")
	if err != nil {
		return nil, err
	}
	if field == "" && text == string(rune(anyText)) && !quoted {
		return func(value.Value) bool { return true }, nil
	}
	return equality(field, text)
}

// span takes a range: [a TO b] with its ends, {a TO b} without; * is no end.
func (p *queryParser) span(field string) (queryTest, error) {
	with := p.s[0] == '['
	end := strings.IndexAny(p.s, "]}")
	if end < 0 {
		return nil, errQuery
	}
	lo, hi, ok := strings.Cut(p.s[1:end], " TO ")
	if lo, hi = strings.Trim(lo, ` "`), strings.Trim(hi, ` "`); !ok || lo == "" || hi == "" {
		return nil, errQuery
	}
	closed := p.s[end] == ']'
	p.s = p.s[end+1:]
	low, high := ">", "<"
	if with {
		low = ">="
	}
	if closed {
		high = "<="
	}
	above, below := comparison(low, lo), comparison(high, hi)
	return onField(field, func(v value.Value) bool { return (lo == "*" || above(v)) && (hi == "*" || below(v)) }), nil
}

// The fields that are not tags, and the fields that words without a field search.
var (
	reservedFields = []string{"host", "source", "status", "service", "trace_id", "message", "timestamp", "tags"}
	defaultFields  = [][]string{{"message"}, {"custom", "error", "message"}, {"custom", "error", "stack"},
		{"custom", "title"}, {"_default_"}}
)

// fieldPath is the path of an attribute (@name) or of a reserved field.
func fieldPath(field string) (path value.Path, ok bool) {
	name, attribute := strings.CutPrefix(field, "@")
	if !attribute && !slices.Contains(reservedFields, field) {
		return nil, false
	}
	if !attribute {
		return value.Path{value.Field(field)}, true
	}
	for part := range strings.SplitSeq(name, ".") {
		path = append(path, value.Field(part))
	}
	return path, true
}

// onField makes a test of a field; of a tag, the test is for the text behind its colon.
func onField(field string, test valueTest) queryTest {
	if path, ok := fieldPath(field); ok {
		return func(event value.Value) bool {
			v, ok := value.Get(event, path)
			return ok && test(v)
		}
	}
	return onTags(func(tag string) bool {
		name, text, ok := strings.Cut(tag, ":")
		return ok && name == field && test(value.String(text))
	})
}

// onTags makes a test that one of the event's tags has to pass.
func onTags(test func(tag string) bool) queryTest {
	return func(event value.Value) bool {
		tags, _ := event.Object().Get("tags")
		if tags.Kind() != value.ArrayKind {
			return false
		}
		for i := range tags.Array().Len() {
			if test(queryText(tags.Array().At(i))) {
				return true
			}
		}
		return false
	}
}

// queryText is a value as the search sees it.
func queryText(v value.Value) string {
	if v.Kind() == value.StringKind {
		return v.Str()
	}
	return string(value.AppendJSON(nil, v))
}

func fieldExists(field string) queryTest {
	if path, ok := fieldPath(field); ok {
		return func(event value.Value) bool {
			_, ok := value.Get(event, path)
			return ok
		}
	}
	return onTags(func(tag string) bool { return tag == field || strings.HasPrefix(tag, field+":") })
}

// comparison compares numbers with a number as numbers, all else as texts.
func comparison(op, text string) valueTest {
	bound, err := strconv.ParseFloat(text, 64)
	return func(v value.Value) bool {
		c := 0
		if err == nil && v.IsNumber() {
			switch x := v.Number(); {
			case x < bound:
				c = -1
			case x > bound:
				c = 1
			}
		} else {
			c = strings.Compare(queryText(v), text)
		}
		switch op {
		case ">=":
			return c >= 0
		case "<=":
			return c <= 0
		case ">":
			return c > 0
		}
		return c < 0
	}
}

// equality makes the test for a text, which may have wildcards: of words in the default fields, of all of a field, or
// of a whole tag.
func equality(field, text string) (queryTest, error) {
	wild := strings.ContainsAny(text, string([]byte{anyText, anyByte}))
	pattern := regexp.QuoteMeta(text)
	pattern = strings.NewReplacer(string(rune(anyText)), ".*", string(rune(anyByte)), ".").Replace(pattern)
	if field == "" {
		re, err := regexp.Compile(wordEdge(text, 0) + pattern + wordEdge(text, len(text)-1))
		if err != nil {
			return nil, err
		}
		return func(event value.Value) bool {
			return slices.ContainsFunc(defaultFields, func(path []string) bool {
				v := event
				for _, name := range path {
					if v.Kind() != value.ObjectKind {
						return false
					}
					v, _ = v.Object().Get(name)
				}
				return !v.IsNull() && re.MatchString(queryText(v))
			})
		}, nil
	}
	matches := func(s string) bool { return s == text }
	if wild {
		re, err := regexp.Compile(`(?s)\A` + pattern + `\z`)
		if err != nil {
			return nil, err
		}
		matches = re.MatchString
	}
	if field == "tags" {
		return onTags(matches), nil
	}
	return onField(field, func(v value.Value) bool {
		if v.Kind() != value.ArrayKind {
			return matches(queryText(v))
		}
		for i := range v.Array().Len() {
			if matches(queryText(v.Array().At(i))) {
				return true
			}
		}
		return false
	}), nil
}

// wordEdge is the boundary of a word at one end of a text that begins or ends with one.
func wordEdge(text string, at int) string {
	if at >= 0 && at < len(text) && isNameByte(text[at]) {
		return `\b`
	}
	return ""
}
