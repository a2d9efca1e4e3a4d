package engine

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// expiry drops the parts whose rows have all passed their table's ttl; merges leave expired rows out of the others. It
// takes region.maintain and has no lock of its own. Safe for concurrent use.
type expiry struct {
	*inventory
	merger    *merger
	exchanger *exchanger
	backups   *Backups
	parts     prometheus.Counter // that were dropped
}

// tend drops what has expired, lays the ballast again, removes old snapshots, and has the merger look at all tables:
// options that act at once may have changed.
func (x *expiry) tend(ctx context.Context) {
	x.tending(ctx, nil, func() {
		x.ballast.lay()
		x.backups.sweep()
		for _, r := range x.catalog.Load().regions {
			if err := x.drop(r); err != nil && ctx.Err() == nil && x.space.isNews(err) {
				x.o.Logger.Error("expired parts cannot be dropped", "table", r.snap.Load().schema.Name.String(),
					"error", err)
			}
			x.merger.push(freshParts, r)
			x.merger.push(mergedParts, r)
		}
	})
}

// drop drops the parts whose rows have all passed the table's ttl, including parts that are set aside.
func (x *expiry) drop(r *region) error {
	oldest := x.oldest(r.snap.Load().schema)
	if oldest == math.MinInt64 {
		return nil
	}
	if _, err := x.exchanger.dropAside(r, func(p *part) bool { return p.meta.MaxTime < oldest }); err != nil {
		return err
	}
	listed := slices.DeleteFunc(before(r.snap.Load().parts, oldest), func(p *part) bool { return p.unlisted.Load() })
	gone, left := x.merger.leave(r, listed)
	defer left()
	if len(gone) == 0 {
		return nil
	}
	err := x.exchanger.exchange(r, gone, nil)
	if errors.Is(err, errOverrun) {
		return nil // some parts were merged or dropped meanwhile; the others are removed next time
	}
	if err == nil {
		x.parts.Add(float64(len(gone)))
	}
	return err
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
