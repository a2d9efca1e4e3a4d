package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printMetrics writes the figures of our server, and of others beside it, as Markdown.
func printMetrics(w io.Writer, reports []*MetricsReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, commit %s, metrics\n\n", time.Now().UTC().Format(time.DateOnly), commit())
	b.WriteString(
		"| server | samples | samples/s | server CPU us a sample, writing | with merging | generator | peak RSS MB | " +
			"disk bytes a sample |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range reports {
		cost := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(r.Samples) }
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.2f | %.2f | %.2f | %.0f | %.2f |\n", r.Server, r.Samples,
			float64(r.Samples)/r.Took.Seconds(),
			cost(r.ServerCPU), cost(r.FullCPU), cost(r.ClientCPU), float64(r.PeakRSS)/1e6,
			float64(r.DataBytes)/float64(r.Samples))
	}
	b.WriteString("\n| query |")
	for _, r := range reports {
		fmt.Fprintf(&b, " %s p50 ms | CPU ms | rows |", r.Server)
	}
	for _, r := range reports[1:] {
		fmt.Fprintf(&b, " share of the time of %s |", r.Server)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 4*len(reports)-1) + "\n")
	for i, q := range reports[0].Queries {
		fmt.Fprintf(&b, "| %s |", q.Name)
		failed := ""
		for _, r := range reports {
			f := &r.Queries[i]
			fmt.Fprintf(&b, " %s | %s | %d |", millis(f.P50), millis(f.CPU), f.Rows)
			failed += f.Error
		}
		for _, r := range reports[1:] {
			fmt.Fprintf(&b, " %.2f |", float64(q.P50)/float64(max(r.Queries[i].P50, 1)))
		}
		b.WriteString(failed + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
