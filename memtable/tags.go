package memtable

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"varve/engine/invariant"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/symbol"
	"varve/engine/vector"
)

// tagDicts are the tag columns of one table by series. Those of tables of many series grow with them, so that no reader
// has to look at a million keys; others are made when a reader asks for a tag. Safe for concurrent use.
type tagDicts struct {
	held *atomic.Int64 // the registry's bytes
	mu   sync.Mutex
	done int // series of the table looked at
	cols map[schema.ColumnID]*tagDict
}

// tagDict is one tag by rank: position among the table's series.
type tagDict struct {
	values symbol.Table // distinct, in series key form
	codes  []uint32     // codes[rank] is 1 + position in values; 0: the key does not name the tag; namedNull
	before []uint32     // 1 + rank of the previous series with the same value; 0: none
	last   []uint32     // by value: 1 + rank of the last series with it
	nulls  bool         // there is a 0 in codes
	made   *tagColumn
}

// namedNull is the code of a series whose key says that the tag is NULL, as it does of a tag with an initial value.
const namedNull = math.MaxUint32

// tagColumn is a tag of all series of a table that a snapshot knows, and perhaps later ones. Immutable.
type tagColumn struct {
	typ    vector.Type
	values *vector.Vector
	keys   *vector.Vector // the same in the form of series keys
	codes  []uint32       // codes[rank] is 1 + position in values; 0: NULL
	nulls  bool
}

// manySeries is the number of a table's series from which on their tags are looked at as they come, and soonSeries how
// many come together: a reader looks at the rest, which takes it less than a millisecond.
var (
	manySeries = invariant.Limit(1024, 1)
	soonSeries = invariant.Limit(256, 1)
)

// codeBytes is the memory of a tag of a series, valueBytes the memory of a distinct value without its bytes.
const (
	codeBytes  = 8
	valueBytes = 24
)

// follow looks at the series of a table that has many. The caller holds the registry's lock for writing; a reader that
// holds the tags does the same.
func (d *tagDicts) follow(keys *seriesKeys, numbers []uint32) {
	if len(numbers) < manySeries || len(numbers)%soonSeries != 0 || !d.mu.TryLock() {
		return
	}
	defer d.mu.Unlock()
	_ = d.extend(keys, numbers) // a reader that needs unreadable values gets the error
}

// column returns a tag of the series with the given numbers, which are all of the table.
func (d *tagDicts) column(c schema.Column, keys *seriesKeys, numbers []uint32) (*tagColumn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.tag(c.ID, keys, numbers)
	if err != nil {
		return nil, err
	}
	if t.made != nil && t.made.typ == c.Type && len(t.made.codes) == d.done {
		return t.made, nil
	}
	made := &tagColumn{typ: c.Type, codes: t.codes, nulls: t.nulls}
	if initial := schema.InitialTag(c.Default); initial != nil {
		if made.codes, made.nulls, err = t.filled(initial); err != nil {
			return nil, err
		}
	}
	made.keys = t.values.Vector(vector.BinaryType)
	switch old := t.made; {
	case old != nil && old.typ == c.Type && c.Type.Kind() != vector.Bool && old.values.Len() == t.values.Len():
		made.values = old.values // what was tested on it need not be tested again
	case c.Type.Kind() == vector.Bytes:
		made.values = t.values.Vector(c.Type)
	default:
		tags := make([][]byte, t.values.Len())
		for i := range tags {
			tags[i] = t.values.Bytes(uint32(i))
		}
		if made.values, err = schema.TagVector(c.Type, tags); err != nil {
			return nil, err
		}
	}
	t.made = made
	return made, nil
}

// having returns the ranks of the series with some values of a tag, rising. The values are distinct.
func (d *tagDicts) having(c schema.ColumnID, values [][]byte, keys *seriesKeys, numbers []uint32) ([]uint32, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.tag(c, keys, numbers)
	if err != nil {
		return nil, err
	}
	ranks := []uint32{}
	for _, v := range values {
		code, ok := t.values.Find(v)
		if !ok {
			continue
		}
		for next := t.last[code]; next > 0; next = t.before[next-1] {
			ranks = append(ranks, next-1)
		}
	}
	slices.Sort(ranks)
	return ranks, nil
}

