package ingest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"varve/cmd/varve/client"
)

// TestResume: interrupted at ten random moments and resumed, every line is stored once, of plain and packed files and
// of those whose entries are not their lines.
func TestResume(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	lines := made(7000)
	for _, name := range []string{"x.ndjson", "bom.gz", "x.zst", "x.json"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			content := text(lines)
			switch name {
			case "x.zst":
				content = packers[filepath.Ext(name)](t, content)
			case "x.json":
				content = "[\n" + strings.Join(lines, "\n,") + "\n]\n"
			case "bom.gz":
				content = gzipped(t, "\xef\xbb\xbf"+content)
			}
			o := Options{Args: []string{write(t, name, content)}, Batch: leastBatch, Connections: 3,
				StateDir: t.TempDir()}
			moment := 0
			for range 10 {
				moment += 1 + rng.IntN(5)
				out := f.send(f.interruptAt(t, moment), o)
				if !errors.Is(out.err, errInterrupt) {
					t.Fatalf("got %v", out.err)
				}
				if plain := f.send(t.Context(), Options{Args: o.Args, StateDir: o.StateDir}); plain.err == nil ||
					!strings.Contains(plain.err.Error(), "--resume goes on from there") {
					t.Errorf("without --resume: %v", plain.err)
				}
				moment = f.count()
				o.Resume = true
			}
			f.set(nil, nil)
			out := f.mustSend(o)
			f.wantLines(lines)
			wants(t, out.notes, "goes on behind line ")
			for range 2 {
				out = f.mustSend(o)
				wants(t, out.notes, "already stored, use --restart")
				o.Resume = false
			}
			f.wantLines(lines)
		})
	}
}

// TestResumeBehindFault: where a bad entry ended a run, what was stored behind it is not sent again.
func TestResumeBehindFault(t *testing.T) {
	f, lines := newFake(t), made(2000)
	path := write(t, "x", text(append([]string{"bad"}, lines...)))
	ready := make(chan struct{})
	f.before = func(n int, _ http.ResponseWriter, body []byte) bool {
		if strings.HasPrefix(string(body), "bad") && len(body) > 3000 {
			<-ready // the first batch is answered behind others
		}
		return false
	}
	var stored atomic.Int32
	f.after = func(int) {
		if stored.Add(1) == 4 {
			close(ready)
		}
	}
	dir := t.TempDir()
	o := Options{Args: []string{path}, Batch: leastBatch, Connections: 2, StateDir: dir}
	if out := f.send(t.Context(), o); out.err == nil {
		t.Fatal("the bad entry was taken")
	}
	f.set(nil, nil)
	o.Resume, o.Rejects = true, filepath.Join(dir, "rejects")
	f.send(t.Context(), o)
	f.wantLines(lines)
}

