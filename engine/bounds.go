package engine

import (
	"bytes"
	"fmt"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sst"
)

// Every row in the log must fit into a part, or flushes would fail for ever. So each bound of a part is checked before
// a record is logged. It is checked again at replay, because older programs did not check all bounds.

// tagFrame is the size of a tag in a series key without its value. Zero bytes in the value count twice.
const tagFrame = 6

// checkBounds refuses a record with a row that no part takes, or a value of more than so many bytes.
func (r *record) checkBounds(longestValue int) error {
	if r.withinBounds(longestValue) {
		return nil
	}
	for i := range r.batch.N {
		if err := r.misfit(i, longestValue); err != nil {
			return status.Wrap(err, status.InvalidArguments, "row %d of %d: %v", i+1, r.batch.N, err)
		}
	}
	return nil
}

// leaveOut removes from the batch the rows that no part takes. The error says how many they are, and why the first is
// one of them. Options.MaxValue does not count: it was larger when the rows were acknowledged.
func (r *record) leaveOut() error {
	if r.withinBounds(sst.MaxValue) {
		return nil
	}
	var why error
	rows := make([]uint32, 0, r.batch.N)
	for i := range r.batch.N {
		if err := r.misfit(i, sst.MaxValue); err == nil {
			rows = append(rows, uint32(i))
		} else if why == nil {
			why = err
		}
	}
	if why == nil {
		return nil
	}
	err := fmt.Errorf("%d of %d rows cannot be stored: %w", r.batch.N-len(rows), r.batch.N, why)
	for i, c := range r.batch.Cols {
		r.batch.Cols[i] = &vector.Vector{Type: c.Type}
		r.batch.Cols[i].Gather(c, rows)
	}
	r.batch.N = len(rows)
	left := 0
	for i := range r.ends {
		for left < len(rows) && int(rows[left]) < r.ends[i] {
			left++
		}
		r.ends[i] = left
	}
	return err
}

// withinBounds looks at columns as wholes: true when no row can be beyond a bound.
func (r *record) withinBounds(longestValue int) bool {
	key := len(schema.KeyPrefix(r.table))
	for i, v := range r.batch.Cols {
		size := 8
		if v.Type.Kind() == vector.Bytes {
			size = longest(v)
		}
		switch r.roles[i] {
		case schema.Tag:
			key += tagFrame + 2*size
		case schema.Timestamp:
			if hasNull(v, r.batch.N) {
				return false
			}
		default:
			if size > longestValue {
				return false
			}
		}
	}
	return key <= sst.MaxKeySize
}

// longest is a length that no value of a vector of strings exceeds.
func longest(v *vector.Vector) (size int) {
	if v.Form == vector.Dict {
		v = v.Values
	}
	for _, w := range v.Views {
		size = max(size, int(w.Len))
	}
	return size
}

// misfit says why a row is refused; nil: it is not. A tag that has the initial value of its column is not named in the
// key; one that is NULL counts as an empty one: it is named where the column has an initial value.
func (r *record) misfit(row, longestValue int) error {
	key := len(schema.KeyPrefix(r.table))
	var scratch []byte
	for i, v := range r.batch.Cols {
		var value []byte
		switch null := v.IsNull(row); {
		case null && r.roles[i] == schema.Timestamp:
			return fmt.Errorf("column %s: the time index has no value", r.fields[i].Name)
		case null:
		case v.Type.Kind() == vector.Bytes:
			value = v.Bytes(row)
		default:
			scratch = schema.AppendTag(scratch[:0], v, row)
			value = scratch
		}
		if r.roles[i] != schema.Tag {
			if len(value) > longestValue {
				return fmt.Errorf("column %s: the value has %d bytes, the limit is %d", r.fields[i].Name, len(value),
					longestValue)
			}
			continue
		}
		if initial := schema.InitialTag(r.initials[i]); initial != nil && !v.IsNull(row) &&
			bytes.Equal(value, initial) {
			continue
		}
		if key += tagFrame + len(value) + bytes.Count(value, []byte{0}); key > sst.MaxKeySize {
			return fmt.Errorf(
				"the primary key up to column %s takes %d bytes (zero bytes count twice), the limit is %d",
				r.fields[i].Name, key, sst.MaxKeySize)
		}
	}
	return nil
}
