package engine

import (
	"context"

	"varve/engine/scan"
	"varve/engine/vector"
)

// guard gives the runs so that damage is noted and the end of the request stops them.
func (s *tableScan) guard(runs []*scanRun) []scan.Run {
	var all []scan.Run
	for _, r := range runs {
		all = append(all, &guardedRun{r.run, s.ctx, s.e, s.r, r.part})
	}
	return all
}

// guarded notes damage that a cursor meets and stops when the request is over.
type guarded struct {
	scan.Cursor
	s    *tableScan
	part *part
}

func (g *guarded) Next(b *vector.Batch) (bool, error) {
	if err := g.s.ctx.Err(); err != nil {
		return false, err
	}
	ok, err := g.Cursor.Next(b)
	if err != nil {
		err = g.s.e.damage(g.s.r, g.part, err)
	}
	return ok, err
}

type guardedRun struct {
	scan.Run
	ctx  context.Context
	e    *core
	r    *region
	part *part
}

func (g *guardedRun) Series(spec *scan.Spec) (scan.Series, error) {
	w, err := g.Run.Series(spec)
	if err != nil {
		return nil, g.e.damage(g.r, g.part, err)
	}
	return &guardedSeries{w, g}, nil
}

type guardedSeries struct {
	scan.Series
	g *guardedRun
}

func (w *guardedSeries) Next() ([]byte, bool, error) {
	if err := w.g.ctx.Err(); err != nil {
		return nil, false, err
	}
	key, ok, err := w.Series.Next()
	return key, ok, w.g.e.damage(w.g.r, w.g.part, err)
}

func (w *guardedSeries) Rows(b *vector.Batch) (bool, error) {
	if err := w.g.ctx.Err(); err != nil {
		return false, err
	}
	ok, err := w.Series.Rows(b)
	return ok, w.g.e.damage(w.g.r, w.g.part, err)
}
