package sst

import (
	"errors"
	"slices"

	"varve/engine/vector"
)

// BlockError is damage that concerns the rows of one block; all other damage concerns the part as a whole.
type BlockError struct {
	Block int
	err   error
}

func (e *BlockError) Error() string { return e.err.Error() }

func (e *BlockError) Unwrap() error { return e.err }

// BlockOf is the block that an error says is damaged; -1: the part as a whole is.
func BlockOf(err error) int {
	var b *BlockError
	if errors.As(err, &b) {
		return b.Block
	}
	return -1
}

// corruptBlock makes the error for damage of a column's page. A page that was not read is not damaged.
func (p *Part) corruptBlock(err error, c *column, block int) error {
	if unread(err) {
		return p.corrupt(err, p.where(c, block))
	}
	return &BlockError{block, p.corrupt(err, p.where(c, block))}
}

// SetAside leaves a block out of all reads from now on, as far as they have not come to it: what is left of a part is
// served without its damaged blocks. Statistics of the part are no longer given. Safe for concurrent use.
func (p *Part) SetAside(block int) {
	if block < 0 || block >= len(p.blocks) {
		return
	}
	for {
		old := p.aside.Load()
		next := vector.MakeBitmap(len(p.blocks))
		if old != nil {
			next = slices.Clone(*old)
		}
		next.Set(block)
		if p.aside.CompareAndSwap(old, &next) {
			return
		}
	}
}

// isAside reports whether reads leave the block out, though other blocks of the part are served.
func (p *Part) isAside(block int) bool {
	b := p.aside.Load()
	return b != nil && b.Get(block)
}
