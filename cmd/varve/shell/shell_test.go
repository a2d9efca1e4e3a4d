package shell

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/client"
)

var update = flag.Bool("update", false, "write the golden files anew")

// server is one whose answers a test makes.
func server(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	flags := client.Flags{URL: s.URL}
	c, err := flags.Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs a script and gives what was printed.
func run(t *testing.T, o Options, script string) (out, notes string, err error) {
	t.Helper()
	var results, rest bytes.Buffer
	o.Out, o.Notes = &results, &rest
	if o.Format == "" {
		o.Format = "tsv"
	}
	if o.Zone == "" {
		o.Zone = "UTC"
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Run(context.Background(), "-e", strings.NewReader(script)); err == nil {
		err = s.Failed()
	}
	return results.String(), rest.String(), err
}

// canned answers with the file of testdata that the statement names.
func canned(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(filepath.Join("testdata", r.FormValue("sql")+".json"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("X-Service-Execution-Time", "9")
		w.Write(text) //nolint:errcheck // a test's
	}
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", "formats", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\n got %s\nwant %s", name, got, want)
	}
}

// sized is a terminal of so many columns.
func sized(columns int) func() (int, int) { return func() (int, int) { return columns, 0 } }

// TestFormats: NULL and the empty text, quotes, line ends, wide characters, the largest numbers, nanoseconds, JSON and
// bytes in all formats that are made here.
func TestFormats(t *testing.T) {
	c := server(t, canned(t))
	for _, f := range []struct {
		name string
		o    Options
	}{
		{"table", Options{Format: "table"}},
		{"table.narrow", Options{Format: "table", Size: sized(100)}},
		{"table.cut", Options{Format: "table", MaxWidth: 5}},
		{"table.colour", Options{Format: "table", Colour: true}},
		{"table.turned", Options{Format: "table", Size: sized(80), AutoVertical: true}},
		{"table.turned", Options{Format: "table", Size: sized(20), Fit: true}},
		{"tsv", Options{Format: "tsv"}},
		{"tsv.raw", Options{Format: "tsv", RawTimes: true}},
		{"json", Options{Format: "json", Zone: "Europe/Berlin"}},
		{"json.raw", Options{Format: "json", RawTimes: true}},
		{"ndjson", Options{Format: "ndjson"}},
		{"vertical", Options{Format: "vertical", Zone: "+05:30"}},
		{"markdown", Options{Format: "markdown"}},
		{"line", Options{Format: "line"}},
		{"line.terminal", Options{Format: "line", Size: sized(80)}},
	} {
		t.Run(f.name, func(t *testing.T) {
			f.o.Client = c
			out, _, err := run(t, f.o, "types; empty")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, f.name, out)
		})
	}
}

// TestPassed: the formats that the server writes arrive as they are.
func TestPassed(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s\r\n\x00", r.FormValue("format")) })
	for format, want := range map[string]string{"csv": "csvWithNames", "csv-noheader": "csv", "arrow": "arrow",
		"null": "null"} {
		if out, _, err := run(t, Options{Client: c, Format: format}, "SELECT 1"); err != nil || out != want+"\r\n\x00" {
			t.Errorf("--format %s: got %q, %v, want the body of %s", format, out, err, want)
		}
	}
}

// rows answers with so many rows, a number and a text each.
func rows(w io.Writer, n int, end string) {
	io.WriteString(w,
		`{"output":[{"records":{"schema":{"column_schemas":[{"name":"n","data_type":"Int64"},{"name":"s","data_type":"String"}]},"rows":[`) //nolint:errcheck // a test's
	for i := range n {
		if i > 0 {
			w.Write([]byte{','}) //nolint:errcheck // a test's
		}
		fmt.Fprintf(w, `[%d,"%s"]`, i, strings.Repeat("x", i%7))
	}
	io.WriteString(w, end) //nolint:errcheck // a test's
}

const whole = `],"total_rows":1}}],"execution_time_ms":3}`

// counter counts lines and forgets them.
type counter struct{ lines, longest int }

func (c *counter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte{'\n'})
	c.longest = max(c.longest, len(p))
	return len(p), nil
}

// TestLongAnswers: a long answer is printed as it arrives, in pieces.
func TestLongAnswers(t *testing.T) {
	const n = 200_000
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { rows(w, n, whole) })
	// A table grows by a line where numbers have more digits than those of the rows before: from 1,000, 10,000 and
	// 100,000 on.
	for format, extra := range map[string]int{"tsv": 1, "ndjson": 0, "table": 4 + 3, "json": 2} {
		var out counter
		s, err := New(Options{Client: c, Format: format, Zone: "UTC", Out: &out, Notes: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background(), "-e", strings.NewReader("SELECT 1")); err != nil {
			t.Fatal(err)
		}
		if out.lines != n+extra || out.longest > 4*pieceBytes {
			t.Errorf("%s: %d lines, the longest piece %d bytes, want %d lines", format, out.lines, out.longest, n+extra)
		}
	}
}

