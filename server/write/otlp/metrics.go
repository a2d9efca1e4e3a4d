package otlp

import (
	"context"
	"errors"

	"varve/engine"
	"varve/engine/status"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/samples"
)

// Metrics:
//
//	ExportMetricsServiceRequest{1: ResourceMetrics*}
//	ResourceMetrics{1: Resource{1: KeyValue*}, 2: ScopeMetrics*}
//	ScopeMetrics{1: InstrumentationScope{1: name, 2: version, 3: KeyValue*}, 2: Metric*, 3: schema URL}
//	Metric{1: name, 2: description, 3: unit, 5: Gauge, 7: Sum, 9: Histogram, 10: ExponentialHistogram, 11: Summary}, each {1: points*}; Sum{3: is monotonic}
//
// A metric becomes one table or three. The key of a series is made of the labels of its resource and scope, the metric,
// and the bytes of the point's attributes in the message. Labels are made only for a series whose key is not known.

// metricKind is the kind of a metric.
type metricKind uint8

const (
	gauge metricKind = iota
	sum
	monotonicSum
	histogram
	exponential
	summary
)

// metricTypes are the types of metrics, as the metrics API names them.
var metricTypes = [...]string{gauge: "gauge", sum: "gauge", monotonicSum: "counter", histogram: "histogram",
	exponential: "histogram", summary: "summary"}

// metricsRequest is a request of metrics that is being read.
type metricsRequest struct {
	h     *Handler
	db    string
	hints samples.Hints
	promotion
	translation translation

	find     *samples.Request
	points   []point
	metadata []samples.Metadata
	// exemplarList has the exemplars that may be kept, of exemplarsSeen in the message.
	exemplarList  []samples.Exemplar
	exemplarsSeen int
	outcome       outcome
	refused       map[int32]struct{} // data points, by number
	number        int32              // of data points so far
	weight        weight             // of points, and of series that are not known

	// Of the metric in hand.
	kind             metricKind
	name, unit, help []byte
	described        bool // its metadata is noted

	reader   resourceReader
	resource []samples.Label
	scope    []samples.Label
	// key names a series: up to resourceEnd its resource, up to scopeEnd its scope.
	key                   []byte
	resourceEnd, scopeEnd int

	histogram histogramPointData

	// Scratch: the attributes and the labels of a series that is not known, and the text of labels.
	attrs                          []attribute
	labels                         []samples.Label
	resourceText, scopeText, block []byte
}

// point is a sample. Its series may not be resolved yet.
type point struct {
	series samples.Handle
	number int32 // of its data point
	ms     int64
	value  float64
}

const pointBytes = 40

// takeMetrics stores the points of a request.
func (h *Handler) takeMetrics(c *web.Ctx, body func() ([]byte, error)) (outcome, error) {
	r := h.metrics.Get()
	defer h.recycleMetrics(r)
	if err := r.begin(h, c); err != nil {
		return outcome{}, err
	}
	_, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		message, err := body()
		if err != nil {
			return false, err
		}
		r.weight.hold = func(bytes int64) error {
			return r.find.Wait(func() error { return c.Hold(int64(len(message)) + bytes) })
		}
		if err := r.search(message); err != nil {
			return false, unread(c, err)
		}
		if err := r.write(c.Context, set); err != nil {
			return false, err
		}
		return r.outcome.taken > 0, c.Hold(int64(len(message)) + r.weight.held + set.Held())
	})
	if err != nil {
		return outcome{}, err
	}
	if err := h.o.Samples.Describe(c.Context, r.db, r.metadata); err != nil {
		c.Log.Warn("metadata of metrics is not kept", "db", r.db, "error", err)
	}
	if r.outcome.taken > 0 {
		r.keepExemplars(c)
	}
	return r.outcome, nil
}

// begin takes what the headers say.
func (r *metricsRequest) begin(h *Handler, c *web.Ctx) (err error) {
	r.h = h
	r.weight.begin("points", h.o.RowBytes)
	if r.db, err = database(c); err != nil {
		return err
	}
	if r.translation, err = parseTranslation(c.HeaderText(translationHeader)); err != nil {
		return err
	}
	if r.hints, err = h.o.Samples.Hints(c.Hints()); err != nil {
		return err
	}
	r.promotion = promotionOf(c)
	return nil
}

// recycleMetrics keeps the buffers of a request for the next, and nothing else of it.
func (h *Handler) recycleMetrics(r *metricsRequest) {
	for _, list := range [...][]samples.Label{r.resource, r.scope, r.labels} {
		clear(list[:cap(list)])
	}
	clear(r.attrs[:cap(r.attrs)])
	clear(r.points)
	r.reader.forget()
	*r = metricsRequest{
		points: r.points[:0], key: r.key[:0], attrs: r.attrs[:0], resource: r.resource[:0], scope: r.scope[:0],
		reader: r.reader,
		labels: r.labels[:0], resourceText: r.resourceText[:0], scopeText: r.scopeText[:0], block: r.block[:0],
		histogram: r.histogram.emptied(),
	}
	text := cap(r.key) + cap(r.resourceText) + cap(r.scopeText) + cap(r.block)
	labels := cap(r.resource) + cap(r.scope) + cap(r.labels)
	h.metrics.Put(r, pointBytes*int64(cap(r.points))+int64(text+48*labels+attributeBytes*cap(r.attrs))+r.reader.bytes()+
		r.histogram.bytes())
}