// tag returns a tag of all series of the table.
func (d *tagDicts) tag(id schema.ColumnID, keys *seriesKeys, numbers []uint32) (*tagDict, error) {
	if err := d.extend(keys, numbers); err != nil {
		return nil, err
	}
	t := d.cols[id]
	if t == nil {
		t = &tagDict{}
		d.cols[id] = t
	}
	t.pad(d.done)
	return t, nil
}

// extend looks at the series that were not there last time.
func (d *tagDicts) extend(keys *seriesKeys, numbers []uint32) error {
	if d.cols == nil {
		d.cols = map[schema.ColumnID]*tagDict{}
	}
	var scratch []byte
	grown := int64(0)
	defer func() {
		if d.held != nil {
			d.held.Add(grown)
		}
	}()
	for ; d.done < len(numbers); d.done++ {
		_, tags, err := schema.CutTable(keys.key(numbers[d.done]))
		for len(tags) > 0 && err == nil {
			var id schema.ColumnID
			var val []byte
			if id, val, tags, err = schema.CutTag(tags, &scratch); err != nil {
				break
			}
			t := d.cols[id]
			if t == nil {
				t = &tagDict{}
				d.cols[id] = t
			}
			before := len(t.codes)
			t.pad(d.done)
			known := t.values.Len()
			err = t.add(val)
			grown += int64(len(t.codes)-before)*codeBytes + int64(t.values.Len()-known)*(valueBytes+int64(len(val)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add counts the next series, with a value of the tag; nil: NULL.
func (t *tagDict) add(val []byte) error {
	if val == nil {
		t.codes, t.before = append(t.codes, namedNull), append(t.before, 0)
		return nil
	}
	at, err := t.code(val)
	if err != nil {
		return err
	}
	t.codes, t.before = append(t.codes, at+1), append(t.before, t.last[at])
	t.last[at] = uint32(len(t.codes))
	return nil
}

// code returns the position of a value, a new one if need be.
func (t *tagDict) code(val []byte) (uint32, error) {
	if k := len(t.codes); k > 0 && t.codes[k-1] > 0 && t.codes[k-1] != namedNull { // neighbours often have the same
		if at := t.codes[k-1] - 1; string(t.values.Bytes(at)) == string(val) {
			return at, nil
		}
	}
	at, ok := t.values.Add(val)
	if !ok {
		return 0, status.New(status.RuntimeResourcesExhausted,
			"a tag has more than %d bytes of different values in memory, which is the limit", symbol.MaxBytes)
	}
	if int(at) == len(t.last) {
		t.last = append(t.last, 0)
	}
	return at, nil
}

// filled returns the codes of a tag with an initial value, which keys do not name, and whether there is a NULL.
func (t *tagDict) filled(initial []byte) (codes []uint32, nulls bool, err error) {
	absent, err := t.code(initial)
	if err != nil {
		return nil, false, err
	}
	codes = make([]uint32, len(t.codes))
	for i, code := range t.codes {
		switch code {
		case 0:
			codes[i] = absent + 1
		case namedNull:
			nulls = true
		default:
			codes[i] = code
		}
	}
	return codes, nulls, nil
}

// pad counts the series up to n that lack the tag.
func (t *tagDict) pad(n int) {
	for len(t.codes) < n {
		t.codes, t.before, t.nulls = append(t.codes, 0), append(t.before, 0), true
	}
}

// one returns the tag with a code: Const.
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
		dst.Bools = vector.Bitmap{vector.Bit(values.Bools.Get(i))}
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

// vector makes dst the rows of the tag with the codes in dst.Codes: Dict, or Flat for booleans, which have no
// dictionaries. nulls reports that codes of 0 may occur.
func (t *tagColumn) vector(dst *vector.Vector, nulls bool) *vector.Vector {
	codes := dst.Codes
	valid := dst.Valid[:0]
	*dst = vector.Vector{Type: t.typ, Form: vector.Dict, Values: t.values, Codes: codes}
	if nulls {
		for i := 0; i < len(codes); i += 64 {
			var m uint64
			for k, code := range codes[i:min(i+64, len(codes))] {
				m |= vector.Bit(code != 0) << k
			}
			valid = append(valid, m)
		}
		dst.Valid = valid
	}
	for i, code := range codes {
		codes[i] = code - uint32(vector.Bit(code != 0)) // under a NULL: the first value
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