// TestTableGrows: values of later rows that are wider make the boxes wider from there on.
func TestTableGrows(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		rows(w, chunkRows, `,[123456789012,"wide"]`+whole)
	})
	out, _, err := run(t, Options{Client: c, Format: "table"}, "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	got := strings.Join(lines[len(lines)-4:], "\n")
	want := "" +
		"│ 999 │ xxxxx  │\n" +
		"├──────────────┼────────┤\n" +
		"│ 123456789012 │ wide   │\n" +
		"└──────────────┴────────┘"
	if got != want {
		t.Errorf("the end of the table\n%s\nwant\n%s", got, want)
	}
}

func TestBrokenAnswers(t *testing.T) {
	for _, c := range []struct{ name, end, want string }{
		{"cut between rows", ",", "after 3 rows the answer of"},
		{"cut in a text", `,[7,"abc`, "after 3 rows the answer of"},
		{"no result", `]}}]`, "the answer of"},
		{"a short row", `,[1]` + whole, "a row has 1 values for 2 columns"},
		{"not JSON", `x`, "did not answer with a result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := server(t, func(w http.ResponseWriter, _ *http.Request) { rows(w, 3, c.end) })
			out, _, err := run(t, Options{Client: s}, "SELECT 1")
			var unreachable *client.UnreachableError
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.HasPrefix(c.want, "after") != errors.As(err, &unreachable) && c.name != "no result" {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if strings.HasPrefix(c.want, "after") && out != "" && !strings.HasPrefix(out, "n\ts\n0\t") {
				t.Errorf("rows before the end: %q", out)
			}
		})
	}
}

// session is a server that takes note of what it is asked.
func session(t *testing.T, asked *[]string) *client.Client {
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		sql := r.FormValue("sql")
		*asked = append(*asked, r.FormValue("db")+" "+r.Header.Get("X-Service-Timezone")+" "+sql)
		switch {
		case strings.HasPrefix(sql, "fail"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"code":4001,"error":"Table not found: %s","execution_time_ms":0}`, sql)
		case strings.HasPrefix(sql, "deny"):
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `{"code":7006,"error":"not allowed"}`) //nolint:errcheck // a test's
		case givesRows(sql):
			rows(w, 1, whole)
		default:
			io.WriteString(w, `{"output":[{"affectedrows":1234}],"execution_time_ms":2}`) //nolint:errcheck // a test's
		}
	})
}

// TestSession: USE and SET time_zone hold for the statements after them, though each is a request of its own.
func TestSession(t *testing.T) {
	var asked []string
	c := session(t, &asked)
	if _, _, err := run(t, Options{Client: c, DB: "d1"},
		"SELECT 1; USE `D 2`; SELECT 2; SET time_zone = '+02:00'; SELECT 3; SET x = 1; use d3; SELECT 4"); err != nil {
		t.Fatal(err)
	}
	want := []string{"d1 UTC SELECT 1", "d1 UTC USE `D 2`", "D 2 UTC SELECT 2", "D 2 UTC SET time_zone = '+02:00'",
		"D 2 +02:00 SELECT 3",
		"D 2 +02:00 SET x = 1", "D 2 +02:00 use d3", "d3 +02:00 SELECT 4"}
	if strings.Join(asked, "\n") != strings.Join(want, "\n") {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, script string
		keepGoing    bool
		asked        int
		err, notes   string
	}{
		{"the first error ends", "SELECT 1;\nfail;\nSELECT 2", false, 2,
			"-e: line 2: query failed (4001): Table not found: fail", ""},
		{"keep going", "fail 1;\nfail 2;\nSELECT 2", true, 3, "2 statements failed",
			"varve: query failed (4001): Table not found: fail 1\nvarve: -e: line 2: query failed (4001): Table not found: fail 2\n"},
		{"not allowed, keep going", "deny;SELECT 2", true, 2, "a statement failed",
			"varve: query failed (7006): not allowed\n"},
		{"not allowed", "deny;SELECT 2", false, 1, "query failed (7006): not allowed", ""},
		{"no such command", `\nope`, false, 0, `\nope is not known`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			_, notes, err := run(t, Options{Client: session(t, &asked), KeepGoing: c.keepGoing}, c.script)
			if err == nil || !strings.Contains(err.Error(), c.err) || notes != c.notes || len(asked) != c.asked {
				t.Errorf("got %v, notes %q after %d requests, want %s, %q after %d", err, notes, len(asked), c.err,
					c.notes, c.asked)
			}
		})
	}
}

// TestAffected: a statement without rows prints no result.
func TestAffected(t *testing.T) {
	for _, format := range []string{"tsv", "csv", "json", "table"} {
		var asked []string
		out, notes, err := run(t, Options{Client: session(t, &asked), Format: format, Footer: true},
			"-- why\nINSERT INTO t VALUES (1)")
		if err != nil || out != "" {
			t.Errorf("%s: printed %q, %v", format, out, err)
		}
		if want := "1,234 rows affected ("; format == "table" && !strings.HasPrefix(notes, want) {
			t.Errorf("notes %q, want %s", notes, want)
		}
	}
}

// TestCounted: thousands stand apart.
func TestCounted(t *testing.T) {
	for n, want := range map[int64]string{0: "0 rows", 1: "1 row", 999: "999 rows", 1000: "1,000 rows",
		1234567: "1,234,567 rows"} {
		if got := client.Plural(n, "row"); got != want {
			t.Errorf("%s: got %s, want %s", strconv.FormatInt(n, 10), got, want)
		}
	}
}

// TestInterrupted: Ctrl-C ends the query that runs, and no other begins.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := make(chan struct{})
	asked := 0
	c := server(t, func(_ http.ResponseWriter, r *http.Request) {
		asked++
		io.Copy(io.Discard, r.Body) //nolint:errcheck // a test's
		cancel(&client.InterruptedError{Signal: 2})
		<-r.Context().Done()
		close(gone)
	})
	s, err := New(Options{Client: c, Format: "tsv", Zone: "UTC", Out: io.Discard, Notes: io.Discard, KeepGoing: true})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(ctx, "-e", strings.NewReader("SELECT 1; SELECT 2"))
	<-gone
	var interrupted *client.InterruptedError
	if !errors.As(err, &interrupted) || asked != 1 {
		t.Errorf("got %v after %d requests", err, asked)
	}
}

// TestNothingSteers: what a server says in rows, heads and errors reaches a terminal escaped, and everything else as it
// is.
func TestNothingSteers(t *testing.T) {
	const nasty = "a\u009b31m\u202e\u200f"
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("sql"), "fails") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"code":1001,"error":"no \u001b]0;x\u0007 %s"}`, nasty)
			return
		}
		fmt.Fprintf(w,
			`{"output":[{"records":{"schema":{"column_schemas":[{"name":"%s","data_type":"String"},{"name":"j","data_type":"Json"}]},"rows":[["%[1]s",{"k":"%[1]s"}]]}}]}`, nasty)
	})
	for _, format := range Formats {
		if isPassed(format) {
			continue
		}
		out, notes, err := run(t, Options{Client: c, Format: format, Size: sized(80), KeepGoing: true},
			"fails; SELECT 1")
		if strings.ContainsAny(out+notes, "\u009b\u202e\u200f\x1b\x07") ||
			!strings.Contains(notes, `no \x1b]0;x\x07 a\u009b31m`) || !strings.Contains(out, `a\u009b31m\u202e\u200f`) {
			t.Errorf("%s: %q, %q, %v", format, out, notes, err)
		}
		file := filepath.Join(t.TempDir(), "out")
		if _, _, err := run(t, Options{Client: c, Format: format, Size: sized(80)},
			"SELECT 1;\n\\o "+file+"\nSELECT 1;"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if raw := strings.Contains(string(text), nasty); err != nil ||
			raw != (format == "json" || format == "ndjson" || format == "line") {
			t.Errorf("%s to a file: %q, %v", format, text, err)
		}
	}
}

