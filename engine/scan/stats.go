package scan

import "sync/atomic"

// Stats counts what a scan did, for EXPLAIN ANALYZE and the query metrics. Safe for concurrent use.
type Stats struct {
	Runs         atomic.Int64 // runs opened
	BlocksTotal  atomic.Int64 // blocks in the runs
	BlocksPruned atomic.Int64 // refuted by time, zone map, posting or token filter
	BlocksRead   atomic.Int64 // decoded at least in part
	RowsScanned  atomic.Int64 // rows of the blocks read
	RowsOut      atomic.Int64 // rows that passed
	BytesRead    atomic.Int64 // bytes of encoded pages decoded
}
