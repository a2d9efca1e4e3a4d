package benchmark

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Print writes a report for people.
func (r *Report) Print(out io.Writer) error {
	b := bufio.NewWriter(out)
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(b, "%s, %s\n", r.Server, r.Time.Format("2006-01-02 15:04:05 UTC"))
	printed := false
	for _, one := range []struct {
		what string
		w    *Written
	}{{"rows", r.Rows}, {"samples", r.Samples}} {
		if one.w == nil {
			continue
		}
		if !printed {
			fmt.Fprintln(w,
				"\nwritten\tnumber\ta second\tMB/s\tCPU s/GB\tRSS MB\tbytes each\tp50 ms\tp99 ms\tsent again\t")
			printed = true
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.1f\t%.1f\t%.0f\t%.1f\t%.1f\t%.1f\t%d\t\n", one.what, one.w.Rows,
			one.w.RowsPerSecond, one.w.MBPerSecond, one.w.CPUPerGB,
			float64(one.w.PeakRSS)/1e6, one.w.BytesPerRow, one.w.P50MS, one.w.P99MS, one.w.Retries)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, list := range [][]Asked{r.SQL, r.PromQL} {
		if len(list) == 0 {
			continue
		}
		about := "query"
		if i == 1 {
			about = fmt.Sprintf("query of metrics, over %s at most", time.Duration(r.Span)*time.Second)
		}
		fmt.Fprintf(w, "\np50 ms\tp99 ms\trows\t  %s\n", about)
		for _, a := range list {
			if a.Error != "" {
				fmt.Fprintf(w, "\t\t\t  %s: %s\n", a.Name, a.Error)
				continue
			}
			fmt.Fprintf(w, "%.1f\t%.1f\t%d\t  %s\n", a.P50MS, a.P99MS, a.Rows, a.Name)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Failed is the number of queries that failed.
func (r *Report) Failed() (n int) {
	for _, list := range [][]Asked{r.SQL, r.PromQL} {
		for _, a := range list {
			if a.Error != "" {
				n++
			}
		}
	}
	return n
}
