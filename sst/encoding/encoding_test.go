package encoding

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"varve/engine/vector"
)

// rowCounts are lengths with all kinds of tails.
var rowCounts = []int{1, 2, 3, 7, 8, 15, 16, 63, 64, 65, 127, 128, 130, 500, 2048, 8192}

// shape makes value i of a column.
type shape struct {
	name string
	t    vector.Type
	set  func(c *vector.ColumnBuilder, r *rand.Rand, i int)
}

var shapes = []shape{
	{"time texts", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(time.UnixMilli(1_700_000_000_000 + int64(i)*27 +
			r.Int64N(20)).UTC().Format("2006-01-02T15:04:05.000Z"))
	}},
	{"time texts with a zone", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(time.Unix(r.Int64N(1<<36)-1<<35, 0).UTC().Format("2006-01-02 15:04:05") + "+02:00")
	}},
	{"constant int", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) { c.SetInt(-7) }},
	{"small ints", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(r.Int64N(100) - 50)
	}},
	{"statuses", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt([]int64{200, 404, 500, 1 << 40, math.MinInt64}[r.IntN(5)])
	}},
	{"outliers", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		x := r.Int64N(1000)
		if r.IntN(50) == 0 {
			x = int64(r.Uint64())
		}
		c.SetInt(x)
	}},
	{"low outliers", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		x := 1_000_000_000 + r.Int64N(1000)
		if r.IntN(100) == 0 {
			x = -x
		}
		c.SetInt(x)
	}},
	{"any ints", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) { c.SetInt(int64(r.Uint64())) }},
	{"wide uints", vector.Uint64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetUint(r.Uint64() >> (r.IntN(7)))
	}},
	{"uint extremes", vector.Uint64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetUint([]uint64{0, math.MaxUint64, 1 << 63, 1<<63 - 1}[r.IntN(4)])
	}},
	{"times", vector.Timestamp(3), func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(1_700_000_000_000 + int64(i)*27 + r.Int64N(20))
	}},
	{"regular times", vector.Timestamp(9), func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(1_700_000_000_000_000_000 + int64(i%1000)*15_000_000_000)
	}},
	{"parabola", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(int64(i) * int64(i) * 977)
	}},
	{"runs", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(int64(uint32(i/100)*0x9E3779B1) * -1e6)
	}},
	{"short runs", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(int64(uint32(i/3) * 0x9E3779B1))
	}},
	{"pairs", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(int64(uint32(i/2) * 0x9E3779B1 % 7))
	}},
	{"times of series", vector.Timestamp(3), func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		place := i % 2380
		if place %= 240; i%2380 >= 9*240 { // one in ten begins later
			place += 20
		}
		c.SetInt(1_700_000_000_000 + int64(place)*15_000 + int64(uint32(place)*0x9E3779B1>>22)) // late by up to 1 s
	}},
	{"sequences of series", vector.Uint64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetUint(uint64(i%240*6+i%240%7/3) + uint64(i/2400))
	}},
	{"counters of series", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		rate := []int64{1100, 40, 10, 100, 250}[i/240%5]
		c.SetInt(rate*int64(i%240) + r.Int64N(rate))
	}},
	{"series of other lengths", vector.Int64Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetInt(int64(i%97)*1_000_003 - int64(i%89)*7_001 - 1e12)
	}},
	{"decimals", vector.FloatType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetFloat(float64(r.IntN(100000)) / 1000)
	}},
	{"decimals and odd ones", vector.FloatType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		x := float64(r.IntN(100000)-50000) / 100
		switch r.IntN(40) {
		case 0:
			x = math.NaN()
		case 1:
			x = math.Copysign(0, -1)
		case 2:
			x = math.Inf(-1)
		case 3:
			x = r.NormFloat64()
		}
		c.SetFloat(x)
	}},
	{"any floats", vector.FloatType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetFloat(math.Float64frombits(r.Uint64()))
	}},
	{"slow floats", vector.FloatType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetFloat(math.Sqrt(float64(i / 5)))
	}},
	{"singles", vector.Float32Type, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetFloat(float64(float32(r.IntN(1000)) / 10))
	}},
	{"constant float", vector.FloatType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetFloat(math.Inf(1))
	}},
	{"bools", vector.BoolType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) { c.SetBool(r.IntN(3) == 0) }},
	{"true", vector.BoolType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) { c.SetBool(true) }},
	{"levels", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString([]string{"info", "warn", "", "error"}[r.IntN(4)])
	}},
	{"level runs", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString([]string{"info", "warn", "error"}[i/200%3])
	}},
	{"constant text", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString("the same")
	}},
	{"empty text", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) { c.SetString("") }},
	{"trace ids", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()))
	}},
	{"trace ids of spans", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		x := uint64(i/8+r.IntN(20)) * 0x9E3779B97F4A7C15
		c.SetString(fmt.Sprintf("%016x%016x", x, x^0xABCDEF))
	}},
	{"addresses of clients", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		x := uint32(r.ExpFloat64()*60) * 0x9E3779B1
		c.SetString(fmt.Sprintf("%d.%d.%d.%d", x>>24, x>>16&255, x>>8&255, x&255))
	}},
	{"order numbers", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprint(10_000_000 + 3*i + r.IntN(3)))
	}},
	{"uuids", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		x := fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
		c.SetString(x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:])
	}},
	{"upper hex", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprintf("%016X", r.Uint64()))
	}},
	{"addresses", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprintf("%d.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256)))
	}},
	{"addresses with a port", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprintf("%d.%d.%d.%d:80", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256)))
	}},
	{"number texts", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprint(r.Int64N(1e12) - 5e11))
	}},
	{"texts with zeros", vector.StringType,
		func(c *vector.ColumnBuilder, r *rand.Rand, i int) { c.SetString(fmt.Sprintf("%05d", r.IntN(1e5))) }},
	{"messages", vector.StringType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		c.SetString(fmt.Sprintf("user %d did %s in %d ms\x00", r.IntN(1e6), []string{"buy", "sell"}[r.IntN(2)],
			r.IntN(1000)))
	}},
	{"noise", vector.BinaryType, func(c *vector.ColumnBuilder, r *rand.Rand, i int) {
		b := make([]byte, r.IntN(40))
		for j := range b {
			b[j] = byte(r.Uint32())
		}
		c.SetBytes(b)
	}},
}

