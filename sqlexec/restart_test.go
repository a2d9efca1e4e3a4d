package sqlexec

import (
	"context"
	"reflect"
	"regexp"
	"testing"

	"varve/engine"
	"varve/engine/vfs"
)

// TestRestart holds that what statements defined is there after the store was opened again: views, and rows in
// the log, in their natural order.
func TestRestart(t *testing.T) {
	fs := vfs.NewMem()
	open := func() *engine.Engine {
		t.Helper()
		e, err := engine.Open(engine.Options{FS: fs, Dir: "data", NoBackground: true, MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	s := &Session{}
	script(t, New(e, Options{Workers: 2}), s, `CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v INT);
		INSERT INTO t VALUES ('b', 2, 20), ('a', 1, 10), ('a', 3, 30);
		CREATE VIEW big (h, n) AS SELECT host, v FROM t WHERE v > 10`)
	if err := e.Close(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	e = open()
	defer func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	}()
	x := New(e, Options{Workers: 2})
	for _, c := range []struct {
		sql  string
		want [][]string
	}{
		// without ORDER BY: by primary key, then time
		{"SELECT host, v FROM t", [][]string{{"a", "10"}, {"a", "30"}, {"b", "20"}}},
		{"SELECT h, n FROM big", [][]string{{"a", "30"}, {"b", "20"}}},
		{"SELECT v FROM t ORDER BY ts DESC LIMIT 2", [][]string{{"30"}, {"20"}}},
		{"SELECT number FROM numbers LIMIT 2 OFFSET 3", [][]string{{"3"}, {"4"}}},
		{"SELECT count(*) FROM (SELECT * FROM t LIMIT 2)", [][]string{{"2"}}},
	} {
		o, err := answer(x, s, c.sql, false)
		if err != nil || o.err != nil {
			t.Errorf("%s: %v %v", c.sql, err, o.err)
			continue
		}
		if !reflect.DeepEqual(o.rows, c.want) {
			t.Errorf("%s: got %v, want %v", c.sql, o.rows, c.want)
		}
	}
}

// TestNewestStopsEarly holds that the latest rows of a table do not need the whole table.
func TestNewestStopsEarly(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	s := &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP TIME INDEX, v BIGINT) WITH ('append_mode'='true')`)
	for _, from := range []string{"0", "100000", "200000", "300000"} {
		script(t, x, s, "INSERT INTO t SELECT value + "+from+
			", value FROM generate_series(0, 99999); ADMIN flush_table('t')")
	}
	o, err := answer(x, s, "EXPLAIN ANALYZE SELECT ts FROM t ORDER BY ts DESC LIMIT 10", false)
	if err != nil || o.err != nil {
		t.Fatal(err, o.err)
	}
	if m := regexp.MustCompile(`blocks=(\d+), pruned=\d+, read=(\d+)`).FindStringSubmatch(o.rows[0][2]); m == nil ||
		len(m[2]) > 1 || len(m[1]) < 2 {
		t.Errorf("the latest rows were read from too many blocks:\n%s", o.rows[0][2])
	}
	o, err = answer(x, s, "SELECT ts FROM t ORDER BY ts DESC LIMIT 2 OFFSET 1", false)
	if err != nil || o.err != nil ||
		!reflect.DeepEqual(o.rows, [][]string{{"1970-01-01T00:06:39.998"}, {"1970-01-01T00:06:39.997"}}) {
		t.Errorf("got %v %v %v", o.rows, err, o.err)
	}
}

// TestAppendModeKeepsWhatIsGone holds that rows replaced or deleted before a table became append-only do not come back.
func TestAppendModeKeepsWhatIsGone(t *testing.T) {
	for _, flush := range []string{"", "; ADMIN flush_table('t')"} {
		x := New(openStore(t), Options{Workers: 1})
		s := &Session{}
		script(t, x, s,
			"CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT); INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)"+flush)
		script(t, x, s, "INSERT INTO t VALUES (1, 11)"+flush)
		script(t, x, s, "DELETE FROM t WHERE ts = 2"+flush)
		script(t, x, s, "ALTER TABLE t SET 'append_mode' = 'true'; INSERT INTO t VALUES (3, 31)"+flush)
		o, err := answer(x, s, "SELECT v FROM t ORDER BY v", false)
		if err != nil || o.err != nil || !reflect.DeepEqual(o.rows, [][]string{{"11"}, {"30"}, {"31"}}) {
			t.Errorf("flush %q: got %v %v %v", flush, o.rows, err, o.err)
		}
	}
}
