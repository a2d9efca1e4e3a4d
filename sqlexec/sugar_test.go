package sqlexec

import (
	"fmt"
	"testing"
)

// TestSugarIsPlainSQL holds SUMMARIZE, PIVOT, UNPIVOT and functions with lambdas against plain statements of the same
// meaning, over columns of every type, with rows in memory, in a part, in both, and merged.
func TestSugarIsPlainSQL(t *testing.T) {
	pairs := []struct{ name, sugar, plain string }{
		{"summarize", "SELECT min, max, count, null_percentage FROM (SUMMARIZE SELECT c FROM %[1]s)",
			"SELECT min(c)::STRING, max(c)::STRING, count(*), round(100.0 * count_if(c IS NULL) / count(*), 2) FROM %[1]s"},
		{"summarize a query",
			"SELECT column_name, max FROM (SUMMARIZE SELECT ts::BIGINT AS n, c FROM %[1]s WHERE ts::BIGINT %% 2 = 1) ORDER BY 1",
			"SELECT 'c', max(c)::STRING FROM %[1]s WHERE ts::BIGINT %% 2 = 1 UNION ALL SELECT 'n', max(ts::BIGINT)::STRING FROM %[1]s WHERE ts::BIGINT %% 2 = 1 ORDER BY 1"},
		{"pivot",
			"SELECT * FROM (PIVOT (SELECT ts::BIGINT %% 2 AS g, ts::BIGINT %% 3 AS h, c FROM %[1]s) ON h IN (0, 1, 2) USING max(c) GROUP BY g) ORDER BY g",
			"SELECT ts::BIGINT %% 2 AS g, max(c) FILTER (WHERE ts::BIGINT %% 3 = 0), max(c) FILTER (WHERE ts::BIGINT %% 3 = 1), max(c) FILTER (WHERE ts::BIGINT %% 3 = 2) FROM %[1]s GROUP BY g ORDER BY g"},
		{"pivot on it", "SELECT * FROM (PIVOT (SELECT c IS NULL AS c FROM %[1]s) ON c IN (true, false) USING count(*))",
			"SELECT count_if(c IS NULL), count_if(c IS NOT NULL) FROM %[1]s"},
		{"unpivot",
			"SELECT n, name, value FROM (UNPIVOT (SELECT ts::BIGINT AS n, c, c AS d FROM %[1]s) ON c, d) ORDER BY n, name",
			"SELECT ts::BIGINT AS n, 'c' AS name, c FROM %[1]s WHERE c IS NOT NULL UNION ALL SELECT ts::BIGINT, 'd', c FROM %[1]s WHERE c IS NOT NULL ORDER BY n, name"},
		{"unpivot with NULL",
			"SELECT n, name, value FROM (UNPIVOT INCLUDE NULLS (SELECT ts::BIGINT AS n, c FROM %[1]s) ON c) ORDER BY n",
			"SELECT ts::BIGINT AS n, 'c', c FROM %[1]s ORDER BY n"},
		{"list_transform", "SELECT list_transform(array_agg(c ORDER BY ts), x -> x IS NULL) FROM %[1]s",
			"SELECT array_agg(e IS NULL) FROM (SELECT unnest(array_agg(c ORDER BY ts)) AS e FROM %[1]s)"},
		{"the same elements", "SELECT list_transform(array_agg(c ORDER BY ts), x -> x) FROM %[1]s",
			"SELECT array_agg(c ORDER BY ts) FROM %[1]s"},
		{"list_filter", "SELECT list_filter(array_agg(c ORDER BY ts), (x, i) -> x IS NOT NULL AND i > 1) FROM %[1]s",
			"SELECT array_agg(e) FILTER (WHERE e IS NOT NULL) FROM (SELECT unnest(array_agg(c ORDER BY ts)) AS e FROM %[1]s)"},
		{"any_match", "SELECT any_match(array_agg(c), x -> x IS NULL) FROM %[1]s",
			"SELECT count_if(c IS NULL) > 0 FROM %[1]s"},
		{"list_reduce", "SELECT list_reduce(array_agg(ts::BIGINT), (s, x) -> s + x) FROM %[1]s",
			"SELECT sum(ts::BIGINT) FROM %[1]s"},
	}
	for _, typ := range typesOfColumns {
		t.Run(typ.name, func(t *testing.T) {
			x, s := New(openStore(t), Options{Workers: 2}), &Session{}
			for _, state := range []string{"memory", "flushed", "both", "merged"} {
				fillColumn(t, x, state, typ.name, typ.values, state)
				for _, p := range pairs {
					want, _ := answer(x, s, fmt.Sprintf(p.plain, state)+";", false)
					got, _ := answer(x, s, fmt.Sprintf(p.sugar, state)+";", false)
					if got.err != nil || want.err != nil {
						t.Errorf("%s, %s: %v; in plain SQL: %v", state, p.name, got.err, want.err)
						continue
					}
					if a, b := fmt.Sprintf("%q", got.rows), fmt.Sprintf("%q", want.rows); a != b {
						t.Errorf("%s, %s: %s\n got %s\nwant %s", state, p.name, fmt.Sprintf(p.sugar, state), a, b)
					}
				}
			}
		})
	}
}
