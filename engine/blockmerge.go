package engine

import (
	"sort"

	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// rawRows are the rows of one series from all runs, with the data that decides which of them count.
type rawRows struct {
	cols  []vector.Vector // by column of the table
	items []rawRow        // those of each source by (time, sequence)
	from  []int           // where the items of each source begin
	aside []rawRow        // scratch of mergeTwo
	pick  []int           // by column: the row that counts at the time at hand; -1: none
	last  []int           // the same for the rows of one instant, see lastNonNull
}

// rawRow is a row before it is known whether it counts.
type rawRow struct {
	ms      int64 // since the epoch
	time    int64 // in the table's unit
	seq     uint64
	row     int // in cols
	deleted bool
}

func (r *rawRows) bytes() int64 {
	n := int64(cap(r.items)+cap(r.aside)) * 40
	for c := range r.cols {
		v := &r.cols[c]
		n += int64(cap(v.Ints)+cap(v.Uints)+cap(v.Floats)+cap(v.Views)+cap(v.Bools))*8 + int64(cap(v.Heap))
	}
	return n
}

// mergeSeries appends the samples of a series whose sources overlap or replace each other's rows.
func (b *SampleBlock) mergeSeries(t *wantedTable, i int) error {
	r := &b.raw
	for len(r.cols) < len(t.columns) {
		r.cols = append(r.cols, vector.Vector{})
	}
	for c := range t.columns {
		r.cols[c].Reset(t.columns[c].Type)
	}
	r.items, r.from = r.items[:0], r.from[:0]
	for _, src := range b.s.sourcesOf(i) {
		r.from = append(r.from, len(r.items))
		if err := b.collectSource(t, src); err != nil {
			return err
		}
	}
	r.merge()
	r.pick, r.last = vector.Sized(r.pick, len(t.columns)), vector.Sized(r.last, len(t.columns))
	at := (i - b.from) * b.width
	spans := b.spans[at : at+len(t.columns)]
	for c := range spans {
		col := &b.columns[c]
		spans[c] = blockSpan{own: true, time: len(col.times), value: col.values(t.floats(c))}
	}
	for from := 0; from < len(r.items); {
		if to := r.plainTo(from); to > from {
			b.appendPlain(t, spans, from, to)
			from = to
			continue
		}
		to := from + 1
		for to < len(r.items) && r.items[to].ms == r.items[from].ms {
			to++
		}
		r.choose(t.mode, r.items[from:to])
		for c, row := range r.pick {
			if row >= 0 {
				b.columns[c].times = append(b.columns[c].times, r.items[from].ms)
				b.appendValues(&b.columns[c], t, c, &r.cols[c], row, row+1)
				spans[c].n++
			}
		}
		from = to
	}
	return b.account()
}

// collectSource gathers the rows of a source.
func (b *SampleBlock) collectSource(t *wantedTable, src seriesSource) error {
	r := &b.raw
	rows, part, err := b.open(t, src)
	if err != nil {
		return err
	}
	for {
		ok, err := b.next(t, rows, part)
		if err != nil || !ok {
			return err
		}
		s := &b.stretch
		kinds, err := rows.Kinds(s)
		if err != nil {
			return b.s.from.damages.met(t.group.region, part, err)
		}
		seqs, err := rows.Sequences(s)
		if err != nil {
			return b.s.from.damages.met(t.group.region, part, err)
		}
		n := len(r.items)
		for k := s.From; k < s.To; k++ {
			r.items = append(r.items,
				rawRow{0, s.Times[k-s.From], seqs.Uint(k), len(r.items), kinds.Uint(k) != schema.KindPut})
		}
		setMS(r.items[n:], t.unit)
		for c := range t.columns {
			r.cols[c].Append(n, s.Cols[t.at[c]], s.From, s.To)
		}
		if err := b.account(); err != nil {
			return err
		}
	}
}

func setMS(items []rawRow, unit int64) {
	for i := range items {
		switch it := &items[i]; {
		case unit >= 1000:
			it.ms = timefmt.FloorDiv(it.time, unit/1000)
		default:
			it.ms = it.time * (1000 / unit)
		}
	}
}

// merge puts the rows of all sources in order, so that a later row replaces an earlier one. It merges two neighbouring
// lists at a time until one is left.
func (r *rawRows) merge() {
	for len(r.from) > 1 {
		ends := append(r.from, len(r.items))
		merged := r.from[:0]
		for k := 0; k+1 < len(ends); k += 2 {
			from, mid := ends[k], ends[k+1]
			if k+2 < len(ends) {
				r.mergeTwo(from, mid, ends[k+2])
			}
			merged = append(merged, from)
		}
		r.from = merged
	}
}

// mergeTwo merges items [from, mid) with items [mid, to). Each list is in order.
func (r *rawRows) mergeTwo(from, mid, to int) {
	if from == mid || mid == to || !r.items[mid].before(&r.items[mid-1]) {
		return
	}
	first := r.items[mid]
	from += sort.Search(mid-from, func(k int) bool { return first.before(&r.items[from+k]) })
	r.aside = append(r.aside[:0], r.items[from:mid]...)
	left, right, out := r.aside, r.items[mid:to], r.items[from:to]
	for len(left) > 0 && len(right) > 0 {
		if right[0].before(&left[0]) {
			out[0], right = right[0], right[1:]
		} else {
			out[0], left = left[0], left[1:]
		}
		out = out[1:]
	}
	copy(out, left)
}

// before reports whether a row comes before another: by time, then by sequence number.
func (a *rawRow) before(b *rawRow) bool { return a.time < b.time || a.time == b.time && a.seq < b.seq }

// plainTo is the end of the rows from an item on that stand alone and lie side by side in cols: each has a millisecond
// of its own, and none is a tombstone.
func (r *rawRows) plainTo(from int) int {
	items := r.items[from:]
	n := 0
	for n < len(items) && items[n].row == items[0].row+n && !items[n].deleted &&
		(n+1 == len(items) || items[n].ms < items[n+1].ms) {
		n++
	}
	return from + n
}

// appendPlain appends rows [from, to) of the items, which plainTo found.
func (b *SampleBlock) appendPlain(t *wantedTable, spans []blockSpan, from, to int) {
	items := b.raw.items[from:to]
	for c := range spans {
		col, v := &b.columns[c], &b.raw.cols[c]
		for k := 0; k < len(items); {
			end := k
			for row := items[0].row; end < len(items) && !v.IsNull(row+end); end++ {
				col.times = append(col.times, items[end].ms)
			}
			if end > k {
				b.appendValues(col, t, c, v, items[0].row+k, items[0].row+end)
				spans[c].n += end - k
			}
			k = end + 1
		}
	}
}

// choose sets pick for the rows of one millisecond.
func (r *rawRows) choose(mode mergeMode, items []rawRow) {
	noRow(r.pick)
	if mode.keepAll {
		for i := range items {
			r.overlay(r.pick, items[i].row)
		}
		return
	}
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].time == items[from].time {
			to++
		}
		noRow(r.last)
		first := to - 1
		if mode.lastNonNull {
			first = from
		}
		for i := first; i < to; i++ {
			if items[i].deleted {
				noRow(r.last)
			} else {
				r.overlay(r.last, items[i].row)
			}
		}
		for c, row := range r.last {
			if row >= 0 {
				r.pick[c] = row
			}
		}
		from = to
	}
}

// overlay sets the columns that have a value in a row.
func (r *rawRows) overlay(pick []int, row int) {
	for c := range pick {
		if !r.cols[c].IsNull(row) {
			pick[c] = row
		}
	}
}

// noRow has no row count.
func noRow(pick []int) {
	for c := range pick {
		pick[c] = -1
	}
}
