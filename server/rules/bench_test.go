package rules

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"varve/server/rules/file"
	"varve/sqlexec/promql"
)

// BenchmarkThousandRules evaluates 1,000 rules over 100,000 series once: 100 hosts with 1,000 series each, 500
// recording rules and 500 alerts, of which a few fire. core% is the part of a core that this takes once a minute.
func BenchmarkThousandRules(b *testing.B) {
	const hosts, metrics, perHost = 100, 100, 10
	s := newBench(b, nil)
	for minute := range 6 {
		for m := range metrics {
			var list []Input
			for h := range hosts {
				for d := range perHost {
					labels := promql.NewLabels("__name__", fmt.Sprintf("metric_%d_total", m), "host",
						fmt.Sprintf("host%03d", h), "device", fmt.Sprint(d), "job", "hosts")
					list = append(list, Input{labels, promql.Point{V: float64((minute + h) * (d + m))}})
				}
			}
			if err := s.m.Write(b.Context(), s.now, list); err != nil {
				b.Fatal(err)
			}
		}
		s.now = s.now.Add(time.Minute)
	}
	var text strings.Builder
	text.WriteString("groups:\n")
	for g := range 50 {
		fmt.Fprintf(&text, "- name: g%d\n  rules:\n", g)
		for r := range 10 {
			m := (10*g + r) % metrics
			fmt.Fprintf(&text, "  - {record: 'host:metric_%d:rate%d', ", m, g)
			fmt.Fprintf(&text, "expr: 'sum by (host) (rate(metric_%d_total[5m]))'}\n", m)
			fmt.Fprintf(&text, "  - {alert: High%d, expr: 'metric_%[1]d_total{device=\"%d\"} > 1e6', for: 5m}\n", m, r)
		}
	}
	f, err := file.Parse("f", []byte(text.String()))
	if err != nil || f.Rules() != 1000 {
		b.Fatal(f.Rules(), err)
	}
	s.m.Use(b.Context(), []*file.File{f})
	s.step(0)
	before := processorTime(b)
	for b.Loop() {
		s.step(time.Second)
	}
	took := processorTime(b) - before
	b.ReportMetric(took.Seconds()/float64(b.N)/60*100, "core%")
	if strings.Contains(s.alerts(), "error") {
		b.Fatal(s.alerts())
	}
}

// processorTime is the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
