package metricsapi

import (
	"fmt"

	"varve/engine"
	"varve/engine/status"
	"varve/server/protowire"
	"varve/server/samples"
)

// Version 1.0:
//
//	WriteRequest{1: timeseries*, 3: metadata*}
//	TimeSeries{1: labels*{1: name, 2: value}, 2: samples*{1: value double, 2: time ms}, 3: exemplars*, 4: histograms*}
//	MetricMetadata{1: type, 2: metric family name, 4: help, 5: unit}
//
// The samples of 2.0 have the same numbers, and 3: start time, ms, besides; see decode2.go.

func (w *request) search1(body []byte) error {
	f := protowire.Of(body)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Bytes):
			if err := w.series1(f.Bytes); err != nil {
				return fmt.Errorf("time series: %w", err)
			}
			if err := w.bounded(); err != nil {
				return err
			}
		case f.Is(3, protowire.Bytes):
			if err := w.metadata1(f.Bytes); err != nil {
				return fmt.Errorf("metadata: %w", err)
			}
			if err := w.bounded(); err != nil {
				return err
			}
		case f.Is(4, protowire.Bytes) || f.Is(5, protowire.Bytes):
			return fmt.Errorf("field %d is of version 2.0, which the header Content-Type has to name", f.Number)
		}
	}
	return f.Err()
}

// series1 finds a series by the bytes of its labels.
func (w *request) series1(message []byte) error {
	f := protowire.Of(message)
	from, to, whole, exemplars := -1, 0, true, false
	for at := 0; f.Next(); at = f.Offset() {
		exemplars = exemplars || f.Is(3, protowire.Bytes)
		if !f.Is(1, protowire.Bytes) {
			w.given++
			if from >= 0 && f.Kind == protowire.Bytes {
				break // labels come first; should more follow, see below
			}
			continue
		}
		if from < 0 {
			from = at
		}
		to = f.Offset()
	}
	for whole && f.Err() == nil && f.Next() {
		w.given++
		whole, exemplars = !f.Is(1, protowire.Bytes), exemplars || f.Is(3, protowire.Bytes)
	}
	if f.Err() != nil {
		return f.Err()
	}
	if from < 0 {
		from = 0
	}
	name, rest := message[from:to], message[to:]
	if !whole || from > 0 {
		var err error
		if name, err = w.gather(message); err != nil {
			return err
		}
		rest = message
	}
	handle, ok := w.find.Find(name)
	if !ok {
		labels, err := w.labels1(name)
		if err != nil {
			return err
		}
		if handle, err = w.find.Add(name, labels); err != nil {
			w.refuse(err)
			return nil
		}
	}
	w.series = append(w.series, pending{handle, rest})
	if exemplars {
		labels, err := w.labels1(name)
		if err != nil {
			return err
		}
		w.exemplars(labels, rest, 3)
	}
	return nil
}

// gather returns the labels of a series between whose fields others are.
func (w *request) gather(message []byte) ([]byte, error) {
	w.name = w.name[:0]
	f := protowire.Of(message)
	for at := 0; f.Next(); at = f.Offset() {
		if f.Is(1, protowire.Bytes) {
			w.name = append(w.name, message[at:f.Offset()]...)
		}
	}
	return w.name, f.Err()
}

// labels1 reads the labels of a series: of too many, one more than there may be.
func (w *request) labels1(block []byte) ([]samples.Label, error) {
	w.labels = w.labels[:0]
	f := protowire.Of(block)
	for f.Next() {
		l, err := label1(f.Bytes)
		if err != nil {
			return nil, fmt.Errorf("label: %w", err)
		}
		if len(w.labels) <= samples.MaxLabels {
			w.labels = append(w.labels, l)
		}
	}
	return w.labels, f.Err()
}

func label1(message []byte) (l samples.Label, err error) {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Bytes):
			l.Name = f.Bytes
		case f.Is(2, protowire.Bytes):
			l.Value = f.Bytes
		}
	}
	return l, f.Err()
}

func (w *request) metadata1(message []byte) error {
	var metric, help, unit []byte
	kind := metricType(0)
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Varint):
			kind = metricType(f.Value)
		case f.Is(2, protowire.Bytes):
			metric = f.Bytes
		case f.Is(4, protowire.Bytes):
			help = f.Bytes
		case f.Is(5, protowire.Bytes):
			unit = f.Bytes
		}
	}
	if len(metric) > 0 {
		w.described(samples.NewMetadata(string(metric), kind, unit, help))
	}
	return f.Err()
}

// samples reads the samples of a series, of either version. A sample that cannot be is the series' fault; the others count.
func (w *request) samples(into *engine.Samples, message []byte) (fault error) {
	sampleField, histogramField := 2, 4
	if w.version == 2 {
		histogramField = 3
	}
	f := protowire.Of(message)
	for f.Next() {
		if f.Kind != protowire.Bytes {
			continue
		}
		var err error
		switch f.Number {
		case sampleField:
			err = w.sample(into, f.Bytes)
		case histogramField:
			err = w.histogram(into, f.Bytes)
		}
		if err != nil && fault == nil {
			fault = err
		}
	}
	return fault
}

// sample reads a float.
func (w *request) sample(into *engine.Samples, message []byte) error {
	var value float64
	var at, start int64
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Fixed64):
			value = f.Double()
		case f.Is(2, protowire.Varint):
			at = f.Int()
		case f.Is(3, protowire.Varint):
			start = f.Int()
		}
	}
	if f.Err() != nil {
		return malformed(f.Err())
	}
	if err := checkTime(at); err != nil {
		return err
	}
	into.Float(at, value)
	if w.floats++; start != 0 && w.version == 2 && checkTime(start) == nil {
		into.Started(start)
	}
	return nil
}

func malformed(err error) error {
	return status.New(status.InvalidArguments, "Failed to decode prometheus remote request: %v", err)
}
