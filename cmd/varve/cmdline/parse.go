package cmdline

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/nearest"
	"varve/engine/timefmt"
)

// Parsed is a command line that was understood.
type Parsed struct {
	*Node
	WantsHelp bool // of the node; the values are not complete then
}

// Parse reads a command line into the struct of the model. environ has the variables of flags, as NAME=VALUE. An error is one sentence
// for users. A model reads one command line.
func (n *Node) Parse(args, environ []string) (Parsed, error) {
	p := parser{Node: n, left: args}
	for len(p.left) > 0 {
		if err := p.next(); err != nil {
			return Parsed{}, err
		}
	}
	if p.helped {
		return Parsed{p.Node, true}, nil
	}
	return Parsed{p.Node, false}, p.finish(environ)
}

// parser is how far a command line is read.
type parser struct {
	*Node
	left          []string
	args          int // arguments that are there
	ended, helped bool
}

// next takes the next word, with the value behind it.
func (p *parser) next() error {
	word := p.left[0]
	p.left = p.left[1:]
	switch {
	case p.ended || len(word) < 2 || word[0] != '-':
		return p.word(word)
	case word == "--":
		p.ended = true
		return nil
	case strings.HasPrefix(word, "--"):
		name, value, found := strings.Cut(word[2:], "=")
		f := p.flag(func(f *Flag) bool { return f.Name == name })
		if f == nil {
			return p.unknown("--" + name)
		}
		return p.give(f, value, found)
	}
	return p.letters(word[1:])
}

// letters takes flags of one letter, of which the last may have its value behind it.
func (p *parser) letters(word string) error {
	for i, letter := range word {
		f := p.flag(func(f *Flag) bool { return f.Short == letter })
		if f == nil {
			return p.unknown("-" + string(letter))
		}
		rest := word[i+len(string(letter)):]
		if value, found := strings.CutPrefix(rest, "="); found || rest != "" && !f.IsBool() {
			return p.give(f, value, true)
		}
		if err := p.give(f, "", false); err != nil {
			return err
		}
	}
	return nil
}

// word takes a word that is no flag.
func (p *parser) word(word string) error {
	if len(p.Children) > 0 {
		child := p.Child(word)
		if child == nil {
			return fmt.Errorf("there is no command %s%s", strings.TrimPrefix(p.FullPath()+" "+word, p.root().Name+" "), p.nearestCommand(word))
		}
		p.Node = child
		return nil
	}
	at := min(p.args, len(p.Args)-1)
	if at < 0 || p.args > at && !p.Args[at].IsList() {
		return fmt.Errorf("%s is one argument too many: see %s --help", word, p.FullPath())
	}
	p.args++
	v := p.Args[at]
	return v.check("<"+v.Name+">", word)
}

// flag finds a flag.
func (p *parser) flag(is func(*Flag) bool) *Flag {
	if i := slices.IndexFunc(p.Flags, is); i >= 0 {
		return p.Flags[i]
	}
	return nil
}

// give sets a flag, to the next word where it has no value yet and needs one.
func (p *parser) give(f *Flag, value string, has bool) error {
	name := "--" + f.Name
	switch {
	case has:
	case f.IsBool():
		value = "true"
	case len(p.left) == 0:
		return fmt.Errorf("%s wants a value", name)
	default:
		value = p.left[0]
		if len(value) > 1 && value[0] == '-' {
			if p.isFlag(value) {
				return fmt.Errorf("%s wants a value", name)
			}
			return fmt.Errorf("%s: expected %s but got %q; perhaps try %s=%[3]q?", name, f.kind(), value, name)
		}
		p.left = p.left[1:]
	}
	p.helped = p.helped || f.Name == helpFlag
	f.set = true
	return f.check(name, value)
}

