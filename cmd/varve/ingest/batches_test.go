package ingest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"varve/cmd/varve/client"
)

// copyDir copies the files of a directory.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	must(os.RemoveAll(to))
	must(os.CopyFS(to, os.DirFS(from)))
}

// TestKilledOnce: a run that was cut off at any moment, most of all between what the server stored and its answer, is
// resumed without a line twice, and so is the resumed run: of plain and packed files, of those whose entries are not
// their lines, beside bad entries, with smaller batches, and where the state says less than what was done.
func TestKilledOnce(t *testing.T) {
	lines := made(3000)
	for _, name := range []string{"x.ndjson", "x.gz", "x.json", "x.csv", "bad.ndjson", "slow.ndjson"} {
		t.Run(name, func(t *testing.T) {
			lines := lines
			rng := rand.New(rand.NewPCG(7, uint64(len(name))))
			content := text(lines)
			switch name {
			case "x.gz":
				content = gzipped(t, content)
			case "x.json":
				content = "[\n" + strings.Join(lines, "\n,") + "\n]\n"
			case "x.csv":
				content = "n,text\n"
				for i := range lines {
					content += fmt.Sprintf("%d,%s\n", i, strings.Repeat("x", i%97))
				}
			case "bad.ndjson":
				mixed := []string(nil)
				for i, l := range lines {
					if i%400 == 399 {
						mixed = append(mixed, fmt.Sprintf(`{"bad":%d}`, i))
					}
					mixed = append(mixed, l)
				}
				content = text(mixed)
			}
			f := newFake(t)
			f.store, f.table = "s", 0
			state, killed := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			o := Options{Args: []string{write(t, name, content)}, Batch: 2 * leastBatch, Connections: 3,
				StateDir: state}
			if name == "bad.ndjson" {
				o.Rejects, o.MaxRejects = filepath.Join(t.TempDir(), "rejects"), 1000
			}
			for round := range 8 {
				moment := f.count() + 1 + rng.IntN(6)
				// The client is gone then, though it goes on below.
				kill := sync.OnceFunc(func() { copyDir(t, state, killed) })
				after := func(n int) {
					if n == moment {
						kill()
					}
				}
				before := func(n int, w http.ResponseWriter, _ []byte) bool {
					if n > moment { // of what comes later nothing is stored
						kill()
						w.WriteHeader(400)
						fmt.Fprint(w, `{"code":1,"error":"gone"}`)
					}
					return n > moment
				}
				f.set(before, after)
				gone := o
				gone.Rejects, gone.MaxRejects = "", 0
				out := f.send(t.Context(), gone)
				f.set(nil, after)
				if out.err == nil {
					t.Fatalf("round %d went to its end", round)
				}
				copyDir(t, killed, state)
				o.Resume = true
				if name == "slow.ndjson" && round == 3 {
					o.Batch, o.Rate = leastBatch, Rate{Rows: 1 << 20}
				}
			}
			f.set(nil, nil)
			out := f.send(t.Context(), o)
			var partial *client.PartialError
			if out.err != nil && !errors.As(out.err, &partial) {
				t.Fatal(out.err)
			}
			if name == "x.csv" {
				lines = slices.Collect(maps.Keys(f.lines)) // how they are written is of no matter here
			}
			if f.wantLines(lines); len(lines) != 3000 {
				t.Errorf("%d lines are kept", len(lines))
			}
			if strings.Contains(out.notes+out.result, "twice") {
				t.Errorf("it is told that lines may be stored twice:\n%s%s", out.notes, out.result)
			}
			left, err := filepath.Glob(filepath.Join(state, "*.sent"))
			if len(left) > 0 || err != nil {
				t.Errorf("%v is left behind: %v", left, err)
			}
		})
	}
}

// TestStateOfAnother: what the state says holds for the server and the table that it was noted of. An emptied server,
// another one at the address, a table that was dropped and made anew and one that was truncated get everything; a table
// that its rows made is the same.
func TestStateOfAnother(t *testing.T) {
	lines := made(900)
	for _, c := range []struct {
		name   string
		change func(f *fake)
		all    bool // all is sent
		note   string
	}{
		{"the same", func(*fake) {}, false, "already stored"},
		{"another server", func(f *fake) { f.store = "other" }, true, "another server, or one that was emptied"},
		{"another table", func(f *fake) { f.table = 9 }, true, "the table was dropped since then"},
		{"truncated", func(f *fake) { f.emptied = 7 }, true, "the table was truncated since then"},
		{"no table", func(f *fake) { f.table = 0 }, true, "the table was dropped since then"},
		{"an old server", func(f *fake) { f.store = "" }, false, "already stored"},
	} {
		for _, part := range []string{"whole", "part"} {
			t.Run(c.name+", "+part, func(t *testing.T) {
				f := newFake(t)
				f.store = "s"
				o := Options{Args: []string{write(t, "x", text(lines))}, Batch: leastBatch, Connections: 1,
					StateDir: t.TempDir()}
				if part == "part" {
					f.send(f.interruptAt(t, 4), o)
					f.set(nil, nil)
					o.Resume = true
				} else {
					f.mustSend(o)
				}
				f.mu.Lock()
				c.change(f)
				if c.all {
					clear(f.lines)
				}
				f.mu.Unlock()
				out := f.mustSend(o)
				if part == "whole" || c.all {
					wants(t, out.notes, c.note)
				}
				f.wantLines(lines)
			})
		}
	}
}

// TestLostAnswerOnce: a batch whose answer was lost is sent again, and stored once, whether the run goes on or another
// one does.
func TestLostAnswerOnce(t *testing.T) {
	f, lines := newFake(t), made(900)
	f.store = "s"
	lose := func(every int) func(n int) {
		return func(n int) {
			if n%every == 0 {
				panic(http.ErrAbortHandler)
			}
		}
	}
	f.after = lose(3)
	o := Options{Args: []string{write(t, "x", text(lines))}, Batch: leastBatch, Connections: 2, StateDir: t.TempDir()}
	out := f.mustSend(o)
	f.wantLines(lines)
	if strings.Contains(out.result, "twice") {
		t.Error(out.result)
	}
	g := newFake(t)
	g.store, g.after, o.RetryFor, o.StateDir = "s", lose(1), 1, t.TempDir()
	for range 3 {
		if out := g.send(t.Context(), o); out.err == nil || strings.Contains(out.result, "again") {
			t.Fatalf("no answer came: %v\n%s", out.err, out.result)
		}
		o.Resume = true
	}
	g.set(nil, nil)
	g.mustSend(o)
	g.wantLines(lines)
}

// TestStateUnwritable: who asked for a state gets one, or nothing is sent; else it is told, and all is stored.
func TestStateUnwritable(t *testing.T) {
	lines := made(50)
	f, path := newFake(t), write(t, "x", text(lines))
	none := filepath.Join(path, "state") // below a file
	out := f.send(t.Context(), Options{Args: []string{path}, State: none})
	if out.err == nil || !strings.Contains(out.err.Error(), "nothing was sent") || len(f.lines) > 0 {
		t.Errorf("with --state: %v, %d lines", out.err, len(f.lines))
	}
	out = f.mustSend(Options{Args: []string{path}, StateDir: none})
	wants(t, out.notes, "the state cannot be written, so this run cannot be resumed")
	if n := strings.Count(out.notes, "cannot be written"); n != 1 {
		t.Errorf("it is told %d times", n)
	}
	f.wantLines(lines)
}
