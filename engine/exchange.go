package engine

import (
	"errors"
	"slices"

	"varve/engine/manifest"
	"varve/engine/status"
)

var errOverrun = errors.New("the parts were dropped or set aside while they were merged")

var errUnlisted = status.New(status.StorageUnavailable, "parts that were written at the start could not be listed in the manifest yet: is the disk full?")

// exchange replaces parts by others, or by nothing, in the manifest and in the snapshot, and removes their files. That
// takes some 50 ms for 128 MiB, so flushes do not wait for it.
func (e *Engine) exchange(r *region, old, made []*part) error {
	gone, err := e.swap(r, old, made)
	for _, o := range gone {
		o.retire()
	}
	return err
}

// swap returns the parts that no list names any more.
func (e *Engine) swap(r *region, old, made []*part) (gone []*part, err error) {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	var edit manifest.Edit
	for _, o := range old {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: o.meta})
	}
	for _, p := range made {
		edit.AddParts = append(edit.AddParts, manifest.PartEdit{Table: r.id, Part: p.meta})
	}
	present := r.snap.Load().parts
	overrun := slices.ContainsFunc(old, func(o *part) bool { return !slices.Contains(present, o) })
	if !overrun {
		err = e.apply(edit)
		overrun = err != nil && !e.lists(r) // nothing is left that could list the parts
	}
	if overrun {
		for _, p := range made {
			p.obsolete.Store(true)
		}
		return nil, errOverrun
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.replace(func(s *regionSnap) {
		at := max(slices.Index(s.parts, old[0]), 0)
		for _, o := range old {
			if slices.Contains(s.parts, o) { // else set aside in this moment
				gone = append(gone, o)
			}
		}
		s.parts = slices.DeleteFunc(s.parts, func(x *part) bool { return slices.Contains(old, x) })
		s.parts = slices.Insert(s.parts, min(at, len(s.parts)), made...)
	})
	r.mu.Unlock()
	return gone, nil
}
