package index

import (
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// FuzzZones reads any bytes as zones of columns of all kinds: an error, or zones of which every block can be asked.
func FuzzZones(f *testing.F) {
	types := []vector.Type{vector.BoolType, vector.Int64Type, vector.Uint64Type, vector.FloatType, vector.StringType,
		vector.JSONType,
		{ID: vector.TypeDecimal, Precision: 20}}
	e := encoding.NewEncoder()
	for i, typ := range types {
		z := NewZones(typ)
		for range 5 {
			v := &vector.Vector{Type: typ}
			v.AppendNulls(0, 3)
			z.Add(v, 3)
		}
		f.Add(z.Append(nil, e), uint8(i), uint16(5))
	}
	f.Fuzz(func(t *testing.T, b []byte, kind uint8, blocks uint16) {
		n := int(blocks)
		z, _, err := ReadZones(b, types[int(kind)%len(types)], n, func(i int) int { return 1 + i%8192 })
		if err != nil {
			return
		}
		z.Extremes()
		for i := range n {
			var s filter.Stat
			z.Stat(&s, i, 1+i%8192)
		}
		again, _, err := ReadZones(z.Append(nil, e), types[int(kind)%len(types)], n,
			func(i int) int { return 1 + i%8192 })
		if err != nil || !again.Equal(z) {
			t.Errorf("zones that were read come back as others: %v", err)
		}
	})
}

// FuzzPostings reads any bytes as postings: an error, or postings that name only blocks there are.
func FuzzPostings(f *testing.F) {
	p := NewPostings()
	p.Add(0, []uint32{0, 1})
	p.Add(1, []uint32{1})
	p.Add(70, []uint32{0, 2})
	p.AddUnknown(71)
	b, err := p.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint16(3), uint16(72), true)
	f.Add(b, uint16(3), uint16(72), false)
	f.Fuzz(func(t *testing.T, b []byte, values, blocks uint16, partial bool) {
		p, err := ReadPostings(b, int(values), int(blocks), partial)
		if err != nil {
			return
		}
		passing := vector.MakeBitmap(int(values))
		passing.Fill(int(values))
		left := vector.MakeBitmap(int(blocks))
		left.Fill(int(blocks))
		p.Blocks(passing, left)
		for i := range p.Len() {
			if p.Count(i) > int(blocks) {
				t.Errorf("value %d lies in %d of %d blocks", i, p.Count(i), blocks)
			}
		}
	})
}
