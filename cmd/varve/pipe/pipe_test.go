package pipe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"varve/cmd/varve/client"
)

func TestDiff(t *testing.T) {
	lines := func(from, to int, but map[int]string) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			if text, ok := but[i]; !ok {
				b.WriteString("line " + string(rune('a'+i)) + "\n")
			} else if text != "" {
				b.WriteString(text + "\n")
			}
		}
		return b.String()
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"one of many", lines(0, 20, nil), lines(0, 20, map[int]string{10: "new"}),
			"--- old\n+++ new\n@@ -8,7 +8,7 @@\n line h\n line i\n line j\n-line k\n+new\n line l\n line m\n line n\n"},
		{"two far apart", lines(0, 20, nil), lines(0, 20, map[int]string{1: "", 19: "x"}),
			"--- old\n+++ new\n@@ -1,5 +1,4 @@\n line a\n-line b\n line c\n line d\n line e\n@@ -17,5 +16,5 @@\n line q\n line r\n line s\n-line t\n+x\n line u\n"},
		{"two near each other", lines(0, 9, nil), lines(0, 9, map[int]string{2: "", 8: "x"}),
			"--- old\n+++ new\n@@ -1,10 +1,9 @@\n line a\n line b\n-line c\n line d\n line e\n line f\n line g\n line h\n-line i\n+x\n line j\n"},
		{"from nothing", "", "a\n", "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+a\n"},
		{"to nothing", "a\n", "", "--- old\n+++ new\n@@ -1,1 +0,0 @@\n-a\n"},
		{"no line end", "a", "a\n", "--- old\n+++ new\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
	} {
		if got := Diff("old", "new", c.old, c.new); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// TestLargeDiff: texts with too many lines to match are compared within bounds.
func TestLargeDiff(t *testing.T) {
	one, other := strings.Repeat("a\n", 10000), strings.Repeat("b\n", 10000)
	if got := Diff("x", "y", "same\n"+one, "same\n"+other); !strings.HasPrefix(got,
		"--- x\n+++ y\n@@ -1,10001 +1,10001 @@\n same\n-a\n") || strings.Count(got, "\n+b") != 10000 {
		t.Errorf("got %.200s", got)
	}
}

const document = `version: 2
processors:
  - dissect: {field: message, pattern: '%{level} %{n} %{text}'}
  - filter: {field: level, targets: [debug]}
  - epoch: {field: n, resolution: s}
transform:
  - {field: n, type: "epoch, s", index: timestamp}
  - {field: level, type: string, index: tag}
dispatcher:
  field: level
  rules:
    - {value: error, table_suffix: _errors, pipeline: errors}
`

// TestTrial: rows by table, entries that fail and that are dropped; documents that dispatchers name are at hand; the
// outcome is the same each time.
func TestTrial(t *testing.T) {
	trial := Trial{File: "d.yaml", Text: []byte(document), With: map[string][]byte{
		"errors": []byte(
			"version: 2\nprocessors:\n  - letter: {fields: [level], method: upper}\ntransform:\n  - {field: n, type: 'epoch, s', index: timestamp}\n"),
	}}
	samples := "info 1 a\nerror 2 b\tc\ndebug 3 c\nwarn many d\n"
	o, err := trial.Run(t.Context(), []byte(samples))
	if err != nil {
		t.Fatal(err)
	}
	if o.Failed != 1 || len(o.Tables) != 2 || len(o.Entries) != 4 {
		t.Errorf("got %+v", o)
	}
	var table strings.Builder
	if err := o.Print(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"table dry_run\n", "table dry_run_errors\n", "1970-01-01T00:00:01", `b\tc`,
		"entry 4 fails: ", "4 entries, 1 failed, 1 dropped\n"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, &table)
		}
	}
	file := filepath.Join(t.TempDir(), "expected.json")
	if err := o.Expect(&table, file, false); err == nil || !strings.Contains(err.Error(), "--update") {
		t.Errorf("without a file: %v", err)
	}
	if err := o.Expect(&table, file, true); err != nil {
		t.Fatal(err)
	}
	again, err := trial.Run(t.Context(), []byte(samples))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Expect(&table, file, false); err != nil {
		t.Errorf("again: %v", err)
	}
	other, err := trial.Run(t.Context(), []byte(strings.Replace(samples, "info", "INFO", 1)))
	if err != nil {
		t.Fatal(err)
	}
	table.Reset()
	var different *DifferentError
	if err := other.Expect(&table, file, false); !errors.As(err, &different) ||
		!strings.Contains(table.String(), "\n-{\"entry\":1,") {
		t.Errorf("another outcome: %v\n%s", err, &table)
	}
}

// TestManySamples: there is no bound of ten.
func TestManySamples(t *testing.T) {
	trial := Trial{File: "d.yaml", Text: []byte(document)}
	o, err := trial.Run(t.Context(), []byte(strings.Repeat("info 1 a\n", 5000)))
	if err != nil || len(o.Entries) != 5000 || o.Tables[0].Rows.N != 5000 {
		t.Errorf("%d entries, %v", len(o.Entries), err)
	}
}

// TestInterruptedTrial: a trial that is interrupted says so.
func TestInterruptedTrial(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&client.InterruptedError{Signal: syscall.SIGINT})
	var interrupted *client.InterruptedError
	if _, err := (&Trial{Text: []byte(document)}).Run(ctx, []byte("info 1 a\n")); !errors.As(err, &interrupted) {
		t.Errorf("got %v", err)
	}
}

// TestLargeFiles: what does not fit into memory is refused before it is there.
func TestLargeFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, mostRead+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), "larger than 256 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestBadDocuments(t *testing.T) {
	bad := []byte("processors:\n  - disect: {}\n")
	var usage *client.UsageError
	if _, err := Lint(t.Context(), "bad.yaml", bad); !errors.As(err, &usage) ||
		!strings.HasPrefix(err.Error(), "bad.yaml: ") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("lint: %v", err)
	}
	if _, err := (&Trial{File: "bad.yaml", Text: bad}).Run(t.Context(), nil); !errors.As(err, &usage) {
		t.Errorf("test: %v", err)
	}
	if _, err := (&Trial{Text: []byte(document), With: map[string][]byte{"errors": bad}}).Run(t.Context(),
		nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), "the pipeline errors") {
		t.Errorf("test with a bad one: %v", err)
	}
}

// TestExamples: the documents of the tree compile without a warning.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../../docs/pipelines/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if warnings, err := Lint(t.Context(), file, text); err != nil || len(warnings) > 0 {
			t.Errorf("%v, %q", err, warnings)
		}
	}
}
