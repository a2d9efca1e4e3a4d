package sqlexec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/sqlexec/plan"
)

// rewriteStates are where the rows of a table may lie.
var rewriteStates = []string{"in memory", "flushed", "half and half", "compacted"}

// rewriteStores makes a store for each state, with tables t1 and t2 of equal rows.
func rewriteStores(t *testing.T, rows map[string][][]string) []*Executor {
	t.Helper()
	list := make([]*Executor, len(rewriteStates))
	for i, state := range rewriteStates {
		x, s := New(openStore(t), Options{Workers: 2, Version: "test"}), &Session{}
		for _, name := range []string{"t1", "t2"} {
			must(t, x, s, "CREATE TABLE "+name+" (id BIGINT, a BIGINT, c INT, b DOUBLE, s STRING, k STRING, "+
				"ts TIMESTAMP TIME INDEX, PRIMARY KEY (k)) WITH (append_mode = 'true')", false)
			var values []string
			for i, row := range rows[name] {
				values = append(values, "("+strings.Join(row, ", ")+", "+strconv.Itoa(i)+")")
			}
			half := len(values) / 2
			must(t, x, s, "INSERT INTO "+name+" VALUES "+strings.Join(values[:half], ", "), state != "in memory")
			must(t, x, s, "INSERT INTO "+name+" VALUES "+strings.Join(values[half:], ", "),
				state == "flushed" || state == "compacted")
			if state == "compacted" {
				must(t, x, s, "ADMIN compact_table('"+name+"')", false)
			}
		}
		list[i] = x
	}
	return list
}

// rewritten writes a query that rewrites concern: keys that are constants or depend on others, sums that differ by
// constants, and conditions of ON on one side.
func (g *generator) rewritten() string {
	from, t := "t1 x", base("x")
	if g.IntN(3) > 0 {
		kind := g.pick("LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "JOIN", "FULL JOIN")
		on := []string{g.pick("x.id = y.id", "x.a = y.a", "x.s = y.s")}
		for range g.IntN(3) {
			on = append(on, g.cond(base(g.pick("x", "y")), 1))
		}
		g.Shuffle(len(on), func(i, j int) { on[i], on[j] = on[j], on[i] })
		from, t = "t1 x "+kind+" t2 y ON "+strings.Join(on, " AND "), base("x").with(base("y"))
	}
	var keys []string
	for range g.IntN(4) {
		switch g.IntN(6) {
		case 0:
			keys = append(keys, g.pick("7", "'w'", "1 + 1"))
		case 1:
			keys = append(keys, "length("+g.pick(t.texts...)+")")
		case 2:
			keys = append(keys, g.pick(t.floats...), "("+g.pick(t.floats...)+" + 1)")
		default:
			k := g.pick(append(t.ints, t.texts...)...)
			keys = append(keys, k)
			if slices.Contains(t.ints, k) {
				for range g.IntN(3) {
					keys = append(keys, fmt.Sprintf("(%s %s %d)", k, g.pick("+", "-", "%"), 1+g.IntN(5)))
				}
			}
		}
	}
	items := slices.Clone(keys)
	for range 1 + g.IntN(4) {
		x := g.pick(t.ints...)
		for range 1 + g.IntN(3) {
			arg := g.pick(x, fmt.Sprint(x, g.pick(" + ", " - "), g.IntN(9)), fmt.Sprint(g.IntN(9), " + ", x))
			items = append(items, "sum("+arg+")"+g.filter(t))
		}
	}
	items = append(items, "count(*)")
	g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	sql := "SELECT " + strings.Join(items, ", ") + " FROM " + from
	if g.IntN(2) == 0 {
		sql += " WHERE " + g.cond(t, 1)
	}
	if len(keys) > 0 {
		at := make([]string, 0, len(keys)) // by position: a bare 7 would be one
		for _, k := range keys {
			at = append(at, strconv.Itoa(1+slices.Index(items, k)))
		}
		sql += " GROUP BY " + strings.Join(at, ", ")
		if g.IntN(3) == 0 {
			sql += " HAVING count(*) > " + g.pick("1", "2")
		}
	}
	return sql
}

func (g *generator) filter(t fields) string {
	if g.IntN(4) > 0 {
		return ""
	}
	return " FILTER (WHERE " + g.pick(t.ints...) + " > 0)"
}

// bothWays answers a query with all rewrites, without any and without one of those that simplify a plan, and fails
// where the answers differ. They may come in any order.
func bothWays(t *testing.T, x *Executor, state, sql string) outcome {
	t.Helper()
	return allWays(t, x, state, sql, plan.AllRewrites, plan.ConstantKeys, plan.DependentKeys, plan.SharedSums,
		plan.OuterConditions)
}

// allWays answers a query with all rewrites and without those of each set, and fails where the answers differ.
func allWays(t *testing.T, x *Executor, state, sql string, sets ...plan.Rewrites) outcome {
	t.Helper()
	var first outcome
	for i, without := range append([]plan.Rewrites{0}, sets...) {
		x.without = without
		o, err := answer(x, &Session{}, sql, false)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		sortRows(o.rows)
		if i == 0 {
			first = o
			continue
		}
		if fmt.Sprint(o.err, o.rows) != fmt.Sprint(first.err, first.rows) {
			t.Errorf("%s, %s: without %06b\n%v %v, with all rewrites\n%v %v", state, sql, without, o.err, o.rows,
				first.err, first.rows)
		}
	}
	x.without = 0
	return first
}

// TestRewrites answers random queries with rewrites and without, in memory, flushed, half and half and compacted, and
// compares the answers with those of the sqlite3 command where there is one.
func TestRewrites(t *testing.T) {
	for seed := uint64(1); seed <= 2; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 27))}
		rows := map[string][][]string{"t1": g.rows(60), "t2": g.rows(40)}
		list := make([]string, 120)
		for i := range list {
			list[i] = g.rewritten()
		}
		want := rewrittenBySqlite(t, rows, list)
		for k, x := range rewriteStores(t, rows) {
			for i, sql := range list {
				bothWays(t, x, rewriteStates[k], sql)
				if want == nil || t.Failed() {
					continue
				}
				o, err := answer(x, &Session{}, sql, false)
				if err == nil {
					err = o.err
				}
				if err == nil {
					err = sameAnswer(o, slices.Clone(want[i]), false)
				}
				if err != nil {
					t.Fatalf("seed %d, %s: %s;\n%v", seed, rewriteStates[k], sql, err)
				}
			}
		}
	}
}

