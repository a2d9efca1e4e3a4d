package opentables

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// secondsOfDay is the length of a window.
const secondsOfDay = 24 * 60 * 60

// The first and the last day that are written: those of the years 1 to 9999, which all readers know.
const (
	firstDay = -719162
	lastDay  = 2932896
)

// candidate is a day to look at.
type candidate struct {
	day      int32
	sequence uint64 // of the newest part that may hold its rows
	there    bool   // a part or a memtable may hold its rows
}

// export writes the days of a table that are not written as they are: those that are closed; all of them with all set.
func (x *Exporter) export(ctx context.Context, t *engine.Table, all bool) error {
	k := x.table(t.Schema)
	if err := k.lock(ctx); err != nil {
		return err
	}
	defer k.unlock()
	t, err := x.fresh(t.Schema)
	if err != nil {
		return err
	}
	if err := k.load(ctx); err != nil {
		return err
	}
	if err := k.prepare(ctx, t.Schema); err != nil {
		return err
	}
	now := x.o.Now()
	length := secondsOfDay * t.Schema.TimeColumn().Type.UnitsPerSecond()
	marks, err := x.o.Engine.TimeMarks(t, length, writable(length))
	if err != nil {
		return err
	}
	closed := timefmt.FloorDiv(now.Add(-x.o.CloseAfter).Unix(), secondsOfDay) // the first day that is not closed
	due := slices.DeleteFunc(k.candidates(&marks), func(c candidate) bool {
		return !all && int64(c.day) >= closed || !k.due(c, t, &marks, length, now, all)
	})
	if due, err = k.inhabited(ctx, t, due, length, now); err != nil {
		return err
	}
	for _, c := range due {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.day(ctx, t, c, length, now); err != nil {
			return err
		}
	}
	until := time.Unix(closed*secondsOfDay, 0).UTC()
	k.complete.Store(&until)
	if all {
		if err := k.exported(ctx, until, now); err != nil {
			return err
		}
	}
	return k.sweep(ctx, now)
}

// fewDays is how many days that were never written are each scanned for rows without asking first.
const fewDays = 32

// inhabited leaves out days that were never written and have no rows. A row of a clock that was never set, next to
// those of today, makes all days between them candidates: one scan of the times tells them apart, in place of one scan
// a day.
func (k *table) inhabited(ctx context.Context, t *engine.Table, due []candidate, length int64, now time.Time) (
	[]candidate, error) {
	var low, high int32
	fresh := 0
	for _, c := range due {
		if k.state.find(c.day) == nil {
			if fresh == 0 {
				low = c.day
			}
			high = c.day
			fresh++
		}
	}
	if fresh <= fewDays {
		return due, nil
	}
	there := map[int64]struct{}{} // at most the windows that TimeMarks lists
	times := engine.WindowRange(int64(low), length)
	times.To = engine.WindowRange(int64(high), length).To
	ids := []schema.ColumnID{t.Schema.TimeColumn().ID}
	err := k.scan(ctx, t, times, ids, 0, func(b *vector.Batch, _ []schema.ColumnID) error {
		for i := range b.N {
			there[timefmt.FloorDiv(b.Cols[0].Int(i), length)] = struct{}{}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(due, func(c candidate) bool {
		_, is := there[int64(c.day)]
		if is || k.state.find(c.day) != nil {
			return false
		}
		k.looked[c.day] = look{now, max(c.sequence, t.Schema.Emptied), !c.there}
		return true
	}), nil
}

// writable are the times of the days that are written.
func writable(length int64) scan.Range {
	if length > math.MaxInt64/(lastDay+1) {
		return scan.All // of nanoseconds, which reach from 1677 to 2262
	}
	return scan.Range{From: firstDay * length, To: (lastDay+1)*length - 1}
}

// candidates are the days that may hold rows, and those that were written, by day.
func (k *table) candidates(marks *engine.TimeMarks) []candidate {
	list := make([]candidate, 0, len(marks.List))
	for _, m := range marks.List {
		list = append(list, candidate{int32(m.Window), m.Sequence, true})
	}
	for i := range k.state.Days {
		d := k.state.Days[i].Day
		if _, there := slices.BinarySearchFunc(marks.List, int64(d), func(m engine.TimeMark, d int64) int {
			switch {
			case m.Window < d:
				return -1
			case m.Window > d:
				return 1
			}
			return 0
		}); !there {
			list = append(list, candidate{day: d})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return int(a.day) - int(b.day) })
	return list
}

// due reports whether a day is to be looked at. Days that the ttl has begun to take stay as they were written, and days
// before all others of a database with max_size, whose parts may have been dropped.
func (k *table) due(c candidate, t *engine.Table, marks *engine.TimeMarks, length int64, now time.Time, all bool) bool {
	d := k.state.find(c.day)
	last := k.looked[c.day]
	emptied := t.Schema.Emptied
	switch {
	case d == nil:
		return last.at.IsZero() || c.sequence > last.sequence || all
	case int64(c.day)*length < marks.Oldest:
		return false
	case !c.there && d.Sequence >= emptied && marks.Bounded && k.before(c.day, marks):
		return false
	}
	known := max(d.Sequence, last.sequence)
	if d.Epoch == k.state.Epoch && known >= max(c.sequence, emptied) && (c.there || last.gone) && !all {
		return false
	}
	if all {
		return true
	}
	written := time.UnixMilli(d.AtMS)
	return now.Sub(written) >= k.x.o.RewriteEvery && now.Sub(last.at) >= k.x.o.RewriteEvery
}

// before reports whether a day lies before all that may hold rows.
func (k *table) before(day int32, marks *engine.TimeMarks) bool {
	return len(marks.List) == 0 || int64(day) < marks.List[0].Window
}

// find returns a day that was written; nil: it was not.
func (s *state) find(d int32) *day {
	if i := s.place(d); i < len(s.Days) && s.Days[i].Day == d {
		return &s.Days[i]
	}
	return nil
}

// place is where a day stands, or would.
func (s *state) place(d int32) int {
	return sort.Search(len(s.Days), func(i int) bool { return s.Days[i].Day >= d })
}

// day looks at a day and writes it if its rows are others than those that were written.
func (k *table) day(ctx context.Context, t *engine.Table, c candidate, length int64, now time.Time) error {
	old := k.state.find(c.day)
	sequence := max(c.sequence, t.Schema.Emptied)
	if old != nil && old.Epoch == k.state.Epoch {
		found, err := k.sumOf(ctx, t, c.day, length)
		if err != nil {
			return err
		}
		if found.Rows == old.Rows && found.Value == old.Sum {
			k.looked[c.day] = look{now, sequence, !c.there}
			return nil
		}
	}
	w, err := k.write(ctx, t, c.day, length)
	if err != nil {
		return err
	}
	if w.sum.Rows > 0 || old != nil {
		if err := k.publish(ctx, c.day, sequence, w, now); err != nil {
			return err
		}
	}
	k.looked[c.day] = look{now, sequence, !c.there}
	return nil
}
