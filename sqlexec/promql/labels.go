package promql

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Labels that describe a metric. They are removed together with the name.
const (
	NameLabel = "__name__"
	typeLabel = "__type__"
	unitLabel = "__unit__"

	bucketLabel = "le"
)

// Label is a name and a value.
type Label struct{ Name, Value string }

// Labels is the label set of a series, sorted by name, without empty values. Never changed once made.
type Labels []Label

// NewLabels makes a set of names and values in turn.
func NewLabels(pairs ...string) Labels {
	ls := make(Labels, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			ls = append(ls, Label{pairs[i], pairs[i+1]})
		}
	}
	slices.SortFunc(ls, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	return ls
}

// Get returns the value of a label; empty if the label is absent.
func (ls Labels) Get(name string) string {
	for i := range ls {
		if ls[i].Name == name {
			return ls[i].Value
		}
	}
	return ""
}

// Compare orders label sets: by the first name or value that differs, then the shorter first.
func (ls Labels) Compare(o Labels) int {
	for i := range min(len(ls), len(o)) {
		if c := cmp.Compare(ls[i].Name, o[i].Name); c != 0 {
			return c
		}
		if c := cmp.Compare(ls[i].Value, o[i].Value); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(ls), len(o))
}

// Equal reports whether the sets are the same.
func (ls Labels) Equal(o Labels) bool { return slices.Equal(ls, o) }

// with is the set with one label set or, with an empty value, removed.
func (ls Labels) with(name, value string) Labels {
	at, found := slices.BinarySearchFunc(ls, name, func(l Label, n string) int { return cmp.Compare(l.Name, n) })
	switch {
	case found && value == "":
		return slices.Delete(slices.Clone(ls), at, at+1)
	case value == "":
		return ls
	case found && ls[at].Value == value:
		return ls
	case found:
		out := slices.Clone(ls)
		out[at].Value = value
		return out
	}
	out := make(Labels, 0, len(ls)+1)
	out = append(append(out, ls[:at]...), Label{name, value})
	return append(out, ls[at:]...)
}

// keep is the part of the set with names of a list.
func (ls Labels) keep(names []string) Labels {
	var out Labels
	for _, l := range ls {
		if slices.Contains(names, l.Name) {
			out = append(out, l)
		}
	}
	return out
}

// drop is the part of the set without names of a list.
func (ls Labels) drop(names ...string) Labels {
	hit := false
	for _, l := range ls {
		hit = hit || slices.Contains(names, l.Name)
	}
	if !hit {
		return ls
	}
	out := make(Labels, 0, len(ls))
	for _, l := range ls {
		if !slices.Contains(names, l.Name) {
			out = append(out, l)
		}
	}
	return out
}

// nameless is the set without the labels that say what the metric is.
func (ls Labels) nameless() Labels { return ls.drop(NameLabel, typeLabel, unitLabel) }

// appendKey appends the set as text that no other set has: lengths before names and values.
func (ls Labels) appendKey(dst []byte) []byte {
	for _, l := range ls {
		dst = appendKeyLabel(dst, l)
	}
	return dst
}

func appendKeyLabel(dst []byte, l Label) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.Name)))
	dst = append(dst, l.Name...)
	dst = binary.AppendUvarint(dst, uint64(len(l.Value)))
	return append(dst, l.Value...)
}

// appendKeyOf appends the part of the set with names of a sorted list, or, with without, the rest.
func (ls Labels) appendKeyOf(dst []byte, names []string, without bool) []byte {
	for _, l := range ls {
		if slices.Contains(names, l.Name) != without {
			dst = appendKeyLabel(dst, l)
		}
	}
	return dst
}

// String is the set in the notation of the language: {a="b", c="d"}.
func (ls Labels) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, l := range ls {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(appendName(nil, l.Name))
		b.WriteByte('=')
		b.WriteString(strconv.Quote(l.Value))
	}
	b.WriteByte('}')
	return b.String()
}

// legacyName reports whether a label name needs no quotes.
func legacyName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// validLabelName reports whether a text can name a label.
func validLabelName(s string) bool { return s != "" && utf8.ValidString(s) }

// appendName appends the name of a label, in quotes if it needs them.
func appendName(dst []byte, name string) []byte {
	if legacyName(name) {
		return append(dst, name...)
	}
	return strconv.AppendQuote(dst, name)
}
