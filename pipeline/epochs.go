package pipeline

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/pipeline/processor"
)

// Counts of units far from our time are mostly counts of another unit: seconds taken for milliseconds lie in January
// 1970, milliseconds taken for seconds past the year 57000. They are written as they are, and warned of.

// firstYear and lastYear bound the times of the rows that are not warned of.
const (
	firstYear = 1971
	lastYear  = 2200
)

// maxWarnedTables bounds the tables remembered as warned of; past it all are forgotten.
const maxWarnedTables = 10_000

// warned remembers the tables that were warned of. Safe for concurrent use.
type warned struct {
	mu     sync.Mutex
	tables map[schema.Name]bool
}

// once returns the warnings about the times of a request's rows, unless its table was warned of before, and logs them.
func (m *Manager) once(r *Request, find func() []string) []string {
	table := schema.Name{DB: r.DB, Table: r.Table}
	m.warned.mu.Lock()
	done := m.warned.tables[table]
	m.warned.mu.Unlock()
	if done {
		return nil
	}
	list := find()
	if len(list) == 0 {
		return nil
	}
	m.warned.mu.Lock()
	defer m.warned.mu.Unlock()
	if m.warned.tables == nil || len(m.warned.tables) >= maxWarnedTables {
		m.warned.tables = map[schema.Name]bool{}
	}
	if m.warned.tables[table] {
		return nil
	}
	m.warned.tables[table] = true
	for _, text := range list {
		m.o.Logger.Warn(text, "db", r.DB)
	}
	return list
}

// timeWarnings are the warnings about the times of the worker's rows.
func (w *worker) timeWarnings() (list []string) {
	for _, s := range w.order {
		if p := s.target.program; p != nil && !p.dated {
			list = appendNew(list, timeWarning(w.request.Table+s.suffix, s.target.hints.time, s.b))
		}
	}
	return list
}

func appendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// timeWarning warns of a time index that holds times far from ours; empty for none.
func timeWarning(table, column string, b *vector.Builder) string {
	c := b.Lookup(column)
	if c == nil || !c.Type().IsTimestamp() {
		return ""
	}
	unit := c.Type().UnitsPerSecond()
	low := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix() * unit
	high := time.Date(lastYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix() * unit
	x, found := c.FirstOutside(low, high)
	if !found {
		return ""
	}
	precision := c.Type().Precision
	name := map[uint8]string{0: "seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}[precision]
	return fmt.Sprintf(
		"the time index %q of the table %q is %d %s since 1970, %s, outside of %d to %d: is the unit right?",
		column, table, x, name, timefmt.AppendTimestamp(nil, x, precision), firstYear, lastYear)
}

// isDated reports whether the time index is read from text by a date processor, or filled by the clock.
func (p *Program) isDated() bool {
	slot := p.timeSlot
	for i := range p.columns {
		if p.columns[i].time {
			if slot = p.columns[i].slot; p.columns[i].name == timeColumn {
				return true
			}
		}
	}
	for _, s := range p.stages {
		if s.name == "date" && slices.ContainsFunc(processor.Times(s.Processor),
			func(t processor.Time) bool { return t.Slot == slot }) {
			return true
		}
	}
	return false
}
