package intern

import (
	"math/rand/v2"
	"sync"
	"testing"

	"varve/engine/vector"
)

// TestSharedNumbersAreOne has workers intern the same values at the same time: equal values get equal numbers, others
// others, and Values knows them all.
func TestSharedNumbersAreOne(t *testing.T) {
	for _, typ := range []vector.Type{vector.Int64Type, vector.FloatType, vector.StringType, vector.BoolType} {
		s := NewShared(typ)
		var mu sync.Mutex
		numbers := map[string]uint32{}
		var wg sync.WaitGroup
		for k := range 3 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(k), 7))
				w := s.Worker(k)
				for range 40 {
					v, n := &vector.Vector{Type: typ}, 1+r.IntN(300)
					for i := range n {
						if r.IntN(30) == 0 {
							v.AppendNulls(i, 1)
						} else {
							v.Append(i, value(r, typ, 2000), 0, 1)
						}
					}
					if typ == vector.StringType && r.IntN(3) == 0 {
						v = &vector.Vector{Type: typ, Form: vector.Dict, Values: v, Valid: v.Valid}
						v.Values.Valid = nil
						v.Values.Append(n, vector.ConstString("no row has it"), 0, 1)
						for i := range n {
							v.Codes = append(v.Codes, uint32(i))
						}
					}
					ids := make([]uint32, n)
					w.Intern(v, n, ids)
					mu.Lock()
					for i, id := range ids {
						if want, ok := numbers[print(v, i)]; ok && want != id {
							t.Errorf("%s: %s has numbers %d and %d", typ, print(v, i), id, want)
						}
						numbers[print(v, i)] = id
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		total := 0
		for k := range Shards {
			ids, values := s.Values(k)
			total += len(ids)
			for i, id := range ids {
				if want, ok := numbers[print(values, i)]; ok && want != id {
					t.Errorf("%s: the value of %d is %s, which has number %d", typ, id, print(values, i), want)
				}
			}
		}
		if total != len(numbers) {
			t.Errorf("%s: %d values, want %d", typ, total, len(numbers))
		}
	}
}
