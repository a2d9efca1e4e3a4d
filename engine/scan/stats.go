package scan

import "sync/atomic"

// Stats counts what a scan did, for EXPLAIN ANALYZE and the query metrics. Safe for concurrent use.
type Stats struct {
	Runs         atomic.Int64 // runs of the snapshot
	BlocksTotal  atomic.Int64 // blocks in the runs
	BlocksPruned atomic.Int64 // refuted by time, zone map, posting or token filter
	BlocksRead   atomic.Int64 // decoded at least in part
	RowsScanned  atomic.Int64 // rows of the blocks read
	RowsOut      atomic.Int64 // rows that passed
	BytesRead    atomic.Int64 // bytes of encoded pages decoded
	// BlocksPruned by what refuted them first. Memory knows only the time.
	PrunedByTime, PrunedByPostings, PrunedByZones, PrunedByTokens, PrunedBySeries atomic.Int64
}

// Add adds the counts of another scan.
func (s *Stats) Add(o *Stats) {
	for _, c := range []struct{ to, from *atomic.Int64 }{
		{&s.Runs, &o.Runs}, {&s.BlocksTotal, &o.BlocksTotal}, {&s.BlocksPruned, &o.BlocksPruned},
		{&s.BlocksRead, &o.BlocksRead},
		{&s.RowsScanned, &o.RowsScanned}, {&s.RowsOut, &o.RowsOut}, {&s.BytesRead, &o.BytesRead},
		{&s.PrunedByTime, &o.PrunedByTime}, {&s.PrunedByPostings, &o.PrunedByPostings},
		{&s.PrunedByZones, &o.PrunedByZones},
		{&s.PrunedByTokens, &o.PrunedByTokens}, {&s.PrunedBySeries, &o.PrunedBySeries},
	} {
		c.to.Add(c.from.Load())
	}
}
