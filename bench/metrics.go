package main

import (
	"bytes"
	"compress/gzip"
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

// contestant is a server that is measured with the set.
type contestant struct {
	*measured
	api    string                                                          // what its endpoints lie below
	write  string                                                          // path of remote write
	settle func(ctx context.Context, t *measured) (bytes int64, err error) // brings all to the disk and gives its size
	report *MetricsReport
}

// runMetrics measures our server and others that are there: each writes the set, then all answer each query in turn.
func runMetrics(ctx context.Context, o *options) (err error) {
	if o.states {
		return runStates(ctx, o)
	}
	set, end := fleet.New(), time.Now().Truncate(time.Minute)
	servers, err := contestants(ctx, o)
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.close())
		}
	}()
	if err != nil {
		return err
	}
	var reports []*MetricsReport
	for _, s := range servers {
		reports = append(reports, s.report)
		if err := s.fill(ctx, o, set, end); err != nil {
			return fmt.Errorf("%s: %w", s.report.Server, err)
		}
	}
	for _, q := range workload.MetricQueries {
		if o.asksMetric(&q) {
			askInTurn(ctx, servers, &q, end, o.queryRuns)
		}
	}
	for _, s := range servers {
		if s.pid != 0 {
			if s.report.PeakRSS, err = process.PeakRSS(s.pid); err != nil {
				return err
			}
		}
	}
	if err := printMetrics(os.Stdout, reports); err != nil {
		return err
	}
	return writeJSON(o.json, reports)
}

// contestants starts our server and the others: those of -peers, else the stock server of this machine if it has one.
func contestants(ctx context.Context, o *options) (servers []*contestant, err error) {
	ours, err := target(ctx, o, strings.Split(o.sync, ",")[0])
	if err != nil {
		return nil, err
	}
	servers = append(servers, &contestant{measured: ours, api: "/v1/metricsapi", write: "/v1/metricsapi/write",
		settle: mergeMetrics, report: &MetricsReport{Server: "varve"}})
	if o.peers {
		peers, err := startPeers(ctx, o.dir)
		return append(servers, peers...), err
	}
	stock, err := startStock(ctx, stockBinary, o.dir)
	if err == nil && stock != nil {
		servers = append(servers, stock)
	}
	return servers, err
}

// fill writes the set and has the server put it in order.
func (s *contestant) fill(ctx context.Context, o *options, set *fleet.Set, end time.Time) error {
	profiled := make(chan error, 1)
	if o.serverProfile == "" || s.api == "" {
		profiled <- nil
	} else {
		go func() {
			profiled <- s.profile(ctx,
				&options{serverProfile: o.serverProfile, rows: int64(set.Len()) * fleetSteps / 2})
		}()
	}
	r, server, own, start, steps := s.report, s.cpu(), ownCPU(), time.Now(), o.fleetSteps()
	if o.load {
		if err := sendFleet(ctx, s.url, s.write, set, o.connections, end, steps, every(0, steps, 1)); err != nil {
			return err
		}
	}
	r.Samples, r.Took = int64(set.Len())*steps, time.Since(start)
	r.ServerCPU, r.ClientCPU = s.cpu()-server, ownCPU()-own
	if err := <-profiled; err != nil {
		return err
	}
	var err error
	r.DataBytes, err = s.settle(ctx, s.measured)
	r.FullCPU = s.cpu() - server
	return err
}

// mergeMetrics takes the bytes on disk once all is in merged parts.
func mergeMetrics(ctx context.Context, t *measured) (int64, error) {
	for _, admin := range []string{"flush_table", "compact_table"} {
		if _, err := client.SQL(ctx, t.url, "public", "ADMIN "+admin+"('service_physical_table')"); err != nil {
			return 0, err
		}
	}
	if t.dir == "" {
		return 0, nil
	}
	use, err := process.DiskUse(t.dir)
	return use.DataBytes, err
}

// asksMetric reports whether -queries names a query of the set.
func (o *options) asksMetric(q *workload.MetricQuery) bool {
	return o.queries == "all" || o.queries == "dashboard" || strings.Contains(q.Name, o.queries)
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

// askInTurn asks all servers once to warm up and then some times, one after the other. A server whose answer is an
// error is asked no more.
func askInTurn(ctx context.Context, servers []*contestant, q *workload.MetricQuery, end time.Time, runs int) {
	figures := make([]MetricFigure, len(servers))
	took, used := make([][]time.Duration, len(servers)), make([]time.Duration, len(servers))
	for run := range 1 + runs {
		for i, s := range servers {
			f := &figures[i]
			if f.Error != "" {
				continue
			}
			start, cpu := time.Now(), s.cpu()
			body, err := fetch(ctx, s.url+metricAddress(s.api, q, end))
			took[i], used[i] = append(took[i], time.Since(start)), used[i]+s.cpu()-cpu
			if err == nil && run == 0 {
				took[i], used[i] = took[i][:0], 0
				f.Bytes = len(body)
				f.Rows, err = rowsOf(body)
			}
			if err != nil {
				f.Error = err.Error()
			}
		}
	}
	for i, s := range servers {
		f := &figures[i]
		f.Name = q.Name
		if f.Error == "" {
			slices.Sort(took[i])
			f.P50, f.CPU = took[i][len(took[i])/2], used[i]/time.Duration(runs)
		}
		s.report.Queries = append(s.report.Queries, *f)
	}
}

// metricAddress is the path of a query.
func metricAddress(api string, q *workload.MetricQuery, end time.Time) string {
	path := api + "/api/v1/" + q.Path
	if q.Match != "" {
		path += "?" + url.Values{"match[]": {q.Match}}.Encode()
	}
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

// fetch gets an answer as it comes, packed if the server packs it: unpacking is the client's.
func fetch(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
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

// unpacked is an answer without its packing.
func unpacked(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// rowsOf is the number of rows of an answer; none is an error.
func rowsOf(body []byte) (int, error) {
	body, err := unpacked(body)
	if err != nil {
		return 0, err
	}
	var result struct {
		Data struct{ Result []json.RawMessage }
	}
	var list struct{ Data []string }
	if json.Unmarshal(body, &result) == nil && len(result.Data.Result) > 0 {
		return len(result.Data.Result), nil
	}
	if json.Unmarshal(body, &list) == nil && len(list.Data) > 0 {
		return len(list.Data), nil
	}
	return 0, errors.New("no rows: each of these queries has an answer")
}
