package memtable

import (
	"varve/engine/schema"
	"varve/engine/vector"
)

// tagColumn is one tag of all series of a snapshot as a dictionary: a code per series.
type tagColumn struct {
	typ    vector.Type
	values *vector.Vector
	codes  []uint32 // by series number
	null   []bool   // by series number; nil: no series lacks the tag
}

func newTagColumn(s *snapshot, c schema.Column) (*tagColumn, error) {
	t := &tagColumn{typ: c.Type, codes: make([]uint32, len(s.series))}
	seen := map[string]uint32{}
	var distinct [][]byte
	null, any := make([]bool, len(s.series)), false
	for i, e := range s.series {
		found := false
		_, err := schema.ParseSeriesKey([]byte(e.key), func(id schema.ColumnID, val []byte) {
			if id != c.ID {
				return
			}
			code, ok := seen[string(val)]
			if !ok {
				code = uint32(len(distinct))
				distinct = append(distinct, append([]byte{}, val...))
				seen[string(val)] = code
			}
			t.codes[i], found = code, true
		})
		if err != nil {
			return nil, err
		}
		null[i] = !found
		any = any || !found
	}
	if any {
		t.null = null
	}
	var err error
	t.values, err = schema.TagVector(c.Type, distinct)
	return t, err
}

// gather gives the tag of some rows of a chunk: Const when the chunk has one series, else Dict.
func (t *tagColumn) gather(dst *vector.Vector, ch *chunk, rows []uint32) *vector.Vector {
	if t.values.Type.Kind() == vector.Bool {
		return t.flat(dst, ch, rows)
	}
	*dst = vector.Vector{Type: t.typ, Form: vector.Dict, Values: t.values, Codes: dst.Codes[:0]}
	for _, r := range rows {
		dst.Codes = append(dst.Codes, t.codes[ch.seriesOf(int(r))])
	}
	if t.null != nil {
		dst.Valid = vector.MakeBitmap(len(rows))
		for i, r := range rows {
			if !t.null[ch.seriesOf(int(r))] {
				dst.Valid.Set(i)
			}
		}
	}
	return dst
}

// flat is gather for booleans, which have no dictionaries.
func (t *tagColumn) flat(dst *vector.Vector, ch *chunk, rows []uint32) *vector.Vector {
	*dst = vector.Vector{Type: t.typ, Bools: vector.MakeBitmap(len(rows)), Valid: vector.MakeBitmap(len(rows))}
	for i, r := range rows {
		n := ch.seriesOf(int(r))
		if t.null != nil && t.null[n] {
			continue
		}
		dst.Valid.Set(i)
		if t.values.Bools.Get(int(t.codes[n])) {
			dst.Bools.Set(i)
		}
	}
	return dst
}
