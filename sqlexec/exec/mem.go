package exec

import (
	"sync/atomic"

	"varve/engine/status"
	"varve/engine/vector"
)

// DefaultMemory is what one query may keep when nothing else is said: half of what a small machine has for the server.
const DefaultMemory = 1 << 30

// Budget counts the bytes that the sinks of one query keep. Safe for concurrent use. The nil budget has no limit.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget makes a budget; limit 0 is DefaultMemory.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		limit = DefaultMemory
	}
	return &Budget{limit: limit}
}

// Reserve takes bytes; RuntimeResourcesExhausted when they are not there.
func (b *Budget) Reserve(bytes int64) error {
	if b == nil {
		return nil
	}
	if used := b.used.Add(bytes); used > b.limit {
		return status.New(status.RuntimeResourcesExhausted,
			"the query needs more than %d MiB of memory; narrow its time range, select fewer columns or use LIMIT", b.limit>>20)
	}
	return nil
}

// Used is the number of bytes taken.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// batchBytes is about the memory of a copy of a batch.
func batchBytes(b *vector.Batch) int64 {
	var n int64
	for _, c := range b.Cols {
		switch {
		case c.Type.Kind() == vector.Bytes && c.Form == vector.Flat:
			n += int64(b.N) * 8
			for _, v := range c.Views[:b.N] {
				n += int64(v.Len)
			}
		default:
			n += int64(b.N) * 9
			if c.Type.Kind() == vector.Bytes {
				n += int64(b.N) * 8
			}
		}
	}
	return n
}
