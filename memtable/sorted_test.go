package memtable

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// purse is room for so many bytes.
type purse struct {
	most, held, peak int64
	refused          int
}

func (p *purse) Take(bytes int64) bool {
	if p.held+bytes > p.most {
		p.refused++
		return false
	}
	p.held += bytes
	p.peak = max(p.peak, p.held)
	return true
}

func (p *purse) Give(bytes int64) { p.held -= bytes }

// TestSortingTakesRoom: chunks are sorted as far as there is room for a second copy, which is given back. Without room
// the rows stay as they came, all of them, and are sorted once there is room again.
func TestSortingTakesRoom(t *testing.T) {
	defer func(n int) { sortRows = n }(sortRows)
	sortRows = 8 * ChunkRows
	const rows = 100_000
	room := &purse{most: 1 << 30}
	m := New(NewRegistry(), room)
	scrapes(m, rows)
	first := m.snap.Load().chunks[0]
	if first.level == 0 || room.held != 0 || room.peak < int64(first.n)*sortingRow+first.bytes/2 {
		t.Errorf("level %d of %d rows in %d bytes; %d bytes are held, %d were", first.level, first.n, first.bytes,
			room.held, room.peak)
	}

	room = &purse{most: freeCopies}
	m = New(NewRegistry(), room)
	scrapes(m, rows)
	for _, c := range m.snap.Load().chunks {
		if c.level != 0 {
			t.Errorf("%d rows are sorted without room", c.n)
		}
	}
	if room.refused == 0 || room.held != 0 || m.Rows() != rows {
		t.Errorf("room was refused %d times, %d bytes are held, %d rows", room.refused, room.held, m.Rows())
	}
	room.most = 1 << 30
	scrapes(m, 2000)
	if first := m.snap.Load().chunks[0]; first.level == 0 || room.held != 0 || m.Rows() != rows+2000 {
		t.Errorf("level %d, %d bytes are held, %d rows", first.level, room.held, m.Rows())
	}
}

// TestStartsOf: each series that has rows has them from its start to the next one's, the others have none; series with
// few rows each have no list.
func TestStartsOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		lo := r.Uint32N(1000)
		var series []uint32
		for n := lo; n < lo+1+r.Uint32N(40); n++ {
			series = append(series, slices.Repeat([]uint32{n}, r.IntN(2*rowsOfSeries+6))...)
		}
		if len(series) == 0 {
			continue
		}
		starts, first, last := startsOf(series), series[0], series[len(series)-1]
		if few := len(series) < rowsOfSeries*int(last-first+1); few != (starts == nil) {
			t.Fatalf("%v: starts %v", series, starts)
		} else if few {
			continue
		}
		if len(starts) != int(last-first)+2 {
			t.Fatalf("%v: %d starts", series, len(starts))
		}
		for k := range last - first + 1 {
			from, to := starts[k], starts[k+1]
			before, _ := slices.BinarySearch(series, first+k)
			behind, _ := slices.BinarySearch(series, first+k+1)
			if int(from) != before || int(to) != behind {
				t.Fatalf("%v: series %d from %d to %d", series, first+k, from, to)
			}
		}
	}
}
