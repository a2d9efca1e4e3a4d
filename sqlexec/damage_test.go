package sqlexec

import (
	"context"
	"reflect"
	"testing"

	"varve/engine"
	"varve/engine/vfs"
)

// TestDamageTable: information_schema.damage names what is set aside, with table, rows and times.
func TestDamageTable(t *testing.T) {
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
	script(t, New(e, Options{Workers: 2}), s, `CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT);
		INSERT INTO t VALUES (2, 20), (1, 10), (3, 30); ADMIN flush_table('t'); INSERT INTO t VALUES (9, 90)`)
	if err := e.Close(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	if err := fs.Damage("data/parts/00000001.part", 10); err != nil { // a page of block 0
		t.Fatal(err)
	}
	e = open()
	defer func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	}()
	x := New(e, Options{Workers: 2})
	if o, err := answer(x, s, "SELECT ts, v FROM t", false); err != nil || o.err == nil {
		t.Fatalf("the query that meets the damage: %v %v", o.rows, err)
	}
	for _, c := range []struct {
		sql  string
		want [][]string
	}{
		{"SELECT v FROM t", [][]string{{"90"}}},
		{"SELECT count(*), min(ts) FROM t", [][]string{{"1", "1970-01-01T00:00:00.009"}}},
		{"SELECT table_schema, table_name, file_path, block, row_count, min_ts, max_ts FROM information_schema.damage",
			[][]string{{"public", "t", "00000001.part", "0", "3", "1970-01-01T00:00:00.001",
				"1970-01-01T00:00:00.003"}}},
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
