package otlp

import (
	"encoding/hex"
	"math"
	"slices"

	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/samples"
)

// Exemplars of data points lead from a metric to a trace. They are kept as those of remote write are: one that cannot
// be kept is dropped and fails nothing.
//
//	Exemplar{2: time ns fixed64, 3: double, 6: sfixed64, 4: span id, 5: trace id, 7: KeyValue*}
//
// An exemplar of a histogram belongs to the bucket that counts its value.

// exemplarHeld is about the memory of an exemplar, besides the text of its labels and those of its series.
const exemplarHeld = 1 << 10

// exemplars gathers the exemplars of a data point. Both numbers are of fields of the data point: those of its
// attributes and of its exemplars. Without a time of its own an exemplar has that of the point, in ns.
func (r *metricsRequest) exemplars(message []byte, attributes, field int, p metricPart, time uint64) error {
	f := protowire.Of(message)
	for f.Next() {
		if !f.Is(field, protowire.Bytes) {
			continue
		}
		if r.exemplarsSeen++; r.exemplarsSeen > r.h.o.Samples.MaxExemplars() {
			return nil // no more are kept of all metrics
		}
		if err := r.exemplar(f.Bytes, message, attributes, p, time); err != nil {
			return err
		}
	}
	return f.Err()
}

// exemplar gathers an exemplar of a data point.
func (r *metricsRequest) exemplar(message, point []byte, attributes int, p metricPart, time uint64) error {
	var x float64
	has := false
	var trace, span []byte
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(2, protowire.Fixed64):
			if f.Value != 0 {
				time = f.Value
			}
		case f.Is(3, protowire.Fixed64):
			x, has = f.Double(), true
		case f.Is(6, protowire.Fixed64):
			x, has = float64(f.Int()), true
		case f.Is(4, protowire.Bytes):
			span = f.Bytes
		case f.Is(5, protowire.Bytes):
			trace = f.Bytes
		}
	}
	if f.Err() != nil || !has {
		return f.Err()
	}
	bound := 0.0
	if p == bucketPart {
		bound = r.histogram.bucketOf(x)
	}
	if err := r.seriesLabels(point, attributes, p, bound); err != nil {
		return nil //nolint:nilerr // the sample of this series was refused for it, and counted
	}
	var ids []samples.Label
	ids = appendID(appendID(ids, "trace_id", trace), "span_id", span)
	labels, err := r.exemplarLabels(message, ids)
	if err != nil {
		return err
	}
	ms := int64(time / 1e6)
	kept, ok := r.find.Exemplar(r.labels, labels, x, ms)
	if !ok && len(labels) > len(ids) { // too long with its attributes: the ids matter most
		kept, ok = r.find.Exemplar(r.labels, ids, x, ms)
	}
	if ok {
		r.exemplarList = append(r.exemplarList, kept)
		r.weight.held += exemplarHeld
	}
	return nil
}

// appendID appends the label of an id, unless there is none.
func appendID(labels []samples.Label, name string, id []byte) []samples.Label {
	if len(id) == 0 {
		return labels
	}
	return append(labels, samples.Label{Name: []byte(name), Value: hex.AppendEncode(nil, id)})
}

// exemplarLabels returns the labels of an exemplar: its attributes, and the ids, which count before these.
func (r *metricsRequest) exemplarLabels(message []byte, ids []samples.Label) (labels []samples.Label, err error) {
	r.attrs = r.attrs[:0]
	f := protowire.Of(message)
	for f.Next() {
		if f.Is(7, protowire.Bytes) {
			if r.attrs, err = appendAttribute(r.attrs, &f); err != nil {
				return nil, err
			}
		}
	}
	var text []byte
	for i := range r.attrs[:min(len(r.attrs), samples.MaxLabels)] {
		labels, text = r.label(labels, text, "", &r.attrs[i])
	}
	return lastOfEach(append(labels, ids...)), nil
}

// bucketOf returns the bound of the bucket that counts a value. The bounds are ascending.
func (h *histogramPointData) bucketOf(x float64) float64 {
	if i, _ := slices.BinarySearch(h.bounds, x); i < len(h.bounds) && !math.IsNaN(x) {
		return h.bounds[i]
	}
	return math.Inf(1)
}

// keepExemplars keeps the exemplars of a request whose points are stored.
func (r *metricsRequest) keepExemplars(c *web.Ctx) {
	if _, err := r.h.o.Samples.KeepExemplars(c.Context, r.exemplarList); err != nil {
		c.Log.Warn("exemplars are not kept", "db", r.db, "error", err)
	}
}
