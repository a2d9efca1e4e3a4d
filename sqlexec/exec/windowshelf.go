package exec

import (
	"sort"

	"varve/engine/vector"
)

// shelf keeps copies of values of rows of a frame, in the order of the rows.
type shelf struct {
	v    vector.Vector
	n    int // values of v
	at   []shelved
	head int // at[head:] are in the frame
}

// shelved is a value of a shelf and its row.
type shelved struct {
	row   int
	value uint32
}

func (s *shelf) len() int { return len(s.at) - s.head }

func (s *shelf) clear() {
	s.at, s.head = s.at[:0], 0
	if s.n > 0 {
		s.v.Reset(s.v.Type)
		s.n = 0
	}
}

// put adds a value of a row behind those that are there.
func (s *shelf) put(row int, v *vector.Vector, i int) {
	if s.n == 0 {
		s.v.Reset(v.Type)
	}
	s.at = append(s.at, shelved{row, uint32(s.n)})
	s.v.Append(s.n, v, i, i+1)
	s.n++
}

// drop takes the rows before a place out.
func (s *shelf) drop(place int) {
	for s.head < len(s.at) && s.at[s.head].row < place {
		s.head++
	}
}

// before is the number of rows, from the begin of the shelf, before a place.
func (s *shelf) before(place int) int {
	list := s.at[s.head:]
	return sort.Search(len(list), func(i int) bool { return list[i].row >= place })
}

// compact forgets the values that are not needed any more, when they are many. Nobody refers to any then.
func (s *shelf) compact() {
	live := s.at[s.head:]
	if s.n < 2*len(live)+checkRows {
		return
	}
	rows := make([]uint32, len(live))
	for i := range live {
		rows[i] = live[i].value
	}
	kept := vector.Vector{Type: s.v.Type}
	kept.AppendRows(0, &s.v, rows)
	s.v, s.n = kept, len(live)
	s.at = append(s.at[:0], live...)
	s.head = 0
	for i := range s.at {
		s.at[i].value = uint32(i)
	}
}

// bytes is the memory of the shelf.
func (s *shelf) bytes() int64 {
	return vectorBytes(&s.v, s.n) + int64(16*cap(s.at))
}
