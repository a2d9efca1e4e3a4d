package memtable

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/scan/scantest"
	"varve/engine/schema"
)

// TestConform holds memtables against what every run must do: of one series and of many, with few and with many chunks,
// with rows as they came and with rows that were sorted, once and more often.
func TestConform(t *testing.T) {
	defer func(n int) { sortRows = n }(sortRows)
	for _, least := range []int{sortRows, 30, 400} {
		for seed, shape := range [][3]int{{1, 5, 40}, {10, 40, 50}, {40, 30, 400}, {2000, 20, 300}} {
			t.Run(fmt.Sprint(least, shape), func(t *testing.T) {
				sortRows = least
				r := rand.New(rand.NewPCG(uint64(seed), 5))
				d := scantest.New(r, shape[0], shape[1], shape[2])
				m := New(NewRegistry(), nil)
				for _, i := range r.Perm(len(d.Writes)) {
					if w := d.Writes[i]; w.Kind == schema.KindDelete {
						m.AppendDelete(w.Seq, scantest.Table, w.Fields, w.Batch)
					} else {
						m.Append(w.Seq, scantest.Table, w.Fields, w.Batch)
					}
				}
				if sorted := m.snap.Load().chunks[0].level; least <= 400 && m.Rows() > 20*least && sorted == 0 {
					t.Errorf("%d rows are as they came", m.Rows())
				}
				scantest.Conform(t, r, d, m.Live(), 8)
			})
		}
	}
}
