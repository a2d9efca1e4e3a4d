package engine

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/wal"
)

// maxMeasured bounds the tables that have figures of their own, the first by name: each is three lines of every scrape.
const maxMeasured = 1000

var (
	tableLabels = []string{"db", "table"}
	tableRows   = prometheus.NewDesc("varve_table_rows",
		"Rows of a table, memtables included; of replaced and deleted rows all versions count.", tableLabels, nil)
	tableBytes     = prometheus.NewDesc("varve_table_bytes", "Bytes of a table's parts.", tableLabels, nil)
	tableParts     = prometheus.NewDesc("varve_table_parts", "Parts of a table.", tableLabels, nil)
	tablesReadOnly = prometheus.NewDesc("varve_read_only_tables", "Tables with the option read_only.", nil, nil)
)

// tableCollector collects the figures of the tables as they are when they are asked for.
type tableCollector struct{ e *Engine }

func (c *tableCollector) Describe(to chan<- *prometheus.Desc) {
	to <- tableRows
	to <- tableBytes
	to <- tableParts
	to <- tablesReadOnly
}

func (c *tableCollector) Collect(to chan<- prometheus.Metric) {
	measured, readOnly := 0, 0
	for _, d := range c.e.Databases() {
		tables, err := c.e.Tables(d.Name)
		if err != nil {
			continue // dropped in this moment
		}
		for _, t := range tables {
			if t.Schema.Options.ReadOnly {
				readOnly++
			}
			if measured++; measured > maxMeasured {
				continue
			}
			s := t.Stats()
			db, name := strings.ToValidUTF8(t.Schema.Name.DB, "?"), strings.ToValidUTF8(t.Schema.Name.Table, "?")
			to <- prometheus.MustNewConstMetric(tableRows, prometheus.GaugeValue, float64(s.Rows), db, name)
			to <- prometheus.MustNewConstMetric(tableBytes, prometheus.GaugeValue, float64(s.DiskBytes), db, name)
			to <- prometheus.MustNewConstMetric(tableParts, prometheus.GaugeValue, float64(len(s.Parts)), db, name)
		}
	}
	to <- prometheus.MustNewConstMetric(tablesReadOnly, prometheus.GaugeValue, float64(readOnly))
}

// diskCollectors are the figures of the disk and of the log on it.
func diskCollectors(v *inventory, log *wal.Log) []prometheus.Collector {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	return []prometheus.Collector{
		gauge("varve_read_only", "1 while nothing can be changed: a file system of the store, or the server, is read-only.",
			func() float64 {
				if v.o.ReadOnly || v.space.readOnly() != nil {
					return 1
				}
				return 0
			}),
		gauge("varve_wal_bytes", "Bytes of the log on the disk.", func() float64 { return float64(log.Size()) }),
		gauge("varve_disk_free_bytes", "Bytes free for the data directory; -1: not known.", func() float64 {
			free, err := v.o.FS.FreeBytes(v.o.Dir)
			if err != nil {
				return -1
			}
			return float64(free)
		}),
	}
}
