package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	reference "github.com/prometheus/prometheus/model/histogram"
)

// random makes a histogram; wide ones have zero buckets that reach into populated ones.
func random(r *rand.Rand, custom bool) *Histogram {
	h := &Histogram{Sum: float64(r.IntN(1000)) / 8, Hint: ResetHint(r.IntN(4))}
	side := func(from int32) (out []Bucket) {
		at := from
		for range r.IntN(7) {
			out = append(out, Bucket{at, float64(r.IntN(20))})
			at += 1 + int32(r.IntN(3))
		}
		return out
	}
	if custom {
		h.Schema = CustomSchema
		h.Positive = side(0)
		bound := 0.0
		last := int32(0)
		if n := len(h.Positive); n > 0 {
			last = h.Positive[n-1].Index
		}
		for range last + int32(r.IntN(3)) {
			bound += float64(1 + r.IntN(3))
			h.Bounds = append(h.Bounds, bound)
		}
	} else {
		h.Schema = int32(r.IntN(6) - 2)
		h.ZeroThreshold = []float64{0, 1e-9, 0.3, 1, 2, 5}[r.IntN(6)]
		h.ZeroCount = float64(r.IntN(5))
		h.Positive, h.Negative = side(int32(r.IntN(12)-4)), side(int32(r.IntN(12)-4))
	}
	h.Count = h.ZeroCount
	for _, b := range append(append([]Bucket(nil), h.Positive...), h.Negative...) {
		h.Count += b.Count
	}
	return h
}

func toReference(h *Histogram) *reference.FloatHistogram {
	hints := map[ResetHint]reference.CounterResetHint{UnknownReset: reference.UnknownCounterReset,
		CounterReset: reference.CounterReset,
		NoReset:      reference.NotCounterReset, Gauge: reference.GaugeType}
	f := &reference.FloatHistogram{CounterResetHint: hints[h.Hint], Schema: h.Schema, ZeroThreshold: h.ZeroThreshold,
		ZeroCount: h.ZeroCount,
		Count:     h.Count, Sum: h.Sum, CustomValues: h.Bounds}
	side := func(bs []Bucket) (spans []reference.Span, counts []float64) {
		end := int32(0)
		for i, b := range bs {
			if i == 0 || b.Index != end {
				spans = append(spans, reference.Span{Offset: b.Index - end})
			}
			spans[len(spans)-1].Length++
			end = b.Index + 1
			counts = append(counts, b.Count)
		}
		return spans, counts
	}
	f.PositiveSpans, f.PositiveBuckets = side(h.Positive)
	f.NegativeSpans, f.NegativeBuckets = side(h.Negative)
	return f
}

// check compares a histogram with the reference's, its empty buckets apart.
func check(t *testing.T, what string, h *Histogram, f *reference.FloatHistogram) {
	t.Helper()
	if !near(h.Count, f.Count) || !near(h.Sum, f.Sum) || !near(h.ZeroCount, f.ZeroCount) ||
		h.ZeroThreshold != f.ZeroThreshold || h.Schema != f.Schema {
		t.Fatalf("%s: %s (schema %d, zero %v of %v), want %s (schema %d, zero %v of %v)", what, h, h.Schema,
			h.ZeroCount, h.ZeroThreshold,
			f, f.Schema, f.ZeroCount, f.ZeroThreshold)
	}
	sides := []struct {
		own []Bucket
		ref reference.BucketIterator[float64]
	}{{h.Positive, f.PositiveBucketIterator()}, {h.Negative, f.NegativeBucketIterator()}}
	for _, side := range sides {
		var want []Bucket
		for side.ref.Next() {
			if b := side.ref.At(); math.Abs(b.Count) > 1e-9 {
				want = append(want, Bucket{b.Index, b.Count})
			}
		}
		var got []Bucket
		for _, b := range side.own {
			if math.Abs(b.Count) > 1e-9 {
				got = append(got, b)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: buckets %v, want %v", what, got, want)
		}
		for i := range got {
			if got[i].Index != want[i].Index || !near(got[i].Count, want[i].Count) {
				t.Fatalf("%s: buckets %v, want %v", what, got, want)
			}
		}
	}
}

func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) ||
		math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// TestReference holds arithmetic, resets and trimming against the reference.
func TestReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8_000 {
		a, b := random(r, r.IntN(3) == 0), random(r, r.IntN(3) == 0)
		fa, fb := toReference(a), toReference(b)
		check(t, "as it is", a, fa)

		sum := NewSum(a)
		err := sum.Add(b)
		want, collision, reconciled, wantErr := fa.Copy().Add(fb)
		if (err != nil) != (wantErr != nil) || err != nil && !errors.Is(err, ErrIncompatible) {
			t.Fatalf("%s + %s: %v, want %v", a, b, err, wantErr)
		}
		if err == nil {
			if sum.Collision != collision || sum.Reconciled != reconciled {
				t.Fatalf("%s + %s: collision %v, reconciled %v, want %v and %v", a, b, sum.Collision, sum.Reconciled,
					collision, reconciled)
			}
			check(t, fmt.Sprintf("%s (schema %d, zero %v) + %s (schema %d, zero %v)", a, a.Schema, a.ZeroThreshold, b,
				b.Schema, b.ZeroThreshold), sum.Result(), want)
			less := NewSum(a)
			if err := less.Subtract(b); err != nil {
				t.Fatal(err)
			}
			want, _, _, _ := fa.Copy().Sub(fb)
			check(t, "difference", less.Result(), want)
		}
		if got, want := a.ResetSince(b), fa.DetectReset(fb); got != want {
			t.Fatalf("reset from %s to %s: %v, want %v", b, a, got, want)
		}
		limit := []float64{-3, -0.2, 0, 0.1, 1, 1.5, 4, 7, math.Inf(1), math.Inf(-1)}[r.IntN(10)]
		check(t, "trimmed above", a.TrimAbove(limit), fa.Copy().TrimBuckets(limit, true))
		check(t, "trimmed below", a.TrimBelow(limit), fa.Copy().TrimBuckets(limit, false))
		if got, want := a.String(), fa.String(); got != want {
			t.Fatalf("text %s, want %s", got, want)
		}
		if got, want := a.Equal(b), fa.Equals(fb); got != want {
			t.Fatalf("%s == %s: %v, want %v", a, b, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	for schema := int32(MinSchema); schema <= MaxSchema; schema++ {
		for _, index := range []int32{-1000, -17, -1, 0, 1, 2, 3, 100, 1024 << max(0, schema),
			1024<<max(0, schema) + 1} {
			f := &reference.FloatHistogram{Schema: schema, PositiveSpans: []reference.Span{{Offset: index, Length: 1}},
				PositiveBuckets: []float64{1}}
			it := f.PositiveBucketIterator()
			it.Next()
			h := &Histogram{Schema: schema}
			if got, want := h.positive(Bucket{index, 1}), it.At(); got.Lower != want.Lower || got.Upper != want.Upper {
				t.Errorf("bucket %d of schema %d: (%v,%v], want (%v,%v]", index, schema, got.Lower, got.Upper,
					want.Lower, want.Upper)
			}
		}
	}
}

// TestCompensation: what a sum loses is not lost.
func TestCompensation(t *testing.T) {
	one := func(v float64) *Histogram { return &Histogram{Count: v, Sum: v, Positive: []Bucket{{1, v}}} }
	s := NewSum(one(1e100))
	for _, v := range []float64{1, -1e100, 2} {
		if err := s.Add(one(v)); err != nil {
			t.Fatal(err)
		}
	}
	if h := s.Result(); h.Count != 3 || h.Sum != 3 || h.Positive[0].Count != 3 {
		t.Errorf("%s, want 3 everywhere", h)
	}
}

func TestBinary(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		h := random(r, r.IntN(3) == 0)
		h.Integer = r.IntN(2) == 0
		if r.IntN(5) == 0 {
			h.Sum = math.Float64frombits(0x7ff0000000000002) // the marker keeps its bits
		}
		b := h.AppendBinary(nil)
		got, err := Decode(b)
		if err != nil {
			t.Fatalf("%s: %v", h, err)
		}
		if !got.Equal(h) || got.Hint != h.Hint || got.Integer != h.Integer {
			t.Fatalf("%+v came back as %+v", h, got)
		}
		for n := range b {
			if _, err := Decode(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes are taken for a histogram", n, len(b))
			}
		}
	}
	if _, err := Decode([]byte{9, 0, 0}); err == nil || !strings.Contains(err.Error(), "version 9, want 1") {
		t.Errorf("another version: %v", err)
	}
}

// TestBinaryLayout is the form that docs/format/histogram.md draws.
func TestBinaryLayout(t *testing.T) {
	h := &Histogram{Hint: NoReset, Integer: true, Schema: 3, ZeroThreshold: 0.5, ZeroCount: 2, Count: 300, Sum: 1.5,
		Positive: []Bucket{{-2, 1}, {5, 200}}, Negative: []Bucket{{0, 97}}}
	want := "\x01" + // version
		"\x0e" + // flags: no reset, integers, zero bucket
		"\x03" + // schema
		"\x00\x00\x00\x00\x00\x00\xf8\x3f" + // sum
		"\xac\x02" + // count
		"\x00\x00\x00\x00\x00\x00\xe0\x3f\x02" + // zero threshold and count
		"\x02" + "\x03\x01" + "\x0e\xc8\x01" + // positive buckets: -2, then 7 further
		"\x01" + "\x00\x61" // negative bucket 0
	if got := string(h.AppendBinary(nil)); got != want {
		t.Errorf("binary form %x, want %x", got, want)
	}
}

func TestJSON(t *testing.T) {
	h := &Histogram{Schema: 0, ZeroThreshold: 0.25, ZeroCount: 3, Count: 16.5, Sum: -1e-7,
		Positive: []Bucket{{0, 12}, {3, 0}}, Negative: []Bucket{{1, 1.5}}}
	want := `{"count":"16.5","sum":"-1e-07","buckets":[[1,"-2","-1","1.5"],[3,"-0.25","0.25","3"],[0,"0.5","1","12"]]}`
	if got := string(h.AppendJSON(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string((&Histogram{}).AppendJSON(nil)); got != `{"count":"0","sum":"0"}` {
		t.Errorf("an empty one is %s", got)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		h    Histogram
	}{
		{"schema", Histogram{Schema: 9}},
		{"negative count", Histogram{Count: -1}},
		{"negative bucket", Histogram{Positive: []Bucket{{1, -1}}}},
		{"order of buckets", Histogram{Positive: []Bucket{{2, 1}, {1, 1}}}},
		{"order of bounds", Histogram{Schema: CustomSchema, Bounds: []float64{2, 1}}},
		{"bucket beyond the bounds", Histogram{Schema: CustomSchema, Bounds: []float64{2}, Positive: []Bucket{{2, 1}}}},
		{"negative custom buckets", Histogram{Schema: CustomSchema, Negative: []Bucket{{1, 1}}}},
		{"bounds of exponential buckets", Histogram{Bounds: []float64{1}}},
	} {
		if c.h.Validate() == nil {
			t.Errorf("%s: no complaint", c.name)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		if h := random(r, r.IntN(2) == 0); h.Validate() != nil {
			t.Fatalf("%s: %v", h, h.Validate())
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		f.Add(random(r, r.IntN(2) == 0).AppendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := Decode(b)
		if err != nil {
			return
		}
		if n := len(h.Positive) + len(h.Negative) + len(h.Bounds); n > len(b) {
			t.Fatalf("%d bytes make %d buckets and bounds", len(b), n)
		}
		again, err := Decode(h.AppendBinary(nil))
		if err != nil || !again.Equal(h) {
			t.Fatalf("%+v comes back as %+v: %v", h, again, err)
		}
		if h.Validate() == nil { // what is written is valid: nothing panics
			h.Quantile(0.5)
			h.Fraction(0, 1)
			_ = h.ResetSince(again)
			h.TrimAbove(1)
			_ = h.String()
		}
	})
}

// TestCompactLetsGo: what is left of a difference of equal histograms has no memory for the buckets that are gone.
func TestCompactLetsGo(t *testing.T) {
	h := &Histogram{}
	for i := range int32(1000) {
		h.Positive = append(h.Positive, Bucket{Index: i, Count: 3})
	}
	s := NewSum(h)
	if err := s.Subtract(h); err != nil {
		t.Fatal(err)
	}
	if got := s.Result().Compact(); len(got.Positive) != 0 || cap(got.Positive) > 1 {
		t.Errorf("%d buckets, room for %d", len(got.Positive), cap(got.Positive))
	}
}
