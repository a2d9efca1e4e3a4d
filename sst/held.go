package sst

import (
	"varve/engine/invariant"
	"varve/engine/vector"
)

// A block is read as a whole, column by column, which takes little where columns are few and texts short. Blocks of
// thousands of columns, or of many long texts, would take hundreds of MiB: of these a reader that wants them all copies
// some rows at a time, and decodes the block again for the next ones. See projector.

// maxHeld is how many bytes of the columns of a block a reader has in hand, unless its scan says otherwise: more than a
// block of ordinary rows takes.
var maxHeld = int64(invariant.Limit(8<<20, 8<<10))

// freeHeld is the number of held bytes from which on they are counted for the scan.
const freeHeld = 1 << 20

// bytes is the memory that v takes, which was read of s.
func (r *reader) bytes(s *source, v *vector.Vector) int64 {
	if s.from == fixed {
		return 0
	}
	n := v.Bytes64(r.p.blocks[r.block].rows)
	if v.Form == vector.Dict && s.from == stored && v.Values != s.col.values.Load() {
		n += v.Values.Bytes64(v.Values.Len())
	}
	return n
}

// hold counts bytes of the block at hand that were loaded.
func (r *reader) hold(bytes int64) error {
	r.held += bytes
	if h := r.spec.Holding; h != nil {
		h.Used += bytes
	}
	if r.spec.Reserve == nil || r.held <= max(r.reserved, freeHeld) {
		return nil
	}
	more := r.held - r.reserved
	if err := r.spec.Reserve(more); err != nil {
		return err
	}
	r.reserved += more
	return nil
}

// let counts bytes that are not in hand any more. The reader of the scan is not told: the next block takes as many.
func (r *reader) let(bytes int64) {
	r.held -= bytes
	if h := r.spec.Holding; h != nil {
		h.Used -= bytes
	}
}

// allowance is how many bytes may be in hand.
func (r *reader) allowance() int64 {
	h := r.spec.Holding
	if h == nil {
		return maxHeld
	}
	return max(h.Least, h.Most-(h.Used-r.held))
}

// crowded reports whether more is in hand than may be.
func (r *reader) crowded() bool { return r.held > r.allowance() }

// shed releases the memory of loaded data.
func (r *reader) shed() {
	r.let(r.held)
	for _, s := range r.all {
		s.loaded, s.sparse, s.memory = nil, false, memory{}
	}
}

// keepTags counts bytes of tags that the reader has until its end.
func (r *reader) keepTags(bytes int64) error {
	if r.spec.Reserve == nil {
		return nil
	}
	err := r.spec.Reserve(bytes)
	if err == nil {
		r.tags += bytes
	}
	return err
}

// release lets go of everything, at the end.
func (r *reader) release() {
	r.shed()
	if all := r.reserved + r.tags; all > 0 {
		_ = r.spec.Reserve(-all) // giving back does not fail
		r.reserved, r.tags = 0, 0
	}
}
