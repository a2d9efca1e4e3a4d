package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"varve/bench/client"
	"varve/bench/fleet"
	"varve/bench/workload"
)

// storeState is a way for the samples of the fleet to lie: each list of steps is written, and a part made of it.
type storeState struct {
	name    string
	writes  func(steps int64) [][]int64
	live    bool // the last list stays in memory
	compact bool
}

const (
	// stateSpan is how long the fleet is watched, short enough for memory.
	stateSpan = 2 * time.Hour
	// apartParts is less than what a merge takes, so that the parts stay.
	apartParts, overlappingParts = 7, 5
)

var storeStates = []storeState{
	{name: "memory", live: true, writes: func(n int64) [][]int64 { return [][]int64{every(0, n, 1)} }},
	{name: "half", live: true, writes: func(n int64) [][]int64 {
		return [][]int64{every(0, n/2, 1), every(n/2, n, 1)}
	}},
	{name: "one part", compact: true, writes: func(n int64) [][]int64 { return [][]int64{every(0, n, 1)} }},
	{name: "many parts", writes: func(n int64) (lists [][]int64) {
		for i := range int64(apartParts) {
			lists = append(lists, every(i*n/apartParts, (i+1)*n/apartParts, 1))
		}
		return lists
	}},
	{name: "overlapping", writes: func(n int64) (lists [][]int64) {
		for i := range int64(overlappingParts) {
			lists = append(lists, every(i, n, overlappingParts))
		}
		return lists
	}},
}

// runStates times each query on the same samples in each state of the store: one server for each state, in turn.
func runStates(ctx context.Context, o *options) (err error) {
	if o.duration == 0 {
		o.duration = stateSpan
	}
	set, end := fleet.New(), time.Now().Truncate(time.Minute)
	var servers []*measured
	defer func() {
		for _, t := range servers {
			err = errors.Join(err, t.close())
		}
	}()
	for i := range storeStates {
		t, err := startState(ctx, o)
		if err != nil {
			return err
		}
		servers = append(servers, t)
		if err := storeStates[i].fill(ctx, t, o, set, end); err != nil {
			return err
		}
	}
	profiled := profileStates(ctx, o, servers)
	return errors.Join(timeStates(ctx, os.Stdout, o, servers, end), <-profiled)
}

// profileStates profiles each server while it is asked, if -server-profile names a file: into files of that name with
// the state's at the end. The result comes when all are written.
func profileStates(ctx context.Context, o *options, servers []*measured) <-chan error {
	done := make(chan error, 1)
	if o.serverProfile == "" {
		done <- nil
		return done
	}
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, t := range servers {
		file := o.serverProfile + "." + strings.ReplaceAll(storeStates[i].name, " ", "-")
		wg.Go(func() { errs[i] = t.profile(ctx, &options{serverProfile: file, rows: o.rows}) })
	}
	go func() {
		wg.Wait()
		done <- errors.Join(errs...)
	}()
	return done
}

// startState starts a server that writes no part by itself.
func startState(ctx context.Context, o *options) (*measured, error) {
	return startOwn(ctx, o, "VARVE_STORAGE__MEMTABLE_LIMIT=2GiB", "VARVE_STORAGE__FLUSH_BYTES=512MiB",
		"VARVE_STORAGE__FLUSH_AGE=24h", "VARVE_WAL__SYNC=never")
}

// fill writes the samples so that they lie as the state says.
func (s *storeState) fill(ctx context.Context, t *measured, o *options, set *fleet.Set, end time.Time) error {
	steps := o.fleetSteps()
	lists := s.writes(steps)
	for i, list := range lists {
		err := sendFleet(ctx, t.url, "/v1/metricsapi/write", set, o.connections, end, steps, list)
		if err == nil && (!s.live || i+1 < len(lists)) {
			_, err = client.SQL(ctx, t.url, "public", "ADMIN flush_table('service_physical_table')")
		}
		if err != nil {
			return err
		}
	}
	if !s.compact {
		return nil
	}
	_, err := client.SQL(ctx, t.url, "public", "ADMIN compact_table('service_physical_table')")
	return err
}

// timeStates asks each query of all servers in turn and prints the medians, and the processor time of a run.
func timeStates(ctx context.Context, w io.Writer, o *options, servers []*measured, end time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, commit %s, metrics by state of the store, %s, p50 / least ms (CPU ms)\n\n| query |",
		time.Now().UTC().Format(time.DateOnly), commit(), o.duration)
	for i := range storeStates {
		fmt.Fprintf(&b, " %s |", storeStates[i].name)
	}
	b.WriteString(" worst over best |\n|---|" + strings.Repeat("---|", len(storeStates)+1) + "\n")
	for _, q := range workload.MetricQueries {
		if !o.asksMetric(&q) {
			continue
		}
		q.Over = min(q.Over, o.duration)
		medians, least, used, err := askStates(ctx, servers, metricAddress("/v1/metricsapi", &q, end), o.queryRuns)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		fmt.Fprintf(&b, "| %s |", q.Name)
		for i := range medians {
			fmt.Fprintf(&b, " %s / %s (%s) |", millis(medians[i]), millis(least[i]), millis(used[i]))
		}
		fmt.Fprintf(&b, " %.2f / %.2f (%.2f) |\n", worstOverBest(medians), worstOverBest(least), worstOverBest(used))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// askStates asks all servers once to warm up and then some times, in turn: the median of each, the least, which other
// programs disturb the least, and the processor time of a run.
func askStates(ctx context.Context, servers []*measured, path string, runs int) (medians, least,
	used []time.Duration, err error) {
	took := make([][]time.Duration, len(servers))
	used = make([]time.Duration, len(servers))
	for run := range 1 + runs {
		for i, t := range servers {
			start, cpu := time.Now(), t.cpu()
			body, err := fetch(ctx, t.url+path)
			if err != nil {
				return nil, nil, nil, err
			}
			if run > 0 { // the first warms up
				took[i], used[i] = append(took[i], time.Since(start)), used[i]+t.cpu()-cpu
			} else if _, err := rowsOf(body); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	for i := range took {
		slices.Sort(took[i])
		medians, least = append(medians, took[i][len(took[i])/2]), append(least, took[i][0])
		used[i] /= time.Duration(runs)
	}
	return medians, least, used, nil
}

// worstOverBest is the ratio of the longest time to the shortest, of which none is less than a microsecond.
func worstOverBest(times []time.Duration) float64 {
	return float64(slices.Max(times)) / float64(max(slices.Min(times), time.Microsecond))
}
