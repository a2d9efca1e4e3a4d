package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"varve/bench/client"
	"varve/bench/workload"
)

// QueryFigure is what one statement took.
type QueryFigure struct {
	Name  string        `json:"name"`
	SQL   string        `json:"sql"`
	Rows  int           `json:"rows"`
	P50   time.Duration `json:"p50_ns"`
	Min   time.Duration `json:"min_ns"`
	CPU   time.Duration `json:"cpu_ns"`         // of the server, a run; 0 when its process is not known
	Plan  string        `json:"plan,omitempty"` // with -explain: EXPLAIN ANALYZE
	Error string        `json:"error,omitempty"`
	First string        `json:"first,omitempty"` // the first row, shortened: to see that the answer makes sense
}

// explain is what EXPLAIN ANALYZE says about q.
func explain(ctx context.Context, base, db string, q workload.Query) (string, error) {
	a, err := client.One(ctx, base, db, "EXPLAIN ANALYZE "+q.SQL)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, row := range a.Rows {
		fmt.Fprintln(&b, row[len(row)-1])
	}
	return b.String(), nil
}

// measure runs q once to warm up and then runs times.
func measure(ctx context.Context, base, table, db string, q workload.Query, runs int,
	cpu func() time.Duration) (f QueryFigure) {
	f = QueryFigure{Name: q.Name, SQL: q.SQL + q.Path}
	answer, err := ask(ctx, base, table, db, &q)
	if err == nil {
		f.Rows, f.First, err = rowsAnswered(&q, answer)
	}
	if err == nil && f.Rows == 0 {
		err = errors.New("no rows: each of these queries has an answer")
	}
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.First = f.First[:min(len(f.First), 60)]
	took := make([]time.Duration, 0, runs)
	used := cpu()
	for range runs {
		start := time.Now()
		if _, err := ask(ctx, base, table, db, &q); err != nil {
			f.Error = err.Error()
			return f
		}
		took = append(took, time.Since(start))
	}
	f.CPU = (cpu() - used) / time.Duration(runs)
	slices.Sort(took)
	f.P50, f.Min = took[len(took)/2], took[0]
	return f
}

// ask returns the body of an answer.
func ask(ctx context.Context, base, table, db string, q *workload.Query) ([]byte, error) {
	if q.Path == "" {
		return client.Raw(ctx, base, db, q.SQL)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+q.Path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("x-service-trace-table-name", table)
	return client.Do(r)
}

// rowsAnswered counts the rows of an answer, or its spans, and shows the first.
func rowsAnswered(q *workload.Query, body []byte) (n int, first string, err error) {
	if q.Path != "" {
		return bytes.Count(body, []byte(`"spanID":`)) - bytes.Count(body, []byte(`"refType":`)), string(body), nil
	}
	a, err := client.Decode(body)
	if err == nil && len(a.Results) != 1 {
		err = fmt.Errorf("%d results, want 1", len(a.Results))
	}
	if err != nil || len(a.Results[0].Rows) == 0 {
		return 0, "", err
	}
	shown, err := json.Marshal(a.Results[0].Rows[0])
	return len(a.Results[0].Rows), string(shown), err
}
