package sst

import (
	"sync"

	"varve/engine/schema"
	"varve/engine/vector"
)

// tagCache keeps the tags of a part that were asked for. Safe for concurrent use.
type tagCache struct {
	mu   sync.Mutex
	tags map[tagKey]*tagColumn
}

type tagKey struct {
	id schema.ColumnID
	t  vector.Type
}

// tagColumn is one tag of all series of a part as a dictionary.
type tagColumn struct {
	values *vector.Vector // distinct, in order of first appearance
	codes  []uint32       // of each series; 0 where the tag is absent
	valid  vector.Bitmap  // series that have the tag; nil: all
}

// tag gives a tag column, built from the keys at first use.
func (p *Part) tag(c *schema.Column) (*tagColumn, error) {
	key := tagKey{c.ID, c.Type}
	p.tags.mu.Lock()
	t := p.tags.tags[key]
	p.tags.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := p.readTag(c)
	if err != nil {
		return nil, err
	}
	p.tags.mu.Lock()
	defer p.tags.mu.Unlock()
	if first := p.tags.tags[key]; first != nil { // a dictionary is known by its pointer
		return first, nil
	}
	if p.tags.tags == nil {
		p.tags.tags = map[tagKey]*tagColumn{}
	}
	p.tags.tags[key] = t
	return t, nil
}

func (p *Part) readTag(c *schema.Column) (*tagColumn, error) {
	table, err := p.seriesTable()
	if err != nil {
		return nil, err
	}
	n := table.len()
	t := &tagColumn{codes: make([]uint32, n), valid: vector.MakeBitmap(n)}
	codes := map[string]uint32{}
	var distinct [][]byte
	walk, err := table.walk(0)
	for i := 0; i < n && err == nil; i++ {
		if err = walk.step(); err != nil {
			break
		}
		_, err = schema.ParseSeriesKey(walk.key, func(id schema.ColumnID, val []byte) {
			if id != c.ID {
				return
			}
			code, ok := codes[string(val)]
			if !ok {
				code = uint32(len(distinct))
				codes[string(val)] = code
				distinct = append(distinct, append([]byte{}, val...))
			}
			t.codes[i] = code
			t.valid.Set(i)
		})
	}
	if err == nil {
		t.values, err = schema.TagVector(c.Type, distinct)
	}
	if err != nil {
		return nil, p.corrupt(err, "series")
	}
	if t.valid.All(n) {
		t.valid = nil
	}
	return t, nil
}

// series is the tag as a vector with one row a series.
func (t *tagColumn) series() *vector.Vector {
	if t.values.Type.Kind() == vector.Bool {
		v := &vector.Vector{Type: t.values.Type, Valid: t.valid, Bools: vector.MakeBitmap(len(t.codes))}
		for i, c := range t.codes {
			if (t.valid == nil || t.valid.Get(i)) && t.values.Bools.Get(int(c)) {
				v.Bools.Set(i)
			}
		}
		return v
	}
	return &vector.Vector{Type: t.values.Type, Form: vector.Dict, Valid: t.valid, Codes: t.codes, Values: t.values}
}

// block makes dst the tag of n rows beginning at row first: Const when they belong to one series.
func (t *tagColumn) block(dst *vector.Vector, table *seriesTable, first, n int) {
	*dst = vector.Vector{Type: t.values.Type, Form: vector.Dict, Values: t.values, Codes: dst.Codes[:0], Valid: dst.Valid[:0]}
	s := table.at(first)
	if _, to := table.rows(s); to >= first+n {
		if t.valid != nil && !t.valid.Get(s) {
			*dst = *vector.ConstNull(dst.Type)
			return
		}
		c := uint32(s)
		var one vector.Vector
		one.Gather(t.values, []uint32{t.codes[c]})
		one.Form = vector.Const
		*dst = one
		return
	}
	nulls := false
	for row := first; row < first+n; s++ {
		_, to := table.rows(s)
		to = min(to, first+n)
		for range to - row {
			dst.Codes = append(dst.Codes, t.codes[s])
		}
		nulls = nulls || t.valid != nil && !t.valid.Get(s)
		row = to
	}
	if nulls {
		t.blockValid(dst, table, first, n)
	} else {
		dst.Valid = nil
	}
	if dst.Type.Kind() == vector.Bool {
		t.blockBools(dst, n)
	}
}

func (t *tagColumn) blockValid(dst *vector.Vector, table *seriesTable, first, n int) {
	dst.Valid = vector.MakeBitmap(n)
	s := table.at(first)
	for row := first; row < first+n; s++ {
		_, to := table.rows(s)
		to = min(to, first+n)
		if t.valid.Get(s) {
			setRange(dst.Valid, row-first, to-first)
		}
		row = to
	}
}

// blockBools: booleans have no dictionaries.
func (t *tagColumn) blockBools(dst *vector.Vector, n int) {
	dst.Form, dst.Values, dst.Bools = vector.Flat, nil, vector.MakeBitmap(n)
	for i, c := range dst.Codes {
		if t.values.Len() > 0 && t.values.Bools.Get(int(c)) && !dst.IsNull(i) {
			dst.Bools.Set(i)
		}
	}
}

// setRange sets bits [from, to).
func setRange(b vector.Bitmap, from, to int) {
	for from < to {
		w := from >> 6
		end := min(to, (w+1)<<6)
		m := ^uint64(0) << (from & 63)
		if end&63 != 0 {
			m &= 1<<(end&63) - 1
		}
		b[w] |= m
		from = end
	}
}
