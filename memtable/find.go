package memtable

import (
	"context"
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Find returns the series of some tables whose tags pass and that have rows in chunks of the time range.
func (r *Run) Find(want *scan.Find) (scan.Found, error) {
	var numbers []uint32 // rising
	var byKey [][]uint32
	for _, id := range want.Tables {
		some, err := r.s.series.passing(id, want)
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			byKey = append(byKey, r.s.series.inKeyOrder(id, some))
			numbers = append(numbers, some...)
		}
	}
	if len(byKey) > 1 {
		slices.Sort(numbers)
	}
	if err := cancelled(want); err != nil {
		return nil, err
	}
	f := &found{s: r.s, want: want}
	if err := f.gather(numbers, byKey); err != nil {
		return nil, err
	}
	return f, f.open()
}

// TagValues calls f with the values of a tag.
func (r *Run) TagValues(ctx context.Context, tables []schema.TableID, tag schema.Column, f func(val []byte)) error {
	for _, id := range tables {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(r.s.series.of(id)) == 0 {
			continue
		}
		t, err := r.s.series.tag(id, tag)
		if err != nil {
			return err
		}
		for i := range t.keys.Len() {
			f(t.keys.Bytes(i))
		}
	}
	return nil
}

func cancelled(want *scan.Find) error {
	if want.Context == nil {
		return nil
	}
	return want.Context.Err()
}

// passing returns the numbers of a table's series whose tags pass, rising. They are not to be changed.
func (v *seriesSnapshot) passing(id schema.TableID, want *scan.Find) ([]uint32, error) {
	numbers := v.of(id)
	if len(numbers) == 0 || len(want.Tests) == 0 {
		return numbers, nil
	}
	ranks, done, err := v.named(id, want)
	if err != nil {
		return nil, err
	}
	for i := range want.Tests {
		if i == done {
			continue
		}
		if ranks != nil && len(ranks) == 0 {
			return nil, nil
		}
		tag, err := v.tag(id, want.Tests[i].Column)
		if err != nil {
			return nil, err
		}
		if ranks == nil {
			ranks = make([]uint32, len(numbers))
			for rank := range ranks {
				ranks[rank] = uint32(rank)
			}
		}
		if ranks, err = tag.keep(ranks, &want.Tests[i], want); err != nil {
			return nil, err
		}
	}
	for i, rank := range ranks {
		ranks[i] = numbers[rank]
	}
	return ranks, nil
}

// named finds the test with named values that leaves the fewest series, and returns these series. ranks is nil if there
// is no such test.
func (v *seriesSnapshot) named(id schema.TableID, want *scan.Find) (ranks []uint32, test int, err error) {
	test = -1
	for i := range want.Tests {
		t := &want.Tests[i]
		if t.Values == nil || t.Passes(schema.InitialTag(t.Column.Default)) {
			continue // or the series that do not name the tag pass
		}
		some, err := v.having(id, t.Column.ID, t.Values)
		if err != nil {
			return nil, -1, err
		}
		if test < 0 || len(some) < len(ranks) {
			ranks, test = some, i
		}
	}
	return ranks, test, nil
}

// keep leaves the series that pass a test, in place. Each value is tested once.
func (t *tagColumn) keep(ranks []uint32, test *scan.TagTest, want *scan.Find) ([]uint32, error) {
	n := t.keys.Len()
	tested, passes := vector.MakeBitmap(1+n), vector.MakeBitmap(1+n)
	tested.Set(0)
	if test.Null {
		passes.Set(0)
	}
	kept := ranks[:0]
	for i, rank := range ranks {
		if i%askValues == 0 {
			if err := cancelled(want); err != nil {
				return nil, err
			}
		}
		code := int(t.codes[rank])
		if !tested.Get(code) {
			tested.Set(code)
			if test.Passes(t.keys.Bytes(code - 1)) {
				passes.Set(code)
			}
		}
		if passes.Get(code) {
			kept = append(kept, rank)
		}
	}
	return kept, nil
}

// askValues is the number of series after which a test checks for cancellation.
const askValues = 4096

// sortShare bounds the series that are sorted for a reader: one in sortShare of the table's. If more are wanted, a walk
// of all series, whose order is kept, costs less than a sort, which compares keys.
const sortShare = 64

// inKeyOrder returns some series of a table, whose numbers rise, by rising key.
func (v *seriesSnapshot) inKeyOrder(id schema.TableID, numbers []uint32) []uint32 {
	if len(numbers) <= min(fewSeries, len(v.of(id))/sortShare) {
		sorted := slices.Clone(numbers)
		slices.SortFunc(sorted, v.compare)
		return sorted
	}
	wanted := vector.MakeBitmap(v.len())
	for _, n := range numbers {
		wanted.Set(int(n))
	}
	sorted := make([]uint32, 0, len(numbers))
	for _, n := range v.sorted(id) {
		if int(n) < v.len() && wanted.Get(int(n)) {
			sorted = append(sorted, n)
		}
	}
	return sorted
}
