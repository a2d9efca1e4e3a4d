package engine

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestLocksAreListed: the package comment names each lock of the package, and none that is not there.
func TestLocksAreListed(t *testing.T) {
	there := map[string]bool{}
	comment := ""
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc != nil {
			comment += parsed.Doc.Text()
		}
		for _, name := range locksOf(parsed) {
			there[name] = true
		}
	}
	_, list, ok := strings.Cut(comment, "# Locks\n")
	if !ok || len(there) < 10 {
		t.Fatalf("the package comment has no list, or only %d locks were found", len(there))
	}
	words := map[string]bool{}
	for _, w := range strings.Fields(list) {
		words[strings.Trim(w, ".,:;()")] = true
	}
	for name := range there {
		if !words[name] {
			t.Errorf("the lock %s is not in the list of the package comment", name)
		}
	}
	for w := range words {
		if _, field, ok := strings.Cut(w, "."); ok && (field == "mu" || strings.HasSuffix(field, "Mu")) && !there[w] {
			t.Errorf("the list has a lock %s, which is not there", w)
		}
	}
}

// locksOf are the fields and variables of a file that are locks, by type and name.
func locksOf(f *ast.File) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					if !isLock(field.Type) {
						continue
					}
					for _, name := range field.Names {
						names = append(names, fmt.Sprint(n.Name, ".", name))
					}
					if len(field.Names) == 0 {
						names = append(names, n.Name.Name)
					}
				}
			}
		case *ast.ValueSpec:
			if n.Type != nil && isLock(n.Type) {
				for _, name := range n.Names {
					names = append(names, name.Name)
				}
			}
		}
		return true
	})
	return names
}

// isLock reports whether a type is sync.Mutex, sync.RWMutex or ctxLock.
func isLock(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		from, ok := x.X.(*ast.Ident)
		return ok && from.Name == "sync" && (x.Sel.Name == "Mutex" || x.Sel.Name == "RWMutex")
	case *ast.Ident:
		return x.Name == "ctxLock"
	}
	return false
}
