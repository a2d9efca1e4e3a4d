package sqlexec

import (
	"strings"
	"testing"

	"varve/engine/status"
)

// TestTTLOfTableAndDatabase holds that a table's own time to live goes before its database's, that NULL is one too, and
// that SHOW CREATE TABLE prints the one that acts.
func TestTTLOfTableAndDatabase(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	show := func(want string) {
		t.Helper()
		got, err := answer(x, &Session{}, "SHOW CREATE TABLE t", false)
		if err != nil || got.err != nil {
			t.Fatal(err, got.err)
		}
		if _, with, _ := strings.Cut(got.rows[0][1], "ENGINE=mito\n"); with != want {
			t.Errorf("got %q, want %q", with, want)
		}
	}
	rows := func(want string) {
		t.Helper()
		got, err := answer(x, &Session{}, "SELECT count(*) FROM t", false)
		if err != nil || got.err != nil || got.rows[0][0] != want {
			t.Errorf("%v rows, want %s: %v %v", got.rows, want, err, got.err)
		}
	}
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX); INSERT INTO t VALUES ('2001-01-01')")
	show("")
	outcomeOf(t, x, "ALTER DATABASE public SET 'ttl' = '7d'")
	rows("0")
	show("WITH(\n  ttl = '7days'\n)")
	outcomeOf(t, x, "ALTER TABLE t SET 'ttl' = NULL")
	rows("1")
	show("WITH(\n  ttl = 'forever'\n)")
	outcomeOf(t, x, "ALTER TABLE t SET 'ttl' = '1d'")
	rows("0")
	show("WITH(\n  ttl = '1day'\n)")
	outcomeOf(t, x, "ALTER TABLE t UNSET 'ttl'; ALTER DATABASE public SET 'ttl' = NULL")
	rows("1")
	show("")
}

// TestAppendModeClearsMergeMode switches append_mode on for a table that folds rows: what was folded stays so, and from
// then on every row is there.
func TestAppendModeClearsMergeMode(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x,
		"CREATE TABLE t (ts TIMESTAMP TIME INDEX, a INT, b INT) WITH ('merge_mode' = 'last_non_null'); INSERT INTO t VALUES (1, 1, NULL); INSERT INTO t VALUES (1, NULL, 2)")
	refused(t, x, "ALTER TABLE t SET 'append_mode' = 'true', 'merge_mode' = 'last_non_null'", "merge_mode",
		status.InvalidArguments)
	outcomeOf(t, x, "ALTER TABLE t SET 'append_mode' = 'false'")
	outcomeOf(t, x, "ALTER TABLE t SET 'append_mode' = 'true'; INSERT INTO t VALUES (1, 3, NULL)")
	if got, want := outcomeOf(t, x, "SELECT a, b FROM t ORDER BY a"),
		outcomeOf(t, x, "SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, NULL ORDER BY a"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := outcomeOf(t, x, "SHOW CREATE TABLE t"); strings.Contains(got, "merge_mode") ||
		!strings.Contains(got, "append_mode = 'true'") {
		t.Error(got)
	}
}

// TestOptionsWithoutMeaning holds that options are refused that promise what there is not.
func TestOptionsWithoutMeaning(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	for _, option := range []string{"'storage' = 'S3'", "'auto_flush_interval' = '0s'"} {
		refused(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX) WITH ("+option+")", "Invalid value of table option",
			status.InvalidArguments)
	}
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX) WITH ('storage' = 'File', 'auto_flush_interval' = '5m')")
}

