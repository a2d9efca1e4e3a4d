package sqlexec

import (
	"context"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/vector"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// TestExplainRunsNoSubquery has subqueries that fail or do not end, at all places. EXPLAIN shows their plans.
func TestExplainRunsNoSubquery(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, n BIGINT, w STRING);
		INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b');
		CREATE VIEW many AS SELECT n FROM t WHERE n > (SELECT n FROM t);`)
	const endless = "(SELECT count(*) FROM generate_series(1, 9000000) a(x), generate_series(1, 9000000) b(y))"
	for _, sql := range []string{
		"SELECT n FROM t WHERE n > ALL",
		"SELECT ALL FROM t",
		"SELECT n FROM t WHERE n IN ALL OR n = ANY ALL",
		"SELECT n FROM t WHERE EXISTS ALL",
		"SELECT w, count(*) FROM t GROUP BY w HAVING count(*) > ALL",
		"SELECT a.n FROM t a LEFT JOIN t b ON a.n = b.n AND a.n > ALL",
		"SELECT n FROM t ORDER BY CASE WHEN false THEN ALL ELSE n END",
		"SELECT max(n + ALL) FROM t",
		"SELECT n FROM t LIMIT ALL",
		"VALUES (ALL, 1)",
		"SELECT n FROM t WHERE ts BETWEEN ALL AND ALL",
		"SELECT n FROM t WHERE n < (SELECT max(n) FROM t WHERE n < (SELECT n + ALL FROM t LIMIT 1))",
		"WITH c AS (SELECT n FROM t WHERE n < ALL) SELECT * FROM c, c d",
		"SELECT n FROM many WHERE n < ALL",
	} {
		for _, sub := range []string{endless, "(SELECT n FROM t)"} {
			sql := "EXPLAIN " + strings.ReplaceAll(sql, "ALL", sub)
			o, err := answer(x, s, sql, false)
			if err != nil || o.err != nil || !strings.Contains(o.rows[1][1], "Subquery 1: ") {
				t.Errorf("%s: %v %v %v", sql, err, o.err, o.rows)
			}
		}
	}
}

// TestExplainRunsNothing: EXPLAIN does not run what depends on rows of the query around it, nor recursive queries; it
// shows their plans, and so does EXPLAIN of a query with both kinds of subqueries.
func TestExplainRunsNothing(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, n BIGINT, w STRING);
		INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')`)
	const endless = "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n FROM c) "
	for _, c := range []struct{ sql, want string }{
		{"SELECT n FROM t a WHERE (SELECT count(*) FROM t b WHERE b.n > a.n) > 3", "for each different row"},
		{"SELECT (SELECT count(*) FROM t b WHERE b.n > a.n) FROM t a", "Values: what the subquery gives"},
		{"SELECT n FROM t a WHERE n > (SELECT n FROM t) AND (SELECT count(*) FROM t b WHERE b.n > a.n) > 3",
			"Subquery 2: "},
		{"SELECT a.n, l.n FROM t a, LATERAL (SELECT n FROM t b WHERE b.n > a.n ORDER BY w LIMIT 2) l",
			"SELECT n FROM t AS b"},
		{"SELECT n FROM t a WHERE n = 1 OR EXISTS (SELECT 1 FROM t b WHERE b.n > a.n)", "for each different row"},
		{"SELECT w, count(*) FROM t a GROUP BY w HAVING (SELECT count(*) FROM t b WHERE b.w > a.w) > 1", "b.w > a.w"},
		{endless + "SELECT * FROM c", "Subquery 2: each further step of c"},
		{endless + "SELECT * FROM c, c d WHERE c.n > (SELECT max(n) FROM c)", "all rows of c"},
		{"SELECT n FROM t WHERE n IN (" + endless + "SELECT n FROM c)", "the first rows of c"},
		{"WITH RECURSIVE c AS (SELECT 1 AS n UNION SELECT n + (SELECT max(n) FROM t) FROM c) SELECT * FROM c",
			"the newest rows of c"},
		{"SELECT n, (WITH RECURSIVE c AS (SELECT a.n AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT max(n) FROM c)" +
			" FROM t a", "for each different row"},
	} {
		list, err := x.Parse(c.sql)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		stmt := x.statement(s, x.context(s))
		stmt.Run = func(_ context.Context, n plan.Node, _ int) (*vector.Batch, error) {
			t.Errorf("%s runs\n%s", c.sql, plan.Print(n))
			return vector.NewBatch(), context.Canceled
		}
		n, err := stmt.Sketch(context.Background(), list[0].(*parse.SelectStmt).Query)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		for _, text := range []string{plan.Print(stmt.Shown(n, false)),
			plan.PrintGraph(stmt.Shown(plan.Optimize(stmt.Context, n, 0), true))} {
			if !strings.Contains(text, c.want) {
				t.Errorf("%s\n%s\nwants %s", c.sql, text, c.want)
			}
		}
	}
}

