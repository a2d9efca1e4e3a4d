package kafka

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/jsontext"
	"varve/server/web"
)

// figures are the metrics of all sources. Safe for concurrent use.
type figures struct {
	sources []*source

	messages, bytes, rejected, missed, errors, rebalances, resets *prometheus.CounterVec
}

func newFigures() *figures {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_kafka_" + name, Help: help},
			append([]string{"source"}, labels...))
	}
	return &figures{
		messages:   vec("messages_total", "Messages of queues that were stored.", "topic"),
		bytes:      vec("bytes_total", "Bytes of the values of messages that were stored.", "topic"),
		rejected:   vec("rejected_messages_total", "Messages that could not be stored, now in the table of rejects.", "topic"),
		missed:     vec("missed_messages_total", "Messages that brokers removed before they were read.", "topic"),
		errors:     vec("errors_total", "Tries to read, or to write what was read, that failed."),
		rebalances: vec("rebalances_total", "Times that partitions went to other members of the group."),
		resets:     vec("resets_total", "Partitions that did not go on where they were, by reason.", "reason"),
	}
}

func (f *figures) collectors() []prometheus.Collector {
	return []prometheus.Collector{f.messages, f.bytes, f.rejected, f.missed, f.errors, f.rebalances, f.resets, &lags{f}}
}

// lags collects what differs from partition to partition.
type lags struct{ f *figures }

var (
	lagDesc = prometheus.NewDesc("varve_kafka_lag_messages",
		"Messages of a partition that are not stored yet.", []string{"source", "topic", "partition"}, nil)
	upDesc = prometheus.NewDesc("varve_kafka_up", "1 while a source reads, 0 while something keeps it from it.",
		[]string{"source"}, nil)
)

// Describe describes the figures.
func (l *lags) Describe(out chan<- *prometheus.Desc) { out <- lagDesc; out <- upDesc }

// Collect collects the figures.
func (l *lags) Collect(out chan<- prometheus.Metric) {
	for _, s := range l.f.sources {
		state := s.state()
		up := 1.0
		if state.trouble != "" {
			up = 0
		}
		out <- prometheus.MustNewConstMetric(upDesc, prometheus.GaugeValue, up, s.config.Name)
		for _, p := range state.partitions {
			if p.end >= 0 {
				out <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, float64(p.lag()), s.config.Name,
					p.topic, strconv.Itoa(int(p.partitionID.partition)))
			}
		}
	}
}

// sourceState is the state of a source at a moment.
type sourceState struct {
	trouble    string // empty: it reads
	since      time.Time
	partitions []partitionState // those that it has, by topic and number
}

type partitionState struct {
	partitionID
	partition
}

// lag is the number of messages that are not taken.
func (p *partitionState) lag() int64 { return max(p.end-p.next, 0) }

// state looks at a source.
func (s *source) state() sourceState {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := sourceState{trouble: s.trouble, since: s.since}
	for id, p := range s.partitions {
		if p.owned {
			state.partitions = append(state.partitions, partitionState{id, *p})
		}
	}
	slices.SortFunc(state.partitions, func(a, b partitionState) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partitionID.partition, b.partitionID.partition))
	})
	return state
}

// State answers GET /v1/queues: the sources, what keeps them from reading, and their partitions.
func (s *Sources) State(c *web.Ctx) error {
	return c.Make(200, "application/json", func() ([]byte, error) {
		body := []byte(`{"sources":[`)
		for i, one := range s.list {
			if i > 0 {
				body = append(body, ',')
			}
			body = one.append(body)
		}
		return append(body, "]}"...), nil
	})
}

// append appends the state of a source as JSON.
func (s *source) append(dst []byte) []byte {
	state, c := s.state(), s.config
	dst = jsontext.AppendString(append(dst, `{"name":`...), c.Name)
	dst = jsontext.AppendString(append(dst, `,"group":`...), c.Group)
	dst = jsontext.AppendString(append(dst, `,"format":`...), c.Format)
	dst = append(dst, `,"brokers":[`...)
	for i, b := range c.Brokers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, b)
	}
	dst = append(dst, `],"reading":`...)
	dst = strconv.AppendBool(dst, state.trouble == "")
	dst = jsontext.AppendString(append(dst, `,"trouble":`...), state.trouble)
	dst = strconv.AppendInt(append(dst, `,"since_ms":`...), state.since.UnixMilli(), 10)
	dst = strconv.AppendInt(append(dst, `,"messages":`...), s.counts.messages.Load(), 10)
	dst = strconv.AppendInt(append(dst, `,"bytes":`...), s.counts.bytes.Load(), 10)
	dst = strconv.AppendInt(append(dst, `,"rejected":`...), s.counts.rejected.Load(), 10)
	dst = strconv.AppendInt(append(dst, `,"errors":`...), s.counts.errors.Load(), 10)
	dst = append(dst, `,"partitions":[`...)
	for i := range state.partitions {
		p := &state.partitions[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(append(dst, `{"topic":`...), p.topic)
		dst = strconv.AppendInt(append(dst, `,"partition":`...), int64(p.partitionID.partition), 10)
		dst = strconv.AppendInt(append(dst, `,"next":`...), p.next, 10)
		dst = strconv.AppendInt(append(dst, `,"end":`...), p.end, 10)
		dst = strconv.AppendInt(append(dst, `,"lag":`...), p.lag(), 10)
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}
