package engine

import (
	"bytes"
	"slices"

	"varve/engine/filter"
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
	spec    *scan.Spec // what the caller wants
	inner   *scan.Spec // what the runs are asked for: wanted columns, filter columns, time, sequence, kind
	mode    mergeMode
	prog    *filter.Program
	at      map[schema.ColumnID]int // positions in inner.Columns
	sources []*source
	active  []*source // those that have the current series
	out     vector.Batch
	keep    vector.Bitmap
	rows    []uint32
	fold    *vector.Batch // scratch row of last_non_null
	tombs   int           // tombstones that came out

	cols     []*vector.Vector // scratch: a stretch that is passed on
	gathered []*vector.Vector // what filtered rows are gathered into
}

// source is one run's walk with its current batch.
type source struct {
	walk  scan.Series
	key   []byte
	done  bool
	batch vector.Batch
	pos   int
	times []int64
	seqs  *vector.Vector
	kinds *vector.Vector
	puts  bool // no row of the batch is a tombstone
}

// mergeRuns opens the merged walk. Only conditions that spec.Filter holds go down into the runs; mode.filter is evaluated
// afterwards.
func mergeRuns(runs []scan.Run, spec *scan.Spec, mode mergeMode) (*merged, error) {
	m := &merged{spec: spec, mode: mode, at: map[schema.ColumnID]int{}}
	inner := *spec
	inner.Columns = nil
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
	for range spec.Columns {
		m.gathered = append(m.gathered, &vector.Vector{})
	}
	for _, c := range inner.Columns {
		m.out.Cols = append(m.out.Cols, &vector.Vector{Type: c.Type})
	}
	for _, r := range runs {
		w, err := r.Series(m.inner)
		if err != nil {
			m.Close()
			return nil, err
		}
		s := &source{walk: w}
		m.sources = append(m.sources, s)
		if err := s.nextSeries(); err != nil {
			m.Close()
			return nil, err
		}
	}
	return m, nil
}

// Close closes the walks of the runs.
func (m *merged) Close() {
	for _, s := range m.sources {
		s.walk.Close()
	}
}

func (s *source) nextSeries() error {
	key, ok, err := s.walk.Next()
	s.key, s.done = append(s.key[:0], key...), !ok
	s.batch.N, s.pos = 0, 0
	return err
}

