package stdlib

import (
	"strings"
	"unicode/utf8"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/regex"
)

// matchFunctions search by text or regular expression.
var matchFunctions = []vrl.Function{
	{Name: "find", Params: []vrl.Param{arg("value", vrl.String), arg("pattern", vrl.String|vrl.Regex),
		with("from", vrl.Integer, value.Int(0))}, Returns: vrl.Of(vrl.Integer, vrl.Null), Run: find},
	{Name: "match", Params: []vrl.Param{arg("value", vrl.String), arg("pattern", vrl.Regex)},
		Returns: vrl.Of(vrl.Boolean), Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return value.Bool(matches(f, args[1].Regex(), args[0].Str())), nil
		}},
	{Name: "match_any", Params: []vrl.Param{arg("value", vrl.String), arg("patterns", vrl.Array)},
		Returns: vrl.Of(vrl.Boolean), Run: matchAny},
	{Name: "match_array", Params: []vrl.Param{arg("value", vrl.Array), arg("pattern", vrl.Regex), flag("all", false)},
		Returns: vrl.Of(vrl.Boolean), Run: matchArray},
	{Name: "replace", Params: []vrl.Param{arg("value", vrl.String), arg("pattern", vrl.String|vrl.Regex),
		arg("with", vrl.String), with("count", vrl.Integer, value.Int(-1))},
		Returns: vrl.Of(vrl.String), Run: replace},
	{Name: "split", Params: []vrl.Param{arg("value", vrl.String), arg("pattern", vrl.String|vrl.Regex),
		with("limit", vrl.Integer, value.Int(999_999_999))},
		Returns: vrl.ArrayOf(vrl.Of(vrl.String)), Run: split},
	{Name: "sieve", Params: []vrl.Param{arg("value", vrl.String), arg("permitted_characters", vrl.Regex),
		text("replace_single", ""), text("replace_repeated", "")},
		Returns: vrl.Of(vrl.String), Run: sieve},
	{Name: "parse_regex", Params: []vrl.Param{arg("value", vrl.String), arg("pattern", vrl.Regex),
		flag("numeric_groups", false)}, Fails: vrl.Always,
		ReturnsFor: groupsType, Run: parseRegex},
	{Name: "parse_regex_all", Params: []vrl.Param{arg("value", vrl.AnyValue), arg("pattern", vrl.Regex),
		flag("numeric_groups", false)}, Fails: vrl.Always,
		ReturnsFor: func(c *vrl.Call) vrl.Type { return vrl.ArrayOf(groupsType(c)) }, Run: parseRegexAll},
}

func matches(f *vrl.Frame, re *value.Regex, s string) bool { return re.On(f.Arena, s).MatchString(s) }

func find(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, from := args[0].Str(), max(args[2].Int(), 0)
	if from > int64(len(s)) {
		return value.Null, nil
	}
	if args[1].Kind() == value.StringKind {
		if i := strings.Index(s[from:], args[1].Str()); i >= 0 {
			return value.Int(from + int64(i)), nil
		}
		return value.Null, nil
	}
	re := args[1].Regex()
	if from == 0 {
		if at := re.On(f.Arena, s).FindStringIndex(s); at != nil {
			return value.Int(int64(at[0])), nil
		}
		return value.Null, nil
	}
	// The preceding text matters for ^ and \b, so the search runs over the whole text.
	hits, fl := f.FindAll(re, s, -1)
	if fl != nil {
		return value.Null, fl
	}
	for _, at := range hits {
		if int64(at[0]) >= from {
			return value.Int(int64(at[0])), nil
		}
	}
	return value.Null, nil
}

