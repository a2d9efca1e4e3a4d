package logpush

import (
	"strconv"

	"varve/engine/jsontext"
)

// entries makes an entry for a pipeline of each line: an object with service_timestamp, loki_line, loki_label_* and
// loki_metadata_*.
type entries struct {
	out  []byte
	head []byte // the beginning of all entries of the stream: its labels
	hold func(bytes int64) error
}

func (e *entries) stream(labels []label) error {
	e.head = append(e.head[:0], '{')
	for i := range labels {
		e.head = append(appendNamed(e.head, "loki_label_", &labels[i]), ',')
	}
	return nil
}

func (e *entries) line(ns int64, line []byte, metadata []label, body int64) error {
	before := cap(e.out)
	e.out = append(append(e.out, e.head...), `"service_timestamp":`...)
	e.out = append(strconv.AppendInt(e.out, ns, 10), `,"loki_line":`...)
	e.out = jsontext.AppendString(e.out, line)
	for i := range metadata {
		if repeated(metadata, i) {
			continue
		}
		e.out = appendNamed(append(e.out, ','), "loki_metadata_", &metadata[i])
	}
	if e.out = append(e.out, "}\n"...); cap(e.out) > before {
		return e.hold(body + int64(cap(e.out)))
	}
	return nil
}

// appendNamed appends a pair as a member whose name has a prefix.
func appendNamed(dst []byte, prefix string, l *label) []byte {
	at := len(dst)
	dst = jsontext.AppendString(dst, l.name)
	dst = append(dst, prefix...) // makes room; the prefix itself goes behind the opening quote
	copy(dst[at+1+len(prefix):], dst[at+1:len(dst)-len(prefix)])
	copy(dst[at+1:], prefix)
	return jsontext.AppendString(append(dst, ':'), l.value)
}
