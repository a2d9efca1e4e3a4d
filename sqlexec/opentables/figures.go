package opentables

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// totals count what was done since the start.
type totals struct{ days, rows, bytes, failures atomic.Int64 }

func (t *totals) wrote(bytes, rows int64) {
	t.bytes.Add(bytes)
	t.rows.Add(rows)
}

func (t *totals) committed() { t.days.Add(1) }

func (t *totals) failed() { t.failures.Add(1) }

// The figures.
var (
	daysTotal  = prometheus.NewDesc("varve_open_days_total", "Days that were written to open tables.", nil, nil)
	rowsTotal  = prometheus.NewDesc("varve_open_rows_total", "Rows that were written to files of open tables.", nil, nil)
	bytesTotal = prometheus.NewDesc("varve_open_bytes_total", "Bytes of files of open tables that were written.", nil,
		nil)
	failuresTotal = prometheus.NewDesc("varve_open_failures_total",
		"Passes over an open table that failed; they are tried again.", nil, nil)
)

// Describe implements prometheus.Collector.
func (x *Exporter) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(x, out) }

// Collect implements prometheus.Collector.
func (x *Exporter) Collect(out chan<- prometheus.Metric) {
	for d, n := range map[*prometheus.Desc]*atomic.Int64{daysTotal: &x.totals.days, rowsTotal: &x.totals.rows,
		bytesTotal: &x.totals.bytes, failuresTotal: &x.totals.failures} {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n.Load()))
	}
}
