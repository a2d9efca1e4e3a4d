package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// column makes a Flat vector of n rows; set gives row i its value or leaves it NULL.
func column(t vector.Type, n int, set func(c *vector.ColumnBuilder, i int)) *vector.Vector {
	b := vector.NewBuilder()
	c, err := b.Column("c", t)
	if err != nil {
		panic(err)
	}
	for i := range n {
		set(c, i)
		b.EndRow()
	}
	_, batch := b.Finish()
	return batch.Cols[0]
}

// TestZones adds blocks of every kind, reads the zones back and compares them with bounds found row by row.
func TestZones(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		t   vector.Type
		set func(c *vector.ColumnBuilder)
	}{
		{vector.BoolType, func(c *vector.ColumnBuilder) { c.SetBool(r.IntN(4) == 0) }},
		{vector.Int64Type, func(c *vector.ColumnBuilder) { c.SetInt(int64(r.Uint64())) }},
		{vector.Uint64Type, func(c *vector.ColumnBuilder) { c.SetUint(r.Uint64()) }},
		{vector.FloatType, func(c *vector.ColumnBuilder) {
			c.SetFloat([]float64{r.NormFloat64(), math.NaN(), math.Inf(-1), 0}[min(r.IntN(30), 3)])
		}},
		{vector.StringType, func(c *vector.ColumnBuilder) {
			c.SetString([]string{"", "short", fmt.Sprintf("a long one of more than thirty-two bytes %d", r.IntN(100)),
				fmt.Sprint(r.IntN(1000)), "\xff\xff", "short\x00"}[r.IntN(6)])
		}},
		{vector.Type{ID: vector.TypeDecimal, Precision: 20}, func(c *vector.ColumnBuilder) {
			b := make([]byte, 16)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			c.SetBytes(b)
		}},
	} {
		t.Run(c.t.String(), func(t *testing.T) {
			z := NewZones(c.t)
			var blocks []*vector.Vector
			for i := range 70 {
				v := column(c.t, 1+i%9, func(b *vector.ColumnBuilder, row int) {
					if i%7 > 0 && (i%3 > 0 || r.IntN(3) > 0) {
						c.set(b)
					}
				})
				blocks = append(blocks, v)
				z.Add(v, 1+i%9)
			}
			b := z.Append(nil, encoding.NewEncoder())
			got, _, err := ReadZones(b, c.t, len(blocks), func(i int) int { return 1 + i%9 })
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(z) {
				t.Fatal("zones do not come back as they were")
			}
			for i, v := range blocks {
				checkZone(t, got, i, v, 1+i%9)
			}
			for n := range b {
				if _, _, err := ReadZones(b[:n], c.t, len(blocks), func(i int) int { return 1 + i%9 }); !errors.Is(err,
					encoding.ErrMalformed) {
					t.Fatalf("cut at %d: %v", n, err)
				}
			}
		})
	}
}

// checkZone holds that no value of a block is refuted by its zone.
func checkZone(t *testing.T, z *Zones, block int, v *vector.Vector, n int) {
	t.Helper()
	var s filter.Stat
	z.Stat(&s, block, n)
	nulls := 0
	for i := range n {
		if v.IsNull(i) {
			nulls++
			continue
		}
		one := &vector.Vector{}
		one.Gather(v, []uint32{uint32(i)})
		for _, op := range []filter.Op{filter.Equal, filter.LessEqual, filter.GreaterEqual} {
			p, err := filter.Compile(filter.And{{Column: 1, Op: op, Args: one, NArgs: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if p.Conds[0].Leaf.Judge(&s) == filter.None {
				t.Fatalf("block %d: the zone refutes the value of row %d", block, i)
			}
		}
	}
	if s.Nulls != nulls {
		t.Fatalf("block %d: %d NULLs, want %d", block, s.Nulls, nulls)
	}
}

func TestPostings(t *testing.T) {
	p := NewPostings()
	p.Add(0, []uint32{0, 1})
	p.Add(1, []uint32{1})
	p.Add(70, []uint32{0, 2})
	b, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPostings(b, 3, 71, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		passing uint64
		want    string
	}{{0, "[]"}, {1, "[0 70]"}, {2, "[0 1]"}, {4, "[70]"}, {6, "[0 1 70]"}} {
		blocks := vector.MakeBitmap(71)
		blocks.Fill(71)
		got.Blocks(vector.Bitmap{c.passing}, blocks)
		if text := fmt.Sprint(blocks.AppendRows(nil)); text != c.want {
			t.Errorf("values %b: blocks %s, want %s", c.passing, text, c.want)
		}
	}
	if got.Len() != 3 || got.Count(1) != 2 || !got.Holds(2, 70) || got.Holds(2, 1) {
		t.Error("counts are wrong")
	}
	if _, err := ReadPostings(b, 3, 70, true); !errors.Is(err, encoding.ErrMalformed) {
		t.Errorf("a block past the end: %v", err)
	}
	if _, err := ReadPostings(b, 2, 71, true); !errors.Is(err, encoding.ErrMalformed) {
		t.Errorf("too many values: %v", err)
	}
	for n := range b {
		if _, err := ReadPostings(b[:n], 3, 71, true); !errors.Is(err, encoding.ErrMalformed) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}
