package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"varve/server/web"
)

// metrics are the figures of the front end.
type metrics struct {
	Requests    *prometheus.CounterVec // path, method, status
	Latency     *prometheus.HistogramVec
	BodyBytes   prometheus.Counter
	BodiesHeld  prometheus.GaugeFunc
	BodiesWait  prometheus.GaugeFunc
	SlowReaders prometheus.CounterFunc
	InFlight    prometheus.Gauge
	Panics      prometheus.Counter
	ClientsLeft prometheus.Counter
	RPCTurned   prometheus.Counter
}

func newMetrics(intake *web.Intake, answers *web.Answers) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		Requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "varve_http_requests_total", Help: "Requests answered.",
		}, []string{"path", "method", "status"}),
		Latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "varve_http_request_seconds", Help: "Time from a request's header to its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"path"}),
		BodyBytes: counter("varve_http_body_bytes_total", "Bytes of request bodies read, after decompression."),
		BodiesHeld: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "varve_http_bodies_held_bytes",
			Help: "Bytes of the bodies of requests in hand, after decompression, or of what is made of them, but for " +
				"the first 64 KiB of each.",
		}, func() float64 { return float64(intake.Bytes()) }),
		BodiesWait: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "varve_http_bodies_waiting", Help: "Requests whose bodies, or what is made of them, wait for room.",
		}, func() float64 { return float64(intake.Waiting()) }),
		SlowReaders: prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "varve_http_slow_readers_total",
			Help: "Answers cut off because their clients read slowly while others waited.",
		}, func() float64 { return float64(answers.Given()) }),
		InFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "varve_http_requests_in_flight", Help: "Requests being handled or answered.",
		}),
		Panics: counter("varve_http_panics_total", "Requests that ended in a panic."),
		ClientsLeft: counter("varve_http_clients_left_total",
			"Requests cancelled because the client closed its connection."),
		RPCTurned: counter("varve_grpc_connections_refused_total",
			"Connections of gRPC closed because there were too many, of all or of their address."),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Requests, m.Latency, m.BodyBytes, m.BodiesHeld, m.BodiesWait, m.SlowReaders,
		m.InFlight, m.Panics, m.ClientsLeft, m.RPCTurned}
}
