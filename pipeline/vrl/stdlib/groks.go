package stdlib

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/grok"
	"varve/pipeline/vrl/regex"
)

// groksFunctions match by rules of the richer grok dialect: %{matcher(arguments):field.path:filter(arguments)}.
var groksFunctions = []vrl.Function{
	{Name: "parse_groks", Params: []vrl.Param{arg("value", vrl.String), constant(arg("patterns", vrl.Array)),
		constant(opt("aliases", vrl.Object)), constant(opt("alias_sources", vrl.Array))},
		Fails: vrl.Always, Returns: vrl.Of(vrl.Object), Compile: compileGroks},
}

// maxRules bounds the rules of one call.
const maxRules = 256

// groksRule is one compiled rule.
type groksRule struct {
	pattern  *grok.Pattern
	captures []groksCapture
}

// groksCapture is a field of a rule: its group, where its value goes, and what is done to it before.
type groksCapture struct {
	group   int
	path    []string // empty: an object goes into the root, all else is dropped
	filters []groksFilter
}

// groksFilter makes another value of one; not ok drops the field.
type groksFilter func(f *vrl.Frame, v value.Value) (filtered value.Value, ok bool)

func compileGroks(c *vrl.Call) (vrl.Run, error) {
	if sources, ok := c.Const("alias_sources"); ok && sources.Kind() == value.ArrayKind && sources.Array().Len() > 0 {
		return nil, c.Refused("alias sources are files of the server, which are not for scripts")
	}
	aliases := map[string]string{}
	if named, _ := c.Const("aliases"); named.Kind() == value.ObjectKind {
		for i := range named.Object().Len() {
			m := named.Object().Member(i)
			if m.Value.Kind() != value.StringKind {
				return nil, c.Invalid("aliases", "alias %q is not a string", m.Key)
			}
			aliases[m.Key] = m.Value.Str()
		}
	}
	list, _ := c.Const("patterns")
	if list.Array().Len() > maxRules {
		return nil, c.Invalid("patterns", "more than %d patterns", maxRules)
	}
	var rules []groksRule
	for i := range list.Array().Len() {
		source := list.Array().At(i)
		if source.Kind() != value.StringKind {
			return nil, c.Invalid("patterns", "a pattern is not a string")
		}
		r, err := compileRule(source.Str(), aliases, c.Room())
		if err != nil {
			return nil, c.InvalidGrok("patterns", "%v", err)
		}
		rules = append(rules, r)
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		s := args[0].Str()
		for i := range rules {
			if groups := rules[i].pattern.Regex.On(f.Arena, s).FindStringSubmatchIndex(s); groups != nil {
				return rules[i].object(f, s, groups), nil
			}
		}
		return f.Fail("unable to parse grok: value does not match any rule")
	}, nil
}

// object makes the object of a match.
func (r *groksRule) object(f *vrl.Frame, s string, groups []int) value.Value {
	root := f.Arena.Object(len(r.captures)).Of()
	for _, c := range r.captures {
		if groups[2*c.group] < 0 {
			continue
		}
		v, ok := value.String(s[groups[2*c.group]:groups[2*c.group+1]]), true
		for _, filter := range c.filters {
			if v, ok = filter(f, v); !ok {
				break
			}
		}
		switch {
		case !ok || v.IsNull():
		case len(c.path) > 0:
			putRepeated(f.Arena, &root, c.path, v)
		case v.Kind() == value.ObjectKind:
			for i := range v.Object().Len() {
				m := v.Object().Member(i)
				root.Object().Set(f.Arena, m.Key, m.Value)
			}
		}
	}
	return root
}

// putRepeated puts a value at a path; if the path has a value already, both become items of an array.
func putRepeated(a *value.Arena, root *value.Value, path []string, v value.Value) {
	at := root
	for i, key := range path {
		present := at.Kind() == value.ObjectKind && at.Object().Index(key) >= 0
		at, _ = value.FieldSlot(a, at, key, -1)
		if i < len(path)-1 || !present {
			continue
		}
		if at.Kind() == value.ArrayKind {
			at.Array().Push(a, v)
			return
		}
		list := a.Array(4)
		list.Push(a, *at)
		list.Push(a, v)
		*at = list.Of()
		return
	}
	*at = v
}

// ruleCompiler turns the text of a rule into one expression.
type ruleCompiler struct {
	expansion grok.Expansion
	aliases   map[string]string
	open      []string // aliases around this place
	fields    []int    // of captures: the number of the field's group
	captures  []groksCapture
}

func compileRule(source string, aliases map[string]string, room *regex.Room) (groksRule, error) {
	c := ruleCompiler{aliases: aliases, expansion: grok.Expansion{Room: room}}
	c.expansion.Write(`\A(?:`)
	if err := c.text(source); err != nil {
		return groksRule{}, err
	}
	c.expansion.Write(`)\z`)
	p, err := c.expansion.Compile("")
	if err != nil {
		return groksRule{}, err
	}
	for i := range c.captures {
		c.captures[i].group = p.Index(c.fields[i])
	}
	for i, field := range p.Fields { // groups that the rule names itself, and fields of classic patterns
		if field != "" {
			c.captures = append(c.captures, groksCapture{group: i, path: []string{field}})
		}
	}
	return groksRule{p, c.captures}, nil
}

