package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/zstd"

	"varve/cmd/varve/client"
)

func TestMain(m *testing.M) {
	flushAfter, firstWait = 20*time.Millisecond, 2*time.Millisecond
	os.Exit(m.Run())
}

// packers are ways to compress a text.
var packers = map[string]func(t *testing.T, text string) string{
	"":    func(_ *testing.T, text string) string { return text },
	".gz": func(t *testing.T, text string) string { return gzipped(t, text) },
	".gz of two members": func(t *testing.T, text string) string {
		return gzipped(t, text[:len(text)/3]) + gzipped(t, text[len(text)/3:])
	},
	".zst": func(t *testing.T, text string) string {
		return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	},
	".bz2": func(t *testing.T, text string) string {
		return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return bzip2.NewWriter(w, nil) })
	},
}

func gzipped(t *testing.T, text string) string {
	return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func packed(t *testing.T, text string, open func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestInputs: plain and packed files, whatever their names, and standard input give every line once.
func TestInputs(t *testing.T) {
	lines := made(2000)
	for name, pack := range packers {
		t.Run("a file"+name, func(t *testing.T) {
			f := newFake(t)
			path := write(t, "logs", pack(t, text(lines)))
			out := f.mustSend(Options{Args: []string{path}, Batch: leastBatch, Connections: 3})
			f.wantLines(lines)
			wants(t, out.result, "1 input: 2,000 rows stored, 0 rejected")
			wants(t, out.notes, "read as", "JSON lines")
		})
	}
	for _, compress := range []string{"zstd", "none"} {
		t.Run("standard input, "+compress, func(t *testing.T) {
			f := newFake(t)
			f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(text(lines)), Batch: leastBatch,
				Compress: compress})
			f.wantLines(lines)
		})
	}
	t.Run("standard input that pauses", func(t *testing.T) {
		f, r, w := newFake(t), (*io.PipeReader)(nil), (*io.PipeWriter)(nil)
		r, w = io.Pipe()
		got := make(chan struct{})
		f.after = func(int) { close(got) }
		go func() {
			fmt.Fprintln(w, lines[0])
			<-got // it is sent though there may come more
			w.Close()
		}()
		f.mustSend(Options{Args: []string{"-"}, Stdin: r})
		f.wantLines(lines[:1])
	})
}

// TestDirectories: files go in the order of their names, each to its table; hidden ones are named and left out.
func TestDirectories(t *testing.T) {
	f, dir := newFake(t), t.TempDir()
	for name, content := range map[string]string{"b.ndjson": `{"f":"b"}`, "a.log": "a line", "sub/c.txt": "c line",
		".hidden": "x", ".git/config": "x", "p.png": "\x89PNG\x00\x00"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), content+"\n")
	}
	out := f.mustSend(Options{Args: []string{dir, filepath.Join(dir, "*.log")}, Table: "{name}", Connections: 1})
	f.wantLines([]string{`{"f":"b"}`, "a line", "c line"})
	wants(t, out.notes, ".hidden: hidden, left out", ".git: hidden, left out", "p.png: it holds zero bytes")
	var tables []string
	for _, r := range f.requests[1:] {
		tables = append(tables, r.URL.Query().Get("table")+" "+r.Header.Get("Content-Type"))
	}
	if want := []string{"a text/plain", "b application/x-ndjson", "c text/plain"}; !slices.Equal(tables, want) {
		t.Errorf("got %q, want %q", tables, want)
	}
}

// TestRequest: what the flags say reaches the server.
func TestRequest(t *testing.T) {
	f := newFake(t)
	f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(`{"ts":1700000000000}` + "\n"), DB: "d",
		Time: "auto", MaxNestedLevels: 3, Hints: []string{"ttl=7d", "x=y"}, SkipError: true})
	r := f.requests[len(f.requests)-1]
	if got, want := r.URL.RequestURI(),
		"/v1/ingest?custom_time_index=ts%3Bepoch%3Bms&db=d&pipeline_name=service_identity&table=t"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := r.Header.Get("X-Service-Hints") + " " +
		r.Header.Get("X-Service-Pipeline-Params"); got != "ttl=7d,x=y max_nested_levels=3&skip_error=true" {
		t.Errorf("got %s", got)
	}
	for _, c := range []struct{ format, in, body, path string }{
		{"lineproto", "cpu v=1 1\ncpu v=2 2\n", "cpu v=1 1\ncpu v=2 2\n", "/v1/lineproto/write?db=public"},
		{"jsonput", `[{"metric":"a"}, {"metric":"b"}]`, `[{"metric":"a"},{"metric":"b"}]`,
			"/v1/jsonput/api/put?db=public"},
		{"logpush", `{"streams":[{"stream":{}} ,{"values":[]}]}`, `{"streams":[{"stream":{}},{"values":[]}]}`,
			"/v1/logpush/api/v1/push?db=public"},
	} {
		f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(c.in), Format: c.format})
		if got := f.bodies[len(f.bodies)-1]; got != c.body || f.requests[len(f.requests)-1].URL.RequestURI() != c.path {
			t.Errorf("%s: got %s to %s", c.format, got, f.requests[len(f.requests)-1].URL)
		}
	}
	if got := f.requests[len(f.requests)-1].Header.Get("X-Service-Log-Table-Name"); got != "t" {
		t.Errorf("log push goes to table %q", got)
	}
}

