package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// both reads one source, then the other.
type both struct{ first, then Source }

func (b *both) Reader(w int) Reader { return &bothReader{b.first.Reader(w), b.then.Reader(w)} }

type bothReader struct{ first, then Reader }

func (r *bothReader) Next(b *vector.Batch) (bool, error) {
	if ok, err := r.first.Next(b); ok || err != nil {
		return ok, err
	}
	return r.then.Next(b)
}

func (r *bothReader) Close() {
	r.first.Close()
	r.then.Close()
}

// joinKeys are n keys of each kind out of [0, from), each with a number beside it.
func joinKeys(n, from int, text bool) *vector.Batch {
	r := rand.New(rand.NewPCG(3, uint64(from)))
	key, value := &vector.Vector{Type: vector.Int64Type}, &vector.Vector{Type: vector.Int64Type}
	if text {
		key.Type = vector.StringType
	}
	for i := range n {
		k := i
		if n != from {
			k = r.IntN(from)
		}
		k *= 2654435761
		if text {
			at := len(key.Heap)
			key.Heap = fmt.Appendf(key.Heap, "/api/v1/items/%d", k)
			key.Views = append(key.Views, vector.View{Off: uint32(at), Len: uint32(len(key.Heap) - at)})
		} else {
			key.Ints = append(key.Ints, int64(k))
		}
		value.Ints = append(value.Ints, int64(i))
	}
	return &vector.Batch{N: n, Cols: []*vector.Vector{key, value}}
}

// BenchmarkJoinMillions joins 10 million rows with 1 million of distinct keys, each of which finds one partner.
func BenchmarkJoinMillions(b *testing.B) {
	const few, many = 1 << 20, 10 << 20
	for _, text := range []bool{false, true} {
		build, probe := joinKeys(few, few, text), joinKeys(few+1, few, text)
		specs := []spec{{build.Cols[0].Type, 0, false}, {vector.Int64Type, 0, false}}
		cols := columns(specs...)
		b.Run(fmt.Sprintf("keys=%s", specs[0].t), func(b *testing.B) {
			for b.Loop() {
				j, err := NewJoin(JoinSpec{Kind: Inner, Probe: cols[:1], Build: cols[:1], ProbeTypes: typesOf(specs),
					BuildTypes: typesOf(specs)})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := (&Pipeline{Stream{Source: Values(build)}, j.Build()}).Run(context.Background(), 2); err !=
					nil {
					b.Fatal(err)
				}
				drop := each{func(*vector.Batch) error { return nil }}
				src := Source(Values(probe))
				for range many/few - 1 {
					src = &both{src, Values(probe)}
				}
				p := Pipeline{Stream{Source: src, Ops: []Operator{j.Probe()}}, drop}
				if _, err := p.Run(context.Background(), 2); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/row")
		})
	}
}
