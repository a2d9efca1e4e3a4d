package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// TestCacheFigures reads a part three times: the first two look in vain, the second keeps the block, the third finds
// it.
func TestCacheFigures(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	registry := prometheus.NewRegistry()
	registry.MustRegister(e.Collectors()...)
	if err := put(e, "log", appendOnly,
		[]modelRow{{"ts": int64(1), "v": int64(1)}, {"ts": int64(2), "v": int64(7)}}); err != nil {
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

// gather returns all figures by name and values of labels.
func gather(t *testing.T, e *Engine) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(e.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return got
}

func TestTableFigures(t *testing.T) {
	disk := vfs.NewMem()
	disk.SetFree(12345)
	o := testOptions(disk)
	o.MinFree = 1
	o.Now = func() time.Time { return time.UnixMilli(100_000) }
	e := mustOpen(t, o)
	defer mustClose(t, e)
	if err := put(e, "log", appendOnly,
		[]modelRow{{"ts": int64(1), "v": int64(1)}, {"ts": int64(2), "v": int64(7)}}); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(99_999), "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	got := gather(t, e)
	if got["varve_table_rows public log"] != 3 || got["varve_table_parts public log"] != 1 ||
		got["varve_table_bytes public log"] <= 0 {
		t.Errorf("got %v", got)
	}
	if got["varve_disk_free_bytes"] != 12345 || got["varve_wal_bytes"] <= 0 || got["varve_expired_parts_total"] != 0 {
		t.Errorf("free %v, log %v, expired %v", got["varve_disk_free_bytes"], got["varve_wal_bytes"],
			got["varve_expired_parts_total"])
	}
	if err := e.AlterDatabase(ctx,
		Database{Name: "public", Options: []schema.Option{{Key: "ttl", Value: "60s"}}}); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.expiry.drop(tab.region); err != nil {
		t.Fatal(err)
	}
	if got = gather(t, e); got["varve_expired_parts_total"] != 1 || got["varve_table_parts public log"] != 0 ||
		got["varve_table_rows public log"] != 1 {
		t.Errorf("after the part expired: %v", got)
	}
}

// TestTableFiguresAreBounded: a store of very many tables does not answer with figures of them all.
func TestTableFiguresAreBounded(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for i := range maxMeasured + 5 {
		if err := put(e, fmt.Sprintf("log%04d", i), appendOnly, []modelRow{{"ts": int64(1), "v": int64(1)}}); err !=
			nil {
			t.Fatal(err)
		}
	}
	measured := 0
	got := gather(t, e)
	for i := range maxMeasured + 5 {
		if got[fmt.Sprintf("varve_table_rows public log%04d", i)] == 1 {
			measured++
		}
	}
	if measured != maxMeasured || got["varve_tables"] < maxMeasured+5 {
		t.Errorf("%d of %v tables have figures, want %d", measured, got["varve_tables"], maxMeasured)
	}
}
