package processor

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"varve/engine/status"
)

// Settings are the settings of a processor or a transform, in the order of the document.
type Settings struct {
	list []Setting
	at   *yaml.Node
}

// Setting is one of them.
type Setting struct {
	Key   string
	value *yaml.Node
}

// Invalid is an error of the document with the place it stands at.
func Invalid(at *yaml.Node, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if at == nil || at.Line == 0 {
		return status.New(status.InvalidArguments, "%s", text)
	}
	return status.New(status.InvalidArguments, "%s: at line %d, column %d of the document", text, at.Line, at.Column)
}

// Follow returns the target of an alias; any other node is returned itself.
func Follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// ReadSettings takes a map of the document.
func ReadSettings(n *yaml.Node) (Settings, error) {
	n = Follow(n)
	s := Settings{at: n}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, ok := Text(n.Content[i])
		if !ok {
			return s, Invalid(n.Content[i], "Key must be a string, but got %s", Show(n.Content[i]))
		}
		s.list = append(s.list, Setting{key, Follow(n.Content[i+1])})
	}
	return s, nil
}

// All are the settings.
func (s *Settings) All() []Setting { return s.list }

// Invalid is an error about the settings as a whole.
func (s *Settings) Invalid(format string, args ...any) error { return Invalid(s.at, format, args...) }

// Invalid is an error about the setting's value.
func (s *Setting) Invalid(format string, args ...any) error {
	return Invalid(s.value, format, args...)
}

func (s *Setting) mustBe(kind string) error { return s.mustBeOf(s.value, kind) }

// mustBeOf is the error of a part of the value that is of another kind.
func (s *Setting) mustBeOf(n *yaml.Node, kind string) error {
	got, cure := Show(n), ""
	switch {
	case got == "":
		got = "null"
	case kind == "string" && Follow(n).Kind == yaml.ScalarNode:
		cure = ": write it in quotes, '" + got + "'"
	}
	return Invalid(n, "Field %s must be a %s, but got %s%s", s.Key, kind, got, cure)
}

// String is the value, which must be a string.
func (s *Setting) String() (string, error) {
	text, ok := Text(s.value)
	if !ok {
		return "", s.mustBe("string")
	}
	return text, nil
}

// Bool is the value, which must be a boolean.
func (s *Setting) Bool() (bool, error) {
	v, ok := Scalar(s.value).(bool)
	if !ok {
		return false, s.mustBe("boolean")
	}
	return v, nil
}

// Int is the value as a whole number; ok is false for anything else.
func (s *Setting) Int() (n int64, ok bool) {
	n, ok = Scalar(s.value).(int64)
	return n, ok
}

// Scalar is the value as a Go value, see Scalar.
func (s *Setting) Scalar() any { return Scalar(s.value) }

// Node returns the value as written in the document.
func (s *Setting) Node() *yaml.Node { return s.value }

// Strings is the value, which must be a list of strings.
func (s *Setting) Strings() ([]string, error) {
	if s.value.Kind != yaml.SequenceNode {
		return nil, s.mustBe("list")
	}
	list := make([]string, 0, len(s.value.Content))
	for _, n := range s.value.Content {
		text, ok := Text(n)
		if !ok {
			return nil, s.mustBeOf(n, "string")
		}
		list = append(list, text)
	}
	return list, nil
}

// Map is the value, which must be a map.
func (s *Setting) Map() (Settings, error) {
	if s.value.Kind != yaml.MappingNode {
		return Settings{}, s.mustBe("map")
	}
	return ReadSettings(s.value)
}

// IsMap reports whether the value is a map.
func (s *Setting) IsMap() bool { return s.value.Kind == yaml.MappingNode }

// Field is an input with the key its result goes to.
type Field struct {
	Input, Target string // Target is Input where the document names none
}

