package remotewrite

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"varve/engine/status"
	"varve/server/protowire"
	"varve/server/write/rows/samples"
)

// Version 2.0:
//
//	Request{4: symbols*, 5: timeseries*}
//	TimeSeries{1: labels_refs packed, 2: samples*, 3: histograms*, 4: exemplars*, 5: metadata{1: type, 3: help_ref, 4: unit_ref}}
//
// References are positions in symbols, the first of which is the empty text. They change from request to request, so a
// series is known by the hashes of its texts, each of which is made once for a request.

// symbols are the texts of a request.
type symbols struct {
	texts  [][]byte
	hashes []uint64 // two for each text
}

// symbolSeeds hash symbols, for the life of the process.
var symbolSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// symbolBytes is the memory of a symbol besides its text. After each heldSymbols symbols, memory for twice as many as
// there are is counted.
const (
	symbolBytes = 40
	heldSymbols = 1 << 14
)

func (w *request) readSymbols(body []byte) error {
	s := &w.symbols
	f := protowire.Of(body)
	for f.Next() {
		switch {
		case f.Is(4, protowire.Bytes):
			if len(s.texts) == 2*maxNewLabels {
				return fmt.Errorf("there are more than %d symbols: send fewer at a time", 2*maxNewLabels)
			}
			if n := len(s.texts); n > 0 && n%heldSymbols == 0 {
				if err := w.hold(int64(len(body) + 2*n*symbolBytes)); err != nil {
					return err
				}
			}
			s.texts = append(s.texts, f.Bytes)
			s.hashes = append(s.hashes, maphash.Bytes(symbolSeeds[0], f.Bytes), maphash.Bytes(symbolSeeds[1], f.Bytes))
		case f.Number <= 3:
			return fmt.Errorf("field %d is of version 1.0, but the header Content-Type names 2.0", f.Number)
		case f.Number <= 5 && f.Kind != protowire.Bytes:
			return f.WrongKind()
		}
	}
	if f.Err() == nil && (len(s.texts) == 0 || len(s.texts[0]) > 0) && len(body) > 0 {
		return fmt.Errorf("the first symbol is not the empty text")
	}
	return f.Err()
}

func (w *request) search2(body []byte) error {
	f := protowire.Of(body)
	for f.Next() {
		if !f.Is(5, protowire.Bytes) {
			continue
		}
		if err := w.series2(f.Bytes); err != nil {
			return fmt.Errorf("time series: %w", err)
		}
		if err := w.bounded(); err != nil {
			return err
		}
	}
	return f.Err()
}

// series2 finds a series by the references of its labels.
func (w *request) series2(message []byte) error {
	var metadata []byte
	floats, histograms, exemplars, rest := 0, 0, 0, 0
	w.uints = w.uints[:0]
	f := protowire.Of(message)
	for f.Next() {
		var err error
		switch {
		case f.Number == 1:
			if w.uints, err = f.AppendUints(w.uints, 2*samples.MaxLabels+1); err != nil {
				return err
			}
			if floats+histograms+exemplars == 0 {
				rest = f.Offset()
			}
		case f.Is(2, protowire.Bytes):
			floats++
		case f.Is(3, protowire.Bytes):
			histograms++
		case f.Is(4, protowire.Bytes):
			exemplars++
		case f.Is(5, protowire.Bytes):
			metadata = f.Bytes
		}
	}
	if f.Err() != nil {
		return f.Err()
	}
	w.given += floats + histograms + exemplars
	var handle samples.Handle
	var err error
	switch {
	case len(w.uints)%2 != 0:
		err = status.New(status.InvalidArguments,
			"a series has %d references of labels, names and values come in pairs", len(w.uints))
	case floats > 0 && histograms > 0:
		err = status.New(status.InvalidArguments, "a series has both samples and histograms: %s", w.shown2())
	case floats+histograms == 0:
		err = status.New(status.InvalidArguments, "a series has neither samples nor histograms: %s", w.shown2())
	default:
		handle, err = w.find2(w.uints, message[rest:])
	}
	if err != nil {
		w.refuse(err)
		return nil
	}
	w.series = append(w.series, pending{handle, message[rest:]})
	if exemplars > 0 {
		w.exemplars(w.labels2(), message, 4)
	}
	return w.metadata2(metadata)
}

// find2 finds the series with some references. rest is the part of its message with the samples.
func (w *request) find2(refs []uint64, rest []byte) (samples.Handle, error) {
	w.name = w.name[:0]
	for _, r := range refs {
		if r >= uint64(len(w.symbols.texts)) {
			return samples.Handle{}, status.New(status.InvalidArguments, "a series refers to symbol %d, there are %d",
				r, len(w.symbols.texts))
		}
		w.name = binary.LittleEndian.AppendUint64(w.name, w.symbols.hashes[2*r])
		w.name = binary.LittleEndian.AppendUint64(w.name, w.symbols.hashes[2*r+1])
	}
	if handle, ok := w.find.Find(w.name); ok {
		return handle, nil
	}
	return w.add(w.name, w.labels2(), rest)
}

// labels2 are the labels of the series at hand, as far as its references name symbols.
func (w *request) labels2() []samples.Label {
	w.labels = w.labels[:0]
	for i := 0; i+1 < len(w.uints); i += 2 {
		if max(w.uints[i], w.uints[i+1]) >= uint64(len(w.symbols.texts)) {
			continue
		}
		w.labels = append(w.labels,
			samples.Label{Name: w.symbols.texts[w.uints[i]], Value: w.symbols.texts[w.uints[i+1]]})
	}
	return w.labels
}

// shown2 is the series at hand in an error.
func (w *request) shown2() string { return samples.Show(w.labels2()) }

// metadata2 notes the metadata of its metric that a series has.
func (w *request) metadata2(message []byte) error {
	if message == nil {
		return nil
	}
	var metric, help, unit []byte
	kind := metricType(0)
	text := func(ref uint64) []byte {
		if ref >= uint64(len(w.symbols.texts)) {
			return nil
		}
		return w.symbols.texts[ref]
	}
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Varint):
			kind = metricType(f.Value)
		case f.Is(3, protowire.Varint):
			help = text(f.Value)
		case f.Is(4, protowire.Varint):
			unit = text(f.Value)
		}
	}
	for i := 0; i+1 < len(w.uints); i += 2 {
		if string(text(w.uints[i])) == "__name__" {
			metric = text(w.uints[i+1])
		}
	}
	if len(metric) > 0 && (kind != metricType(0) || len(help)+len(unit) > 0) {
		one := samples.NewMetadata(string(metric), kind, unit, help)
		if k := len(w.metadata); k == 0 || w.metadata[k-1] != one { // series of a metric follow each other
			w.described(one)
		}
	}
	return f.Err()
}
