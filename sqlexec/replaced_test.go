package sqlexec

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"varve/engine/status"
)

// TestReplacedWhileRead: whatever the moment at which CREATE OR REPLACE TABLE comes between the steps of a statement
// that reads, it reads the old table or the new one, never what is left of a dropped one. Steps are told by the reads
// of the clock.
func TestReplacedWhileRead(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		for _, read := range []string{"SELECT count(*), min(g), max(g) FROM r",
			"SELECT (SELECT count(*) FROM r), min(g), max(g) FROM r",
			"SELECT max(a.n), max(a.g), min(a.g) FROM (SELECT g, count(*) AS n FROM r GROUP BY g) a JOIN r b ON a.g = b.g",
			"SELECT * FROM (PIVOT (SELECT 'n' AS k, g FROM r) ON k USING count(*), min(g), max(g))"} {
			for step := 1; ; step++ {
				e := openStore(t)
				plain, s := New(e, Options{Workers: 1}), &Session{}
				replace := func(g int) {
					outcomeOf(t, plain,
						fmt.Sprintf(
							"CREATE OR REPLACE TABLE r AS SELECT %d AS g, number::BIGINT::TIMESTAMP AS ts FROM numbers;", g))
				}
				replace(1)
				if flushed {
					outcomeOf(t, plain, "ADMIN flush_table('r');")
				}
				steps := 0
				x := New(e, Options{Workers: 1, Now: func() time.Time {
					if steps++; steps == step {
						replace(2)
					}
					return time.Unix(0, 0)
				}})
				got := rowsOf(t, x, s, read)
				if !slices.Contains([]string{"100 | 1 | 1", "100 | 2 | 2"}, got[0]) || len(got) != 1 {
					t.Errorf("%s, flushed %v, replaced at step %d: %q", read, flushed, step, got)
				}
				if steps < step { // the table was not replaced any more
					break
				}
			}
		}
	}
}

// TestDroppedWhileRead: a table that is dropped after a statement found it is not found; it is not empty.
func TestDroppedWhileRead(t *testing.T) {
	for step := 1; ; step++ {
		e := openStore(t)
		plain := New(e, Options{Workers: 1})
		outcomeOf(t, plain, "CREATE TABLE r AS SELECT number::BIGINT::TIMESTAMP AS ts FROM numbers;")
		steps := 0
		x := New(e, Options{Workers: 1, Now: func() time.Time {
			if steps++; steps == step {
				outcomeOf(t, plain, "DROP TABLE r;")
			}
			return time.Unix(0, 0)
		}})
		got, err := answer(x, &Session{}, "SELECT count(*) FROM r", false)
		if err != nil || status.Of(got.err) != status.TableNotFound && (got.err != nil || got.rows[0][0] != "100") {
			t.Errorf("dropped at step %d: %v, %v, %v", step, got.rows, got.err, err)
		}
		if steps < step {
			break
		}
	}
}
