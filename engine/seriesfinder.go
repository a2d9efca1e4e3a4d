package engine

import (
	"context"
	"errors"
	"slices"

	"varve/engine/status"
)

// seriesFinder finds series by their labels, and makes the tables and labels that they lack. It has no lock of its own.
// Safe for concurrent use.
type seriesFinder struct {
	*inventory
	census  *census // nil: series are not bounded
	definer *definer
	labels  *unusedLabels
}

// find finds the series of a request that have no error yet.
func (x *seriesFinder) find(ctx context.Context, r *SeriesRequest, errs []error) ([]*Series, []error, error) {
	found := make([]*Series, len(r.Names))
	var unknown []int
	for i := range r.Names {
		if errs[i] == nil {
			unknown = append(unknown, i)
		}
	}
	for mayFree := true; ; {
		c := x.catalog.Load()
		var lacking []int
		for _, i := range unknown {
			if errs[i] = x.mayChange(ctx, r.Names[i].Table.DB); errs[i] != nil {
				continue
			}
			if found[i], errs[i] = c.seriesOf(r, &r.Names[i]); errs[i] == errEvolve {
				lacking = append(lacking, i)
			}
		}
		if unknown = x.census.leaveVacant(c, r, lacking, errs); len(unknown) == 0 {
			for _, s := range found {
				if s != nil {
					s.census = x.census
				}
			}
			x.census.admitSeries(found, errs)
			return found, errs, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, status.Wrap(err, status.DeadlineExceeded,
				"the request ended while the tables for its series were created")
		}
		var full []int
		err := x.definer.define(func(d *definition) error {
			d.admit(r, unknown, errs)
			for k, i := range unknown {
				if errs[i] != nil {
					unknown[k] = -1
				}
				if errors.Is(errs[i], errFull) {
					full = append(full, i)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		unknown = slices.DeleteFunc(unknown, func(i int) bool { return i < 0 })
		if mayFree && len(full) > 0 {
			mayFree = false
			freed, err := x.labels.freeFor(ctx, r, full)
			if err != nil {
				return nil, nil, err
			}
			if freed {
				unknown = append(unknown, full...)
			}
		}
	}
}
