package blockcache

import (
	"slices"
	"sort"
)

// object is what there is of one object. The cache's lock protects all of it.
type object struct {
	name    string
	spans   []*span // by offset; they may overlap
	longest int     // of all spans that there ever were
	flights []*flight
}

// span is a range of an object's bytes in a file.
type span struct {
	object  string
	off     int64 // in the object
	n       int
	segment *segment
	at      int64    // of the first byte in the file
	sums    []uint32 // CRC-32C of each chunk
	used    bool     // asked for since it was written; under the cache's lock
}

// span finds one that holds a range.
func (o *object) span(off int64, n int) *span {
	i := sort.Search(len(o.spans), func(i int) bool { return o.spans[i].off > off })
	for i--; i >= 0 && o.spans[i].off+int64(o.longest) >= off+int64(n); i-- {
		if s := o.spans[i]; s.off+int64(s.n) >= off+int64(n) {
			return s
		}
	}
	return nil
}

// flight finds a fetch that brings a range.
func (o *object) flight(off int64, n int) *flight {
	for _, f := range o.flights {
		if f.off <= off && f.off+int64(f.n) >= off+int64(n) {
			return f
		}
	}
	return nil
}

// add adds a span.
func (o *object) add(s *span) {
	i := sort.Search(len(o.spans), func(i int) bool { return o.spans[i].off > s.off })
	o.spans = slices.Insert(o.spans, i, s)
	o.longest = max(o.longest, s.n)
}

// remove removes a span; false: it was forgotten before.
func (o *object) remove(s *span) bool {
	i := slices.Index(o.spans, s)
	if i < 0 {
		return false
	}
	o.spans = slices.Delete(o.spans, i, i+1)
	return true
}

// land removes a flight; one that was removed before stays so.
func (o *object) land(f *flight) {
	if i := slices.Index(o.flights, f); i >= 0 {
		o.flights = slices.Delete(o.flights, i, i+1)
	}
}
