package parse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"keywords", "select 1 as x", "SELECT 1 AS x;"},
		{"folding", `SELECT HOST, "HoSt" FROM Mixed`, `SELECT host, "HoSt" FROM mixed;`},
		{"precedence", "select 1+2*3, (1+2)*3, 2^2+1, not a = b and c or d",
			"SELECT 1 + 2 * 3, (1 + 2) * 3, 2 ^ 2 + 1, NOT a = b AND c OR d;"},
		{"like is tighter than =", "select a = b like c", "SELECT a = b LIKE c;"},
		{"minus", "select 1 - 2 - 3, 1 - (2 - 3), - -1, -x, -(5)", "SELECT 1 - 2 - 3, 1 - (2 - 3), -(-1), -x, -(5);"},
		{"casts", "select '1'::int, try_cast(x as bigint unsigned), timestamp '2024-01-01'",
			"SELECT CAST('1' AS INT), TRY_CAST(x AS BIGINT UNSIGNED), CAST('2024-01-01' AS TIMESTAMP);"},
		{"intervals", "select interval '1 day', interval '5' minute, interval 1 minute, ts - interval -3 days",
			"SELECT INTERVAL '1 day', INTERVAL '5 minute', INTERVAL '1 minute', ts - INTERVAL '-3 days';"},
		{"aggregates",
			"select count(*) filter (where a > 1), count(distinct b), string_agg(k, ',' order by ts desc) from t",
			"SELECT count(*) FILTER (WHERE a > 1), count(DISTINCT b), string_agg(k, ',' ORDER BY ts DESC) FROM t;"},
		{"windows", "select sum(v) over (partition by h order by ts rows 1 preceding) from t",
			"SELECT sum(v) OVER (PARTITION BY h ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t;"},
		{"special calls",
			"select extract(hour from ts), position('a' in b), substring(s from 2 for 3), trim(both 'x' from s), trim(s)", "SELECT date_part('hour', ts), strpos(b, 'a'), substring(s, 2, 3), btrim(s, 'x'), btrim(s);"},
		{"range", "select ts, max(v) range '5s' fill prev m from r align '5s' to now by (host) fill 0 order by ts",
			"SELECT ts, max(v) RANGE '5s' FILL PREV AS m FROM r ALIGN '5s' TO now BY (host) FILL 0 ORDER BY ts;"},
		{"set operations", "select 1 union select 2 intersect select 3 order by 1 limit 2 offset 1",
			"SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 ORDER BY 1 LIMIT 2 OFFSET 1;"},
		{"parenthesised set operations", "(select 1 union select 2) intersect (select 3)",
			"(SELECT 1 UNION SELECT 2) INTERSECT (SELECT 3);"},
		{"joins", "select * from a left outer join b on a.x=b.x, c natural join d cross join (select 1) as e",
			"SELECT * FROM a LEFT JOIN b ON a.x = b.x, c NATURAL JOIN d CROSS JOIN (SELECT 1) AS e;"},
		{"CTE", "with a (x) as (select 1), b as (tql eval (0, 10, '5s') sum(m{a=\"b;)\"}) as v) select * from a, b",
			"WITH a (x) AS (SELECT 1), b AS (TQL EVAL (0, 10, '5s') sum(m{a=\"b;)\"}) AS v) SELECT * FROM a, b;"},
		{"bare words as columns",
			"select timestamp, value, id, name, url, desc, text, date, time, index, interval from t",
			"SELECT timestamp, value, id, name, url, desc, text, date, time, index, interval FROM t;"},
		{"star modifiers", "select t.* exclude (a), * except (b) replace (x+1 as x) from t",
			"SELECT t.* EXCLUDE (a), * EXCLUDE (b) REPLACE (x + 1 AS x) FROM t;"},
		{"create table",
			"create table if not exists t (a string null default 'x' comment 'c' fulltext index with (analyzer='English'), ts timestamp(9) not null time index, primary key (a),) engine=mito with (ttl='7d', 'append_mode'='true')",
			"CREATE TABLE IF NOT EXISTS t (a STRING NULL DEFAULT 'x' COMMENT 'c' FULLTEXT INDEX WITH ('analyzer' = 'English'), ts TIMESTAMP(9) NOT NULL TIME INDEX, PRIMARY KEY (a)) ENGINE=mito WITH ('ttl' = '7d', 'append_mode' = 'true');"},
		{"create table as",
			"create table if not exists t (time index (ts), primary key (a)) with (ttl='7d') as (select a, ts from u) limit 3", "CREATE TABLE IF NOT EXISTS t (TIME INDEX (ts), PRIMARY KEY (a)) WITH ('ttl' = '7d') AS (SELECT a, ts FROM u) LIMIT 3;"},
		{"create table as select", "create table t as with x as (select 1) select * from x",
			"CREATE TABLE t AS WITH x AS (SELECT 1) SELECT * FROM x;"},
		{"insert", `insert into t (a, b) values (1, "x"), (default, null,)`,
			`INSERT INTO t (a, b) VALUES (1, "x"), (DEFAULT, NULL);`},
		{"admin", "admin FLUSH_TABLE('t')", "ADMIN flush_table('t');"},
		{"several", "use x; -- comment\n/* more */ set time_zone = '+08:00';", "USE x;\nSET time_zone = '+08:00';"},
		{"show", `show full tables from d like "x%"`, "SHOW FULL TABLES FROM d LIKE 'x%';"},
		{"alter", "alter table t add column c int first, drop column d, modify column e set default -1, rename to f",
			"ALTER TABLE t ADD COLUMN c INT FIRST, DROP COLUMN d, MODIFY COLUMN e SET DEFAULT -1, RENAME f;"},
		{"grouping sets", "select a from t group by grouping sets ((a, b), (a), ()), rollup (c, d)",
			"SELECT a FROM t GROUP BY GROUPING SETS ((a, b), a, ()), ROLLUP (c, d);"},
		{"nested parentheses", "select ((((1)))), ((select 1) union (select 2)), (((select 3)) + 1)",
			"SELECT 1, ((SELECT 1) UNION (SELECT 2)), (SELECT 3) + 1;"},
		{"trailing commas",
			"with a as (select 1,), select x, y, from f(1, 2,), t where x in (1, 2,) group by x, y, order by x, limit 3",
			"WITH a AS (SELECT 1) SELECT x, y FROM f(1, 2), t WHERE x IN (1, 2) GROUP BY x, y ORDER BY x LIMIT 3;"},
		{"columns named as clauses", "select a, limit, offset from t order by a, window",
			"SELECT a, limit, offset FROM t ORDER BY a, window;"},
		{"lists end", "select [1, 2,], (a, b,), array[1,], {k: 1,} from t using_",
			"SELECT [1, 2], (a, b), [1], {'k': 1} FROM t AS using_;"},
		{"frames",
			"select sum(v) over (order by v range 3 preceding), sum(v) over (order by v range interval '1 hour' preceding exclude ties) from t",
			"SELECT sum(v) OVER (ORDER BY v RANGE BETWEEN 3 PRECEDING AND CURRENT ROW), sum(v) OVER (ORDER BY v RANGE BETWEEN INTERVAL '1 hour' PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t;"},
		{"exclude",
			"select sum(v) over (rows between 1 preceding and 1 following exclude no others), sum(v) over (rows current row exclude current row) from t",
			"SELECT sum(v) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), sum(v) OVER (ROWS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE CURRENT ROW) FROM t;"},
		{"materialized", "with a as materialized (select 1), b as not materialized (select 2) select * from a, b",
			"WITH a AS MATERIALIZED (SELECT 1), b AS NOT MATERIALIZED (SELECT 2) SELECT * FROM a, b;"},
		{"quantified lists",
			"select a = any(l), b not like all ('x%', 'y%'), c ilike any (array['z']), a <> some (select 1) and d > all (1, 2)",
			"SELECT a = ANY (l), b NOT LIKE ALL ('x%', 'y%'), c ILIKE ANY (['z']), a <> ANY (SELECT 1) AND d > ALL (1, 2);"},
		{"all", "select a, count(*) from t group by all order by all desc nulls last",
			"SELECT a, count(*) FROM t GROUP BY ALL ORDER BY ALL DESC NULLS LAST;"},
		{"by name", "select 1 a union all by name select 2 b union by name select 3 c",
			"SELECT 1 AS a UNION ALL BY NAME SELECT 2 AS b UNION BY NAME SELECT 3 AS c;"},
		{"asof", "select * from a asof join b on a.t >= b.t asof left outer join c using (k, t)",
			"SELECT * FROM a ASOF JOIN b ON a.t >= b.t ASOF LEFT JOIN c USING (k, t);"},
		{"ordinality", "select * from t, unnest(t.l) with ordinality as x (e, n)",
			"SELECT * FROM t, unnest(t.l) WITH ORDINALITY AS x (e, n);"},
		{"from first", "from t where a > 1; from t select a, where b; table t; select * from (from t select a)",
			"SELECT * FROM t WHERE a > 1;\nSELECT a FROM t WHERE b;\nSELECT * FROM t;\nSELECT * FROM (SELECT a FROM t);"},
		{"lambdas",
			"select list_filter(list_transform(l, x -> x + 1), (x, i) -> x > i), list_reduce(l, lambda a, b: a * b, 1), j -> 'a' from t",
			"SELECT list_filter(list_transform(l, lambda x: x + 1), lambda x, i: x > i), list_reduce(l, lambda a, b: a * b, 1), j -> 'a' FROM t;"},
		{"columns",
			"select columns(*), t.columns('a.*') + 1 as b, max(columns(* exclude (c))), columns(['a', 'b']), columns(c -> c like 'x%'), * like 'y%' from t where columns('z') > 1",
			"SELECT COLUMNS(*), t.COLUMNS('a.*') + 1 AS b, max(COLUMNS(* EXCLUDE (c))), COLUMNS(['a', 'b']), COLUMNS(lambda c: c LIKE 'x%'), COLUMNS(lambda c: c LIKE 'y%') FROM t WHERE COLUMNS('z') > 1;"},
		{"pivot",
			"pivot t on a in (1, 2 as two), b using sum(v) as s, count(*) group by k order by k; select * from t pivot (max(v) for a in ('x') b) as p (q)",
			"SELECT * FROM t PIVOT (sum(v) AS s, count(*) FOR a IN (1, 2 AS two), b GROUP BY k) ORDER BY k;\nSELECT * FROM t PIVOT (max(v) FOR a IN ('x'), b) AS p (q);"},
		{"pivot of a query", "select * from (pivot (select 1 as a) on a) as p, (unpivot u join w on true on x) q",
			"SELECT * FROM (SELECT 1 AS a) PIVOT (count(*) FOR a) AS p, (u JOIN w ON TRUE) UNPIVOT (value FOR name IN (x)) AS q;"},
		{"unpivot",
			"unpivot include nulls t on a, columns('b') into name n value v; from t unpivot ((v, w) for n in ((a, b) as x, (c, d)))",
			"SELECT * FROM t UNPIVOT INCLUDE NULLS (v FOR n IN (a, COLUMNS('b')));\nSELECT * FROM t UNPIVOT ((v, w) FOR n IN ((a, b) AS x, (c, d)));"},
		{"summarize", "summarize t; summarize select 1; select * from (summarize t) as s",
			"SELECT * FROM (SUMMARIZE SELECT * FROM t);\nSELECT * FROM (SUMMARIZE SELECT 1);\nSELECT * FROM (SUMMARIZE SELECT * FROM t) AS s;"},
		{"rename columns",
			"alter table t rename a to b, rename column c to d, rename e; alter table t rename column to f",
			"ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN c TO d, RENAME e;\nALTER TABLE t RENAME COLUMN column TO f;"},
		{"insert by", "insert into t by position select 1; insert into t by name from u",
			"INSERT INTO t SELECT 1;\nINSERT INTO t BY NAME SELECT * FROM u;"},
		{"rename", "select * exclude (a) rename (b as c, d as e) from t",
			"SELECT * EXCLUDE (a) RENAME (b AS c, d AS e) FROM t;"},
		{"with rollup", "select a from t group by a, b with rollup", "SELECT a FROM t GROUP BY ROLLUP (a, b);"},
		{"semi join", "select * from a semi join b on a.x = b.x anti join c using (x)",
			"SELECT * FROM a LEFT SEMI JOIN b ON a.x = b.x LEFT ANTI JOIN c USING (x);"},
		{"other spellings", "select a isnull, b notnull, a ~~ 'x', a !~~* any ('y'), $$it's$$, row(1, 2) = (1, 2)",
			"SELECT a IS NULL, b IS NOT NULL, a LIKE 'x', a NOT ILIKE ANY ('y'), 'it''s', (1, 2) = (1, 2);"},
		{"minus of queries", "select 1 minus select 2", "SELECT 1 EXCEPT SELECT 2;"},
		{"term operator", "select msg@@'a b' from t where msg @@ 'x' and a not between 1 and 2",
			"SELECT msg @@ 'a b' FROM t WHERE msg @@ 'x' AND a NOT BETWEEN 1 AND 2;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Format(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("Format(%s)\n got %s\nwant %s", c.in, got, c.want)
			}
			again, err := Format(got)
			if err != nil || again != got {
				t.Errorf("formatting again\n got %s %v\nwant %s", again, err, got)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		in   string
		code status.Code
		want string
	}{
		{"", 1004, "Invalid SQL, error: empty statements"},
		{" ; ;", 1004, "Invalid SQL, error: empty statements"},
		{"SELEC 42", 1001, "SQL statement is not supported, keyword: SELEC"},
		{"SELECT 42 WHERE 1=1 WHERE 1=0", 1001, "keyword: WHERE"},
		{"SELECT", 2000, "expected an expression, found the end of the text at line 1, column 7"},
		{"SELECT 'abc", 2000, "unterminated string literal at line 1, column 8"},
		{"SELECT 1 +\n  , 2", 2000, "expected an expression, found ',' at line 2, column 3"},
		{"SELECT 1 FROM", 2000, "expected a table, found the end"},
		{"SHOW INDEX", 2000, "expected FROM"},
		{"CREATE TABLE t", 2000, "expected '('"},
		{"SELECT a b c FROM t", 1001, "expected end of statement"},
		{"BEGIN", 1001, "keyword: BEGIN"},
		{"SELECT 1 /* open", 2000, "comment without its end"},
		{"SELECT \xff", 2000, "not valid UTF-8"},
		{"SELECT " + strings.Repeat("(", 1000) + "1", 2000, "nesting deeper"},
		{"TQL EVAL (0, 10) reqs", 2000, "TQL needs"},
	} {
		_, err := Parse(c.in)
		if err == nil || status.Of(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%.40q): %v (%d), want %d with %q", c.in, err, status.Of(err), c.code, c.want)
		}
	}
}