// isFlag reports whether a word is a flag of the command.
func (p *parser) isFlag(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return p.flag(func(f *Flag) bool { return "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name }) != nil
}

// finish sees to what was not given.
func (p *parser) finish(environ []string) error {
	if len(p.Children) > 0 {
		var names []string
		for _, child := range p.Children {
			if !child.Hidden {
				names = append(names, child.Name)
			}
		}
		return fmt.Errorf("%s wants one of %s: see %[1]s --help", p.FullPath(), strings.Join(names, ", "))
	}
	var missing []string
	for _, a := range p.Args[min(p.args, len(p.Args)):] {
		if !a.Optional {
			missing = append(missing, a.Summary())
		}
	}
	given := map[string]string{} // names of flags of which one may be given
	for _, f := range p.Flags {
		switch other := given[f.xor]; {
		case f.set && f.xor != "" && other != "":
			return fmt.Errorf("--%s and --%s can't be used together", other, f.Name)
		case f.set && f.xor != "":
			given[f.xor] = f.Name
		case !f.set && f.Required:
			missing = append(missing, f.Summary())
		case !f.set && f.Env != "":
			if err := f.fromEnviron(environ); err != nil {
				return err
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s wants %s: see %[1]s --help", p.FullPath(), strings.Join(missing, " "))
	}
	return nil
}

// fromEnviron takes a flag that was not given from its variable.
func (f *Flag) fromEnviron(environ []string) error {
	for _, variable := range environ {
		if value, found := strings.CutPrefix(variable, f.Env+"="); found && value != "" {
			return f.check(f.Env, value)
		}
	}
	return nil
}

// check sets a value that may be one of few; what is what the user calls it.
func (v *Value) check(what, text string) error {
	if v.Enum != nil && !slices.Contains(v.Enum, text) {
		var quoted []string
		for _, value := range v.Enum {
			if value != "" {
				quoted = append(quoted, strconv.Quote(value))
			}
		}
		return fmt.Errorf("%s must be one of %s but got %q", what, strings.Join(quoted, ","), text)
	}
	if err := v.assign(text); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// assign sets a value.
func (v *Value) assign(text string) error {
	target := v.target
	switch target.Kind() {
	case reflect.Slice:
		list := []string{text}
		if !v.whole {
			list = strings.Split(text, ",")
		}
		target.Set(reflect.AppendSlice(target, reflect.ValueOf(list)))
		return nil
	case reflect.Map:
		name, value, found := strings.Cut(text, "=")
		if !found {
			return fmt.Errorf("expected NAME=VALUE but got %q", text)
		}
		if target.IsNil() {
			target.Set(reflect.MakeMap(target.Type()))
		}
		target.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(value))
		return nil
	case reflect.Pointer:
		pointed := reflect.New(target.Type().Elem())
		target.Set(pointed)
		target = pointed.Elem()
	}
	return assignOne(target, text)
}

// assignOne sets a value of which there is one.
func assignOne(target reflect.Value, text string) error {
	if reads, ok := target.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return reads.UnmarshalText([]byte(text))
	}
	if target.Type() == reflect.TypeFor[time.Duration]() {
		ns, err := timefmt.ParseDuration(text)
		if err != nil || ns < 0 {
			return fmt.Errorf("a duration such as 30s or 1m30s is wanted, not %q", text)
		}
		target.SetInt(ns)
		return nil
	}
	switch target.Kind() {
	case reflect.String:
		target.SetString(text)
	case reflect.Bool:
		switch text {
		case "true", "1", "yes":
			target.SetBool(true)
		case "false", "0", "no":
			target.SetBool(false)
		default:
			return fmt.Errorf("expected true or false but got %q", text)
		}
	case reflect.Int, reflect.Int64:
		number, err := strconv.ParseInt(text, 10, target.Type().Bits())
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is too large a number", text)
		} else if err != nil {
			return fmt.Errorf("expected a whole number but got %q", text)
		}
		target.SetInt(number)
	default:
		panic("command lines have no values of type " + target.Type().String())
	}
	return nil
}

// kind says what a value has to be.
func (v *Value) kind() string {
	t := v.target.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration"
	case t.Kind() == reflect.Int:
		return "a whole number"
	}
	return "a value"
}

// root is the program.
func (n *Node) root() *Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// unknown says that there is no such flag, and which was meant most likely.
func (p *parser) unknown(name string) error {
	f := nearest.Finder{To: name, Far: len(name) > 3}
	for _, flag := range p.Flags {
		f.Look("--"+flag.Name, "--"+flag.Name)
	}
	return fmt.Errorf("there is no flag %s%s", name, hint(f))
}

func (p *parser) nearestCommand(name string) string {
	f := nearest.Finder{To: name, Far: true}
	for _, child := range p.Children {
		if !child.Hidden {
			f.Look(child.Name, child.FullPath())
		}
	}
	return hint(f)
}

// hint is the end of an error that names what was meant.
func hint(f nearest.Finder) string {
	if f.Found == "" {
		return ""
	}
	return ". Did you mean " + f.Found + "?"
}
