package sqlexec

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// optimized is the plan of a query as it would run.
func optimized(t *testing.T, x *Executor, s *Session, sql string) plan.Node {
	t.Helper()
	list, err := x.Parse(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	stmt := x.statement(s, x.context(s))
	n, err := stmt.Complete(context.Background(), list[0].(*parse.SelectStmt).Query)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return plan.Optimize(stmt.Context, n, 0)
}

// TestGraphs holds what is true of the graph of every plan, over the queries of testdata/plans: what waits for what,
// who reads what, and that it is the same graph each time.
func TestGraphs(t *testing.T) {
	tables, err := os.ReadFile(filepath.Join("testdata", "plans", "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "plans", "*.sql"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files of queries: %v", len(files), err)
	}
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, string(tables))
	queries := 0
	for _, file := range files {
		if filepath.Base(file) == "tables.sql" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for query := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
			queries++
			n := optimized(t, x, s, query[strings.Index("\n"+query, "\nSELECT"):])
			g := plan.Compile(n)
			for _, wrong := range wrongs(g) {
				t.Errorf("%s\n%s\n%s", query, plan.PrintGraph(n), wrong)
			}
			if again := plan.Compile(n); !slices.EqualFunc(g.Pipelines, again.Pipelines, samePipeline) {
				t.Errorf("%s: another graph the second time", query)
			}
		}
	}
	if queries < 60 {
		t.Errorf("%d queries", queries)
	}
}

func samePipeline(a, b plan.Pipeline) bool {
	same := func(a, b plan.Stage) bool {
		return a.Kind == b.Kind && a.For == b.For && slices.Equal(a.Reads, b.Reads) && a.Into == b.Into
	}
	return same(a.Source, b.Source) && slices.EqualFunc(a.Operators, b.Operators, same) && same(a.Sink, b.Sink) &&
		a.Serial == b.Serial && slices.Equal(a.After, b.After) && slices.Equal(a.Unless, b.Unless)
}

// wrongs lists what must not be in a graph.
func wrongs(g *plan.Graph) (list []string) {
	check := func(ok bool, wrong string) {
		if !ok {
			list = append(list, wrong)
		}
	}
	read := make([]int, len(g.Pipelines))
	for i, p := range g.Pipelines {
		last := i == len(g.Pipelines)-1
		check((p.Sink.Kind == plan.Answer) == last, "the answer is not the last pipeline, or not the only one")
		check(slices.IsSorted(p.After) && (len(p.After) == 0 || p.After[len(p.After)-1] < i && p.After[0] >= 0),
			"a pipeline waits for a later one")
		for _, u := range p.Unless {
			check(slices.Contains(p.After, u) && g.Pipelines[u].Sink.Kind == plan.BuildJoin &&
				g.Pipelines[u].Sink.Join.NeedsPartner(), "a pipeline depends on rows of what is no build side")
		}
		for _, s := range append([]plan.Stage{p.Source}, p.Operators...) {
			for _, r := range s.Reads {
				read[r]++
				from := g.Pipelines[r].Sink
				switch s.Kind {
				case plan.ProbeJoin:
					check(from.Kind == plan.BuildJoin && from.Join == s.Join && from.Node == s.Node,
						"a probe without its build side")
				case plan.ReadResult:
					check(from.For == s.For && from.Kind != plan.Feed && from.Kind != plan.BuildJoin,
						"a result of another node")
				default:
					check(from.Kind == plan.Feed && from.Into == i, "rows that are not fed")
				}
				check(from.Kind == plan.Feed || slices.Contains(p.After, r), "what is read is not waited for")
			}
		}
		for _, b := range p.Sink.Bounds {
			check(b.Scan != nil && b.At < len(b.Scan.Cols), "a bound on no column")
		}
	}
	for _, n := range read[:len(read)-1] {
		check(n == 1, "a pipeline is read by none, or by several")
	}
	return list
}

