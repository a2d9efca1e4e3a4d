package scan

import (
	"slices"
	"sync/atomic"

	"varve/engine/filter"
	"varve/engine/schema"
)

// Bound is an operator's knowledge about the rows that it still wants from a scan, in terms of one column. The operator
// tightens it before the scan begins or while it runs; readers consult it before each piece of work and each block.
// Rows outside of it may still come. Safe for concurrent use.
type Bound struct {
	Column schema.ColumnID
	wanted atomic.Pointer[wanted]
}

// wanted is one state of a bound. It does not change.
type wanted struct {
	time   Range
	filter filter.And
}

// Tighten declares that the wanted rows lie in a range of times and pass conditions on the bound's column. It replaces
// the earlier declaration.
func (b *Bound) Tighten(time Range, and filter.And) { b.wanted.Store(&wanted{time, and}) }

// Narrowing is a reader's view of the bounds of its scan. One goroutine at a time; each reader begins with its own.
type Narrowing struct {
	bounds []*Bound
	known  []*wanted // of each bound when the scan began: the scan's own range and filter hold that
	seen   []*wanted
}

// Watch begins a scan with bounds: it returns the range and the conditions that the bounds have so far, which belong to
// the scan from then on.
func Watch(bounds []*Bound) (n Narrowing, time Range, and filter.And) {
	for _, b := range bounds {
		n.bounds, n.known = append(n.bounds, b), append(n.known, nil)
	}
	n.seen = slices.Clone(n.known)
	n.Heed()
	time, and = n.Wanted()
	n.known = slices.Clone(n.seen)
	return n, time, and
}

// Begin is the narrowing of another reader.
func (n *Narrowing) Begin() Narrowing {
	return Narrowing{bounds: n.bounds, known: n.known, seen: slices.Clone(n.known)}
}

// Only leaves the bounds of some columns.
func (n *Narrowing) Only(of func(schema.ColumnID) bool) (some Narrowing) {
	for i, b := range n.bounds {
		if of(b.Column) {
			some.bounds, some.known = append(some.bounds, b), append(some.known, n.known[i])
		}
	}
	some.seen = slices.Clone(some.known)
	return some
}

// Heed consults the bounds and reports whether one was tightened since the last time.
func (n *Narrowing) Heed() (tightened bool) {
	for i, b := range n.bounds {
		if now := b.wanted.Load(); now != n.seen[i] {
			n.seen[i], tightened = now, true
		}
	}
	return tightened
}

// Wanted returns the time range of the wanted rows, as last seen, and the conditions that they pass in addition to the
// scan's own range and filter.
func (n *Narrowing) Wanted() (time Range, and filter.And) {
	time = All
	for i, w := range n.seen {
		if w != n.known[i] {
			time = time.And(w.time)
			and = append(and, w.filter...)
		}
	}
	return time, and
}
