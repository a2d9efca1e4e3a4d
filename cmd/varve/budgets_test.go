package main

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestBudgets: each share of the memory has a figure of what it has and one of what is taken of it.
func TestBudgets(t *testing.T) {
	registry := prometheus.NewRegistry()
	of := func(n int64) func() int64 { return func() int64 { return n } }
	registry.MustRegister(budgetCollectors([]budget{{"memtables", 100, of(7)}, {"queries", 200, of(0)}}, of(3))...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			got[name] = m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"varve_budget_bytes budget=memtables": 7, "varve_budget_limit_bytes budget=memtables": 100,
		"varve_budget_bytes budget=queries": 0, "varve_budget_limit_bytes budget=queries": 200,
		"varve_queries_waiting": 3,
	} {
		if n, there := got[name]; !there || n != want {
			t.Errorf("%s is %v (%v), want %v", name, n, there, want)
		}
	}
}
