package shell

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/client"
)

// TestCommands: what commands with a backslash do in a script.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	include, loop := filepath.Join(dir, "a.sql"), filepath.Join(dir, "loop.sql")
	for name, text := range map[string]string{include: "SELECT 'included'", loop: `\i ` + loop} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, script string
		out, notes   string // are begun so
		err          string
		asked        []string
	}{
		{"format", "\\f line\nSELECT 1;\n\\f", "0\t\n", "line; there are table, tsv,", "", []string{"SELECT 1"}},
		{"unknown format", `\f xml`, "", "", `\f xml: expected one of table, tsv`, nil},
		{"vertical", "\\x\nSELECT 1;\n\\x off", "─[ row 1 ]",
			"results are printed vertically\nresults are printed as tsv\n", "", []string{"SELECT 1"}},
		{"once vertical", "SELECT 1\\G\nSELECT 2;", "─[ row 1 ]", "", "", []string{"SELECT 1", "SELECT 2"}},
		{"again", "SELECT 1;\n\\g\n\\G", "n\ts\n0\t\nn\ts\n0\t\n─[ row 1 ]", "", "",
			[]string{"SELECT 1", "SELECT 1", "SELECT 1"}},
		{"nothing to run again", `\g`, "", "", "no statement has run yet", nil},
		{"explain", "SELECT 1;\n\\explain\n\\analyze", "", "", "",
			[]string{"SELECT 1", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1"}},
		{"explain a query of metrics", "tql  eval (0, 1, '1s') up;\n\\explain\n\\analyze", "", "", "",
			[]string{"tql  eval (0, 1, '1s') up", "TQL EXPLAIN (0, 1, '1s') up", "TQL ANALYZE (0, 1, '1s') up"}},
		{"forget", "SELECT 1,\n\\r\nSELECT 2;", "", "", "", []string{"SELECT 2"}},
		{"amid a statement", "SELECT 1,\n\\tz +02:00\n2;", "", "times are those of +02:00\n", "",
			[]string{"SELECT 1,\n\n2"}},
		{"zone", `\tz Mars/Olympus`, "", "", "Mars/Olympus", nil},
		{"since", `\since 2026-11-21 03:46`, "", "$from is 2026-11-21 03:46 (2026-11-21 03:46:00 +00:00)\n", "", nil},
		{"no time", `\since whenever`, "", "", "whenever", nil},
		{"database", "\\c other\n\\c", "", "other\n", "", []string{`USE "other"`}},
		{"include", `\i ` + include, "n\ts\n", "", "", []string{"SELECT 'included'"}},
		{"include itself", `\i ` + loop, "", "", "scripts run each other 16 levels deep", nil},
		{"no file", `\i ` + loop + ".nope", "", "", "no such file", nil},
		{"to a command", "\\o | wc -l\nSELECT 1;\n\\o", "2\n", "", "", []string{"SELECT 1"}},
		{"a command that fails", "\\o | exit 3\n\\o", "", "", "exit 3: exit status 3", nil},
		{"system", `\! echo here`, "here\n", "", "", nil},
		{"leave", "SELECT 1;\n\\q\nSELECT 2;", "", "", "", []string{"SELECT 1"}},
		{"nearest", `\wach`, "", "", `\wach is not known. Did you mean '\watch'?`, nil},
		{"top without a column", `\top t`, "", "", `\top TABLE COLUMN [N] is wanted`, nil},
		{"watch", `\watch never`, "", "", "a number of seconds is wanted", nil},
		{"tail", `\tail t`, "", "", "needs a terminal", nil},
		{"help", `\?`, `\?                           this list`, "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			out, notes, err := run(t, Options{Client: session(t, &asked)}, c.script)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if !strings.HasPrefix(out, c.out) || !strings.HasPrefix(notes, c.notes) {
				t.Errorf("printed %q and said %q, want %q and %q", out, notes, c.out, c.notes)
			}
			var statements []string
			for _, a := range asked {
				statements = append(statements, strings.SplitN(a, " ", 3)[2])
			}
			if strings.Join(statements, "|") != strings.Join(c.asked, "|") {
				t.Errorf("asked %q, want %q", statements, c.asked)
			}
		})
	}
}

// TestTimeLimit: an answer that does not end in time is an error that says so.
func TestTimeLimit(t *testing.T) {
	over := make(chan struct{})
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		rows(w, 3, "")
		w.(http.Flusher).Flush()
		<-over
	})
	defer close(over)
	flags := client.Flags{URL: c.Base, Timeout: 2 * time.Second}
	limited, err := flags.Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, Options{Client: limited}, "SELECT 1"); err == nil ||
		!strings.Contains(err.Error(), "no whole answer within the time of --timeout") {
		t.Errorf("got %v", err)
	}
}
