package opentables_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/bucket"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec"
	"varve/sqlexec/expr"
	"varve/sqlexec/opentables"
	"varve/sqlexec/rowfile"
)

// house is a store with an exporter to a directory, and a clock of its own.
type house struct {
	*testing.T
	now atomic.Int64 // seconds since the epoch
	dir string
	e   *engine.Engine
	x   *opentables.Exporter
	sql *sqlexec.Executor
	o   opentables.Options
}

// begin opens a house at noon of the fifth of January 2026.
func begin(t *testing.T, change func(*opentables.Options)) *house {
	t.Helper()
	h := &house{T: t, dir: filepath.Join(t.TempDir(), "open")}
	h.now.Store(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(h.now.Load(), 0) }
	var err error
	h.e, err = engine.Open(engine.Options{FS: vfs.OS(), Dir: filepath.Join(t.TempDir(), "data"), NoBackground: true,
		Now: now, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	})
	place, err := bucket.Open(t.Context(), bucket.Options{URL: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	h.o = opentables.Options{Engine: h.e, Bucket: place, TempDir: filepath.Join(t.TempDir(), "temp"),
		CloseAfter: time.Hour, RewriteEvery: time.Hour, Now: now}
	if change != nil {
		change(&h.o)
	}
	h.again()
	h.sql = sqlexec.New(h.e, sqlexec.Options{Now: now, Export: func(ctx context.Context, n schema.Name) error {
		return h.x.Export(ctx, n)
	}})
	return h
}

// again makes a new exporter, as a new process has it.
func (h *house) again() {
	h.Helper()
	var err error
	if h.x, err = opentables.New(h.o); err != nil {
		h.Fatal(err)
	}
}

// ask runs statements and gives the rows of the last one, a line each.
func (h *house) ask(text string) (lines []string) {
	h.Helper()
	list, err := h.sql.Parse(text)
	if err != nil {
		h.Fatalf("%s: %v", text, err)
	}
	for _, st := range list {
		r, err := h.sql.Execute(h.Context(), &sqlexec.Session{DB: "public"}, st)
		if err != nil {
			h.Fatalf("%s: %v", text, err)
		}
		lines = nil
		for b := (vector.Batch{}); r.Rows != nil; {
			ok, err := r.Rows.Next(&b)
			if err != nil {
				h.Fatalf("%s: %v", text, err)
			}
			if !ok {
				r.Rows.Close()
				break
			}
			lines = append(lines, linesOf(&b)...)
		}
	}
	return lines
}

// linesOf are the rows of a batch as text.
func linesOf(b *vector.Batch) (lines []string) {
	for i := range b.N {
		var line []byte
		for c, v := range b.Cols {
			if c > 0 {
				line = append(line, '|')
			}
			if v.IsNull(i) {
				line = append(line, "NULL"...)
			} else {
				line = expr.AppendText(line, v, i)
			}
		}
		lines = append(lines, string(line))
	}
	return lines
}

// pass runs a pass.
func (h *house) pass() {
	h.Helper()
	if err := h.x.Pass(h.Context()); err != nil {
		h.Fatal(err)
	}
}

// later moves the clock.
func (h *house) later(d time.Duration) { h.now.Add(int64(d / time.Second)) }

// opened is what readers of an open table find.
type opened struct {
	Snapshots []struct {
		Summary map[string]string `json:"summary"`
	} `json:"snapshots"`
	Properties map[string]string `json:"properties"`
	Location   string            `json:"location"`
	Current    int               `json:"current-schema-id"`
	Schemas    []struct {
		ID     int `json:"schema-id"`
		Fields []struct {
			ID   int    `json:"id"`
			Name string `json:"name"`
			Type any    `json:"type"`
		} `json:"fields"`
	} `json:"schemas"`
}

// load is what a catalog gives.
func (h *house) load(table string) (o opened) {
	h.Helper()
	l, ok, err := h.x.Load(h.Context(), schema.Name{DB: "public", Table: table})
	if err != nil || !ok {
		h.Fatalf("load %s: %v %v", table, ok, err)
	}
	text, err := json.Marshal(l.Metadata)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		h.Fatal(err)
	}
	if _, err := os.Stat(strings.TrimPrefix(l.Location, "file://")); err != nil {
		h.Error(err)
	}
	return o
}

// commits are the operation and the window of each snapshot.
func (h *house) commits(table string) (list []string) {
	h.Helper()
	for _, s := range h.load(table).Snapshots {
		list = append(list, s.Summary["operation"]+" "+s.Summary["varve.window"]+" "+s.Summary["varve.window.rows"])
	}
	return list
}

// fields are the columns, with their ids and types.
func (h *house) fields(table string) (list []string) {
	h.Helper()
	o := h.load(table)
	for _, s := range o.Schemas {
		if s.ID == o.Current {
			for _, f := range s.Fields {
				typ, ok := f.Type.(string)
				if !ok {
					typ = "map"
				}
				list = append(list, fmt.Sprintf("%d %s %s", f.ID, f.Name, typ))
			}
		}
	}
	return list
}

// files are those of the current snapshot.
func (h *house) files(table string) (list []string) {
	h.Helper()
	o := h.load(table)
	dir := strings.TrimPrefix(o.Location, "file://")
	text, err := os.ReadFile(filepath.Join(dir, o.Properties["varve.state"]))
	if err != nil {
		h.Fatal(err)
	}
	var s struct {
		Days []struct {
			Files []struct {
				Path string `json:"path"`
			} `json:"files"`
		} `json:"days"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		h.Fatal(err)
	}
	for _, d := range s.Days {
		for _, f := range d.Files {
			list = append(list, filepath.Join(dir, f.Path))
		}
	}
	return list
}

// read reads columns of the files of the current snapshot, sorted.
func (h *house) read(table string, columns ...string) (lines []string) {
	h.Helper()
	for _, name := range h.files(table) {
		f, err := os.Open(name)
		if err != nil {
			h.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			h.Fatal(err)
		}
		r, err := rowfile.NewReader(f, info.Size(), columns, rowfile.ReadOptions{Format: rowfile.Parquet})
		if err != nil {
			h.Fatal(err)
		}
		var rows rowfile.Rows
		for {
			ok, err := r.Next(&rows)
			if err != nil {
				h.Fatal(err)
			}
			if !ok {
				break
			}
			lines = append(lines, linesOf(&vector.Batch{N: rows.N, Cols: rows.Cols})...)
		}
		if err := errors.Join(r.Close(), f.Close()); err != nil {
			h.Fatal(err)
		}
	}
	slices.Sort(lines)
	return lines
}

// same fails where two lists differ.
func (h *house) same(what string, got, want []string) {
	h.Helper()
	if !slices.Equal(got, want) {
		h.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

// agree fails where an open table has other rows than the table.
func (h *house) agree(what string) {
	h.Helper()
	h.same(what, h.read("t", "host", "v"), h.ask("SELECT host, v FROM t ORDER BY concat(host, '|', v)"))
}

const table = `CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v INT) WITH (open_format = 'iceberg');
	INSERT INTO t VALUES ('a', '2026-01-01 10:00:00', 1), ('b', '2026-01-01 11:00:00', 2), ('a', '2026-01-03 23:59:59.999', 3)`

// TestDays: a day is written once it is closed, by one commit; late rows, upserts and deletes write theirs anew.
func TestDays(t *testing.T) {
	h := begin(t, nil)
	h.ask(table + "; INSERT INTO t VALUES ('a', '2026-01-05 01:00:00', 4)")
	h.pass()
	h.same("first", h.commits("t"), []string{"append 2026-01-01 2", "append 2026-01-03 1"})
	h.same("rows", h.read("t", "host", "v"), []string{"a|1", "a|3", "b|2"})
	if got := h.load("t").Properties["varve.complete-until"]; got != "2026-01-05T00:00:00Z" {
		t.Errorf("complete until %s", got)
	}
	h.pass()
	h.ask("ADMIN flush_table('t'); ADMIN compact_table('t')")
	h.later(2 * time.Hour)
	h.pass()
	h.again()
	h.pass()
	h.same("the same rows", h.commits("t"), []string{"append 2026-01-01 2", "append 2026-01-03 1"})

	h.later(2 * time.Hour)
	h.ask("INSERT INTO t VALUES ('c', '2026-01-01 12:00:00', 5), ('b', '2026-01-01 11:00:00', 6); ADMIN flush_table('t')")
	h.pass()
	h.same("a late row", h.commits("t")[2:], []string{"overwrite 2026-01-01 3"})
	h.same("rows", h.read("t", "host", "v"), []string{"a|1", "a|3", "b|6", "c|5"})
	h.ask("DELETE FROM t WHERE v = 3; ADMIN flush_table('t')")
	h.pass()
	h.same("a deleted row", h.commits("t")[3:], []string{"overwrite 2026-01-03 0"})
	h.ask("INSERT INTO t VALUES ('d', '2026-01-01 12:00:00', 7); ADMIN flush_table('t')")
	h.pass()
	h.same("a day that was just written waits", h.commits("t")[4:], nil)
	h.later(30 * time.Hour)
	h.pass()
	h.same("then it is written, and so is the day that has closed", h.commits("t")[4:],
		[]string{"overwrite 2026-01-01 4", "append 2026-01-05 1"})
	h.agree("all")
	h.ask("TRUNCATE TABLE t")
	h.later(2 * time.Hour)
	h.pass()
	h.same("emptied", h.read("t", "host", "v"), nil)
}

// TestExportTable: the statement writes what is there, the day of now included, and nothing twice.
func TestExportTable(t *testing.T) {
	h := begin(t, nil)
	h.ask(table + "; INSERT INTO t VALUES ('a', '2026-01-05 11:59:59', 4); ADMIN export_table('t')")
	h.agree("exported")
	h.ask("ADMIN export_table('t')")
	h.same("once", h.commits("t"), []string{"append 2026-01-01 2", "append 2026-01-03 1", "append 2026-01-05 1"})
	h.ask("INSERT INTO t VALUES ('a', '2026-01-05 12:00:00', 5); ADMIN export_table('t')")
	h.agree("more")
	h.same("its day", h.commits("t")[3:], []string{"overwrite 2026-01-05 2"})
	h.ask("CREATE TABLE other (ts TIMESTAMP TIME INDEX)")
	if err := h.x.Export(h.Context(), schema.Name{DB: "public", Table: "other"}); err == nil {
		t.Error("a table without the option was exported")
	}
}

// TestSchema: field ids stay with their columns; a type that readers cannot widen gets another field, and days are
// written anew.
func TestSchema(t *testing.T) {
	h := begin(t, nil)
	h.ask(table)
	h.pass()
	h.same("first", h.fields("t"), []string{"1 host string", "2 ts timestamptz", "3 v int"})
	h.ask(`ALTER TABLE t MODIFY COLUMN v BIGINT; ALTER TABLE t ADD COLUMN w DOUBLE; ALTER TABLE t RENAME COLUMN w TO x;
		INSERT INTO t VALUES ('e', '2026-01-04 10:00:00', 9000000000, 1.5)`)
	h.pass()
	h.same("wider", h.fields("t"), []string{"1 host string", "2 ts timestamptz", "3 v long", "4 x double"})
	h.same("days that were written stay", h.commits("t"),
		[]string{"append 2026-01-01 2", "append 2026-01-03 1", "append 2026-01-04 1"})
	h.ask("ALTER TABLE t MODIFY COLUMN v STRING; ALTER TABLE t DROP COLUMN x; ADMIN flush_table('t')")
	h.later(2 * time.Hour)
	h.pass()
	h.same("other", h.fields("t"), []string{"1 host string", "2 ts timestamptz", "5 v string"})
	h.same("all days", h.commits("t")[3:],
		[]string{"overwrite 2026-01-01 2", "overwrite 2026-01-03 1", "overwrite 2026-01-04 1"})
	h.agree("rows")
	h.ask("ALTER TABLE t ADD COLUMN y STRING DEFAULT 'old'")
	h.later(2 * time.Hour)
	h.pass()
	h.ask("ALTER TABLE t RENAME renamed")
	h.later(2 * time.Hour)
	before := len(h.files("renamed"))
	h.again()
	h.pass()
	h.same("columns of the renamed table", h.fields("renamed")[:1], []string{"1 host string"})
	if got := len(h.files("renamed")); got != before {
		t.Errorf("%d files, want %d", got, before)
	}
	h.ask("ALTER TABLE renamed RENAME t")
	h.same("a value for old rows", h.read("t", "host", "y"), []string{"a|old", "a|old", "b|old", "e|old"})
}

// TestManyColumns: columns past the bound go into a map, under their names.
func TestManyColumns(t *testing.T) {
	h := begin(t, func(o *opentables.Options) { o.MaxColumns = 3 })
	h.ask(`CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v INT, w INT, x STRING)
		WITH (open_format = 'iceberg'); INSERT INTO t VALUES ('a', '2026-01-01 10:00:00', 1, 2, 'three'),
		('b', '2026-01-01 10:00:00', 4, NULL, NULL), ('c', '2026-01-01 10:00:00', 4, NULL, 'five')`)
	h.pass()
	h.same("columns", h.fields("t"), []string{"1 host string", "2 ts timestamptz", "3 v int", "4 more_columns map"})
	h.agree("rows")
}

// TestFrozen: days that the ttl has begun to take stay as they were written.
func TestFrozen(t *testing.T) {
	h := begin(t, nil)
	h.ask(strings.Replace(table, "WITH (", "WITH (ttl = '5d', ", 1))
	h.pass()
	h.later(40 * time.Hour)
	h.ask("ADMIN flush_table('t'); ADMIN compact_table('t')")
	h.pass()
	h.same("SQL", h.ask("SELECT v FROM t"), []string{"3"})
	h.same("open", h.read("t", "v"), []string{"1", "2", "3"})
}

// TestOptions: the option of a database holds for its tables, of metrics too, and tables may say none.
func TestOptions(t *testing.T) {
	h := begin(t, nil)
	h.ask(`ALTER DATABASE public SET 'open_format' = 'iceberg';
		CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v INT);
		CREATE TABLE no (ts TIMESTAMP TIME INDEX) WITH (open_format = 'none');
		CREATE TABLE phy (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE = metric WITH (physical_metric_table = '');
		CREATE TABLE up (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE = metric WITH (on_physical_table = 'phy');
		CREATE TABLE down (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE = metric WITH (on_physical_table = 'phy');
		INSERT INTO up VALUES ('a', '2026-01-01 10:00:00', 1); INSERT INTO down VALUES ('b', '2026-01-02 10:00:00', 2)`)
	h.pass()
	names, err := h.x.Tables("public")
	if err != nil {
		t.Fatal(err)
	}
	h.same("tables", names, []string{"down", "t", "up"})
	h.same("one", h.read("up", "host", "v"), []string{"a|1.0"})
	h.same("the other", h.read("down", "host", "v"), []string{"b|2.0"})
}

// faulty is a bucket whose calls fail from one on, before or after they did what they do.
type faulty struct {
	bucket.Bucket
	left  int
	after bool
}

var errCut = errors.New("the process ended here")

func (f *faulty) call(do func() error) error {
	if f.left--; f.left < 0 {
		return errCut
	}
	if err := do(); err != nil || f.left > 0 || !f.after {
		return err
	}
	return errCut
}

func (f *faulty) Put(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	return f.call(func() error { return f.Bucket.Put(ctx, name, body, size) })
}

func (f *faulty) Remove(ctx context.Context, name string) error {
	return f.call(func() error { return f.Bucket.Remove(ctx, name) })
}

// TestCut: wherever an export ends, the next process finishes it, and each day is there once.
func TestCut(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n, done := 1, false; !done; n++ {
			h := begin(t, nil)
			whole := h.o.Bucket
			h.ask(table)
			h.o.Bucket = &faulty{whole, n, after}
			h.again()
			err := h.x.Pass(h.Context())
			if done = err == nil; !done && !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			if !after && !done { // the same process tries again
				h.o.Bucket.(*faulty).left = 1 << 30
				h.pass()
				h.same("again", h.commits("t"), []string{"append 2026-01-01 2", "append 2026-01-03 1"})
			}
			h.o.Bucket = whole
			h.again()
			h.pass()
			h.same(fmt.Sprintf("cut at %d, after: %v", n, after), h.commits("t"),
				[]string{"append 2026-01-01 2", "append 2026-01-03 1"})
			h.agree("rows")
		}
	}
}

// TestSweep: files that nothing names go after a while, and old snapshots with theirs; what readers need stays.
func TestSweep(t *testing.T) {
	h := begin(t, func(o *opentables.Options) { o.Keep = 24 * time.Hour })
	h.ask(table)
	h.pass()
	replaced := h.files("t")[0]
	orphan := filepath.Join(filepath.Dir(replaced), "orphan.parquet")
	if err := os.WriteFile(orphan, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.later(2 * time.Hour)
	h.ask("INSERT INTO t VALUES ('c', '2026-01-01 12:00:00', 5); ADMIN flush_table('t')")
	h.pass()
	old := time.Unix(h.now.Load(), 0)
	err := filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{orphan, replaced} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("too early: %v", err)
		}
	}
	h.later(30 * time.Hour)
	h.pass() // a new day closed: its commit forgets old snapshots
	h.ask("ADMIN export_table('t')")
	h.later(30 * time.Hour)
	h.pass()
	for _, path := range []string{orphan, replaced} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	h.agree("rows")
	h.again()
	h.pass()
	h.agree("rows of the next process")
}
