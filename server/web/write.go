package web

import (
	"context"

	"varve/engine"
)

// Store takes rows; engine.Engine does.
type Store interface {
	Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error)
}

// RowBytes is what the rows of a request may take where the configuration says nothing.
const RowBytes = 1 << 30

// Writer is the way of rows from a request into the store, one for all protocols: a set for the rows from the spare
// ones, as far as the bodies in hand leave room for it, filled from the body, written, and emptied for the next
// request. Safe for concurrent use.
type Writer struct {
	store Store
	sets  engine.SpareSets
}

// NewWriter makes a writer into a store.
func NewWriter(s Store) *Writer { return &Writer{store: s} }

// Write stores the rows that fill reads from the body of a request. fill reports whether there are any; after an error,
// and where there are none, nothing is written. The set is not to be kept.
func (w *Writer) Write(c *Ctx, fill func(set *engine.WriteSet) (any bool, err error)) ([]engine.Written, error) {
	if err := c.announced(); err != nil {
		return nil, err
	}
	if err := c.Batch(); err != nil {
		return nil, err
	}
	set := w.sets.Get()
	if !c.Recycle(set.Held()) {
		w.sets.Put(set)
		set = new(engine.WriteSet)
	}
	defer w.sets.Put(set)
	if length := int64(c.Request.Header.ContentLength()); c.HeaderText("Content-Encoding") == "" {
		set.Expect(max(length, c.length))
	}
	if rows, err := fill(set); err != nil || !rows {
		return nil, err
	}
	c.DropBody()
	return w.store.Write(c.Context, set)
}

// Part stores the rows that are in the set while fill still reads the body, which then sees to it that they are not
// written again.
func (w *Writer) Part(c *Ctx, set *engine.WriteSet) ([]engine.Written, error) {
	return w.store.Write(c.Context, set)
}
