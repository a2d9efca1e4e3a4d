package encoding

import "encoding/binary"

// narrows are the tables of the last conditions: a query has the same few conditions for every block.
type narrows struct {
	last [4]narrow
	next int // to give up
}

// ready returns the table of a condition on values of a width; nil if there is none yet.
func (t *narrows) ready(width int, passes uint64) *[tableSize]uint8 {
	if width == 0 {
		return nil
	}
	for i := range t.last {
		if n := &t.last[i]; n.width == width && n.passes == passes {
			if !n.made {
				n.fill()
			}
			return n.table
		}
	}
	n := &t.last[t.next]
	n.width, n.passes, n.made = width, passes, false
	t.next = (t.next + 1) % len(t.last)
	return nil
}

// narrow reports which of several packed values of at most 6 bits pass a condition, by one look into a table. A table
// takes as long to make as a block without it, so it is made when the same condition comes a second time.
type narrow struct {
	width  int
	passes uint64 // values that pass
	table  *[tableSize]uint8
	made   bool
}

// tableSize is the number of places of a table: four values of 3 bits or two of 6.
const tableSize = 1 << 12

// valuesOfTable is the number of values of a width that are looked up at once.
func valuesOfTable(width int) int {
	if width <= 3 {
		return 4
	}
	return 2
}

func (t *narrow) fill() {
	if t.table == nil {
		t.table = new([tableSize]uint8)
	}
	t.made = true
	w := uint(t.width)
	table := t.table[:1<<(valuesOfTable(t.width)*t.width)]
	one := uint64(1)<<w - 1
	pair := table[:1<<(2*w)]
	for x := range pair {
		pair[x] = uint8(t.passes>>(uint64(x)&one)&1 | t.passes>>(uint64(x)>>w)&1<<1)
	}
	if len(table) == len(pair) {
		return
	}
	for x := len(table) - 1; x >= 0; x-- { // downwards: pairs are replaced last, the one of two zeros after all others
		table[x] = pair[x&(len(pair)-1)] | pair[x>>(2*w)]<<2
	}
}

// hitFours returns the bits of 64 values of width w, four at a time. The values are in src, and 8 more bytes must
// follow them.
func hitFours(src []byte, w uint, table *[tableSize]uint8) (m uint64) {
	mask, at := uint64(1)<<(4*w)-1, uint(0)
	for j := 0; j < 64; j += 8 {
		x := binary.LittleEndian.Uint64(src[at:])
		m |= (uint64(table[x&mask%tableSize]) | uint64(table[x>>(4*w&63)&mask%tableSize])<<4) << (j & 63)
		at += w
	}
	return m
}

// hitTwos is hitFours two at a time.
func hitTwos(src []byte, w uint, table *[tableSize]uint8) (m uint64) {
	mask, at := uint64(1)<<(2*w)-1, uint(0)
	for j := 0; j < 64; j += 8 {
		x := binary.LittleEndian.Uint64(src[at:])
		m |= (uint64(table[x&mask%tableSize]) | uint64(table[x>>(2*w&63)&mask%tableSize])<<2 |
			uint64(table[x>>(4*w&63)&mask%tableSize])<<4 | uint64(table[x>>(6*w&63)&mask%tableSize])<<6) << (j & 63)
		at += w
	}
	return m
}
