package encoding

import (
	"errors"
	"slices"
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
)

// TestSchemes reads blocks by every ID: one without a row in the table is an error as one that lies is, in every type.
func TestSchemes(t *testing.T) {
	names := map[string]ID{}
	var d Decoder
	for b := range 256 {
		id := ID(b)
		if other, ok := names[id.String()]; ok {
			t.Errorf("%d and %d are both %s", id, other, id)
		}
		names[id.String()] = id
		known := b >= int(Null) && b <= int(Grouped)
		if got := id.scheme().name != ""; got != known {
			t.Errorf("%s: in the table: %t", id, got)
		}
		for _, typ := range []vector.Type{vector.BoolType, vector.Int64Type, vector.Uint64Type, vector.FloatType,
			vector.StringType} {
			err := d.Decode(&vector.Vector{}, []byte{byte(b), 0}, typ, 100, nil)
			if id == Null && err != nil || id != Null && !errors.Is(err, ErrMalformed) {
				t.Errorf("%s of %s: %v", id, typ, err)
			}
		}
	}
}

// TestKeepEqual looks for strings in blocks of every shape as they lie: what is answered is what comparing them says.
func TestKeepEqual(t *testing.T) {
	var d Decoder
	answered := map[ID]bool{}
	for _, s := range shapes {
		if s.t.Kind() != vector.Bytes {
			continue
		}
		for _, n := range rowCounts {
			v := s.build(n, 0, 3)
			page := NewEncoder().Append(nil, v, n, nil)
			id := ID(page[0])
			for _, needle := range []string{v.Str(0), v.Str(n - 1), v.Str(n/2) + "0", "", "1.2.3.4", "-7",
				"2024-01-01T00:00:00.000Z", "00ff"} {
				c := filter.Comparison{Equal: []byte(needle)}
				keep := vector.MakeBitmap(n)
				keep.Fill(n)
				keep.Clear(n / 3)
				before := slices.Clone(keep)
				ok, err := d.compare(page, n, &c, keep)
				if err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if ok && !id.scheme().compares(&c) {
					t.Fatalf("%s compares what it says it does not", id)
				}
				answered[id] = answered[id] || ok
				for i := range n {
					if want := before.Get(i) && (!ok || v.Str(i) == needle); keep.Get(i) != want {
						t.Fatalf("%s: row %d of %d with %q: %t", s.name, i, n, needle, keep.Get(i))
					}
				}
			}
		}
	}
	for b := range schemes {
		if schemes[b].equal != nil && !answered[ID(b)] {
			t.Errorf("no shape has %s answer", ID(b))
		}
	}
}
