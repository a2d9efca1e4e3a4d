package engine

import (
	"bytes"
	"context"
	"math"

	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/vector"
)

// guard returns the runs so that damage is noted and the end of the request stops them.
func (s *Scan) guard(runs []*scanRun) []scan.Run {
	var all []scan.Run
	for _, r := range runs {
		all = append(all, &guardedRun{r.run, s.ctx, s.from.damages, s.r, r.part})
	}
	return all
}

// guarded notes damage that a cursor meets and stops when the request is over.
type guarded struct {
	scan.Cursor
	s    *Scan
	part *part
}

func (g *guarded) Next(b *vector.Batch) (bool, error) {
	ok, err := g.Cursor.Next(b)
	if err != nil {
		return ok, g.s.from.damages.met(g.s.r, g.part, err)
	}
	if invariant.On && ok {
		b.Check()
	}
	return ok, g.s.ctx.Err() // conditions that a cancelled request cut short have decided nothing
}

type guardedRun struct {
	scan.Run
	ctx     context.Context
	damages *damages
	r       *region
	part    *part
}

func (g *guardedRun) Series(spec *scan.Spec) (scan.Series, error) {
	if spec.Context == nil { // of a merge
		own := *spec
		own.Context = g.ctx
		spec = &own
	}
	w, err := g.Run.Series(spec)
	if err != nil {
		return nil, g.damages.met(g.r, g.part, err)
	}
	return &guardedSeries{Series: w, g: g}, nil
}

type guardedSeries struct {
	scan.Series
	g    *guardedRun
	last []byte // key of the current series; with invariants
}

func (w *guardedSeries) Next() ([]byte, bool, error) {
	key, ok, err := w.Series.Next()
	if invariant.On && ok {
		invariant.Check(bytes.Compare(w.last, key) < 0, "series %x comes behind %x", key, w.last)
		w.last = append(w.last[:0], key...)
	}
	return key, ok, w.g.outcome(err)
}

func (w *guardedSeries) Rows(b *vector.Batch) (bool, error) {
	ok, err := w.Series.Rows(b)
	if invariant.On && ok {
		b.Check()
	}
	return ok, w.g.outcome(err)
}

// Least returns the Least of the walk; for a walk without one, the earliest possible time.
func (w *guardedSeries) Least() int64 {
	if i, ok := w.Series.(scan.Idle); ok {
		return i.Least()
	}
	return math.MinInt64
}

// Ended returns the Ended of the walk; for a walk without one, unknown.
func (w *guardedSeries) Ended() bool {
	i, ok := w.Series.(scan.Ending)
	return ok && i.Ended()
}

// Rest lets go of memory.
func (w *guardedSeries) Rest() {
	if i, ok := w.Series.(scan.Idle); ok {
		i.Rest()
	}
}

// outcome notes damage. After the end of the request it returns the error of the context: conditions were cut short, so
// the rows that were read mean nothing.
func (g *guardedRun) outcome(err error) error {
	if err != nil {
		return g.damages.met(g.r, g.part, err)
	}
	return g.ctx.Err()
}
