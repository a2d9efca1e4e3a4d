package sqlexec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"varve/engine/vfs"
	qexec "varve/sqlexec/exec"
	"varve/sqlexec/spill"
)

// spillingJoins are statements over the tables t1, t2 and t3 that join more rows than fit; %s is a kind of join.
var spillingJoins = []string{
	"SELECT count(*), count(l.id), count(r.id), sum(l.a), sum(r.a), sum(length(l.pad)), sum(length(r.pad)) FROM %s ON l.a = r.c",
	"SELECT count(*), sum(l.id), sum(r.id), sum(length(l.pad)), sum(length(r.pad)) FROM %s ON l.k = r.k",
	"SELECT count(*), sum(l.id), sum(r.id), sum(length(l.pad)), sum(length(r.pad)) FROM %s ON l.k = r.k AND l.a = r.a",
	"SELECT count(*), sum(l.id), sum(r.id), sum(length(l.pad)), sum(length(r.pad)) FROM %s ON l.a = r.a AND l.c < r.c",
	"SELECT count(*), sum(l.id), sum(r.id), sum(length(l.pad || r.pad)) FROM %s ON l.a + 1 = r.c - 1",
	"SELECT count(*), sum(l.id), sum(r.id), sum(length(l.pad || r.pad)) FROM %s ON l.c = r.c AND l.b < r.b WHERE l.id %% 7 = 1 AND r.id %% 5 < 3",
}

// spillingSubqueries are semi and anti joins with NULLs.
var spillingSubqueries = []string{
	"SELECT count(*), sum(l.id), sum(length(l.pad)) FROM t1 l WHERE l.a IN (SELECT r.c FROM t2 r WHERE r.id % 3 > 0)",
	"SELECT count(*), sum(l.id), sum(length(l.pad)) FROM t1 l WHERE l.a NOT IN (SELECT r.c FROM t2 r WHERE r.c IS NOT NULL AND r.c % 3 = 0)",
	"SELECT count(*), sum(l.id), sum(length(l.pad)) FROM t1 l WHERE l.a NOT IN (SELECT r.c FROM t2 r)",
	"SELECT count(*), sum(l.id), sum(length(l.pad)) FROM t1 l WHERE EXISTS (SELECT 1 FROM t3 r WHERE r.k = l.k AND length(r.pad) <> l.a)",
	"SELECT count(*), sum(l.id), sum(length(l.pad)) FROM t2 l WHERE NOT EXISTS (SELECT 1 FROM t3 r WHERE r.a = l.c AND r.pad <> l.pad)",
}

// TestJoinsSpill runs joins in memory that has room for a part of one side, over tables in memory, in files, and half
// and half, and compares the answers with those of sqlite3.
func TestJoinsSpill(t *testing.T) {
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("VARVE_NEED_SQLITE3") != "" {
			t.Fatal("the sqlite3 command is missing: joins are compared with it")
		}
		t.Log("the sqlite3 command is missing: joins are not compared with another engine")
		return
	}
	const rows, per = 2000, 250
	d, err := spill.Open(spill.Options{FS: vfs.NewMem(), Dir: "/tmp", Limit: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	pool := qexec.NewPool(2 << 20)
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	g := &generator{Rand: rand.New(rand.NewPCG(7, 99))}
	script := strings.Builder{}
	script.WriteString(".mode list\n.separator \"\\037\" \"\\036\"\n.nullvalue NULL\n")
	for i, name := range []string{"t1", "t2", "t3"} { // in memory, half and half, in files
		must(t, x, s, "CREATE TABLE "+name+
			" (id BIGINT, a BIGINT, c BIGINT, b DOUBLE, k STRING, pad STRING, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true')", false)
		script.WriteString("CREATE TABLE " + name +
			" (id INTEGER, a INTEGER, c INTEGER, b REAL, k TEXT, pad TEXT, ts INTEGER);\n")
		for from := 0; from < rows; from += per {
			values := make([]string, per)
			for n := range values {
				values[n] = g.padded(from + n)
			}
			sql := "INSERT INTO " + name + " VALUES " + strings.Join(values, ", ")
			must(t, x, s, sql, i == 2 || i == 1 && from < rows/2)
			script.WriteString(sql + ";\n")
		}
	}
	x.o.Memory, x.o.Spill = pool, d
	list := append([]string(nil), spillingSubqueries...)
	for _, sql := range spillingJoins {
		for _, kind := range []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"} {
			l, r := g.pick("t1", "t2", "t3"), g.pick("t1", "t2", "t3")
			list = append(list, fmt.Sprintf(sql, l+" l "+kind+" "+r+" r"))
		}
	}
	for _, sql := range list {
		script.WriteString(sql + ";\n.print \"\\035\"\n")
	}
	want := sqlite(t, path, script.String(), len(list))
	spilled := 0
	for i, sql := range list {
		_, before := d.Written()
		got, err := answer(x, s, sql, false)
		if err == nil {
			err = got.err
		}
		if err == nil {
			err = sameAnswer(got, want[i], true)
		}
		if err != nil {
			t.Errorf("%s;\n%v", sql, err)
		}
		if _, after := d.Written(); after > before {
			spilled++
		}
		if d.Held() != 0 || pool.Used() != 0 {
			t.Errorf("%s: %d bytes stay on disk, %d in memory", sql, d.Held(), pool.Used())
		}
	}
	if spilled < len(list)*3/4 {
		t.Errorf("%d of %d statements put rows into files", spilled, len(list))
	}
}

// padded is the values of a row with a long text.
func (g *generator) padded(n int) string {
	null := func(v any) string {
		if g.IntN(9) == 0 {
			return "NULL"
		}
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("(%d, %s, %s, %s, %s, '%d%s', %d)", n, null(g.IntN(2500)), null(g.IntN(2500)),
		null(float64(g.IntN(80)-40)/4), null(fmt.Sprintf("'key %d'", g.IntN(2000))), g.IntN(9),
		strings.Repeat("x", 600+g.IntN(800)), n)
}
