package engine

import "varve/engine/spare"

// SpareSets keeps write sets, with their buffers, from one request to the next. spare.Bound bounds what all that are
// kept take. The zero value is ready. Safe for concurrent use.
type SpareSets struct{ free spare.List[WriteSet] }

// Get takes out an empty set.
func (s *SpareSets) Get() *WriteSet { return s.free.Get() }

// Put empties a set and takes it back. Nobody uses it, or what it held, any more.
func (s *SpareSets) Put(set *WriteSet) {
	set.Reset()
	s.free.Put(set, set.Held())
}
