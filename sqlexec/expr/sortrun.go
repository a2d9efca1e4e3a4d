package expr

import "slices"

// sortRun is the number of elements that are sorted at a time.
const sortRun = 1 << 12

// sortStable sorts as slices.SortStableFunc does, in runs that are merged, and asks did in between.
func sortStable[T any](list []T, compare func(a, b T) int, did func(n int) error) error {
	for from := 0; from < len(list); from += sortRun {
		run := list[from:min(from+sortRun, len(list))]
		slices.SortStableFunc(run, compare)
		if err := did(len(run)); err != nil {
			return err
		}
	}
	var other []T
	for from, width := list, sortRun; width < len(list); width *= 2 {
		if other == nil {
			other = make([]T, len(list))
		}
		for at := 0; at < len(from); at += 2 * width {
			middle, end := min(at+width, len(from)), min(at+2*width, len(from))
			if err := mergeRuns(other[at:end], from[at:middle], from[middle:end], compare, did); err != nil {
				return err
			}
		}
		from, other = other, from
		if 2*width >= len(list) && &from[0] != &list[0] {
			copy(list, from)
		}
	}
	return nil
}

// mergeRuns merges two sorted runs into out.
func mergeRuns[T any](out, a, b []T, compare func(a, b T) int, did func(n int) error) error {
	for i := range out {
		if i%sortRun == 0 {
			if err := did(sortRun); err != nil {
				return err
			}
		}
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
	return nil
}

// nth moves the element that comes k'th, from 0, among sorted numbers to its place: none before it is greater, none
// after it smaller. The numbers are none of them NaN.
func nth(list []float64, k int, did func(n int) error) error {
	for len(list) > 1 {
		if err := did(len(list)); err != nil {
			return err
		}
		// Numbers below the pivot, equal to it and above, in this order.
		pivot := pivotOf(list)
		below, at, above := 0, 0, len(list)
		for at < above {
			switch x := list[at]; {
			case x < pivot:
				list[at], list[below] = list[below], x
				below++
				at++
			case x > pivot:
				above--
				list[at], list[above] = list[above], x
			default:
				at++
			}
		}
		switch {
		case k < below:
			list = list[:below]
		case k >= above:
			list, k = list[above:], k-above
		default:
			return nil
		}
	}
	return nil
}

// pivotOf is the median of up to 127 numbers that lie evenly in a list.
func pivotOf(list []float64) float64 {
	var some [127]float64
	n := min(len(list), len(some))
	for i := range n {
		some[i] = list[i*(len(list)/n)]
	}
	slices.Sort(some[:n])
	return some[n/2]
}
