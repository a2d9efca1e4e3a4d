package sqlexec

import (
	"fmt"
	"testing"
)

// TestWindowSections computes windows over more rows than a section has, with partitions of one row, of some, of more
// than a section and of all: every function sees whole partitions, and rows come in the window's order.
func TestWindowSections(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	const rows = 200_000
	for _, size := range []int{1, 3, 1000, 70_001, 150_000, rows} {
		sql := fmt.Sprintf(
			`SELECT count(*), count(*) FILTER (WHERE r <> number %% %[1]d + 1), count(*) FILTER (WHERE c <> least(%[1]d, %[2]d - number / %[1]d * %[1]d)),
			count(*) FILTER (WHERE l IS DISTINCT FROM CASE WHEN number %% %[1]d > 0 THEN CAST(number AS BIGINT) - 1 END), count(*) FILTER (WHERE f <> number / %[1]d * %[1]d),
			count(*) FILTER (WHERE n <> number)
			FROM (SELECT *, row_number() OVER () - 1 AS n FROM (SELECT number, row_number() OVER w AS r, count(*) OVER (PARTITION BY number / %[1]d) AS c, lag(CAST(number AS BIGINT)) OVER w AS l, first_value(number) OVER w AS f
				FROM (SELECT value AS number FROM generate_series(0, %[2]d - 1)) WINDOW w AS (PARTITION BY number / %[1]d ORDER BY number)))`, size, rows)
		got := rowsOf(t, x, s, sql)
		if want := fmt.Sprint(rows, " | 0 | 0 | 0 | 0 | 0"); len(got) != 1 || got[0] != want {
			t.Errorf("partitions of %d rows: %s, want %s", size, got, want)
		}
	}
}
