package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"varve/bench/client"
	"varve/bench/gen"
	"varve/bench/process"
	"varve/bench/workload"
)

// The set logql: -rows pushed lines in 200 streams and as many access rows of one day, asked in the language of log
// queries.
const (
	logsSet   = "logql"
	logsTable = "loki_logs" // of lines that are pushed without the name of a table
)

// logServer is a server that is measured with the set.
type logServer struct {
	*measured
	name    string
	own     bool // ours
	loaded  loadFigure
	cpuUsed time.Duration // while loading, what puts all into files included
	bytes   int64         // on the disk
	figures []logFigure   // of each query
}

// logFigure is what a query took on a server.
type logFigure struct {
	Server string        `json:"server"`
	Name   string        `json:"name"`
	P50    time.Duration `json:"p50_ns"`
	Min    time.Duration `json:"min_ns"`
	CPU    time.Duration `json:"cpu_ns"` // of the server, a run
	Rows   int           `json:"rows"`
	Error  string        `json:"error,omitempty"`
}

// runLogs measures our server, and with -loki that one beside it: each takes the lines, then all answer each query in
// turn.
func runLogs(ctx context.Context, o *options) (err error) {
	servers, err := logServers(ctx, o)
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.close())
		}
	}()
	if err != nil {
		return err
	}
	lines, err := gen.New("pushed", gen.Options{Rows: o.rows, Seed: o.seed})
	if err != nil {
		return err
	}
	for _, s := range servers {
		if err := s.fill(ctx, o, lines); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	start := time.UnixMilli(gen.Start)
	queries := workload.LogQueries(o.table, lines.Needle(o.rows/2))
	queries = slices.DeleteFunc(queries, func(q workload.LogQuery) bool {
		return o.queries != "all" && o.queries != "dashboard" && !strings.Contains(q.Name, o.queries)
	})
	profiled := make(chan error, 1)
	if o.serverProfile == "" {
		profiled <- nil
	} else {
		go func() { profiled <- servers[0].profile(ctx, o) }()
	}
	for i := range queries {
		askLogs(ctx, servers, &queries[i], queries[i].Address(start, start.Add(24*time.Hour)), o.queryRuns)
	}
	if err := errors.Join(<-profiled, printLogs(os.Stdout, o, servers, queries)); err != nil {
		return err
	}
	var all []logFigure
	for _, s := range servers {
		all = append(all, s.figures...)
	}
	return writeJSON(o.json, all)
}

// logServers starts the servers. What was started is returned with an error.
func logServers(ctx context.Context, o *options) (servers []*logServer, err error) {
	ours, err := target(ctx, o, strings.Split(o.sync, ",")[0])
	if err != nil {
		return nil, err
	}
	servers = append(servers, &logServer{measured: ours, name: "varve", own: true})
	if o.loki == "" {
		return servers, nil
	}
	dir, err := os.MkdirTemp(o.dir, "loki-bench-")
	if err != nil {
		return servers, err
	}
	s, err := process.Loki(ctx, o.loki, dir)
	if err != nil {
		return servers, errors.Join(err, os.RemoveAll(dir))
	}
	return append(servers, &logServer{measured: &measured{url: s.URL, dir: dir, pid: s.PID(), started: s},
		name: "loki"}), nil
}

// fill writes the lines, and to our server the access rows, and puts all into files.
func (s *logServer) fill(ctx context.Context, o *options, lines *gen.Set) (err error) {
	used := s.cpu()
	if o.load {
		push := &wire{path: "/loki/api/v1/push?db=" + o.db, contentType: lines.ContentType,
			status: http.StatusNoContent, count: takenWhole}
		if s.loaded, err = s.write(ctx, o, lines, push); err != nil {
			return err
		}
	}
	if s.own {
		err = s.fillRows(ctx, o)
	} else {
		_, err = s.post(ctx, "/flush")
	}
	if err != nil {
		return err
	}
	s.cpuUsed = s.cpu() - used
	if s.dir != "" {
		use, err := process.DiskUse(s.dir)
		if err != nil {
			return err
		}
		s.bytes = use.DataBytes
	}
	return nil
}

