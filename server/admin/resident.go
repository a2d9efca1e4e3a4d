package admin

import (
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// resident is the memory of the process that is resident, in bytes: anonymous memory, which the process has allocated
// and memory_limit bounds, and pages of mapped files, which the system takes back when others need room.
type resident struct{ anonymous, mapped int64 }

// residentNow asks the system; ok is false where it does not tell.
func residentNow() (r resident, ok bool) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return r, false
	}
	return parseResident(string(text))
}

// parseResident reads the lines RssAnon, RssFile and RssShmem, in KiB.
func parseResident(text string) (r resident, ok bool) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		kib, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "RssAnon":
			r.anonymous, ok = kib<<10, true
		case "RssFile", "RssShmem":
			r.mapped += kib << 10
		}
	}
	return r, ok
}

// residentCollectors are the figures of resident memory, by its kind.
func residentCollectors() []prometheus.Collector {
	if _, ok := residentNow(); !ok {
		return nil
	}
	gauge := func(name, help string, of func(resident) int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			r, _ := residentNow()
			return float64(of(r))
		})
	}
	return []prometheus.Collector{
		gauge("varve_process_anonymous_bytes",
			"Resident memory that the process has made itself; memory_limit bounds it.",
			func(r resident) int64 { return r.anonymous }),
		gauge("varve_process_mapped_bytes",
			"Resident pages of mapped files, which the system takes back when it needs room.",
			func(r resident) int64 { return r.mapped }),
	}
}
