package sqlexec

import (
	"context"
	"reflect"
	"testing"
)

// TestPhysicalIndexes: column_indexes and table_indexes say what lies in the files, whoever asked for it, and what it
// has cost; SHOW INDEX says what DDL asked for, before and after a flush.
func TestPhysicalIndexes(t *testing.T) {
	e := openStore(t)
	defer func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	}()
	x, s := New(e, Options{Workers: 2}), &Session{}
	script(t, x, s,
		`CREATE TABLE t (host STRING, level STRING INVERTED INDEX, trace STRING, n BIGINT SKIPPING INDEX, f DOUBLE,
			ts TIMESTAMP TIME INDEX, PRIMARY KEY (host));
		INSERT INTO t SELECT 'a', CASE WHEN number % 2 = 0 THEN 'info' ELSE 'warn' END, md5(CAST(number AS STRING)), number, number * 0.5, number
			FROM (SELECT number FROM generate_series(0, 9999) AS n(number))`)
	check := func(sql string, want [][]string) {
		t.Helper()
		o, err := answer(x, s, sql, false)
		if err != nil || o.err != nil {
			t.Fatalf("%s: %v %v", sql, err, o.err)
		}
		if !reflect.DeepEqual(o.rows, want) {
			t.Errorf("%s:\n got %v\nwant %v", sql, o.rows, want)
		}
	}
	const show = "SELECT index_name, column_name, index_type FROM information_schema.statistics WHERE table_name = 't' ORDER BY index_name"
	asked := [][]string{{"INVERTED_INDEX_level", "level", "INVERTED"}, {"PRIMARY", "host", "PRIMARY"},
		{"SKIPPING_INDEX_n", "n", "SKIPPING"}, {"TIME INDEX", "ts", "TIME"}}
	check(show, asked)
	check(
		"SELECT count(*) FROM information_schema.column_indexes WHERE table_name = 't' AND index_kind <> 'SERIES KEYS'",
		[][]string{{"0"}})
	script(t, x, s, "ADMIN flush_table('t')")
	check(show, asked)
	check(
		`SELECT column_name, index_kind, parts, bytes > 0, asked_by FROM information_schema.column_indexes WHERE table_schema = 'public' AND table_name = 't'
		ORDER BY column_name, index_kind`, [][]string{
			{"f", "ZONE MAP", "1", "true", ""},
			{"host", "SERIES KEYS", "1", "", "PRIMARY"},
			{"level", "POSTINGS", "1", "true", "INVERTED"},
			{"level", "ZONE MAP", "1", "true", ""},
			{"n", "TOKEN FILTER", "1", "true", "SKIPPING"},
			{"n", "ZONE MAP", "1", "true", ""},
			{"trace", "TOKEN FILTER", "1", "true", ""},
			{"trace", "ZONE MAP", "1", "true", ""},
			{"ts", "ZONE MAP", "1", "true", "TIME"},
		})
	const sums = `SELECT i.parts, i.index_bytes = t.index_length, i.index_bytes = zone_bytes + posting_bytes + filter_bytes + series_bytes,
		i.index_bytes + i.data_bytes = t.data_length, build_seconds > 0
		FROM information_schema.table_indexes i JOIN information_schema.tables t ON i.table_schema = t.table_schema AND i.table_name = t.table_name WHERE i.table_name = 't'`
	check(sums, [][]string{{"1", "true", "true", "true", "true"}})
	script(t, x, s, "ALTER TABLE t MODIFY COLUMN n UNSET SKIPPING INDEX; ADMIN build_index('t')")
	check(sums, [][]string{{"1", "true", "true", "true", "true"}})
	check(
		"SELECT count(*) FROM information_schema.column_indexes WHERE table_name = 't' AND column_name = 'n' AND index_kind = 'TOKEN FILTER'", [][]string{{"0"}})
}