// TestNeedlessPipelines: below a probe that finds no partners nothing runs, neither the scan nor what groups and joins
// there keep, and the answer is right. Where rows without a partner count, all of it runs.
func TestNeedlessPipelines(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE big (ts TIMESTAMP TIME INDEX, k BIGINT, v BIGINT) WITH ('append_mode'='true');
		CREATE TABLE few (ts TIMESTAMP TIME INDEX, k BIGINT) WITH ('append_mode'='true');
		INSERT INTO big SELECT number, number % 100, number FROM generate_series(0, 9999) AS n(number);
		INSERT INTO few VALUES (1, NULL), (2, NULL)`)
	const groups = "(SELECT a.k, count(*) AS n FROM big a JOIN big b ON a.v = b.v GROUP BY a.k)"
	for _, c := range []struct {
		sql    string
		rows   int
		notRun []string
	}{
		{"SELECT g.n FROM " + groups + " g JOIN few f ON g.k = f.k", 0, []string{"Aggregate", "Inner Join: v = v",
			"TableScan: public.big"}},
		{"SELECT g.n FROM " + groups + " g JOIN (SELECT * FROM few WHERE k > 5) f ON g.k = f.k UNION ALL SELECT 1", 1,
			[]string{"Aggregate", "Inner Join: v = v", "TableScan: public.big"}},
		{"SELECT count(*) FROM big b RIGHT JOIN few f ON b.k = f.k", 1, nil},
		{"SELECT k FROM big WHERE k IN (SELECT k FROM few) AND v IN (SELECT max(v) FROM big GROUP BY k)", 0, nil},
		{"SELECT g.n FROM " + groups + " g LEFT JOIN few f ON g.k = f.k", 100, nil},
	} {
		o, err := answer(x, s, "EXPLAIN ANALYZE "+c.sql, false)
		if err != nil || o.err != nil {
			t.Fatalf("%s: %v %v", c.sql, err, o.err)
		}
		text := o.rows[0][2]
		for _, node := range c.notRun {
			re := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(node) + `.*$`)
			lines := re.FindAllString(text, -1)
			ran := func(line string) bool { return !strings.HasSuffix(line, "[not run]") }
			if len(lines) == 0 || slices.ContainsFunc(lines, ran) {
				t.Errorf("%s: %s ran\n%s", c.sql, node, text)
			}
		}
		if c.notRun == nil && c.rows == 100 && strings.Contains(text, "[not run]") {
			t.Errorf("%s: something did not run\n%s", c.sql, text)
		}
		if got := rowsOf(t, x, s, c.sql); len(got) != c.rows {
			t.Errorf("%s: %d rows, want %d", c.sql, len(got), c.rows)
		}
	}
}

// TestFiguresOfStages: a node whose work several stages do has its rows counted once, where they come and where they
// go.
func TestFiguresOfStages(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, `CREATE TABLE big (ts TIMESTAMP TIME INDEX, k BIGINT, v BIGINT) WITH ('append_mode'='true');
		INSERT INTO big SELECT number, number % 100, number FROM generate_series(0, 9999) AS n(number);
		ADMIN flush_table('big')`)
	for _, c := range []struct{ sql, want string }{
		{"SELECT v FROM big ORDER BY v LIMIT 10 OFFSET 20", `Sort: .*\[rows=10, rows_in=(8192|10000), `},
		{"SELECT v FROM big ORDER BY v LIMIT 1 OFFSET 200000", `Sort: .*\[rows=0, rows_in=10000, `},
		{"SELECT k FROM (SELECT k FROM big UNION ALL SELECT v FROM big WHERE v < 5) u WHERE k >= 0",
			`Union: pipelines 1, 2.*\[rows=10005, rows_in=10005, `},
		{"SELECT v FROM big WHERE abs(v) < 5", `TableScan: .*\[rows=5, rows_in=10000, `},
		{"SELECT k, v FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM big) w WHERE n <= 2",
			`(?s)Window: .*\[rows=200, rows_in=200, .*Sort: .*\[rows=200, rows_in=200, `},
		{"SELECT count(*) FROM big",
			`Aggregate: .*statistics first.*\[rows=1, rows_in=0, (?s:.*)TableScan: .*\[not run\]`},
		{"SELECT f.v FROM (SELECT v FROM big WHERE v < 3) f RIGHT JOIN big b ON f.v = b.v",
			`Right Join: .*\[rows=10000, rows_in=10000, rows_kept=3, `},
		{"SELECT a.v FROM big a ASOF JOIN (SELECT * FROM big WHERE v < 500) b ON a.k = b.k AND a.ts >= b.ts",
			`Asof Join: .*\[rows=10000, rows_in=10500, `},
	} {
		o, err := answer(x, s, "EXPLAIN ANALYZE "+c.sql, false)
		if err != nil || o.err != nil {
			t.Fatalf("%s: %v %v", c.sql, err, o.err)
		}
		if !regexp.MustCompile(c.want).MatchString(o.rows[0][2]) {
			t.Errorf("%s\n%s\nwants %s", c.sql, o.rows[0][2], c.want)
		}
	}
}
