package sqlexec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/schema"
)

// TestTopOfAnyColumn: the first rows of an order by any column are those that sorting all rows gives, in memory and in
// files, where blocks and rows behind the bound are left out: with NULL, NaN, infinities and equal values.
func TestTopOfAnyColumn(t *testing.T) {
	x, _ := copyStore(t)
	for _, table := range []string{"tops", "flushed"} {
		outcomeOf(t, x, `CREATE TABLE `+table+
			` (ts TIMESTAMP(3) TIME INDEX, i BIGINT, u INT UNSIGNED NOT NULL, f DOUBLE, s STRING, b BOOLEAN, d DATE, n DECIMAL(10, 2)) WITH (append_mode = 'true');`)
	}
	r := rand.New(rand.NewPCG(8, 8))
	or := func(null int, format string, v any) string {
		if r.IntN(null) == 0 {
			return "NULL"
		}
		return fmt.Sprintf(format, v)
	}
	floats := []string{"'NaN'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE", "-0.0", "0.0"}
	const rows = 40_000
	for from := 0; from < rows; from += 4000 {
		var b strings.Builder
		for i := from; i < from+4000; i++ {
			f := or(5000, "%v", float64(r.IntN(100_000)-50_000)/8)
			if r.IntN(4000) == 0 {
				f = floats[r.IntN(len(floats))]
			}
			fmt.Fprintf(&b, "(%d, %s, %d, %s, %s, %s, %s, %s),", i, or(5000, "%d", r.IntN(20_000)-10_000),
				r.Uint32N(1<<20), f, or(5000, "'key %d'", r.IntN(5000)),
				or(3, "%t", r.IntN(2) == 0), or(100, "'2024-01-01'::DATE + INTERVAL '%d day'", r.IntN(900)),
				or(100, "%d.25", r.IntN(1000)))
		}
		values := strings.TrimSuffix(b.String(), ",") + ";"
		outcomeOf(t, x, "INSERT INTO tops VALUES "+values)
		outcomeOf(t, x, "INSERT INTO flushed VALUES "+values)
		if err := x.e.Flush(context.Background(), schema.Name{DB: DefaultDB, Table: "flushed"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"tops", "flushed"} {
		for _, column := range []string{"ts", "i", "u", "f", "s", "b", "d", "n"} {
			for _, order := range []string{"", "DESC", "NULLS FIRST", "DESC NULLS LAST"} {
				from := fmt.Sprintf("SELECT ts, %[1]s AS v FROM %[3]s WHERE u > 1000 ORDER BY %[1]s %[2]s, ts DESC",
					column, order, table)
				// more than are kept without sorting all
				all, err := answer(x, &Session{}, from+" LIMIT 1000000;", false)
				if err != nil || all.err != nil {
					t.Fatal(err, all.err)
				}
				for _, cut := range []struct{ limit, offset int }{{1, 0}, {20, 7}, {300, 0}} {
					got, err := answer(x, &Session{},
						fmt.Sprintf("%s LIMIT %d OFFSET %d;", from, cut.limit, cut.offset), false)
					if want := all.rows[cut.offset : cut.offset+cut.limit]; err != nil ||
						fmt.Sprint(got.rows) != fmt.Sprint(want) {
						t.Fatalf("%s LIMIT %d OFFSET %d:\n got %v %v\nwant %v", from, cut.limit, cut.offset, got.rows,
							err, want)
					}
				}
			}
		}
	}
}
