package engine

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/admission"
	"varve/sst"
)

// Metrics are the figures of the store.
type Metrics struct {
	RowsWritten, BytesWritten                  prometheus.Counter
	Refused                                    *prometheus.CounterVec // by reason
	Flushes, FlushFailures                     prometheus.Counter
	FlushSeconds                               prometheus.Histogram
	FlushedRows, FlushedBytes                  prometheus.Counter
	Merges, MergeFailures                      prometheus.Counter
	MergeSeconds                               prometheus.Histogram
	MergedBytes, ExpiredParts                  prometheus.Counter
	MemtableBytes, HeldBytes, Parts, PartBytes prometheus.GaugeFunc
	Tables, Damaged                            prometheus.GaugeFunc
	Series, SeriesBytes                        prometheus.GaugeFunc
	FlushesWaiting, FlushesRunning             prometheus.GaugeFunc
	MergesWaiting, MergesRunning               prometheus.GaugeFunc
	WritesWaiting                              prometheus.GaugeFunc
	ReplayedRows, ReadsBounded                 prometheus.Counter
	SST                                        *sst.Metrics
}

func newMetrics(e *Engine) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.001, 3, 12)})
	}
	gauge := func(name, help string, f func() float64) prometheus.GaugeFunc {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	sum := func(f func(s *regionSnap) float64) func() float64 {
		return func() (n float64) {
			for _, r := range e.catalog.Load().regions {
				n += f(r.snap.Load())
			}
			return n
		}
	}
	return &Metrics{
		RowsWritten:  counter("varve_rows_written_total", "Rows acknowledged by the write door."),
		BytesWritten: counter("varve_bytes_written_total", "Bytes of log records of acknowledged rows."),
		Refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_writes_refused_total",
			Help: "Writes refused, by reason."}, []string{"reason"}),
		Flushes:       counter("varve_flushes_total", "Memtables written into parts."),
		FlushFailures: counter("varve_flush_failures_total", "Flushes that failed and are tried again."),
		FlushSeconds:  seconds("varve_flush_seconds", "Time of one flush."),
		FlushedRows:   counter("varve_flushed_rows_total", "Rows written into parts by flushes."),
		FlushedBytes:  counter("varve_flushed_bytes_total", "Bytes of parts written by flushes."),
		Merges:        counter("varve_merges_total", "Merges of parts."),
		MergeFailures: counter("varve_merge_failures_total", "Merges that failed."),
		MergeSeconds:  seconds("varve_merge_seconds", "Time of one merge."),
		MergedBytes:   counter("varve_merged_bytes_total", "Bytes of parts written by merges."),
		ExpiredParts: counter("varve_expired_parts_total",
			"Parts dropped because all of their rows were past the table's ttl."),
		ReadsBounded: counter("varve_queries_over_read_bound_total",
			"Queries that ended because they read more than query.max_read_rows or query.max_read_bytes."),
		ReplayedRows: counter("varve_replayed_rows_total", "Rows replayed from the log at start."),
		SST:          sst.NewMetrics(),
		MemtableBytes: gauge("varve_memtable_bytes", "Memory of all memtables.",
			func() float64 { return float64(e.memory.used()) }),
		HeldBytes: gauge("varve_held_memtable_bytes", "Memory of flushed memtables that queries still read.",
			func() float64 { return float64(e.memory.kept()) }),
		Parts: gauge("varve_parts", "Parts served.",
			sum(func(s *regionSnap) float64 { return float64(len(s.parts)) })),
		PartBytes: gauge("varve_part_bytes", "Bytes of parts served.", sum(func(s *regionSnap) (n float64) {
			for _, p := range s.parts {
				n += float64(p.meta.Bytes)
			}
			return n
		})),
		Tables: gauge("varve_tables", "Tables, logical ones included.",
			func() float64 { return float64(len(e.catalog.Load().byName)) }),
		Series: gauge("varve_series",
			"Series that writing tables know: those of rows in memory, and those written not long ago.",
			sum(func(s *regionSnap) float64 {
				return float64(s.live.series.Len())
			})),
		SeriesBytes: gauge("varve_series_bytes", "Memory of the keys of series.",
			func() float64 { return float64(e.memory.series()) }),
		FlushesWaiting: gauge("varve_flushes_waiting", "Tables whose memtables wait for being written into parts.",
			func() float64 { return float64(len(e.flusher.asked)) }),
		FlushesRunning: gauge("varve_flushes_running", "Tables whose memtables are being written into parts.",
			func() float64 {
				if e.flusher.busy.Load() {
					return 1
				}
				return 0
			}),
		MergesWaiting: gauge("varve_merges_waiting", "Merges of tables that wait for their turn.", func() float64 {
			waiting, _ := e.merger.count(e.catalog.Load().regions)
			return float64(waiting)
		}),
		MergesRunning: gauge("varve_merges_running",
			"Merges that are under way, those that stand still for others included.", func() float64 {
				_, running := e.merger.count(e.catalog.Load().regions)
				return float64(running)
			}),
		WritesWaiting: gauge("varve_writes_waiting", "Writes that wait for room in memory.",
			func() float64 { return float64(e.o.Memory.Waiting(admission.Memtable)) }),
		Damaged: gauge("varve_damaged_files", "Damaged files and stretches of log that are not served.",
			func() float64 { return float64(len(e.SetAside())) }),
	}
}

