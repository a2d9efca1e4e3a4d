package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"varve/engine/manifest"
)

// tendPeriod is the period of the maintenance that nothing else triggers.
const tendPeriod = 10 * time.Second

// tend drops what has expired, and has the merger look at all tables: options that act at once may have changed.
func (e *Engine) tend(ctx context.Context) {
	tick := time.NewTicker(tendPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if e.space.readOnly() != nil {
				continue
			}
			e.ballast.lay()
			e.sweepSnapshots()
			for _, r := range e.catalog.Load().regions {
				if err := e.dropExpired(r); err != nil && ctx.Err() == nil && e.space.isNews(err) {
					e.o.Logger.Error("expired parts cannot be dropped", "table", r.snap.Load().schema.Name.String(),
						"error", err)
				}
				e.merger.push(freshParts, r)
				e.merger.push(mergedParts, r)
			}
		}
	}
}

// dropExpired drops the parts whose rows have all passed the table's ttl, including parts that are set aside.
func (e *Engine) dropExpired(r *region) error {
	oldest := e.oldest(r.snap.Load().schema)
	if oldest == math.MinInt64 {
		return nil
	}
	if err := e.dropAside(r, oldest); err != nil {
		return err
	}
	listed := slices.DeleteFunc(before(r.snap.Load().parts, oldest), func(p *part) bool { return p.unlisted.Load() })
	gone, left := e.merger.leave(r, listed)
	defer left()
	if len(gone) == 0 {
		return nil
	}
	err := e.exchange(r, gone, nil)
	if errors.Is(err, errOverrun) {
		return nil // some parts were merged or dropped meanwhile; the others are removed next time
	}
	if err == nil {
		e.metrics.ExpiredParts.Add(float64(len(gone)))
	}
	return err
}

// dropAside drops the parts that are set aside and end before a time.
func (e *Engine) dropAside(r *region, oldest int64) error {
	r.maintain.Lock() // a flush lists its part in the manifest first
	defer r.maintain.Unlock()
	gone := before(e.damages.asideOf(r, r.snap.Load()), oldest)
	if len(gone) == 0 {
		return nil
	}
	var edit manifest.Edit
	for _, p := range gone {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: p.meta})
	}
	if err := e.apply(edit); err != nil {
		if !e.lists(r) {
			return nil // whoever dropped the table forgets them
		}
		return err
	}
	e.damages.forgetAside(gone)
	return nil
}

// before returns the parts that end before a time.
func before(parts []*part, t int64) (list []*part) {
	for _, p := range parts {
		if p.meta.MaxTime < t {
			list = append(list, p)
		}
	}
	return list
}
