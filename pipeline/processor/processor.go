// Package processor implements the processors of pipeline documents. The settings of a document are compiled once into
// a Processor over slots. Running a processor looks up no names and, on the paths that logs take, allocates nothing.
package processor

import (
	"fmt"
	"iter"
	"strconv"

	"go.yaml.in/yaml/v3"

	"varve/engine/status"
	"varve/flatten"
	"varve/pipeline/value"
)

// Processor is a compiled processor. Immutable; may be shared by goroutines, each with its own Event.
type Processor interface {
	// Run works on the event. Errors are status errors and fail the entry.
	Run(e *Event) error
}

// maker compiles the settings of one kind of processor.
type maker func(s Settings, names *Names) (Processor, error)

// makers are the processors by name.
var makers map[string]maker

func init() {
	makers = map[string]maker{
		"cmcd": newCMCD, "csv": newCSV, "date": newDate, "decolorize": newDecolorize, "digest": newDigest,
		"dissect": newDissect,
		"epoch":   newEpoch, "filter": newFilter, "gsub": newGsub, "join": newJoin, "json_parse": newJSONParse,
		"json_path": newJSONPath, "letter": newLetter, "regex": newRegex, "select": newSelect,
		"simple_extract": newSimpleExtract, "urlencoding": newURLEncoding, "vrl": newVRL,
	}
}

// New compiles an element of a document's list of processors: a map whose first key names the processor.
func New(n *yaml.Node, names *Names) (Processor, error) {
	at := Follow(n)
	if at.Kind != yaml.MappingNode {
		return nil, Invalid(n, "Processor must be a map")
	}
	if len(at.Content) == 0 {
		return nil, Invalid(n, "Processor must have a string key")
	}
	name, ok := Text(at.Content[0])
	if !ok {
		return nil, Invalid(at.Content[0], "Processor key must be a string")
	}
	body := Follow(at.Content[1])
	if body.Kind != yaml.MappingNode {
		return nil, Invalid(at.Content[0], "Processor must be a map")
	}
	settings, err := ReadSettings(body)
	if err != nil {
		return nil, err
	}
	compile, ok := makers[name]
	if !ok {
		return nil, Invalid(at.Content[0], "Unsupported %s processor", name)
	}
	return compile(settings, names)
}

// fields are the inputs and targets of a processor, as slots.
type fields struct {
	list          []fieldSlots
	ignoreMissing bool
}

type fieldSlots struct {
	input, target int
	name          string // of the input
}

// take reads the settings that most processors have. done is false for others.
func (f *fields) take(s *Setting, names *Names) (done bool, err error) {
	switch s.Key {
	case "field", "fields":
		list, err := s.Fields()
		if err != nil {
			return true, err
		}
		f.list = f.list[:0]
		for _, x := range list {
			f.list = append(f.list, fieldSlots{names.Slot(x.Input), names.Slot(x.Target), x.Input})
		}
		return true, nil
	case "ignore_missing":
		f.ignoreMissing, err = s.Bool()
		return true, err
	}
	return false, nil
}

// own takes the settings that most processors have, and gives the others, up to the first that is wrong.
func (f *fields) own(s Settings, names *Names) iter.Seq2[*Setting, error] {
	return func(yield func(*Setting, error) bool) {
		for _, x := range s.All() {
			done, err := f.take(&x, names)
			if (err != nil || !done) && !yield(&x, err) {
				return
			}
		}
	}
}

// missing is the error of an absent field.
func missing(processor, field string) error {
	return About(status.New(status.InvalidArguments, "Processor %s: missing field: %s", processor, field), field,
		value.Null, "")
}

// notString is the error of a processor that works on strings only.
func notString(processor, field string, v value.Value) error {
	return About(status.New(status.InvalidArguments, "Processor %s: expect string value, but got %s", processor,
		Describe(v)), field, v, "")
}

// text is the string in a field. ok is false when the field is to be passed over.
func (f *fields) text(e *Event, x *fieldSlots, processor string) (text string, ok bool, err error) {
	v, has := e.Get(x.input)
	if has && v.Kind() == value.StringKind {
		return v.Str(), true, nil
	}
	if !has || v.IsNull() {
		if f.ignoreMissing {
			return "", false, nil
		}
		return "", false, missing(processor, x.name)
	}
	return "", false, notString(processor, x.name, v)
}

// present is the value of a field, null included. ok is false for one that is absent and may be.
func (f *fields) present(e *Event, x *fieldSlots, processor string) (v value.Value, ok bool, err error) {
	if v, ok = e.Get(x.input); !ok && !f.ignoreMissing {
		return v, false, missing(processor, x.name)
	}
	return v, ok, nil
}

// Describe is a value with its kind, as error texts show it: Float(1.5), String(x).
func Describe(v value.Value) string {
	switch v.Kind() {
	case value.NullKind:
		return "Null"
	case value.BoolKind:
		return fmt.Sprintf("Boolean(%t)", v.Bool())
	case value.IntKind:
		return fmt.Sprintf("Integer(%d)", v.Int())
	case value.FloatKind:
		return "Float(" + strconv.FormatFloat(v.Float(), 'f', -1, 64) + ")"
	case value.StringKind:
		return "String(" + shorten(v.Str()) + ")"
	case value.TimestampKind:
		return "Timestamp(" + plainText(v) + ")"
	case value.ArrayKind:
		return "Array(" + shorten(plainText(v)) + ")"
	}
	return "Object(" + shorten(plainText(v)) + ")"
}

func shorten(s string) string { return flatten.Cut(s) }

// Time is a time that a processor makes.
type Time struct {
	Slot       int
	Resolution Resolution
	Optional   bool // the field may be missing
}

// Times are the times that a processor makes; those that make none have none.
func Times(p Processor) []Time {
	var f *fields
	r := Nanosecond
	switch p := p.(type) {
	case *date:
		f = &p.fields
	case *epoch:
		f, r = &p.fields, p.resolution
	default:
		return nil
	}
	times := make([]Time, len(f.list))
	for i := range f.list {
		times[i] = Time{f.list[i].target, r, f.ignoreMissing}
	}
	return times
}
