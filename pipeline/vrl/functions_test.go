package vrl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// TestFunctionCases runs the cases of single functions (testdata/functions), which are of the same form as those of the
// contract, and wants one for every function.
func TestFunctionCases(t *testing.T) {
	names, err := filepath.Glob("testdata/functions/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var programs strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var cases []languageCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			for _, c := range cases {
				programs.WriteString(" " + c.Program)
				t.Run(c.Name, func(t *testing.T) { c.check(t) })
			}
		})
	}
	for _, cases := range readCases(t) {
		for _, c := range cases {
			programs.WriteString(" " + c.Program)
		}
	}
	for _, name := range stdlib.Library.Names() {
		called := func(text string) bool {
			i := strings.Index(text, name)
			for i >= 0 {
				before, after := text[max(i-1, 0)], text[i+len(name):]
				if !vrl.IsWordByte(before) && (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "!(")) {
					return true
				}
				next := strings.Index(after, name)
				if next < 0 {
					return false
				}
				i += len(name) + next
			}
			return false
		}
		if !called(programs.String()) {
			t.Errorf("no case calls %s", name)
		}
	}
}
