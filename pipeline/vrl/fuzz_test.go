package vrl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// FuzzProgram compiles any text, twice: as it is done, and without the ops made for frequent forms. Both must agree in
// errors, and so must their runs, in result, event and failure, also on a frame that was used before.
func FuzzProgram(f *testing.F) {
	for _, cases := range readCases(f) {
		for _, c := range cases {
			f.Add(c.Program, string(c.Event))
		}
	}
	for _, s := range speeds {
		f.Add(s.program, s.event)
	}
	f.Add("x = {\"a\": .b}\nx = [x, x, x]\nfor_each(x) -> |i, v| { .c[i] = v; del(.c[0].a) }\n.", `{"b":[{"c":1}]}`)
	f.Fuzz(func(t *testing.T, source, event string) {
		p, err := vrl.Compile(source, stdlib.Library, vrl.Options{})
		q, plainErr := vrl.CompilePlain(source, stdlib.Library, vrl.Options{})
		if (err == nil) != (plainErr == nil) || err != nil && err.Error() != plainErr.Error() {
			t.Fatalf("%s\n%v\nplain: %v", source, err, plainErr)
		}
		if err != nil {
			return
		}
		if event == "" {
			event = "{}"
		}
		fast, plain := vrl.NewFrame(new(value.Arena)), vrl.NewFrame(new(value.Arena))
		for range 2 {
			got, want := outcome(t, p, fast, event), outcome(t, q, plain, event)
			if got != want && !unsteady(source) {
				t.Fatalf("%s\non %s\ngot   %s\nplain %s", source, event, got, want)
			}
		}
	})
}

// unsteady reports whether a program may give something else each time.
func unsteady(source string) bool {
	return strings.Contains(source, "random") || strings.Contains(source, "uuid") || strings.Contains(source, "host")
}

// outcome runs a program and describes all that came of it.
func outcome(t *testing.T, p *vrl.Program, f *vrl.Frame, text string) string {
	f.Arena.Reset()
	f.Clock = func() time.Time { return time.Unix(1700000000, 0) }
	event, fault := value.ReadJSON(f.Arena, text, value.JSONOptions{})
	if fault.Failed() {
		event = value.String(text)
	}
	result, err := p.Run(f, &event)
	if failed := (*vrl.RuntimeError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatalf("an error of another type: %v", err)
	}
	b := value.AppendJSON(nil, result)
	b = value.AppendJSON(append(b, " event "...), event)
	if err != nil {
		b = append(b, " error "+err.Error()...)
	}
	return string(b)
}
