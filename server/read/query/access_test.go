package query

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"varve/server/web"
	"varve/sqlexec/parse"
)

// TestRights lists every kind of statement with the rights that it needs, in all the forms that read.
func TestRights(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range []struct {
		sql  string
		need rights
	}{
		{"SELECT 1", reads},
		{"SELECT s FROM t", reads},
		{"WITH a AS (SELECT s FROM t) SELECT * FROM a", reads},
		{"VALUES (1)", reads},
		{"SHOW TABLES", reads},
		{"SHOW CREATE TABLE t", reads},
		{"SHOW VARIABLES LIKE 'v%'", reads},
		{"SHOW FULL PROCESSLIST", reads},
		{"SHOW GRANTS", reads},
		{"DESCRIBE t", reads},
		{"DESCRIBE SELECT s FROM t", reads},
		{"TQL EVAL (0, 10, '1s') up", reads},
		{"EXPLAIN SELECT s FROM t", reads},
		{"EXPLAIN INSERT INTO t SELECT * FROM u", reads},
		{"EXPLAIN ANALYZE SELECT s FROM t", reads},
		{"EXPLAIN ANALYZE INSERT INTO t VALUES (1)", reads | writes},
		{"EXPLAIN ANALYZE DELETE FROM t", reads | writes},

		{"INSERT INTO t VALUES (1, now(), -1, '1'::INT, DEFAULT)", writes},
		{"INSERT INTO t VALUES (CASE WHEN 1 IN (1, 2) THEN 1 END)", writes},
		{"REPLACE INTO t VALUES (1)", writes},
		{"INSERT INTO t SELECT s::INT FROM t", reads | writes},
		{"INSERT INTO t WITH a AS (SELECT 1) SELECT * FROM a", reads | writes},
		{"INSERT INTO t VALUES ((SELECT s FROM t LIMIT 1))", reads | writes},
		{"INSERT INTO t VALUES (1), (abs((SELECT s FROM t LIMIT 1)))", reads | writes},
		{"INSERT INTO t VALUES (EXISTS (SELECT 1 FROM t WHERE s = 'x'))", reads | writes},
		{"INSERT INTO t VALUES (1 IN (SELECT v FROM t))", reads | writes},
		{"INSERT INTO t VALUES (1 = ANY (SELECT v FROM t))", reads | writes},
		{"INSERT INTO t VALUES (CASE WHEN true THEN (SELECT 1) END)", reads | writes},
		{"INSERT INTO t VALUES ([(SELECT 1)][1])", reads | writes},
		{"INSERT INTO t VALUES (sum(1) OVER ())", reads | writes},
		{"DELETE FROM t", writes},
		{"DELETE FROM t WHERE s = 'x'", reads | writes},
		{"COPY t FROM 'f.csv'", writes},
		{"COPY t FROM 'f.csv' LIMIT 5", writes},
		{"COPY t FROM 'f.csv' LIMIT (SELECT v FROM t LIMIT 1)", reads | writes},
		{"COPY DATABASE d FROM 'dir/'", writes},
		{"COPY t TO 'f.csv'", reads | writes},
		{"COPY (SELECT s FROM t) TO 'f.csv'", reads | writes},
		{"COPY DATABASE d TO 'dir/'", reads | writes},
		{"CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT DEFAULT 1 + 1)", writes},
		{"CREATE TABLE t LIKE u", writes},
		{"CREATE TABLE t AS SELECT * FROM u", reads | writes},
		{"CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT DEFAULT (SELECT s FROM u LIMIT 1))", reads | writes},
		{"ALTER TABLE t ADD COLUMN v INT DEFAULT 3", writes},
		{"ALTER TABLE t DROP COLUMN v", writes},
		{"ALTER TABLE t MODIFY COLUMN v STRING", writes},
		{"ALTER TABLE t ADD COLUMN v INT DEFAULT (SELECT s FROM u LIMIT 1)", reads | writes},
		{"ALTER TABLE t MODIFY COLUMN v SET DEFAULT (SELECT s FROM u LIMIT 1)", reads | writes},
		{"CREATE DATABASE d", writes},
		{"ALTER DATABASE d SET 'ttl' = '1d'", writes},
		{"DROP DATABASE d", writes},
		{"DROP TABLE t", writes},
		{"DROP VIEW v", writes},
		{"TRUNCATE TABLE t", writes},
		{"COMMENT ON TABLE t IS 'x'", writes},
		{"CREATE VIEW v AS SELECT s FROM t", reads | writes},
		{"SET time_zone = 'UTC'", writes},
		{"SET time_zone = (SELECT s FROM t LIMIT 1)", reads | writes},
		{"USE d", writes},
		{"KILL 7", writes},
		{"ADMIN flush_table('t')", writes},
		{"ADMIN flush_table((SELECT s FROM t LIMIT 1))", reads | writes},
	} {
		statements, err := parse.Parse(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		st := statements[0]
		kinds[kindOf(st)] = true
		if got := needs(st); got != c.need {
			t.Errorf("%s needs %d, want %d", c.sql, got, c.need)
		}
		for m, has := range map[web.Mode]rights{web.ReadWrite: reads | writes, web.ReadOnly: reads,
			web.WriteOnly: writes, web.Mode(99): 0} {
			if got, want := allowed(m, st), has&c.need == c.need; got != want {
				t.Errorf("%s by a user of mode %d: %v, want %v", c.sql, m, got, want)
			}
		}
	}
	fields := statementFields(t)
	for kind := range fields {
		if !kinds[kind] {
			t.Errorf("no statement of kind %s is listed", kind)
		}
	}
}

// TestClausesThatMayRead lists the fields of statements that hold queries or expressions: a new one needs a line here,
// and a look at needs.
func TestClausesThatMayRead(t *testing.T) {
	want := map[string]string{
		"Select": "Query", "CreateTable": "Columns Query", "AlterTable": "Ops", "CreateView": "Query TQL",
		"Insert": "Rows Query", "Delete": "Where",
		"Show": "Where", "Describe": "Query", "Explain": "Of", "Admin": "Call", "Set": "Values",
		"TQL": "Start End Step Lookback", "Copy": "Query Limit",
	}
	for kind, fields := range statementFields(t) {
		if got := strings.Join(fields, " "); got != want[kind] {
			t.Errorf("%s holds queries and expressions in %q, known are %q", kind, got, want[kind])
		}
	}
}

// statementFields are the types of package parse that embed Stmt, with their fields that can hold queries or
// expressions.
func statementFields(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../../../sqlexec/parse/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	holds := regexp.MustCompile(`^(\[\]|\*)*(Query|Expr|TQL|Call|Statement|AlterOp|ColumnDef)$`)
	kinds := map[string][]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok || len(s.Fields.List) == 0 || len(s.Fields.List[0].Names) > 0 {
				return true
			}
			if embedded, ok := s.Fields.List[0].Type.(*ast.Ident); !ok || embedded.Name != "Stmt" {
				return true
			}
			fields := []string{}
			for _, f := range s.Fields.List[1:] {
				for _, n := range f.Names {
					if holds.MatchString(types.ExprString(f.Type)) {
						fields = append(fields, n.Name)
					}
				}
			}
			kinds[strings.TrimSuffix(spec.Name.Name, "Stmt")] = fields
			return true
		})
	}
	if len(kinds) < 20 {
		t.Fatalf("only %d kinds of statement were found", len(kinds))
	}
	return kinds
}

// other is a statement that nobody has thought of.
type other struct{ parse.Statement }

func TestUnknownStatementsNeedAllRights(t *testing.T) {
	for _, m := range []web.Mode{web.ReadOnly, web.WriteOnly} {
		if allowed(m, other{}) {
			t.Errorf("a user of mode %d may run a statement that is not listed", m)
		}
	}
}
