package sst

import (
	"runtime/debug"
	"sort"

	"varve/engine/vfs"
)

// Parts are read where they are mapped, so a file that was cut, or a disk that fails, shows as a fault of memory. All
// that reads a part for others begins with
//
//	defer p.reading(debug.SetPanicOnFault(true), &err)
//
// which makes such a fault an error like any other damage, in every goroutine. Results contain no bytes of the file, so
// no other code can meet such a fault.

// reading ends a stretch of reading; before is what debug.SetPanicOnFault gave.
func (p *Part) reading(before bool, err *error) {
	debug.SetPanicOnFault(before)
	v := recover()
	if v == nil {
		return
	}
	u, ok := p.file.unreadable(v)
	if !ok {
		panic(v)
	}
	*err = p.unreadable(u)
}

// readable calls f, which reads the part.
func (p *Part) readable(f func() error) (err error) {
	defer p.reading(debug.SetPanicOnFault(true), &err)
	return f()
}

// unreadable is the damage at a place that cannot be read: of a block, if the place is in one of its pages and the rest
// of the file can be read.
func (p *Part) unreadable(u *vfs.Unreadable) error {
	if p.cut() {
		return p.corrupt(u, "")
	}
	columns := p.set.Load()
	if columns == nil {
		return p.corrupt(u, "")
	}
	for _, c := range columns.all {
		x := c.pages.Load()
		if x == nil {
			continue
		}
		at := uint64(u.Offset)
		block := sort.Search(len(x.off), func(i int) bool { return x.off[i]+uint64(x.length[i]) > at })
		if block < len(x.off) && x.off[block] <= at {
			return p.corruptBlock(u, c, block)
		}
	}
	return p.corrupt(u, "")
}

// cut: the end of the file cannot be read, so no block alone is to blame.
func (p *Part) cut() (cut bool) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		cut = recover() != nil || cut
	}()
	b, err := p.file.read(ref{p.file.size() - 1, 1})
	return err != nil || b[0] != partMagic[len(partMagic)-1]
}
