package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printMetrics writes the figures of one server, or of ours and the stock server side by side, as Markdown.
func printMetrics(w io.Writer, reports []*MetricsReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, commit %s, metrics\n\n", time.Now().UTC().Format(time.DateOnly), commit())
	b.WriteString(
		"| server | samples | samples/s | server CPU us a sample, writing | with merging | generator | peak RSS MB | " +
			"disk bytes a sample |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range reports {
		a := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(r.Samples) }
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.2f | %.2f | %.2f | %.0f | %.2f |\n", r.Server, r.Samples,
			float64(r.Samples)/r.Took.Seconds(),
			a(r.ServerCPU), a(r.FullCPU), a(r.ClientCPU), float64(r.PeakRSS)/1e6,
			float64(r.DataBytes)/float64(r.Samples))
	}
	if len(reports) == 1 {
		b.WriteString("\n| query | p50 ms | server CPU ms | rows |\n|---|---|---|---|\n")
	} else {
		b.WriteString(
			"\n| query | p50 ms | CPU ms | stock p50 ms | CPU ms | share of the time | rows, of stock " +
				"|\n|---|---|---|---|---|---|---|\n")
	}
	for i, q := range reports[0].Queries {
		if len(reports) == 1 {
			fmt.Fprintf(&b, "| %s | %s | %s | %d |%s\n", q.Name, millis(q.P50), millis(q.CPU), q.Rows, q.Error)
			continue
		}
		s := reports[1].Queries[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.2f | %d, %d |%s%s\n", q.Name, millis(q.P50), millis(q.CPU),
			millis(s.P50), millis(s.CPU),
			float64(q.P50)/float64(max(s.P50, 1)), q.Rows, s.Rows, q.Error, s.Error)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
