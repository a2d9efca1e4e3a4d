package pgwire_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPGAdminStatements: what pgAdmin sends, from its first screen to its query tool, as testdata/pgadmin/record.py
// noted it, has answers with the columns that pgAdmin takes: their names, and the numbers of their types, by which it
// knows numbers of things.
func TestPGAdminStatements(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "pgadmin", "statements.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := clientServer(t)
	c := s.connect("ann")
	asked := 0
	for line := range strings.Lines(string(text)) {
		var one struct {
			SQL     string   `json:"sql"`
			Rows    int      `json:"rows"`
			Columns [][2]any `json:"columns"`
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		asked++
		answers := c.PgConn().Exec(t.Context(), one.SQL)
		var got [][2]any // of the last statement with columns
		rows := 0
		for answers.NextResult() {
			r := answers.ResultReader()
			if fields := r.FieldDescriptions(); len(fields) > 0 {
				got, rows = nil, 0
				for _, f := range fields {
					got = append(got, [2]any{f.Name, float64(f.DataTypeOID)})
				}
			}
			for r.NextRow() {
				rows++
			}
		}
		if err := answers.Close(); err != nil {
			t.Errorf("%s\n%v", one.SQL, err)
			continue
		}
		if !slices.Equal(got, one.Columns) {
			t.Errorf("%s\n got columns %v\nwant %v", one.SQL, got, one.Columns)
		}
		if some := rows > 0; some != (one.Rows > 0) {
			t.Errorf("%s\n got %d rows, want %d", one.SQL, rows, one.Rows)
		}
	}
	if asked < 50 {
		t.Errorf("%d statements were asked", asked)
	}
}
