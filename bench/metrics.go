package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/bench/client"
	"varve/bench/fleet"
	"varve/bench/process"
	"varve/bench/workload"
)

// The set metrics: a fleet of hosts, 10,000 series for six hours, written by remote write and asked in the language of
// metrics.
const (
	metricsSet  = "metrics"
	fleetSteps  = int64(workload.FleetSpan / time.Millisecond / fleet.StepMS)
	fleetSeries = 2000 // of a request, as agents send them
)

// MetricsReport is what one server did with the set.
type MetricsReport struct {
	Server    string         `json:"server"`
	Samples   int64          `json:"samples"`
	Took      time.Duration  `json:"took_ns"`
	ServerCPU time.Duration  `json:"server_cpu_ns"` // while writing
	FullCPU   time.Duration  `json:"server_cpu_full_ns"`
	ClientCPU time.Duration  `json:"client_cpu_ns"`
	PeakRSS   int64          `json:"server_peak_rss"`
	DataBytes int64          `json:"data_bytes"` // after merging
	Queries   []MetricFigure `json:"queries"`
}

// MetricFigure is what one query took.
type MetricFigure struct {
	Name  string        `json:"name"`
	P50   time.Duration `json:"p50_ns"`
	CPU   time.Duration `json:"cpu_ns"` // of the server, a run
	Bytes int           `json:"bytes"`
	Rows  int           `json:"rows"` // of the answer
	Error string        `json:"error,omitempty"`
}

// runMetrics measures our server and, where there is one, the stock server, one after the other.
func runMetrics(ctx context.Context, o *options) error {
	if o.states {
		return runStates(ctx, o)
	}
	set := fleet.New()
	end := time.Now().Truncate(time.Minute)
	ours, err := target(ctx, o, strings.Split(o.sync, ",")[0])
	if err != nil {
		return err
	}
	reports := []*MetricsReport{{Server: "varve"}}
	err = ours.metrics(ctx, o, set, end, "/v1/metricsapi", "/v1/metricsapi/write", reports[0])
	if err := errors.Join(err, ours.close()); err != nil {
		return err
	}
	stock, err := startStock(ctx, o.dir)
	if err != nil {
		return err
	}
	if stock != nil {
		reports = append(reports, &MetricsReport{Server: "stock"})
		err = stock.metrics(ctx, o, set, end, "", "/api/v1/write", reports[1])
		if err := errors.Join(err, stock.close()); err != nil {
			return err
		}
	}
	if err := printMetrics(os.Stdout, reports); err != nil {
		return err
	}
	if o.json == "" {
		return nil
	}
	b, err := json.MarshalIndent(reports, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(b, '\n'), 0o644)
}

// metrics writes the set to a server whose endpoints lie below api, and asks the queries.
func (t *measured) metrics(ctx context.Context, o *options, set *fleet.Set, end time.Time, api, write string,
	r *MetricsReport) error {
	profiled := make(chan error, 1)
	if o.serverProfile == "" || api == "" {
		profiled <- nil
	} else {
		go func() {
			profiled <- t.profile(ctx,
				&options{serverProfile: o.serverProfile, rows: int64(set.Len()) * fleetSteps / 2})
		}()
	}
	server, own := t.cpu(), ownCPU()
	start := time.Now()
	steps := o.fleetSteps()
	if o.load {
		if err := sendFleet(ctx, t.url, write, set, o.connections, end, steps, every(0, steps, 1)); err != nil {
			return err
		}
	}
	r.Samples, r.Took = int64(set.Len())*steps, time.Since(start)
	r.ServerCPU, r.ClientCPU = t.cpu()-server, ownCPU()-own
	if err := <-profiled; err != nil {
		return err
	}
	if err := t.mergeMetrics(ctx, api != "", r); err != nil {
		return err
	}
	r.FullCPU = t.cpu() - server
	for _, q := range workload.MetricQueries {
		if o.queries != "all" && o.queries != "dashboard" && !strings.Contains(q.Name, o.queries) {
			continue
		}
		r.Queries = append(r.Queries, t.measureMetric(ctx, api, &q, end, o.queryRuns))
	}
	if t.pid != 0 {
		var err error
		if r.PeakRSS, err = process.PeakRSS(t.pid); err != nil {
			return err
		}
	}
	return nil
}

