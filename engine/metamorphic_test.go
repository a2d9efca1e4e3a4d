package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vfs"
)

// TestMetamorphic does the same random operations under different settings of flushing and merging: whatever lies in
// memory and whatever in parts, scans give what the model says. VARVE_MODEL_SEEDS asks for more runs.
func TestMetamorphic(t *testing.T) {
	for _, c := range []struct {
		name       string
		background bool
		flushBytes int64
		flush      int // percent of operations that are followed by a flush and a merge of everything
	}{
		{"all in memory", false, 1 << 40, 0},
		{"flushed by hand", false, 1 << 40, 20},
		{"flushed after every operation", false, 1 << 40, 100},
		{"in the background", true, 4 << 10, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(2, 3, 20)) {
				r := rand.New(rand.NewPCG(seed, 1))
				o := testOptions(vfs.NewMem())
				o.NoBackground, o.FlushBytes = !c.background, c.flushBytes
				e := mustOpen(t, o)
				w := newWorkload(rand.New(rand.NewPCG(seed, 2)))
				for i := range 120 {
					op := w.next()
					if err := op.run(e); err != nil {
						t.Fatalf("seed %d: %s: %v", seed, op.name, err)
					}
					if op.change != nil {
						op.change(w.model)
					}
					for name := range w.model {
						if r.IntN(100) >= c.flush {
							continue
						}
						if err := e.Flush(ctx, public(name)); err != nil {
							t.Fatal(err)
						}
						if r.IntN(2) == 0 {
							if err := e.Compact(ctx, public(name)); err != nil {
								t.Fatal(err)
							}
						}
					}
					when := fmt.Sprintf("seed %d, operation %d: %s", seed, i, op.name)
					compareQueries(t, e, w.model, r, when)
					compareSeries(t, e, w.model, r, when)
					if i%40 == 39 {
						compare(t, e, w.model, when)
						mustClose(t, e)
						e = mustOpen(t, o)
						compare(t, e, w.model, when+", reopened")
					}
				}
				mustClose(t, e)
			}
		})
	}
}