// build makes n rows of a shape, one in nulls of them NULL; 0: none.
func (s *shape) build(n, nulls int, seed uint64) *vector.Vector {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	b := vector.NewBuilder()
	c, err := b.Column("c", s.t)
	if err != nil {
		panic(err)
	}
	for i := range n {
		if nulls == 0 || r.IntN(nulls) != 0 {
			s.set(c, r, i)
		}
		b.EndRow()
	}
	_, batch := b.Finish()
	return batch.Cols[0]
}

// difference tells where two vectors differ; empty: nowhere.
func difference(got, want *vector.Vector, n int) string {
	for i := range n {
		if got.IsNull(i) != want.IsNull(i) {
			return fmt.Sprintf("row %d: null %t, want %t", i, got.IsNull(i), want.IsNull(i))
		}
		if want.IsNull(i) {
			continue
		}
		same := true
		switch want.Type.Kind() {
		case vector.Bool:
			same = got.Bool(i) == want.Bool(i)
		case vector.Int64:
			same = got.Int(i) == want.Int(i)
		case vector.Uint64:
			same = got.Uint(i) == want.Uint(i)
		case vector.Float64:
			same = math.Float64bits(got.Float(i)) == math.Float64bits(want.Float(i))
		default:
			same = bytes.Equal(got.Bytes(i), want.Bytes(i))
		}
		if !same {
			return fmt.Sprintf("row %d of %d differs", i, n)
		}
	}
	return ""
}

