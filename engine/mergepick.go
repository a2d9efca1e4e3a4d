package engine

import (
	"math"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Which rows come out where runs lie among each other is decided by times, sequences and kinds alone and noted as
// picks. Columns are copied, each in one loop over the picks, when an input needs its next batch or enough rows are
// there.

// openKey is the key whose versions are being looked at, while its time is time.
type openKey struct {
	open bool
	time int64
	// at and first are the lengths of picks and firsts before it.
	at, first int
	// tomb: a tombstone comes out; put: a row behind it.
	tomb, put bool
}

// head is the order of an input's current row.
type head struct {
	time int64
	seq  uint64
}

func (h head) less(o head) bool { return h.time < o.time || h.time == o.time && h.seq < o.seq }

// head returns the order of the input's next row or, while no batch is loaded, a bound before that row; false if there
// is no further row.
func (s *input) head() (head, bool) {
	if s.pos < s.batch.N {
		return head{s.times[s.pos], s.seqs[s.pos]}, true
	}
	return s.least, !s.ended
}

// leader is the input with the least row, and the least row of the others, up to which the leader may go on alone. It
// may have no batch in hand. nil: no input has rows left.
func (m *merged) leader() (lead *input, limit head) {
	limit = head{math.MaxInt64, math.MaxUint64}
	var least head
	for _, s := range m.active {
		h, ok := s.head()
		if !ok {
			continue
		}
		switch {
		case lead == nil:
			lead, least = s, h
		case h.less(least):
			lead, least, limit = s, h, least
		case h.less(limit):
			limit = h
		}
	}
	return lead, limit
}

// refill loads batches until the first input in order has a batch. The others can wait: parts seldom have rows of the
// same times, and batches of wide tables are large.
func (m *merged) refill() error {
	for _, s := range m.active {
		s.rest()
	}
	for {
		s, _ := m.leader()
		if s == nil || s.pos < s.batch.N {
			return nil
		}
		if err := m.load(s); err != nil {
			return err
		}
	}
}

// rest lets go of a batch that is used up, and notes how early the next may begin.
func (s *input) rest() {
	if s.pos < s.batch.N || s.ended {
		return
	}
	s.batch.N, s.pos = 0, 0
	s.least = head{time: math.MinInt64}
	if idle, ok := s.walk.(scan.Idle); ok {
		s.least.time = idle.Least()
	}
	s.letGo()
}

// letGo has the walk let go of memory of rows that are used up.
func (s *input) letGo() {
	if idle, ok := s.walk.(scan.Idle); ok {
		idle.Rest()
	}
}

// folds reports whether versions of a row are put over each other.
func (m *merged) folds() bool { return m.mode.lastNonNull && !m.mode.keepAll }

// maxCollected: a key may leave two rows, a tombstone and what came after it.
const maxCollected = vector.Size - 1

// mostCollected bounds the bytes of the rows that are collected, but for one: they may be as long as a block. The
// strings of batches that have at most fewBytes need not be counted.
const (
	mostCollected = 8 << 20
	fewBytes      = 256 << 10
)

// room is the number of rows that may be collected before they, or their strings, are too many.
func (m *merged) room() int {
	room, width := maxCollected-m.out.N, 0
	for _, s := range m.active {
		if s.pos < s.batch.N {
			width = max(width, s.width)
		}
	}
	if width += m.fixed; width*maxCollected <= mostCollected || room == 0 {
		return room
	}
	bytes := m.out.N * m.fixed
	for _, c := range m.out.Cols {
		bytes += len(c.Heap)
	}
	if bytes >= mostCollected {
		return 0
	}
	return max(1, min(room, (mostCollected-bytes)/width))
}

// collect fills m.out with merged rows, at most vector.Size; more is false at the end of the series.
func (m *merged) collect() (more bool, err error) {
	for {
		if err := m.refill(); err != nil {
			return false, err
		}
		room := m.room()
		if room == 0 {
			return true, nil
		}
		m.picks, m.firsts = m.picks[:0], m.firsts[:0]
		m.resume()
		why := m.pickRows(room)
		m.copyOut()
		if why != exhausted {
			return why != ended, nil
		}
	}
}

// why says why no more rows were picked.
type why uint8

const (
	exhausted why = iota // an input needs its next batch
	full
	ended // the series has no more rows
	alone // what follows is passed on by itself
)

// pickRows picks rows, about as many as there is room for.
func (m *merged) pickRows(room int) why {
	for {
		lead, limit := m.leader()
		if lead == nil {
			m.endKey()
			return ended
		}
		if lead.pos >= lead.batch.N {
			return exhausted
		}
		if m.key.open && lead.times[lead.pos] == m.key.time {
			m.pickVersion(lead)
		} else {
			m.endKey()
			n := m.picked()
			if n >= room {
				return full
			}
			to := m.stretch(lead, limit, room-n)
			switch {
			case to == lead.pos:
				m.key = openKey{open: true, time: lead.times[lead.pos], at: len(m.picks), first: len(m.firsts)}
				m.pickVersion(lead)
			case to-lead.pos >= 2*passRows && lead.pos&63 == 0 && m.out.N+n > 0:
				return alone
			default:
				m.pickRange(lead, to)
			}
		}
		if lead.pos >= lead.batch.N {
			return exhausted
		}
	}
}

// picked is the number of rows of output that are picked.
func (m *merged) picked() int {
	if m.folds() {
		return len(m.firsts)
	}
	return len(m.picks)
}

// pick picks one row of output.
func (m *merged) pick(p vector.Pick) {
	if m.folds() {
		m.firsts = append(m.firsts, uint32(len(m.picks)))
	}
	m.picks = append(m.picks, p)
}

// pickRange picks the input's rows up to to.
func (m *merged) pickRange(s *input, to int) {
	for ; s.pos < to; s.pos++ {
		m.pick(vector.Pick{Src: s.number, Row: uint32(s.pos)})
	}
}

// pickVersion handles a row of the key at hand that is newer than those before: the last one stays, or all behind the
// last tombstone are folded.
func (m *merged) pickVersion(s *input) {
	row := vector.Pick{Src: s.number, Row: uint32(s.pos)}
	deleted := s.kinds != nil && s.kinds[s.pos] == schema.KindDelete
	s.pos++
	k := &m.key
	switch {
	case deleted:
		m.unpick()
		if k.tomb, k.put = m.mode.tombstones, false; k.tomb {
			m.pick(row)
		}
	case m.folds() && k.put:
		m.picks = append(m.picks, row)
	case m.folds(): // a tombstone stays before it: older runs may hold values to hide
		m.pick(row)
		k.put = true
	default:
		m.unpick()
		m.pick(row)
		k.tomb, k.put = false, true
	}
}

// unpick takes back what was picked for the key at hand.
func (m *merged) unpick() {
	m.picks, m.firsts = m.picks[:m.key.at], m.firsts[:m.key.first]
}

// endKey notes that all versions of the key at hand were seen.
func (m *merged) endKey() {
	if m.key.open && m.key.tomb {
		m.tombs++
	}
	m.key.open = false
}

// resume continues with the key that is still open: the carried rows are older versions of it than all following rows.
// There are none if the last version was a deletion that leaves nothing.
func (m *merged) resume() {
	m.key.at, m.key.first = 0, 0
	for i := range m.carried.N {
		m.pick(vector.Pick{Src: uint32(len(m.active)), Row: uint32(i)})
	}
}

// copyOut appends the picked rows to m.out, column by column, and takes those of a key that is still open back into
// carried.
func (m *merged) copyOut() {
	n := m.picked()
	if n > 0 {
		m.copied = true
		for i, c := range m.out.Cols {
			if !m.wanted[i] {
				continue
			}
			m.columns = m.columns[:0]
			for _, s := range m.active {
				var v *vector.Vector
				if s.batch.N > 0 {
					v = s.batch.Cols[i]
				}
				m.columns = append(m.columns, v)
			}
			m.columns = append(m.columns, m.carried.Cols[i])
			c.Interleave(m.out.N, m.columns, m.columnPicks())
		}
		m.out.N += n
	}
	open := 0
	if m.key.open {
		open = n - m.key.at
		if m.folds() {
			open = n - m.key.first
		}
	}
	m.carry(open)
}

// columnPicks are the picks for the column in m.columns: where versions of a row are folded, the last that is not NULL.
func (m *merged) columnPicks() []vector.Pick {
	if !m.folds() || len(m.firsts) == len(m.picks) {
		return m.picks
	}
	m.folded = m.folded[:0]
	for i, first := range m.firsts {
		last := len(m.picks)
		if i+1 < len(m.firsts) {
			last = int(m.firsts[i+1])
		}
		for last--; last > int(first); last-- {
			if p := m.picks[last]; !m.columns[p.Src].IsNull(int(p.Row)) {
				break
			}
		}
		m.folded = append(m.folded, m.picks[last])
	}
	return m.folded
}

// carry takes the last n rows of m.out into carried, which holds nothing else afterwards.
func (m *merged) carry(n int) {
	if n == 0 {
		m.carried.N = 0
		return
	}
	from := m.out.N - n
	for i, c := range m.carried.Cols {
		c.Reset(m.inner.Columns[i].Type)
		if m.wanted[i] {
			c.Append(0, m.out.Cols[i], from, m.out.N)
			m.out.Cols[i].Truncate(from)
		}
	}
	m.carried.N, m.out.N = n, from
}
