package sqlexec

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"varve/engine/status"
)

// TestListsMeanComparisons holds IN, ANY and ALL over lists of mixed constants against comparisons with each of them,
// for columns of all types and for a constant beside columns. One of the two may meet a text that does not convert
// where the other need not look.
func TestListsMeanComparisons(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, allTypes)
	columns := []string{"tag", "b", "i8", "i32", "i64", "u8", "u64", "f32", "f64", "dec", "s", "bin", "d", "t0", "t3",
		"t9", "ts", "1", "'1'", "0.5", "f64 + 1", "dec * 2"}
	constants := []string{"NULL", "'a'", "'2024-01-01'", "'1969-12-31 23:59:59.9995'", "'1'", "'1.5'", "0", "1", "-1",
		"128", "4294967296", "9007199254740993", "9223372036854775807",
		"18446744073709551615", "0.5", "1.0", "-0.0", "1e300", "2.25", "2.125", "'NaN'::DOUBLE", "true",
		"'1970-01-01'::DATE", "'1970-01-01 00:00:01'::TIMESTAMP(0)",
		"'1970-01-01 00:00:00.000000001'::TIMESTAMP(9)", "'-0.0000000001'::DECIMAL(38,10)", "0.5::DECIMAL(5, 2)", "i64",
		"f64", "dec", "s", "t3"}
	r := rand.New(rand.NewSource(1))
	compared := 0
	for round := range 900 {
		column, list := columns[round%len(columns)], make([]string, 1+r.Intn(5))
		for i := range list {
			list[i] = constants[r.Intn(len(constants))]
		}
		op := []string{"=", "<>", "<", "<=", ">", ">="}[r.Intn(6)]
		each := func(op string) []string {
			var all []string
			for _, c := range list {
				all = append(all, fmt.Sprintf("(%s %s %s)", column, op, c))
			}
			return all
		}
		members := strings.Join(list, ", ")
		for _, form := range [][2]string{
			{column + " IN (" + members + ")", strings.Join(each("="), " OR ")},
			{column + " NOT IN (" + members + ")", strings.Join(each("<>"), " AND ")},
			{column + " " + op + " ANY (" + members + ")", strings.Join(each(op), " OR ")},
			{column + " " + op + " ALL (" + members + ")", strings.Join(each(op), " AND ")},
		} {
			for _, sql := range []string{"SELECT ts, %s AS hit FROM src ORDER BY ts;",
				"SELECT ts FROM src WHERE %s ORDER BY ts;"} {
				got, gotErr := answer(x, &Session{}, fmt.Sprintf(sql, form[0]), false)
				want, wantErr := answer(x, &Session{}, fmt.Sprintf(sql, form[1]), false)
				switch {
				case gotErr != nil || wantErr != nil || status.Of(got.err) == status.Internal ||
					status.Of(got.err) == status.PlanQuery && want.err == nil:
					t.Errorf("%s: %v %v; %s: %v %v", form[0], gotErr, got.err, form[1], wantErr, want.err)
				case got.err == nil && want.err == nil && fmt.Sprint(got.rows) != fmt.Sprint(want.rows):
					t.Errorf("%s\n got %v\nwant %v", form[0], got.rows, want.rows)
				case got.err == nil && want.err == nil:
					compared++
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d lists were compared", compared)
	}
}

// TestLongLists looks values up in lists whose members are of another type than the column: a lookup is no comparison
// with each.
func TestLongLists(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, "CREATE TABLE n (ts TIMESTAMP(3) TIME INDEX, v BIGINT, d DECIMAL(12, 2), s STRING); "+
		"INSERT INTO n VALUES (1000, 7, 7.5, '7'), (2000, -1, -1.25, 'x'), (3000, NULL, NULL, NULL);")
	for _, c := range []struct{ cond, want string }{
		{"v IN (" + commas(90_000, func(i int) string { return fmt.Sprintf("%d.5", i) }) + ", 7.0)", "[[1]]"},
		{"v NOT IN (" + commas(90_000, func(i int) string { return fmt.Sprintf("%d.5", i) }) + ")", "[[2]]"},
		{"d IN (" + commas(90_000, func(i int) string { return fmt.Sprintf("%d.5", i) }) + ")", "[[1]]"},
		{"d IN (" + commas(90_000, func(i int) string { return fmt.Sprint(i) }) + ", -1.25)", "[[1]]"},
		{"ts IN (" + commas(30_000, func(i int) string { return fmt.Sprintf("'1970-01-01 00:00:01.%06d'", i) }) + ")",
			"[[1]]"},
		{"ts IN (" + commas(30_000, func(i int) string { return fmt.Sprintf("'1970-01-01 00:00:01.%06d'", i*7+1) }) +
			")", "[[0]]"},
		{"d IN (SELECT value FROM generate_series(1, 200000) AS g(value))", "[[0]]"},
		{"v > ALL (SELECT value - 100 FROM generate_series(1, 90) AS g(value))", "[[2]]"},
		{"v + 0.5 >= ANY (SELECT value FROM generate_series(5, 200000) AS g(value))", "[[1]]"},
		{"INTERVAL '1 hour' * v IN (" + commas(9_000, func(i int) string { return fmt.Sprintf("'%d hours'", i) }) + ")",
			"[[1]]"},
	} {
		got, err := answer(x, &Session{}, "SELECT count(*) FROM n WHERE "+c.cond+";", false)
		if err != nil || got.err != nil || fmt.Sprint(got.rows) != c.want {
			t.Errorf("%.60s: %v %v %v, want %s", c.cond, got.rows, err, got.err, c.want)
		}
	}
	got, _ := answer(x, &Session{},
		"SELECT count(*) FROM n WHERE s LIKE ANY (SELECT concat('a', value::STRING, '%') FROM generate_series(1, 20000) AS g(value));", false)
	if status.Of(got.err) != status.RuntimeResourcesExhausted {
		t.Errorf("20,000 patterns: %v %v", got.rows, got.err)
	}
}
