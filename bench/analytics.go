package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"varve/bench/client"
	"varve/bench/gen"
	"varve/bench/process"
	"varve/bench/workload"
)

// The set analytics is a table of web events with its dimension tables, which some 50 analytic statements ask. With
// -peers the same rows go to databases that run inside of a Python process, and each statement goes to all in turn.
const analyticsSet = "analytics"

// analyticsThreads is how many threads each engine may use; the peers' script has the same number.
const analyticsThreads = "2"

// answerer is an engine that answers statements.
type answerer interface {
	// ask runs a statement and waits for the whole answer.
	ask(ctx context.Context, sql string) (asked, error)
}

// asked is one answer and its cost.
type asked struct {
	wall, cpu time.Duration
	answer    digest
}

// analyticsTable is a table of the run and the set that fills it.
type analyticsTable struct {
	name string
	set  *gen.Set
}

// analyticsTables are the table of events and its dimensions.
func analyticsTables(o *options) ([]analyticsTable, error) {
	var tables []analyticsTable
	for _, d := range []struct {
		suffix string
		rows   int64
	}{{"", o.rows}, {"users", gen.UserRows}, {"hosts", gen.HostRows}, {"releases", gen.ReleaseRows}} {
		name, set := o.table, analyticsSet
		if d.suffix != "" {
			name, set = name+"_"+d.suffix, set+"-"+d.suffix
		}
		s, err := gen.New(set, gen.Options{Rows: d.rows, Seed: o.seed})
		if err != nil {
			return nil, err
		}
		tables = append(tables, analyticsTable{name, s})
	}
	return tables, nil
}

