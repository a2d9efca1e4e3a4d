package flatten

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyBadLines: what a bad line costs must not grow with the columns of the body. An undone row looks at the
// columns that it may have set only.
func TestManyBadLines(t *testing.T) {
	var wide strings.Builder
	wide.WriteString(`{"a":1`)
	for i := range 4000 {
		fmt.Fprintf(&wide, `,"k%d":1`, i)
	}
	wide.WriteString("}\n")
	for _, line := range []string{`{"a":1,`, `{"a":1,"a":"x"}`, `{"a":"x"}`, `{"new":1,`, `{"a":1,"k1":[1,{]}`} {
		d := NewDecoder()
		var g groups
		if _, err := d.Decode(strings.NewReader(wide.String()+line), NDJSON,
			Options{IgnoreErrors: true, SkipErrors: true}, g.rows); err != nil {
			t.Fatal(err)
		}
		if n := len(d.set); n == 0 || n > 4 {
			t.Errorf("%s: %d columns are looked at", line, n)
		}
		if got := g.builders[0].Rows(); got != 1 {
			t.Errorf("%s: %d rows", line, got)
		}
	}
}
