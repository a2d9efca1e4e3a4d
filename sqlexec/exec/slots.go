package exec

import (
	"fmt"
	"math"

	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// SlotsSpec says which slots a row of a range query belongs to.
type SlotsSpec struct {
	Time         int // the time index among the columns
	Origin, Step int64
	Ranges       []int64     // falling; all in the unit of the time index
	Type         vector.Type // of the time index
}

// Slots repeats each row for every slot T = Origin + k*Step with T <= time < T + the longest range. It adds the slot as
// a column, and for each shorter range a BOOLEAN column: whether the row lies in it too.
func Slots(spec SlotsSpec, budget *Budget) Operator { return &slotsOp{spec, budget.Err} }

type slotsOp struct {
	SlotsSpec
	cancelled func() error
}

func (s *slotsOp) String() string {
	return fmt.Sprintf("Slots: step=%d, ranges=%v", s.SlotsSpec.Step, s.Ranges)
}

// Step repeats rows for their slots, at most a batch at a time.
func (s *slotsOp) Step(next Step) Step {
	n := &s.SlotsSpec
	buf := make([]uint32, 0, vector.Size)
	pass := func(b *vector.Batch, rows []uint32, slots []int64) error {
		if err := s.cancelled(); err != nil || len(rows) == 0 {
			return err
		}
		return next(n.slotted(b, rows, slots))
	}
	return func(b *vector.Batch) error {
		times := b.Cols[n.Time]
		rows, slots := buf, make([]int64, 0, vector.Size) // the slots are passed on
		for i := range b.N {
			first, last, err := n.slotsOf(times, i)
			if err != nil {
				return err
			}
			for k := first; k <= last; k++ {
				rows, slots = append(rows, uint32(i)), append(slots, n.Origin+k*n.Step)
				if len(rows) < vector.Size {
					continue
				}
				if err := pass(b, rows, slots); err != nil {
					return err
				}
				rows, slots = buf, make([]int64, 0, vector.Size)
			}
		}
		return pass(b, rows, slots)
	}
}

// slotted holds rows of a batch, each with its slot and a boolean for each further range that contains it.
func (n *SlotsSpec) slotted(b *vector.Batch, rows []uint32, slots []int64) *vector.Batch {
	times := b.Cols[n.Time]
	out := gather(b, rows)
	out.Cols = append(out.Cols, &vector.Vector{Type: n.Type, Ints: slots})
	for _, span := range n.Ranges[1:] {
		inside := &vector.Vector{Type: vector.BoolType, Bools: vector.MakeBitmap(len(rows))}
		for i, r := range rows {
			if times.Int(int(r))-slots[i] < span {
				inside.Bools.Set(i)
			}
		}
		out.Cols = append(out.Cols, inside)
	}
	return out
}

// slotRange returns the range of k for which origin + k*step <= t < origin + k*step + span: first..last, empty when
// first > last. ok is false when t is out of reach.
func slotRange(t, origin, step, span int64) (first, last int64, ok bool) {
	d := t - origin
	if (t >= 0) != (d >= 0) && (origin >= 0) != (t >= 0) { // overflow
		return 0, -1, false
	}
	last = timefmt.FloorDiv(d, step)
	if d < math.MinInt64+span {
		return 0, -1, false
	}
	first = timefmt.FloorDiv(d-span, step)
	return first + 1, last, true
}

// maxSlotsPerRow bounds how often Slots repeats a row.
const maxSlotsPerRow = 1_000_000

// slotsOf returns the numbers first..last of the slots of row i; none when first > last.
func (n *SlotsSpec) slotsOf(times *vector.Vector, i int) (first, last int64, err error) {
	if n.Ranges[0]/n.Step > maxSlotsPerRow {
		return 0, -1, status.New(status.InvalidArguments,
			"a row would lie in more than %d slots: the range is too long for the step", maxSlotsPerRow)
	}
	if times.IsNull(i) {
		return 0, -1, nil
	}
	first, last, ok := slotRange(times.Int(i), n.Origin, n.Step, n.Ranges[0])
	if !ok {
		return 0, -1, nil
	}
	return first, last, nil
}
