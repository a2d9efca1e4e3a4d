package sst

import (
	"context"
	"slices"
	"sync"

	"varve/engine/schema"
)

// columnSet is the columns of an open part. A column takes some columnBytes, whatever is in it: of sixty that is little
// beside a part's rows, of thousands it is a megabyte a part. So parts of many columns keep theirs only as long as the
// cache has room, and read the directory again when they are wanted after that; who uses a set keeps it.
type columnSet struct {
	all  []*column
	byID map[schema.ColumnID]*column
}

const (
	// columnBytes is about the memory that a column of a set takes.
	columnBytes = 256
	// fewColumns is the number of columns up to which a part keeps them for good.
	fewColumns = 512
	// leastColumns is how many bytes of columns are kept however small the cache is.
	leastColumns = 8 << 20
)

func newColumnSet(d *directory) *columnSet {
	s := &columnSet{byID: make(map[schema.ColumnID]*column, len(d.columns))}
	columns := make([]column, len(d.columns)) // there may be thousands, in thousands of parts
	for i := range columns {
		c := &columns[i]
		c.columnEntry, c.number = &d.columns[i], uint32(i)
		s.all = append(s.all, c)
		s.byID[c.id] = c
	}
	return s
}

// bytes is the memory that the set takes.
func (s *columnSet) bytes() int64 { return int64(len(s.all)) * columnBytes }

// columns returns the part's columns. It reads them again if they were released.
func (p *Part) columns(ctx context.Context) (*columnSet, error) {
	if s := p.set.Load(); s != nil {
		return s, nil
	}
	d, err := p.directory(ctx)
	if err != nil {
		return nil, err
	}
	s := newColumnSet(d)
	p.cache.columns.keep(p, s)
	return s, nil
}

// column returns a column; nil: the part has none of the number.
func (p *Part) column(ctx context.Context, id schema.ColumnID) (*column, error) {
	s, err := p.columns(ctx)
	if err != nil {
		return nil, err
	}
	return s.byID[id], nil
}

// owns reports whether a column is of the set that the part keeps.
func (p *Part) owns(c *column) bool {
	s := p.set.Load()
	return s != nil && s.all[c.number] == c
}

// columnCache bounds the columns that parts with many columns keep. It drops those that were read first. Safe for
// concurrent use.
type columnCache struct {
	most int64

	mu    sync.Mutex
	bytes int64
	kept  []*Part // in the order of reading
}

// keep has the part keep columns that were read.
func (c *columnCache) keep(p *Part, s *columnSet) {
	if !p.set.CompareAndSwap(nil, s) || len(s.all) <= fewColumns {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, p)
	c.bytes += s.bytes()
	gone := 0
	for ; c.bytes > c.most && gone < len(c.kept)-1; gone++ {
		q := c.kept[gone]
		c.bytes -= q.set.Swap(nil).bytes()
		q.cache.indexes.drop(q) // they would keep the columns
	}
	c.kept = slices.Delete(c.kept, 0, gone)
}

// drop forgets a part that has no readers any more.
func (c *columnCache) drop(p *Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.kept, p); at >= 0 {
		c.kept = slices.Delete(c.kept, at, at+1)
		c.bytes -= p.set.Load().bytes()
	}
}
