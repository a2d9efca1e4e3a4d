package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// rewriter prepares rows that are there for a change of their schema. Whoever uses it holds region.altering. Several
// regions may be rewritten at the same time.
type rewriter struct {
	damages   *damages
	flusher   *flusher
	compactor *compactor
	seq       *atomic.Uint64 // the last that was given to rows
	maxPart   partSize
}

// rewrite is the work that a change of a schema causes for existing rows.
type rewrite struct {
	columns []retyped
	// appends: rows that are replaced or deleted must be gone, the table shows every row that it has.
	appends bool
	// exact: all columns hold integers and become columns of floats, provided that a float holds each value exactly.
	exact bool
}

// retyped is a column that gets another type.
type retyped struct {
	id       schema.ColumnID
	from, to vector.Type
}

func rewriteOf(old, next *schema.Table) rewrite {
	w := rewrite{appends: next.Options.AppendMode && !old.Options.AppendMode}
	for _, c := range old.Columns {
		if p := next.ByID(c.ID); p >= 0 && next.Columns[p].Type != c.Type {
			w.columns = append(w.columns, retyped{c.ID, c.Type, next.Columns[p].Type})
		}
	}
	return w
}

func (w rewrite) none() bool { return !w.appends && len(w.columns) == 0 }

func (w rewrite) equal(o rewrite) bool {
	return w.appends == o.appends && slices.Equal(w.columns, o.columns)
}

// rewrite prepares a region's rows for the next schema. Afterwards all rows are in parts that can be read under it, and
// writers wait until open is called. Most of the work is done before writers have to wait.
func (w *rewriter) rewrite(ctx context.Context, r *region, need rewrite) (open func(), err error) {
	err = w.flusher.flush(ctx, r)
	if err == nil && need.exact {
		err = w.checkExact(r, need.columns)
	}
	if err == nil {
		err = w.settle(ctx, r, need)
	}
	if err == nil && need.appends {
		err = w.unify(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	open = r.close()
	if err = w.flusher.flush(ctx, r); err == nil && need.exact {
		err = w.checkExact(r, need.columns)
	}
	if err == nil && need.appends {
		err = w.unify(ctx, r)
	}
	if err == nil && need.appends && !unified(r.snap.Load().parts) {
		err = status.New(status.Unsupported,
			"append_mode cannot be switched on: the table has more than one part may hold (%d rows, %d bytes of "+
				"keys), so that replaced rows would come back", w.maxPart.rows, w.maxPart.keys)
	}
	if err != nil {
		open()
		return nil, err
	}
	return open, nil
}

// close keeps writers from adding rows until open is called.
func (r *region) close() (open func()) {
	altered := make(chan struct{})
	r.mu.Lock()
	r.closed = altered
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		r.closed = nil
		r.mu.Unlock()
		close(altered)
	}
}

// unify merges all of a table's parts, so that rows that were replaced or deleted are gone and not only hidden: a table
// that becomes append-only shows every row it has.
func (w *rewriter) unify(ctx context.Context, r *region) error {
	last := w.seq.Load()
	for again := true; again; {
		s := r.snap.Load()
		if _, damaged := sound(s.parts); len(damaged)+len(w.damages.asideOf(r, s)) > 0 {
			return status.New(status.Unsupported,
				"append_mode cannot be switched on while parts of the table are damaged: the rows that they replace "+
					"would come back")
		}
		var err error
		if again, err = w.compactor.mergeAll(ctx, r, math.MinInt64, last, true); err != nil {
			return err
		}
	}
	return nil
}

// unified reports whether no row of the parts replaces or deletes another.
func unified(parts []*part) bool {
	for i, p := range parts {
		if !p.meta.Unique || slices.ContainsFunc(parts[:i], p.overlaps) {
			return false
		}
	}
	return true
}

// settle rewrites the parts that still store one of the columns under a type from before its present type, because the
// column is about to get a third type. Values that do not convert are thus lost with the first change, whether or not a
// merge came in between. settle waits for merges under way: they may have begun before the column got its present type.
// For a change from integers to floats it does so only if a part stores an older type, because writers wait meanwhile.
func (w *rewriter) settle(ctx context.Context, r *region, need rewrite) error {
	var damage error
	older := func(p *part) bool {
		return slices.ContainsFunc(need.columns, func(c retyped) bool {
			t, ok, err := p.file.TypeOf(c.id)
			if err != nil {
				damage = w.damages.met(r, p, err)
			}
			return ok && t != c.from
		})
	}
	again := len(need.columns) > 0
	if need.exact {
		s := r.pin()
		again = slices.ContainsFunc(s.parts, older)
		r.unpin(s)
	}
	for again {
		var err error
		again, err = w.compactor.mergeChosen(ctx, r, func(s *regionSnap, _ windows) []*part {
			for _, p := range s.parts {
				if p.whole() && older(p) {
					return []*part{p}
				}
			}
			return nil
		})
		if err = cmp.Or(err, damage); err != nil {
			return err
		}
	}
	return damage
}

// checkExact returns an inexactError if a region's parts have, in one of the columns, an integer that a float may not
// hold exactly. It reads the zones and no row.
func (w *rewriter) checkExact(r *region, columns []retyped) error {
	s := r.pin()
	defer r.unpin(s)
	for _, p := range s.parts {
		for _, c := range columns {
			stored, ok, err := p.file.TypeOf(c.id)
			if err != nil {
				return w.damages.met(r, p, err)
			}
			if !ok || !isWhole(stored) {
				continue
			}
			x, far, err := beyondExact(p, schema.Column{ID: c.id, Type: stored})
			if err != nil {
				return err
			}
			if far {
				name := s.schema.Columns[s.schema.ByID(c.id)].Name
				return status.Wrap(&inexactError{name, x}, status.InvalidArguments,
					"column %s expect type %s, given: %s: it holds the integer %s, which a float cannot hold exactly, so "+
						"it stays a column of integers", name, stored, vector.FloatType, x)
			}
		}
	}
	return nil
}