// TestSubqueriesRunOnce counts the runs of subqueries. Equal ones are one, wherever they stand.
func TestSubqueriesRunOnce(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, n BIGINT); INSERT INTO t VALUES (1, 1), (2, 2);
		CREATE VIEW v AS SELECT n FROM t WHERE n <= (SELECT max(n) FROM t);`)
	for sql, want := range map[string]int{
		"SELECT n FROM t": 0,
		"SELECT (SELECT max(n) FROM t), n FROM t WHERE n = (SELECT max(n) FROM t)":                                  1,
		"SELECT n FROM v WHERE n IN (SELECT n FROM v)":                                                              2,
		"WITH c AS (SELECT n FROM t WHERE n <= (SELECT max(n) FROM t)) SELECT a.n FROM c a, c b":                    1,
		"SELECT n FROM t WHERE n <= (SELECT max(n) FROM t WHERE n <= (SELECT max(n) FROM t))":                       2,
		"WITH t AS (SELECT (SELECT max(n) FROM t) AS n) SELECT (SELECT max(n) FROM t) FROM t":                       2,
		"SELECT n FROM t WHERE random() >= 0 OR (SELECT random()) < (SELECT random())":                              2,
		"SELECT (SELECT max(v) FROM unnest([random()]) AS u (v)), (SELECT max(v) FROM unnest([random()]) AS u (v))": 2,
		"SELECT a.n FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.n = a.n AND b.n < (SELECT 9 FROM t))":          1,
		"SELECT n FROM t WHERE n IN (SELECT n FROM t) AND n = ANY (SELECT n FROM t) AND n < (SELECT 3)":             2,
		"SELECT CASE WHEN false THEN (SELECT count(*) FROM t) ELSE 1 END FROM t HAVING count(*) > (SELECT 1)":       2,
	} {
		if got := len(runsOf(t, x, s, sql, nil)); got != want {
			t.Errorf("%s runs %d subqueries, want %d", sql, got, want)
		}
	}
}

// runsOf completes a query and returns the plans of the subqueries that ran; ran is called after each.
func runsOf(t *testing.T, x *Executor, s *Session, sql string, ran func()) (plans []string) {
	t.Helper()
	st, err := parse.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	stmt := x.statement(s, x.context(s))
	run := stmt.Run
	stmt.Run = func(ctx context.Context, n plan.Node, most int) (*vector.Batch, error) {
		plans = append(plans, plan.Print(n))
		rows, err := run(ctx, n, most)
		if ran != nil {
			ran()
		}
		return rows, err
	}
	if _, err := stmt.Complete(context.Background(), st[0].(*parse.SelectStmt).Query); err != nil &&
		!strings.Contains(err.Error(), "more than one row") {
		t.Fatalf("%s: %v", sql, err)
	}
	return plans
}

// TestSubqueriesSeeOneMoment writes and flushes tables, and drops one, after the first subquery of a statement ran: the
// others and the query itself do not see it.
func TestSubqueriesSeeOneMoment(t *testing.T) {
	const sql = "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u), (SELECT sum(n) FROM t), count(*) FROM u"
	for _, before := range []string{"", "ADMIN flush_table('t'); ADMIN flush_table('u');"} {
		for _, meanwhile := range []string{
			"INSERT INTO t VALUES (3, 3); INSERT INTO u VALUES (4, 4);",
			"INSERT INTO u VALUES (4, 4); ADMIN flush_table('u'); ADMIN flush_table('t'); INSERT INTO u VALUES (5, 5);",
			"DELETE FROM u; ADMIN flush_table('u'); ADMIN compact_table('u');",
			"DROP TABLE u; CREATE TABLE u (ts TIMESTAMP(3) TIME INDEX, n BIGINT);",
		} {
			x, s := New(openStore(t), Options{Workers: 2}), &Session{moment: new(engine.Moment)}
			script(t, x, &Session{}, `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, n BIGINT);
				CREATE TABLE u (ts TIMESTAMP(3) TIME INDEX, n BIGINT);
				INSERT INTO t VALUES (1, 1), (2, 2); INSERT INTO u VALUES (1, 1), (2, 2), (3, 3);`+before)
			st, err := parse.Parse(sql)
			if err != nil {
				t.Fatal(err)
			}
			stmt := x.statement(s, x.context(s))
			run, first := stmt.Run, true
			stmt.Run = func(ctx context.Context, n plan.Node, most int) (*vector.Batch, error) {
				rows, err := run(ctx, n, most)
				if first {
					first = false
					script(t, x, &Session{}, meanwhile)
				}
				return rows, err
			}
			n, err := stmt.Complete(context.Background(), st[0].(*parse.SelectStmt).Query)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := run(context.Background(), plan.Optimize(stmt.Context, n, 0), 2)
			if err != nil || rows.N != 1 {
				t.Fatalf("%s: %v", meanwhile, err)
			}
			for k, want := range []int64{2, 3, 3, 3} {
				if got := rows.Cols[k].Int(0); got != want {
					t.Errorf("before %q, meanwhile %q: column %d is %d, want %d", before, meanwhile, k, got, want)
				}
			}
			s.moment.Close()
		}
	}
}

// TestManyValuesOfIn compares IN of many values with the joins that mean the same.
func TestManyValuesOfIn(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	outcomeOf(t, x, `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, b BIGINT, i INT, k SMALLINT, u BIGINT UNSIGNED, w STRING,
			f DOUBLE);
		INSERT INTO t SELECT value, value - 500, value, value - 500, value, value::STRING, value / 2 FROM
			generate_series(0, 999);
		INSERT INTO t (ts) VALUES (1000);
		CREATE TABLE v (ts TIMESTAMP(3) TIME INDEX, b BIGINT, i INT, u BIGINT UNSIGNED, w STRING, f DOUBLE);
		INSERT INTO v SELECT value, 3 * value - 600, 2 * value, 7 * value, (3 * value)::STRING, value FROM
			generate_series(0, 399);
		INSERT INTO v (ts, b) VALUES (400, 70000), (401, -70000), (402, 9000000000);`)
	for _, state := range []string{"in memory", "flushed"} {
		for _, arg := range []string{"b", "i", "k", "u", "w", "f", "ts", "b + 1"} {
			for _, of := range []string{"b", "i", "u", "w", "f", "ts"} {
				if (arg == "w") != (of == "w") || (arg == "ts") != (of == "ts") {
					continue
				}
				where := " WHERE " + of + " IS NOT NULL"
				in := outcomeOf(t, x, "SELECT count(*), min(ts) AS m FROM t WHERE "+arg+" IN (SELECT "+of+" FROM v);")
				want := outcomeOf(t, x, "SELECT count(*), min(ts) AS m FROM (SELECT ts, "+arg+" AS a FROM t) x JOIN "+
					"(SELECT DISTINCT "+of+" AS o FROM v) y ON x.a = y.o;")
				if in != want {
					t.Errorf("%s: %s IN %s gives %s, want %s", state, arg, of, in, want)
				}
				in = outcomeOf(t, x, "SELECT count(*), min(ts) AS m FROM t WHERE "+arg+" NOT IN (SELECT "+of+
					" FROM v"+where+");")
				want = outcomeOf(t, x, "SELECT count(*), min(ts) AS m FROM (SELECT ts, "+arg+" AS a FROM t) x "+
					"LEFT ANTI JOIN (SELECT "+of+" AS o FROM v"+where+") y ON x.a = y.o WHERE a IS NOT NULL;")
				if in != want {
					t.Errorf("%s: %s NOT IN %s gives %s, want %s", state, arg, of, in, want)
				}
				none := outcomeOf(t, x, "SELECT count(*) FROM t WHERE "+arg+" NOT IN (SELECT "+of+
					" FROM v UNION ALL SELECT NULL);")
				if none != outcomeOf(t, x, "SELECT count(*) FROM t WHERE false;") {
					t.Errorf("%s: %s NOT IN %s and NULL gives %s", state, arg, of, none)
				}
			}
		}
		outcomeOf(t, x, "ADMIN flush_table('t'); ADMIN flush_table('v');")
	}
}

// TestAnalyzeSubqueries: EXPLAIN ANALYZE has the figures of subqueries, and conditions with their answers.
func TestAnalyzeSubqueries(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, n BIGINT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)`)
	o, err := answer(x, s, "EXPLAIN ANALYZE SELECT n FROM t WHERE ts >= (SELECT max(ts) FROM t WHERE n < 3)", false)
	if err != nil || o.err != nil {
		t.Fatal(err, o.err)
	}
	text := o.rows[0][2]
	for _, want := range []string{"Subqueries: 1\n", "Subquery 1: SELECT max(ts) FROM t WHERE n < 3\n",
		"time=[1970-01-01T00:00:00.002", "rows scanned="} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "[not run]") {
		t.Errorf("nodes without figures in\n%s", text)
	}
}
