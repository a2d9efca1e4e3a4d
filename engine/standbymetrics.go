package engine

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// standbyCollectors are the figures of a primary or of a standby.
func standbyCollectors(e *Engine) []prometheus.Collector {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	all := []prometheus.Collector{
		gauge("varve_epoch", "How often a standby took the store over.",
			func() float64 { return float64(e.Standing().Epoch) }),
		gauge("varve_replaced", "1 if a standby took over from this server, which takes no writes then.", func() float64 {
			if e.space.replaced() != nil {
				return 1
			}
			return 0
		}),
	}
	s := e.standby
	if s == nil {
		return append(all, gauge("varve_standby_silent_seconds",
			"Seconds since a standby asked last; infinite if none has since the start.", func() float64 {
				if d := e.primary.Silent(); d != math.MaxInt64 {
					return d.Seconds()
				}
				return math.Inf(1)
			}))
	}
	return append(all,
		gauge("varve_standby_lag_seconds", "Age of the rows that a standby shows: all that were acknowledged before "+
			"are visible. Infinite if that is not known.", func() float64 { return s.lag(s.Figures().Shown) }),
		gauge("varve_standby_disk_lag_seconds", "Age of the rows that a standby has on its disk: these are not lost "+
			"when it takes over. Infinite if that is not known.", func() float64 { return s.lag(s.Figures().Copied) }),
		gauge("varve_standby_missing_parts", "Parts that the primary lists and the standby has not copied yet.",
			func() float64 { return float64(s.Figures().MissingParts) }),
		gauge("varve_standby_missing_bytes", "Bytes of these parts.",
			func() float64 { return float64(s.Figures().MissingBytes) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "varve_standby_copied_bytes_total",
			Help: "Bytes of parts and of the log that a standby copied."},
			func() float64 { return float64(s.Figures().CopiedBytes) }))
}
