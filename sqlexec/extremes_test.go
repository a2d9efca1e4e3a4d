package sqlexec

import (
	"fmt"
	"testing"
)

// TestExtremesOfStatistics compares the least, the greatest and the number of values of a column, which statistics of
// parts tell, with those that a scan finds: every type, values in parts of their own, in any order, and in memory.
func TestExtremesOfStatistics(t *testing.T) {
	for _, c := range typesOfColumns {
		t.Run(c.name, func(t *testing.T) {
			x := New(openStore(t), Options{Workers: 1, Version: "test"})
			for turn := range c.values {
				table := fmt.Sprint("m", turn)
				outcomeOf(t, x, fmt.Sprintf(
					"CREATE TABLE %s (c %s, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true');", table, c.name))
				for k := range c.values {
					v := c.values[(k+turn)%len(c.values)]
					outcomeOf(t, x, fmt.Sprintf("INSERT INTO %s VALUES (%s, %d), (NULL, %d);", table, v, k, k))
					same(t, x, table)
					outcomeOf(t, x, fmt.Sprintf("ADMIN flush_table('%s');", table))
					same(t, x, table)
				}
				outcomeOf(t, x, fmt.Sprintf("ADMIN compact_table('%s');", table))
				same(t, x, table)
			}
		})
	}
}

func same(t *testing.T, x *Executor, table string) {
	t.Helper()
	got := outcomeOf(t, x, fmt.Sprintf("SELECT min(c) AS lo, max(c) AS hi, count(c) AS n FROM %s;", table))
	want := outcomeOf(t, x,
		fmt.Sprintf(
			"SELECT min(v) AS lo, max(v) AS hi, count(v) AS n FROM (SELECT CASE WHEN ts < now() THEN c END AS v FROM %s);", table))
	if got != want {
		t.Errorf("%s: statistics give\n%s\na scan\n%s", table, got, want)
	}
}
