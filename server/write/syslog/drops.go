package syslog

import (
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// drops counts the datagrams that the system dropped before the server could read them, because the buffer of their
// socket was full. Only Linux counts them; elsewhere the figure is absent. Safe for concurrent use.
type drops struct {
	desc *prometheus.Desc

	mu      sync.Mutex
	sockets map[uint64]uint64 // the last count of each, by its inode; a closed socket keeps its last count
}

func newDrops() *drops {
	return &drops{sockets: map[uint64]uint64{}, desc: prometheus.NewDesc("varve_syslog_udp_dropped_total",
		"Datagrams that the system dropped because the buffer of the socket was full. Known on Linux only.", nil, nil)}
}

// watch counts for a socket from now on.
func (d *drops) watch(c *net.UDPConn) {
	id := inode(c)
	n, err := dropped(id)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sockets[id] = n
}

// Describe implements prometheus.Collector.
func (d *drops) Describe(to chan<- *prometheus.Desc) { to <- d.desc }

// Collect implements prometheus.Collector: it asks the system.
func (d *drops) Collect(to chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.sockets) == 0 {
		return
	}
	sum := uint64(0)
	for id, last := range d.sockets {
		if n, err := dropped(id); err == nil {
			last = max(last, n)
			d.sockets[id] = last
		}
		sum += last
	}
	to <- prometheus.MustNewConstMetric(d.desc, prometheus.CounterValue, float64(sum))
}
