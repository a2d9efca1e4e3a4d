package entries

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/flatten"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows"
)

// Part returns a function that writes the rows in the set of a request so far, and counts them.
func (o *Options) Part(c *web.Ctx, set *engine.WriteSet, rows prometheus.Counter) func() error {
	return func() error {
		written, err := o.Writer.Part(c, set)
		for _, w := range written {
			rows.Add(float64(w.Rows))
		}
		return err
	}
}

// inParts takes the entries through the pipeline and writes their rows in parts, each of as many entries as a batch in
// memory can hold. If the store refuses the rest for a while, the rest fails alone if the answer can name its entries;
// else the set remembers which entries are stored.
func (s *Set) inParts(ctx context.Context, p rows.Pipelines, r *pipeline.Request, set *engine.WriteSet,
	write func() error) error {
	entries := 0
	for _, t := range s.tables {
		t.before = entries
		entries += len(t.spans)
		t.numberRead()
	}
	s.stored, s.earlier = 0, s.request.stored()
	for _, t := range s.tables {
		err := t.part(ctx, p, r, set, lot{0, t.seen(), 0}, write)
		if err != nil && s.TellRest && s.stored > 0 {
			s.failRest(err)
			return nil
		}
		if err != nil {
			s.request.note(max(s.stored, s.earlier))
			return err
		}
	}
	s.request.note(0)
	return nil
}

// failRest gives the error to all entries that are not stored.
func (s *Set) failRest(err error) {
	s.Rest = err
	for _, t := range s.tables {
		for n := max(0, s.stored-t.before) + 1; n <= t.seen(); n++ {
			t.fail(t.number(n), err)
		}
	}
}

// part writes the rows of a lot of entries: all at once, or each half alone if they are too many. If the store refuses
// them for their content, its error is the fault of each entry. Other errors end the request.
func (t *Table) part(ctx context.Context, p rows.Pipelines, r *pipeline.Request, set *engine.WriteSet, l lot,
	write func() error) error {
	if at := t.set.earlier - t.before; l.from < at && at < l.to {
		if err := t.part(ctx, p, r, set, lot{l.from, at, 0}, write); err != nil {
			return err
		}
		return t.part(ctx, p, r, set, lot{at, l.to, 0}, write)
	}
	defer set.Reset()
	outcome, _, err := t.through(ctx, p, r, set, l)
	if errors.Is(err, flatten.ErrTooMany) && l.to-l.from > 1 {
		set.Reset()
		middle := (l.from + l.to) / 2
		if err := t.part(ctx, p, r, set, lot{l.from, middle, 0}, write); err != nil {
			return err
		}
		return t.part(ctx, p, r, set, lot{middle, l.to, 0}, write)
	}
	if err == nil {
		t.note(outcome.Failures, l.from)
		if outcome.Rows > 0 && t.before+l.to > t.set.earlier {
			err = write()
		}
	}
	if err == nil {
		t.set.stored = t.before + l.to
	}
	if !web.ClientFault(err) {
		return err
	}
	for n := l.from + 1; n <= l.to; n++ {
		t.fail(t.number(n), err)
	}
	return nil
}
