// Package sorting sorts long lists and heeds cancellation while it does.
package sorting

import "slices"

// askEvery is the number of comparisons after which the caller is asked whether the list is still wanted: a millisecond
// or less, however long they take.
const askEvery = 1 << 12

// Func sorts like slices.SortFunc; the order of equal elements is undefined. It calls cancelled now and then and
// returns its error; the list is then in no particular order.
func Func[T any](list []T, compare func(a, b T) int, cancelled func() error) error {
	var ended error
	compared := 0
	slices.SortFunc(list, func(a, b T) int {
		if compared++; compared%askEvery == 0 && ended == nil {
			ended = cancelled()
		}
		if ended != nil {
			return 0 // the rest is soon over
		}
		return compare(a, b)
	})
	return ended
}