// TestPhysicalTable holds what sql.md says of tables of metrics: the ttl of the physical table is that of all in it,
// and nothing else of it changes; a float field may have a default.
func TestPhysicalTable(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x,
		`CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '');
		CREATE TABLE m (ts TIMESTAMP TIME INDEX, val DOUBLE DEFAULT 2.5, host STRING PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');
		INSERT INTO m (ts, host) VALUES (1, 'a')`)
	if got, want := outcomeOf(t, x, "SELECT host, val FROM m"),
		outcomeOf(t, x, "SELECT 'a' AS host, 2.5 AS val"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	count := func(want string) {
		t.Helper()
		if got, err := answer(x, &Session{}, "SELECT count(*) FROM m", false); err != nil || got.err != nil ||
			got.rows[0][0] != want {
			t.Errorf("%v rows, want %s: %v %v", got.rows, want, err, got.err)
		}
	}
	outcomeOf(t, x, "ALTER TABLE phy SET 'ttl' = '1d'")
	count("0")
	outcomeOf(t, x, "ALTER TABLE phy UNSET 'ttl'")
	count("1")
	for _, change := range []string{"ADD COLUMN x STRING PRIMARY KEY", "SET 'append_mode' = 'true'", "RENAME p",
		"SET 'ttl' = '1d', 'sst_format' = 'flat'"} {
		refused(t, x, "ALTER TABLE phy "+change, "", status.Unsupported, status.InvalidArguments)
	}
}

// TestEmptyOptions holds that ALTER takes an option out by an empty text, and that CREATE hides what the database has
// by it.
func TestEmptyOptions(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x, "CREATE DATABASE d WITH ('merge_mode' = 'last_non_null', 'ttl' = '1h')")
	outcomeOf(t, x,
		`CREATE TABLE d.own (ts TIMESTAMP TIME INDEX, v INT, w INT) WITH ('append_mode' = 'true', 'merge_mode' = '', 'ttl' = '');
		CREATE TABLE d.folded (ts TIMESTAMP TIME INDEX, v INT) WITH ('merge_mode' = '', 'compaction.twcs.trigger_file_num' = '')`)
	options := func(statement, want string) {
		t.Helper()
		got, err := answer(x, &Session{}, statement, false)
		if err != nil || got.err != nil {
			t.Fatal(err, got.err)
		}
		if _, with, _ := strings.Cut(got.rows[0][1], "WITH("); with != want {
			t.Errorf("%s: got %q, want %q", statement, with, want)
		}
	}
	options("SHOW CREATE TABLE d.own", "\n  append_mode = 'true',\n  merge_mode = '',\n  ttl = 'forever'\n)")
	options("SHOW CREATE TABLE d.folded",
		"\n  'compaction.twcs.trigger_file_num' = '',\n  merge_mode = '',\n  ttl = '1h'\n)")
	outcomeOf(t, x,
		`ALTER TABLE d.folded SET 'compaction.twcs.trigger_file_num' = '3', 'ttl' = '1d'; ALTER TABLE d.folded SET 'merge_mode' = ''`)
	options("SHOW CREATE TABLE d.folded", "\n  'compaction.twcs.trigger_file_num' = '3',\n  ttl = '1day'\n)")
	outcomeOf(t, x, `ALTER TABLE d.folded SET 'compaction.twcs.trigger_file_num' = ''`)
	options("SHOW CREATE TABLE d.folded", "\n  ttl = '1day'\n)")

	outcomeOf(t, x,
		"ALTER DATABASE d SET 'sst_format' = 'flat', 'compaction.twcs.time_window' = '1000000y'; ALTER DATABASE d SET 'ttl' = ''")
	options("SHOW CREATE DATABASE d",
		"\n  'compaction.twcs.time_window' = '1000000y',\n  merge_mode = 'last_non_null',\n  sst_format = 'flat'\n)")
	outcomeOf(t, x, "CREATE TABLE d.later (ts TIMESTAMP TIME INDEX)")
	options("SHOW CREATE TABLE d.later", "\n  merge_mode = 'last_non_null',\n  sst_format = 'flat'\n)")
	outcomeOf(t, x, "ALTER DATABASE d UNSET 'sst_format'")
	refused(t, x, "ALTER DATABASE d SET 'sst_format' = 'round'", "sst_format", status.InvalidArguments)
	refused(t, x, "ALTER DATABASE d SET 'append_mode' = 'true'",
		"ALTER DATABASE takes ttl, cold_after, open_format, max_size, sst_format and compaction.*", status.InvalidArguments)
}
