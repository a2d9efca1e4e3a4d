package sqlexec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/sqlexec/plan"
)

// nearest writes a subquery over t2 that picks the row with the nearest time for a row x of t1: items are its columns.
// Times have equal values, NULLs among them; the last key of ORDER BY decides.
func (g *generator) nearest(items string) string {
	time := g.pick("y.ts", "y.a", "y.c", "y.id", "y.a")
	around, tie := "x.ts", ""
	if time != "y.ts" {
		around = g.pick("x.a", "x.c", "x.id", "x.a + 3", "x.c - x.id % 5")
		tie = g.pick(", y.ts", ", y.ts DESC", ", y.s NULLS FIRST, y.ts", ", y.b DESC NULLS LAST, y.ts DESC")
	}
	down := g.IntN(2) == 0
	op, other, order := g.pick(" <= ", " < "), g.pick(" >= ", " > "), " DESC"
	if !down {
		op, other, order = other, op, g.pick("", " ASC")
	}
	conds := []string{time + op + around}
	for range g.IntN(3) {
		conds = append(conds, g.pick("y.k = x.k", "x.s = y.s", "y.c % 3 = x.c % 3", "y.a = x.a", "x.id % 4 = y.id"))
	}
	if g.IntN(3) == 0 {
		conds = append(conds, g.cond(base("y"), 1))
	}
	if g.IntN(3) == 0 && time != "y.ts" {
		conds = append(conds, time+other+around+g.pick(" - 4", " + 2", " - x.id % 7"))
	}
	if g.IntN(4) == 0 {
		conds = append(conds, g.cond(base("x"), 0))
	}
	g.Shuffle(len(conds), func(i, j int) { conds[i], conds[j] = conds[j], conds[i] })
	return "SELECT " + items + " FROM t2 y WHERE " + strings.Join(conds, " AND ") + " ORDER BY " + time + order + tie +
		" LIMIT 1"
}

