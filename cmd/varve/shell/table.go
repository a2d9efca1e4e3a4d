package shell

import (
	"bytes"
	"strings"

	"varve/cmd/varve/client"
)

const (
	// chunkRows and chunkBytes are after how many rows a table is written: the widths of its columns are those of the
	// rows so far.
	chunkRows  = 1000
	chunkBytes = 4 << 20
	// narrowest is how narrow a column is made so that a table fits into the terminal.
	narrowest = 8
)

// table draws boxes. It holds a chunk of the rows: a later one whose values are wider goes on below a line with wider
// boxes.
type table struct {
	textWriter
	heads  []cell
	types  []cell
	chunk  []cell // of the rows that are not written yet, a row after the other
	heap   []byte // of chunk
	widths []int  // of the columns, as drawn
	drawn  bool
	upset  *vertical // what prints instead of a table that is too wide
	held   [][]byte  // of chunk, the values as they came: for upset
	raw    []byte    // of held
}

// cell is a text of a heap and how wide it is.
type cell struct {
	from, to int // in the heap
	width    int
	null     bool
}

func (t *table) begin(columns []column) error {
	t.columns = columns
	t.widths = make([]int, len(columns))
	return nil
}

func (t *table) row(cells [][]byte) error {
	if t.upset != nil {
		return t.upset.row(cells)
	}
	for i, raw := range cells {
		c := cell{from: len(t.heap), null: isNull(raw)}
		if c.null {
			t.heap = append(t.heap, "NULL"...)
		} else {
			t.heap = client.AppendVisible(t.heap, t.text(i, raw), "")
		}
		t.chunk = append(t.chunk, t.measured(c, i))
		if (t.look.autoVertical || t.look.fit) && !t.drawn {
			from := len(t.raw)
			t.raw = append(t.raw, raw...)
			t.held = append(t.held, t.raw[from:len(t.raw):len(t.raw)])
		}
	}
	if len(t.chunk) < chunkRows*max(1, len(cells)) && len(t.heap)+len(t.raw) < chunkBytes {
		return nil
	}
	return t.draw()
}

// measured ends a cell of a column at the end of the heap, cut as --max-width says.
func (t *table) measured(c cell, column int) cell {
	text := t.heap[c.from:]
	c.width = width(text)
	if t.look.maxWidth > 0 && c.width > t.look.maxWidth && !t.whole(column) {
		text = cutTo(text, t.look.maxWidth)
		t.heap = append(t.heap[:c.from], text...)
		c.width = width(text)
	}
	c.to = len(t.heap)
	return c
}

func (t *table) end() error {
	if t.upset == nil {
		if err := t.draw(); err != nil {
			return err
		}
	}
	if t.upset != nil {
		return t.upset.end()
	}
	if len(t.columns) > 0 {
		t.rule("└", "┴", "┘")
	}
	return t.flush(true)
}

// draw writes the chunk.
func (t *table) draw() error {
	if !t.drawn {
		for _, c := range t.columns {
			t.heads = append(t.heads, t.label(c.Name, len(t.heads)))
		}
		for i := 0; t.look.types && i < len(t.columns); i++ {
			t.types = append(t.types, t.label(t.columns[i].Type, i))
		}
	}
	wider := t.widen()
	if !t.drawn && (t.look.autoVertical || t.look.fit) && t.look.terminal > 0 && t.total() > t.look.terminal {
		return t.turn()
	}
	switch {
	case len(t.columns) == 0:
	case !t.drawn:
		t.rule("┌", "┬", "┐")
		t.line(t.heads, bold)
		if t.types != nil {
			t.line(t.types, dim)
		}
		if len(t.chunk) > 0 {
			t.rule("├", "┼", "┤")
		}
	case wider:
		t.rule("├", "┼", "┤")
	}
	t.drawn = true
	for at := 0; at < len(t.chunk); at += len(t.columns) {
		t.line(t.chunk[at:at+len(t.columns)], "")
		if err := t.flush(false); err != nil {
			return err
		}
	}
	t.chunk, t.heap, t.held, t.raw = t.chunk[:0], t.heap[:0], nil, nil
	return t.flush(true)
}

