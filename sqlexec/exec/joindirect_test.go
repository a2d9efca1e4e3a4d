package exec

import (
	"math"
	"testing"

	"varve/engine/vector"
)

// TestDirectKeys: keys of a small range are found without hashes, those of a larger one are known by bits, in both
// kinds of whole numbers and at the ends of their range; NULL is no key.
func TestDirectKeys(t *testing.T) {
	const hashes, bits, rows = "hashes", "bits", "rows"
	for _, c := range []struct {
		name        string
		from, step  uint64
		ints, uints string // what finds the keys
	}{
		{"each number", 100, 1, rows, rows}, {"each fourth", 7, 4, rows, rows}, {"each fortieth", 7, 40, bits, bits},
		{"each thousandth", 7, 1000, hashes, hashes}, {"about zero", math.MaxUint64 - 2000, 1, rows, hashes},
		{"about the middle", 1<<63 - 2000, 3, hashes, rows}, {"all the same", 5, 0, rows, rows},
		{"from zero down", 0, math.MaxUint64, rows, hashes},
	} {
		for _, typ := range []vector.Type{vector.Int64Type, vector.Uint64Type} {
			const n = 5000
			v := &vector.Vector{Type: typ, Valid: vector.MakeBitmap(n)}
			firstRows := map[uint64]uint32{} // the first row + 1 of each key
			for i := range n {
				x := c.from + c.step*uint64(i)
				if v.Ints, v.Uints = append(v.Ints, int64(x)), append(v.Uints, x); i%7 == 1 {
					continue
				}
				v.Valid.Set(i)
				if firstRows[x] == 0 {
					firstRows[x] = uint32(i + 1)
				}
			}
			table, err := newJoinTable(t.Context(), []*vector.Vector{v}, n, 2, false)
			if err != nil {
				t.Fatal(err)
			}
			by, want := hashes, c.ints
			if typ == vector.Uint64Type {
				want = c.uints
			}
			if d := table.direct; d != nil && d.rows != nil {
				by = rows
			} else if d != nil {
				by = bits
			}
			if by != want {
				t.Errorf("%s of %s is found by %s, want %s", c.name, typ, by, want)
			}
			probe := &vector.Vector{Type: typ, Ints: v.Ints, Uints: v.Uints}
			for _, off := range []uint64{0, 1, math.MaxUint64, 1 << 62} { // keys beside those that are there, too
				for i := range n {
					probe.Ints[i] += int64(off)
					probe.Uints[i] += off
				}
				for _, valid := range []vector.Bitmap{nil, v.Valid} {
					probe.Valid = valid
					checkDirect(t, c.name, table, probe, n, firstRows)
				}
			}
		}
	}
}

// checkDirect looks up n rows, which have keys with the first rows of the map.
func checkDirect(t *testing.T, name string, table *joinTable, probe *vector.Vector, n int, rows map[uint64]uint32) {
	t.Helper()
	first := make([]uint32, n)
	table.lookup(newJoinHasher(1), []*vector.Vector{probe}, n, first)
	there := make([]uint32, n)
	if table.direct != nil {
		table.direct.lookup(probe, n, there)
	}
	for i := range n {
		want := rows[probe.Uints[i]]
		if probe.IsNull(i) {
			want = 0
		}
		if first[i] != want {
			t.Fatalf("%s of %s: row %d has partner %d, want %d", name, probe.Type, i, first[i], want)
		}
		if table.direct != nil && (there[i] != 0) != (want != 0) {
			t.Fatalf("%s of %s: row %d is there: %d, want %d", name, probe.Type, i, there[i], want)
		}
	}
}
