// Command bench drives a running server over HTTP with generated logs and prints the cost: rows a second, processor
// time, memory, disk, request and query times. docs/bench.md explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/pkg/profile"

	"varve/bench/gen"
	"varve/bench/workload"
)

// options are the flags.
type options struct {
	url, server, sync, dir       string
	dataset, as, db, table       string
	rows, batch                  int64
	connections, readers         int
	duration                     time.Duration
	seed                         uint64
	load                         bool
	queries                      string
	explain, states, peers       bool
	queryRuns                    int
	pid                          int
	profile, serverProfile, json string
	python, peerData, loki       string
	keep                         bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "a running server, such as http://127.0.0.1:4000 (default: start one of our own)")
	flag.StringVar(&o.server, "server", "bin/varve",
		"without -url: start this program on a temporary directory, once for each mode of -sync")
	flag.StringVar(&o.sync, "sync", "always", "without -url: values of wal.sync to measure, such as always,never")
	flag.StringVar(&o.dir, "dir", "",
		"data directory of the server at -url, for the bytes on disk; without -url: where temporary directories are made")
	flag.StringVar(&o.dataset, "dataset", "access",
		"shape of the rows: access, nested, text, lines, lineproto, metrics, traces, otlp-logs, otlp-traces, "+
			"otlp-metrics, churn, analytics or logql")
	flag.StringVar(&o.as, "as", "ingest", "protocol of the rows: ingest, bulk, push for lines, json for OTLP")
	flag.StringVar(&o.db, "db", "public", "database")
	flag.StringVar(&o.table, "table", "", "table (default bench_DATASET)")
	flag.Int64Var(&o.rows, "rows", 1_000_000, "rows to write")
	flag.Int64Var(&o.batch, "batch", 10_000, "rows a request")
	flag.IntVar(&o.connections, "connections", 2, "connections that write at the same time")
	flag.IntVar(&o.readers, "readers", 0, "connections that run the queries over and over while rows are written")
	flag.DurationVar(&o.duration, "duration", 0,
		"write for this long instead of a number of rows; -rows then says how dense their times lie")
	flag.Uint64Var(&o.seed, "seed", 1, "of the data")
	flag.BoolVar(&o.load, "load", true,
		"write the rows; false: only query a table of an earlier run with the same -rows and -seed")
	flag.StringVar(&o.queries, "queries", "dashboard",
		"queries to run: none, dashboard (ten), all, or a part of a name, such as panel")
	flag.BoolVar(&o.explain, "explain", false, "print EXPLAIN ANALYZE of each query")
	flag.BoolVar(&o.states, "states", false,
		"with -dataset metrics: time each query on the same samples in memory, half in a part, in one part, in many "+
			"parts, and in many parts whose times overlap")
	flag.BoolVar(&o.peers, "peers", false,
		"with -dataset metrics: measure the servers that make peers has built as well; with -dataset analytics: the "+
			"databases duckdb and chdb of the interpreter -python")
	flag.StringVar(&o.loki, "loki", "", "with -dataset logql: measure this program of Loki as well")
	flag.StringVar(&o.python, "python", "python3", "with -dataset analytics -peers: the Python interpreter")
	flag.StringVar(&o.peerData, "peer-data", "",
		"with -dataset analytics -peers: keep the tables of the peers in this directory, and use those that are there")
	flag.IntVar(&o.queryRuns, "query-runs", 5, "measured runs of each query")
	flag.IntVar(&o.pid, "pid", 0, "process id of the server at -url, for processor time and memory")
	flag.StringVar(&o.profile, "profile", "", "profile this program: cpu or mem; the file's name is printed")
	flag.StringVar(&o.serverProfile, "server-profile", "",
		"write a CPU profile of the server while it is written to into this file")
	flag.StringVar(&o.json, "json", "", "write the figures into this file as well")
	flag.BoolVar(&o.keep, "keep", false, "without -url: keep the data directory and say where it is")
	flag.Parse()
	if err := start(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// start checks the flags, turns the profiler on and runs.
func start(o *options) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("unknown argument %q", flag.Arg(0))
	case o.batch < 1 || o.connections < 1 || o.queryRuns < 1:
		return errors.New("-batch, -connections and -query-runs are at least 1")
	}
	switch o.profile {
	case "":
	case "cpu":
		defer profile.Start(profile.CPUProfile, profile.ProfilePath(".")).Stop()
	case "mem":
		defer profile.Start(profile.MemProfile, profile.ProfilePath(".")).Stop()
	default:
		return fmt.Errorf("-profile %s: cpu or mem", o.profile)
	}
	if o.table == "" {
		o.table = "bench_" + strings.ReplaceAll(o.dataset, "-", "_")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return run(ctx, o)
}

// run measures the server at -url, or one started for each mode.
func run(ctx context.Context, o *options) error {
	switch o.dataset {
	case metricsSet:
		return runMetrics(ctx, o)
	case logsSet:
		return runLogs(ctx, o)
	case churnSet:
		return runChurn(ctx, o)
	case analyticsSet:
		return runAnalytics(ctx, o)
	}
	set, err := gen.New(o.dataset, gen.Options{Rows: o.rows, Seed: o.seed, Table: o.table})
	if err != nil {
		return err
	}
	if _, err := newWire(o, set); err != nil {
		return err
	}
	queries, err := workload.For(set, o.db, o.table, o.queries)
	if err != nil {
		return err
	}
	modes := []string{""}
	if o.url == "" {
		modes = strings.Split(o.sync, ",")
	}
	var reports []Report
	var failures []error
	for _, mode := range modes {
		r := Report{Commit: commit(), Time: time.Now().UTC(), Dataset: o.dataset, Sync: mode, Batch: o.batch,
			Connections: o.connections}
		err := runOne(ctx, o, set, queries, &r)
		if err := r.print(os.Stdout); err != nil {
			return err
		}
		reports = append(reports, r)
		failures = append(failures, err, r.failed())
	}
	return errors.Join(append(failures, writeJSON(o.json, reports))...)
}

// runOne measures one server and fills r with what was learnt, also when it fails on the way.
func runOne(ctx context.Context, o *options, set *gen.Set, queries []workload.Query, r *Report) (err error) {
	t, err := target(ctx, o, r.Sync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if o.load {
		if r.Load, err = t.load(ctx, o, set, queries); err != nil {
			return err
		}
	}
	for _, q := range queries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f := measure(ctx, t.url, o.table, o.db, q, o.queryRuns, t.cpu)
		if o.explain && q.SQL != "" && f.Error == "" {
			if f.Plan, err = explain(ctx, t.url, o.db, q); err != nil {
				f.Error = err.Error()
			}
		}
		r.Queries = append(r.Queries, f)
	}
	return nil
}