// load makes sure that the source has a row of the current series; false at the end of the series.
func (m *merged) load(s *source) (bool, error) {
	for s.pos >= s.batch.N {
		ok, err := s.walk.Rows(&s.batch)
		if err != nil || !ok {
			return false, err
		}
		s.pos = 0
		s.times = s.batch.Cols[m.at[m.spec.TimeColumn.ID]].Flatten(s.batch.N).Ints
		s.seqs = s.batch.Cols[m.at[schema.SequenceID]]
		s.kinds = s.batch.Cols[m.at[schema.KindID]]
		s.puts = allPuts(s.kinds, s.batch.N)
	}
	return true, nil
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
	for _, s := range m.sources {
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
	return least, true, nil
}

// Rows gives the next merged rows of the current series.
func (m *merged) Rows(b *vector.Batch) (bool, error) {
	for {
		lead, limit, err := m.leader()
		if err != nil || lead == nil {
			return false, err
		}
		if to := m.stretch(lead, limit, vector.Size); lead.pos&63 == 0 && (to == lead.batch.N || to-lead.pos >= passRows) {
			n, cols := m.view(lead, to)
			if m.finish(b, n, cols) {
				return true, nil
			}
			continue
		}
		for i, c := range m.inner.Columns {
			m.out.Cols[i].Reset(c.Type)
		}
		m.out.N = 0
		if err := m.collect(); err != nil {
			return false, err
		}
		if m.out.N > 0 && m.finish(b, m.out.N, m.out.Cols) {
			return true, nil
		}
	}
}

// passRows is the length from which a stretch of one run is passed on where it lies instead of being copied.
const passRows = 256

// view gives the leader's rows up to to without copying them.
func (m *merged) view(s *source, to int) (int, []*vector.Vector) {
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

// stretch gives the end of the leader's rows, at most n, that come out as they are before any row of another run.
func (m *merged) stretch(s *source, limit *head, n int) int {
	if m.mode.keepAll {
		return s.before(limit, n)
	}
	return s.alone(limit, n)
}

// finish filters merged rows and gives b the wanted columns; false when no row is left.
func (m *merged) finish(b *vector.Batch, n int, cols []*vector.Vector) bool {
	b.N, b.Cols = n, b.Cols[:0]
	all := m.prog.Len() == 0
	if !all {
		m.keep = append(m.keep[:0], make(vector.Bitmap, vector.Words(n))...)
		m.keep.Fill(n)
		m.prog.Eval(n, func(id schema.ColumnID) *vector.Vector { return cols[m.at[id]] }, m.keep)
		all = m.keep.All(n)
	}
	if all {
		for _, c := range m.spec.Columns {
			b.Cols = append(b.Cols, cols[m.at[c.ID]])
		}
		return true
	}
	m.rows = m.keep.AppendRows(m.rows[:0])
	b.N = len(m.rows)
	for i, c := range m.spec.Columns {
		m.gathered[i].Gather(cols[m.at[c.ID]], m.rows)
		b.Cols = append(b.Cols, m.gathered[i])
	}
	return b.N > 0
}

// collect fills m.out with merged rows, at most vector.Size: a key may leave two, a tombstone and what came after it.
func (m *merged) collect() error {
	for m.out.N < vector.Size-1 {
		s, limit, err := m.leader()
		if err != nil || s == nil {
			return err
		}
		if to := m.stretch(s, limit, vector.Size-1-m.out.N); to > s.pos {
			if m.out.N > 0 && to-s.pos >= 2*passRows {
				return nil // it is passed on by itself
			}
			m.out.Append(&s.batch, s.pos, to)
			s.pos = to
			continue
		}
		if err := m.takeKey(s); err != nil {
			return err
		}
	}
	return nil
}

// before gives the end of the source's rows, at most n, that come before limit; at least one, the leader's own.
func (s *source) before(limit *head, n int) int {
	to := min(s.batch.N, s.pos+n)
	if limit == nil || s.times[to-1] < limit.time {
		return to
	}
	k, _ := slices.BinarySearch(s.times[s.pos:to], limit.time)
	for k += s.pos; k < to && (k == s.pos || s.times[k] == limit.time && s.seqs.Uint(k) <= limit.seq); k++ {
	}
	return k
}

// alone gives the end of the stretch of rows, at most n, that are put as they are: no other row in this run or before
// limit has the time of one of them.
func (s *source) alone(limit *head, n int) int {
	if !s.puts {
		return s.pos
	}
	times := s.times[s.pos:s.batch.N]
	k := 0
	for k < len(times)-1 && k < n && times[k] != times[k+1] && (limit == nil || times[k] < limit.time) {
		k++
	}
	return s.pos + k
}

// head is the order of a source's current row.
type head struct {
	time int64
	seq  uint64
}

func (h head) less(o head) bool { return h.time < o.time || h.time == o.time && h.seq < o.seq }

func (s *source) head() head { return head{s.times[s.pos], s.seqs.Uint(s.pos)} }

// leader is the source with the least row, and the least row of the others, up to which the leader may go on alone. nil
// at the end of the series.
func (m *merged) leader() (lead *source, limit *head, err error) {
	var least head
	for _, s := range m.active {
		ok, err := m.load(s)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		h := s.head()
		switch {
		case lead == nil:
			lead, least = s, h
		case h.less(least):
			old := least
			lead, least, limit = s, h, &old
		case limit == nil || h.less(*limit):
			l := h
			limit = &l
		}
	}
	return lead, limit, nil
}

// takeKey handles all rows of the leader's time: the last one stays, or all behind the last tombstone are folded.
func (m *merged) takeKey(lead *source) error {
	t := lead.times[lead.pos]
	from, tomb := m.out.N, false
	for {
		s, _, err := m.leader()
		if err != nil {
			return err
		}
		if s == nil || s.times[s.pos] != t {
			if tomb {
				m.tombs++
			}
			return nil
		}
		first := from // where the row of this key goes
		if tomb && m.mode.lastNonNull {
			first++ // the tombstone stays before it: older runs may hold values to hide
		}
		switch {
		case s.kinds.Uint(s.pos) == schema.KindDelete:
			m.cutTo(from)
			if tomb = m.mode.tombstones; tomb {
				m.out.Append(&s.batch, s.pos, s.pos+1)
			}
		case m.out.N == first:
			m.out.Append(&s.batch, s.pos, s.pos+1)
		case m.mode.lastNonNull:
			m.foldInto(s)
		default:
			m.cutTo(from)
			tomb = false
			m.out.Append(&s.batch, s.pos, s.pos+1)
		}
		s.pos++
	}
}

// cutTo takes back the row behind n, if there is one.
func (m *merged) cutTo(n int) {
	if m.out.N == n {
		return
	}
	for _, c := range m.out.Cols {
		c.Truncate(n)
	}
	m.out.N = n
}

// foldInto puts the values of a newer row over the last row collected; NULL overwrites nothing.
func (m *merged) foldInto(s *source) {
	if m.fold == nil {
		types := make([]vector.Type, len(m.inner.Columns))
		for i, c := range m.inner.Columns {
			types[i] = c.Type
		}
		m.fold = vector.NewBatch(types...)
	}
	last := m.out.N - 1
	m.fold.Reset()
	for i, c := range m.fold.Cols {
		if v := s.batch.Cols[i]; v.IsNull(s.pos) {
			c.Append(0, m.out.Cols[i], last, last+1)
		} else {
			c.Append(0, v, s.pos, s.pos+1)
		}
	}
	m.fold.N = 1
	m.cutTo(last)
	m.out.Append(m.fold, 0, 1)
}