// Fields reads the value of "field" or "fields".
func (s *Setting) Fields() ([]Field, error) {
	if s.Key == "field" {
		f, err := s.field(s.value)
		return []Field{f}, err
	}
	if s.value.Kind != yaml.SequenceNode {
		return nil, s.mustBe("list")
	}
	fields := make([]Field, 0, len(s.value.Content))
	for _, n := range s.value.Content {
		f, err := s.field(Follow(n))
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func (s *Setting) field(n *yaml.Node) (Field, error) {
	if text, ok := Text(n); ok {
		f, ok := parseField(text)
		if !ok {
			return Field{}, Invalid(n, "Empty input field")
		}
		return f, nil
	}
	if n.Kind != yaml.MappingNode {
		return Field{}, Invalid(n, "Field %s must be a string or key-rename_to map, but got %s", s.Key, Show(n))
	}
	key, to, have := "", "", 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, _ := Text(n.Content[i])
		text, ok := Text(n.Content[i+1])
		switch {
		case name == "key" && ok:
			key = strings.TrimSpace(text)
			have |= 1
		case name == "rename_to" && ok:
			to = strings.TrimSpace(text)
			have |= 2
		}
	}
	if have != 3 {
		return Field{}, Invalid(n, "Field renaming must be a string pair of 'key' and 'rename_to', got: %s", Show(n))
	}
	if key == "" {
		return Field{}, Invalid(n, "Empty input field")
	}
	if to == "" {
		to = key
	}
	return Field{key, to}, nil
}

// parseField reads "input" or "input, target"; ok is false when the input is empty.
func parseField(text string) (f Field, ok bool) {
	input, rest, _ := strings.Cut(text, ",")
	target, _, _ := strings.Cut(rest, ",")
	f.Input, f.Target = strings.TrimSpace(input), strings.TrimSpace(target)
	if f.Target == "" {
		f.Target = f.Input
	}
	return f, f.Input != ""
}

// Text is the text of a string.
func Text(n *yaml.Node) (text string, ok bool) {
	text, ok = Scalar(n).(string)
	return text, ok
}

// Scalar is a scalar as YAML 1.2 has it: nil, bool, int64, float64 or string; lists and maps give notScalar. Integers
// beyond 64 bits are floats.
// Source: the core schema of YAML 1.2.2, section 10.3.2.
func Scalar(n *yaml.Node) any {
	n = Follow(n)
	if n.Kind != yaml.ScalarNode {
		return notScalar{}
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value
	}
	if n.Style&yaml.TaggedStyle != 0 && (n.Tag == "!!str" || n.Tag == "!") {
		return n.Value
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	return number(n.Value)
}

type notScalar struct{}

// number reads a plain scalar as a number, if it is one.
func number(text string) any {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" {
		return text
	}
	for prefix, base := range map[string]int{"0o": 8, "0x": 16} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			if n, err := strconv.ParseInt(rest, base, 64); err == nil && rest[0] != '+' && rest[0] != '-' {
				return n
			}
			return text
		}
	}
	if strings.Trim(digits, "0123456789") == "" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	if strings.Trim(digits, "0123456789.eE+-") != "" || strings.Trim(digits, ".eE+-") == "" ||
		strings.IndexAny(digits, "eE") == 0 {
		return text
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return text
}

// maxShown bounds the YAML that an error text shows.
const maxShown = 200

// Show is a node as error texts show it.
func Show(n *yaml.Node) string {
	n = Follow(n)
	if n.Kind == yaml.ScalarNode {
		return cut(n.Value)
	}
	kind := "a list"
	if n.Kind == yaml.MappingNode {
		kind = "a map"
	}
	text := make([]string, 0, len(n.Content))
	for i, c := range n.Content {
		if i == 8 {
			text = append(text, "...")
			break
		}
		if c = Follow(c); c.Kind == yaml.ScalarNode {
			text = append(text, cut(c.Value))
		} else {
			text = append(text, "..")
		}
	}
	return fmt.Sprintf("%s of %s", kind, cut(strings.Join(text, " ")))
}

func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "..."
}
