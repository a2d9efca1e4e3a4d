package vrl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// languageCase is a case of the contract (testdata/cases): a program, its input and what comes of it.
type languageCase struct {
	Name     string          `json:"name"`
	Program  string          `json:"program"`
	Event    json.RawMessage `json:"event"`
	Result   json.RawMessage `json:"result"`
	After    json.RawMessage `json:"after"`
	Codes    []int           `json:"compile_error"`
	Error    *string         `json:"runtime_error"`
	Contains *string         `json:"runtime_error_contains"`
	Abort    *string         `json:"abort"`
	Timezone string          `json:"timezone"`
}

// readCases returns the cases of each file.
func readCases(t testing.TB) map[string][]languageCase {
	t.Helper()
	names, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	all := map[string][]languageCase{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var list []languageCase
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = list
	}
	return all
}

// canonical is a JSON text in the form in which results are compared.
func canonical(t testing.TB, text []byte) string {
	t.Helper()
	v, fault := value.ReadJSON(nil, string(text), value.JSONOptions{})
	if fault.Failed() {
		t.Fatalf("%s: %s", text, fault.In(string(text)))
	}
	return string(value.AppendJSON(nil, v))
}

func TestCases(t *testing.T) {
	for file, cases := range readCases(t) {
		t.Run(file, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) { c.check(t) })
			}
		})
	}
}

func (c *languageCase) check(t *testing.T) {
	o := vrl.Options{}
	if c.Timezone != "" {
		zone, err := time.LoadLocation(c.Timezone)
		if err != nil {
			t.Fatal(err)
		}
		o.Zone = zone
	}
	p, err := vrl.Compile(c.Program, stdlib.Library, o)
	if c.Codes != nil {
		var failed *vrl.CompileError
		if !errors.As(err, &failed) {
			t.Fatalf("%s\ncompiles, want errors %v", c.Program, c.Codes)
		}
		var codes []int
		for _, d := range failed.Diagnostics {
			if !d.Warning {
				codes = append(codes, d.Code)
			}
		}
		if !slices.Equal(codes, c.Codes) {
			t.Fatalf("%s\ngot %v, want %v\n%s", c.Program, codes, c.Codes, failed)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s\n%v", c.Program, err)
	}
	f := vrl.NewFrame(new(value.Arena))
	// The second run finds what the first left in the frame.
	for range 2 {
		f.Arena.Reset()
		c.run(t, p, f)
	}
}

func (c *languageCase) run(t *testing.T, p *vrl.Program, f *vrl.Frame) {
	t.Helper()
	text := c.Event
	if text == nil {
		text = []byte("{}")
	}
	event, fault := value.ReadJSON(f.Arena, string(text), value.JSONOptions{})
	if fault.Failed() {
		t.Fatal(fault.In(string(text)))
	}
	result, err := p.Run(f, &event)
	var failed *vrl.RuntimeError
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("an error of another type: %v", err)
	}
	switch {
	case c.Abort != nil:
		if failed == nil || !failed.Aborted || failed.Message != *c.Abort {
			t.Errorf("%s\ngot %v, want the abort %q", c.Program, err, *c.Abort)
		}
	case c.Error != nil:
		if failed == nil || failed.Aborted || failed.Message != *c.Error {
			t.Errorf("%s\ngot  %v\nwant %s", c.Program, err, *c.Error)
		}
	case c.Contains != nil:
		if failed == nil || failed.Aborted || !strings.Contains(failed.Message, *c.Contains) {
			t.Errorf("%s\ngot %v, want it to contain %q", c.Program, err, *c.Contains)
		}
	case err != nil:
		t.Errorf("%s\n%v", c.Program, err)
	}
	if c.Result != nil {
		if got, want := string(value.AppendJSON(nil, result)), canonical(t, c.Result); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.Program, got, want)
		}
	}
	if c.After != nil {
		if got, want := string(value.AppendJSON(nil, event)), canonical(t, c.After); got != want {
			t.Errorf("%s\nevent afterwards\n got %s\nwant %s", c.Program, got, want)
		}
	}
	if !bytes.Equal(text, c.Event) && c.Event != nil {
		t.Error("the input changed")
	}
}
