package memtable

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/scan/scantest"
	"varve/engine/schema"
)

// TestConform holds memtables against what every run must do: of one series and of many, with few and with many chunks.
func TestConform(t *testing.T) {
	for seed, shape := range [][3]int{{1, 5, 40}, {10, 40, 50}, {40, 30, 400}, {2000, 20, 300}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 5))
			d := scantest.New(r, shape[0], shape[1], shape[2])
			m := New(NewRegistry())
			for _, i := range r.Perm(len(d.Writes)) {
				if w := d.Writes[i]; w.Kind == schema.KindDelete {
					m.AppendDelete(w.Seq, scantest.Table, w.Fields, w.Batch)
				} else {
					m.Append(w.Seq, scantest.Table, w.Fields, w.Batch)
				}
			}
			scantest.Conform(t, r, d, m.Live(), 8)
		})
	}
}
