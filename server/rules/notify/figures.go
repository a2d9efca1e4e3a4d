package notify

import "github.com/prometheus/client_golang/prometheus"

var (
	sentFigure = prometheus.NewDesc("varve_rule_notifications_sent_total", "Alerts that a target took.",
		[]string{"target"}, nil)
	droppedFigure = prometheus.NewDesc("varve_rule_notifications_dropped_total",
		"Alerts that were dropped because too many waited for a target.", []string{"target"}, nil)
	errorsFigure = prometheus.NewDesc("varve_rule_notification_errors_total",
		"Requests to a target that failed; they are sent again.", []string{"target"}, nil)
	waitingFigure = prometheus.NewDesc("varve_rule_notifications_waiting", "Alerts that wait for a target.",
		[]string{"target"}, nil)
	secondsFigure = prometheus.NewDesc("varve_rule_notification_seconds", "Time of the requests to a target.",
		[]string{"target"}, nil)
)

// Describe and Collect make the notifier a collector of its figures.
func (n *Notifier) Describe(out chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{sentFigure, droppedFigure, errorsFigure, waitingFigure, secondsFigure} {
		out <- d
	}
}

// Collect sends the figures of all targets.
func (n *Notifier) Collect(out chan<- prometheus.Metric) {
	for _, t := range n.targets {
		told := t.told()
		count := func(d *prometheus.Desc, x int64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(x), told.Address)
		}
		count(sentFigure, told.Sent)
		count(droppedFigure, told.Dropped)
		count(errorsFigure, told.Errors)
		out <- prometheus.MustNewConstMetric(waitingFigure, prometheus.GaugeValue, float64(told.Waiting), told.Address)
		out <- prometheus.MustNewConstSummary(secondsFigure, uint64(t.requests.Load()),
			float64(t.nanoseconds.Load())/1e9, nil, told.Address)
	}
}
