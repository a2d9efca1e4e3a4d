package memtable

import "testing"

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
