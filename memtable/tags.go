package memtable

import (
	"bytes"
	"math"
	"sync"

	"varve/engine/schema"
	"varve/engine/vector"
)

// tagDicts are the tag columns of one table by series. They are made when a reader asks for a tag and grow with the series: what is
// only loaded and flushed pays nothing, and many queries pay once. Safe for concurrent use.
type tagDicts struct {
	mu   sync.Mutex
	done int // series of the table looked at
	cols map[schema.ColumnID]*tagDict
}

// tagDict is one tag by rank: position among the table's series.
type tagDict struct {
	byValue map[string]uint32
	values  [][]byte // distinct, in series key form
	codes   []uint32 // codes[rank] is 1 + position in values; 0: the key does not name the tag; namedNull
	nulls   bool     // there is a 0 in codes
	made    *tagColumn
}

// namedNull is the code of a series whose key says that the tag is NULL, as it does of a tag with an initial value.
const namedNull = math.MaxUint32

// tagColumn is a tag of all series of a table that a snapshot knows, and perhaps later ones. Immutable.
type tagColumn struct {
	typ    vector.Type
	values *vector.Vector
	codes  []uint32 // codes[rank] is 1 + position in values; 0: NULL
	nulls  bool
}

// column gives a tag of the series with the given numbers, which are all of the table.
func (d *tagDicts) column(c schema.Column, keys *seriesKeys, numbers []uint32) (*tagColumn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.extend(keys, numbers); err != nil {
		return nil, err
	}
	t := d.cols[c.ID]
	if t == nil {
		t = &tagDict{byValue: map[string]uint32{}}
		d.cols[c.ID] = t
	}
	t.pad(d.done)
	if t.made != nil && t.made.typ == c.Type && len(t.made.codes) == d.done {
		return t.made, nil
	}
	made := &tagColumn{typ: c.Type, codes: t.codes, nulls: t.nulls}
	if initial := schema.InitialTag(c.Default); initial != nil {
		made.codes, made.nulls = t.filled(initial)
	}
	if t.made != nil && t.made.typ == c.Type && t.made.values.Type.Kind() != vector.Bool && t.made.values.Len() == len(t.values) {
		made.values = t.made.values // what was tested on it need not be tested again
	} else {
		var err error
		if made.values, err = schema.TagVector(c.Type, t.values); err != nil {
			return nil, err
		}
	}
	t.made = made
	return made, nil
}

// extend looks at the series that were not there last time.
func (d *tagDicts) extend(keys *seriesKeys, numbers []uint32) error {
	if d.cols == nil {
		d.cols = map[schema.ColumnID]*tagDict{}
	}
	for ; d.done < len(numbers); d.done++ {
		_, err := schema.ParseSeriesKey(keys.key(numbers[d.done]), func(id schema.ColumnID, val []byte) {
			t := d.cols[id]
			if t == nil {
				t = &tagDict{byValue: map[string]uint32{}}
				d.cols[id] = t
			}
			t.pad(d.done)
			code := uint32(namedNull)
			if val != nil {
				code = t.code(val)
			}
			t.codes = append(t.codes, code)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// code gives the code of a value, a new one if need be.
func (t *tagDict) code(val []byte) uint32 {
	at, ok := t.byValue[string(val)]
	if !ok {
		at = uint32(len(t.values))
		t.values = append(t.values, bytes.Clone(val))
		t.byValue[string(val)] = at
	}
	return at + 1
}

// filled gives the codes of a tag with an initial value, which keys do not name, and whether there is a NULL.
func (t *tagDict) filled(initial []byte) (codes []uint32, nulls bool) {
	absent := t.code(initial)
	codes = make([]uint32, len(t.codes))
	for i, code := range t.codes {
		switch code {
		case 0:
			codes[i] = absent
		case namedNull:
			nulls = true
		default:
			codes[i] = code
		}
	}
	return codes, nulls
}

// pad counts the series up to n that lack the tag.
func (t *tagDict) pad(n int) {
	for len(t.codes) < n {
		t.codes, t.nulls = append(t.codes, 0), true
	}
}

// one gives the tag with a code: Const.
func (t *tagColumn) one(dst *vector.Vector, code uint32) *vector.Vector {
	if code == 0 {
		*dst = *vector.ConstNull(t.typ)
		return dst
	}
	values := t.values
	*dst = vector.Vector{Type: t.typ, Form: vector.Const, Heap: values.Heap}
	i := int(code - 1)
	switch t.typ.Kind() {
	case vector.Bool:
		dst.Bools = vector.Bitmap{bit(values.Bools.Get(i))}
	case vector.Int64:
		dst.Ints = values.Ints[i : i+1]
	case vector.Uint64:
		dst.Uints = values.Uints[i : i+1]
	case vector.Float64:
		dst.Floats = values.Floats[i : i+1]
	default:
		dst.Views = values.Views[i : i+1]
	}
	return dst
}

// vector makes dst rows of the tag whose codes dst.Codes holds: Dict, or Flat for booleans, which have no dictionaries.
// nulls tells that there may be codes of 0.
func (t *tagColumn) vector(dst *vector.Vector, nulls bool) *vector.Vector {
	codes := dst.Codes
	valid := dst.Valid[:0]
	*dst = vector.Vector{Type: t.typ, Form: vector.Dict, Values: t.values, Codes: codes}
	if nulls {
		for i := 0; i < len(codes); i += 64 {
			var m uint64
			for k, code := range codes[i:min(i+64, len(codes))] {
				m |= bit(code != 0) << k
			}
			valid = append(valid, m)
		}
		dst.Valid = valid
	}
	for i, code := range codes {
		codes[i] = code - uint32(bit(code != 0)) // under a NULL: the first value
	}
	if t.typ.Kind() == vector.Bool {
		dst.Form, dst.Values, dst.Bools = vector.Flat, nil, vector.MakeBitmap(len(codes))
		for i, c := range codes {
			if len(t.values.Bools) > 0 && t.values.Bools.Get(int(c)) {
				dst.Bools.Set(i)
			}
		}
	}
	return dst
}
