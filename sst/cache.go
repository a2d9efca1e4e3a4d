package sst

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"varve/engine/invariant"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// Cache keeps decoded blocks, so that queries that come again skip checksums, zstd and unpacking. Vectors in it are
// immutable: cursors hand out slices of them. Safe for concurrent use.
//
// A block enters when it is wanted for the second time within a while: a scan that passes once over more than the
// cache holds neither fills it nor allocates.
type Cache struct {
	shards [cacheShards]cacheShard
	limit  int64 // bytes of one shard

	Hits, Misses, Evicted atomic.Int64
	bytes                 atomic.Int64
	tags                  atomic.Int64 // bytes of tag columns, which parts keep: see tagCache
	indexes               indexCache
	columns               columnCache
}

const (
	cacheShards = 16
	// ghosts is how many missed blocks a shard remembers.
	ghosts = 4096
)

// codesOfColumn marks the number of a column in the key of the packed codes of a block, which are kept beside the
// decoded block.
const codesOfColumn = 1 << 31

// fewOfColumn marks the number of a column in the key of some rows of a block, which are kept beside the decoded block.
const fewOfColumn = 1 << 30

// blockKey names a block of a column of a part.
type blockKey struct {
	part   uint64
	column uint32
	block  uint32
}

type cacheShard struct {
	mu      sync.Mutex
	entries map[blockKey]*cacheEntry
	ring    []*cacheEntry // in the order of the clock's hand
	hand    int
	bytes   int64
	missed  [ghosts]uint32
}

type cacheEntry struct {
	key   blockKey
	v     *vector.Vector
	codes *encoding.Codes // instead of v
	few   *someRows       // instead of v
	bytes int64
	used  bool
}

// NewCache is a cache of at most about the given number of bytes; less than 1 MiB: nothing is kept.
func NewCache(bytes int64) *Cache {
	c := &Cache{limit: bytes / cacheShards, indexes: indexCache{most: max(bytes/2, leastIndexes)},
		columns: columnCache{most: max(bytes/2, leastColumns)}}
	if bytes < 1<<20 {
		c.limit = 0
	}
	for i := range c.shards {
		c.shards[i].entries = map[blockKey]*cacheEntry{}
	}
	return c
}

// Bytes is what the cache holds, and the tag columns that it lets parts keep.
func (c *Cache) Bytes() int64 { return c.bytes.Load() + c.tags.Load() }

// takeTags makes room for a tag column; false: tag columns have half of the cache already.
func (c *Cache) takeTags(bytes int64) bool {
	if c.tags.Add(bytes) > c.limit*cacheShards/2 {
		c.tags.Add(-bytes)
		return false
	}
	return true
}

// largestTag is the size of a tag that the cache has room for some of.
func (c *Cache) largestTag() int64 { return max(c.limit*cacheShards/8, leastLargeTag) }

// leastLargeTag bounds largestTag from below. A variable for the tests.
var leastLargeTag = int64(invariant.Limit(1<<20, 1<<10))

var cacheSeed = maphash.MakeSeed()

func hashKey(k blockKey) uint64 { return maphash.Comparable(cacheSeed, k) }

// get finds a block. admit tells the caller, on a miss, whether put will want it.
func (c *Cache) get(k blockKey) (v *vector.Vector, admit bool) {
	e, admit := c.find(k)
	if e == nil {
		return nil, admit
	}
	return e.v, false
}

// codes finds the packed codes of a block, as get does.
func (c *Cache) codes(k blockKey) (v *encoding.Codes, admit bool) {
	e, admit := c.find(k)
	if e == nil {
		return nil, admit
	}
	return e.codes, false
}

func (c *Cache) find(k blockKey) (e *cacheEntry, admit bool) {
	h := hashKey(k)
	s := &c.shards[h%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[k]; e != nil {
		e.used = true
		c.Hits.Add(1)
		return e, false
	}
	c.Misses.Add(1)
	if c.limit == 0 {
		return nil, false
	}
	mark := uint32(h>>32) | 1
	g := &s.missed[h>>8%ghosts]
	if *g == mark {
		*g = 0
		return nil, true
	}
	*g = mark
	return nil, false
}

// holds reports whether the block is kept. Asking counts neither as a use nor as a miss.
func (c *Cache) holds(k blockKey) bool {
	if c.limit == 0 {
		return false
	}
	s := &c.shards[hashKey(k)%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[k] != nil
}

// put keeps a block of n rows; the vector is the cache's from now on. false: it is too large, and stays the caller's.
func (c *Cache) put(k blockKey, v *vector.Vector, n int) bool {
	return c.enter(&cacheEntry{key: k, v: v, bytes: v.Bytes64(n) + 256})
}

// putCodes keeps packed codes, which are the cache's from now on.
func (c *Cache) putCodes(k blockKey, v *encoding.Codes) {
	c.enter(&cacheEntry{key: k, codes: v, bytes: v.Bytes() + 256})
}

// few finds some rows of a block, as get does.
func (c *Cache) few(k blockKey) (v *someRows, admit bool) {
	e, admit := c.find(k)
	if e == nil {
		return nil, admit
	}
	return e.few, false
}

// putFew keeps some rows of a block, which are the cache's from now on, in place of others of the block.
func (c *Cache) putFew(k blockKey, v *someRows) {
	s := &c.shards[hashKey(k)%cacheShards]
	s.mu.Lock()
	if s.entries[k] != nil {
		c.remove(s, slices.IndexFunc(s.ring, func(e *cacheEntry) bool { return e.key == k }))
	}
	s.mu.Unlock()
	c.enter(&cacheEntry{key: k, few: v, bytes: v.bytes() + 256})
}

// enter keeps an entry; false: it is too large. Another that came before it stays.
func (c *Cache) enter(e *cacheEntry) bool {
	k, size := e.key, e.bytes
	if size > c.limit/4 {
		return false
	}
	s := &c.shards[hashKey(k)%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[k] != nil {
		return true
	}
	for s.bytes+size > c.limit && len(s.ring) > 0 {
		c.evict(s)
	}
	s.entries[k] = e
	s.ring = append(s.ring, e)
	s.bytes += size
	c.bytes.Add(size)
	return true
}

// evict takes out the first entry after the hand that was not used since the hand passed it.
func (c *Cache) evict(s *cacheShard) {
	for {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		e := s.ring[s.hand]
		if !e.used {
			c.remove(s, s.hand)
			c.Evicted.Add(1)
			return
		}
		e.used = false
		s.hand++
	}
}

func (c *Cache) remove(s *cacheShard, i int) {
	e := s.ring[i]
	last := len(s.ring) - 1
	s.ring[i], s.ring[last] = s.ring[last], nil
	s.ring = s.ring[:last]
	delete(s.entries, e.key)
	s.bytes -= e.bytes
	c.bytes.Add(-e.bytes)
}

// drop takes out all blocks of a part.
func (c *Cache) drop(part uint64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for j := len(s.ring) - 1; j >= 0; j-- {
			if s.ring[j].key.part == part {
				c.remove(s, j)
			}
		}
		s.mu.Unlock()
	}
}
