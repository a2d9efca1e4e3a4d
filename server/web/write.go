package web

import (
	"context"

	"varve/engine"
)

// Store takes rows; engine.Engine does.
type Store interface {
	Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error)
}

// RowBytes is the most bytes of the rows of a request if the configuration says nothing.
const RowBytes = 1 << 30

// Writer is the way of rows from requests of all protocols into the store. Requests share its spare sets: a request
// fills one from its body, the store writes it, and it is emptied for the next. Safe for concurrent use.
type Writer struct {
	store Store
	sets  engine.SpareSets
}

// NewWriter makes a writer into a store.
func NewWriter(s Store) *Writer { return &Writer{store: s} }

// Write stores the rows that fill reads from the body of a request. fill reports whether there are any; if there are
// none, or after an error, nothing is written. fill must not keep the set.
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

// Part stores the rows that are in the set while fill still reads the body. fill must empty the set afterwards, so that
// the rows are not written again.
func (w *Writer) Part(c *Ctx, set *engine.WriteSet) ([]engine.Written, error) {
	return w.store.Write(c.Context, set)
}
