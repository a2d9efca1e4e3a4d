package remotewrite

import (
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/samples"
)

// Exemplars that cannot be kept are dropped: they never fail a request.
//
//	1.0: Exemplar{1: labels*{1: name, 2: value}, 2: value double, 3: time ms}
//	2.0: Exemplar{1: labels_refs packed, 2: value double, 3: time ms}

// exemplars gathers the exemplars of a series.
func (w *request) exemplars(series []samples.Label, message []byte, field int) {
	f := protowire.Of(message)
	for f.Next() && len(w.exemplarList) < w.h.tables.MaxExemplars() {
		if !f.Is(field, protowire.Bytes) {
			continue
		}
		labels, value, at, ok := w.exemplar(f.Bytes)
		if !ok || checkTime(at) != nil {
			continue
		}
		if x, ok := w.find.Exemplar(series, labels, value, at); ok {
			w.exemplarList = append(w.exemplarList, x)
		}
	}
}

// exemplar reads an exemplar; false: it is malformed.
func (w *request) exemplar(message []byte) (labels []samples.Label, value float64, at int64, ok bool) {
	var refs []uint64
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Number == 1 && w.version == 2:
			var err error
			if refs, err = f.AppendUints(refs, 2*samples.MaxLabels); err != nil {
				return nil, 0, 0, false
			}
		case f.Is(1, protowire.Bytes):
			l, err := label1(f.Bytes)
			if err != nil {
				return nil, 0, 0, false
			}
			if len(labels) == samples.MaxLabels {
				return nil, 0, 0, false
			}
			labels = append(labels, l)
		case f.Is(2, protowire.Fixed64):
			value = f.Double()
		case f.Is(3, protowire.Varint):
			at = f.Int()
		}
	}
	for i := 0; i+1 < len(refs); i += 2 {
		if max(refs[i], refs[i+1]) >= uint64(len(w.symbols.texts)) {
			return nil, 0, 0, false
		}
		labels = append(labels, samples.Label{Name: w.symbols.texts[refs[i]], Value: w.symbols.texts[refs[i+1]]})
	}
	return labels, value, at, f.Err() == nil && len(refs)%2 == 0
}

// keepExemplars keeps the exemplars of a request whose samples are stored.
func (w *request) keepExemplars(c *web.Ctx) {
	var err error
	if w.exemplarsKept, err = w.h.tables.KeepExemplars(c.Context, w.exemplarList); err != nil {
		c.Log.Warn("exemplars are not kept", "db", w.db, "error", err)
	}
}
