package engine

import (
	"math"
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
)

// TimeMark is a window of a table's time that may hold rows.
type TimeMark struct {
	Window int64 // its number: it begins at Window times the length of a window
	// Sequence is the newest sequence number of the parts that may hold its rows: rows that were added, replaced or
	// deleted before the last flush raise it, and merges may. 0: all its rows are in memtables.
	Sequence uint64
}

// TimeMarks are the windows of a table that may hold rows, by number.
type TimeMarks struct {
	List []TimeMark
	// Oldest is the time, in the unit of the time index, before which rows have expired.
	Oldest int64
	// Bounded reports that max_size may have dropped the oldest parts.
	Bounded bool
}

// maxTimeMarks bounds the windows of a table that are listed.
const maxTimeMarks = 100_000

// TimeMarks lists the windows of a length, in the unit of the time index, that may hold rows of a table. Times outside
// of within are left out. It reads no row.
func (e *Engine) TimeMarks(t *Table, length int64, within scan.Range) (TimeMarks, error) {
	if err := e.door.enter(); err != nil {
		return TimeMarks{}, err
	}
	defer e.door.leave()
	snap := t.region.pin()
	defer t.region.unpin(snap)
	if t.dropped() {
		return TimeMarks{}, droppedError(t.Schema.Name)
	}
	known := map[int64]uint64{}
	enter := func(run scan.Run, seq uint64) error {
		span := run.Span()
		if timefmt.FloorDiv(span.From, length) == timefmt.FloorDiv(span.To, length) {
			return mark(known, span.And(within), length, seq)
		}
		for i := range run.Blocks() {
			_, span := run.Block(i)
			if err := mark(known, span.And(within), length, seq); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range snap.parts {
		if err := enter(p.run, p.meta.MaxSeq); err != nil {
			return TimeMarks{}, err
		}
	}
	for _, m := range snap.mems() {
		if run := m.table.Live(); run.Rows() > 0 {
			if err := enter(run, 0); err != nil {
				return TimeMarks{}, err
			}
		}
	}
	marks := TimeMarks{Oldest: e.inventory.oldest(t.Schema),
		Bounded: e.catalog.Load().maxSize(t.Schema.Name.DB, e.inventory.o.MaxDatabaseBytes) > 0}
	for n, seq := range known {
		marks.List = append(marks.List, TimeMark{n, seq})
	}
	slices.SortFunc(marks.List, func(a, b TimeMark) int {
		if a.Window < b.Window {
			return -1
		}
		return 1
	})
	return marks, nil
}

// mark enters the windows of a span.
func mark(known map[int64]uint64, span scan.Range, length int64, seq uint64) error {
	if span.From > span.To {
		return nil
	}
	for n := timefmt.FloorDiv(span.From, length); n <= timefmt.FloorDiv(span.To, length); n++ {
		known[n] = max(known[n], seq)
		if len(known) > maxTimeMarks {
			return status.New(status.Unsupported,
				"the rows of the table lie in more than %d days: delete those whose times are wrong", maxTimeMarks)
		}
	}
	return nil
}

// Opens returns the format in which a table is written for other engines too, by its own option open_format, or that of
// its physical table or of its database; empty: in none. Tables of the server and physical tables never are.
func (e *Engine) Opens(t *schema.Table) (format string) {
	if ofServer(t) || t.Shared() || t.Draft {
		return ""
	}
	c := e.catalog.Load()
	_, own := t.Options.Find(schema.OpenOption)
	if r := c.regions[t.Physical]; !own && t.Physical != 0 && r != nil {
		format, _ = c.option(r.snap.Load().schema, schema.OpenOption)
	} else {
		format, _ = c.option(t, schema.OpenOption)
	}
	if format == schema.OpenNone {
		return ""
	}
	return format
}

// WindowRange are the times of a window of a length.
func WindowRange(n, length int64) scan.Range {
	if n > math.MaxInt64/length-1 || n < math.MinInt64/length+1 {
		return scan.Range{From: 0, To: -1}
	}
	return scan.Range{From: n * length, To: (n+1)*length - 1}
}