// Collectors lists the figures of the store, its log and its parts, for a registry.
func (e *Engine) Collectors() []prometheus.Collector {
	m := e.metrics
	c := []prometheus.Collector{m.RowsWritten, m.BytesWritten, m.Refused, m.Flushes, m.FlushFailures, m.FlushSeconds,
		m.FlushedRows,
		m.FlushedBytes, m.Merges, m.MergeFailures, m.MergeSeconds, m.MergedBytes, m.ExpiredParts, m.MemtableBytes,
		m.HeldBytes, m.Parts, m.PartBytes, m.Tables,
		m.Series, m.SeriesBytes, m.Damaged, m.ReplayedRows, m.ReadsBounded, m.FlushesWaiting, m.FlushesRunning,
		m.MergesWaiting, m.MergesRunning, m.WritesWaiting}
	c = append(c, e.log.Metrics().Collectors()...)
	c = append(c, diskCollectors(e.inventory, e.log)...)
	c = append(c, &tableCollector{e}, e.sizes, e.mover)
	c = append(c, standbyCollectors(e)...)
	return append(append(c, readCollectors(m.SST)...), cacheCollectors(e.cache)...)
}

// cacheCollectors are the figures of the cache of decoded blocks.
func cacheCollectors(c *sst.Cache) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "varve_cache_hits_total",
			Help: "Blocks of parts found decoded in the cache."},
			func() float64 { return float64(c.Hits.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "varve_cache_misses_total",
			Help: "Blocks of parts looked for in the cache in vain."},
			func() float64 { return float64(c.Misses.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "varve_cache_bytes",
			Help: "Memory of the cache of decoded blocks."},
			func() float64 { return float64(c.Bytes()) }),
	}
}

// readCollectors are the figures of reading parts.
func readCollectors(m *sst.Metrics) []prometheus.Collector {
	counter := func(name, help string, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(n.Load()) })
	}
	return []prometheus.Collector{
		counter("varve_part_blocks_read_total", "Column blocks of parts decoded.", &m.BlocksRead),
		counter("varve_part_blocks_pruned_total", "Blocks of rows left out by time, series, zones or postings.",
			&m.BlocksPruned),
		counter("varve_part_read_bytes_total", "Encoded bytes of parts decoded.", &m.BytesRead),
		counter("varve_part_rows_scanned_total", "Rows of the blocks that were looked at.", &m.RowsScanned),
		counter("varve_part_read_errors_total", "Reads that met damage.", &m.Damaged),
	}
}
