package sqlexec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
)

// TestCopiesAreBounded holds that what a short text makes many copies of is counted before they are made.
func TestCopiesAreBounded(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	s := &Session{}
	var columns []string
	for i := range 1000 {
		columns = append(columns, fmt.Sprintf("c%d BIGINT", i))
	}
	script(t, x, s, "CREATE TABLE wide ("+strings.Join(columns, ", ")+", ts TIMESTAMP TIME INDEX)")
	long := strings.Repeat(" + 1", 2000)
	for _, c := range []struct{ name, sql, want string }{
		{"items", "SELECT COLUMNS(*)" + long + " FROM wide", "more than 100000 expressions"},
		{"many items", "SELECT " + strings.Repeat("COLUMNS('c1.*') + COLUMNS('c1.*'), ", 900) + "1 FROM wide",
			"at most 4096 columns"},
		{"WHERE", "SELECT 1 FROM wide WHERE COLUMNS(*)" + long + " > 1", "more than 100000 expressions"},
		{"aggregates of PIVOT", "SELECT * FROM wide PIVOT (sum(c1" + long + ") FOR c2 IN (" +
			strings.Repeat("1, ", 999) + "2))", "more than 100000 expressions"},
		{"combinations of PIVOT", "SELECT * FROM wide PIVOT (sum(c1) FOR c2 IN (" + strings.Repeat("1, ", 99) +
			"2) c3 IN (" + strings.Repeat("1, ", 99) + "2))", "more than 4096 columns"},
		{"values of PIVOT", "SELECT * FROM generate_series(1, 5000) AS g PIVOT (count(*) FOR value)",
			"more than 4096 values"},
		{"SUMMARIZE", "SUMMARIZE SELECT *, c1 AS a, c2 AS b, COLUMNS(*) FROM wide", "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := x.Parse(c.sql)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = x.Execute(context.Background(), s, list[0]); status.Of(err) != status.PlanQuery ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ..%s..", err, c.want)
			}
		})
	}
}
