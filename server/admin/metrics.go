package admin

import (
	"bytes"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"varve/engine/status"
	"varve/server/web"
)

// Metrics answers /metrics in the text exposition format.
func (h *Handler) Metrics(c *web.Ctx) error {
	r, err := http.NewRequestWithContext(c.Context, "GET", "/metrics", nil)
	if err != nil {
		return status.Wrap(err, status.Internal, "ask for the figures")
	}
	page := page{header: http.Header{}, status: 200}
	h.figures.ServeHTTP(&page, r)
	c.SetStatusCode(page.status)
	c.SetContentType(page.header.Get("Content-Type"))
	c.Response.SetBodyRaw(page.body.Bytes())
	return nil
}

// page takes what an http.Handler answers.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *page) Header() http.Header         { return p.header }
func (p *page) WriteHeader(status int)      { p.status = status }
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }

// Collectors are the figures of the process and of the store.
func (h *Handler) Collectors() []prometheus.Collector {
	all := []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "varve_build_info", Help: "Always 1; the labels say what runs.",
			ConstLabels: prometheus.Labels{"version": h.o.Version, "commit": h.o.Commit},
		}, func() float64 { return 1 }),
	}
	if h.o.Store != nil {
		all = append(all, &storeFigures{h.o.Store})
	}
	return all
}

// storeFigures are the sizes of the store, asked for when they are wanted.
type storeFigures struct{ store Store }

var (
	descTables        = prometheus.NewDesc("varve_store_tables", "Tables.", nil, nil)
	descParts         = prometheus.NewDesc("varve_store_parts", "Parts on disk.", nil, nil)
	descDiskBytes     = prometheus.NewDesc("varve_store_disk_bytes", "Bytes of parts on disk.", nil, nil)
	descIndexBytes    = prometheus.NewDesc("varve_store_index_bytes", "Bytes of indexes inside parts.", nil, nil)
	descRows          = prometheus.NewDesc("varve_store_rows", "Rows in memory and on disk.", nil, nil)
	descMemtableRows  = prometheus.NewDesc("varve_memtable_rows", "Rows in memory.", nil, nil)
	descMemtableBytes = prometheus.NewDesc("varve_memtable_bytes", "Bytes of rows in memory.", nil, nil)
	descSetAside      = prometheus.NewDesc("varve_store_damaged_files", "Damaged files that are not served.", nil, nil)
)

// Describe is part of prometheus.Collector.
func (s *storeFigures) Describe(out chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{descTables, descParts, descDiskBytes, descIndexBytes, descRows, descMemtableRows, descMemtableBytes, descSetAside} {
		out <- d
	}
}

// Collect is part of prometheus.Collector. A database that is dropped meanwhile is left out.
func (s *storeFigures) Collect(out chan<- prometheus.Metric) {
	var tables, parts, disk, index, rows, memRows, memBytes int64
	for _, d := range s.store.Databases() {
		list, err := s.store.Tables(d.Name)
		if err != nil {
			continue
		}
		tables += int64(len(list))
		for _, t := range list {
			st := t.Stats()
			parts += int64(len(st.Parts))
			disk, index, rows = disk+st.DiskBytes, index+st.IndexBytes, rows+st.Rows
			memRows, memBytes = memRows+st.MemtableRows, memBytes+st.MemtableBytes
		}
	}
	gauge := func(d *prometheus.Desc, n int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
	}
	gauge(descTables, tables)
	gauge(descParts, parts)
	gauge(descDiskBytes, disk)
	gauge(descIndexBytes, index)
	gauge(descRows, rows)
	gauge(descMemtableRows, memRows)
	gauge(descMemtableBytes, memBytes)
	gauge(descSetAside, int64(len(s.store.SetAside())))
}
