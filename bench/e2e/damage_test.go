package e2e

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/bench/client"
	"varve/bench/gen"
	"varve/bench/process"
)

const damageRows = 20_000

// TestDamagedPart flips bits in a part of one table: the server starts, names the file in its log and in /status,
// keeps it, never answers wrongly from it, and serves the other table.
func TestDamagedPart(t *testing.T) {
	for _, c := range []struct {
		name string
		at   func(size int64) int64 // the byte to damage
	}{
		{"head", func(int64) int64 { return 3 }},
		{"block", func(size int64) int64 { return size / 3 }},
		{"directory", func(size int64) int64 { return size - 200 }},
		{"footer", func(size int64) int64 { return size - 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := start(t, dir)
			before := parts(t, dir)
			loadTable(t, s, "broken")
			broken := newParts(t, dir, before)
			loadTable(t, s, "whole")
			stop(t, s)
			for _, name := range broken {
				flip(t, name, c.at)
			}
			s = start(t, dir)
			wantInt(t, s, "SELECT count(*) FROM whole", damageRows)
			refusesWrongAnswers(t, s)
			status := string(get(t, s, http.MethodGet, "/status", ""))
			mustPost(t, s, write{table: "broken", contentType: "application/json", body: []byte(`{"message":"new"}`)},
				1)
			stop(t, s) // its log is all there then
			for _, name := range broken {
				base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
				if !strings.Contains(s.Output(), base) || !strings.Contains(status, base) {
					t.Errorf("damaged part %s is not named in the log and in /status:\n%s\n%s", base, s.Output(),
						status)
				}
				if !kept(t, dir, base) {
					t.Errorf("damaged part %s is gone", base)
				}
			}
		})
	}
}

// loadTable writes one table and flushes it, so that its rows lie in parts alone.
func loadTable(t *testing.T, s *process.Server, table string) {
	t.Helper()
	set, err := gen.New("text", gen.Options{Rows: damageRows, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	mustPost(t, s, write{table: table, contentType: set.ContentType, body: set.Append(nil, 0, damageRows)}, damageRows)
	wantInt(t, s, "ADMIN flush_table('"+table+"')", 0)
}

// refusesWrongAnswers asks the damaged table for a figure that needs every byte of its messages: the answer is the
// right one, that of no rows, or an error.
func refusesWrongAnswers(t *testing.T, s *process.Server) {
	t.Helper()
	set, err := gen.New("text", gen.Options{Rows: damageRows, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for line := range strings.Lines(string(set.Append(nil, 0, damageRows))) {
		want += int64(len(line) - 1)
	}
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	r, err := client.One(ctx, s.URL, "public", "SELECT count(*), sum(octet_length(message)) FROM broken")
	if err != nil {
		t.Logf("the damaged table answers: %v", err)
		return
	}
	got, err := client.Int(ctx, s.URL, "public", "SELECT coalesce(sum(octet_length(message)), 0) FROM broken")
	if err != nil {
		t.Fatal(err)
	}
	if got != want && got != 0 {
		t.Errorf("the damaged table has %d bytes in %v, want all %d, none, or an error", got, r.Rows, want)
	}
}

// parts lists the column files of a data directory.
func parts(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".part" {
			found[path] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// newParts lists the parts that were not there before; there is at least one.
func newParts(t *testing.T, dir string, before map[string]bool) (names []string) {
	t.Helper()
	for name := range parts(t, dir) {
		if !before[name] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatal("a flush made no part")
	}
	return names
}

// flip damages one byte of a file.
func flip(t *testing.T, name string, at func(size int64) int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at(int64(len(b)))] ^= 0x55
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// kept reports whether a file whose name holds base is still below dir.
func kept(t *testing.T, dir, base string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		found = found || err == nil && strings.Contains(filepath.Base(path), base)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestDamagedLog flips a bit in the middle of the log of a killed server: what lies before and behind the damaged frame
// is there, and the loss is told.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	const batches, rows = 40, 100
	set, err := gen.New("text", gen.Options{Rows: batches * rows, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(batches) {
		mustPost(t, s, write{table: "logged", contentType: set.ContentType, body: set.Append(nil, i*rows, (i+1)*rows)},
			rows)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	var newest string
	err = filepath.WalkDir(filepath.Join(dir, "wal"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".wal" {
			newest = path
		}
		return err
	})
	if err != nil || newest == "" {
		t.Fatalf("no log: %v", err)
	}
	flip(t, newest, func(int64) int64 { return int64(len(set.Append(nil, 0, batches*rows))) / 3 })
	s = start(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	got, err := client.Int(ctx, s.URL, "public", "SELECT count(*) FROM logged")
	if err != nil {
		t.Fatal(err)
	}
	if got != (batches-1)*rows {
		t.Errorf("%d rows, want all but one batch: %d", got, (batches-1)*rows)
	}
	stop(t, s) // its log is all there then
	if out := s.Output(); !strings.Contains(out, "damage") ||
		!strings.Contains(out, strings.TrimSuffix(filepath.Base(newest), filepath.Ext(newest))) {
		t.Errorf("the loss is not told:\n%s", out)
	}
}
