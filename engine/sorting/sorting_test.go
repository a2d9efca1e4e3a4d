package sorting

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFunc: a list is sorted, and one that is not wanted any more is left soon after.
func TestFunc(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]int, 200_000)
	for i := range list {
		list[i] = r.Int()
	}
	other := slices.Clone(list)
	if err := Func(list, cmp.Compare[int], func() error { return nil }); err != nil || !slices.IsSorted(list) {
		t.Errorf("error %v, sorted %t", err, slices.IsSorted(list))
	}
	gone, compared := errors.New("gone"), 0
	err := Func(other, func(a, b int) int { compared++; return cmp.Compare(a, b) }, func() error { return gone })
	if err != gone || compared > askEvery {
		t.Errorf("error %v after %d comparisons, want %v after %d", err, compared, gone, askEvery)
	}
}
