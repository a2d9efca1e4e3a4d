package sqlexec

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
)

// typesOfColumns are all types that a column may have, each with values that are hard to convert.
var typesOfColumns = []struct {
	name   string
	values []string
}{
	{"BOOLEAN", []string{"true", "false"}},
	{"TINYINT", []string{"-128", "0", "1", "127"}},
	{"SMALLINT", []string{"-32768", "0", "300"}},
	{"INT", []string{"-2147483648", "0", "1", "70000"}},
	{"BIGINT", []string{"-9223372036854775808", "9223372036854775807", "0", "1", "-1", "1700000000000"}},
	{"TINYINT UNSIGNED", []string{"0", "1", "255"}},
	{"SMALLINT UNSIGNED", []string{"0", "1", "65535"}},
	{"INT UNSIGNED", []string{"0", "1", "4294967295"}},
	{"BIGINT UNSIGNED", []string{"0", "1", "18446744073709551615"}},
	{"FLOAT", []string{"0.5", "-1.5", "'NaN'", "'-inf'", "3.4028235e38", "0"}},
	{"DOUBLE", []string{"0.5", "-1.5", "2.5", "'NaN'", "'inf'", "1e300", "1e19", "-0.0", "9.223372036854775807e18"}},
	{"DECIMAL(10, 2)", []string{"'1.28'", "'-2.56'", "0", "'99999999.99'"}},
	{"DECIMAL(38, 10)", []string{"'1.28'", "'0.0000000001'", "'9999999999999999999999999999.9999999999'"}},
	{"STRING", []string{"''", "'x'", "'1'", "' 2 '", "'-3.5'", "'yes'", "'TRUE'", "'2024-01-02'",
		"'2024-01-02 03:04:05.678'", "'{\"b\": 1, \"a\": 2}'", "'{\"a\":1} , {}'", "'1e3'", "'NaN'", "'0x10'",
		"'1_000'"}},
	{"BINARY", []string{"x''", "x'00ff'", "'1'", "'{\"a\": 1}'"}},
	{"JSON", []string{"'{\"a\":1}'", "'[1, 2]'", "'12'", "'-1.5'", "'true'", "'null'", "'\"2024-01-02 03:04:05.678\"'",
		"'\"7\"'", "'\"yes\"'"}},
	{"DATE", []string{"'1970-01-01'", "'1900-03-01'", "'9999-12-31'", "'2024-02-29'"}},
	{"TIMESTAMP(0)", []string{"'1969-12-31 23:59:59'", "'2024-01-02 03:04:05'", "'9999-12-31 23:59:59'"}},
	{"TIMESTAMP(3)", []string{"'1969-12-31 23:59:59.999'", "'2024-01-02 03:04:05.678'"}},
	{"TIMESTAMP(6)", []string{"'1969-12-31 23:59:59.999999'", "'2024-01-02 03:04:05.678901'"}},
	{"TIMESTAMP(9)", []string{"'1677-09-22 00:00:00.000000001'", "'2024-01-02 03:04:05.678901234'"}},
}

// TestModifyReadsAsCast changes columns from every type to every other one, with rows in memory, in a part, in both,
// and merged. What CAST converts ALTER accepts, and the column reads what TRY_CAST made of its values, before and after
// the next merge. What CAST refuses ALTER refuses.
func TestModifyReadsAsCast(t *testing.T) {
	for _, from := range typesOfColumns {
		t.Run(from.name, func(t *testing.T) {
			x := New(openStore(t), Options{Workers: 1, Version: "test"})
			for i, to := range typesOfColumns {
				for _, state := range []string{"memory", "flushed", "both", "merged"} {
					table := fmt.Sprintf("t%d_%s", i, state)
					fillColumn(t, x, table, from.name, from.values, state)
					modify(t, x, table, from.name, to.name, state)
				}
			}
		})
	}
}

// fillColumn makes a table whose column c has the values, and NULL.
func fillColumn(t *testing.T, x *Executor, table, typ string, values []string, state string) {
	t.Helper()
	outcomeOf(t, x, fmt.Sprintf("CREATE TABLE %s (c %s, ts TIMESTAMP TIME INDEX);", table, typ))
	for k, v := range append([]string{"NULL"}, values...) {
		outcomeOf(t, x, fmt.Sprintf("INSERT INTO %s VALUES (%s, %d);", table, v, k))
		if state == "flushed" && k == len(values) || state == "both" && k == len(values)/2 ||
			state == "merged" && k%2 == 0 {
			outcomeOf(t, x, fmt.Sprintf("ADMIN flush_table('%s');", table))
		}
	}
	if state == "merged" {
		outcomeOf(t, x, fmt.Sprintf("ADMIN compact_table('%s');", table))
	}
}