// TestNearestRows answers random subqueries that pick one row each, as ASOF joins and run for each row, in memory,
// flushed, half and half and compacted, and compares the answers with those of the sqlite3 command where there is one.
func TestNearestRows(t *testing.T) {
	for seed := uint64(1); seed <= 2; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 27))}
		rows := map[string][][]string{"t1": g.rows(50), "t2": g.rows(60)}
		list := make([]string, 40)
		for i := range list {
			item := g.pick("y.a", "y.id", "y.c", "y.s", "y.b", "y.a + 1", "coalesce(y.a, 7)", "y.id + x.id")
			sub := "(" + g.nearest(item) + ")"
			list[i] = "SELECT x.id, x.k, " + sub + " AS v FROM t1 x"
			if g.IntN(3) == 0 {
				list[i] = "SELECT x.id, x.k FROM t1 x WHERE " + g.pick("x.s", "x.k") + " IS NOT NULL AND x.id > (" +
					g.nearest("y.id") + ")"
			}
		}
		want := rewrittenBySqlite(t, rows, list)
		for k, x := range rewriteStores(t, rows) {
			for i, sql := range list {
				asof := physicalPlan(t, x, &Session{}, sql)
				if !strings.Contains(asof, "Asof") {
					t.Errorf("%s: no ASOF join in\n%s", sql, asof)
				}
				allWays(t, x, rewriteStates[k], sql, plan.NearestRows)
				o, err := answer(x, &Session{}, sql, false)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil || o.err != nil {
					continue
				}
				if err := sameAnswer(o, slices.Clone(want[i]), false); err != nil {
					t.Errorf("seed %d, %s: %s;\n%v", seed, rewriteStates[k], sql, err)
				}
			}
			for range 25 { // several columns of one row, rows without one, and conditions over them
				join := g.pick(", LATERAL (%s) z", " CROSS JOIN LATERAL (%s) z", " LEFT JOIN LATERAL (%s) z ON true",
					" JOIN LATERAL (%s) z ON z.s <> 'a'")
				sub := g.nearest("y.id AS i, y.s, " +
					g.pick("y.b", "coalesce(y.c, 1) AS c", "x.a + y.a AS c", "1 AS c"))
				sql := "SELECT x.id, x.s, z.* FROM t1 x" + fmt.Sprintf(join, sub) +
					g.pick("", " WHERE x.k = 'a'", " WHERE z.i IS NULL", " WHERE z.i > 5 AND x.id < 40")
				allWays(t, x, rewriteStates[k], sql, plan.NearestRows)
				if !strings.Contains(physicalPlan(t, x, &Session{}, sql), "Asof") {
					t.Errorf("%s: no ASOF join", sql)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// TestNearestRowsWiden compares times of different types, at their bounds: only those whose order a cast keeps are
// joined, and the others give the same answer.
func TestNearestRowsWiden(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, strings.Join([]string{
		"CREATE TABLE l (i INT, b BIGINT, u BIGINT UNSIGNED, f DOUBLE, n TIMESTAMP(9), d DATE, " +
			"ts TIMESTAMP(0) TIME INDEX) WITH (append_mode = 'true')",
		"CREATE TABLE r (i INT, b BIGINT, u BIGINT UNSIGNED, f DOUBLE, n TIMESTAMP(9), d DATE, " +
			"ts TIMESTAMP(3) TIME INDEX) WITH (append_mode = 'true')",
		"INSERT INTO l VALUES (1, 5, 7, 'NaN', '2024-01-01', '2024-01-02', 1), " +
			"(-2147483648, -9223372036854775807, 0, '-0.0', NULL, NULL, 2), " +
			"(2147483647, 9223372036854775807, 18446744073709551615, 0.0, '2200-01-01', '2024-01-01', 9000000000), " +
			"(NULL, NULL, NULL, NULL, '1970-01-01 00:00:00.000000001', '1969-12-31', 3), " +
			"(0, 0, 0, 0, '2024-01-01 00:00:00.5', '9999-12-31', 10000000000), (0, 1, 2, 3, '1677-09-22', NULL, " +
			"-10000000000)",
		"INSERT INTO r SELECT i, b, u, f, n, d, ts FROM l",
		"INSERT INTO r VALUES (0, 0, 1, 'inf', '1970-01-01', '2024-01-01', 1500), " +
			"(5, 4, 5, 1.5, '2024-01-01 00:00:00.5', '2024-01-02', -5), " +
			"(5, 4, 5, 1.5, '2024-01-01 00:00:00.500000001', '2024-01-02', 1704067200500), " +
			"(6, 4, 5, 1.5, '2024-01-01 00:00:00.499999999', '2024-01-02', 1704067200000), " +
			"(7, 4, 5, 1.5, to_timestamp_nanos(9223372036854775807), NULL, 1999), " +
			"(8, 4, 5, 1.5, to_timestamp_nanos(-9223372036854775807), NULL, 2001)",
	}, ";\n"))
	keys := []string{"", " AND r.f = l.f", " AND r.d = l.d AND l.u = r.u", " AND r.n = l.ts"}
	joined, searched := 0, 0
	for i, l := range []string{"i", "b", "u", "f", "n", "d", "ts", "i + 1", "ts + INTERVAL '1 second'"} {
		for j, r := range []string{"i", "b", "u", "f", "n", "d", "ts"} {
			for k, order := range []string{"<= DESC", "< DESC", ">= ASC", "> ASC", "<= ASC", "> DESC"} {
				op, dir, _ := strings.Cut(order, " ")
				sql := fmt.Sprintf("SELECT l.ts, (SELECT r.ts FROM r WHERE r.%s %s l.%s%s ORDER BY r.%s %s, r.ts LIMIT 1) "+
					"AS v FROM l", r, op, l, keys[(i+j+k)%len(keys)], r, dir)
				if o := allWays(t, x, "in memory", sql, plan.NearestRows); o.err != nil {
					continue
				}
				if strings.Contains(physicalPlan(t, x, s, sql), "Asof") {
					joined++
				} else {
					searched++
				}
			}
		}
	}
	if joined < 30 || searched < 30 {
		t.Errorf("%d queries are joins, %d search: the test wants both", joined, searched)
	}
}

// TestFewNearestRows holds that a few rows search a large table instead of sorting it.
func TestFewNearestRows(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE few (n BIGINT, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true');
CREATE TABLE many (n BIGINT, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true');
INSERT INTO few SELECT i, to_timestamp_millis(i * 100) FROM generate_series(1, 10) AS g(i);
INSERT INTO many SELECT i, to_timestamp_millis(i) FROM generate_series(1, 5000) AS g(i)`)
	const sub = "SELECT m.n FROM many m WHERE m.ts <= f.ts ORDER BY m.ts DESC LIMIT 1"
	for _, c := range []struct {
		sql  string
		asof bool
	}{
		{"SELECT f.n, (" + sub + ") AS m FROM few f", false},
		{"SELECT f.n, x.n AS m FROM few f, LATERAL (" + sub + ") x", false},
		{"SELECT f.n, (" + strings.ReplaceAll(sub, "many", "few") + ") AS m FROM many f", true},
	} {
		if got := physicalPlan(t, x, s, c.sql); strings.Contains(got, "Asof") != c.asof {
			t.Errorf("%s: ASOF should be %v:\n%s", c.sql, c.asof, got)
		}
		allWays(t, x, "in memory", c.sql, plan.NearestRows)
	}
}