func matchAny(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, patterns := args[0].Str(), args[1].Array()
	for i := range patterns.Len() {
		if patterns.At(i).Kind() != value.RegexKind {
			return f.Fail("expected regex, got %k", patterns.At(i))
		}
	}
	for i := range patterns.Len() {
		if matches(f, patterns.At(i).Regex(), s) {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

func matchArray(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	items, re, all := args[0].Array(), args[1].Regex(), args[2].True()
	for i := range items.Len() {
		v := items.At(i)
		if hit := v.Kind() == value.StringKind && matches(f, re, v.Str()); hit != all {
			return value.Bool(hit), nil
		}
	}
	return value.Bool(all), nil
}

func replace(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, with, count := args[0].Str(), args[2].Str(), args[3].Int()
	if count < 0 || count > int64(len(s))+1 {
		count = int64(len(s)) + 1
	}
	if args[1].Kind() == value.StringKind {
		old := args[1].Str()
		hits := min(strings.Count(s, old), int(count))
		if hits == 0 {
			return args[0], nil
		}
		if fl := f.Room(len(s) + hits*len(with)); fl != nil {
			return value.Null, fl
		}
		return f.Made(strings.Replace(s, old, with, hits)), nil
	}
	re := args[1].Regex()
	hits, fl := f.FindAll(re, s, int(count))
	if fl != nil {
		return value.Null, fl
	}
	if len(hits) == 0 {
		return args[0], nil
	}
	b, last := f.Arena.Begin(), 0
	for _, groups := range hits {
		b = append(b, s[last:groups[0]]...)
		b = expand(b, with, s, groups, re.Names)
		last = groups[1]
		if len(b) > vrl.MaxStringBytes {
			f.Arena.End(b[:0])
			return value.Null, f.Room(len(b))
		}
	}
	return f.Arena.End(append(b, s[last:]...)), nil
}

// expand appends a replacement: $1 and ${name} stand for groups, $$ for a dollar sign. A name is as long as it can be,
// and one that no group has stands for nothing.
func expand(dst []byte, template, s string, groups []int, names []string) []byte {
	for {
		before, rest, found := strings.Cut(template, "$")
		dst = append(dst, before...)
		if !found {
			return dst
		}
		name, after := "", ""
		switch {
		case strings.HasPrefix(rest, "$"):
			dst, template = append(dst, '$'), rest[1:]
			continue
		case strings.HasPrefix(rest, "{") && strings.IndexByte(rest, '}') > 0:
			end := strings.IndexByte(rest, '}')
			name, after = rest[1:end], rest[end+1:]
		default:
			end := 0
			for end < len(rest) && isNameByte(rest[end]) {
				end++
			}
			name, after = rest[:end], rest[end:]
		}
		if name == "" {
			dst, template = append(dst, '$'), rest
			continue
		}
		if i := groupIndex(name, names); i >= 0 && groups[2*i] >= 0 {
			dst = append(dst, s[groups[2*i]:groups[2*i+1]]...)
		}
		template = after
	}
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// groupIndex finds a group by number or name, -1 without it.
func groupIndex(name string, names []string) int {
	if n, why := decimal(name); why == "" {
		if n >= 0 && n < int64(len(names)) {
			return int(n)
		}
		return -1
	}
	for i, known := range names {
		if known == name {
			return i
		}
	}
	return -1
}

func split(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, limit := args[0].Str(), args[2].Int()
	if limit <= 0 {
		return f.Arena.Array(0).Of(), nil
	}
	limit = min(limit, int64(len(s))+2)
	if args[1].Kind() == value.RegexKind {
		return splitByRegex(f, s, args[1].Regex(), int(limit))
	}
	by := args[1].Str()
	if by == "" {
		return splitCharacters(f, s, int(limit))
	}
	n := min(int(limit), strings.Count(s, by)+1)
	if fl := f.Spend(n); fl != nil {
		return value.Null, fl
	}
	parts := f.Arena.Array(n)
	for ; n > 1; n-- {
		i := strings.Index(s, by)
		parts.Push(f.Arena, value.String(s[:i]))
		s = s[i+len(by):]
	}
	parts.Push(f.Arena, value.String(s))
	return parts.Of(), nil
}

// splitCharacters splits before and after every character: the first and the last part are empty.
func splitCharacters(f *vrl.Frame, s string, limit int) (value.Value, *vrl.Failure) {
	n := min(limit, utf8.RuneCountInString(s)+2)
	if fl := f.Spend(n); fl != nil {
		return value.Null, fl
	}
	parts := f.Arena.Array(n)
	size := 0 // of the next part: the first is empty
	for ; n > 1; n-- {
		parts.Push(f.Arena, value.String(s[:size]))
		s = s[size:]
		_, size = utf8.DecodeRuneInString(s)
	}
	parts.Push(f.Arena, value.String(s))
	return parts.Of(), nil
}

func splitByRegex(f *vrl.Frame, s string, re *value.Regex, limit int) (value.Value, *vrl.Failure) {
	var hits [][]int
	if limit > 1 {
		var fl *vrl.Failure
		if hits, fl = f.FindAll(re, s, limit-1); fl != nil {
			return value.Null, fl
		}
	}
	if fl := f.Spend(len(hits)); fl != nil {
		return value.Null, fl
	}
	parts := f.Arena.Array(len(hits) + 1)
	last := 0
	for _, at := range hits {
		parts.Push(f.Arena, value.String(s[last:at[0]]))
		last = at[1]
	}
	parts.Push(f.Arena, value.String(s[last:]))
	return parts.Of(), nil
}

func sieve(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, single, repeated := args[0].Str(), args[2].Str(), args[3].Str()
	re := args[1].Regex().On(f.Arena, s)
	b, dropped := f.Arena.Begin(), 0
	flush := func() {
		switch {
		case dropped == 1:
			b = append(b, single...)
		case dropped > 1:
			b = append(b, repeated...)
		}
		dropped = 0
	}
	for len(s) > 0 {
		_, size := utf8.DecodeRuneInString(s)
		if re.MatchString(s[:size]) {
			flush()
			b = append(b, s[:size]...)
		} else {
			dropped++
		}
		s = s[size:]
		if len(b) > vrl.MaxStringBytes {
			f.Arena.End(b[:0])
			return value.Null, f.Room(len(b))
		}
	}
	flush()
	return f.Arena.End(b), nil
}

// groupNumbers are the keys of numbered groups.
var groupNumbers = func() (names [100]string) {
	for i := range names {
		names[i] = string(appendScalar(nil, value.Int(int64(i))))
	}
	return names
}()

// groupsType is the type of the groups of a match: those that may take no part may be null.
func groupsType(c *vrl.Call) vrl.Type {
	pattern, known := c.Const("pattern")
	numbered, sure := c.Const("numeric_groups")
	if !known || !sure {
		return vrl.ObjectOfAny(vrl.Of(vrl.String, vrl.Null))
	}
	var fields []vrl.Known
	certain := regex.Certain(pattern.Regex())
	for i, name := range pattern.Regex().Names {
		t := vrl.Of(vrl.String, vrl.Null)
		if certain[i] {
			t = vrl.Of(vrl.String)
		}
		if name != "" {
			fields = append(fields, knownField(name, t))
		}
		if numbered.True() {
			fields = append(fields, knownField(groupKey(i), t))
		}
	}
	return vrl.ObjectOf(fields...)
}

// groupKey is the number of a group as a key.
func groupKey(i int) string {
	if i < len(groupNumbers) {
		return groupNumbers[i]
	}
	return string(appendScalar(nil, value.Int(int64(i))))
}

func parseRegex(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, re := args[0].Str(), args[1].Regex()
	groups := re.On(f.Arena, s).FindStringSubmatchIndex(s)
	if groups == nil {
		return f.Fail("could not find any pattern matches")
	}
	return groupsObject(f.Arena, s, groups, re.Names, args[2].True()), nil
}

func parseRegexAll(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if args[0].Kind() != value.StringKind {
		return f.Fail("expected string, got %k", args[0])
	}
	s, re := args[0].Str(), args[1].Regex()
	hits, fl := f.FindAll(re, s, -1)
	if fl != nil {
		return value.Null, fl
	}
	if fl := f.Spend(len(hits)); fl != nil {
		return value.Null, fl
	}
	list := f.Arena.Array(len(hits))
	for _, groups := range hits {
		list.Push(f.Arena, groupsObject(f.Arena, s, groups, re.Names, args[2].True()))
	}
	return list.Of(), nil
}

// groupsObject is the object of a match: named groups, and with numbered also all of them by number.
func groupsObject(a *value.Arena, s string, groups []int, names []string, numbered bool) value.Value {
	o := a.Object(len(names))
	for i, name := range names {
		v := value.Null
		if groups[2*i] >= 0 {
			v = value.String(s[groups[2*i]:groups[2*i+1]])
		}
		if numbered {
			o.Append(a, groupKey(i), v)
		}
		if name != "" {
			o.Append(a, name, v)
		}
	}
	o.Sort()
	return o.Of()
}