// TestKilled: a run that was cut off without a word is told, and resumed from its last note.
func TestKilled(t *testing.T) {
	f, lines := newFake(t), made(1000)
	o := Options{Args: []string{write(t, "x", text(lines))}, Batch: leastBatch, Connections: 1,
		State: filepath.Join(t.TempDir(), "state")}
	var noted []byte
	f.after = func(n int) {
		if n == 5 {
			var err error
			if noted, err = os.ReadFile(o.State); err != nil {
				t.Error(err)
			}
		}
	}
	f.mustSend(o)
	if err := os.WriteFile(o.State, noted, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := f.send(t.Context(), o); out.err == nil || !strings.Contains(out.err.Error(), "by an earlier run") {
		t.Errorf("without --resume: %v", out.err)
	}
	o.Resume = true
	out := f.mustSend(o)
	wants(t, out.notes, "the run before was cut off")
	for _, line := range lines {
		if f.lines[line] < 1 {
			t.Fatalf("line %q is lost", line)
		}
	}
}

// TestChangedFiles: what a file has become since it was stored in part.
func TestChangedFiles(t *testing.T) {
	lines := made(1200)
	for _, c := range []struct {
		name   string
		change func(path string) // behind the first run
		flags  Options
		want   string   // error
		note   string   // or note
		stored []string // once each, besides those of the first run
	}{
		{"changed at its beginning", func(p string) { edit(p, 0, "X") }, Options{Resume: true}, "has changed before",
			"", nil},
		{"changed before the place", func(p string) { edit(p, 5000, "X") }, Options{Resume: true}, "has changed before",
			"", nil},
		{"cut", func(p string) { os.Truncate(p, 100) }, Options{Resume: true}, "has changed before", "", nil}, //nolint:errcheck
		{"grown", func(p string) { add(p, "new\n") }, Options{Resume: true}, "", "goes on behind line",
			append(lines[:1200:1200], "new")},
		{"moved", func(p string) { rename(p, p+".1") }, Options{Resume: true}, "no such file", "", nil},
		{"rotated", func(p string) { rename(p, p+".1"); add(p, "new\n") }, Options{Resume: true}, "", "was rotated to",
			append(lines[:1200:1200], "new")},
		{"another file", func(p string) { rename(p, p+".gone/x"); add(p, "new\n") }, Options{Resume: true},
			"has changed before", "", nil},
		{"another file, without --resume", func(p string) { rename(p, p+".gone/x"); add(p, "new\n") }, Options{}, "",
			"", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, path := newFake(t), write(t, "x", text(lines))
			if err := os.Mkdir(path+".gone", 0o700); err != nil {
				t.Fatal(err)
			}
			o := Options{Args: []string{path}, Batch: leastBatch, Connections: 1, StateDir: t.TempDir()}
			f.send(f.interruptAt(t, 7), o)
			if len(f.lines) == 0 || len(f.lines) == len(lines) {
				t.Fatalf("%d lines are kept", len(f.lines))
			}
			f.set(nil, nil)
			c.change(path)
			c.flags.Args, c.flags.StateDir = o.Args, o.StateDir
			out := f.send(t.Context(), c.flags)
			if c.want != "" {
				if out.err == nil || !strings.Contains(out.err.Error(), c.want) {
					t.Errorf("got %v, want %s", out.err, c.want)
				}
				return
			}
			if out.err != nil {
				t.Fatal(out.err)
			}
			wants(t, out.notes, c.note)
			if c.stored != nil {
				f.wantLines(c.stored)
			}
		})
	}
}

// TestStoredFiles: a file that is stored, and what it has become.
func TestStoredFiles(t *testing.T) {
	lines := made(10)
	for _, c := range []struct {
		name   string
		change func(path string)
		flags  Options
		want   string // error or note
		stored []string
	}{
		{"as it was", func(string) {}, Options{}, "already stored, use --restart", lines},
		{"touched", func(p string) { edit(p, 0, "{") }, Options{}, "already stored, use --restart", lines},
		{"renamed", func(p string) { rename(p, p+".1"); add(p, "new\n") }, Options{}, "", append(lines[:10:10], "new")},
		{"grown", func(p string) { add(p, "new\n") }, Options{}, "has grown since it was stored", lines},
		{"grown, resumed", func(p string) { add(p, "new\n") }, Options{Resume: true}, "goes on behind line 10",
			append(lines[:10:10], "new")},
		{"changed", func(p string) { edit(p, 30, "X") }, Options{}, "", nil},
		{"restarted", func(string) {}, Options{Restart: true}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, path := newFake(t), write(t, "x", text(lines))
			dir := t.TempDir()
			f.mustSend(Options{Args: []string{path}, StateDir: dir})
			c.change(path)
			c.flags.Args, c.flags.StateDir = []string{filepath.Dir(path)}, dir
			out := f.send(t.Context(), c.flags)
			wants(t, out.notes+fmt.Sprint(out.err), c.want)
			if c.stored != nil {
				f.wantLines(c.stored)
			}
			if c.name == "restarted" && f.lines[lines[0]] != 2 {
				t.Errorf("the first line is kept %d times", f.lines[lines[0]])
			}
		})
	}
}

// TestUnfinishedLine: a line that was stored before it was written whole is not cut in two.
func TestUnfinishedLine(t *testing.T) {
	for _, c := range []struct{ more, want string }{{"\nb\n", "goes on behind line 1"},
		{"rest\nb\n", "line 1 was stored before it was written whole"}} {
		f, path := newFake(t), write(t, "x", "a")
		dir := t.TempDir()
		f.mustSend(Options{Args: []string{path}, StateDir: dir})
		add(path, c.more)
		out := f.send(t.Context(), Options{Args: []string{path}, StateDir: dir, Resume: true})
		wants(t, out.notes+fmt.Sprint(out.err), c.want)
	}
}

