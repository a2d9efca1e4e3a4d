package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"

	"varve/bench/client"
	"varve/bench/gen"
	"varve/bench/process"
	"varve/bench/workload"
)

const (
	startLimit = 60 * time.Second // for a server to serve
	stopLimit  = 30 * time.Second // and to end
	// profileSeconds is the longest CPU profile a server gives.
	profileSeconds = 60
)

// measured is the server under measurement.
type measured struct {
	url, dir string
	pid      int             // 0: not known
	started  *process.Server // nil: it ran before
	keep     bool
	binary   string // of started
}

// target returns the server at -url; without one it starts the program of -server with the mode of wal.sync.
func target(ctx context.Context, o *options, sync string) (*measured, error) {
	if o.url != "" {
		return &measured{url: strings.TrimSuffix(o.url, "/"), dir: o.dir, pid: o.pid}, nil
	}
	return startOwn(ctx, o, "VARVE_WAL__SYNC="+sync)
}

// startOwn starts our server on a new directory, with settings of its environment.
func startOwn(ctx context.Context, o *options, env ...string) (*measured, error) {
	dir, err := os.MkdirTemp(o.dir, "varve-bench-")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	s, err := process.Start(ctx, process.Options{Binary: o.server, Dir: dir, Env: env})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &measured{url: s.URL, dir: dir, pid: s.PID(), started: s, keep: o.keep, binary: o.server}, nil
}

// close ends a server that target started and removes its data.
func (t *measured) close() error {
	if t.started == nil {
		return nil
	}
	err := t.started.Stop(stopLimit)
	if t.keep {
		fmt.Fprintln(os.Stderr, "data kept in", t.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}

// cpu is the processor time of the server so far; 0 when its process is not known or gone.
func (t *measured) cpu() time.Duration {
	if t.pid == 0 {
		return 0
	}
	d, err := process.CPU(t.pid)
	if err != nil {
		return 0
	}
	return d
}

// load writes the set, flushes the table and takes the figures.
func (t *measured) load(ctx context.Context, o *options, set *gen.Set, queries []workload.Query) (*LoadReport, error) {
	protocol, err := newWire(o, set)
	if err != nil {
		return nil, err
	}
	profiled := make(chan error, 1)
	if o.serverProfile == "" {
		profiled <- nil
	} else {
		go func() { profiled <- t.profile(ctx, o) }()
	}
	size := o.rows
	if o.duration > 0 {
		size = -1 // a spinner
	}
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetDescription(o.dataset),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish())
	var written atomic.Int64
	l := load{
		base: t.url, wire: protocol, set: set,
		rows: o.rows, batch: o.batch, connections: o.connections,
		progress: func(rows int) {
			written.Add(int64(rows))
			if err := bar.Add(rows); err != nil {
				fmt.Fprintln(os.Stderr, "bench: progress:", err)
			}
		},
	}
	if o.duration > 0 {
		l.until = time.Now().Add(o.duration)
	}
	aside, end := context.WithCancel(ctx)
	defer end()
	samples, readers := make(chan []sample, 1), make(chan *ReaderFigure, 1)
	go func() { samples <- watch(aside, t.pid, t.dir, &written) }()
	go func() {
		for written.Load() == 0 && aside.Err() == nil { // there is no table before the first rows
			time.Sleep(sampleEvery / 100)
		}
		readers <- read(aside, o.readers, t.url, o.table, o.db, queries)
	}()
	server, own := t.cpu(), ownCPU()
	f, err := l.run(ctx)
	end()
	evenness, read := steady(<-samples), <-readers
	if err != nil {
		return nil, err
	}
	r := &LoadReport{Rows: f.rows, Bytes: f.bytes, Took: f.took, Retries: f.retries,
		P50: f.requests[len(f.requests)/2], P99: f.requests[len(f.requests)*99/100],
		ServerCPU: t.cpu() - server, ClientCPU: ownCPU() - own, Steady: evenness, Readers: read}
	if err := t.settle(ctx, o, r, server); err != nil {
		return r, err
	}
	return r, <-profiled
}

// settle flushes the table and takes the figures that are complete only then. server is the processor time before the
// load.
func (t *measured) settle(ctx context.Context, o *options, r *LoadReport, server time.Duration) error {
	start := time.Now()
	if _, err := client.SQL(ctx, t.url, o.db, fmt.Sprintf("ADMIN flush_table('%s')", o.table)); err != nil {
		return err
	}
	r.FlushTook, r.ServerCPUFull = time.Since(start), t.cpu()-server
	if t.pid != 0 {
		var err error
		if r.PeakRSS, err = process.PeakRSS(t.pid); err != nil {
			return err
		}
	}
	if t.dir != "" {
		use, err := process.DiskUse(t.dir)
		if err != nil {
			return err
		}
		r.DataBytes, r.LogBytes = use.DataBytes, use.LogBytes
	}
	var err error
	if r.Stored, err = client.Int(ctx, t.url, o.db, "SELECT count(*) FROM "+o.table); err != nil {
		return err
	}
	if t.started != nil && r.Stored != r.Rows {
		return fmt.Errorf("%d rows acknowledged, %d counted", r.Rows, r.Stored)
	}
	return nil
}

// profile fetches a CPU profile of the server that is about as long as the load at the rate to reach.
func (t *measured) profile(ctx context.Context, o *options) error {
	seconds := min(profileSeconds, max(2, o.rows/350_000))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		fmt.Sprintf("%s/debug/prof/cpu?seconds=%d&output=proto", t.url, seconds), nil)
	if err != nil {
		return err
	}
	b, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("profile of the server: %w", err)
	}
	return os.WriteFile(o.serverProfile, b, 0o644)
}

// ownCPU is the processor time of this program so far.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// commit is the commit of the tree the program runs in, marked when it has changes.
func commit() string {
	b, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}
