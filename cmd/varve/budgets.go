package main

import "github.com/prometheus/client_golang/prometheus"

// budget is a share of the memory for one purpose, with what is taken of it.
type budget struct {
	name  string
	limit int64
	used  func() int64
}

// budgets are those that can be looked at.
func (n *node) budgets(m memory) []budget {
	return []budget{
		{"memtables", m.memtables, func() int64 { rows, _, _ := n.store.Memory(); return rows }},
		{"series", m.series, func() int64 { _, keys, _ := n.store.Memory(); return keys }},
		{"cache", m.cache, func() int64 { _, _, blocks := n.store.Memory(); return blocks }},
		{"queries", m.queries, n.pool.Used},
		{"held", m.held, n.pool.Held},
		{"bodies", n.intake.Limit(), n.intake.Bytes},
		{"answers", n.answers.Limit(), n.answers.Bytes},
	}
}

// budgetCollectors are the figures of the budgets, and of the queries that wait for theirs.
func budgetCollectors(list []budget, waiting func() int64) []prometheus.Collector {
	gauge := func(name, help, of string, f func() int64) prometheus.Collector {
		o := prometheus.GaugeOpts{Name: name, Help: help}
		if of != "" {
			o.ConstLabels = prometheus.Labels{"budget": of}
		}
		return prometheus.NewGaugeFunc(o, func() float64 { return float64(f()) })
	}
	all := []prometheus.Collector{gauge("varve_queries_waiting", "Queries that wait for memory before they begin.", "",
		waiting)}
	for _, b := range list {
		all = append(all,
			gauge("varve_budget_bytes", "Memory taken of a share of memory_limit.", b.name, b.used),
			gauge("varve_budget_limit_bytes", "Memory that a share of memory_limit has.", b.name,
				func() int64 { return b.limit }))
	}
	return all
}
