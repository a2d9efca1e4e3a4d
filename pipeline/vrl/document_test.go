package vrl_test

import (
	stdflag "flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

const document = "../../docs/vrl.md"

var update = stdflag.Bool("update", false, "write the list of functions into the document")

// TestDocumentListsFunctions compares the list of functions in the document with the library.
func TestDocumentListsFunctions(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "-update` -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end of functions -->")
	if !ok || !ok2 {
		t.Fatal("the document has no place for the list")
	}
	want := head + "-update` -->\n\n" + functionList() + "\n<!-- end of functions -->" + tail
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Error(
			"the list of functions is not that of the library: run go test ./pipeline/vrl -run TestDocumentListsFunctions -update")
	}
}

func functionList() string {
	names := stdlib.Library.Names()
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "- `%s`\n", signature(stdlib.Library.Function(name)))
	}
	return b.String()
}

// signature is a function as the document lists it.
func signature(fn *vrl.Function) string {
	params := make([]string, 0, len(fn.Params))
	for _, p := range fn.Params {
		s := p.Name + ": " + p.Kinds.String()
		switch {
		case p.Path:
			s = p.Name
		case p.Enum != nil:
			s = p.Name + ": one of " + strings.Join(p.Enum, " ")
		}
		if p.Const {
			s += " (constant)"
		}
		if !p.Default.IsNull() {
			s += " = " + string(value.AppendJSON(nil, p.Default))
		}
		if p.Optional {
			s = "[" + s + "]"
		}
		params = append(params, s)
	}
	s := fn.Name + "(" + strings.Join(params, ", ") + ")"
	if fn.Closure != nil {
		s += " -> |...| { ... }"
	}
	switch {
	case fn.Name == "assert" || fn.Fails != nil &&
		reflect.ValueOf(fn.Fails).Pointer() == reflect.ValueOf(vrl.Always).Pointer():
		s += "!"
	case fn.Fails != nil:
		s += "?"
	}
	return s
}

// TestDocumentExamplesCompile compiles every script of the document.
func TestDocumentExamplesCompile(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(text), "```vrl\n")[1:]
	if len(examples) < 5 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		source, _, ok := strings.Cut(e, "```")
		if !ok {
			t.Fatal("an example has no end")
		}
		p, err := vrl.Compile(source, stdlib.Library, vrl.Options{})
		if err != nil {
			t.Errorf("%s\n%v", source, err)
			continue
		}
		if !p.Result().May(vrl.Object | vrl.Array | vrl.Null) {
			t.Errorf("%s\ngives %s", source, p.Result())
		}
	}
}
