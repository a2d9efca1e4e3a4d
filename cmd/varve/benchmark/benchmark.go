// Package benchmark implements `varve bench`: it loads a server with generated data over HTTP, runs the queries of
// dashboards and reports what both cost. It works in a database of its own and drops it at the end.
package benchmark

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"varve/bench/gen"
	"varve/bench/workload"
	"varve/cmd/varve/client"
)

// Options say what to measure.
type Options struct {
	Ingest, SQL, PromQL bool  // what: SQL writes rows as well
	Rows                int64 // that are written, and samples of metrics
	Batch               int64 // rows of a request
	Connections         int   // that write at the same time
	// Note says what goes on.
	Note func(format string, args ...any)
}

// Report is what was measured.
type Report struct {
	Server  string    `json:"server"`
	Time    time.Time `json:"time"`
	Rows    *Written  `json:"ingest,omitempty"`
	SQL     []Asked   `json:"sql,omitempty"`
	Samples *Written  `json:"samples,omitempty"`
	PromQL  []Asked   `json:"promql,omitempty"`
	// Span is how long the samples reach back, seconds: queries over more are over that.
	Span float64 `json:"samples_span_seconds,omitempty"`
}

// Written is what writing took. Figures of the server's process are 0 where it does not tell them.
type Written struct {
	Rows          int64   `json:"rows"`
	Bytes         int64   `json:"bytes"` // of bodies
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rows_per_second"`
	MBPerSecond   float64 `json:"mb_per_second"`
	CPUPerGB      float64 `json:"cpu_seconds_per_gb"` // of the server, until the rows lie in parts
	PeakRSS       int64   `json:"peak_rss_bytes"`     // of the server, by samples
	BytesPerRow   float64 `json:"bytes_per_row"`      // on disk
	P50MS         float64 `json:"p50_ms"`             // of a request
	P99MS         float64 `json:"p99_ms"`
	Retries       int     `json:"retries"` // requests that the server had no room for and that were sent again
}

// Asked is what a query took.
type Asked struct {
	Name  string  `json:"name"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
	Rows  int     `json:"rows"`
	Error string  `json:"error,omitempty"`
}

const (
	// table takes the rows.
	table = "access"
	// runs of a query are measured, after one to warm up.
	runs = 10
	// cleanLimit is how long dropping what was written may take.
	cleanLimit = 30 * time.Second
)

// bench is a run.
type bench struct {
	o      Options
	server *client.Client
	db     string
}

// Run measures a server. What it wrote is dropped, also after an error and when ctx ends.
func Run(ctx context.Context, server *client.Client, o Options) (r *Report, err error) {
	b := &bench{o, server, "varve_bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)}
	if _, err := server.Query(ctx, "", "CREATE DATABASE "+b.db); err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanLimit)
		defer cancel()
		if _, e := server.Query(ctx, "", "DROP DATABASE "+b.db); e != nil {
			err = errors.Join(err, fmt.Errorf("the database %s could not be dropped: %w", b.db, e))
		}
	}()
	r = &Report{Server: server.Base, Time: time.Now().UTC().Truncate(time.Second)}
	if o.Ingest || o.SQL {
		if err := b.rows(ctx, r); err != nil {
			return nil, err
		}
	}
	if o.PromQL {
		if err := b.metrics(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// rows writes rows and asks about them.
func (b *bench) rows(ctx context.Context, r *Report) error {
	set, err := gen.New("access", gen.Options{Rows: b.o.Rows, Seed: 1})
	if err != nil {
		return err
	}
	b.o.Note("writing %d rows over %d connections", b.o.Rows, b.o.Connections)
	query := url.Values{"db": {b.db}, "table": {table}, "pipeline_name": {"service_identity"},
		"custom_time_index": {set.TimeIndex}}
	r.Rows, err = b.write(ctx, table, func(send sender) error {
		return inTurn(b.o.Connections, b.o.Rows, b.o.Batch, func() func(from, to int64) error {
			var body []byte
			return func(from, to int64) error {
				body = set.Append(body[:0], from, to)
				return send(client.Request{Path: "/v1/ingest", Query: query,
					Header: http.Header{"Content-Type": {set.ContentType}}}, body, to-from)
			}
		})
	})
	if err != nil || !b.o.SQL {
		return err
	}
	queries, err := workload.For(set, b.db, table, "dashboard")
	if err != nil {
		return err
	}
	b.o.Note("asking %d queries", len(queries))
	for _, q := range queries {
		form := url.Values{"sql": {q.SQL}, "db": {b.db}}
		asked := ask(q.Name, func() (int, error) {
			body, err := b.fetch(ctx, client.Statement(form))
			return rowsOfSQL(body), err
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.SQL = append(r.SQL, asked)
	}
	return nil
}

// ask measures a query, which gives the number of rows of its answer.
func ask(name string, query func() (rows int, err error)) Asked {
	a := Asked{Name: name}
	var took []time.Duration
	for i := range runs + 1 {
		begun := time.Now()
		rows, err := query()
		if err != nil {
			a.Error = err.Error()
			return a
		}
		if a.Rows = rows; i > 0 {
			took = append(took, time.Since(begun))
		}
	}
	a.P50MS, a.P99MS = quantiles(took)
	return a
}

// quantiles are the median and the 99th percentile, in ms.
func quantiles(took []time.Duration) (p50, p99 float64) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return ms(took[len(took)/2]), ms(took[len(took)*99/100])
}

// inTurn cuts rows into batches, which workers take in turn. worker makes what one of them does with a batch. The first
// error ends them all.
func inTurn(workers int, rows, batch int64, worker func() func(from, to int64) error) error {
	var (
		mu     sync.Mutex
		next   int64
		failed error
		wg     sync.WaitGroup
	)
	take := func() (from, to int64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		from, to = next, min(next+batch, rows)
		next = to
		return from, to, from < rows && failed == nil
	}
	for range workers {
		wg.Go(func() {
			work := worker()
			for {
				from, to, ok := take()
				if !ok {
					return
				}
				if err := work(from, to); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return failed
}