// TestPipelineFile: the document is uploaded under a name of its own and removed, whatever happens.
func TestPipelineFile(t *testing.T) {
	f := newFake(t)
	doc := write(t, "p.yaml", "processors: []\n")
	for _, entry := range []string{"good", "bad"} {
		f.requests = nil
		f.send(t.Context(), Options{Args: []string{"-"}, Stdin: strings.NewReader(entry + "\n"), PipelineFile: doc})
		first, last := f.requests[0], f.requests[len(f.requests)-1]
		if first.Method != "POST" || last.Method != "DELETE" || first.URL.Path != last.URL.Path ||
			last.URL.Query().Get("version") != "2026-01-01 00:00:00" {
			t.Errorf("%s %s, %s %s", first.Method, first.URL, last.Method, last.URL)
		}
		if got := f.requests[2].URL.Query().Get("pipeline_name"); "/v1/pipelines/"+got != first.URL.Path {
			t.Errorf("entries go by %q", got)
		}
	}
}

// TestRejects: bad entries land among the rejects with their lines, everything else is stored once.
func TestRejects(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 12 {
		f, lines := newFake(t), made(500)
		var all, good []string
		want := map[int64]string{}
		for _, line := range lines {
			if rng.IntN(20) == 0 {
				all = append(all, "")
			}
			if rng.IntN(1+round*5) == 1 {
				line = "bad " + line
				want[int64(len(all)+1)] = line
			} else {
				good = append(good, line)
			}
			all = append(all, line)
		}
		prefix := ""
		if round%2 == 1 {
			prefix = "\xef\xbb\xbf"
		}
		path, rejects := write(t, "x.ndjson", prefix+text(all)), filepath.Join(t.TempDir(), "rejects")
		out := f.send(t.Context(),
			Options{Args: []string{path}, Rejects: rejects, Batch: leastBatch << rng.IntN(4), Connections: 3})
		f.wantLines(good)
		var partial *client.PartialError
		if len(want) > 0 && !errors.As(out.err, &partial) {
			t.Errorf("got %v", out.err)
		}
		file, err := os.ReadFile(rejects)
		if err != nil && len(want) > 0 {
			t.Fatal(err)
		}
		got := map[int64]string{}
		for d := json.NewDecoder(bytes.NewReader(file)); d.More(); {
			var r rejected
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			if r.File != path || !strings.Contains(r.Error, "a bad entry") {
				t.Errorf("got %+v", r)
			}
			got[r.Line] = r.Entry
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: got %v\nwant %v", round, got, want)
		}
	}
}

func TestRejectsEnd(t *testing.T) {
	f := newFake(t)
	three := text([]string{"a", "bad 1", "b", "bad 2", "c", "bad 3"})
	out := f.send(t.Context(), Options{Args: []string{write(t, "x", three)}})
	if out.err == nil || !strings.Contains(out.err.Error(),
		`x, line 2: "bad 1": ingest failed (1004): a bad entry. --rejects FILE`) {
		t.Errorf("got %v", out.err)
	}
	f.wantLines([]string{"a"})
	f = newFake(t)
	out = f.send(t.Context(), Options{Args: []string{write(t, "x", three)}, MaxRejects: 2})
	if out.err == nil || !strings.Contains(out.err.Error(), "more than 2 entries were refused") ||
		!strings.Contains(out.err.Error(), "line 6") {
		t.Errorf("got %v", out.err)
	}
	wants(t, out.notes, "line 2 was refused", "line 4 was refused")
	f = newFake(t)
	out = f.send(t.Context(), Options{Args: []string{write(t, "x", strings.Repeat("bad\n", 5000))},
		Rejects: filepath.Join(t.TempDir(), "r"), Connections: 1})
	if out.err == nil || !strings.Contains(out.err.Error(), "the first 1000 entries were all refused") {
		t.Errorf("got %v", out.err)
	}
}

