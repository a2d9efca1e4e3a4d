package sst

import "sync/atomic"

// Metrics counts what reads of parts did. Safe for concurrent use.
type Metrics struct {
	BlocksRead   atomic.Int64 // column blocks decoded
	BlocksPruned atomic.Int64 // blocks of rows left out by time, series, zones or postings
	BytesRead    atomic.Int64 // encoded bytes decoded
	RowsScanned  atomic.Int64 // rows of the blocks that were looked at
	Damaged      atomic.Int64 // errors that wrap ErrCorrupt
}

// NewMetrics are counters at zero.
func NewMetrics() *Metrics { return &Metrics{} }
