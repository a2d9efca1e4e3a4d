package engine

import "sync/atomic"

// reading is what scans and selections need of a store. Safe for concurrent use.
type reading struct {
	*inventory
	damages *damages
	open    atomic.Int64 // scans and selections that are open: merges give way to them
}
