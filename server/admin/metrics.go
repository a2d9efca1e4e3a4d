package admin

import (
	"bytes"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"varve/engine/status"
	"varve/server/web"
)

// exposition is the media type of figures.
const exposition = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// Metrics answers /metrics in the text exposition format.
func (h *Handler) Metrics(c *web.Ctx) error {
	r, err := http.NewRequestWithContext(c.Context, "GET", "/metrics", nil)
	if err != nil {
		return status.Wrap(err, status.Internal, "ask for the figures")
	}
	return c.Make(200, exposition, func() ([]byte, error) {
		page := page{header: http.Header{}, status: 200}
		h.figures.ServeHTTP(&page, r)
		if page.status != 200 {
			return nil, status.New(status.Internal, "gather the figures: %s", page.body.Bytes())
		}
		return page.body.Bytes(), nil
	})
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
	all = append(all, residentCollectors()...)
	return append(all, h.o.Store.Collectors()...)
}
