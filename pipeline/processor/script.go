package processor

import (
	"strings"

	"varve/engine/status"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// Script is the processor that runs a VRL script.
type Script struct{ program *vrl.Program }

func newVRL(s Settings, names *Names) (Processor, error) {
	source := ""
	var at *Setting
	for _, x := range s.All() {
		if x.Key != "source" {
			continue
		}
		text, err := x.String()
		if err != nil {
			return nil, err
		}
		source, at = text, &x
	}
	if strings.TrimSpace(source) == "" {
		return nil, s.Invalid("Vrl script source is required")
	}
	p, err := vrl.Compile(source, stdlib.Library, vrl.Options{Room: names.Room})
	if err != nil {
		return nil, at.Invalid("Failed to compile VRL, %v", err)
	}
	switch result := p.Result(); {
	case !result.May(vrl.Object | vrl.Array):
		return nil, at.Invalid("Vrl script should return object or array in the end, got `%s`", result.Kinds())
	case p.HoldsRegex():
		return nil, at.Invalid("Please don't use regex in Vrl script")
	}
	return &Script{p}, nil
}

// Run makes the script's result the context.
func (p *Script) Run(e *Event) error {
	v, err := p.Apply(e, e.Context())
	if err != nil {
		return err
	}
	if v.IsNull() {
		e.discard()
		return nil
	}
	e.Load(v)
	return nil
}

// Apply runs the script on a context that has one name only, and gives its result: an object, an array, or null for an
// entry to drop.
func (p *Script) Apply(e *Event, v value.Value) (value.Value, error) {
	v, err := p.program.Run(e.frame(p.program), &v)
	if err != nil {
		return v, status.Wrap(err, status.InvalidArguments, "Failed to execute VRL, %v", err)
	}
	switch v.Kind() {
	case value.ObjectKind, value.ArrayKind, value.NullKind:
		return v, nil
	}
	return v, status.New(status.IllegalState,
		"Array element at index 0 must be an object for one-to-many transformation, got %s", v.Kind())
}

// frame is the event's frame for a program.
func (e *Event) frame(p *vrl.Program) *vrl.Frame {
	f := e.frames[p]
	if f == nil {
		if e.frames == nil {
			e.frames = map[*vrl.Program]*vrl.Frame{}
		}
		f = vrl.NewFrame(e.Arena)
		f.Journal = e.Journal
		e.frames[p] = f
	}
	return f
}
