// Package fleet generates the metrics of a fleet of hosts as scrapers send them: each request holds one sample of some
// of the series.
package fleet

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"
)

// StepMS is the time between two samples of a series.
const StepMS = 15_000

// Hosts is the number of hosts of the set of ten thousand series.
const Hosts = 162

// kind is how the values of a series go.
type kind int

const (
	seconds kind = iota // a counter with two decimals
	bytes               // a counter of whole numbers
	events              // a counter of small whole numbers
	level               // a gauge with two decimals
	room                // a gauge of large whole numbers
	fixed               // a gauge that does not change
)

// Set is the series of a fleet. Immutable.
type Set struct{ series []series }

// series is a series with what its values need.
type series struct {
	labels []byte // as a message of version 1.0 has them
	kind   kind
	rate   float64 // of a step, or the middle of a gauge
	seed   uint64
}

// New makes the ten thousand series of 162 hosts.
func New() *Set {
	s := &Set{}
	for h := range Hosts {
		s.addHost(h)
	}
	for q := 0; len(s.series) < 10_000; q++ {
		s.add(level, 40, "queue_depth", "queue", fmt.Sprintf("q%03d", q), "job", "broker")
	}
	return s
}

// addHost adds the series of a host.
func (s *Set) addHost(h int) {
	region := []string{"eu-central", "us-east", "us-west", "ap-south"}[h%4]
	host := []string{"instance", fmt.Sprintf("host-%03d:9100", h), "job", "node", "region", region, "zone",
		region + string(rune('a'+h/4%3))}
	add := func(k kind, rate float64, name string, labels ...string) {
		s.add(k, rate, name, append(labels, host...)...)
	}
	for cpu := range 4 {
		for i, mode := range []string{"idle", "user", "system", "iowait", "softirq"} {
			add(seconds, []float64{11, 2.5, 1, 0.4, 0.1}[i], "node_cpu_seconds_total", "cpu", fmt.Sprint(cpu), "mode",
				mode)
		}
	}
	for i, path := range []string{"/api/items", "/api/orders"} {
		for b, le := range []string{"0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "+Inf"} {
			add(events, float64(30+10*i)*float64(b+1), "http_request_duration_seconds_bucket", "path", path, "le", le)
		}
		add(seconds, 12, "http_request_duration_seconds_sum", "path", path)
		add(events, float64(30+10*i)*11, "http_request_duration_seconds_count", "path", path)
	}
	for _, device := range []string{"eth0", "eth1"} {
		add(bytes, 4e6, "node_network_receive_bytes_total", "device", device)
		add(bytes, 2e6, "node_network_transmit_bytes_total", "device", device)
		add(seconds, 3, "node_disk_io_time_seconds_total", "device", "sd"+device[3:])
		add(room, 4e10, "node_filesystem_avail_bytes", "mountpoint", "/data/"+device[3:])
	}
	add(fixed, 68719476736, "node_memory_MemTotal_bytes")
	add(room, 3e10, "node_memory_MemAvailable_bytes")
	add(level, 3, "node_load1")
	add(fixed, 1, "up")
	add(fixed, 1.7e9, "node_boot_time_seconds")
	add(fixed, 1, "node_uname_info", "release", fmt.Sprintf("6.1.%d", h%9), "machine", "x86_64")
	add(room, 500, "app_sessions")
}

// add adds a series; labels are names and values in turn.
func (s *Set) add(k kind, rate float64, name string, labels ...string) {
	s.series = append(s.series, series{labels: Labels(append(labels, "__name__", name)...), kind: k, rate: rate,
		seed: uint64(len(s.series))*0x9e3779b97f4a7c15 + 1})
}

// Labels are labels, given as names and values in turn, as a message of version 1.0 has them.
func Labels(pairs ...string) []byte {
	type label struct{ name, value string }
	var list []label
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, label{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(list, func(a, b label) int { return strings.Compare(a.name, b.name) })
	var dst []byte
	for _, l := range list {
		dst = appendText(dst, 1, appendText(appendText(nil, 1, l.name), 2, l.value))
	}
	return dst
}

// Len is the number of series.
func (s *Set) Len() int { return len(s.series) }

// AppendRequest appends the sample that series [from, to) have at a step to a request that is not compressed.
func (s *Set) AppendRequest(dst []byte, from, to int, step, ms int64) []byte {
	for i := from; i < to; i++ {
		x := &s.series[i]
		dst = AppendSeries(dst, x.labels, x.value(step), ms)
	}
	return dst
}

// AppendSeries appends a series with one sample to a request.
func AppendSeries(dst, labels []byte, value float64, ms int64) []byte {
	var sample [2 + 8 + binary.MaxVarintLen64]byte
	m := binary.LittleEndian.AppendUint64(append(sample[:0], 1<<3|1), math.Float64bits(value))
	m = binary.AppendUvarint(append(m, 2<<3), uint64(ms))
	dst = binary.AppendUvarint(append(dst, 1<<3|2), uint64(len(labels)+2+len(m)))
	dst = append(append(dst, labels...), 2<<3|2, byte(len(m)))
	return append(dst, m...)
}

// appendText appends a field of bytes to a message.
func appendText[T string | []byte](dst []byte, number int, text T) []byte {
	return append(binary.AppendUvarint(append(dst, byte(number<<3|2)), uint64(len(text))), text...)
}

// Compress makes a request of a message as it is sent.
func Compress(dst, message []byte) []byte { return s2.EncodeSnappy(dst, message) }

// value is that of a series at a step.
func (x *series) value(step int64) float64 {
	z := (x.seed + uint64(step)) * 0xbf58476d1ce4e5b9
	z ^= z >> 29
	// in [0, 1): a counter moves by less than its rate from its line
	noise := float64(z*0x94d049bb133111eb>>11) / (1 << 53)
	wave := math.Sin(float64(step)/97 + float64(x.seed%64))
	switch x.kind {
	case seconds:
		return math.Floor(100*x.rate*(float64(step)+noise)) / 100
	case bytes, events:
		return math.Floor(x.rate * (float64(step) + noise))
	case level:
		return math.Round(100*x.rate*(1.5+wave+noise/2)) / 100
	case room:
		return math.Round(x.rate * (1.5 + wave/4 + noise/50))
	}
	return x.rate
}
