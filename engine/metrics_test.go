package engine

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/vfs"
)

// TestCacheFigures reads a part three times: the first two look in vain, the second keeps the block, the third finds it.
func TestCacheFigures(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	registry := prometheus.NewRegistry()
	registry.MustRegister(e.Collectors()...)
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(1), "v": int64(1)}, {"ts": int64(2), "v": int64(7)}}); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := scanTable(e, public("log"), everything); err != nil {
			t.Fatal(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	for _, name := range []string{"varve_cache_hits_total", "varve_cache_misses_total", "varve_cache_bytes"} {
		if got[name] <= 0 {
			t.Errorf("%s = %v, want more than 0", name, got[name])
		}
	}
}
