// Package cmdline reads command lines. What there is to say is a struct: its fields are commands, which are structs again, and their
// flags and arguments. Tags say the rest:
//
//	cmd:""                 a command; the fields of its struct are what it takes
//	arg:""                 an argument, in the order of the fields; a list takes all that are left
//	name:"X" short:"x"     the name, if it is not that of the field (MaxRejects is max-rejects, JSON is json); the letter of a flag
//	help:"X" hidden:""     what it is; whether help is silent about it
//	group:"X"              the title below which help lists it
//	default:"X" env:"X"    the value, and the variable with the value, where nothing is given
//	enum:"X,Y"             all values there are; an empty one stands for nothing given
//	placeholder:"X"        what help calls the value
//	required:"" optional:"" of flags and of arguments, which are else the other way round
//	sep:"none"             a list takes values whole; else commas part them
//	xor:"X"                of the flags with the same X one may be given
//
// Structs that are embedded without a tag give their fields. A command with a method Help() string has that much more to tell. Values are
// strings, booleans, whole numbers, durations, what reads itself from text, pointers to these (nil: not given), lists of strings,
// and maps of strings from NAME=VALUE.
//
// Methods are never looked up by their names, as libraries for this do: the linker then has to keep every exported method of every type of
// the program, which were 6.6 of 51 MB.
package cmdline

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Node is the program, or a command of it.
type Node struct {
	Name, Help string
	Detail     string // what help tells besides: paragraphs, and indented lines as they are
	Group      string
	Hidden     bool
	Parent     *Node // nil: it is the program
	Children   []*Node
	Flags      []*Flag
	Args       []*Value
}

// Flag is a flag of a command. It is set with its command line.
type Flag struct {
	Value
	Short       rune // 0: it has none
	PlaceHolder string
	Group       string
	Env         string
	Required    bool
	xor         string
}

// Value is what a flag or an argument takes.
type Value struct {
	Name, Help, Default string
	Enum                []string // nil: anything
	Optional            bool     // of an argument
	whole               bool     // commas part no values
	set                 bool     // on the command line
	target              reflect.Value
}

// New is the model of a program whose commands are the fields of *line. A model that cannot be is a panic.
func New(line any, name, help string) *Node {
	n := &Node{Name: name, Help: help, Flags: []*Flag{newHelpFlag()}}
	n.take(reflect.ValueOf(line).Elem())
	return n
}

// take makes commands, flags and arguments of the fields of a struct.
func (n *Node) take(s reflect.Value) {
	for i := range s.NumField() {
		f := s.Type().Field(i)
		has := func(key string) bool { _, ok := f.Tag.Lookup(key); return ok }
		switch {
		case f.Anonymous && f.Tag == "":
			n.take(s.Field(i))
		case has("cmd"):
			n.command(f, s.Field(i))
		case has("arg"):
			v := newValue(f, s.Field(i))
			v.Optional = has("optional")
			n.Args = append(n.Args, &v)
		case has("help"):
			flag := &Flag{
				Value: newValue(f, s.Field(i)), PlaceHolder: f.Tag.Get("placeholder"), Group: f.Tag.Get("group"), Env: f.Tag.Get("env"),
				Required: has("required"), xor: f.Tag.Get("xor"),
			}
			for _, letter := range f.Tag.Get("short") {
				flag.Short = letter
			}
			n.Flags = append(n.Flags, flag)
		}
	}
}

// command makes a command of a field.
func (n *Node) command(f reflect.StructField, s reflect.Value) {
	_, hidden := f.Tag.Lookup("hidden")
	child := &Node{Name: nameOf(f), Help: f.Tag.Get("help"), Group: f.Tag.Get("group"), Hidden: hidden, Parent: n, Flags: []*Flag{newHelpFlag()}}
	if child.Group == "" {
		child.Group = n.Group
	}
	if more, ok := s.Addr().Interface().(interface{ Help() string }); ok {
		child.Detail = more.Help()
	}
	child.take(s)
	n.Children = append(n.Children, child)
}

// helpFlag is the flag that every command has.
const helpFlag = "help"

func newHelpFlag() *Flag {
	return &Flag{Short: 'h', Value: Value{Name: helpFlag, Help: "Show this help.", target: reflect.ValueOf(new(bool)).Elem()}}
}

// newValue makes a value of a field, with its default.
func newValue(f reflect.StructField, target reflect.Value) Value {
	v := Value{Name: nameOf(f), Help: f.Tag.Get("help"), Default: f.Tag.Get("default"), whole: f.Tag.Get("sep") == "none", target: target}
	if enum, ok := f.Tag.Lookup("enum"); ok {
		v.Enum = strings.Split(enum, ",")
	}
	if v.Default != "" {
		if err := v.assign(v.Default); err != nil {
			panic(fmt.Sprintf("the default of %s: %v", v.Name, err))
		}
	}
	return v
}

// nameOf is the name of what a field is.
func nameOf(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	for i, c := range f.Name {
		next := f.Name[i+1:]
		begins := i > 0 && unicode.IsUpper(c) && (unicode.IsLower(rune(f.Name[i-1])) || next != "" && unicode.IsLower(rune(next[0])))
		if begins {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// FullPath is the command with those that it is one of.
func (n *Node) FullPath() string {
	if n.Parent == nil {
		return n.Name
	}
	return n.Parent.FullPath() + " " + n.Name
}

// Leaves are the commands that are not made of others, without hidden ones.
func (n *Node) Leaves() (leaves []*Node) {
	if len(n.Children) == 0 {
		return []*Node{n}
	}
	for _, child := range n.Children {
		if !child.Hidden {
			leaves = append(leaves, child.Leaves()...)
		}
	}
	return leaves
}

// Child is the command of a name; nil: there is none.
func (n *Node) Child(name string) *Node {
	for _, child := range n.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// IsBool reports whether it needs no value.
func (v *Value) IsBool() bool { return v.target.Kind() == reflect.Bool }

// IsList reports whether it may be given more than once.
func (v *Value) IsList() bool {
	return v.target.Kind() == reflect.Slice || v.target.Kind() == reflect.Map
}

// Summary is an argument as help writes it: <file>, [<input> ...].
func (v *Value) Summary() string {
	text := "<" + v.Name + ">"
	if v.IsList() {
		text += " ..."
	}
	if v.Optional {
		return "[" + text + "]"
	}
	return text
}

// Summary is a flag as help writes it: --max-rejects=N.
func (f *Flag) Summary() string {
	text := "--" + f.Name
	switch {
	case f.IsBool():
		return text
	case f.PlaceHolder != "":
		text += "=" + f.PlaceHolder
	case f.Default != "":
		text += "=" + f.Default
	default:
		text += "=" + strings.ToUpper(f.Name)
	}
	if f.target.Kind() == reflect.Slice && !f.whole {
		text += ",..."
	}
	return text
}

// Summary is what a command line of a command looks like.
func (n *Node) Summary() string {
	text := n.FullPath()
	if len(n.Children) > 0 {
		return text + " <command>"
	}
	optional := false
	for _, f := range n.Flags {
		if f.Required {
			text += " " + f.Summary()
		} else if f.Name != helpFlag {
			optional = true
		}
	}
	for _, a := range n.Args {
		text += " " + a.Summary()
	}
	if optional {
		text += " [flags]"
	}
	return text
}
