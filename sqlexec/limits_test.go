package sqlexec

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// commas returns a text for each number, with commas between them.
func commas(n int, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ", ")
}

func TestStatementsAreBoundedBeforeTheWork(t *testing.T) {
	column := func(i int) string { return fmt.Sprintf("c%d", i) }
	for name, c := range map[string]struct{ sql, want string }{
		"length": {"SELECT '" + strings.Repeat("x", parse.MaxStatement) + "'", "at most 1048576 bytes"},
		"expressions": {"SELECT " + strings.TrimSuffix(strings.Repeat("(1+1)+", 6000), "+"),
			"at most 10000 expressions"},
		"operands":    {"SELECT coalesce(" + commas(10_001, column) + ")", "at most 10000 expressions"},
		"items":       {"SELECT " + commas(4097, column), "at most 4096 columns"},
		"order":       {"SELECT 1 ORDER BY " + commas(4097, column), "ORDER BY has at most 4096"},
		"distinct on": {"SELECT DISTINCT ON (" + commas(4097, column) + ") 1", "DISTINCT ON has at most 4096"},
		"groups":      {"SELECT 1 GROUP BY " + commas(4097, column), "GROUP BY has at most 4096"},
		"table": {"CREATE TABLE t (" + commas(4097, func(i int) string { return column(i) + " INT" }) + ")",
			"a table has at most 4096"},
	} {
		if _, err := parse.Parse(c.sql); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	for name, sql := range map[string]string{
		"a long INSERT": "INSERT INTO t VALUES " +
			commas(200_000, func(i int) string { return fmt.Sprintf("(%d, now())", i) }),
		"a long IN":        "SELECT 1 WHERE 1 IN (" + commas(50_000, func(i int) string { return fmt.Sprint(i) }) + ")",
		"many statements":  strings.Repeat("SELECT 1;", 200_000),
		"as many as given": "SELECT " + commas(4096, column),
	} {
		if _, err := parse.Parse(sql); err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

func TestValuesOfInsertTakeMemory(t *testing.T) {
	_, err := parse.ParseWithin("INSERT INTO t VALUES "+commas(100_000, func(int) string { return "(1)" }),
		exec.NewBudget(4<<20))
	if status.Of(err) != status.RuntimeResourcesExhausted {
		t.Error(err)
	}
}

func TestPlansAreBounded(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	run := func(sql string) error {
		o, err := answer(x, s, sql, false)
		if err == nil {
			err = o.err
		}
		return err
	}
	ctes, views := "WITH c0 AS (SELECT 1 AS a)", 0
	for i := 1; i <= 30; i++ {
		ctes += fmt.Sprintf(", c%d AS (SELECT x.a FROM c%d x JOIN c%d y ON x.a = y.a)", i, i-1, i-1)
	}
	if _, err := parse.Parse(ctes + " SELECT count(*) FROM c30"); err != nil {
		t.Fatal(err)
	}
	const want = "more than 1000 times"
	if err := run(ctes + " SELECT count(*) FROM c30"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("30 CTEs: %v", err)
	}
	if err := run("CREATE VIEW v0 AS SELECT 1 AS a"); err != nil {
		t.Fatal(err)
	}
	for ; views < 30; views++ {
		err := run(fmt.Sprintf("CREATE VIEW v%d AS SELECT x.a FROM v%d x JOIN v%d y ON x.a = y.a", views+1, views,
			views))
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("view %d: %v", views+1, err)
			}
			break
		}
	}
	if err := run(
		"CREATE TABLE far (ts TIMESTAMP(9) TIME INDEX, v DOUBLE); INSERT INTO far VALUES ('1700-01-01', 1), ('2250-01-01', 2)"); err != nil {
		t.Fatal(err)
	}
	if err := run("SELECT ts, max(v) RANGE '1s' FILL 0 FROM far ALIGN '1s' BY ()"); err == nil ||
		!strings.Contains(err.Error(), "FILL would make more than") {
		t.Errorf("FILL over centuries: %v", err)
	}
	if n := len(x.Running()); n != 0 {
		t.Errorf("%d queries are on the list for ever", n)
	}
	if views < 5 || views > 10 {
		t.Errorf("%d views may be nested", views)
	}
}
