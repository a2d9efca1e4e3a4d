package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/bench/gen"
	"varve/bench/workload"
)

func accessSet(t *testing.T, rows int64) *gen.Set {
	t.Helper()
	s, err := gen.New("access", gen.Options{Rows: rows, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// counter answers writes with the rows it was sent, every third time with "busy" first.
func counter(t *testing.T, rows, asked *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if asked.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		n := int64(bytes.Count(body, []byte("\n")))
		rows.Add(n)
		if _, err := fmt.Fprintf(w, `{"output":[{"affectedrows":%d}],"execution_time_ms":1}`, n); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestLoadWritesEveryRowOnce(t *testing.T) {
	var rows, asked, shown atomic.Int64
	s := counter(t, &rows, &asked)
	l := load{base: s.URL, wire: ingestWire(t), set: accessSet(t, 1050), rows: 1050, batch: 100, connections: 3,
		progress: func(n int) { shown.Add(int64(n)) }}
	f, err := l.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f.rows != 1050 || rows.Load() != 1050 || shown.Load() != 1050 {
		t.Errorf("rows: counted %d, server %d, shown %d, want 1050", f.rows, rows.Load(), shown.Load())
	}
	if f.retries == 0 || len(f.requests) != 11 {
		t.Errorf("%d retries and %d requests, want some and 11", f.retries, len(f.requests))
	}
	if !slices.IsSorted(f.requests) {
		t.Error("request times are not sorted")
	}
}

// TestLoadWithoutRows: a load that wrote nothing has no figures, and says so.
func TestLoadWithoutRows(t *testing.T) {
	var rows, asked atomic.Int64
	s := counter(t, &rows, &asked)
	l := load{base: s.URL, wire: ingestWire(t), set: accessSet(t, 10), until: time.Now().Add(-time.Second), batch: 10,
		connections: 2, progress: func(int) {}}
	if _, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "no rows were written") {
		t.Errorf("got %v", err)
	}
}

func TestLoadStopsAtAnError(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"error", `{"code":1004,"error":"no such thing"}`, "no such thing"},
		{"short count", `{"output":[{"affectedrows":3}],"execution_time_ms":1}`, "3 rows acknowledged, 100 sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(c.answer, "error") {
					w.WriteHeader(http.StatusBadRequest)
				}
				if _, err := io.WriteString(w, c.answer); err != nil {
					t.Error(err)
				}
			}))
			defer s.Close()
			l := load{base: s.URL, wire: ingestWire(t), set: accessSet(t, 1000), rows: 1000, batch: 100, connections: 2,
				progress: func(int) {}}
			if _, err := l.run(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.WriteString(w,
			`{"output":[{"records":{"schema":{"column_schemas":[{"name":"n","data_type":"Int64"}]},"rows":[[7],[8]],"total_rows":2}}],"execution_time_ms":1}`); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	f := measure(context.Background(), s.URL, "t", "public", workload.Query{Name: "q", SQL: "SELECT 1"}, 3,
		func() time.Duration { return 0 })
	if f.Error != "" || f.Rows != 2 || f.First != "[7]" || f.P50 < f.Min {
		t.Errorf("got %+v", f)
	}
	s.Close()
	if f := measure(context.Background(), s.URL, "t", "public", workload.Query{SQL: "SELECT 1"}, 1,
		func() time.Duration { return 0 }); f.Error == "" {
		t.Error("a dead server gives no error")
	}
}

func TestSteady(t *testing.T) {
	var samples []sample
	var rows int64
	for i := range 41 {
		samples = append(samples, sample{rows: rows, rss: int64(i), cpu: time.Duration(i) * time.Millisecond,
			files: i % 7, logBytes: int64(i % 9)})
		if rows += 100; i/10 == 2 {
			rows -= 40
		}
	}
	want := &SteadyFigure{Windows: 4, MedianRows: 100, SlowestRows: 60, FastestRows: 100,
		Rates: []int64{100, 100, 60, 100}, Costs: []float64{10, 10, 0.01 / 600 * 1e6, 10}, QuarterRSS: 10, EndRSS: 40,
		MostRSS: 40, MostFiles: 6, MostLog: 8}
	if f := steady(samples); !reflect.DeepEqual(f, want) {
		t.Errorf("got %+v", f)
	}
	if f := steady(samples[:25]); f != nil {
		t.Errorf("two windows: %+v", f)
	}
}

func TestReportPrints(t *testing.T) {
	r := Report{Commit: "abc", Dataset: "access", Sync: "always", Batch: 10, Connections: 2,
		Load: &LoadReport{Rows: 1_000_000, Bytes: 500_000_000, Took: 2 * time.Second, ServerCPUFull: 4 * time.Second,
			PeakRSS: 400e6, DataBytes: 48e6, Retries: 1},
		Queries: []QueryFigure{{Name: "rows", P50: 1500 * time.Microsecond, Rows: 1, First: "[1]"},
			{Name: "bad", Error: "no"}}}
	var b strings.Builder
	if err := r.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"wal.sync = always", "| 1000000 | 500000 | 250 | 4.00 (8.0) |", "| 400 | 48.0 |",
		"| rows | 1.50 |", "failed: no"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if r.failed() == nil {
		t.Error("a failed query is no failure")
	}
}

// ingestWire is the protocol of ingest.
func ingestWire(t *testing.T) *wire {
	t.Helper()
	w, err := newWire(&options{as: "ingest", db: "public", table: "t"}, accessSet(t, 10))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWires: each protocol brings all rows, and which goes with which set.
func TestWires(t *testing.T) {
	set, err := gen.New("lines", gen.Options{Rows: 2500, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows := set.Append(nil, 0, 2500)
	var push struct {
		Streams []struct {
			Stream map[string]string
			Values [][2]string
		}
	}
	if err := json.Unmarshal(gen.PushBody(nil, rows), &push); err != nil {
		t.Fatal(err)
	}
	if n := len(push.Streams); n != 3 || len(push.Streams[2].Values) != 500 ||
		push.Streams[2].Stream["host"] != "host-2" || push.Streams[2].Stream["app"] != "web" {
		t.Errorf("%d streams, the last %v", n, push.Streams[n-1])
	}
	var first struct {
		TS   int64
		Line string
	}
	if err := json.Unmarshal(rows[:bytes.IndexByte(rows, '\n')], &first); err != nil ||
		push.Streams[0].Values[0] != [2]string{strconv.FormatInt(first.TS, 10), first.Line} {
		t.Errorf("%v, %v: %v", first, push.Streams[0].Values[0], err)
	}
	if body := gen.BulkBody(nil, rows); bytes.Count(body, []byte("{\"create\":{}}\n{\"ts\":")) != 2500 {
		t.Errorf("%.200s", body)
	}
	for name, ok := range map[string]bool{"ingest": true, "bulk": true, "push": true, "x": false} {
		if _, err := newWire(&options{as: name, db: "public", table: "t"}, set); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newWire(&options{as: "push", db: "public", table: "t"}, accessSet(t, 10)); err == nil {
		t.Error("push takes rows that are no lines")
	}
}
