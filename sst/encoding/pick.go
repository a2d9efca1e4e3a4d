package encoding

import (
	"math/bits"
	"slices"

	"varve/engine/vector"
)

// Picks reports whether Pick may read some rows of blocks of the encoding without the others.
func (id ID) Picks() bool { return id.scheme().pick != nil }

// Pick makes v, Flat, the values of some rows of a block of n, which rise and are rows of the block. ok is false when
// the whole block has to be decoded for that.
func (d *Decoder) Pick(v *vector.Vector, src []byte, t vector.Type, n int, rows []uint32) (ok bool, err error) {
	if len(src) < 2 || !ID(src[0]).Picks() || src[1]&^flagValid != 0 || n <= 0 || n > MaxRows {
		return false, nil
	}
	reset(v, t)
	r := d.read(src[2:])
	s := ID(src[0]).scheme()
	values, count := rows, n // which of the values of the block are wanted, and how many it has
	var valid vector.Bitmap
	if src[1]&flagValid != 0 {
		all := d.decodeBits(r, n)
		if r.err != nil {
			return false, r.err
		}
		valid, count = d.rank(all, rows), all.Count()
		values = d.ranks
	}
	if !s.pick(d, r, v, count, values) {
		return false, r.err
	}
	if r.end(); r.err != nil {
		return false, r.err
	}
	if valid != nil {
		spread(v, valid, len(values), len(rows))
	}
	return true, nil
}

// rank fills d.ranks with what number each of some rows that is valid has among all that are, and returns which of the
// rows are.
func (d *Decoder) rank(all vector.Bitmap, rows []uint32) vector.Bitmap {
	valid := vector.MakeBitmap(len(rows))
	d.ranks = d.ranks[:0]
	word, before := 0, 0 // values in the words before
	for i, row := range rows {
		for ; word < int(row>>6); word++ {
			before += bits.OnesCount64(all[word])
		}
		if all.Get(int(row)) {
			valid.Set(i)
			d.ranks = append(d.ranks, uint32(before+bits.OnesCount64(all[word]&(1<<(row&63)-1))))
		}
	}
	return valid
}

// pickPacked picks integers of a column.
func pickPacked(d *Decoder, r *reader, v *vector.Vector, n int, rows []uint32) bool {
	switch v.Type.Kind() {
	case vector.Int64:
		v.Ints = vector.Sized(v.Ints, len(rows))
		pickFrame(d, r, v.Ints, n, rows)
	case vector.Uint64:
		v.Uints = vector.Sized(v.Uints, len(rows))
		pickFrame(d, r, v.Uints, n, rows)
	default:
		return false
	}
	return true
}

// pickFrame fills dst with some of the n values of a frame (frame.go).
func pickFrame[T int64 | uint64](d *Decoder, r *reader, dst []T, n int, rows []uint32) {
	if n == 0 { // which has no frame
		return
	}
	f := r.frame(n)
	if r.err != nil {
		return
	}
	d.lows = vector.Sized(d.lows, len(rows))
	unpackAt(d.lows, f.body, rows, f.width)
	for i, low := range d.lows {
		dst[i] = T(f.base + low)
	}
	if f.exceptions == 0 {
		return
	}
	d.readExceptions(r, f.exceptions)
	if r.err != nil {
		return
	}
	d.want(n, rows)
	for i, p := range d.positions {
		if int(p) < n && d.hits.Get(int(p)) {
			at, _ := slices.BinarySearch(rows, p)
			dst[at] += T(d.highs[i] << f.width)
		}
	}
}

// want sets the bits of some of n rows in d.hits, where exceptions are looked up, because few of them are wanted.
func (d *Decoder) want(n int, rows []uint32) {
	d.hits = append(d.hits[:0], make(vector.Bitmap, vector.Words(n))...)
	for _, row := range rows {
		d.hits.Set(int(row))
	}
}

// pickTexts reads, for some rows, their integers out of n, which stand for other values; the ID of the integers comes
// first.
func (d *Decoder) pickTexts(r *reader, n int, rows []uint32) {
	if len(r.b) > 0 && ID(r.b[0]).scheme().some != nil {
		d.texts = vector.Sized(d.texts, len(rows))
		ID(r.byte()).scheme().some(d, r, d.texts, n, rows)
		return
	}
	if d.decodeTexts(r, n); r.err != nil {
		return
	}
	for i, row := range rows { // rows rise, so that none is overwritten before it is read
		d.texts[i] = d.texts[row]
	}
	d.texts = d.texts[:len(rows)]
}
