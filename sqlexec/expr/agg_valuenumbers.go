package expr

import (
	"iter"

	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// numbersOf enters values of another interner into values, and returns the number of each in values by its number in
// the other. It enters all of them, or only the values that are the second half of a pair.
func (h *cancellation) numbersOf(values, other *intern.Interner, all bool, pairs iter.Seq2[uint32, uint32]) (
	[]uint32, error) {
	numbers := make([]uint32, other.Len())
	if all {
		for from := 0; from < len(numbers); from += vector.Size {
			n := min(vector.Size, len(numbers)-from)
			if err := h.did(n); err != nil {
				return nil, err
			}
			values.Intern(other.Values.Slice(from, from+n), n, numbers[from:from+n])
		}
		return numbers, nil
	}
	seen := vector.MakeBitmap(len(numbers))
	for _, id := range pairs {
		if err := h.did(1); err != nil {
			return nil, err
		}
		seen.Set(int(id))
	}
	var part vector.Vector
	var here [vector.Size]uint32
	for ids := seen.AppendRows(nil); len(ids) > 0; {
		some := ids[:min(vector.Size, len(ids))]
		ids = ids[len(some):]
		if err := h.did(len(some)); err != nil {
			return nil, err
		}
		part.Gather(other.Values, some)
		values.Intern(&part, len(some), here[:])
		for i, id := range some {
			numbers[id] = here[i]
		}
	}
	return numbers, nil
}
