package sqlexec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// manual is the description of the language. A block of SQL in it is a request; the text block right after it is what the
// last statement answers.
const manual = "../docs/sql.md"

// TestManual runs every example of docs/sql.md. With -update the answers are written anew.
func TestManual(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	x := New(openStore(t), Options{Workers: 2, Version: "test", CopyDir: filepath.Join(t.TempDir(), "copy")})
	var out strings.Builder
	rest, line, answers := string(text), 1, 0
	for {
		before, block, ok := strings.Cut(rest, "```sql\n")
		out.WriteString(before)
		if !ok {
			break
		}
		line += strings.Count(before, "\n") + 1
		sql, after, ok := strings.Cut(block, "```\n")
		if !ok {
			t.Fatalf("line %d: the block does not end", line)
		}
		got, err := shown(x, sql)
		out.WriteString("```sql\n" + sql + "```\n")
		line += strings.Count(sql, "\n") + 1
		answered, ok := strings.CutPrefix(after, "```text\n")
		switch {
		case ok:
			var want string
			want, after, ok = strings.Cut(answered, "```\n")
			if !ok {
				t.Fatalf("line %d: the answer does not end", line)
			}
			if err != nil {
				got = fmt.Sprintf("%d: %v\n", status.Of(err), err)
			}
			if got != want && !*update {
				t.Errorf("line %d: %s\n got\n%s\nwant\n%s", line, sql, got, want)
			}
			out.WriteString("```text\n" + got + "```\n")
			line += strings.Count(want, "\n") + 2
			answers++
		case err != nil:
			t.Errorf("line %d: %s%v", line, sql, err)
		}
		rest = after
	}
	if *update {
		if err := os.WriteFile(manual, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if answers < 40 {
		t.Errorf("%d answers are shown", answers)
	}
}

// shown runs the statements of a request and writes the answer of the last one as the manual has it: values as CAST gives
// them, NULL by its name.
func shown(x *Executor, sql string) (string, error) {
	list, err := x.Parse(sql)
	if err != nil {
		return "", err
	}
	s, text := &Session{}, ""
	for _, st := range list {
		r, err := x.Execute(context.Background(), s, st)
		if err != nil {
			return "", err
		}
		if r.Rows == nil {
			text = fmt.Sprintf("%d rows affected\n", r.Affected)
			continue
		}
		cells, err := textRows(r)
		if err != nil {
			return "", err
		}
		text = pretty(r.Fields, cells)
	}
	return text, nil
}

func textRows(r *Result) (rows [][]string, err error) {
	defer r.Rows.Close()
	var b vector.Batch
	for {
		ok, err := r.Rows.Next(&b)
		if err != nil || !ok {
			return rows, err
		}
		for i := range b.N {
			var row []string
			for _, v := range b.Cols {
				text := "NULL"
				if !v.IsNull(i) {
					text = string(expr.AppendText(nil, v, i))
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
}

// pretty draws rows as columns; rows with cells of several lines one below the other.
func pretty(fields []vector.Field, rows [][]string) string {
	var out strings.Builder
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	widths := make([]int, len(fields))
	long := false
	for _, row := range append([][]string{names}, rows...) {
		for c, text := range row {
			widths[c] = max(widths[c], utf8.RuneCountInString(text))
			long = long || strings.Contains(text, "\n")
		}
	}
	if long {
		for _, row := range rows {
			for c, text := range row {
				out.WriteString(names[c] + ":\n    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n")
			}
		}
		return strings.ReplaceAll(out.String(), "    \n", "\n")
	}
	line := func(row []string) {
		var l strings.Builder
		for c, text := range row {
			if c > 0 {
				l.WriteString(" | ")
			}
			l.WriteString(text + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text)))
		}
		out.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(names)
	for c, w := range widths {
		if c > 0 {
			out.WriteString("-+-")
		}
		out.WriteString(strings.Repeat("-", w))
	}
	out.WriteString("\n")
	for _, row := range rows {
		line(row)
	}
	return out.String()
}

// TestManualNamesEveryFunction looks for every function and aggregate in docs/sql.md.
func TestManualNamesEveryFunction(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(text), -1) {
		for _, word := range regexp.MustCompile(`[a-z_][a-z0-9_]*`).FindAllString(code, -1) {
			named[word] = true
		}
	}
	plain := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, name := range append(expr.Names(), expr.AggregateNames()...) {
		switch name {
		case "and", "or", "like", "ilike", "negate": // operators
			continue
		}
		if plain.MatchString(name) && !named[name] {
			t.Errorf("%s does not name the function %s", manual, name)
		}
	}
}
