package filter

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"varve/engine/vector"
)

// number is what the comparison loops run on.
type number interface{ int64 | uint64 | float64 }

// hitLess sets bit i of hit where v[i] < k; bits past the last row are zero.
func hitLess[T number](hit []uint64, v []T, k T) {
	for ; len(v) >= 64 && len(hit) > 0; v, hit = v[64:], hit[1:] {
		c := (*[64]T)(v)
		var m uint64
		for i := 0; i < 64; i += 4 {
			m |= (vector.Bit(c[i] < k) | vector.Bit(c[i+1] < k)<<1 | vector.Bit(c[i+2] < k)<<2 |
				vector.Bit(c[i+3] < k)<<3) << i
		}
		hit[0] = m
	}
	if len(hit) > 0 {
		var m uint64
		for i, x := range v {
			m |= vector.Bit(x < k) << i
		}
		hit[0] = m
	}
}

// hitLessEqual sets bit i of hit where v[i] <= k.
func hitLessEqual[T number](hit []uint64, v []T, k T) {
	for ; len(v) >= 64 && len(hit) > 0; v, hit = v[64:], hit[1:] {
		c := (*[64]T)(v)
		var m uint64
		for i := 0; i < 64; i += 4 {
			m |= (vector.Bit(c[i] <= k) | vector.Bit(c[i+1] <= k)<<1 | vector.Bit(c[i+2] <= k)<<2 |
				vector.Bit(c[i+3] <= k)<<3) << i
		}
		hit[0] = m
	}
	if len(hit) > 0 {
		var m uint64
		for i, x := range v {
			m |= vector.Bit(x <= k) << i
		}
		hit[0] = m
	}
}

// hitEqual sets bit i of hit where v[i] == k.
func hitEqual[T number](hit []uint64, v []T, k T) {
	for ; len(v) >= 64 && len(hit) > 0; v, hit = v[64:], hit[1:] {
		c := (*[64]T)(v)
		var m uint64
		for i := 0; i < 64; i += 4 {
			m |= (vector.Bit(c[i] == k) | vector.Bit(c[i+1] == k)<<1 | vector.Bit(c[i+2] == k)<<2 |
				vector.Bit(c[i+3] == k)<<3) << i
		}
		hit[0] = m
	}
	if len(hit) > 0 {
		var m uint64
		for i, x := range v {
			m |= vector.Bit(x == k) << i
		}
		hit[0] = m
	}
}

// nextWord cuts the values of the next word of a bitmap off v.
func nextWord[T any](v []T) (head, rest []T) {
	if len(v) <= 64 {
		return v, nil
	}
	return v[:64], v[64:]
}

// nans sets bit i of hit where v[i] is not a number.
func nans(hit []uint64, v []float64) {
	var part []float64
	for w := range hit {
		var m uint64
		part, v = nextWord(v)
		for i, x := range part {
			m |= vector.Bit(x != x) << i
		}
		hit[w] = m
	}
}

// fill sets the bits of the first n rows.
func fill(hit []uint64, n int) { vector.Bitmap(hit).Fill(n) }

func invert(hit []uint64) {
	for i := range hit {
		hit[i] = ^hit[i]
	}
}

// evalNumbers sets hit where Equal, Less, LessEqual or In holds on a Flat vector of numbers or booleans.
func (c *condition) evalNumbers(n int, v *vector.Vector, hit vector.Bitmap) {
	if c.op == In {
		c.numbers.eval(n, v, hit)
		return
	}
	switch c.kind {
	case vector.Bool:
		compareBools(c.op, hit, v.Bools, c.Args.Bool(0))
	case vector.Int64:
		compareNumbers(c.op, hit, v.Ints[:n], c.Args.Int(0))
	case vector.Uint64:
		compareNumbers(c.op, hit, v.Uints[:n], c.Args.Uint(0))
	default:
		compareFloats(c.op, hit, v.Floats[:n], c.Args.Float(0))
	}
}

