package dashboard

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// TestFunctionsPage: docs/sql/functions.md lists the executor's functions, each with the part of docs/sql.md that tells
// of it; -update writes it.
func TestFunctionsPage(t *testing.T) {
	const file = "../../docs/sql/functions.md"
	type row struct{ name, form, title string }
	var rows []row
	for _, g := range sqlFunctions(t) {
		if g.title == "Others" { // those that are written as operators
			if operators := []string{"and", "ilike", "like", "negate", "not", "or"}; !slices.Equal(g.forms, operators) {
				t.Errorf("docs/sql.md does not say how to call one of %q", g.forms)
			}
			continue
		}
		for _, form := range g.forms {
			name, _, _ := strings.Cut(form, "(")
			rows = append(rows, row{name, form, g.title})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	var want bytes.Buffer
	fmt.Fprintf(&want,
		"# Functions\n\nAfter this page you know which functions SQL has, and where each is described. The list is made from the program: %d functions.\n\n"+
			"| Function | Kind | Described in |\n|---|---|---|\n", len(rows))
	for _, r := range rows {
		kind := "value"
		switch {
		case slices.Contains(exec.RankingNames(), r.name):
			kind = "window"
		case slices.Contains(expr.AggregateNames(), r.name):
			kind = "aggregate"
		}
		place := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(r.title), "")
		fmt.Fprintf(&want, "| `%s` | %s | [%s](../sql.md#%s) |\n", strings.ReplaceAll(r.form, "|", `\|`), kind, r.title,
			strings.ReplaceAll(place, " ", "-"))
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the program has: go test ./server/dashboard -run TestFunctionsPage -update (%v)", file,
			err)
	}
}
