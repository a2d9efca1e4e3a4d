package engine

import (
	"bytes"
	"slices"

	"varve/engine/filter"
	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// mergeMode says which rows of equal key come out of a merge.
type mergeMode struct {
	// keepAll: every row, tombstones included, by (time, sequence): for append-only tables.
	keepAll     bool
	lastNonNull bool
	// tombstones come out too: a part that is written from some of the runs must still hide rows of the others.
	tombstones bool
	// filter is evaluated on the merged rows; its columns are in filterAt.
	filter filter.And
}

// merged walks several runs as one, by series key, then time, then sequence. It alone looks at the hidden columns.
type merged struct {
	spec   *scan.Spec // what the caller wants
	inner  *scan.Spec // request to the runs: wanted columns, filter columns, time, sequence, kind
	mode   mergeMode
	prog   *filter.Program
	at     map[schema.ColumnID]int // positions in inner.Columns
	inputs []*input
	active []*input // those that have the current series
	out    vector.Batch
	copied bool   // rows were put into out since it was emptied
	places []int  // of spec.Columns in inner.Columns
	wanted []bool // by column of inner: it is wanted or a condition looks at it
	fixed  int    // bytes that a row has of those, but for the bytes of strings
	keep   vector.Bitmap
	rows   []uint32

	// Positions of runs relative to each other, see mergepick.go:

	picks []vector.Pick
	// firsts says, where rows are folded, at which pick each row of output begins: the later picks are put over it.
	firsts []uint32
	// carried are the rows of the key at hand that were copied before all of its versions were seen.
	carried vector.Batch
	key     openKey
	tombs   int // tombstones that came out

	columns []*vector.Vector // scratch: one column of all inputs
	folded  []vector.Pick    // scratch: picks of one column

	begun bool  // the current series has given rows; with invariants
	last  int64 // time of the last of them

	cols     []*vector.Vector // scratch: a stretch that is passed on
	gathered []*vector.Vector // what filtered rows are gathered into
}

// input is one run's walk with its current batch.
type input struct {
	walk  scan.Series
	key   []byte
	done  bool
	batch vector.Batch
	pos   int
	times []int64
	seqs  []uint64
	kinds []uint64         // nil: no row of the batch is a tombstone
	flat  [3]vector.Vector // memory of these where the batch has them in another form
	width int              // no row of the batch has more bytes of strings; 0: all together have few
	ended bool             // the current series has no more batches
	last  bool             // the batch in hand is known to be the last of the current series
	least head             // while no batch is in hand: no row to come is before it

	number uint32 // position among the active inputs
}

// mergeRuns opens the merged walk. Only conditions that spec.Filter holds go down into the runs; mode.filter is
// evaluated afterwards.
func mergeRuns(runs []scan.Run, spec *scan.Spec, mode mergeMode) (*merged, error) {
	m := &merged{spec: spec, mode: mode, at: map[schema.ColumnID]int{}}
	inner := *spec
	inner.Columns = nil
	if spec.Holding == nil {
		inner.Holding = heldBy(len(runs), mostHeld)
	}
	add := func(c schema.Column) {
		if _, ok := m.at[c.ID]; !ok {
			m.at[c.ID] = len(inner.Columns)
			inner.Columns = append(inner.Columns, c)
		}
	}
	for _, c := range spec.Columns {
		add(c)
	}
	looksAt := mode.filter.AppendColumns(nil)
	for _, c := range spec.FilterColumns {
		if slices.Contains(looksAt, c.ID) {
			add(c)
		}
	}
	add(spec.TimeColumn)
	add(schema.SequenceColumn)
	add(schema.KindColumn)
	m.inner = &inner
	var err error
	if m.prog, err = filter.Compile(mode.filter); err != nil {
		return nil, err
	}
	for _, c := range spec.Columns {
		m.places = append(m.places, m.at[c.ID])
		m.gathered = append(m.gathered, &vector.Vector{})
	}
	for i, c := range inner.Columns {
		m.out.Cols = append(m.out.Cols, &vector.Vector{Type: c.Type})
		m.carried.Cols = append(m.carried.Cols, &vector.Vector{Type: c.Type})
		checked := invariant.On && c.ID == spec.TimeColumn.ID // by check
		m.wanted = append(m.wanted, i < len(spec.Columns) || slices.Contains(looksAt, c.ID) || checked)
		if m.wanted[i] {
			m.fixed += 8
		}
	}
	for _, r := range runs {
		w, err := r.Series(m.inner)
		if err != nil {
			m.Close()
			return nil, err
		}
		s := &input{walk: w}
		m.inputs = append(m.inputs, s)
		if err := s.nextSeries(); err != nil {
			m.Close()
			return nil, err
		}
	}
	return m, nil
}

// mostHeld bounds the bytes of rows that the inputs of a merge for a query hold together. One block of ordinary rows
// from each is less.
var mostHeld = int64(invariant.Limit(32<<20, 16<<10))

// heldBy divides the memory for the pieces that the walks of n runs hold. A piece is a part of a block; each further
// piece reads the block again.
func heldBy(n int, most int64) *scan.Holding {
	return &scan.Holding{Most: most, Least: most / int64(2*max(n, 1))}
}

// Close closes the walks of the runs.
func (m *merged) Close() {
	for _, s := range m.inputs {
		s.walk.Close()
	}
}

func (s *input) nextSeries() error {
	key, ok, err := s.walk.Next()
	s.key, s.done = append(s.key[:0], key...), !ok
	s.batch.N, s.pos, s.ended, s.last = 0, 0, false, false
	return err
}

// load reads the next batch of the input's current series; the input has ended if there is none.
func (m *merged) load(s *input) error {
	ok, err := s.walk.Rows(&s.batch)
	s.pos = 0
	if err != nil || !ok {
		s.batch.N, s.ended = 0, true
		s.letGo()
		return err
	}
	if e, ok := s.walk.(scan.Ending); ok {
		s.last = e.Ended()
	}
	n := s.batch.N
	s.times = s.batch.Cols[m.at[m.spec.TimeColumn.ID]].FlattenInto(&s.flat[0], n).Ints
	s.seqs = s.batch.Cols[m.at[schema.SequenceID]].FlattenInto(&s.flat[1], n).Uints
	s.kinds = nil
	if kinds := s.batch.Cols[m.at[schema.KindID]]; !allPuts(kinds, n) {
		s.kinds = kinds.FlattenInto(&s.flat[2], n).Uints
	}
	s.width = m.widthOf(&s.batch)
	return nil
}

// widthOf bounds the bytes of strings of a row that are wanted; 0: the batch has so few that nobody needs to count
// them.
func (m *merged) widthOf(b *vector.Batch) (width int) {
	heaps := 0
	for i, v := range b.Cols {
		if m.wanted[i] && v.Type.Kind() == vector.Bytes {
			heaps += len(v.Heap)
			if v.Form == vector.Dict {
				heaps += len(v.Values.Heap)
			}
		}
	}
	if heaps <= fewBytes {
		return 0
	}
	for i, v := range b.Cols {
		if m.wanted[i] && v.Type.Kind() == vector.Bytes {
			width += longest(v)
		}
	}
	return width
}

func allPuts(kinds *vector.Vector, n int) bool {
	if kinds.Form == vector.Flat {
		for _, k := range kinds.Uints[:n] {
			if k != schema.KindPut {
				return false
			}
		}
		return true
	}
	for i := range n {
		if kinds.Uint(i) != schema.KindPut {
			return false
		}
		if kinds.Form == vector.Const {
			break
		}
	}
	return true
}

// Next moves to the next series that any run has. Series whose rows all turn out to be replaced or deleted may come
// without rows.
func (m *merged) Next() ([]byte, bool, error) {
	for _, s := range m.active {
		if err := s.nextSeries(); err != nil {
			return nil, false, err
		}
	}
	m.active = m.active[:0]
	var least []byte
	for _, s := range m.inputs {
		if s.done {
			continue
		}
		switch d := bytes.Compare(s.key, least); {
		case least == nil || d < 0:
			least = s.key
			m.active = append(m.active[:0], s)
		case d == 0:
			m.active = append(m.active, s)
		}
	}
	if least == nil {
		return nil, false, nil
	}
	for i, s := range m.active {
		s.number = uint32(i)
	}
	m.carried.N, m.key.open, m.begun = 0, false, false
	return least, true, nil
}

// Rows returns the next merged rows of the current series.
func (m *merged) Rows(b *vector.Batch) (bool, error) {
	for {
		lead, to, err := m.passing()
		if err != nil {
			return false, err
		}
		if lead != nil {
			n, cols := m.slice(lead, to)
			if some, err := m.finish(b, n, cols); some || err != nil {
				return some, err
			}
			continue
		}
		if m.copied { // else nothing was put there since: series of few rows are many
			for i, c := range m.inner.Columns {
				m.out.Cols[i].Reset(c.Type)
			}
			m.copied = false
		}
		m.out.N = 0
		more, err := m.collect()
		if err != nil {
			return false, err
		}
		if m.out.N > 0 {
			if some, err := m.finish(b, m.out.N, m.out.Cols); some || err != nil {
				return some, err
			}
		}
		if !more {
			return false, nil
		}
	}
}

// passing returns an input whose next rows, up to to, are passed on without a copy; nil if rows must be collected.
func (m *merged) passing() (lead *input, to int, err error) {
	if m.key.open {
		return nil, 0, nil // it comes first
	}
	if err := m.refill(); err != nil {
		return nil, 0, err
	}
	lead, limit := m.leader()
	if lead == nil || lead.pos&63 != 0 {
		return nil, 0, nil
	}
	if to = m.stretch(lead, limit, vector.Size); to == lead.batch.N || to-lead.pos >= passRows {
		return lead, to, nil
	}
	return nil, 0, nil
}

// passRows is the length from which a stretch of one run is passed on where it lies instead of being copied: stretches
// of 512 rows come out in 4 ns a row against 8 for three columns, in 24 against 90 for nine. What is passed on is a
// batch of its own: shorter ones would cost readers more, batch by batch, than a copy of a few columns does.
var passRows = invariant.Limit(256, 1)

// slice is the leader's rows up to to, not copied.
func (m *merged) slice(s *input, to int) (int, []*vector.Vector) {
	from := s.pos
	s.pos = to
	if from == 0 && to == s.batch.N {
		return to, s.batch.Cols
	}
	m.cols = m.cols[:0]
	for _, c := range s.batch.Cols {
		m.cols = append(m.cols, c.Slice(from, to))
	}
	return to - from, m.cols
}

// stretch returns the end of the leader's rows, at most n, that come out as they are before any row of another run.
func (m *merged) stretch(s *input, limit head, n int) int {
	if m.mode.keepAll {
		return s.before(limit, n)
	}
	return s.alone(limit, n)
}

// finish filters merged rows and gives b the wanted columns; false when no row is left.
func (m *merged) finish(b *vector.Batch, n int, cols []*vector.Vector) (some bool, err error) {
	if invariant.On {
		m.check(n, cols)
	}
	b.N, b.Cols = n, b.Cols[:0]
	all := len(m.prog.Conds) == 0
	if !all {
		m.keep = append(m.keep[:0], make(vector.Bitmap, vector.Words(n))...)
		m.keep.Fill(n)
		m.prog.Eval(n, func(id schema.ColumnID) *vector.Vector { return cols[m.at[id]] }, m.keep)
		if m.spec.Context != nil {
			if err := m.spec.Context.Err(); err != nil { // conditions were cut short, see filter.And.Prepare
				return false, err
			}
		}
		all = m.keep.All(n)
	}
	if all {
		for _, at := range m.places {
			b.Cols = append(b.Cols, cols[at])
		}
		return true, nil
	}
	m.rows = m.keep.AppendRows(m.rows[:0])
	b.N = len(m.rows)
	for i, at := range m.places {
		m.gathered[i].Gather(cols[at], m.rows)
		b.Cols = append(b.Cols, m.gathered[i])
	}
	return b.N > 0, nil
}

// check holds that the rows of a series come by time, and one for each time where rows replace each other.
func (m *merged) check(n int, cols []*vector.Vector) {
	for _, t := range cols[m.at[m.spec.TimeColumn.ID]].Flatten(n).Ints[:n] {
		again := m.mode.keepAll || m.mode.tombstones
		invariant.Check(!m.begun || t > m.last || t == m.last && again, "time %d of a merged series comes behind %d", t,
			m.last)
		m.begun, m.last = true, t
	}
}

// before returns the end of the input's rows, at most n, that come before limit; at least one, the leader's own.
func (s *input) before(limit head, n int) int {
	to := min(s.batch.N, s.pos+n)
	if s.times[to-1] < limit.time {
		return to
	}
	k := s.pos + 1
	for near := min(to, s.pos+8); k < near && s.times[k] < limit.time; k++ {
	}
	if k == s.pos+8 { // long stretches are found by halving
		at, _ := slices.BinarySearch(s.times[k:to], limit.time)
		k += at
	}
	for ; k < to && s.times[k] == limit.time && s.seqs[k] <= limit.seq; k++ {
	}
	return k
}

// alone returns the end of the stretch of rows, at most n, that are put as they are: no other row in this run or before
// limit has the time of one of them.
func (s *input) alone(limit head, n int) int {
	if s.kinds != nil {
		return s.pos
	}
	times := s.times[s.pos:s.batch.N]
	k := 0
	for k < len(times)-1 && k < n && times[k] != times[k+1] && times[k] < limit.time {
		k++
	}
	if s.last && k == len(times)-1 && k < n && times[k] < limit.time {
		k++ // no batch follows that may have the same time
	}
	return s.pos + k
}
