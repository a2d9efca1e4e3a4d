package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"

	"varve/engine/vector"
)

// A series key is byte-comparable:
//
//	table id 4B big endian | (column id 4B big endian | value, 0x00 as 0x00 0xFF | 0x00 0x01)*
//
// Not all tags are named, and those in the order of the table's tags, so a tag added later changes no old key: one that
// is not named has the column's initial value, which is NULL of most. A NULL of a tag with another initial value is
// named: 0x00 0x02 behind the column id. The table id leads: logical tables can share a region, and one is then a key
// range.

// nullMark stands for NULL after a column id; no value begins with it.
const nullMark = "\x00\x02"

// AppendSeriesKey appends the key of the series with the given tag values; tags[i] nil is left out. The caller
// gives the values as AppendTag does, so that bytes compare as the values do.
func AppendSeriesKey(dst []byte, t TableID, cols []ColumnID, tags [][]byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(t))
	for i, v := range tags {
		if v != nil {
			dst = AppendKeyTag(dst, cols[i], v)
		}
	}
	return dst
}

// AppendKeyTag appends a tag with a value to a key.
func AppendKeyTag(dst []byte, id ColumnID, v []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(id))
	for _, c := range v {
		dst = append(dst, c)
		if c == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0x00, 0x01)
}

// AppendKeyNull appends a tag that is NULL, of a column with an initial value, to a key.
func AppendKeyNull(dst []byte, id ColumnID) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(id)), nullMark...)
}

// InitialTag is the initial value of a tag in the form that series keys use: what it has where a key does not name it.
// nil: NULL.
func InitialTag(initial *vector.Vector) []byte {
	if initial == nil || initial.IsNull(0) {
		return nil
	}
	return AppendTag([]byte{}, initial, 0)
}

// KeyPrefix is the beginning that the keys of all series of a table have, and no other keys.
func KeyPrefix(t TableID) []byte { return binary.BigEndian.AppendUint32(nil, uint32(t)) }

// KeyTable is the table that a series key names; the key has at least the length of KeyPrefix.
func KeyTable(key []byte) TableID { return TableID(binary.BigEndian.Uint32(key)) }

// KeyHash is a hash of the labels in a series key. It is the same for all tables with the column ids of one physical
// table.
func KeyHash(key []byte) uint64 { return xxhash.Sum64(key[4:]) }

// ParseSeriesKey calls tag for every tag that the key names; val nil: NULL. It is only valid during the call.
func ParseSeriesKey(key []byte, tag func(c ColumnID, val []byte)) (TableID, error) {
	var scratch []byte
	id, tags, err := CutTable(key)
	for len(tags) > 0 {
		var c ColumnID
		var val []byte
		if c, val, tags, err = CutTag(tags, &scratch); err != nil {
			return 0, err
		}
		tag(c, val)
	}
	return id, err
}

// TagOf returns the value of one tag in a key, nil for NULL; named is false if the key does not contain the tag. val
// points into the key or, if it has zero bytes, into scratch.
func TagOf(key []byte, id ColumnID, scratch []byte) (val []byte, named bool, err error) {
	_, tags, err := CutTable(key)
	for len(tags) > 0 {
		var c ColumnID
		var escaped bool
		switch c, val, escaped, tags, err = cutEncodedTag(tags); {
		case err != nil:
			return nil, false, err
		case c != id:
		case escaped:
			return appendPlain(scratch[:0], val), true, nil
		default:
			return val, true, nil
		}
	}
	return nil, false, err
}

// CutTable returns the table that a key names and the tags behind it, for CutTag.
func CutTable(key []byte) (id TableID, tags []byte, err error) {
	if len(key) < 4 {
		return 0, nil, fmt.Errorf("series key of %d bytes is too short", len(key))
	}
	return KeyTable(key), key[4:], nil
}

// CutTag returns the first of several encoded tags and the rest; a nil val is NULL. val points into tags or, if it has
// zero bytes, into scratch.
func CutTag(tags []byte, scratch *[]byte) (id ColumnID, val, rest []byte, err error) {
	id, val, escaped, rest, err := cutEncodedTag(tags)
	if escaped {
		*scratch = appendPlain((*scratch)[:0], val)
		val = *scratch
	}
	return id, val, rest, err
}

// cutEncodedTag is CutTag without decoding the value; escaped reports that the value has zero bytes.
func cutEncodedTag(tags []byte) (id ColumnID, val []byte, escaped bool, rest []byte, err error) {
	if len(tags) < 6 {
		return 0, nil, false, nil, fmt.Errorf("series key ends inside a tag")
	}
	id = ColumnID(binary.BigEndian.Uint32(tags))
	tags = tags[4:]
	if string(tags[:2]) == nullMark {
		return id, nil, false, tags[2:], nil
	}
	for end := 0; ; {
		k := bytes.IndexByte(tags[end:], 0)
		if k < 0 || end+k+1 >= len(tags) {
			return 0, nil, false, nil, fmt.Errorf("series key ends inside the value of column %d", id)
		}
		if end += k; tags[end+1] == 0x01 {
			return id, tags[:end:end], escaped, tags[end+2:], nil
		}
		escaped = true
		end += 2
	}
}

// appendPlain appends a value whose zero bytes are escaped.
func appendPlain(dst, val []byte) []byte {
	for {
		k := bytes.IndexByte(val, 0)
		if k < 0 {
			return append(dst, val...)
		}
		dst = append(append(dst, val[:k]...), 0)
		val = val[k+2:]
	}
}

// AppendKeyInt appends x so that bytes compare as the numbers do.
func AppendKeyInt(dst []byte, x int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(x)^1<<63)
}

// keyInt is the inverse of AppendKeyInt; it needs 8 bytes.
func keyInt(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }

// AppendTag appends row i of a tag column in the form that series keys use: bytes compare as the values do.
func AppendTag(dst []byte, v *vector.Vector, i int) []byte {
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case vector.Int64:
		return AppendKeyInt(dst, v.Int(i))
	case vector.Uint64:
		return binary.BigEndian.AppendUint64(dst, v.Uint(i))
	case vector.Float64:
		u := math.Float64bits(v.Float(i))
		if u>>63 != 0 {
			u = ^u
		} else {
			u |= 1 << 63
		}
		return binary.BigEndian.AppendUint64(dst, u)
	}
	return append(dst, v.Bytes(i)...)
}

// TagVector is the inverse of AppendTag: a Flat vector of type t with the given values, which are copied.
func TagVector(t vector.Type, tags [][]byte) (*vector.Vector, error) {
	v := &vector.Vector{Type: t}
	if k := t.Kind(); k == vector.Bool {
		v.Bools = vector.MakeBitmap(len(tags))
	}
	for i, b := range tags {
		width := 8
		switch t.Kind() {
		case vector.Bytes:
			v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(b))})
			v.Heap = append(v.Heap, b...)
			continue
		case vector.Bool:
			width = 1
		}
		if len(b) != width {
			return nil, fmt.Errorf("tag value of %d bytes is no %s", len(b), t)
		}
		switch t.Kind() {
		case vector.Bool:
			if b[0] != 0 {
				v.Bools.Set(i)
			}
		case vector.Int64:
			v.Ints = append(v.Ints, keyInt(b))
		case vector.Uint64:
			v.Uints = append(v.Uints, binary.BigEndian.Uint64(b))
		case vector.Float64:
			u := binary.BigEndian.Uint64(b)
			if u>>63 != 0 {
				u &^= 1 << 63
			} else {
				u = ^u
			}
			v.Floats = append(v.Floats, math.Float64frombits(u))
		}
	}
	return v, nil
}
