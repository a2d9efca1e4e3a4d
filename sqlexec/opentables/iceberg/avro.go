package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// appendLong appends an int or a long of Avro.
func appendLong(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

// appendBytes appends a text or bytes of Avro.
func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(appendLong(b, int64(len(v))), v...)
}

// appendBool appends a boolean of Avro.
func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// The branches of a union of null and a type.
const (
	isNull  = 0
	isValue = 1
)

// appendNull appends the first branch of a union.
func appendNull(b []byte) []byte { return appendLong(b, isNull) }

// some appends the second branch of a union; its value is to follow.
func some(b []byte) []byte { return appendLong(b, isValue) }

// container returns a container file of Avro with count records, which are encoded in block one behind the other. The
// sync marker is a hash of the records: equal records make equal files.
func container(schema string, meta map[string]string, count int, block []byte) []byte {
	keys := []string{"avro.schema", "avro.codec"}
	values := map[string]string{"avro.schema": schema, "avro.codec": "null"}
	for k, v := range meta {
		keys, values[k] = append(keys, k), v
	}
	slices.Sort(keys)
	out := append(make([]byte, 0, len(block)+len(schema)+4096), "Obj\x01"...)
	out = appendLong(out, int64(len(keys)))
	for _, k := range keys {
		out = appendBytes(appendBytes(out, k), values[k])
	}
	out = appendLong(out, 0)
	sum := sha256.Sum256(block)
	sync := sum[:16]
	out = append(out, sync...)
	if count == 0 {
		return out
	}
	out = appendLong(appendLong(out, int64(count)), int64(len(block)))
	return append(append(out, block...), sync...)
}

// The forms of single values in bounds: little endian, as the specification has them.

// LongBound is the form of a long or of a time.
func LongBound(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

// IntBound is the form of an int or of a date.
func IntBound(v int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }

// DoubleBound is the form of a double.
func DoubleBound(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }

// FloatBound is the form of a float.
func FloatBound(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
