package schema

import (
	"encoding/binary"
	"fmt"
)

// A series key is byte-comparable:
//
//	table id 4B big endian | (column id 4B big endian | value, 0x00 as 0x00 0xFF | 0x00 0x01)*
//
// Only the tags present are named, in the order of the table's tags, so a tag added later changes no old key. The
// table id leads: logical tables can share a region, and one is then a key range.

// AppendSeriesKey appends the key of the series with the given tag values; tags[i] nil is a NULL tag and left out.
// Values of tags that are not strings are given in a byte-comparable form by the caller (KeyInt, KeyFloat).
func AppendSeriesKey(dst []byte, t TableID, cols []ColumnID, tags [][]byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(t))
	for i, v := range tags {
		if v == nil {
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(cols[i]))
		for _, c := range v {
			dst = append(dst, c)
			if c == 0 {
				dst = append(dst, 0xFF)
			}
		}
		dst = append(dst, 0x00, 0x01)
	}
	return dst
}

// ParseSeriesKey calls tag for every tag of the key. val is only valid during the call.
func ParseSeriesKey(key []byte, tag func(c ColumnID, val []byte)) (TableID, error) {
	if len(key) < 4 {
		return 0, fmt.Errorf("series key of %d bytes is too short", len(key))
	}
	id := TableID(binary.BigEndian.Uint32(key))
	key = key[4:]
	var val []byte
	for len(key) > 0 {
		if len(key) < 6 {
			return 0, fmt.Errorf("series key ends inside a tag")
		}
		c := ColumnID(binary.BigEndian.Uint32(key))
		key = key[4:]
		val = val[:0]
		closed := false
		for i := 0; i < len(key); i++ {
			if key[i] != 0 {
				val = append(val, key[i])
				continue
			}
			if i+1 >= len(key) {
				break
			}
			i++
			if key[i] == 0x01 {
				key, closed = key[i+1:], true
				break
			}
			val = append(val, 0)
		}
		if !closed {
			return 0, fmt.Errorf("series key ends inside the value of column %d", c)
		}
		tag(c, val)
	}
	return id, nil
}

// AppendKeyInt appends x so that bytes compare as the numbers do.
func AppendKeyInt(dst []byte, x int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(x)^1<<63)
}

// KeyInt is the inverse of AppendKeyInt; it needs 8 bytes.
func KeyInt(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }
