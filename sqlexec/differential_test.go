package sqlexec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	engineexec "varve/sqlexec/exec"
	"varve/sqlexec/spill"
)

// TestDifferential runs random queries on this engine and on the sqlite3 command and compares the answers. Where there
// is no such command it says so and is done; where VARVE_NEED_SQLITE3 is set there has to be one.
func TestDifferential(t *testing.T) {
	differential(t, Options{Workers: 2, Version: "test"}, 700, (*generator).query)
}

// TestDifferentialSpills is TestDifferential of grouped queries and set operations in so little memory that a few rows
// are too many: groups go to disk. A query may need more for something else, and some 37 do: 20 for the files of joins,
// ten for rows that a sort keeps, others for distinct values without keys and the answers of subqueries.
func TestDifferentialSpills(t *testing.T) {
	fs := vfs.NewMem()
	d, err := spill.Open(spill.Options{FS: fs, Dir: "data/tmp", Limit: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	differential(t, Options{Workers: 2, Version: "test", Memory: engineexec.NewPool(24 << 10), Spill: d}, 300,
		func(g *generator) string {
			if g.IntN(3) == 0 {
				return g.set()
			}
			return g.grouped()
		})
	if _, files := d.Written(); files < 1000 || d.Held() != 0 {
		t.Errorf("%d files were written, %d bytes are held", files, d.Held())
	}
	if names, err := fs.List("data/tmp"); err != nil || len(names) > 0 {
		t.Errorf("%v stay behind: %v", names, err)
	}
}

// differential compares the answers to so many random queries for each of several seeds.
func differential(t *testing.T, o Options, queries int, query func(*generator) string) {
	t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("VARVE_NEED_SQLITE3") != "" {
			t.Fatal("the sqlite3 command is missing: the differential test needs it")
		}
		t.Log("the sqlite3 command is missing: queries are not compared with another engine")
		return
	}
	refused := 0
	for seed := uint64(1); seed <= 3; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 99))}
		x, s := New(openStore(t), o), &Session{}
		var script strings.Builder
		script.WriteString(
			"PRAGMA case_sensitive_like = 1;\n.mode list\n.separator \"\\037\" \"\\036\"\n.nullvalue NULL\n")
		for _, name := range []string{"t1", "t2"} {
			rows := g.rows(40)
			must(t, x, s, "CREATE TABLE "+name+
				" (id BIGINT, a BIGINT, c BIGINT, b DOUBLE, s STRING, k STRING, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k)) WITH (append_mode = 'true')", false)
			script.WriteString("CREATE TABLE " + name +
				" (id INTEGER, a INTEGER, c INTEGER, b REAL, s TEXT, k TEXT, ts INTEGER);\n")
			var values []string
			for i, row := range rows {
				values = append(values, "("+strings.Join(row, ", ")+", "+strconv.Itoa(i)+")")
			}
			// The two halves are in a file and in memory, the second table wholly in files.
			must(t, x, s, "INSERT INTO "+name+" VALUES "+strings.Join(values[:20], ", "), true)
			must(t, x, s, "INSERT INTO "+name+" VALUES "+strings.Join(values[20:], ", "), name == "t2")
			script.WriteString("INSERT INTO " + name + " VALUES " + strings.Join(values, ", ") + ";\n")
		}
		list := make([]string, queries)
		for i := range list {
			list[i] = query(g)
			script.WriteString(list[i] + ";\n.print \"\\035\"\n")
		}
		want := sqlite(t, path, script.String(), queries)
		differ := 0
		for i, sql := range list {
			got, err := answer(x, s, sql, false)
			if err == nil {
				err = got.err
			}
			if o.Spill != nil && status.Of(err) == status.RuntimeResourcesExhausted {
				refused++
				continue
			}
			if err == nil {
				err = sameAnswer(got, want[i], strings.Contains(sql[max(0, strings.LastIndex(sql, ")")):], "ORDER BY"))
			}
			if err != nil {
				t.Errorf("seed %d: %s;\n%v", seed, sql, err)
				if differ++; differ == 10 {
					t.Fatal("too many differences")
				}
			}
		}
	}
	if refused > queries/6 { // one in 18
		t.Errorf("%d of %d queries were refused", refused, 3*queries)
	}
}

func must(t *testing.T, x *Executor, s *Session, sql string, flush bool) {
	t.Helper()
	o, err := answer(x, s, sql, flush)
	if err == nil {
		err = o.err
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// sqlite runs a script and gives the rows of each query.
func sqlite(t *testing.T, path, script string, queries int) [][][]string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), path, "-batch", "-init", os.DevNull, ":memory:")
	cmd.Stdin = strings.NewReader(script)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if stderr.Len() > 0 || err != nil {
		t.Fatalf("sqlite3: %v %s", err, stderr.String()[:min(stderr.Len(), 1000)])
	}
	parts := strings.Split(string(out), "\035\n")
	if len(parts) != queries+1 {
		t.Fatalf("sqlite3 answered %d queries of %d", len(parts)-1, queries)
	}
	answers := make([][][]string, queries)
	for i, part := range parts[:queries] {
		for _, row := range strings.Split(strings.TrimSuffix(part, "\036"), "\036") {
			if part != "" {
				answers[i] = append(answers[i], strings.Split(row, "\037"))
			}
		}
	}
	return answers
}

// sameAnswer compares rows, in their order or in any.
func sameAnswer(got outcome, want [][]string, ordered bool) error {
	have := make([][]string, len(got.rows))
	for r, row := range got.rows {
		for c, text := range row {
			have[r] = append(have[r], canonical(text, got.types[c], got.nulls[r][c]))
		}
	}
	for r, row := range want {
		for c, text := range row {
			if c < len(got.types) {
				want[r][c] = canonical(text, got.types[c], text == "NULL")
			}
		}
	}
	if !ordered {
		sortRows(have)
		sortRows(want)
	}
	if !slices.EqualFunc(have, want, slices.Equal[[]string]) {
		return fmt.Errorf(" got %d rows %q\nwant %d rows %q", len(have), have, len(want), want)
	}
	return nil
}

// canonical writes a value the way both engines mean it: numbers with 12 digits, booleans as numbers.
func canonical(text string, t vector.Type, null bool) string {
	switch {
	case null:
		return "NULL"
	case t == vector.BoolType:
		return map[string]string{"true": "1", "false": "0"}[text]
	case t.IsNumber():
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		if math.Abs(f) < 1e-9 {
			f = 0
		}
		return strconv.FormatFloat(f, 'g', 12, 64)
	}
	return text
}