// mergeMetrics takes the bytes on disk once all is in parts, or blocks.
func (t *measured) mergeMetrics(ctx context.Context, ours bool, r *MetricsReport) error {
	if !ours {
		var err error
		r.DataBytes, err = t.blockBytes(ctx)
		return err
	}
	for _, admin := range []string{"flush_table", "compact_table"} {
		if _, err := client.SQL(ctx, t.url, "public", "ADMIN "+admin+"('service_physical_table')"); err != nil {
			return err
		}
	}
	if t.dir == "" {
		return nil
	}
	use, err := process.DiskUse(t.dir)
	r.DataBytes = use.DataBytes
	return err
}

// fleetSteps is the number of samples of each series.
func (o *options) fleetSteps() int64 {
	if o.duration > 0 {
		return int64(o.duration / time.Millisecond / fleet.StepMS)
	}
	return fleetSteps
}

// every lists steps [from, to) with a stride.
func every(from, to, stride int64) (steps []int64) {
	for ; from < to; from += stride {
		steps = append(steps, from)
	}
	return steps
}

// sendFleet writes the samples of some of total steps, of which the last is at end; each connection has series of its
// own, so that their samples come in order.
func sendFleet(ctx context.Context, base, path string, set *fleet.Set, connections int, end time.Time, total int64,
	steps []int64) error {
	var wg sync.WaitGroup
	errs := make([]error, connections)
	for k := range connections {
		wg.Go(func() {
			from, to := k*set.Len()/connections, (k+1)*set.Len()/connections
			errs[k] = sendSeries(ctx, base, path, set, from, to, end, total, steps)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func sendSeries(ctx context.Context, base, path string, set *fleet.Set, from, to int, end time.Time, total int64,
	steps []int64) error {
	conn, err := client.Dial(base)
	if err != nil {
		return err
	}
	const header = "Content-Encoding: snappy\r\nX-Prometheus-Remote-Write-Version: 0.1.0\r\n"
	var message, body []byte
	for _, step := range steps {
		ms := end.UnixMilli() - (total-1-step)*fleet.StepMS
		for i := from; i < to; i += fleetSeries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			n := min(to, i+fleetSeries)
			message = set.AppendRequest(message[:0], i, n, step, ms)
			body = fleet.Compress(body[:cap(body)], message)
			status, answer, err := conn.Post(path, "application/x-protobuf", header, body, time.Now().Add(startLimit))
			if err != nil {
				return err
			}
			if status != 204 {
				return fmt.Errorf("remote write: HTTP %d: %.300s", status, answer)
			}
		}
	}
	return nil
}

// measureMetric asks once to warm up and then some times.
func (t *measured) measureMetric(ctx context.Context, api string, q *workload.MetricQuery, end time.Time,
	runs int) (f MetricFigure) {
	f.Name = q.Name
	address := t.url + metricAddress(api, q, end)
	body, err := fetch(ctx, address)
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.Bytes, f.Rows = len(body), rowsOf(body)
	if f.Rows == 0 {
		f.Error = "no rows: each of these queries has an answer"
		return f
	}
	var took []time.Duration
	used := t.cpu()
	for range runs {
		start := time.Now()
		if _, err := fetch(ctx, address); err != nil {
			f.Error = err.Error()
			return f
		}
		took = append(took, time.Since(start))
	}
	f.CPU = (t.cpu() - used) / time.Duration(runs)
	slices.Sort(took)
	f.P50 = took[len(took)/2]
	return f
}

// metricAddress is the path of a query.
func metricAddress(api string, q *workload.MetricQuery, end time.Time) string {
	path := api + "/api/v1/" + q.Path
	if q.Path != "" {
		return path
	}
	v := url.Values{"query": {q.Expr}}
	if q.Over == 0 {
		v.Set("time", strconv.FormatInt(end.Unix(), 10))
		return path + "query?" + v.Encode()
	}
	v.Set("start", strconv.FormatInt(end.Add(-q.Over).Unix(), 10))
	v.Set("end", strconv.FormatInt(end.Unix(), 10))
	v.Set("step", strconv.Itoa(int(q.Step.Seconds())))
	return path + "query_range?" + v.Encode()
}

func fetch(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		return nil, fmt.Errorf("HTTP %d: %.300s", resp.StatusCode, body)
	}
	return body, nil
}

// rowsOf is the number of rows of an answer; 0 when it is none.
func rowsOf(body []byte) int {
	var result struct {
		Data struct{ Result []json.RawMessage }
	}
	if json.Unmarshal(body, &result) == nil {
		return len(result.Data.Result)
	}
	var list struct{ Data []string }
	if json.Unmarshal(body, &list) != nil {
		return 0
	}
	return len(list.Data)
}
