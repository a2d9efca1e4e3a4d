package filter

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestStringIn compares with the set, for texts of all lengths and lists of all sizes.
func TestStringIn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		texts := make([]string, 1+r.IntN(130))
		v := &vector.Vector{Type: vector.StringType}
		for i := range texts {
			texts[i] = fmt.Sprintf("%0*d", r.IntN(70), r.IntN(20))
			v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(texts[i]))})
			v.Heap = append(v.Heap, texts[i]...)
		}
		l := stringIn{set: map[string]struct{}{}}
		for range r.IntN(20) {
			l.add([]byte(texts[r.IntN(len(texts))]))
			l.add(fmt.Appendf(nil, "%0*d", r.IntN(70), r.IntN(20)))
		}
		keep, hit := vector.MakeBitmap(len(texts)), vector.MakeBitmap(len(texts))
		for i := range texts {
			if r.IntN(4) > 0 {
				keep.Set(i)
			}
		}
		l.eval(v.Views, v.Heap, keep, hit)
		for i, text := range texts {
			if _, want := l.set[text]; hit.Get(i) != (want && keep.Get(i)) {
				t.Fatalf("%q, kept %t: found %t", text, keep.Get(i), hit.Get(i))
			}
		}
	}
}

func BenchmarkStringIn(b *testing.B) {
	const n = 8192
	v := &vector.Vector{Type: vector.StringType}
	for i := range n {
		v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: 32})
		v.Heap = fmt.Appendf(v.Heap, "%032x", uint64(i)*0x9E3779B97F4A7C15)
	}
	l := stringIn{set: map[string]struct{}{}}
	for i := range 20 {
		l.add(v.Bytes(i * 400))
	}
	keep, hit := vector.MakeBitmap(n), vector.MakeBitmap(n)
	keep.Fill(n)
	for b.Loop() {
		l.eval(v.Views, v.Heap, keep, hit)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