// TestBrokenInputs: what cannot be read whole is told, and the others are sent.
func TestBrokenInputs(t *testing.T) {
	lines := made(500)
	whole := gzipped(t, text(lines))
	f, good := newFake(t), write(t, "good", "good\n")
	out := f.send(t.Context(), Options{Args: []string{write(t, "cut.gz", whole[:len(whole)-20]), good},
		Batch: leastBatch})
	var partial *client.PartialError
	if !errors.As(out.err, &partial) {
		t.Errorf("got %v", out.err)
	}
	wants(t, fmt.Sprint(out.err), "cut.gz: the file ends in the middle of its gzip: it was cut",
		"1 of 2 inputs could not be read whole")
	if f.lines["good"] != 1 {
		t.Error("the other input was not sent")
	}
	long := gzipped(t, strings.Repeat("x", 100*leastBatch))
	out = f.send(t.Context(), Options{Args: []string{write(t, "long.gz", long[:len(long)-20])}, Batch: leastBatch,
		Format: "text"})
	wants(t, fmt.Sprint(out.err), "long.gz: the file ends in the middle of its gzip")
	for line := range f.lines {
		if line != "good" && !slices.Contains(lines, line) {
			t.Errorf("a piece of a line was sent: %.60q", line)
		}
	}
	for _, c := range []struct{ name, content, want string }{
		{"x.xz", "\xfd7zXZ\x00....", "it is packed with xz: xz -dc FILE | varve ingest -"},
		{"x.zip", "PK\x03\x04....", "unzip -p"},
		{"x.tar", strings.Repeat("n", 257) + "ustar\x00", "it is a tar archive"},
		{"x", "\xff\xfea\x00", "UTF-16"},
		{"x", "a\x00b", "zero bytes"},
		{"x.gz", whole[:40] + "????" + whole[44:], "its gzip is damaged"},
		{"x.log", "\x7fELF\x00", "it is a program, expected text"},
		{"x.parquet", "PAR1 and no end", "the file ends in the middle of its parquet"},
		{"x.arrow", "ARROW1\x00\x00", "the file ends in the middle of its arrow"},
		{"x.json", `[{"a":1},{"b"`, "the JSON ends in the middle of a value"},
	} {
		out := newFake(t).send(t.Context(), Options{Args: []string{write(t, c.name, c.content)}, DryRun: 0})
		if out.err == nil || !strings.Contains(out.err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, out.err, c.want)
		}
	}
}