// TestNoBlowUp holds inputs that cost exponential time in parsers that read a part twice.
func TestNoBlowUp(t *testing.T) {
	for _, unit := range []string{"substring(", "trim(", "position(", "(", "((select ", "case when ", "not ", "- ",
		"extract(", "[", "{'a': ", "cast(", "a in (", "exists (select ", "f("} {
		start := time.Now()
		for _, n := range []int{50, 190, 5000} {
			_, _ = Parse("SELECT " + strings.Repeat(unit, n) + "1")
			_, _ = Parse("SELECT * FROM " + strings.Repeat("(", n) + strings.Repeat(unit, n))
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q repeated took %v", unit, d)
		}
	}
}

func TestLongChains(t *testing.T) {
	text := "SELECT 1" + strings.Repeat(" OR a = 1", 4000)
	got, err := Format(text)
	if err != nil || got != text+";" {
		t.Errorf("long chain: %v", err)
	}
}

// FuzzParse holds the parser to: no panic, no hang, and what it prints reads back as the same print.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../testdata/cases/*.sql")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, st := range strings.Split(string(text), ";\n") {
			f.Add(st)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for _, st := range list {
			once := Print(st)
			again, err := Parse(once)
			if err != nil {
				t.Fatalf("%q prints as %q: %v", text, once, err)
			}
			if len(again) != 1 || Print(again[0]) != once {
				t.Fatalf("%q prints as %q, then as %q", text, once, Print(again[0]))
			}
		}
	})
}
