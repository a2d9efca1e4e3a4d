package opentables

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// sum is a number over the content of rows in any order: equal rows have equal sums. NULL adds nothing, so that a new
// column leaves the sum of older rows as it was.
type sum struct {
	Rows  int64
	Value uint64

	acc    []uint64 // of the rows of a batch
	hashes []uint64 // of the values of a dictionary
	text   []byte
}

// mix spreads the bits of a number.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xe7037ed1a0b428db)
	return hi ^ lo
}

// add adds the rows of a batch with columns of the ids.
func (s *sum) add(b *vector.Batch, ids []schema.ColumnID) {
	if cap(s.acc) < b.N {
		s.acc = make([]uint64, max(b.N, vector.Size))
	}
	acc := s.acc[:b.N]
	clear(acc)
	for c, v := range b.Cols {
		s.column(acc, v, mix(uint64(ids[c])+1))
	}
	for _, h := range acc {
		s.Value += mix(h)
	}
	s.Rows += int64(b.N)
}

// column adds the values of a column to the numbers of the rows.
func (s *sum) column(acc []uint64, v *vector.Vector, seed uint64) {
	switch {
	case v.AllNull(0, len(acc)):
	case v.Form == vector.Const:
		h := mix(s.value(v, 0) ^ seed)
		for i := range acc {
			acc[i] += h
		}
	case v.Form == vector.Dict:
		s.hashes = s.hashes[:0]
		for i := range distinct(v) {
			s.hashes = append(s.hashes, mix(s.value(v.Values, i)^seed))
		}
		for i, code := range v.Codes[:len(acc)] {
			if !v.IsNull(i) {
				acc[i] += s.hashes[code]
			}
		}
	default:
		for i := range acc {
			if !v.IsNull(i) {
				acc[i] += mix(s.value(v, i) ^ seed)
			}
		}
	}
}

// distinct is how many values a dictionary has.
func distinct(v *vector.Vector) int {
	switch v.Values.Type.Kind() {
	case vector.Int64:
		return len(v.Values.Ints)
	case vector.Uint64:
		return len(v.Values.Uints)
	case vector.Float64:
		return len(v.Values.Floats)
	case vector.Bool:
		top := uint32(0)
		for _, c := range v.Codes {
			top = max(top, c)
		}
		return int(top) + 1
	}
	return len(v.Values.Views)
}

// value is a number of the value of row i.
func (s *sum) value(v *vector.Vector, i int) uint64 {
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return 1
		}
		return 2
	case vector.Int64:
		return uint64(v.Int(i))
	case vector.Uint64:
		return v.Uint(i)
	case vector.Float64:
		return math.Float64bits(v.Float(i))
	}
	switch v.Type.ID {
	case vector.TypeInterval:
		s.text = expr.AppendText(s.text[:0], v, i)
		return xxhash.Sum64(s.text)
	case vector.TypeDecimal:
		b := v.Bytes(i)
		return binary.LittleEndian.Uint64(b) ^ mix(binary.LittleEndian.Uint64(b[8:]))
	}
	return xxhash.Sum64(v.Bytes(i))
}
