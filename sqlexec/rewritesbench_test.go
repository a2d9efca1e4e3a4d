package sqlexec

import (
	"fmt"
	"strings"
	"testing"

	"varve/sqlexec/plan"
)

// BenchmarkRewrites answers statements over a million rows with rewrites and without.
func BenchmarkRewrites(b *testing.B) {
	x, s := New(openStore(b), Options{Workers: 2}), &Session{}
	run := func(sql string) {
		o, err := answer(x, s, sql, false)
		if err == nil {
			err = o.err
		}
		if err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
	run("CREATE TABLE n (g BIGINT, w INT, s STRING, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true')")
	run("CREATE TABLE m (g BIGINT, v BIGINT, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true')")
	run("INSERT INTO n SELECT value * 7919 % 200000, value % 3000, 'path' || (value % 5000), value " +
		"FROM generate_series(1, 1000000)")
	run("INSERT INTO m SELECT value, value % 100, value FROM generate_series(1, 1000000)")
	run("ADMIN flush_table('n')")
	run("ADMIN flush_table('m')")
	var sums []string
	for i := range 90 {
		sums = append(sums, fmt.Sprintf("sum(w + %d)", i))
	}
	for _, c := range []struct{ name, sql string }{
		{"sums", "SELECT " + strings.Join(sums, ", ") + " FROM n"},
		{"dependent", "SELECT g, g - 1, g - 2, g - 3, count(*) AS c FROM n GROUP BY g, g - 1, g - 2, g - 3 " +
			"ORDER BY c DESC LIMIT 10"},
		{"constant", "SELECT 1, s, count(*) AS c FROM n GROUP BY 1, s ORDER BY c DESC LIMIT 10"},
		{"outer", "SELECT count(m.v) FROM n LEFT JOIN m ON n.g = m.g AND m.v = 7"},
	} {
		for _, without := range []plan.Rewrites{0, plan.AllRewrites} {
			name := c.name + "/with"
			if without != 0 {
				name = c.name + "/without"
			}
			b.Run(name, func(b *testing.B) {
				x.without = without
				for b.Loop() {
					run(c.sql)
				}
			})
		}
	}
}
