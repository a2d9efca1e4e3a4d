package servertest

import (
	"encoding/binary"
	"math"

	"varve/server/protowire"
)

// HistogramMessage is a histogram on the wire: fields are appended by the given functions.
func HistogramMessage(number int, fields ...func(m []byte) []byte) []byte {
	return protowire.AppendMessage(nil, number, func(m []byte) []byte {
		for _, f := range fields {
			m = f(m)
		}
		return m
	})
}

// ZigZag is the form of a signed number on the wire.
func ZigZag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

// Varint appends a field that is an unsigned number.
func Varint(field int, x uint64) func([]byte) []byte {
	return func(m []byte) []byte { return protowire.AppendVarint(m, field, x) }
}

// Double appends a field that is a 64-bit float.
func Double(field int, x float64) func([]byte) []byte {
	return func(m []byte) []byte { return protowire.AppendDouble(m, field, x) }
}

// Spans appends spans of buckets: offset and length in turn.
func Spans(field int, pairs ...int64) func([]byte) []byte {
	return func(m []byte) []byte {
		for i := 0; i < len(pairs); i += 2 {
			m = protowire.AppendMessage(m, field, func(s []byte) []byte {
				return protowire.AppendVarint(protowire.AppendVarint(s, 1, ZigZag(pairs[i])), 2, uint64(pairs[i+1]))
			})
		}
		return m
	}
}

// Deltas appends counts of buckets, each as its difference to the one before.
func Deltas(field int, list ...int64) func([]byte) []byte {
	return func(m []byte) []byte {
		var packed []byte
		for _, x := range list {
			packed = binary.AppendUvarint(packed, ZigZag(x))
		}
		return protowire.AppendBytes(m, field, packed)
	}
}

// Doubles appends counts of buckets as floats.
func Doubles(field int, list ...float64) func([]byte) []byte {
	return func(m []byte) []byte {
		var packed []byte
		for _, x := range list {
			packed = binary.LittleEndian.AppendUint64(packed, math.Float64bits(x))
		}
		return protowire.AppendBytes(m, field, packed)
	}
}
