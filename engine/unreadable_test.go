package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestPartsThatCannotBeRead cuts a mapped part file under the store, before each way of reading it: the process lives,
// the reader gets an error or the rest, and the part is set aside as soon as somebody needed it.
func TestPartsThatCannotBeRead(t *testing.T) {
	walk := func(t *testing.T, e *Engine, n schema.Name) error {
		s, err := e.Scan(ctx, requestOf(t, e, n))
		if err != nil {
			return err
		}
		defer s.Close()
		w, err := s.Series(0, 1)
		if err != nil {
			return err
		}
		defer w.Close()
		var b vector.Batch
		for {
			if _, ok, err := w.Next(); err != nil || !ok {
				return err
			}
			for ok := true; ok; {
				if ok, err = w.Rows(&b); err != nil {
					return err
				}
			}
		}
	}
	readers := []struct {
		name  string
		fails bool // the reader is told; else it does without the file
		read  func(t *testing.T, e *Engine, n schema.Name) error
	}{
		{"scan", true, func(t *testing.T, e *Engine, n schema.Name) error {
			_, err := scanTable(e, n, everything)
			return err
		}},
		{"newest", true, func(t *testing.T, e *Engine, n schema.Name) error {
			q := everything
			q.newest = true
			_, err := scanTable(e, n, q)
			return err
		}},
		{"series", true, walk},
		{"merge", true, func(t *testing.T, e *Engine, n schema.Name) error { return e.Compact(ctx, n) }},
		{"indexes", true, func(t *testing.T, e *Engine, n schema.Name) error { return e.BuildIndexes(ctx, n) }},
		{"statistics", false, func(t *testing.T, e *Engine, n schema.Name) error {
			s, err := e.Scan(ctx, requestOf(t, e, n))
			if err != nil {
				return err
			}
			defer s.Close()
			for _, c := range s.t.Columns {
				s.Stat(c.ID)
			}
			return nil
		}},
		{"sizes", false, func(t *testing.T, e *Engine, n schema.Name) error {
			tab, err := e.Table(n)
			if err == nil {
				tab.Stats()
			}
			return err
		}},
		{"flush", false, func(t *testing.T, e *Engine, n schema.Name) error { return e.Flush(ctx, n) }},
		{"backup", false, func(t *testing.T, e *Engine, n schema.Name) error {
			_, err := e.Backups().Make(ctx, "b")
			return err
		}},
		{"check", false, func(t *testing.T, e *Engine, n schema.Name) error {
			r, err := Check(CheckOptions{FS: vfs.OS(), Dir: e.o.Dir, Deep: true})
			if err == nil && len(r.Faults) == 0 {
				t.Error("check finds no fault")
			}
			return err
		}},
	}
	for i, kind := range []modelKind{appendOnly, lastRow, lastNonNull, metric} {
		for k, read := range readers {
			to := int64((i + k) % 2 * 4096)
			t.Run(fmt.Sprintf("kind %d/%d bytes/%s", kind, to, read.name), func(t *testing.T) {
				o := testOptions(vfs.OS())
				o.Dir = t.TempDir()
				e := mustOpen(t, o)
				defer func() { mustClose(t, e) }()
				n := public("t")
				for from := range 3 {
					writeMany(t, e, n, kind, int64(from*4_000), 4_000)
					if err := e.Flush(ctx, n); err != nil {
						t.Fatal(err)
					}
				}
				mustClose(t, e)
				e = mustOpen(t, o) // nothing of the parts is in memory
				names, err := filepath.Glob(o.Dir + "/parts/*.part")
				if err != nil || len(names) != 3 {
					t.Fatal(names, err)
				}
				if err := os.Truncate(names[1], to); err != nil {
					t.Fatal(err)
				}
				err = read.read(t, e, n)
				if read.fails != (err != nil) {
					t.Errorf("error %v, want one: %v", err, read.fails)
				}
				if err != nil && (status.Of(err) != status.StorageUnavailable ||
					!strings.Contains(err.Error(), "cannot be read")) {
					t.Errorf("error %v", err)
				}
				if _, err := scanTable(e, n, everything); err != nil && read.fails {
					t.Errorf("the second reader fails too: %v", err)
				}
				rows, err := scanTable(e, n, everything)
				if err != nil || len(rows) != 8_000 {
					t.Errorf("%d rows are left: %v", len(rows), err)
				}
				if aside := e.SetAside(); len(aside) != 1 || aside[0].File != filepath.Base(names[1]) ||
					aside[0].Block != -1 || aside[0].Rows != 4_000 {
					t.Errorf("set aside: %+v", aside)
				}
			})
		}
	}
}

func requestOf(t *testing.T, e *Engine, n schema.Name) Request {
	t.Helper()
	tab, err := e.Table(n)
	if err != nil {
		t.Fatal(err)
	}
	r := Request{Table: tab, Time: everything.time}
	for _, c := range tab.Schema.Columns {
		r.Columns = append(r.Columns, c.ID)
	}
	return r
}

// writeMany writes rows of many series and texts, so that no section of a part fits into a page of memory.
func writeMany(t *testing.T, e *Engine, n schema.Name, kind modelKind, from, rows int64) {
	t.Helper()
	var set WriteSet
	h := hintOf(kind)
	fields := []vector.Field{{Name: "ts", Type: vector.Timestamp(3)}}
	for _, tag := range h.Tags {
		fields = append(fields, vector.Field{Name: tag, Type: vector.StringType})
	}
	fields = append(fields, vector.Field{Name: "value", Type: typeOf("value")})
	if kind != metric {
		fields = append(fields, vector.Field{Name: "s", Type: vector.StringType})
	}
	b := set.Rows(n, h)
	for i := from; i < from+rows; i++ {
		for _, f := range fields {
			c, err := b.Column(f.Name, f.Type)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case f.Name == "ts":
				c.SetInt(i % 1010)
			case f.Name == "value":
				c.SetFloat(float64(i) * 1.37)
			default:
				c.SetString(fmt.Sprintf("%x", uint64(i+1)*0x9E3779B97F4A7C15))
			}
		}
		b.EndRow()
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
}