// TestStateShared: runs into one table leave each other's records alone.
func TestStateShared(t *testing.T) {
	f, dir := newFake(t), t.TempDir()
	a, b := write(t, "a", "a\n"), write(t, "b", "b\n")
	f.mustSend(Options{Args: []string{a}, StateDir: dir})
	f.mustSend(Options{Args: []string{b}, StateDir: dir})
	f.mustSend(Options{Args: []string{b}, StateDir: dir, Table: "other"})
	out := f.mustSend(Options{Args: []string{a, b}, StateDir: dir})
	wants(t, out.notes, a+": already stored", b+": already stored")
	if f.lines["a"] != 1 || f.lines["b"] != 2 {
		t.Errorf("got %v", f.lines)
	}
}

// follow runs a command that follows files; stop ends it.
func (f *fake) follow(t *testing.T, o Options) (stop func() outcome) {
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan outcome, 1)
	o.Follow = true
	go func() { done <- f.send(ctx, o) }()
	return func() outcome {
		cancel(errInterrupt)
		return <-done
	}
}

// TestFollow: what is appended is sent whole line by whole line, behind rotations and truncations too.
func TestFollow(t *testing.T) {
	f, dir := newFake(t), t.TempDir()
	taken := make(chan int, 100)
	f.after = func(n int) { taken <- n }
	path, later := filepath.Join(dir, "x.log"), filepath.Join(dir, "later.log")
	add(path, "a\nb\nhal")
	add(later, "")
	notes := newWatched()
	o := Options{Args: []string{path, later}, StateDir: dir, Notes: notes}
	stop := f.follow(t, o)
	await := func() { <-taken }
	await()
	add(path, "f\nc\n")
	await()
	rename(path, path+".1")
	add(path+".1", "d\nlast") // the writer has not noticed yet, and never ends its line
	add(path, "e\n")
	await()
	await()
	await()
	add(later, "later\n")
	await()
	add(path, "h\ntorn")
	await()
	must(os.Truncate(path, 0))
	// It has to be seen before as much is written again as there was: nothing can tell else.
	notes.await("was truncated")
	await()
	add(path, "g\n")
	out := stop()
	if out.err != nil {
		t.Errorf("following ends with %v", out.err)
	}
	o.Resume = true
	f.set(nil, nil)
	f.mustSend(o)
	f.wantLines([]string{"a", "b", "half", "c", "d", "last", "e", "later", "h", "torn", "g"})
	wants(t, out.notes, "was rotated, the new file is read")
}

// TestFollowTruncated: of a file that was truncated, nothing is known but what took the place of its content.
func TestFollowTruncated(t *testing.T) {
	f, path, notes := newFake(t), write(t, "x.log", "e\n"), newWatched()
	taken := make(chan int, 100)
	f.after = func(n int) { taken <- n }
	o := Options{Args: []string{path}, StateDir: t.TempDir(), Notes: notes}
	stop := f.follow(t, o)
	<-taken
	must(os.Truncate(path, 0))
	notes.await("was truncated")
	add(path, "g1\nh\n") // longer than what there was
	<-taken
	if out := stop(); out.err != nil {
		t.Errorf("following ends with %v", out.err)
	}
	add(path, "i\n")
	o.Resume = true
	f.mustSend(o)
	f.wantLines([]string{"e", "g1", "h", "i"})
}

// TestFollowBroken: an input that cannot be read further is told at once, with --quiet too, and decides the exit code.
func TestFollowBroken(t *testing.T) {
	f, path, notes := newFake(t), write(t, "x.json", "[{\"a\":1}]\n"), newWatched()
	taken := make(chan int, 100)
	f.after = func(n int) { taken <- n }
	stop := f.follow(t, Options{Args: []string{path, write(t, "y.log", "y\n")}, Quiet: true, Notes: notes})
	<-taken
	<-taken
	add(path, "]\n")
	notes.await("line 2: ']' closes nothing that was opened")
	out := stop()
	var partial *client.PartialError
	if !errors.As(out.err, &partial) || !strings.Contains(out.err.Error(), "1 of 2 inputs could not be read whole") {
		t.Errorf("got %v", out.err)
	}
	if n := strings.Count(out.notes, "closes nothing"); n != 1 {
		t.Errorf("it is told %d times", n)
	}
}

func rename(from, to string) { must(os.Rename(from, to)) }

func add(path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(err)
	_, err = f.WriteString(text)
	must(errors.Join(err, f.Close()))
}

func edit(path string, at int64, text string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	must(err)
	_, err = f.WriteAt([]byte(text), at)
	must(errors.Join(err, f.Close()))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