// TestRoundTrip encodes and decodes every shape at every length with few, many and only NULLs, with coders and vectors
// that are used again.
func TestRoundTrip(t *testing.T) {
	e, d := NewEncoder(), &Decoder{}
	var buf []byte
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for _, nulls := range []int{0, 1, 2, 20} {
				v := &vector.Vector{}
				shared := NewShared(MaxShared)
				for round, n := range rowCounts {
					want := s.build(n, nulls, uint64(round))
					var dict *Dictionary
					if s.t.Kind() == vector.Bytes && round%3 > 0 {
						dict = shared
					}
					buf = e.Append(buf[:0], want, n, dict)
					var values *vector.Vector
					if dict != nil {
						values = &vector.Vector{Type: s.t, Views: dict.Views, Heap: dict.Heap}
					}
					if err := d.Decode(v, buf, s.t, n, values); err != nil {
						t.Fatalf("%d rows, nulls %d, %s: %v", n, nulls, ID(buf[0]), err)
					}
					if diff := difference(v, want, n); diff != "" {
						t.Fatalf("%d rows, nulls %d, %s: %s", n, nulls, ID(buf[0]), diff)
					}
					if v.Valid != nil && v.Form != vector.Const && len(v.Valid) != vector.Words(n) {
						t.Fatalf("%d words of validity for %d rows", len(v.Valid), n)
					}
				}
			}
		})
	}
}

// TestChoice holds the encodings that shapes get.
func TestChoice(t *testing.T) {
	want := map[string]ID{
		"constant int": Constant, "small ints": Packed, "statuses": Local, "outliers": Packed, "low outliers": Packed,
		"times":    Delta,
		"parabola": DeltaTwo, "runs": Runs, "short runs": Runs, "pairs": Packed,
		"times of series": Repeat, "sequences of series": Repeat,
		"counters of series": Grouped, "decimals": Decimal,
		"any floats": Plain, "slow floats": XOR, "levels": Local,
		"trace ids": Hex, "uuids": Hex, "upper hex": Plain, "addresses": IPv4, "number texts": Number,
		"messages":           Plain,
		"trace ids of spans": Hex, "addresses of clients": IPv4, "order numbers": Number,
		"bools": Plain, "true": Constant, "constant text": Constant, "singles": Decimal,
	}
	e := NewEncoder()
	for _, s := range shapes {
		id, ok := want[s.name]
		if !ok {
			continue
		}
		v := s.build(8192, 0, 1)
		got := e.Append(nil, v, 8192, nil)
		t.Logf("%-24s %-8s %6.2f bytes a row", s.name, ID(got[0]), float64(len(got))/8192)
		if ID(got[0]) != id {
			t.Errorf("%s: %s, want %s", s.name, ID(got[0]), id)
		}
	}
}

func TestUnpack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for w := 0; w <= 64; w++ {
		if w != packWidth(w) {
			continue
		}
		for n := range 131 {
			v := make([]uint64, n)
			base := r.Uint64()
			for i := range v {
				v[i] = base
				if w > 0 {
					v[i] += r.Uint64() >> (64 - w)
				}
			}
			b := appendBits(nil, v, base, w)
			if len(b) != packedSize(n, w) {
				t.Fatalf("%d values of %d bits: %d bytes, want %d", n, w, len(b), packedSize(n, w))
			}
			got := make([]uint64, n)
			unpack(got, b, base, w)
			for i := range v {
				if got[i] != v[i] {
					t.Fatalf("%d values of %d bits: value %d is %d, want %d", n, w, i, got[i], v[i])
				}
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	e := NewEncoder()
	for i, s := range shapes {
		f.Add(e.Append(nil, s.build(70, 10, 1), 70, nil), uint8(i), uint16(70))
	}
	shared := &vector.Vector{Type: vector.StringType, Views: []vector.View{{Off: 0, Len: 1}, {Off: 0, Len: 2}},
		Heap: []byte("ab")}
	f.Fuzz(func(t *testing.T, b []byte, kind uint8, rows uint16) {
		v := &vector.Vector{}
		typ := shapes[int(kind)%len(shapes)].t
		var d Decoder
		if err := d.Decode(v, b, typ, int(rows), shared); err != nil {
			return
		}
		// What was decoded must be readable in every row.
		difference(v, v, int(rows))
	})
}
