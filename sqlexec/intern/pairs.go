package intern

import "math/bits"

// Pairs numbers pairs of numbers in order of appearance: in a matrix as long as it is small, else in a hash table. One
// goroutine at a time.
type Pairs struct {
	matrix []uint32 // number + 1 of the pair (a, b) at b<<shift | a; 0 is not seen
	shift  int
	rows   int    // values of b that the matrix has room for
	most   int    // places that the matrix may have
	table  *Table // instead of the matrix
	n      int
}

// maxMatrix is the number of places of a matrix, 4 MiB: beyond it most are empty, or a hash table is not much larger.
const maxMatrix = 1 << 20

// manyPairs is the number of columns from which on their matrices share the memory of so many.
const manyPairs = 4

// NewPairs is empty, one of so many that are used side by side.
func NewPairs(of int) *Pairs { return &Pairs{most: maxMatrix * manyPairs / max(of, manyPairs)} }

// Len is the number of pairs.
func (p *Pairs) Len() int { return p.n }

// Bytes is the memory held.
func (p *Pairs) Bytes() int64 {
	if p.table != nil {
		return p.table.Bytes()
	}
	return int64(len(p.matrix)) * 4
}

// Intern replaces a[i] by the number of the pair (a[i], b[i]). Numbers of a are below as, those of b below bs.
func (p *Pairs) Intern(a, b []uint32, as, bs int) {
	b = b[:len(a)]
	if p.table == nil && (as > 1<<p.shift || bs > p.rows) {
		p.resize(max(p.shift, bits.Len(uint(as-1))), max(p.rows, 1<<bits.Len(uint(bs-1))))
	}
	if p.table != nil {
		for i, x := range a {
			id, fresh := p.table.Find(uint64(x)<<32|uint64(b[i]), uint32(p.n))
			if fresh {
				p.n++
			}
			a[i] = id
		}
		return
	}
	matrix, shift := p.matrix, p.shift
	for i, x := range a {
		at := b[i]<<shift | x
		id := matrix[at]
		if id == 0 {
			p.n++
			id = uint32(p.n)
			matrix[at] = id
		}
		a[i] = id - 1
	}
}

// resize moves the pairs into a larger matrix, or into a table.
func (p *Pairs) resize(shift, rows int) {
	old, was := p.matrix, p.shift
	if shift > 31 || rows<<shift > p.most {
		p.table, p.matrix = NewTable(), nil
	} else {
		p.matrix, p.shift, p.rows = make([]uint32, rows<<shift), shift, rows
	}
	for at, id := range old {
		if id == 0 {
			continue
		}
		a, b := at&(1<<was-1), at>>was
		if p.table != nil {
			p.table.Find(uint64(a)<<32|uint64(b), id-1)
		} else {
			p.matrix[b<<shift|a] = id
		}
	}
}
