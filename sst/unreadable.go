package sst

import (
	"sort"

	"varve/engine/vfs"
)

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
func (p *Part) cut() bool {
	last := byte(0)
	fault, err := vfs.Guard(func() error {
		b, release, err := p.file.read(p.ctx, ref{p.file.size() - 1, 1})
		if err == nil {
			last = b[0]
			release()
		}
		return err
	})
	return fault != nil || err != nil || last != partMagic[len(partMagic)-1]
}
