package sqlexec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
	"varve/sqlexec/exec"
)

// tokens cuts a statement where words, numbers, texts and signs meet.
var tokens = regexp.MustCompile(`'[^']*'|[A-Za-z_][A-Za-z_0-9.]*|[0-9.]+|\s+|.`)

// scraps are what statements are spoiled with: words that mean something, functions of every kind, values at the ends
// of their types, and what no grammar has.
var scraps = strings.Fields(
	`SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET UNION EXCEPT JOIN ON USING NATURAL CASE WHEN END AND OR NOT NULL IS IN
	LIKE BETWEEN EXISTS DISTINCT OVER PARTITION ROWS RANGE GROUPS PRECEDING FILTER WITH RECURSIVE CAST AS INTERVAL ARRAY ALIGN FILL ANY ALL ROLLUP CUBE
	count sum avg median array_agg string_agg row_number lag ntile nth_value grouping unnest generate_series date_bin date_trunc now
	regexp_replace regexp_match repeat lpad to_timestamp date_part json_get_int json_path_match json_object make_array array_sort array_element hll
	uddsketch_state uddsketch_calc approx_percentile_cont corr matches ipv4_to_cidr format elt insert overlay digest arrow_cast
	9223372036854775807 -9223372036854775808 18446744073709551615 1e308 -0.0 0 1 '' 'NaN' '2024-01-01' '1h' 'x' x'00' t1 t2 t1.ts id a b s k ts
	( ) [ ] , ; . * / % + - = <> < >= || :: @@ ~ ^ & | << $ ? " { } \ 'é`)

func (g *generator) scrap() string { return scraps[g.IntN(len(scraps))] }

// spoil changes a statement in a few places.
func (g *generator) spoil(sql string) string {
	list := tokens.FindAllString(sql, -1)
	for range 1 + g.IntN(4) {
		i, j := g.IntN(len(list)), g.IntN(len(list))
		switch g.IntN(6) {
		case 0:
			list[i] = " " + g.scrap() + " "
		case 1:
			list[i] = ""
		case 2:
			list[i] += " " + g.scrap() + " "
		case 3:
			list[i], list[j] = list[j], list[i]
		case 4:
			list[i] += list[j]
		case 5:
			list[i] = g.scrap() + "(" + list[i] + ", " + list[j] + ")"
		}
	}
	return strings.Join(list, "")
}

// longest is how long a spoilt statement over two small tables may take before it is called a hang.
const longest = 10 * time.Second

// TestSpoiltStatements runs random statements, most of which are wrong in some way: each answers or is refused with a
// code of the contract, within bounds. None panics, none hangs.
func TestSpoiltStatements(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(5, 5))}
	x, s := New(openStore(t), Options{Workers: 2, Version: "test", Memory: exec.NewPool(64 << 20)}), &Session{}
	for _, name := range []string{"t1", "t2"} {
		must(t, x, s, "CREATE TABLE "+name+
			" (id BIGINT, a BIGINT, c BIGINT, b DOUBLE, s STRING, k STRING, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k))",
			false)
		for i, row := range g.rows(20) {
			must(t, x, s, "INSERT INTO "+name+" VALUES ("+strings.Join(row, ", ")+", "+fmt.Sprint(i)+")", i == 9)
		}
	}
	refused := 0
	for range 6000 {
		sql := g.spoil(g.query())
		if !spoiltRun(t, x, s, sql) {
			refused++
		}
	}
	if refused < 1000 || refused > 5900 {
		t.Errorf("%d of 6000 statements were refused: the test spoils too little or too much", refused)
	}
}

// spoiltRun runs one statement and reports whether it was answered.
func spoiltRun(t *testing.T, x *Executor, s *Session, sql string) bool {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s\npanics: %v", sql, p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	list, err := x.Parse(sql)
	if err != nil {
		known(t, sql, err)
		return false
	}
	for _, st := range list {
		r, err := x.Execute(ctx, s, st)
		if err == nil {
			_, err = read(r)
		}
		if ctx.Err() != nil {
			t.Fatalf("%s\ntakes longer than %v", sql, longest)
		}
		if err != nil {
			known(t, sql, err)
			return false
		}
	}
	return true
}

// known checks that a refusal has a code that a client can understand.
func known(t *testing.T, sql string, err error) {
	t.Helper()
	if c := status.Of(err); c == status.Internal || c == status.Unexpected || strings.Contains(err.Error(), "panic") {
		t.Errorf("%s\nis refused with %s: %v", sql, c, err)
	}
}