// text adds a rule or an alias.
func (c *ruleCompiler) text(s string) error {
	for {
		before, rest, found := strings.Cut(s, "%{")
		// The dialect has atomic groups, and m where other syntaxes have s.
		c.expansion.Write(strings.NewReplacer("(?>", "(?:", "(?m)", "(?s)").Replace(before))
		if !found {
			return nil
		}
		p := ruleParser{s: rest}
		ref, err := p.reference()
		if err != nil {
			return fmt.Errorf("failed to parse grok expression '%s': %w", s, err)
		}
		if err := c.reference(ref); err != nil {
			return err
		}
		s = rest[p.at:]
	}
}

// reference adds a matcher, an alias or a pattern of the classic set, as a group when its text is kept.
func (c *ruleCompiler) reference(ref ruleReference) error {
	var filters []groksFilter
	expression, auto, err := matcherOf(ref.matcher)
	alias, isAlias := c.aliases[ref.matcher.name]
	switch {
	case isAlias:
		if slices.Contains(c.open, ref.matcher.name) {
			return fmt.Errorf("circular dependency found in the alias '%s'", ref.matcher.name)
		}
	case err != nil:
		return err
	case expression == "" && !grok.Known(ref.matcher.name):
		return fmt.Errorf(
			"failed to parse grok expression: the given pattern definition name %q could not be found in the "+
				"definition map", ref.matcher.name)
	}
	if auto != nil && !isAlias {
		filters = append(filters, auto)
	}
	for _, call := range ref.filters {
		filter, err := filterOf(call, c.expansion.Room)
		if err != nil {
			return err
		}
		filters = append(filters, filter)
	}
	kept := len(ref.path) > 0 || len(ref.filters) > 0
	if kept {
		c.fields = append(c.fields, c.expansion.Open(""))
		c.captures = append(c.captures, groksCapture{path: ref.path, filters: filters})
	} else {
		c.expansion.Write("(?:")
	}
	switch {
	case isAlias:
		c.open = append(c.open, ref.matcher.name)
		err = c.text(alias)
		c.open = c.open[:len(c.open)-1]
	case expression != "":
		c.expansion.Write(expression)
	default:
		err = c.expansion.Append("%{" + ref.matcher.name + "}")
	}
	c.expansion.Write(")")
	return err
}

// ruleReference is the text between the braces.
type ruleReference struct {
	matcher ruleCall
	path    []string
	filters []ruleCall
}

// ruleCall is a name with arguments: a matcher, a filter or an argument of a filter.
type ruleCall struct {
	name string
	args []ruleCall
	// text is set for an argument in quotes, name for numbers and names.
	text   string
	quoted bool
}

// ruleParser goes through a reference.
type ruleParser struct {
	s  string
	at int
}

var errReference = errors.New("expected the form %{matcher:field:filter}")

func (p *ruleParser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *ruleParser) take(c byte) bool {
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

// reference takes all up to the closing brace, and it.
func (p *ruleParser) reference() (ref ruleReference, err error) {
	if ref.matcher, err = p.call(0); err != nil {
		return ref, err
	}
	if p.take(':') {
		if ref.path, err = p.path(); err != nil {
			return ref, err
		}
		for p.take(':') {
			filter, err := p.call(0)
			if err != nil {
				return ref, err
			}
			ref.filters = append(ref.filters, filter)
		}
	}
	if !p.take('}') || ref.matcher.quoted {
		return ref, errReference
	}
	return ref, nil
}

func (p *ruleParser) blanks() {
	for p.peek() == ' ' {
		p.at++
	}
}

// call takes a name with arguments in parentheses, a number or a text in quotes.
func (p *ruleParser) call(depth int) (c ruleCall, err error) {
	p.blanks()
	if depth > 4 {
		return c, errReference
	}
	if p.peek() == '"' {
		c.quoted = true
		c.text, err = p.quoted()
		return c, err
	}
	start := p.at
	for p.at < len(p.s) && strings.IndexByte("(){}:,\" ", p.s[p.at]) < 0 {
		p.at++
	}
	if c.name = p.s[start:p.at]; c.name == "" {
		return c, errReference
	}
	if p.take('(') {
		for p.blanks(); !p.take(')'); p.blanks() {
			if len(c.args) > 0 && !p.take(',') {
				return c, errReference
			}
			a, err := p.call(depth + 1)
			if err != nil {
				return c, err
			}
			c.args = append(c.args, a)
		}
	}
	p.blanks()
	return c, nil
}

// quoted takes a text in double quotes; a backslash protects a quote or another one.
func (p *ruleParser) quoted() (string, error) {
	var b strings.Builder
	for p.at++; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.s) && (p.s[p.at+1] == '"' || p.s[p.at+1] == '\\'):
			p.at++
			b.WriteByte(p.s[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", errReference
}

// path takes the path of a field: names with dots between, or in brackets and quotes; it may be empty.
func (p *ruleParser) path() (path []string, err error) {
	p.blanks()
	for p.at < len(p.s) && p.s[p.at] != ':' && p.s[p.at] != '}' {
		switch {
		case p.take('.'):
		case strings.HasPrefix(p.s[p.at:], `["`), p.peek() == '"':
			bracket := p.take('[')
			name, err := p.quoted()
			if err != nil || bracket && !p.take(']') {
				return nil, errReference
			}
			path = append(path, name)
		default:
			start := p.at
			for p.at < len(p.s) && strings.IndexByte(".:}\"", p.s[p.at]) < 0 && !strings.HasPrefix(p.s[p.at:], `["`) {
				p.at++
			}
			path = append(path, strings.TrimSpace(p.s[start:p.at]))
		}
	}
	return path, nil
}