// fillRows writes the access rows and merges the parts of both tables.
func (s *logServer) fillRows(ctx context.Context, o *options) error {
	if !o.load {
		return nil
	}
	rows, err := gen.New("access", gen.Options{Rows: o.rows, Seed: o.seed})
	if err != nil {
		return err
	}
	ingest, err := newWire(&options{as: "ingest", db: o.db, table: o.table}, rows)
	if err != nil {
		return err
	}
	if _, err := s.write(ctx, o, rows, ingest); err != nil {
		return err
	}
	for _, table := range []string{logsTable, o.table} {
		for _, admin := range []string{"flush_table", "compact_table"} {
			if _, err := client.SQL(ctx, s.url, o.db, "ADMIN "+admin+"('"+table+"')"); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes all rows of a set.
func (s *logServer) write(ctx context.Context, o *options, set *gen.Set, w *wire) (loadFigure, error) {
	l := load{base: s.url, wire: w, set: set, rows: o.rows, batch: o.batch, connections: o.connections,
		progress: func(int) {}}
	return l.run(ctx)
}

// post sends an empty request.
func (s *logServer) post(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, nil)
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
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, client.AnswerError(resp.StatusCode, body)
	}
	return body, nil
}

// askLogs asks all servers once to warm up and then some times, in turn.
func askLogs(ctx context.Context, servers []*logServer, q *workload.LogQuery, path string, runs int) {
	took, used := make([][]time.Duration, len(servers)), make([]time.Duration, len(servers))
	for _, s := range servers {
		s.figures = append(s.figures, logFigure{Server: s.name, Name: q.Name})
	}
	for run := range 1 + runs {
		for i, s := range servers {
			f := &s.figures[len(s.figures)-1]
			if f.Error != "" || q.Own && !s.own {
				continue
			}
			start, cpu := time.Now(), s.cpu()
			body, err := fetch(ctx, s.url+path)
			if run > 0 {
				took[i], used[i] = append(took[i], time.Since(start)), used[i]+s.cpu()-cpu
			} else if err == nil {
				f.Rows, err = logRows(body)
			}
			if err != nil {
				f.Error = err.Error()
			}
		}
	}
	for i, s := range servers {
		if f := &s.figures[len(s.figures)-1]; len(took[i]) == runs {
			slices.Sort(took[i])
			f.P50, f.Min, f.CPU = took[i][runs/2], took[i][0], used[i]/time.Duration(runs)
		}
	}
}

// logRows is the number of lines of an answer, or else of its points or values; none is an error.
func logRows(body []byte) (n int, err error) {
	if body, err = unpacked(body); err != nil {
		return 0, err
	}
	var values struct{ Data []string }
	if json.Unmarshal(body, &values) == nil && len(values.Data) > 0 {
		return len(values.Data), nil
	}
	var answer struct {
		Data struct {
			Result []struct{ Values []json.RawMessage }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, err
	}
	for _, s := range answer.Data.Result {
		n += max(len(s.Values), 1)
	}
	if n == 0 {
		return 0, errors.New("no rows: each of these queries has an answer")
	}
	return n, nil
}

// printLogs writes the figures as Markdown.
func printLogs(w io.Writer, o *options, servers []*logServer, queries []workload.LogQuery) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, commit %s, logql, %d pushed lines in %d streams and as many access rows\n\n",
		time.Now().UTC().Format(time.DateOnly), commit(), o.rows, gen.PushedStreams)
	if o.load {
		b.WriteString("| server | lines/s | server CPU s, access rows and merging included | disk MB |\n|---|---|---|---|\n")
		for _, s := range servers {
			fmt.Fprintf(&b, "| %s | %.0f | %.1f | %.0f |\n", s.name, float64(s.loaded.rows)/s.loaded.took.Seconds(),
				s.cpuUsed.Seconds(), float64(s.bytes)/1e6)
		}
		b.WriteByte('\n')
	}
	b.WriteString("| query | at most ms |")
	for _, s := range servers {
		fmt.Fprintf(&b, " %s p50 ms | best ms | CPU ms | rows |", s.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", 4*len(servers)) + "\n")
	for i := range queries {
		fmt.Fprintf(&b, "| %s | %s |", queries[i].Name, millis(queries[i].Most))
		for _, s := range servers {
			if f := &s.figures[i]; f.Error != "" {
				fmt.Fprintf(&b, " failed: %s | | | |", strings.TrimSpace(f.Error))
			} else {
				fmt.Fprintf(&b, " %s | %s | %s | %d |", millis(f.P50), millis(f.Min), millis(f.CPU), f.Rows)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
