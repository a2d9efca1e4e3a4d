package benchmark

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"varve/bench/fleet"
	"varve/bench/workload"
	"varve/cmd/varve/client"
)

const (
	// seriesOfRequest is how many series a request of remote write has, as agents send them.
	seriesOfRequest = 2000
	// leastSteps is the fewest times of samples that rates can be taken of.
	leastSteps = 40
	// physicalTable is the table that holds the samples of all metrics.
	physicalTable = "service_physical_table"
)

// metrics writes samples and asks about them.
func (b *bench) metrics(ctx context.Context, r *Report) (err error) {
	set := fleet.New()
	steps := max(leastSteps, b.o.Rows/int64(set.Len()))
	end := time.Now().Truncate(time.Minute)
	b.o.Note("writing %d samples of %d series over %d connections", steps*int64(set.Len()), set.Len(), b.o.Connections)
	header := http.Header{"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"snappy"},
		"X-Prometheus-Remote-Write-Version": {"0.1.0"}}
	r.Samples, err = b.write(ctx, physicalTable, func(send sender) error {
		// Each worker has series of its own, whose samples come in order.
		workers := min(b.o.Connections, set.Len())
		return inTurn(workers, int64(workers), 1, func() func(from, to int64) error {
			return func(worker, _ int64) error {
				first, last := int(worker)*set.Len()/workers, int(worker+1)*set.Len()/workers
				var message, body []byte
				for step := range steps {
					ms := end.UnixMilli() - (steps-1-step)*fleet.StepMS
					for i := first; i < last; i += seriesOfRequest {
						n := min(last, i+seriesOfRequest)
						message = set.AppendRequest(message[:0], i, n, step, ms)
						body = fleet.Compress(body[:cap(body)], message)
						if err := send(client.Request{Path: "/v1/metricsapi/write", Query: url.Values{"db": {b.db}},
							Header: header}, body, int64(n-i)); err != nil {
							return err
						}
					}
				}
				return nil
			}
		})
	})
	if err != nil {
		return err
	}
	span := min(workload.FleetSpan, time.Duration(steps*fleet.StepMS)*time.Millisecond)
	r.Span = span.Seconds()
	b.o.Note("asking %d queries of metrics, over %s at most", len(workload.MetricQueries), span)
	for _, q := range workload.MetricQueries {
		request := b.metricRequest(&q, end, span)
		asked := ask(q.Name, func() (int, error) {
			body, err := b.fetch(ctx, request)
			return rowsOfMetrics(body), err
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.PromQL = append(r.PromQL, asked)
	}
	return nil
}

// metricRequest is the request of a query over what was written.
func (b *bench) metricRequest(q *workload.MetricQuery, end time.Time, span time.Duration) client.Request {
	const api = "/v1/metricsapi/api/v1/"
	v := url.Values{"db": {b.db}}
	if q.Path != "" {
		if q.Match != "" {
			v.Set("match[]", q.Match)
		}
		return client.Request{Path: api + q.Path, Query: v}
	}
	v.Set("query", q.Expr)
	if q.Over == 0 {
		v.Set("time", strconv.FormatInt(end.Unix(), 10))
		return client.Request{Path: api + "query", Query: v}
	}
	v.Set("start", strconv.FormatInt(end.Add(-min(q.Over, span)).Unix(), 10))
	v.Set("end", strconv.FormatInt(end.Unix(), 10))
	v.Set("step", strconv.Itoa(int(min(q.Step, span).Seconds())))
	return client.Request{Path: api + "query_range", Query: v}
}

// rowsOfMetrics is the number of series, or of values, of an answer.
func rowsOfMetrics(body []byte) int {
	var series struct {
		Data struct{ Result []json.RawMessage }
	}
	if json.Unmarshal(body, &series) == nil {
		return len(series.Data.Result)
	}
	var values struct{ Data []json.RawMessage }
	if json.Unmarshal(body, &values) == nil {
		return len(values.Data)
	}
	return 0
}
