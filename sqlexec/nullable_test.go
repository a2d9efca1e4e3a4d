package sqlexec

import (
	"testing"

	"varve/sqlexec/infoschema"
)

// TestInfoSchemaNullable holds that DESC and information_schema.columns say NO for the columns of information_schema
// that hold no NULL, that they hold none, and that both say the same.
func TestInfoSchemaNullable(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x, allTypes)
	outcomeOf(t, x,
		`CREATE TABLE phy (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '');
		CREATE TABLE m (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');
		INSERT INTO m (ts, v, host) VALUES (1, 1, 'a'); CREATE VIEW w AS SELECT 1 AS n;
		CREATE TABLE plain (ts TIMESTAMP TIME INDEX, v INT); INSERT INTO plain VALUES (1, NULL); ADMIN flush_table('plain')`)
	ask := func(sql string) [][]string {
		t.Helper()
		got, err := answer(x, &Session{}, sql, false)
		if err != nil || got.err != nil {
			t.Fatal(sql, err, got.err)
		}
		return got.rows
	}
	for _, table := range infoschema.Tables() {
		told := map[string]string{}
		for _, r := range ask("SELECT column_name, is_nullable FROM information_schema.columns WHERE table_schema = 'information_schema' AND table_name = '" + table.Name + "'") {
			told[r[0]] = r[1]
		}
		for _, r := range ask("DESC information_schema." + table.Name) {
			name, null := r[0], r[3]
			if null != told[name] {
				t.Errorf("%s.%s: DESC says %s, columns says %s", table.Name, name, null, told[name])
			}
			if n := ask("SELECT count(*) FROM information_schema." + table.Name + " WHERE " + name +
				" IS NULL")[0][0]; null == "NO" && n != "0" {
				t.Errorf("%s.%s: %s NULL in a column that has none", table.Name, name, n)
			}
		}
	}
}
