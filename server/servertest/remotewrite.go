package servertest

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"

	"varve/server/protowire"
)

// Exemplar1 is an exemplar of version 1.0: labels and values in turn.
func Exemplar1(value float64, at uint64, labels ...string) func(m []byte) []byte {
	return func(m []byte) []byte {
		return protowire.AppendMessage(m, 3, func(x []byte) []byte {
			for i := 0; i+1 < len(labels); i += 2 {
				x = protowire.AppendMessage(x, 1, func(l []byte) []byte {
					return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
				})
			}
			return protowire.AppendVarint(protowire.AppendDouble(x, 2, value), 3, at)
		})
	}
}

// Series1 is a series of version 1.0 with something behind its labels.
func Series1(labels []string, behind ...func(m []byte) []byte) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		for i := 0; i+1 < len(labels); i += 2 {
			m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		for _, f := range behind {
			m = f(m)
		}
		return m
	})
}

// WritePath takes remote write.
const WritePath = "/v1/metricsapi/write"

// Message1 is a series of version 1.0: labels and values in turn, then samples at 1000, 2000, ...
func Message1(labels []string, values ...float64) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		for i := 0; i+1 < len(labels); i += 2 {
			m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		for i, v := range values {
			m = protowire.AppendMessage(m, 2, func(s []byte) []byte {
				return protowire.AppendVarint(protowire.AppendDouble(s, 1, v), 2, uint64(1000*(i+1)))
			})
		}
		return m
	})
}

// Snappy joins parts of a message and compresses them, as bodies of remote write are.
func Snappy(parts ...[]byte) string {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return string(s2.EncodeSnappy(nil, all))
}

// Up are the labels of a series, name and value in turn.
var Up = []string{"__name__", "up", "job", "x"}

// Request2 is a request of version 2.0: symbols, then what each series is made of.
func Request2(symbols []string, series ...func(m []byte) []byte) string {
	var all []byte
	for _, s := range symbols {
		all = protowire.AppendBytes(all, 4, s)
	}
	for _, f := range series {
		all = protowire.AppendMessage(all, 5, f)
	}
	return Snappy(all)
}

// Refs appends the labels of a series of version 2.0: positions of symbols.
func Refs(m []byte, list ...uint64) []byte {
	var packed []byte
	for _, r := range list {
		packed = binary.AppendUvarint(packed, r)
	}
	return protowire.AppendBytes(m, 1, packed)
}

// Sample2 appends a sample of version 2.0; times in ms, start 0: none.
func Sample2(m []byte, v float64, at, start uint64) []byte {
	return protowire.AppendMessage(m, 2, func(s []byte) []byte {
		s = protowire.AppendVarint(protowire.AppendDouble(s, 1, v), 2, at)
		if start > 0 {
			s = protowire.AppendVarint(s, 3, start)
		}
		return s
	})
}
