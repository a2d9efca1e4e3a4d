package encoding

import (
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
)

// TestKeepDecimals holds comparisons on the integers of decimal blocks against comparisons of the values.
func TestKeepDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	decided := 0
	for round := range 300 {
		n, scale := 1+r.IntN(300), []float64{1, 10, 100, 1000, 1e6}[r.IntN(5)]
		single := round%3 == 0
		v := &vector.Vector{Type: vector.FloatType}
		if single {
			v.Type = vector.Float32Type
		}
		for range n {
			x := float64(r.IntN(4000)-2000) / scale
			switch r.IntN(40) {
			case 0:
				x = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Pi, math.Copysign(0, -1), 1e300}[r.IntN(6)]
			case 1:
				x = r.Float64()
			}
			if single {
				x = float64(float32(x))
			}
			v.Floats = append(v.Floats, x)
		}
		var e Encoder
		page := e.Append(nil, v, n, nil)
		for range 20 {
			b := filter.FloatBound{K: float64(r.IntN(4200)-2100) / scale, Strict: r.IntN(2) == 0,
				Negate: r.IntN(2) == 0}
			switch r.IntN(8) {
			case 0:
				b.K = v.Floats[r.IntN(n)]
			case 1:
				b.K = math.Nextafter(b.K, math.Inf(1-2*r.IntN(2)))
			case 2:
				b.K = []float64{math.Inf(1), math.Inf(-1), 1e300, -1e300, 1 << 53, -(1 << 53), 0}[r.IntN(7)]
			}
			if b.K != b.K {
				continue
			}
			before := vector.MakeBitmap(n)
			for i := range n {
				if r.IntN(4) > 0 {
					before.Set(i)
				}
			}
			keep := append(vector.Bitmap(nil), before...)
			var d Decoder
			ok, err := d.compare(page, n, &filter.Comparison{Bound: &b}, keep)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				decided++
			}
			for i, x := range v.Floats {
				want := before.Get(i)
				if ok {
					want = want && (x < b.K || x == b.K && !b.Strict) != b.Negate
				}
				if keep.Get(i) != want {
					t.Fatalf("round %d: %v with %+v: kept %t, want %t", round, x, b, keep.Get(i), want)
				}
			}
		}
	}
	if decided < 1000 {
		t.Errorf("only %d comparisons were made on the integers", decided)
	}
}

// TestKeepDecimalsOfDamage: whatever a page holds, there is an error or an answer.
func TestKeepDecimalsOfDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	v := &vector.Vector{Type: vector.FloatType}
	for i := range 500 {
		v.Floats = append(v.Floats, float64(i%97)/8)
	}
	v.Floats[17] = math.NaN()
	var e Encoder
	page := e.Append(nil, v, 500, nil)
	var d Decoder
	for range 5000 {
		bad := append([]byte(nil), page...)
		for range 1 + r.IntN(3) {
			bad[2+r.IntN(len(bad)-2)] = byte(r.IntN(256))
		}
		bad = bad[:len(bad)-r.IntN(3)]
		keep := vector.MakeBitmap(500)
		keep.Fill(500)
		if _, err := d.compare(bad, 500, &filter.Comparison{Bound: &filter.FloatBound{K: 4.5}}, keep); err == nil &&
			keep.Count() > 500 {
			t.Fatal("rows that are not there were kept")
		}
	}
}
