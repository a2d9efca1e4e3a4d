package logql

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSort compares Sort with the sort of the library: equal elements keep their order.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 31))
	type one struct{ key, at int }
	byKey := func(a, b one) int { return cmp.Compare(a.key, b.key) }
	for _, n := range []int{0, 1, 2, 1000, sortRun, sortRun + 1, 2*sortRun + 7, 5 * sortRun, 70_001} {
		list := make([]one, n)
		for i := range list {
			list[i] = one{r.IntN(1 + n/3), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		if err := Sort(context.Background(), list, byKey); err != nil || !slices.Equal(list, want) {
			t.Errorf("%d elements: wrong order, error %v", n, err)
		}
	}
}

// TestSortEnds: a sort ends with its context, wherever it is.
func TestSortEnds(t *testing.T) {
	list := make([]int, 8*sortRun)
	for i := range list {
		list[i] = len(list) - i
	}
	for _, after := range []int{1, 2 * len(list), 20 * len(list)} {
		ctx, cancel := context.WithCancel(context.Background())
		compared, late := 0, 0
		err := Sort(ctx, slices.Clone(list), func(a, b int) int {
			if compared++; compared == after {
				cancel()
			} else if compared > after {
				late++
			}
			return cmp.Compare(a, b)
		})
		cancel()
		if late > 40*sortRun || compared > after && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d comparisons: %d more, error %v", after, late, err)
		}
	}
}
