package rules

import (
	"github.com/prometheus/client_golang/prometheus"
)

// figure makes a figure, of groups if labels name one.
func figure(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	rulesFigure   = figure("varve_rules", "Rules that are evaluated, by kind.", "kind")
	groupsFigure  = figure("varve_rule_groups", "Groups of rules.")
	failingFigure = figure("varve_rules_failing", "Rules whose last evaluation failed.")
	alertsFigure  = figure("varve_rule_alerts", "Alerts, by state.", "state")
	wrongFigure   = figure("varve_rule_files_wrong",
		"Files and documents of rules that are not evaluated as they are.")
	loadedFigure      = figure("varve_rules_loaded_timestamp_seconds", "When the files of rules were read last.")
	evaluationsFigure = figure("varve_rule_evaluations_total", "Evaluations of rules.", "file", "group")
	failuresFigure    = figure("varve_rule_evaluation_failures_total", "Evaluations of rules that failed.", "file",
		"group")
	missedFigure = figure("varve_rule_group_missed_total",
		"Evaluations of a group that were left out, because those before took too long.", "file", "group")
	lastFigure = figure("varve_rule_group_last_evaluation_timestamp_seconds",
		"The time of the last evaluation of a group.", "file", "group")
	tookFigure = figure("varve_rule_group_last_duration_seconds", "How long the last evaluation of a group took.",
		"file", "group")
)

// Describe and Collect make the manager a collector of its figures and of those of notifications.
func (m *Manager) Describe(out chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{rulesFigure, groupsFigure, failingFigure, alertsFigure, wrongFigure,
		loadedFigure, evaluationsFigure, failuresFigure, missedFigure, lastFigure, tookFigure} {
		out <- d
	}
	m.notifier.Describe(out)
}

// Collect sends the figures.
func (m *Manager) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, x float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, x, labels...)
	}
	n := m.Counts()
	gauge(rulesFigure, float64(n.Alerting), "alerting")
	gauge(rulesFigure, float64(n.Recording), "recording")
	gauge(groupsFigure, float64(n.Groups))
	gauge(failingFigure, float64(n.Failing))
	gauge(alertsFigure, float64(n.Pending), pending.String())
	gauge(alertsFigure, float64(n.Firing), firing.String())
	list, at, failure := m.Sources()
	wrong := 0
	for _, s := range list {
		if s.Error != "" {
			wrong++
		}
	}
	if failure != "" {
		wrong++
	}
	gauge(wrongFigure, float64(wrong))
	if !at.IsZero() {
		gauge(loadedFigure, float64(at.UnixMilli())/1000)
	}
	for _, g := range *m.groups.Load() {
		g.collect(out)
	}
	m.notifier.Collect(out)
}

// collect sends the figures of a group.
func (g *group) collect(out chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, x int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(x), g.file, g.def.Name)
	}
	count(evaluationsFigure, g.evaluations.Load())
	count(failuresFigure, g.failures.Load())
	count(missedFigure, g.missed.Load())
	g.mu.Lock()
	last, took := g.last, g.took
	g.mu.Unlock()
	if !last.IsZero() {
		out <- prometheus.MustNewConstMetric(lastFigure, prometheus.GaugeValue, float64(last.UnixMilli())/1000, g.file,
			g.def.Name)
		out <- prometheus.MustNewConstMetric(tookFigure, prometheus.GaugeValue, took.Seconds(), g.file, g.def.Name)
	}
}
