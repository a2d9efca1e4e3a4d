package remotewrite

import (
	"fmt"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/status"
	"varve/server/protowire"
	"varve/server/protowire/histograms"
	"varve/server/write/rows/samples"
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
		case f.Number == 1 || f.Number == 3:
			return f.WrongKind()
		}
	}
	return f.Err()
}

// series1 finds a series by the bytes of its labels.
func (w *request) series1(message []byte) error {
	f := protowire.Of(message)
	// labels is where the labels end; whole: they all come first
	labels, whole, exemplars := 0, true, false
	for at := 0; f.Next(); at = f.Offset() {
		switch {
		case f.Is(1, protowire.Bytes):
			if whole = whole && at == labels; whole {
				labels = f.Offset()
			}
		case f.Number == 1:
			return f.WrongKind()
		default:
			w.given++
			exemplars = exemplars || f.Is(3, protowire.Bytes)
		}
	}
	if f.Err() != nil {
		return f.Err()
	}
	name, rest := message[:labels], message[labels:]
	if !whole {
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
		if handle, err = w.add(name, labels, rest); err != nil {
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

// add makes a series that is not known yet. A series none of whose samples can be stored is refused: it would leave an
// empty table behind.
func (w *request) add(name []byte, labels []samples.Label, message []byte) (samples.Handle, error) {
	if err := w.storable(message); err != nil {
		return samples.Handle{}, err
	}
	return w.find.Add(name, labels)
}

// gather returns the fields of the labels of a series that has other fields between them.
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

// labels1 reads the labels of a series, at most one more than there may be.
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
		case f.Number <= 2:
			return l, f.WrongKind()
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
	if len(metric) > 0 && utf8.Valid(metric) { // no series can have any other name
		w.described(samples.NewMetadata(string(metric), kind, unit, help))
	}
	return f.Err()
}

// fields are the numbers of the fields of samples and of histograms.
func (w *request) fields() (samples, histograms int) {
	if w.version == 2 {
		return 2, 3
	}
	return 2, 4
}

// samples reads the samples of a series, of either version. It returns the error of the first sample that cannot be
// stored; the other samples are stored.
func (w *request) samples(into *engine.Samples, message []byte) (fault error) {
	sampleField, histogramField := w.fields()
	f := protowire.Of(message)
	for f.Next() {
		var err error
		switch {
		case f.Is(sampleField, protowire.Bytes):
			err = w.sample(into, f.Bytes)
		case f.Is(histogramField, protowire.Bytes):
			err = w.histogram(into, f.Bytes)
		case f.Number == sampleField || f.Number == histogramField:
			err = malformed(f.WrongKind())
		}
		if err != nil && fault == nil {
			fault = err
		}
	}
	return fault
}

// storable returns the error of the first sample of a series if none of its samples can be stored.
func (w *request) storable(message []byte) (fault error) {
	sampleField, histogramField := w.fields()
	f := protowire.Of(message)
	for f.Next() {
		var err error
		switch {
		case f.Is(sampleField, protowire.Bytes):
			_, _, _, err = readSample(f.Bytes)
		case f.Is(histogramField, protowire.Bytes):
			err = parse(new(histograms.Message), f.Bytes)
		default:
			continue
		}
		if err == nil {
			return nil
		}
		if fault == nil {
			fault = err
		}
	}
	return fault
}

// sample stores a float.
func (w *request) sample(into *engine.Samples, message []byte) error {
	at, start, value, err := readSample(message)
	if err != nil {
		return err
	}
	into.Float(at, value)
	if w.floats++; start != 0 && w.version == 2 && checkTime(start) == nil {
		into.Started(start)
	}
	return nil
}

// readSample reads a float and its times, ms. start is 0 if none is given.
func readSample(message []byte) (at, start int64, value float64, err error) {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Fixed64):
			value = f.Double()
		case f.Is(2, protowire.Varint):
			at = f.Int()
		case f.Is(3, protowire.Varint):
			start = f.Int()
		case f.Number <= 3:
			return 0, 0, 0, malformed(f.WrongKind())
		}
	}
	if f.Err() != nil {
		return 0, 0, 0, malformed(f.Err())
	}
	return at, start, value, checkTime(at)
}

// histogram stores a native histogram.
func (w *request) histogram(into *engine.Samples, message []byte) error {
	var h histograms.Message
	if err := parse(&h, message); err != nil {
		return err
	}
	w.name = h.AppendBinary(w.name[:0])
	if err := into.Histogram(h.At, w.name); err != nil {
		return err
	}
	if w.histograms++; h.Start != 0 && w.version == 2 && checkTime(h.Start) == nil {
		into.Started(h.Start)
	}
	return nil
}

// parse reads a histogram and checks it.
func parse(h *histograms.Message, message []byte) error {
	if err := h.Read(message); err != nil {
		return malformed(err)
	}
	if err := h.Finish(); err != nil {
		return status.Wrap(err, status.InvalidArguments, "a histogram is not valid: %v", err)
	}
	return checkTime(h.At)
}

func malformed(err error) error {
	return status.New(status.InvalidArguments, "Failed to decode prometheus remote request: %v", err)
}
