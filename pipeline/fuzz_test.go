package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
)

// FuzzDocument checks that any text compiles or gives an error of the client's, and that what compiles runs.
func FuzzDocument(f *testing.F) {
	paths, err := filepath.Glob("../docs/pipelines/*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatal(err, paths)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a: &x [*x]"))
	f.Add(
		[]byte(
			"processors: [{date: {field: &f t}}, {epoch: {field: *f}}]\ndispatcher: {field: a, rules: [{value: [1, {b: 2}], table_suffix: x}]}"))
	f.Add(
		[]byte(
			"version: 2\ntable_suffix: ${a}-${b\ntransform:\n- {fields: [a, {key: b, rename_to: c}], type: 'epoch, ms', index: {type: time}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Compile(text)
		if err != nil {
			if c := status.Of(err); c != status.InvalidArguments {
				t.Fatalf("%v: %v", c, err)
			}
			return
		}
		m := New(Options{})
		find := &finder{m: m, ctx: context.Background()}
		w := m.worker(find, m.holding(nil), &Request{SkipError: true}, p,
			func(string, engine.Hint) *vector.Builder { return vector.NewBuilder() }, false)
		if p.dispatcher != nil {
			find.found = map[string]*Program{}
			for _, r := range p.dispatcher.rules {
				find.found[r.pipeline] = p
			}
		}
		for _, entry := range []string{`{"message":"a b c","time":"2024-05-17T12:34:56Z","a":[1,{"b":null}],"t":1}`,
			`[]`, `{}`} {
			if err := w.guard([]byte(entry)); status.Of(err) == status.Internal {
				t.Fatal(err)
			}
		}
	})
}
