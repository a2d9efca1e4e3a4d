package intern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"varve/engine/vector"
)

// drawn returns pieces of 2,048 texts, of which one in n is drawn evenly from many long ones and the others with
// falling frequency from short ones.
func drawn(rows, n, long int) []*vector.Vector {
	r := rand.New(rand.NewPCG(1, 1))
	var pieces []*vector.Vector
	for range rows / vector.Size {
		v := &vector.Vector{Type: vector.StringType}
		for range vector.Size {
			from := len(v.Heap)
			if r.IntN(n) == 0 {
				v.Heap = fmt.Appendf(v.Heap, "/api/v1/orders/%016x/status", uint64(r.IntN(long))*0x9E3779B97F4A7C15)
			} else {
				v.Heap = fmt.Appendf(v.Heap, "10.%d.9.1", int(math.Exp(r.Float64()*math.Log(400_000))))
			}
			v.Views = append(v.Views, vector.View{Off: uint32(from), Len: uint32(len(v.Heap) - from)})
		}
		pieces = append(pieces, v)
	}
	return pieces
}

// BenchmarkShared interns a few million texts into an empty table, as a query does.
func BenchmarkShared(b *testing.B) {
	for _, c := range []struct {
		name    string
		n, long int
	}{{"frequent", 1 << 40, 1}, {"mixed", 3, 3_000_000}, {"rare", 1, 3_000_000}} {
		pieces := drawn(4<<20, c.n, c.long)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", c.name, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s := NewShared(vector.StringType)
					var at atomic.Int64
					var wg sync.WaitGroup
					for k := range workers {
						wg.Go(func() {
							w, ids := s.Worker(k), make([]uint32, vector.Size)
							for i := int(at.Add(1)) - 1; i < len(pieces); i = int(at.Add(1)) - 1 {
								w.Intern(pieces[i], vector.Size, ids)
							}
						})
					}
					wg.Wait()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(pieces)*vector.Size),
					"ns/row")
			})
		}
	}
}
