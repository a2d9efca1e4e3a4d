package promql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/vector"
)

// TestEveryFunction: each function that the parser knows is in the table, with one way to evaluate it, and its
// properties name arguments that it has.
func TestEveryFunction(t *testing.T) {
	for name := range parser.Functions {
		f := functions[name]
		if f == nil {
			t.Errorf("%s is not in the table", name)
			continue
		}
		ways := 0
		for _, way := range []bool{f.eval != nil, f.over != nil && f.eval == nil, f.float != nil, f.hist != nil,
			f.clock != nil, f.setting != nil} {
			ways += int(vector.Bit(way))
		}
		if ways != 1 {
			t.Errorf("%s is evaluated in %d ways", name, ways)
		}
		args := len(parser.Functions[name].ArgTypes)
		if f.field > args || f.presence && args == 0 || f.matchers && args < 2 {
			t.Errorf("%s has %d arguments; properties name others", name, args)
		}
	}
	for name := range functions {
		if parser.Functions[name] == nil {
			t.Errorf("%s is in the table, and the parser does not know it", name)
		}
	}
}

// TestFunctionNames: what is known of a function is in the table. Names are looked at to find it there and to print
// them, nowhere else.
func TestFunctionNames(t *testing.T) {
	printed := map[string]int{"functiontable.go": 1, "compile.go": 2, "tree.go": 1}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "Func.Name"); n != printed[file] {
			t.Errorf("%s looks at the name of a function %d times, want %d", file, n, printed[file])
		}
	}
}