func compareNumbers[T number](op Op, hit []uint64, v []T, k T) {
	switch op {
	case Equal:
		hitEqual(hit, v, k)
	case Less:
		hitLess(hit, v, k)
	default:
		hitLessEqual(hit, v, k)
	}
}

// compareFloats: NaN is greater than every number and equal to itself (sql.md 2.3). Greater and GreaterEqual are the
// negations of LessEqual and Less, so a NaN row falls on the right side by itself.
func compareFloats(op Op, hit []uint64, v []float64, k float64) {
	if k == k {
		compareNumbers(op, hit, v, k)
		return
	}
	switch op {
	case Equal:
		nans(hit, v)
	case Less:
		nans(hit, v)
		invert(hit)
		clearTail(hit, len(v))
	default:
		fill(hit, len(v))
	}
}

func clearTail(hit []uint64, n int) {
	if tail := uint(n) & 63; tail != 0 {
		hit[n>>6] &= 1<<tail - 1
	}
}

// compareBools: false < true. The answer is a word of the values, of their inverse, all or nothing.
func compareBools(op Op, hit []uint64, v vector.Bitmap, k bool) {
	var onFalse, onTrue uint64
	switch {
	case op == Equal && k:
		onTrue = ^uint64(0)
	case op == Equal, op == Less && k, op == LessEqual && !k:
		onFalse = ^uint64(0)
	case op == LessEqual:
		onFalse, onTrue = ^uint64(0), ^uint64(0)
	}
	v = v[:len(hit)]
	for i := range hit {
		hit[i] = v[i]&onTrue | ^v[i]&onFalse
	}
}

// numbers is an IN list of numbers.
type numbers struct {
	bools  [2]bool
	ints   []int64 // sorted
	uints  []uint64
	floats []float64 // sorted, without NaN
	nan    bool
	// intSet and uintSet serve long lists.
	intSet  map[int64]struct{}
	uintSet map[uint64]struct{}
}

// shortList is the longest IN list that is tested by one comparison loop for each member: 0.34 ns a row and member,
// against 5 to 6 ns a row for a set of any size.
const shortList = 16

func (c *condition) compileIn() {
	n := c.NArgs
	c.rising = true
	for i := 1; i < n && c.rising; i++ {
		c.rising = Compare(c.Args, i-1, c.Args, i) <= 0
	}
	switch c.kind {
	case vector.Bool:
		for i := range n {
			c.numbers.bools[vector.Bit(c.Args.Bool(i))] = true
		}
	case vector.Int64:
		c.numbers.ints = slices.Clone(c.Args.Ints[:n])
		if n > shortList {
			c.numbers.intSet = make(map[int64]struct{}, n)
			for _, x := range c.numbers.ints {
				c.numbers.intSet[x] = struct{}{}
			}
		}
	case vector.Uint64:
		c.numbers.uints = slices.Clone(c.Args.Uints[:n])
		if n > shortList {
			c.numbers.uintSet = make(map[uint64]struct{}, n)
			for _, x := range c.numbers.uints {
				c.numbers.uintSet[x] = struct{}{}
			}
		}
	case vector.Float64:
		for _, x := range c.Args.Floats[:n] {
			if math.IsNaN(x) {
				c.numbers.nan = true
			} else {
				c.numbers.floats = append(c.numbers.floats, x)
			}
		}
		slices.Sort(c.numbers.floats)
	default:
		c.strings.set = make(map[string]struct{}, n)
		for i := range n {
			c.strings.add(c.Args.Bytes(i))
		}
	}
}

func (l *numbers) eval(n int, v *vector.Vector, hit vector.Bitmap) {
	switch v.Type.Kind() {
	case vector.Bool:
		for i, values := range v.Bools[:len(hit)] {
			var m uint64
			if l.bools[0] {
				m |= ^values
			}
			if l.bools[1] {
				m |= values
			}
			hit[i] = m
		}
	case vector.Int64:
		evalList(hit, v.Ints[:n], l.ints, l.intSet)
	case vector.Uint64:
		evalList(hit, v.Uints[:n], l.uints, l.uintSet)
	default:
		var part []float64
		rest := v.Floats[:n]
		for w := range hit {
			var m uint64
			part, rest = nextWord(rest)
			for i, x := range part {
				_, found := slices.BinarySearch(l.floats, x)
				m |= vector.Bit(found && x == x || l.nan && x != x) << i
			}
			hit[w] = m
		}
	}
}