// label puts a text of the head of a column into the heap.
func (t *table) label(text string, column int) cell {
	c := cell{from: len(t.heap)}
	t.heap = client.AppendVisible(t.heap, []byte(text), "")
	c = t.measured(c, column)
	return c
}

// widen makes the columns as wide as what is to be written, as far as the terminal has room. It reports whether one
// grew.
func (t *table) widen() (wider bool) {
	before := append([]int(nil), t.widths...)
	grow := func(cells []cell) {
		for i, c := range cells {
			t.widths[i%len(t.widths)] = max(t.widths[i%len(t.widths)], c.width)
		}
	}
	grow(t.chunk)
	if !t.drawn {
		grow(t.heads)
		grow(t.types)
	}
	if t.look.maxWidth == 0 && t.look.terminal > 0 && !t.look.autoVertical {
		t.squeeze()
	}
	for i, w := range t.widths {
		wider = wider || w > before[i]
		t.widths[i] = max(w, before[i])
	}
	return wider
}

// total is how wide the table is.
func (t *table) total() int {
	total := 1
	for _, w := range t.widths {
		total += w + 3
	}
	return total
}

// squeeze makes the widest columns narrower until the table fits into the terminal. Numbers and times stay whole.
func (t *table) squeeze() {
	for over := t.total() - t.look.terminal; over > 0; over = t.total() - t.look.terminal {
		widest, second := -1, narrowest
		for i, w := range t.widths {
			switch {
			case t.whole(i) || w <= narrowest:
			case widest < 0 || w > t.widths[widest]:
				if widest >= 0 {
					second = max(second, t.widths[widest])
				}
				widest = i
			default:
				second = max(second, w)
			}
		}
		if widest < 0 {
			return
		}
		t.widths[widest] = max(min(t.widths[widest]-1, second), t.widths[widest]-over, narrowest)
	}
}

// whole reports whether the values of a column are never cut.
func (t *table) whole(i int) bool {
	switch t.columns[i].kind {
	case kindNumber, kindTimestamp, kindDate, kindClock:
		return true
	}
	return false
}

// turn gives the rows so far to a vertical writer, which prints the others too.
func (t *table) turn() error {
	t.upset = &vertical{textWriter: textWriter{w: t.w, look: t.look}}
	if err := t.upset.begin(t.columns); err != nil {
		return err
	}
	for at := 0; at < len(t.held); at += len(t.columns) {
		if err := t.upset.row(t.held[at : at+len(t.columns)]); err != nil {
			return err
		}
	}
	t.chunk, t.heap, t.held, t.raw = nil, nil, nil, nil
	return nil
}

func (t *table) rule(left, middle, right string) {
	line := left
	for i, w := range t.widths {
		if i > 0 {
			line += middle
		}
		line += strings.Repeat("─", w+2)
	}
	t.paint(dim, line+right)
	t.buf = append(t.buf, '\n')
}

// line writes a row; its cells are in colour, or NULLs alone where there is none.
func (t *table) line(cells []cell, colour string) {
	for i, c := range cells {
		t.paint(dim, "│")
		text := t.heap[c.from:c.to]
		if c.width > t.widths[i] {
			text = cutTo(text, t.widths[i])
			c.width = width(text)
		}
		pad := bytes.Repeat([]byte{' '}, t.widths[i]-c.width)
		right := t.columns[i].kind == kindNumber
		t.buf = append(t.buf, ' ')
		if right {
			t.buf = append(t.buf, pad...)
		}
		switch {
		case c.null:
			t.paint(dim, string(text))
		case colour != "":
			t.paint(colour, string(text))
		default:
			t.buf = append(t.buf, text...)
		}
		if !right {
			t.buf = append(t.buf, pad...)
		}
		t.buf = append(t.buf, ' ')
	}
	t.paint(dim, "│")
	t.buf = append(t.buf, '\n')
}
