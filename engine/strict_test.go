package engine

import (
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
)

// TestStrict: a strict hint refuses a field that is a tag of the table, as it may be since the writer looked; a hint
// that found its tags while rows were read makes a table with them.
func TestStrict(t *testing.T) {
	e, err := Open(Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context(), false)
	write := func(strict bool, tags ...string) error {
		var s WriteSet
		b, h := s.Table(schema.Name{DB: "public", Table: "t"}, Hint{AutoCreate: true, Strict: strict, TimeIndex: "ts"})
		h.Tags = append(h.Tags, tags...)
		host, err := b.Column("host", vector.StringType)
		if err != nil {
			t.Fatal(err)
		}
		ts, err := b.Column("ts", vector.Timestamp(9))
		if err != nil {
			t.Fatal(err)
		}
		host.SetString("a")
		ts.SetInt(5)
		b.EndRow()
		_, err = e.Write(t.Context(), &s)
		return err
	}
	if err := write(true, "host"); err != nil {
		t.Fatal(err)
	}
	if err := write(true); err == nil ||
		!strings.Contains(err.Error(), "column host expect semantic type TAG, given: FIELD") {
		t.Errorf("a field for a tag: %v", err)
	}
	if err := write(false); err != nil {
		t.Errorf("a hint that is not strict: %v", err)
	}
}
