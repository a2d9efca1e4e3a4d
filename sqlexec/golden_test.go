package sqlexec

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/engine/status"
)

var update = flag.Bool("update", false,
	"write the results of testdata/own anew; read the difference before you commit it")

// TestUpdate writes the .result files of testdata/own from their .sql files. TestCases holds the answers to them.
func TestUpdate(t *testing.T) {
	files, err := filepath.Glob("testdata/own/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	for _, file := range files {
		result := strings.TrimSuffix(file, ".sql") + ".result"
		got := writeResult(t, file)
		if *update {
			if err := os.WriteFile(result, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(result)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the answers differ from the file; run with -update and read the difference", result)
		}
	}
}

// writeResult runs a file of statements and writes each with its answer.
func writeResult(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	x := New(openStore(t), Options{Workers: 1, Version: "test"})
	s := &Session{}
	var out strings.Builder
	var sql strings.Builder
	for line := range strings.Lines(string(text)) {
		if sql.Len() == 0 && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "--")) {
			if strings.TrimSpace(line) != "" {
				out.WriteString(line + "\n")
			}
			continue
		}
		sql.WriteString(line)
		if !strings.HasSuffix(strings.TrimSpace(line), ";") {
			continue
		}
		o, err := answer(x, s, sql.String(), false)
		if err != nil {
			t.Fatalf("%s: %s%v", file, sql.String(), err)
		}
		fmt.Fprintf(&out, "%s\n%s\n", sql.String(), draw(o))
		sql.Reset()
	}
	return out.String()
}

// linesOf spreads a row whose cells have several lines over several rows of the drawing.
func linesOf(row []string) [][]string {
	var lines [][]string
	for c, text := range row {
		for i, part := range strings.Split(text, "\n") {
			if i == len(lines) {
				lines = append(lines, make([]string, len(row)))
			}
			lines[i][c] = part
		}
	}
	return lines
}

// draw writes an answer as the case files have it.
func draw(o outcome) string {
	if o.err != nil {
		text, _, _ := strings.Cut(o.err.Error(), "\n")
		return fmt.Sprintf("Error: %d(%s), %s\n", status.Of(o.err), status.Of(o.err), text)
	}
	if o.names == nil {
		return fmt.Sprintf("Affected Rows: %d\n", o.affected)
	}
	widths := make([]int, len(o.names))
	for _, row := range append([][]string{o.names}, o.rows...) {
		for c, text := range row {
			for line := range strings.SplitSeq(text, "\n") {
				widths[c] = max(widths[c], utf8.RuneCountInString(line))
			}
		}
	}
	var out strings.Builder
	rule := func() {
		for _, w := range widths {
			out.WriteString("+" + strings.Repeat("-", w+2))
		}
		out.WriteString("+\n")
	}
	line := func(row []string) {
		for c, text := range row {
			out.WriteString("| " + text + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text)+1))
		}
		out.WriteString("|\n")
	}
	rule()
	line(o.names)
	rule()
	for _, row := range o.rows {
		for _, part := range linesOf(row) {
			line(part)
		}
	}
	rule()
	return out.String()
}
