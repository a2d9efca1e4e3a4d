package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vfs"
)

// TestInterleaved reads series whose rows lie in several parts and in memory, each with rows in the time of the others:
// with and without rows of one instant, and with columns that all rows, some, or none have.
func TestInterleaved(t *testing.T) {
	for _, kind := range []modelKind{lastRow, lastNonNull, appendOnly, metric} {
		for _, equal := range []bool{false, true} {
			for _, missing := range []bool{false, true} {
				name := fmt.Sprintf("kind %d, equal times %v, missing values %v", kind, equal, missing)
				t.Run(name, func(t *testing.T) {
					for seed := range uint64(effort(3, 10, 100)) {
						interleaved(t, rand.New(rand.NewPCG(seed, 5)), kind, equal, missing)
					}
				})
			}
		}
	}
}

func interleaved(t *testing.T, r *rand.Rand, kind modelKind, equal, missing bool) {
	t.Helper()
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	m := model{"t": {kind: kind, keys: map[string]modelRow{}}}
	sources := 2 + r.IntN(6)
	times := r.Perm(200)
	for k := range sources {
		var rows []modelRow
		for i, at := range times {
			if i%sources != k && !(equal && r.IntN(20) == 0) {
				continue
			}
			row := modelRow{"ts": int64(at), "value": float64(r.IntN(1000)), "s": fmt.Sprint("text ", r.IntN(1000))}
			if kind != appendOnly {
				row["host"] = fmt.Sprint("h", at%2)
			}
			if missing && r.IntN(10) == 0 {
				delete(row, [...]string{"value", "s"}[r.IntN(2)])
			}
			if kind == metric {
				delete(row, "s")
			}
			rows = append(rows, row)
		}
		if err := put(e, "t", kind, rows); err != nil {
			t.Fatal(err)
		}
		m["t"].put(rows)
		if k == sources-1 && r.IntN(2) == 0 {
			break // what comes last stays in memory
		}
		if err := e.Flush(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
	}
	if kind != appendOnly && r.IntN(3) == 0 {
		gone := []modelRow{{"host": "h0", "ts": int64(times[0] &^ 1)}}
		if err := remove(e, "t", gone); err != nil {
			t.Fatal(err)
		}
		m["t"].remove(gone)
	}
	for k := range 4 {
		compareSeries(t, e, m, r, fmt.Sprint("read ", k))
	}
}
