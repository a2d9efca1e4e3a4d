package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Report is the outcome of one run: the printed tables and the file of --json.
type Report struct {
	Commit      string    `json:"commit"`
	Time        time.Time `json:"time"`
	Dataset     string    `json:"dataset"`
	Sync        string    `json:"wal_sync"` // of a server that the run started
	Batch       int64     `json:"batch"`
	Connections int       `json:"connections"`

	Load    *LoadReport   `json:"load,omitempty"`
	Queries []QueryFigure `json:"queries,omitempty"`
}

// LoadReport holds the figures of the writing half. Fields that need the server's process are 0 when it is not known.
type LoadReport struct {
	Rows          int64         `json:"rows"`
	Bytes         int64         `json:"bytes"`
	Took          time.Duration `json:"took_ns"`       // first request to last answer
	FlushTook     time.Duration `json:"flush_took_ns"` // ADMIN flush_table after it
	P50           time.Duration `json:"request_p50_ns"`
	P99           time.Duration `json:"request_p99_ns"`
	Retries       int64         `json:"retries"`
	ServerCPU     time.Duration `json:"server_cpu_ns"`      // while writing
	ServerCPUFull time.Duration `json:"server_cpu_full_ns"` // the flush that follows included
	ClientCPU     time.Duration `json:"client_cpu_ns"`      // of the load generator while writing
	PeakRSS       int64         `json:"server_peak_rss"`    // bytes
	// in the data directory after the flush, log and ballast apart
	DataBytes int64 `json:"data_bytes"`
	LogBytes  int64 `json:"log_bytes"`           // of the write-ahead log after the flush
	Stored    int64 `json:"stored_rows_counted"` // by SELECT count(*)

	Steady  *SteadyFigure `json:"steady,omitempty"`  // of a load of half a minute and more
	Readers *ReaderFigure `json:"readers,omitempty"` // with -readers
}

// print writes the report as Markdown, ready for RESULTS.md.
func (r *Report) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, commit %s, %s rows, batches of %d, %d connections", r.Time.Format(time.DateOnly), r.Commit,
		r.Dataset, r.Batch, r.Connections)
	if r.Sync != "" {
		fmt.Fprintf(&b, ", wal.sync = %s", r.Sync)
	}
	b.WriteString("\n\n")
	if l := r.Load; l != nil {
		b.WriteString(
			"| rows | rows/s | MB/s | CPU s per million rows (per GB), with flush | while writing | generator | peak " +
				"RSS MB | disk bytes a row | request p50 | p99 | flush " +
				"|\n|---|---|---|---|---|---|---|---|---|---|---|\n")
		fmt.Fprintf(&b, "| %d | %.0f | %.0f | %s | %s | %s | %.0f | %.1f | %s | %s | %s |\n",
			l.Rows, float64(l.Rows)/l.Took.Seconds(), float64(l.Bytes)/1e6/l.Took.Seconds(),
			l.cost(l.ServerCPUFull), l.cost(l.ServerCPU), l.cost(l.ClientCPU),
			float64(l.PeakRSS)/1e6, float64(l.DataBytes)/float64(l.Rows), millis(l.P50), millis(l.P99),
			millis(l.FlushTook))
		if l.Retries > 0 {
			fmt.Fprintf(&b, "\n%d writes were refused for want of room and sent again.\n", l.Retries)
		}
		if l.LogBytes > 0 {
			fmt.Fprintf(&b, "\nThe log held %.1f MB after the flush.\n", float64(l.LogBytes)/1e6)
		}
		if s := l.Steady; s != nil {
			fmt.Fprintf(&b,
				"\nOf %d windows of 10 s the slowest wrote %d rows/s, %.0f %% of the median of %d, the fastest %d; "+
					"resident memory %.0f MB after a quarter, %.0f MB at the end, %.0f MB at most; at most %d files "+
					"and %.0f MB of log.\n\nThousands of rows/s, window by window:",
				s.Windows, s.SlowestRows, 100*float64(s.SlowestRows)/float64(s.MedianRows), s.MedianRows, s.FastestRows,
				float64(s.QuarterRSS)/1e6,
				float64(s.EndRSS)/1e6, float64(s.MostRSS)/1e6, s.MostFiles, float64(s.MostLog)/1e6)
			for _, r := range s.Rates {
				fmt.Fprintf(&b, " %.0f", float64(r)/1e3)
			}
			b.WriteString(". Processor seconds per million rows:")
			for _, c := range s.Costs {
				fmt.Fprintf(&b, " %.2f", c)
			}
			b.WriteString(".\n")
		}
		if q := l.Readers; q != nil {
			fmt.Fprintf(&b, "\nMeanwhile %d queries ran, p50 %s ms, p99 %s ms, %d failed.\n", q.Queries, millis(q.P50),
				millis(q.P99), q.Failed)
			if q.Failed > 0 {
				fmt.Fprintf(&b, "The last failure: %s\n", q.Error)
			}
		}
		b.WriteByte('\n')
	}
	if len(r.Queries) > 0 {
		b.WriteString("| query | p50 ms | best ms | server CPU ms | rows | first row |\n|---|---|---|---|---|---|\n")
		for _, q := range r.Queries {
			if q.Error != "" {
				fmt.Fprintf(&b, "| %s | failed: %s | | | | |\n", q.Name, q.Error)
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | `%s` |\n", q.Name, millis(q.P50), millis(q.Min), millis(q.CPU),
				q.Rows, q.First)
		}
	}
	for _, q := range r.Queries {
		if q.Plan != "" {
			fmt.Fprintf(&b, "\n%s: `%s`\n\n```\n%s```\n", q.Name, q.SQL, q.Plan)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cost is processor time per million rows and per GB of input.
func (l *LoadReport) cost(d time.Duration) string {
	return fmt.Sprintf("%.2f (%.1f)", d.Seconds()/float64(l.Rows)*1e6, d.Seconds()/float64(l.Bytes)*1e9)
}

func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.2f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// failed reports whether a query failed.
func (r *Report) failed() error {
	for _, q := range r.Queries {
		if q.Error != "" {
			return fmt.Errorf("query %q failed: %s", q.Name, q.Error)
		}
	}
	return nil
}

// writeJSON writes what a run found into a file; without a name it writes nothing.
func writeJSON(name string, found any) error {
	if name == "" {
		return nil
	}
	b, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
