package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"varve/engine/scan"
	"varve/engine/scan/scantest"
	"varve/engine/schema"
	"varve/memtable"
)

// TestGuardConforms holds a run that is guarded against what every run must do, and ends it with its request.
func TestGuardConforms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	d := scantest.New(r, 20, 20, 60)
	m := memtable.New(memtable.NewRegistry(), nil)
	for _, w := range d.Writes {
		if w.Kind == schema.KindDelete {
			m.AppendDelete(w.Seq, scantest.Table, w.Fields, w.Batch)
		} else {
			m.Append(w.Seq, scantest.Table, w.Fields, w.Batch)
		}
	}
	over, cancel := context.WithCancel(ctx)
	s := &Scan{from: &reading{}, ctx: over}
	run := s.guard([]*scanRun{{m.Live(), nil}})[0]
	scantest.Conform(t, r, d, run, 5)
	cancel()
	w, err := run.Series(&scan.Spec{TimeColumn: scantest.Time, Time: scan.All})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, _, err := w.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("the walk goes on after the request has ended: %v", err)
	}
}
