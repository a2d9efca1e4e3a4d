package sqlexec

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestFirstAndLastInstant asks for every range that ends at or beside the first and the last instant that there is, of
// rows in memory, in parts, and after compactions, which end and keep every row.
func TestFirstAndLastInstant(t *testing.T) {
	times := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, options := range []string{"", " WITH ('append_mode' = 'true')",
		" WITH ('compaction.twcs.time_window' = '1s')"} {
		x := New(openStore(t), Options{Workers: 2})
		outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP(9) TIME INDEX, v BIGINT)"+options)
		for i := range 2 {
			var rows []string
			for k, at := range times {
				if k%2 == i {
					rows = append(rows, fmt.Sprintf("(%d, %d)", at, at))
				}
			}
			outcomeOf(t, x, "INSERT INTO t VALUES "+strings.Join(rows, ", "))
			if i == 0 {
				outcomeOf(t, x, "ADMIN flush_table('t')")
			}
		}
		for _, step := range []string{"SELECT 1", "ADMIN flush_table('t')", "ADMIN compact_table('t')",
			"ADMIN compact_table('t')"} {
			outcomeOf(t, x, step)
			for _, bound := range times {
				for op, holds := range map[string]func(int64) bool{
					"=": func(v int64) bool { return v == bound }, "<": func(v int64) bool { return v < bound },
					"<=": func(v int64) bool { return v <= bound }, ">": func(v int64) bool { return v > bound },
					">=": func(v int64) bool { return v >= bound },
				} {
					var want []int64
					for _, v := range times {
						if holds(v) {
							want = append(want, v)
						}
					}
					got, err := answer(x, &Session{},
						fmt.Sprintf("SELECT v FROM t WHERE ts %s %d::TIMESTAMP(9)", op, bound), false)
					if err != nil || got.err != nil {
						t.Fatal(err, got.err)
					}
					var have []int64
					for _, r := range got.rows {
						var v int64
						if _, err := fmt.Sscan(r[0], &v); err != nil {
							t.Fatal(err)
						}
						have = append(have, v)
					}
					if slices.Sort(have); !slices.Equal(have, want) {
						t.Errorf("table%s, after %s: ts %s %d\n got %v\nwant %v", options, step, op, bound, have, want)
					}
				}
			}
		}
	}
}
