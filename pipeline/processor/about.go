package processor

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"varve/flatten"
	"varve/pipeline/value"
)

// About is the error of an entry with the field that it is about, its value and what was tried. Neither is needed.
func About(err error, field string, v value.Value, hint string) error {
	s := &flatten.Subject{Err: err, Field: field, Hint: hint}
	if v.Kind() == value.StringKind {
		v = value.String(flatten.Cut(v.Str()))
	}
	if !v.IsNull() {
		s.Value = string(value.AppendJSON(nil, v))
	}
	return s
}

// tried tells of the first of the patterns or formats that were tried.
func tried(what string, list []string) string {
	const most = 3
	text := "tried " + what + " " + flatten.Cut(strings.Join(list[:min(len(list), most)], ", "))
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return text
}

// NameOf is the name of the processor that an element of a document's list makes.
func NameOf(n *yaml.Node) string {
	if n = Follow(n); len(n.Content) > 0 {
		name, _ := Text(n.Content[0])
		return name
	}
	return ""
}
