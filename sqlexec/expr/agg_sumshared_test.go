package expr

import (
	"fmt"
	"math"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
)

// TestSharedSumsCountTheirWraps: many sums over many groups take memory for wraps at the first value that wraps, and
// not before there is room for it.
func TestSharedSumsCountTheirWraps(t *testing.T) {
	const sums, groups, limit = 64, 1 << 16, 8 << 20
	c := &Context{}
	x := &Column{Index: 0, T: i64}
	var aggs []*Agg
	for k := range sums {
		e, err := c.Call("+", x, &Const{Value: vector.ConstInt(i64, int64(k))})
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Aggregate("sum", []Expr{e}, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		aggs = append(aggs, a)
	}
	for _, limit := range []int64{limit, 1 << 30} {
		memory := &smallMemory{limit: limit}
		states := States(ShareSums(aggs), memory)
		value := &vector.Vector{Type: i64, Ints: []int64{math.MaxInt64}}
		var failed error
		for _, s := range states {
			s.Grow(groups)
			if err := s.Add(1, []uint32{groups - 1}, []*vector.Vector{value}, nil); err != nil {
				failed = err
				break
			}
		}
		if small := limit < 8*sums*groups; small != (status.Of(failed) == status.RuntimeResourcesExhausted) {
			t.Errorf("with %d bytes: %v", limit, failed)
		}
		if failed != nil && memory.asked.Load() > limit {
			t.Errorf("%d bytes were taken of %d", memory.asked.Load(), limit)
		}
		if failed != nil {
			continue
		}
		if bytes := memory.used.Load(); bytes < 8*sums*groups {
			t.Errorf("%d bytes are held, want at least %d", bytes, 8*sums*groups)
		}
		for k, s := range states {
			v, err := s.Result(groups)
			want := fmt.Sprint(int64(math.MinInt64) + int64(k) - 1) // the addition wraps around
			if k == 0 {
				want = fmt.Sprint(int64(math.MaxInt64))
			}
			if err != nil || fmt.Sprint(v.Ints[groups-1]) != want {
				t.Errorf("sum %d: %v, want %s: %v", k, v, want, err)
			}
		}
	}
}
