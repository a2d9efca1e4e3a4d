package exec

import (
	"varve/engine/vector"
)

// The functions of a window are computed from row to row. Each has cursors over the rows of a partition: at the row
// whose value comes next, at the ends of its frame, at the row that it picks. Cursors move forward only, or nearly so,
// and a row behind all of them is not needed any more. So a partition that fits into memory and one that does not are
// computed by the same loops: the one is a single page, the other has a pager.

// checkRows is the number of rows of a window after which the query may have been cancelled.
const checkRows = 4096

// rowPage is neighbouring rows of a partition: rows [at, at+n) are rows [from, from+n) of vectors.
type rowPage struct {
	at, n, from int
	// cols are Flat: the keys of the order, then the arguments and the FILTER of functions.
	cols   []*vector.Vector
	starts vector.Bitmap // rows of the vectors that begin a group of peers; nil: the page is not in memory
}

// partition is the rows of a partition while functions are computed.
type partition struct {
	page  rowPage
	pager *pager       // nil: the page has all rows
	err   func() error // not nil once the query is gone
	work  int          // rows passed since the query was last seen to run
}

// size is the number of rows.
func (p *partition) size() (int, error) {
	if p.pager != nil {
		return p.pager.size()
	}
	return p.page.n, nil
}

// ran notes work on n rows. Every few thousand rows it looks whether the query still runs.
func (p *partition) ran(n int) error {
	if p.work += n; p.work < checkRows {
		return nil
	}
	p.work = 0
	return p.err()
}

// cursor is a place among the rows of a partition.
type cursor struct {
	p    *partition
	page *rowPage // that it last stood in; nil: none
	at   int      // a row, or where there is none
}

// begin puts the cursor before the first row. A pager keeps the rows from there on.
func (c *cursor) begin(p *partition) {
	*c = cursor{p: p}
	if p.pager != nil {
		p.pager.cursors = append(p.pager.cursors, c)
	}
}

// stand fetches the page of the cursor's row; false: there is no such row.
func (c *cursor) stand() (bool, error) {
	if c.page != nil && uint(c.at-c.page.at) < uint(c.page.n) && c.page.starts != nil {
		return true, nil
	}
	if c.p.pager == nil {
		c.page = &c.p.page
		return c.at < c.page.n, nil
	}
	page, err := c.p.pager.page(c.at)
	if page != nil {
		c.page = page
	}
	return page != nil, err
}

// row is the row of the page's vectors where the cursor stands.
func (c *cursor) row() int { return c.page.from + c.at - c.page.at }

// walk passes the rows before a place on, a few thousand of a page at a time, as rows [from, to) of its vectors.
func (c *cursor) walk(place int, f func(page *rowPage, from, to int) error) error {
	for c.at < place {
		if ok, err := c.stand(); err != nil || !ok {
			return err
		}
		n := min(place-c.at, c.page.at+c.page.n-c.at, checkRows)
		if err := c.p.ran(n); err != nil {
			return err
		}
		from := c.row()
		if err := f(c.page, from, from+n); err != nil {
			return err
		}
		c.at += n
	}
	return nil
}

// peers is a cursor that goes from group of peers to group of peers.
type peers struct {
	cursor
	group int // the number of the group at whose first row it stands
}

func (e *peers) begin(p *partition) {
	e.cursor.begin(p)
	e.group = 0
}

// start is the first row of a group, or the number of rows where there are fewer groups. Groups are asked for in their
// order.
func (e *peers) start(group int) (int, error) {
	for e.group < group {
		if ok, err := e.stand(); err != nil || !ok {
			return e.at, err
		}
		e.at++
		ok, err := e.next()
		if err != nil || !ok {
			return e.at, err
		}
		e.group++
	}
	return e.at, nil
}

// next goes to the first row, from here on, that begins a group; false: none does.
func (e *peers) next() (bool, error) {
	for {
		if ok, err := e.stand(); err != nil || !ok {
			return false, err
		}
		from := e.row()
		to := min(e.page.from+e.page.n, from+checkRows)
		i := from
		for i < to && !e.page.starts.Get(i) {
			i++
		}
		if e.at += i - from; i < to {
			return true, nil
		}
		if err := e.p.ran(i - from); err != nil {
			return false, err
		}
	}
}

// walker is a cursor that counts and adds up the rows that it passes.
type walker struct {
	cursor
	n     int // rows that count
	trues int
	sum   wide
}

// reset puts the walker to a row, and forgets what it has passed.
func (w *walker) reset(at int) { w.at, w.n, w.trues, w.sum = at, 0, 0, wide{} }

// giver appends values of rows to a column, those of one vector together.
type giver struct {
	out   *vector.Vector
	n     int // rows of out
	room  *textRoom
	src   *vector.Vector
	rows  []uint32 // of src, that are to be appended
	nulls int      // that are to be appended; there are no rows then
}

// to begins another column that has n rows.
func (g *giver) to(out *vector.Vector, n int, room *textRoom) { g.out, g.n, g.room = out, n, room }

// value appends a value.
func (g *giver) value(v *vector.Vector, i int) error {
	if err := g.room.take(v, i); err != nil {
		return err
	}
	if v != g.src || g.nulls > 0 {
		g.flush()
		g.src = v
	}
	g.rows = append(g.rows, uint32(i))
	return nil
}

func (g *giver) null() {
	if len(g.rows) > 0 {
		g.flush()
	}
	g.nulls++
}

// flush appends what is to be appended.
func (g *giver) flush() {
	if g.nulls > 0 {
		g.out.AppendNulls(g.n, g.nulls)
	} else if len(g.rows) > 0 {
		g.out.AppendRows(g.n, g.src, g.rows)
	}
	g.n += g.nulls + len(g.rows)
	g.src, g.rows, g.nulls = nil, g.rows[:0], 0
}

// numbers notes that values were appended to the column's slice, one for each flag: those that have none are NULL.
func (g *giver) numbers(null []bool) {
	v, n := g.out, g.n
	g.n += len(null)
	for i, is := range null {
		if is && v.Valid == nil {
			v.Valid = vector.MakeBitmap(n + i)
			v.Valid.Fill(n + i)
		}
		if v.Valid == nil {
			continue
		}
		for len(v.Valid) < vector.Words(n+i+1) {
			v.Valid = append(v.Valid, 0)
		}
		if !is {
			v.Valid.Set(n + i)
		}
	}
}
