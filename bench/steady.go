package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/bench/process"
	"varve/bench/workload"
)

const (
	sampleEvery = time.Second
	// windowSamples make one window: a merge or a flush may slow a second down, but not ten.
	windowSamples = 10
)

// sample is the state of a load at one moment.
type sample struct {
	rows int64         // acknowledged so far
	rss  int64         // of the server, in bytes; 0: not known
	cpu  time.Duration // of the server since its start
	// files are those of the data directory, logBytes what the log takes; 0: not known.
	files    int
	logBytes int64
}

// SteadyFigure says how even a long load was.
type SteadyFigure struct {
	Windows     int   `json:"windows"`            // of 10 s
	MedianRows  int64 `json:"median_rows_per_s"`  // over the windows
	SlowestRows int64 `json:"slowest_rows_per_s"` // of the windows
	FastestRows int64 `json:"fastest_rows_per_s"` // of the windows
	// Rates are the rows/s of the windows, one after the other.
	Rates []int64 `json:"rates"`
	// Costs are the windows' processor time of the server in seconds per million rows: what else the machine does
	// changes it little.
	Costs      []float64 `json:"costs"`
	QuarterRSS int64     `json:"rss_after_quarter"` // bytes
	EndRSS     int64     `json:"rss_at_end"`        // bytes
	MostRSS    int64     `json:"rss_most"`          // bytes
	MostFiles  int       `json:"files_most"`        // in the data directory
	MostLog    int64     `json:"log_most"`          // bytes
}

// watch takes samples of the server's process and of its data directory, where they are known, until ctx is done.
func watch(ctx context.Context, pid int, dir string, rows *atomic.Int64) (samples []sample) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return samples
		case <-tick.C:
			s := sample{rows: rows.Load()}
			if rss, err := process.RSS(pid); pid != 0 && err == nil {
				s.rss = rss
			}
			if cpu, err := process.CPU(pid); pid != 0 && err == nil {
				s.cpu = cpu
			}
			if use, err := process.DiskUse(dir); dir != "" && err == nil {
				s.files, s.logBytes = use.Files, use.LogBytes
			}
			samples = append(samples, s)
		}
	}
}

// steady reads the samples of a load; nil when it was shorter than three windows.
func steady(samples []sample) *SteadyFigure {
	var rates []int64
	var costs []float64
	for i := windowSamples; i < len(samples); i += windowSamples {
		rows := samples[i].rows - samples[i-windowSamples].rows
		rates = append(rates, rows/int64(windowSamples*sampleEvery/time.Second))
		costs = append(costs, (samples[i].cpu-samples[i-windowSamples].cpu).Seconds()/float64(max(rows, 1))*1e6)
	}
	if len(rates) < 3 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(rates))
	f := &SteadyFigure{
		Windows: len(rates), MedianRows: sorted[len(rates)/2], SlowestRows: sorted[0],
		FastestRows: sorted[len(rates)-1], Rates: rates, Costs: costs,
		QuarterRSS: samples[len(samples)/4].rss, EndRSS: samples[len(samples)-1].rss,
	}
	for _, s := range samples {
		f.MostRSS, f.MostFiles, f.MostLog = max(f.MostRSS, s.rss), max(f.MostFiles, s.files), max(f.MostLog, s.logBytes)
	}
	return f
}

// ReaderFigure is what queries took that ran while rows were written.
type ReaderFigure struct {
	Queries int           `json:"queries"`
	Failed  int           `json:"failed"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
	Error   string        `json:"error,omitempty"` // of one that failed
}

// read runs the queries one after the other, again and again, on some connections until ctx is done.
func read(ctx context.Context, readers int, base, table, db string, queries []workload.Query) *ReaderFigure {
	if readers == 0 || len(queries) == 0 {
		return nil
	}
	var (
		f    ReaderFigure
		took []time.Duration
		mu   sync.Mutex // protects f and took
		wg   sync.WaitGroup
	)
	for r := range readers {
		wg.Go(func() {
			for i := r; ctx.Err() == nil; i++ {
				start := time.Now()
				_, err := ask(ctx, base, table, db, &queries[i%len(queries)])
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				f.Queries++
				took = append(took, time.Since(start))
				if err != nil {
					f.Failed++
					f.Error = err.Error()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(took) > 0 {
		slices.Sort(took)
		f.P50, f.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	return &f
}
