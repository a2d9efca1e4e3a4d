package intern

import (
	"math/bits"

	"varve/engine/vector"
)

// Hasher makes hashes of rows of several key columns: rows whose keys are equal have equal hashes, in this process,
// whatever form their vectors have. NULL is a value, too. All bits of a hash are as good as another, and they have
// nothing to do with those by which the tables of this package find a value. One goroutine at a time.
type Hasher struct {
	columns []columnHasher
	hashes  []uint64
}

// columnHasher keeps the hashes of a dictionary's values for the next batch.
type columnHasher struct {
	canon  func([]byte) uint64
	own    probe
	dict   *vector.Vector // the last one
	values []uint64       // hashes of its values
	part   vector.Vector  // values of a dictionary that is larger than the batches
	flat   vector.Vector
}

// null is what NULL has in place of a hash.
const null = 0x9AE16A3B2F90404F

// NewHasher is a hasher of so many columns as there are functions, each as for New.
func NewHasher(canons ...func([]byte) uint64) *Hasher {
	h := &Hasher{columns: make([]columnHasher, len(canons))}
	for i, c := range canons {
		h.columns[i].canon = c
	}
	return h
}

// Rows are the hashes of n rows of keys. They are valid until the next call.
func (h *Hasher) Rows(keys []*vector.Vector, n int) []uint64 {
	h.hashes = vector.Sized(h.hashes, n)
	hashes := h.hashes
	clear(hashes)
	for i, v := range keys {
		h.columns[i].add(v, n, hashes)
	}
	for i, x := range hashes {
		x = (x ^ x>>32) * (seed[2] | 1)
		hashes[i] = x ^ x>>29
	}
	return hashes
}

// together puts the hash of another column to that of a row.
func together(row, hash uint64) uint64 {
	hi, lo := bits.Mul64(row^hash^seed[1], 0xD6E8FEB86659FD93)
	return hi ^ lo
}

func (c *columnHasher) add(v *vector.Vector, n int, into []uint64) {
	switch {
	case v.Form == vector.Const:
		one := c.of(v.FlattenInto(&c.flat, 1), 1)[0]
		for i, x := range into {
			into[i] = together(x, one)
		}
	case v.Form == vector.Dict:
		c.dictionary(v, n, into)
	default:
		hashes := c.of(v, n)
		into = into[:len(hashes)]
		for i, hash := range hashes {
			into[i] = together(into[i], hash)
		}
	}
}

// of are the hashes of the rows of a Flat vector.
func (c *columnHasher) of(v *vector.Vector, n int) []uint64 {
	c.own.load(v, n, c.canon)
	hashes := c.own.hashes[:n]
	if v.Valid != nil {
		for i := range hashes {
			if !v.Valid.Get(i) {
				hashes[i] = null
			}
		}
	}
	return hashes
}

// dictionary hashes each value once where the values are not many more than the rows.
func (c *columnHasher) dictionary(v *vector.Vector, n int, into []uint64) {
	codes := v.Codes[:n]
	if c.dict != v.Values {
		if v.Values.Len() > 4*n {
			c.part.Gather(v.Values, codes)
			hashes := c.of(&c.part, n)
			into = into[:len(hashes)]
			for i, hash := range hashes {
				if v.IsNull(i) {
					hash = null
				}
				into[i] = together(into[i], hash)
			}
			return
		}
		c.dict = v.Values
		c.values = append(c.values[:0], c.of(v.Values, v.Values.Len())...)
	}
	values := c.values
	into = into[:len(codes)]
	for i, code := range codes {
		hash := uint64(null)
		if !v.IsNull(i) {
			hash = values[code]
		}
		into[i] = together(into[i], hash)
	}
}
