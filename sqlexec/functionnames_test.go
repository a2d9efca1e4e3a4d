package sqlexec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// functionTables are the files that define functions and what is known of them.
var functionTables = []string{"expr/fn_*.go", "expr/agg*.go", "expr/span.go", "expr/op.go", "expr/variables.go",
	"exec/windowfunctions.go", "plan/roles.go"}

// syntaxFields are the fields of the syntax tree that hold words and operators as written, not functions.
var syntaxFields = []string{"Op", "Mode"}

// TestNamesOfFunctions asks that planner and executor know functions by their properties: no name of a function is
// compared outside the tables of functions.
func TestNamesOfFunctions(t *testing.T) {
	names := map[string]bool{"unnest": true, "grouping": true, "grouping_id": true}
	for _, name := range slices.Concat(expr.Names(), expr.AggregateNames(), exec.RankingNames()) {
		names[name] = true
	}
	for _, dir := range []string{"plan", "expr", "exec"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			defines := slices.ContainsFunc(functionTables, func(p string) bool {
				ok, err := filepath.Match(p, name)
				return ok && err == nil
			})
			if defines || strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				for _, lit := range comparedTexts(n) {
					if text, err := strconv.Unquote(lit.Value); err == nil && names[text] {
						t.Errorf("%s: the name of the function %q is compared; give the function a property",
							set.Position(lit.Pos()), text)
					}
				}
				return true
			})
		}
	}
}

// comparedTexts are the text literals that a node of a Go file compares with: of == and !=, of a switch, and the keys
// of a map.
func comparedTexts(n ast.Node) (list []*ast.BasicLit) {
	add := func(all ...ast.Expr) {
		for _, e := range all {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				list = append(list, lit)
			}
		}
	}
	syntax := func(e ast.Expr) bool {
		field, ok := e.(*ast.SelectorExpr)
		return ok && slices.Contains(syntaxFields, field.Sel.Name)
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && !syntax(n.X) {
			add(n.X, n.Y)
		}
	case *ast.SwitchStmt:
		if syntax(n.Tag) {
			return nil
		}
		for _, c := range n.Body.List {
			add(c.(*ast.CaseClause).List...)
		}
	case *ast.CompositeLit:
		if _, ok := n.Type.(*ast.MapType); ok {
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					add(kv.Key)
				}
			}
		}
	}
	return list
}
