package wal

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the figures of a log.
type Metrics struct {
	Appends  prometheus.Counter
	Bytes    prometheus.Counter
	Failures prometheus.Counter
	Fsyncs   prometheus.Histogram // seconds
	Segments prometheus.Gauge
}

func newMetrics() *Metrics {
	return &Metrics{
		Appends: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_wal_appends_total",
			Help: "Records written to the log."}),
		Bytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_wal_written_bytes_total",
			Help: "Bytes written to the log."}),
		Failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_wal_failures_total",
			Help: "Commits of the log that failed."}),
		Fsyncs: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "varve_wal_fsync_seconds",
			Help:    "Time of one fsync of the log.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16)}),
		Segments: prometheus.NewGauge(prometheus.GaugeOpts{Name: "varve_wal_segments",
			Help: "Segments of the log on disk."}),
	}
}

// Collectors lists the figures for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Appends, m.Bytes, m.Failures, m.Fsyncs, m.Segments}
}
