package logql

import (
	"context"
	"slices"
)

// sortRun is how many elements are sorted, or merged, before the context is looked at: a few milliseconds.
const sortRun = 1 << 14

// Sort sorts a list, equal elements in the order that they have. It ends early, with an error, when ctx does.
func Sort[T any](ctx context.Context, list []T, compare func(a, b T) int) error {
	for from := 0; from < len(list); from += sortRun {
		slices.SortStableFunc(list[from:min(from+sortRun, len(list))], compare)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if len(list) <= sortRun || slices.IsSortedFunc(list, compare) {
		return nil
	}
	from, to := list, make([]T, len(list))
	for run := sortRun; run < len(list); run *= 2 {
		for at := 0; at < len(list); at += 2 * run {
			middle, end := min(at+run, len(list)), min(at+2*run, len(list))
			if err := merge(ctx, to[at:end], from[at:middle], from[middle:end], compare); err != nil {
				return err
			}
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
	return nil
}

// merge writes two sorted lists to dst as one.
func merge[T any](ctx context.Context, dst, a, b []T, compare func(a, b T) int) error {
	for k := range dst {
		if k%sortRun == sortRun-1 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			dst[k], a = a[0], a[1:]
		} else {
			dst[k], b = b[0], b[1:]
		}
	}
	return nil
}