// runAnalytics fills a server, and with -peers the others, and times the statements.
func runAnalytics(ctx context.Context, o *options) (err error) {
	tables, err := analyticsTables(o)
	if err != nil {
		return err
	}
	statements, err := workload.Analytics(o.table, o.queries)
	if err != nil {
		return err
	}
	t, err := analyticsTarget(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	r := &AnalyticsReport{Commit: commit(), Time: time.Now().UTC(), Rows: o.rows, Runs: o.queryRuns}
	if o.load {
		if r.Load, err = t.loadAnalytics(ctx, o, tables); err != nil {
			return err
		}
	}
	engines := []engine{{name: "varve", answerer: &varveEngine{t, o.db}}}
	if o.peers {
		peers, end, err := startAnalyticsPeers(ctx, o, tables, r)
		defer func() { err = errors.Join(err, end()) }()
		if err != nil {
			return err
		}
		for _, p := range peers {
			engines = append(engines, engine{name: p.name, answerer: p})
		}
	}
	for i := range statements {
		f := timeStatement(ctx, &statements[i], engines, o.queryRuns)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintln(os.Stderr, "bench:", f.line())
		r.Statements = append(r.Statements, f)
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if err := writeJSON(o.json, r); err != nil {
		return err
	}
	return r.failed()
}

// analyticsTarget returns the server at -url, or one of our own with as many threads as the others.
func analyticsTarget(ctx context.Context, o *options) (*measured, error) {
	if o.url != "" {
		return target(ctx, o, "")
	}
	return startOwn(ctx, o, "VARVE_WAL__SYNC="+strings.Split(o.sync, ",")[0], "GOMAXPROCS="+analyticsThreads)
}

// loadAnalytics writes the tables by ingest, flushes and merges them: the figures of the table of events.
func (t *measured) loadAnalytics(ctx context.Context, o *options, tables []analyticsTable) (*LoadReport, error) {
	var first *LoadReport
	for i, table := range tables {
		one := *o
		one.table, one.rows, one.readers, one.duration = table.name, table.set.Rows, 0, 0
		if i > 0 {
			one.serverProfile = ""
		}
		report, err := t.load(ctx, &one, table.set, nil)
		if err == nil {
			_, err = client.SQL(ctx, t.url, o.db, "ADMIN compact_table('"+table.name+"')")
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", table.name, err)
		}
		if i == 0 {
			first = report
		}
	}
	return first, nil
}

// clock is the processor time of the server so far; 0 when its process is not known or gone.
func (t *measured) clock() time.Duration {
	if t.pid == 0 {
		return 0
	}
	d, err := process.CPU(t.pid)
	if err != nil {
		return 0
	}
	return d
}

// varveEngine asks our server over HTTP.
type varveEngine struct {
	t  *measured
	db string
}

func (v *varveEngine) ask(ctx context.Context, sql string) (a asked, err error) {
	used, start := v.t.clock(), time.Now()
	body, err := client.Raw(ctx, v.t.url, v.db, sql)
	a.wall, a.cpu = time.Since(start), v.t.clock()-used
	if err != nil {
		return a, err
	}
	answer, err := client.Decode(body)
	if err != nil {
		return a, err
	}
	if len(answer.Results) != 1 {
		return a, fmt.Errorf("%d results, want 1", len(answer.Results))
	}
	a.answer, err = digestOf(&answer.Results[0])
	return a, err
}

// engine is an answerer with its name in reports.
type engine struct {
	name string
	answerer
}

// timeStatement asks all engines in turn: once to warm up and to compare the answers, then so many times. The first
// engine's answer is what the others are compared with.
func timeStatement(ctx context.Context, s *workload.Statement, engines []engine, runs int) AnalyticsFigure {
	f := AnalyticsFigure{Name: s.Name, SQL: s.SQL, Engines: map[string]*EngineFigure{}}
	took := map[string][]time.Duration{}
	var first *digest
	for run := range 1 + runs {
		for _, e := range engines {
			figure := f.Engines[e.name]
			if figure == nil {
				figure = new(EngineFigure)
				f.Engines[e.name] = figure
			}
			if figure.Error != "" {
				continue
			}
			a, err := e.ask(ctx, s.For(e.name))
			switch {
			case err != nil:
				figure.Error = err.Error()
			case run > 0:
				took[e.name] = append(took[e.name], a.wall)
				figure.CPU += a.cpu / time.Duration(runs)
			default:
				figure.Rows = a.answer.Rows
				if first == nil {
					first = &a.answer
				} else {
					figure.Differs = first.differs(&a.answer, s.Tolerance)
				}
			}
		}
	}
	for name, times := range took {
		slices.Sort(times)
		f.Engines[name].P50, f.Engines[name].Best = times[len(times)/2], times[0]
	}
	return f
}

// startAnalyticsPeers starts the peers that this machine has and gives them the rows. It tells about the others. end,
// which is there with an error too, ends them and removes the tables that nobody asked to keep.
func startAnalyticsPeers(ctx context.Context, o *options, tables []analyticsTable, r *AnalyticsReport) (
	peers []*pythonPeer, end func() error, err error) {
	dir := o.peerData
	end = func() (err error) {
		for _, p := range peers {
			err = errors.Join(err, p.close())
		}
		if o.peerData == "" && dir != "" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp(o.dir, "peers-bench-"); err != nil {
			return nil, end, err
		}
	}
	for _, name := range []string{"duckdb", "chdb"} {
		p, err := startPython(ctx, o.python, name, filepath.Join(dir, name))
		var missing *missingError
		if errors.As(err, &missing) {
			fmt.Fprintln(os.Stderr, "bench:", err)
			r.Peers = append(r.Peers, PeerFigure{Name: name, Missing: err.Error()})
			continue
		}
		if err != nil {
			return peers, end, err
		}
		peers = append(peers, p)
		r.Peers = append(r.Peers, PeerFigure{Name: name, Version: p.version})
	}
	for i := range tables {
		if err := fillPeers(ctx, dir, o, &tables[i], peers); err != nil {
			return peers, end, err
		}
	}
	return peers, end, nil
}

// fillPeers writes the rows of a table into a file, and has those peers read it that do not have them.
func fillPeers(ctx context.Context, dir string, o *options, table *analyticsTable, peers []*pythonPeer) (err error) {
	mark := fmt.Sprintf("%s: %d rows of seed %d\n", table.name, table.set.Rows, o.seed)
	var lacking []*pythonPeer
	for _, p := range peers {
		if b, err := os.ReadFile(p.markOf(table.name)); err != nil || string(b) != mark {
			lacking = append(lacking, p)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	name := filepath.Join(dir, table.name+".ndjson")
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	if err := writeRows(ctx, name, table.set, o.batch); err != nil {
		return err
	}
	for _, p := range lacking {
		if err := p.load(ctx, table, name); err != nil {
			return fmt.Errorf("%s: table %s: %w", p.name, table.name, err)
		}
		if err := os.WriteFile(p.markOf(table.name), []byte(mark), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes a set into a file.
func writeRows(ctx context.Context, name string, set *gen.Set, batch int64) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var body []byte
	for from := int64(0); from < set.Rows; from += batch {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		body = set.Append(body[:0], from, min(from+batch, set.Rows))
		if _, err := f.Write(body); err != nil {
			return err
		}
	}
	return nil
}