// search finds the series of all points.
func (r *metricsRequest) search(message []byte) error {
	r.find = r.h.o.Samples.Begin(r.db, "", r.hints)
	defer r.find.End()
	return r.reader.each(message, r.beginResource, func(s *scopeFields) error {
		if err := r.beginScope(s); err != nil {
			return err
		}
		f := protowire.Of(s.message)
		for f.Next() {
			if f.Is(2, protowire.Bytes) {
				if err := r.metric(f.Bytes); err != nil {
					return err
				}
			}
		}
		return f.Err()
	})
}

// metric reads a metric.
func (r *metricsRequest) metric(message []byte) error {
	r.name, r.unit, r.help, r.described = nil, nil, nil, false
	var data []byte
	known := false
	f := protowire.Of(message)
	for f.Next() {
		if f.Kind != protowire.Bytes {
			continue
		}
		switch f.Number {
		case 1:
			r.name = f.Bytes
		case 2:
			r.help = f.Bytes
		case 3:
			r.unit = f.Bytes
		case 5, 7, 9, 10, 11:
			data, known = f.Bytes, true
			r.kind = [...]metricKind{5: gauge, 7: sum, 9: histogram, 10: exponential, 11: summary}[f.Number]
		}
	}
	if f.Err() != nil || !known {
		return f.Err()
	}
	if r.kind == sum {
		for f = protowire.Of(data); f.Next(); {
			if f.Is(3, protowire.Varint) && f.Value != 0 {
				r.kind = monotonicSum
			}
		}
	}
	r.key = append(r.key[:r.scopeEnd], byte(r.kind))
	r.key = appendSized(appendSized(r.key, r.name), r.unit)
	r.shorten(r.scopeEnd)
	for f = protowire.Of(data); f.Next(); {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		if err := r.point(f.Bytes); err != nil {
			return err
		}
		r.number++
		if err := r.weight.tell(); err != nil {
			return err
		}
	}
	return f.Err()
}

// point reads a data point of the metric in hand.
func (r *metricsRequest) point(message []byte) error {
	switch r.kind {
	case histogram:
		return r.explicitHistogram(message)
	case exponential:
		return r.exponentialHistogram(message)
	case summary:
		return r.summary(message)
	}
	return r.numberPoint(message)
}

// noValue is the flag of points without a value.
const noValue = 1

// numberPoint reads a point of a gauge or a sum:
//
//	NumberDataPoint{7: KeyValue*, 3: time ns fixed64, 4: double, 5: Exemplar*, 6: sfixed64, 8: flags}
func (r *metricsRequest) numberPoint(message []byte) error {
	metric := len(r.key)
	defer func() { r.key = r.key[:metric] }()
	var at, flags uint64
	var x float64
	has, exemplars := false, false
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(7, protowire.Bytes):
			r.key = appendSized(r.key, f.Bytes)
		case f.Is(3, protowire.Fixed64):
			at = f.Value
		case f.Is(4, protowire.Fixed64):
			x, has = f.Double(), true
		case f.Is(5, protowire.Bytes):
			exemplars = true
		case f.Is(6, protowire.Fixed64):
			x, has = float64(f.Int()), true
		case f.Is(8, protowire.Varint):
			flags = f.Value
		}
	}
	if f.Err() != nil || flags&noValue != 0 || !has {
		return f.Err()
	}
	if err := r.sample(message, 7, whole, 0, at, x); err != nil || !exemplars {
		return err
	}
	return r.exemplars(message, 7, 5, whole, at)
}

// sample adds a sample of the series that key names, which belongs to a part of the metric. attributes is the number of
// the field of attributes in the message.
func (r *metricsRequest) sample(message []byte, attributes int, p metricPart, bound float64, at uint64,
	x float64) error {
	handle, ok := r.find.Find(r.key)
	if !ok {
		var err error
		if handle, err = r.addSeries(message, attributes, p, bound); err != nil {
			if !errors.As(err, new(*status.Error)) {
				return err
			}
			r.refuse(r.number, err)
			return nil
		}
	}
	r.points = append(r.points, point{handle, r.number, int64(at / 1e6), x})
	r.weight.held += pointBytes
	return nil
}

// refuse notes that a data point cannot be kept, or not all of it.
func (r *metricsRequest) refuse(number int32, err error) {
	if _, ok := r.refused[number]; ok {
		return
	}
	if r.refused == nil {
		r.refused = map[int32]struct{}{}
	}
	r.refused[number] = struct{}{}
	r.weight.held += pointBytes
	r.outcome.refuse(err)
}

// write puts the points into the set.
func (r *metricsRequest) write(ctx context.Context, set *engine.WriteSet) error {
	if err := r.find.Resolve(ctx); err != nil {
		return err
	}
	columns := r.h.o.Samples.Columns()
	for i := range r.points {
		p := &r.points[i]
		series, err := r.find.Series(p.series)
		if err != nil {
			if !web.ClientFault(err) {
				return err
			}
			r.refuse(p.number, err)
			continue
		}
		set.Samples(series, columns).Float(p.ms, p.value)
	}
	r.outcome.taken = int(r.number) - r.outcome.refused
	return nil
}
