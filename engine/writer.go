package engine

import (
	"context"
	"errors"
	"slices"

	"varve/engine/status"
	"varve/engine/vector"
)

// writer makes records of rows, and what their tables lack, and hands them to the committer. It has no lock of its own.
// Safe for concurrent use.
type writer struct {
	*inventory
	batches   *batches
	census    *census // nil: series are not bounded
	committer *committer
	definer   *definer
	alterer   *alterer
}

// write prepares and commits all rows, except those that their tables already have from the batch of the context.
func (x *writer) write(ctx context.Context, all []*tableWrite) error {
	b := batchOf(ctx)
	leave, err := x.batches.enter(ctx, b)
	if err != nil {
		return err
	}
	defer leave()
	b.name(all)
	for rest := all; len(rest) > 0; {
		if err := x.prepare(ctx, rest); err != nil {
			return err
		}
		x.batches.pass(rest)
		done, err := x.census.admit(rest)
		if err != nil {
			return err
		}
		rest, err = x.committer.commit(ctx, rest)
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the records: tables and columns that are absent are made, all at once, columns of integers that meet
// floats become columns of floats, and the rows are checked against the schemas. It repeats until nothing is missing,
// so that a table or column that another writer makes meanwhile is no error.
func (x *writer) prepare(ctx context.Context, ws []*tableWrite) error {
	for {
		if err := ctx.Err(); err != nil {
			return status.Wrap(err, status.DeadlineExceeded, "the request ended while the tables for its rows were created")
		}
		absent, evolving, err := x.alignAll(ws)
		switch {
		case err != nil:
		case len(absent) > 0:
			if absent, err = x.census.roomFor(absent); err == nil && len(absent) > 0 {
				err = x.definer.createAbsent(absent)
			}
		case len(evolving) > 0:
			if err = x.widen(ctx, evolving); err == nil {
				err = x.definer.addColumns(evolving)
			}
		default:
			return nil
		}
		if err != nil && status.Of(err) != status.TableAlreadyExists {
			return err
		}
	}
}

// alignAll makes the records of the writes whose tables have all columns. It returns the other writes: absent ones lack
// a table, evolving ones columns.
func (x *writer) alignAll(ws []*tableWrite) (absent, evolving []*tableWrite, err error) {
	c, now := x.catalog.Load(), x.o.Now()
	for _, w := range ws {
		if w.samples != nil {
			lacking, err := w.alignSamples(c, x.o.MaxValue, now)
			if err != nil {
				return nil, nil, err
			}
			if lacking {
				evolving = append(evolving, w)
			} else if w.rec != nil && w.instant() {
				w.rec = nil
			}
			continue
		}
		if w.rec = nil; w.left == w.batch.N {
			continue
		}
		w.left, w.leftWhy = 0, nil
		w.refused.begin()
		p, ok := c.byName[w.name]
		if !ok {
			if _, ok := c.databases[w.name.DB]; !ok {
				return nil, nil, status.New(status.InvalidArguments,
					"Failed to find schema, schema info: service.%s. Make the database first: CREATE DATABASE \"%s\"",
					w.name.DB, w.name.DB)
			}
			if w.hint.AutoCreate {
				absent = append(absent, w)
			} else if err := w.allOrError(w.hint.refuse("Table `%s` does not exist", w.name.Table)); err != nil {
				return nil, nil, err
			}
			continue
		}
		w.at, w.schema = p, p.schema()
		if err := p.refusing(); err != nil {
			if err := w.allOrError(err); err != nil {
				return nil, nil, err
			}
			continue
		}
		if w.schema.Shared() {
			if err := w.allOrError(errPhysical(w.name, "written to")); err != nil {
				return nil, nil, err
			}
			continue
		}
		w.rec, err = w.align(w.schema, x.o.MaxValue, now)
		if err == errEvolve {
			evolving = append(evolving, w)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if w.instant() {
			w.rec = nil
		}
	}
	return absent, evolving, nil
}

// widen makes columns of integers columns of floats where writes have floats for them.
func (x *writer) widen(ctx context.Context, ws []*tableWrite) error {
	for _, w := range ws {
		for w.samples == nil && w.at.logical == nil {
			wide := w.wider(w.at.schema())
			if len(wide) == 0 {
				break
			}
			err := x.alterer.alter(ctx, w.name, optionsOnly(floatsFor(wide)), true)
			var inexact *inexactError
			if at := slices.IndexFunc(w.fields, func(f vector.Field) bool {
				return errors.As(err, &inexact) && f.Name == inexact.column
			}); at >= 0 {
				err = w.giveUp(at, err)
			}
			if status.Of(err) == status.TableNotFound {
				break // dropped: the write looks again
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