func modify(t *testing.T, x *Executor, table, from, to, state string) {
	t.Helper()
	probe, err := answer(x, &Session{},
		fmt.Sprintf("SELECT ts, TRY_CAST(c AS %s) AS c FROM %s ORDER BY ts;", to, table), false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := answer(x, &Session{}, fmt.Sprintf("ALTER TABLE %s MODIFY COLUMN c %s;", table, to), false)
	if err != nil {
		t.Fatal(err)
	}
	if probe.err != nil || got.err != nil {
		if status.Of(probe.err) != status.PlanQuery || status.Of(got.err) != status.InvalidArguments {
			t.Errorf("%s to %s: CAST gives %v, ALTER gives %v", from, to, probe.err, got.err)
		}
		return
	}
	want := draw(probe)
	timed := to == "DATE" || strings.HasPrefix(to, "TIMESTAMP")
	for _, after := range []string{"", "ADMIN flush_table('%s');", "ADMIN compact_table('%s');"} {
		if after != "" {
			outcomeOf(t, x, fmt.Sprintf(after, table))
		}
		if got := outcomeOf(t, x, fmt.Sprintf("SELECT ts, c FROM %s ORDER BY ts;", table)); got != want {
			t.Errorf("%s to %s, %s, %s:\n got %s\nwant %s", from, to, state, after, got, want)
		}
		for k, row := range probe.rows {
			rows := 0
			for j, other := range probe.rows {
				if !probe.nulls[j][1] && other[1] == row[1] {
					rows++
				}
			}
			far := timed && (strings.HasPrefix(row[1], "-") || strings.HasPrefix(row[1], "+")) // no such text is read
			if probe.nulls[k][1] || row[1] == "0.0" || row[1] == "-0.0" || to == "BINARY" || far {
				continue
			}
			sql := fmt.Sprintf("SELECT count(*) FROM %s WHERE c = CAST('%s' AS %s);", table, row[1], to)
			if got := outcomeOf(t, x, sql); !strings.Contains(got, fmt.Sprintf("| %d ", rows)) {
				t.Errorf("%s to %s, %s, %s: %s\n got %s\nwant %d", from, to, state, after, sql, got, rows)
			}
		}
	}
	outcomeOf(t, x, fmt.Sprintf("INSERT INTO %s VALUES (NULL, 100); SELECT min(c), max(c) FROM %s;", table, table))
}

// TestModifyConvertsDefaults: rows from before a column existed and rows written without a value read what CAST makes
// of the default of their time.
func TestModifyConvertsDefaults(t *testing.T) {
	for _, c := range []struct{ from, def, later, to, want string }{
		{"STRING", "'yes'", "'no'", "BOOLEAN", "[[true] [false]]"},
		{"DOUBLE", "2.5", "0", "BOOLEAN", "[[true] [false]]"},
		{"STRING", "'x'", "'0'", "BOOLEAN", "[[NULL] [false]]"},
		{"BIGINT", "7", "8", "STRING", "[[7] [8]]"},
		{"STRING", "'2024-01-02'", "'{}'", "TIMESTAMP(0)", "[[2024-01-02T00:00:00] [NULL]]"},
		{"DECIMAL(5,2)", "1.28", "2.56", "DOUBLE", "[[1.28] [2.56]]"},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			x := New(openStore(t), Options{Workers: 1, Version: "test"})
			outcomeOf(t, x, fmt.Sprintf(
				`CREATE TABLE d (ts TIMESTAMP TIME INDEX); INSERT INTO d VALUES (1); ADMIN flush_table('d');
ALTER TABLE d ADD COLUMN c %s DEFAULT %s; ALTER TABLE d MODIFY COLUMN c SET DEFAULT %s; ALTER TABLE d MODIFY COLUMN c %s; INSERT INTO d (ts) VALUES (2);`,
				c.from, c.def, c.later, c.to))
			got, err := answer(x, &Session{}, "SELECT c FROM d ORDER BY ts;", false)
			if err != nil || got.err != nil {
				t.Fatal(err, got.err)
			}
			for i, row := range got.rows {
				if got.nulls[i][0] {
					row[0] = "NULL"
				}
			}
			if fmt.Sprint(got.rows) != c.want {
				t.Errorf("got %v, want %s", got.rows, c.want)
			}
			shown := outcomeOf(t, x, "SHOW CREATE TABLE d;")
			if def := strings.Contains(shown, " DEFAULT "); def == strings.HasSuffix(c.want, "[NULL]]") {
				t.Errorf("%s", shown)
			}
		})
	}
	x := New(openStore(t), Options{Workers: 1, Version: "test"})
	outcomeOf(t, x, "CREATE TABLE d (ts TIMESTAMP TIME INDEX, c TIMESTAMP DEFAULT now());")
	refused(t, x, "ALTER TABLE d MODIFY COLUMN c STRING;", "default", status.InvalidArguments)
}