// TestColoursOfFiles: what \o sends to a file or a command has no colours, unless they are always wanted; what follows
// on the terminal has.
func TestColoursOfFiles(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { rows(w, 1, whole) })
	for _, format := range []string{"table", "vertical"} {
		for _, to := range []string{"out", "| cat > out", "/no/such/directory/out"} {
			for _, always := range []bool{false, true} {
				t.Chdir(t.TempDir())
				o := Options{Client: c, Format: format, Size: sized(80), Colour: true, ColourFiles: always,
					KeepGoing: true}
				out, _, err := run(t, o, "\\o "+to+"\nSELECT 1;\n\\o\nSELECT 1;")
				text, _ := os.ReadFile("out") //nolint:errcheck // one is not written
				wrote := !strings.HasPrefix(to, "/")
				if (err == nil) != wrote || len(text) > 0 != wrote ||
					bytes.Contains(text, []byte("\x1b[")) != (wrote && always) || !strings.Contains(out, "\x1b[") {
					t.Errorf("%s to %q, always %v: %q, then %q, %v", format, to, always, text, out, err)
				}
			}
		}
	}
}

// TestWatchedResult: of a result that \watch shows no more is held than the terminal shows.
func TestWatchedResult(t *testing.T) {
	var answered int
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { rows(w, answered, whole) })
	for _, n := range []int{2, 50_000} {
		answered = n
		for _, format := range Formats {
			var out bytes.Buffer
			s, err := New(Options{Client: c, Format: format, Zone: "UTC", Out: &out, Notes: io.Discard,
				Size: func() (int, int) { return 80, 14 }})
			if err != nil {
				t.Fatal(err)
			}
			s.last = "SELECT 1"
			if err := s.redraw(t.Context(), time.Second); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if lines := strings.Count(out.String(), "\n"); lines > 13 || out.Len() > 2*heldMost ||
				strings.HasSuffix(out.String(), "there is more\n") != (lines == 13 || n > 2) ||
				n > 2 && lines != 13 && !isPassed(format) {
				t.Errorf("%d rows as %s: %d lines, %d bytes: %.300q", n, format, lines, out.Len(), out.String())
			}
		}
	}
}