func evalList[T int64 | uint64](hit []uint64, v []T, list []T, set map[T]struct{}) {
	if set == nil {
		clear(hit)
		var one [vector.Size / 64]uint64
		for from := 0; from < len(v); from += vector.Size {
			part := v[from:min(from+vector.Size, len(v))]
			words := hit[from>>6 : from>>6+vector.Words(len(part))]
			for _, k := range list {
				hitEqual(one[:len(words)], part, k)
				for i := range words {
					words[i] |= one[i]
				}
			}
		}
		return
	}
	var part []T
	for w := range hit {
		var m uint64
		part, v = nextWord(v)
		for i, x := range part {
			_, found := set[x]
			m |= vector.Bit(found) << i
		}
		hit[w] = m
	}
}

// evalBytes sets hit where Equal, Less, LessEqual or In holds, among the rows of keep.
func (c *condition) evalBytes(n int, v *vector.Vector, keep, hit vector.Bitmap) {
	views, heap := v.Views[:n], v.Heap
	switch {
	case c.op == In:
		c.strings.eval(views, heap, keep, hit)
	case c.op == Equal:
		equalBytes(views, heap, c.Args.Bytes(0), hit)
	default:
		k := c.Args.Bytes(0)
		order := OrderOf(v.Type)
		limit := 0 // Less: order < 0; LessEqual: order <= 0
		if c.op == LessEqual {
			limit = 1
		}
		var part []vector.View
		keep = keep[:len(hit)]
		for w := range hit {
			var m uint64
			part, views = nextWord(views)
			for i, x := range part {
				if keep[w]>>i&1 != 0 {
					m |= vector.Bit(order(heap[x.Off:x.Off+x.Len], k) < limit) << i
				}
			}
			hit[w] = m
		}
	}
}

// equalBytes compares lengths first, then bytes.
func equalBytes(views []vector.View, heap, k []byte, hit []uint64) {
	want := uint32(len(k))
	var part []vector.View
	for w := range hit {
		var m uint64
		part, views = nextWord(views)
		for i, x := range part {
			if x.Len == want && string(heap[x.Off:x.Off+x.Len]) == string(k) {
				m |= 1 << i
			}
		}
		hit[w] = m
	}
}

// OrderOf is the order of a Bytes-kind type: bytes, but numbers for decimals.
func OrderOf(t vector.Type) func(a, b []byte) int {
	if t.ID == vector.TypeDecimal {
		return compareDecimals
	}
	return bytes.Compare
}

// Compare orders two values that are not NULL, of one type: -1, 0 or 1. NaN is the greatest float.
func Compare(a *vector.Vector, i int, b *vector.Vector, j int) int {
	switch a.Type.Kind() {
	case vector.Bool:
		return int(vector.Bit(a.Bool(i))) - int(vector.Bit(b.Bool(j)))
	case vector.Int64:
		return order(a.Int(i), b.Int(j))
	case vector.Uint64:
		return order(a.Uint(i), b.Uint(j))
	case vector.Float64:
		return orderFloats(a.Float(i), b.Float(j))
	}
	return OrderOf(a.Type)(a.Bytes(i), b.Bytes(j))
}

// compareDecimals orders 16-byte little endian two's complement numbers of equal scale.
func compareDecimals(a, b []byte) int {
	if len(a) != 16 || len(b) != 16 {
		return bytes.Compare(a, b)
	}
	ah, bh := int64(binary.LittleEndian.Uint64(a[8:])), int64(binary.LittleEndian.Uint64(b[8:]))
	if ah != bh {
		return 1 - 2*int(vector.Bit(ah < bh))
	}
	al, bl := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
	return int(vector.Bit(al > bl)) - int(vector.Bit(al < bl))
}
