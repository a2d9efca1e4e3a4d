package opentables_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/engine/bucket"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/opentables"
)

// export writes what t has now.
func (h *house) export() error {
	return h.x.Export(h.Context(), schema.Name{DB: "public", Table: "t"})
}

// wantUnavailable holds an error against what a user is told when the storage fails.
func wantUnavailable(t *testing.T, err error, has string) {
	t.Helper()
	if status.Of(err) != status.StorageUnavailable || !strings.Contains(fmt.Sprint(err), has) {
		t.Errorf("error %v of code %v; want StorageUnavailable with %q", err, status.Of(err), has)
	}
}

// TestAway: a bucket or a disk that fails is named, and is no fault of the server.
func TestAway(t *testing.T) {
	h := begin(t, nil)
	h.ask(table)
	place := h.o.Bucket
	h.o.Bucket = &faulty{Bucket: place}
	h.again()
	wantUnavailable(t, h.export(), place.String())
	_, _, err := h.x.Load(h.Context(), schema.Name{DB: "public", Table: "t"})
	wantUnavailable(t, err, place.String())

	h.o.Bucket = place
	h.again()
	if err := os.Remove(h.o.TempDir); err != nil {
		t.Fatal(err)
	}
	wantUnavailable(t, h.export(), "cannot be made")
	h.again()
	h.ask("ADMIN export_table('t')")
	h.agree("rows")
}

// TestForeignVersion: a version that another program made, or that was cut, is named and not built upon. Once it is
// removed exports go on.
func TestForeignVersion(t *testing.T) {
	h := begin(t, nil)
	h.ask(table)
	h.pass()
	versions, err := filepath.Glob(filepath.Join(h.dir, "*", "public", "*", "metadata", "v*.metadata.json"))
	if err != nil || len(versions) == 0 {
		t.Fatal(versions, err)
	}
	slices.SortFunc(versions, func(a, b string) int { return len(a) - len(b) })
	whole, err := os.ReadFile(slices.Max(versions))
	if err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(filepath.Dir(versions[0]), fmt.Sprintf("v%d.metadata.json", len(versions)+1))
	for _, c := range []struct {
		text []byte
		has  string
	}{
		{whole, "another program"}, {[]byte(`{"format-version": 2}`), "another program"},
		{whole[:len(whole)/2], "is damaged"}, {nil, "is damaged"},
	} {
		if err := os.WriteFile(next, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		h.again()
		err := h.export()
		wantUnavailable(t, err, c.has)
		wantUnavailable(t, err, filepath.Base(next))
	}
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
	h.ask("INSERT INTO t VALUES ('z', '2026-01-01 09:00:00', 1)")
	h.ask("ADMIN export_table('t')")
	h.agree("rows")
}

// hooked calls a function once, before an object of a name with a text is made.
type hooked struct {
	bucket.Bucket
	text string
	once func()
}

func (b *hooked) Put(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	if do := b.once; do != nil && strings.Contains(name, b.text) {
		b.once = nil
		do()
	}
	return b.Bucket.Put(ctx, name, body, size)
}

// TestOlderSchema: a pass that found a table before it was altered writes it as it is when its turn comes.
func TestOlderSchema(t *testing.T) {
	hook := &hooked{text: ".parquet"}
	h := begin(t, func(o *opentables.Options) { hook.Bucket, o.Bucket = o.Bucket, hook })
	h.ask("CREATE TABLE a (ts TIMESTAMP TIME INDEX) WITH (open_format = 'iceberg')")
	h.ask("INSERT INTO a VALUES ('2026-01-01 10:00:00')")
	h.ask(table)
	var want []string
	hook.once = func() { // a is written, t comes after it
		h.ask("ALTER TABLE t MODIFY COLUMN v BIGINT; ALTER TABLE t ADD COLUMN more STRING; ADMIN export_table('t')")
		want = h.fields("t")
	}
	h.pass()
	if want == nil {
		t.Fatal("nothing was written of a")
	}
	h.same("columns", h.fields("t"), want)
	h.agree("rows")
}

// TestFarDays: rows of a clock that was never set, next to those of today: the days with rows are written, and those
// between them once they have some.
func TestFarDays(t *testing.T) {
	h := begin(t, nil)
	h.ask(table + "; INSERT INTO t VALUES ('a', '1970-01-01 00:00:00', 7), ('a', '1969-12-31 23:59:59.999', 8)")
	h.pass()
	want := []string{"append 1969-12-31 1", "append 1970-01-01 1", "append 2026-01-01 2", "append 2026-01-03 1"}
	h.same("days", h.commits("t"), want)
	h.pass()
	h.same("days of the next pass", h.commits("t"), want)
	h.ask("INSERT INTO t VALUES ('a', '1999-12-31 10:00:00', 9); ADMIN flush_table('t')")
	h.later(2 * time.Hour)
	h.pass()
	h.same("a day between them", h.commits("t"), append(want, "append 1999-12-31 1"))
	h.agree("rows")
	h.ask("DELETE FROM t WHERE v = 9; ADMIN export_table('t')")
	h.agree("rows without it")
}
