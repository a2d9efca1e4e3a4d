package sqlexec

import (
	"os"
	"regexp"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// manual is the description of the language; its examples are run by a test of package server.
const manual = "../docs/sql.md"

// textRows reads an answer as text: values as CAST gives them, NULL by its name.
func textRows(r *Result) (rows [][]string, err error) {
	defer r.Rows.Close()
	var b vector.Batch
	for {
		ok, err := r.Rows.Next(&b)
		if err != nil || !ok {
			return rows, err
		}
		for i := range b.N {
			var row []string
			for _, v := range b.Cols {
				text := "NULL"
				if !v.IsNull(i) {
					text = string(expr.AppendText(nil, v, i))
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
}

// TestManualNamesEveryFunction looks for every function and aggregate in docs/sql.md.
func TestManualNamesEveryFunction(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(text), -1) {
		for _, word := range regexp.MustCompile(`[a-z_][a-z0-9_]*`).FindAllString(code, -1) {
			named[word] = true
		}
	}
	plain := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, name := range append(expr.Names(), expr.AggregateNames()...) {
		switch name {
		case "and", "or", "like", "ilike", "negate": // operators
			continue
		}
		if plain.MatchString(name) && !named[name] {
			t.Errorf("%s does not name the function %s", manual, name)
		}
	}
}
