package sst

import (
	"slices"
	"sync"
)

// indexCache bounds the page indexes that parts keep of their columns: some 150 bytes a block, which is little beside
// rows of ordinary tables and a twentieth of blocks that a few rows of thousands of columns fill. The one that was read
// first goes first and is read again when it is wanted; who uses it keeps it. Safe for concurrent use.
type indexCache struct {
	most int64

	mu    sync.Mutex
	bytes int64
	kept  []keptIndex // in the order of reading
}

// keptIndex is a column's page index that its part keeps.
type keptIndex struct {
	part   *Part
	column *column
	bytes  int64
}

// leastIndexes is how many bytes of page indexes are kept however small the cache is.
const leastIndexes = 8 << 20

// keep has the part keep an index that was read; another reader's may be there already.
func (c *indexCache) keep(p *Part, col *column, x *pageIndex) {
	if !col.pages.CompareAndSwap(nil, x) {
		return
	}
	k := keptIndex{p, col, x.bytes()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, k)
	c.bytes += k.bytes
	if c.bytes <= c.most {
		return
	}
	gone := 0
	for ; c.bytes > c.most/4*3 && gone < len(c.kept)-1; gone++ { // a quarter at a time: what stays is moved
		c.bytes -= c.kept[gone].bytes
		c.kept[gone].column.pages.Store(nil)
	}
	c.kept = slices.Delete(c.kept, 0, gone)
}

// drop forgets the indexes of a part that has no readers any more.
func (c *indexCache) drop(p *Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = slices.DeleteFunc(c.kept, func(k keptIndex) bool {
		if k.part == p {
			c.bytes -= k.bytes
		}
		return k.part == p
	})
}

// bytes is the memory that an index takes.
func (x *pageIndex) bytes() int64 {
	n := x.blockRefs.bytes() + x.zones.Bytes64() + 256
	if f := x.filters; f != nil {
		n += f.blockRefs.bytes() + int64(8*len(f.checked))
	}
	return n
}

func (b blockRefs) bytes() int64 { return int64(8*len(b.off) + 4*len(b.length)) }