// rewrittenBySqlite are the answers of sqlite3; nil where there is none.
func rewrittenBySqlite(t *testing.T, rows map[string][][]string, queries []string) [][][]string {
	t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("VARVE_NEED_SQLITE3") != "" {
			t.Fatal("the sqlite3 command is missing: the differential test needs it")
		}
		return nil
	}
	var script strings.Builder
	script.WriteString("PRAGMA case_sensitive_like = 1;\n.mode list\n.separator \"\\037\" \"\\036\"\n.nullvalue NULL\n")
	for name, list := range rows {
		script.WriteString("CREATE TABLE " + name +
			" (id INTEGER, a INTEGER, c INTEGER, b REAL, s TEXT, k TEXT, ts INTEGER);\n")
		for i, row := range list {
			fmt.Fprintf(&script, "INSERT INTO %s VALUES (%s, %d);\n", name, strings.Join(row, ", "), i)
		}
	}
	for _, sql := range queries {
		script.WriteString(sql + ";\n.print \"\\035\"\n")
	}
	return sqlite(t, path, script.String(), len(queries))
}

// TestSharedSumsAtTheBounds compares sums that share their state with sums one by one where additions and sums wrap
// around: the answers are the same, and so are the errors.
func TestSharedSumsAtTheBounds(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 27))
	edges := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 3, -1, 0, 1, 5, math.MaxInt64 - 3, math.MaxInt64}
	rows := map[string][][]string{}
	for _, name := range []string{"t1", "t2"} {
		for i := range 60 {
			c := []int64{math.MinInt32, math.MinInt32 + 2, -1, 0, 9, math.MaxInt32 - 1, math.MaxInt32}[g.IntN(7)]
			a := fmt.Sprint(edges[g.IntN(len(edges))])
			if a == fmt.Sprint(int64(math.MinInt64)) {
				a = "-9223372036854775807 - 1"
			}
			rows[name] = append(rows[name],
				[]string{fmt.Sprint(i), a, fmt.Sprint(c), "1.5", "'s'", fmt.Sprintf("'k%d'", i%7)})
		}
	}
	failed, answered := 0, 0
	for k, x := range rewriteStores(t, rows) {
		for range 60 {
			var items []string
			for range 2 + g.IntN(3) {
				by := []int64{1, 3, 4, math.MaxInt64, math.MaxInt64 - 3, 1 << 40}[g.IntN(6)]
				items = append(items, fmt.Sprintf("sum(%s %s %d)", []string{"a", "c"}[g.IntN(2)],
					[]string{"+", "-"}[g.IntN(2)], by))
				items = append(items, "sum(c + 1::INT)", "sum(c - 7::INT)")
			}
			sql := "SELECT k, " + strings.Join(items, ", ") + " FROM t1 WHERE id % 60 < " + fmt.Sprint(1+g.IntN(20)) +
				" GROUP BY k"
			if bothWays(t, x, rewriteStates[k], sql).err != nil {
				failed++
			} else {
				answered++
			}
		}
	}
	if failed < 10 || answered < 10 {
		t.Errorf("%d queries failed, %d answered: the test wants both", failed, answered)
	}
}