// TestDryRunEnds: a trial that waits for entries ends when the user wants it to.
func TestDryRunEnds(t *testing.T) {
	for _, begun := range []string{"", "{}\n"} {
		f := newFake(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		r, w := io.Pipe()
		done := make(chan outcome, 1)
		go func() { done <- f.send(ctx, Options{Args: []string{"-"}, Stdin: r, DryRun: 5}) }()
		if begun != "" {
			if _, err := io.WriteString(w, begun); err != nil {
				t.Error(err)
			}
		}
		cancel(errInterrupt)
		if out := <-done; !errors.Is(out.err, errInterrupt) {
			t.Errorf("behind %q: got %v", begun, out.err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRowsWithoutAnAnswer: where the server says nothing of rows, they are counted: blank lines are none, and each
// value of a log push is one.
func TestRowsWithoutAnAnswer(t *testing.T) {
	for _, c := range []struct{ format, in, want string }{
		{"lineproto", "cpu v=1 1\n\n\r\ncpu v=2 2\r\n", "2 rows stored"},
		{"lineproto", "cpu v=1 1", "1 row stored"},
		{"lineproto", "# a\ncpu v=1 1\n  \n # b\ncpu v=\"2\n3\" 2\n#", "2 rows stored"},
		{"lineproto", "# a\n", "0 rows stored"},
		{"logpush",
			`{"streams":[{"stream":{},"values":[["1","a"],["2","b"],["3","c"]]},{"stream":{},"values":[]},{"values":[["4","d"]]}]}`, "4 rows stored"},
	} {
		f := newFake(t)
		f.before = func(_ int, w http.ResponseWriter, _ []byte) bool {
			w.WriteHeader(204)
			return true
		}
		out := f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(c.in), Format: c.format})
		wants(t, out.result, c.want)
	}
}

// TestCSVOfPipelines: a pipeline gets cells as text, in a trial too.
func TestCSVOfPipelines(t *testing.T) {
	f := newFake(t)
	f.send(t.Context(), Options{Args: []string{write(t, "x.csv", "a\n1\n")},
		PipelineFile: write(t, "p.yaml", "processors: []\n"), DryRun: 1})
	wants(t, f.bodies[len(f.bodies)-1], `{\"a\":\"1\"}`)
}

// TestNotesAreVisible: a terminal is not steered by the names of files and columns, nor by what a server says.
func TestNotesAreVisible(t *testing.T) {
	dir := t.TempDir()
	must(os.WriteFile(filepath.Join(dir, "a\x1b[2J.log"), []byte("a\n"), 0o600))
	must(os.WriteFile(filepath.Join(dir, ".h\x1b[2J"), nil, 0o600))
	out := newFake(t).mustSend(Options{Args: []string{dir}})
	wants(t, out.notes, `a\x1b[2J.log: read as`, `.h\x1b[2J: hidden`)
	table := &dryTable{Name: "t\x1b[2J", Schema: []dryColumn{{Name: "c\x1b[2J", Type: "String", Role: "FIELD\x9b2J"}}}
	must(json.Unmarshal([]byte(`[[{"key":"c\u001b[2J","value":"v`+"\u009b"+`2J`+strings.Repeat("ü", shownValue)+`"}]]`),
		&table.Rows))
	var shown strings.Builder
	table.print(&shown, "t")
	wants(t, shown.String(), `t\x1b[2J: 1 row`, `c\x1b[2J`, `FIELD\x9b2J`, `"v\u009b2Jü`, "ü…")
	if strings.ContainsAny(out.notes+shown.String(), "\x1b\u009b") {
		t.Errorf("a terminal is steered by %q", out.notes+shown.String())
	}
}

func TestUsage(t *testing.T) {
	file := write(t, "x", "{}\n")
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Manifest: ".", Hints: []string{"ttl=7d"}}, "--manifest takes tables"},
		{Options{Manifest: ".", SkipError: true}, "--manifest takes tables"},
		{Options{Manifest: ".", MaxNestedLevels: 3}, "--manifest takes tables"},
		{Options{Manifest: ".", PipelineVersion: "1"}, "--manifest takes tables"},
		{Options{Manifest: ".", Connections: -1}, "--connections -1:"},
		{Options{Manifest: ".", Resume: true, Restart: true}, "exclude each other"},
		{Options{}, "nothing to send"},
		{Options{Args: []string{file}, Format: "xml"}, "--format xml: expected one of ndjson, json"},
		{Options{Args: []string{file}, Batch: 1}, "--batch 1:"},
		{Options{Args: []string{file}, Resume: true, Restart: true}, "exclude each other"},
		{Options{Args: []string{file}, Follow: true, DryRun: 1}, "--follow and --dry-run exclude each other"},
		{Options{Args: []string{"-"}, Resume: true}, "name files to resume"},
		{Options{Args: []string{"-"}, Table: "{name}"}, "standard input has none"},
		{Options{Args: []string{file}, Pipeline: "p", Time: "auto"}, "a pipeline has a time index of its own"},
		{Options{Args: []string{file}, Format: "text", Time: "auto"}, "--format text has none"},
		{Options{Args: []string{file}, Time: "ts"}, "there are not three parts"},
		{Options{Args: []string{file}, Time: "ts;epoch;min"}, "the unit of an epoch"},
		{Options{Args: []string{file}, PipelineVersion: "1"}, "--pipeline-version needs --pipeline"},
	} {
		var usage *client.UsageError
		out := newFake(t).send(t.Context(), c.o)
		if !errors.As(out.err, &usage) || !strings.Contains(out.err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.o, out.err, c.want)
		}
	}
	for _, arg := range []string{filepath.Join(t.TempDir(), "absent"), filepath.Join(t.TempDir(), "*.log"),
		t.TempDir()} {
		if out := newFake(t).send(t.Context(), Options{Args: []string{arg}}); out.err == nil {
			t.Errorf("%s: no error", arg)
		}
	}
}

// TestRate: batches are cut small, and wait for their time.
func TestRate(t *testing.T) {
	f, lines := newFake(t), made(30)
	begun := time.Now()
	f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(text(lines)), Rate: Rate{Rows: 100}})
	f.wantLines(lines)
	if len(f.bodies) != 2 {
		t.Errorf("%d requests", len(f.bodies))
	}
	f = newFake(t)
	f.mustSend(Options{Args: []string{"-"}, Stdin: strings.NewReader(text(lines)), Rate: Rate{Rows: 20}})
	f.wantLines(lines)
	// one batch waits for the other, a second for that of 20 entries, half of one for that of 10
	if len(f.bodies) != 3 || time.Since(begun) < time.Second/2 {
		t.Errorf("%d requests in %s", len(f.bodies), time.Since(begun))
	}
}

var errInterrupt = errors.New("interrupted")

// interruptAt gives a context that ends once the server has answered so many requests.
func (f *fake) interruptAt(t *testing.T, request int) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	f.set(nil, func(n int) {
		if n == request {
			cancel(errInterrupt)
		}
	})
	return ctx
}
