package sqlexec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/plan"
)

// analyzed returns the plan that EXPLAIN ANALYZE shows of a query.
func analyzed(t *testing.T, x *Executor, sql string) string {
	t.Helper()
	o, err := answer(x, &Session{}, "EXPLAIN ANALYZE "+sql, false)
	if err != nil || o.err != nil {
		t.Fatalf("%s: %v %v", sql, err, o.err)
	}
	return o.rows[0][2]
}

// members writes a query with many different values of a type, those of a column of t2 among them, and a value of t1 of
// this type.
func (g *generator) members() (x, query string) {
	known := g.pick("", "", " WHERE y.a IS NOT NULL AND y.s IS NOT NULL AND y.b IS NOT NULL")
	const series = " FROM generate_series(1000, 101000) AS g(i)"
	switch g.IntN(6) {
	case 0:
		return g.pick("x.s", "x.k", "lower(x.s)"),
			"SELECT y.s FROM t2 y" + known + " UNION ALL SELECT 'v' || i" + series
	case 1:
		return "x.ts", "SELECT y.ts FROM t2 y WHERE y.id % 3 = 1 UNION SELECT to_timestamp_millis(i)" + series
	case 2:
		return g.pick("x.b", "x.b * 2"), "SELECT y.b FROM t2 y" + known + " UNION ALL SELECT i / 3.0" + series
	case 3:
		return g.pick("x.c", "x.a"), "SELECT y.c FROM t2 y" + known + " UNION ALL SELECT i::INT" + series
	case 4:
		return "x.id", "SELECT max(i)" + series + " GROUP BY i UNION ALL SELECT y.a FROM t2 y" + known
	}
	return g.pick("x.a", "x.id", "x.a + x.c"), "SELECT y.a FROM t2 y" + known + " UNION ALL SELECT i" + series
}

// TestManyValues answers IN and NOT IN with more values than a list has, as joins and with lists, in memory, flushed,
// half and half and compacted.
func TestManyValues(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(3, 27))}
	rows := map[string][][]string{"t1": g.rows(60), "t2": g.rows(40)}
	list := make([]string, 12)
	for i := range list {
		x, query := g.members()
		conds := []string{x + g.pick("", " NOT") + " IN (" + query + ")"}
		for range g.IntN(3) {
			conds = append(conds, g.cond(base("x"), 1))
		}
		g.Shuffle(len(conds), func(i, j int) { conds[i], conds[j] = conds[j], conds[i] })
		where := " WHERE " + strings.Join(conds, " AND ")
		list[i] = g.pick("SELECT x.id, x.s FROM t1 x"+where,
			"SELECT x.k, count(*), sum(x.a) FROM t1 x"+where+" GROUP BY x.k",
			"SELECT x.id, z.id FROM t1 x LEFT JOIN t2 z ON x.a = z.a"+where,
			"SELECT x.id, x.ts FROM t1 x"+where+" ORDER BY x.ts DESC LIMIT 5",
			"SELECT z.id FROM t2 z WHERE z.a IN (SELECT x.a FROM t1 x"+where+")")
	}
	for k, x := range rewriteStores(t, rows) {
		for _, sql := range list {
			allWays(t, x, rewriteStates[k], sql, plan.ManyValues)
			if k == 0 && !strings.Contains(analyzed(t, x, sql), "Left semi Join") &&
				!strings.Contains(analyzed(t, x, sql), "Left anti Join") && !strings.Contains(sql, "NOT IN") {
				t.Errorf("%s: no join in\n%s", sql, analyzed(t, x, sql))
			}
		}
	}
}

// TestManyValuesWithNulls: NOT IN is never true beside a NULL, nor of a NULL, nor is IN of floats that are equal with
// other bits.
func TestManyValuesWithNulls(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE t (n BIGINT, f DOUBLE, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true');
INSERT INTO t VALUES (1, 'NaN', 1), (NULL, '-0.0', 2), (200000, 0.0, 3), (-5, NULL, 4), (7, '-inf', 5)`)
	const many = "SELECT i FROM generate_series(5, 150000) AS g(i)"
	const floats = "SELECT i * 0.5 FROM generate_series(0, 150000) AS g(i) UNION ALL SELECT CAST('NaN' AS DOUBLE)"
	for _, c := range []struct{ where, want, plan string }{
		{"n IN (" + many + ")", "[[5]]", "Left semi"},
		{"n NOT IN (" + many + ")", "[[1] [3] [4]]", "Left anti"},
		{"n NOT IN (" + many + " UNION ALL SELECT NULL)", "[]", ""},
		{"n IN (" + many + " UNION ALL SELECT NULL)", "[[5]]", "Left semi"},
		{"NOT (n IN (" + many + "))", "[[1] [3] [4]]", ""},
		{"n NOT IN (" + many + ") AND n NOT IN (SELECT i + 200000 - 5 FROM generate_series(5, 150000) AS g(i))", "[[1] [4]]",
			"Left anti"},
		{"n IN (" + many + ") OR f IS NULL", "[[4] [5]]", ""},
		{"f IN (" + floats + ")", "[[1] [2] [3]]", "Left semi"},
		{"f NOT IN (" + floats + ")", "[[5]]", "Left anti"},
		{"n = ANY (" + many + ")", "[[5]]", ""},
		{"n IN (SELECT i * 20000 FROM generate_series(1, 2000000) AS g(i))", "[[3]]", "Left semi"},
		{"n NOT IN (SELECT i FROM generate_series(2, 2000000) AS g(i))", "[[1] [4]]", "Left anti"},
	} {
		sql := "SELECT ts::BIGINT FROM t WHERE " + c.where + " ORDER BY ts"
		o, err := answer(x, s, sql, false)
		if err != nil || o.err != nil || fmt.Sprint(o.rows) != c.want {
			t.Errorf("%s: %v %v %v, want %s", sql, o.rows, err, o.err, c.want)
		}
		if got := analyzed(t, x, sql); !strings.Contains(got, c.plan) ||
			c.plan == "" && (strings.Contains(got, "semi Join") || strings.Contains(got, "anti Join")) {
			t.Errorf("%s: the join is not %q:\n%s", sql, c.plan, got)
		}
	}
	const most = "(SELECT i FROM generate_series(2, 2000000) AS g(i))"
	for _, where := range []string{"n IN " + most + " OR f IS NULL", "n > ALL " + most} {
		o, err := answer(x, s, "SELECT 1 FROM t WHERE "+where, false)
		if err == nil {
			err = o.err
		}
		if status.Of(err) != status.RuntimeResourcesExhausted {
			t.Errorf("%s: %v", where, err)
		}
	}
}
