package intern

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"varve/engine/vector"
)

// TestHasher: equal rows have equal hashes in each form, others different ones, and each few bits spread the rows.
func TestHasher(t *testing.T) {
	const n = 4096
	texts := &vector.Vector{Type: vector.StringType}
	floats := &vector.Vector{Type: vector.FloatType}
	canons := &vector.Vector{Type: vector.Interval}
	numbers := &vector.Vector{Type: vector.Int64Type}
	for i := range n {
		if i%64 == 63 {
			texts.AppendNulls(i, 1)
		} else {
			texts.Append(i, vector.ConstString(fmt.Sprintf("%0*d", i%40, i/2)), 0, 1)
		}
		floats.Append(i, vector.ConstFloat(vector.FloatType, []float64{0, math.Copysign(0, -1), 1}[i%3]), 0, 1)
		canons.Append(i, vector.ConstBytes(vector.Interval, binary.LittleEndian.AppendUint64(nil, uint64(i))), 0, 1)
		numbers.Append(i, vector.ConstInt(vector.Int64Type, int64(i)), 0, 1)
	}
	dict := &vector.Vector{Type: texts.Type, Form: vector.Dict, Values: texts, Valid: texts.Valid}
	for i := range n {
		dict.Codes = append(dict.Codes, uint32(i))
	}
	half := func(b []byte) uint64 { return binary.LittleEndian.Uint64(b) / 2 }
	h, other := NewHasher(nil, nil, half, nil), NewHasher(nil, nil, half, nil)
	rows := append([]uint64(nil), h.Rows([]*vector.Vector{texts, floats, canons, numbers}, n)...)
	for i := range n {
		if i == 16 { // a dictionary that is much larger than the batch, then one that is known
			other.Rows([]*vector.Vector{dict, floats, canons, numbers}, n)
		}
		one := func(v *vector.Vector) *vector.Vector { return v.Slice(i, i+1) }
		keys := []*vector.Vector{one(dict), one(floats), one(canons), one(numbers)}
		if i%2 == 1 {
			keys[3] = vector.ConstInt(vector.Int64Type, int64(i))
		}
		if got := other.Rows(keys, 1)[0]; got != rows[i] {
			t.Fatalf("row %d has hash %x by itself, %x among others", i, got, rows[i])
		}
	}
	same := NewHasher(nil, half)
	pair := same.Rows([]*vector.Vector{floats, canons}, n)
	if pair[0] != pair[1] || pair[0] == pair[2] {
		t.Errorf("equal keys 0, -0 and intervals: %x %x, another %x", pair[0], pair[1], pair[2])
	}
	seen := map[uint64]bool{}
	for _, x := range rows {
		seen[x] = true
	}
	if len(seen) != n {
		t.Errorf("%d hashes of %d rows", len(seen), n)
	}
	for shift := 0; shift < 60; shift += 6 {
		var counts [64]int
		for _, x := range rows {
			counts[bits.RotateLeft64(x, 6+shift)&63]++
		}
		for part, count := range counts {
			if count < 16 || count > 160 {
				t.Errorf("bits %d: partition %d has %d of %d rows", shift, part, count, n)
			}
		}
	}
}
