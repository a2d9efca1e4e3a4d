package pipeline

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxTitles bounds the pipelines that have figures of their own; others share the name "other".
const maxTitles = 1000

// metrics are the figures of pipelines. Safe for concurrent use.
type metrics struct {
	in, out, dropped, failed *prometheus.CounterVec

	mu     sync.Mutex
	titles map[string]bool
}

func newMetrics() *metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_pipeline_" + name + "_total", Help: help},
			[]string{"pipeline"})
	}
	return &metrics{
		in:      counter("events_in", "Entries that came into a pipeline."),
		out:     counter("events_out", "Rows that a pipeline made."),
		dropped: counter("events_dropped", "Entries that a pipeline dropped, by filter or script."),
		failed: counter("events_failed",
			"Entries that failed in a pipeline, those left out because of skip_error included."),
		titles: map[string]bool{},
	}
}

// Collectors are the manager's figures.
func (m *Manager) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.metrics.in, m.metrics.out, m.metrics.dropped, m.metrics.failed}
}

func (m *metrics) add(title string, c *counts) {
	if *c == (counts{}) {
		return
	}
	m.mu.Lock()
	if !m.titles[title] && len(m.titles) >= maxTitles {
		title = "other"
	}
	m.titles[title] = true
	m.mu.Unlock()
	for _, x := range []struct {
		counter *prometheus.CounterVec
		n       int
	}{{m.in, c.in}, {m.out, c.out}, {m.dropped, c.dropped}, {m.failed, c.failed}} {
		x.counter.WithLabelValues(title).Add(float64(x.n))
	}
}
