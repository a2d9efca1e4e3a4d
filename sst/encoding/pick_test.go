package encoding

import (
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
)

// TestPick holds some rows of every shape, with NULLs and without, against those of the whole block.
func TestPick(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	var e = NewEncoder()
	var d Decoder
	picked := map[ID]int{}
	whole, some := &vector.Vector{}, &vector.Vector{}
	for _, s := range shapes {
		for round, n := range []int{1, 2, 63, 64, 65, 130, 1000, 8192} {
			for _, nulls := range []int{0, 2, 20} {
				page := e.Append(nil, s.build(n, nulls, uint64(round)), n, nil)
				if err := d.Decode(whole, page, s.t, n, nil); err != nil {
					t.Fatal(err)
				}
				rows := randomKeep(r, n).AppendRows(nil)
				ok, err := d.Pick(some, page, s.t, n, rows)
				if err != nil {
					t.Fatalf("%s, %s, %d rows: %v", s.name, ID(page[0]), n, err)
				}
				if !ok {
					continue
				}
				picked[ID(page[0])]++
				want := &vector.Vector{}
				if want.Gather(whole, rows); len(rows) == 0 {
					continue
				}
				if diff := difference(some, want, len(rows)); diff != "" {
					t.Fatalf("%s, %s, %d of %d rows, nulls %d: %s", s.name, ID(page[0]), len(rows), n, nulls, diff)
				}
			}
		}
	}
	for _, id := range []ID{Packed, Decimal, Hex, IPv4, Number} {
		if picked[id] < 20 {
			t.Errorf("%d blocks of %s were picked from", picked[id], id)
		}
	}
}

// TestPickOfDamage: whatever a page holds, there is an error, or a vector of as many rows as are wanted.
func TestPickOfDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const n = 300
	var d Decoder
	for _, name := range []string{"outliers", "trace ids", "uuids", "addresses", "number texts",
		"decimals and odd ones"} {
		s := &shapes[indexOf(name)]
		for _, nulls := range []int{0, 3} {
			sound := NewEncoder().Append(nil, s.build(n, nulls, 1), n, nil)
			for range 2000 {
				page := slices.Clone(sound)
				for range 1 + r.IntN(3) {
					page[r.IntN(min(len(page), 1+r.IntN(len(page))))] = byte(r.IntN(256))
				}
				page = page[:len(page)-r.IntN(3)]
				rows, v := randomKeep(r, n).AppendRows(nil), &vector.Vector{}
				if ok, err := d.Pick(v, page, s.t, n, rows); ok && err == nil {
					difference(v, v, len(rows)) // reads each
				}
			}
		}
	}
}
