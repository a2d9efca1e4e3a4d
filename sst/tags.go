package sst

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/filter"
	"varve/engine/invariant"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// tagCache keeps the tags of a part that were asked for, as far as the cache has room for them. Safe for concurrent
// use.
type tagCache struct {
	mu      sync.Mutex
	tags    map[tagKey]*tagColumn
	bytes   int64
	inUse   map[tagKey]weak.Pointer[tagColumn] // those there was no room for, as long as a scan has them
	reading map[tagKey]chan struct{}           // closed when a scan has read the tag, or failed to
}

type tagKey struct {
	id schema.ColumnID
	t  vector.Type
	seriesRange
}

// seriesRange is the series [from, to) of a part: the series of one table.
type seriesRange struct{ from, to int }

// tagColumn is one tag of a range of the series of a part as a dictionary.
type tagColumn struct {
	of     seriesRange
	values *vector.Vector       // distinct, in order of first appearance
	byKey  *encoding.Dictionary // the same in the form of series keys: finds codes
	codes  []uint32             // of each series in the range; 0 where the tag is absent
	valid  vector.Bitmap        // series of the range that have the tag; nil: all

	// Made when they are first asked for.
	posting     sync.Once
	first, list []uint32 // series with value c, rising, numbered from of.from: list[first[c]:first[c+1]]
}

// has reports whether the series has the tag. Of those outside of the range nothing is known, and they have not.
func (t *tagColumn) has(series int) bool {
	i := series - t.of.from
	return i >= 0 && i < len(t.codes) && (t.valid == nil || t.valid.Get(i))
}

// code is the code of a series; 0 when it has none.
func (t *tagColumn) code(series int) uint32 {
	if i := series - t.of.from; i >= 0 && i < len(t.codes) {
		return t.codes[i]
	}
	return 0
}

// tag returns a tag of some series, built from the keys at first use. Scans that ask at the same time share it, whether
// there is room to keep it or not: of a tag of millions of values each copy takes some hundred megabytes. Unless the
// cache counts it, reserve is asked before it takes memory; nil: nobody counts it.
func (p *Part) tag(ctx context.Context, c *schema.Column, of seriesRange,
	reserve func(bytes int64) error) (*tagColumn, error) {
	key := tagKey{c.ID, c.Type, of}
	room := tagRoom{reserve: reserve}
	for {
		t, kept, reading := p.tags.find(key)
		if kept {
			return t, nil
		}
		if t != nil {
			return t, room.settle(t.size())
		}
		if reading == nil {
			break
		}
		if err := await(ctx, reading); err != nil {
			return nil, err
		}
	}
	var t *tagColumn
	defer func() { // other waiters also continue after a fault of the file
		if p.keepTag(key, t) || t == nil {
			_ = room.settle(0) // giving back does not fail
		}
	}()
	t, err := p.readTag(ctx, c, of, &room)
	return t, err
}

// find returns a tag that is there, and whether the cache keeps it, or what is closed when another scan has read it;
// neither: the caller reads it and calls keepTag.
func (c *tagCache) find(key tagKey) (t *tagColumn, kept bool, reading chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tags[key]; t != nil {
		return t, true, nil
	}
	if t := c.inUse[key].Value(); t != nil {
		return t, false, nil
	}
	reading = c.reading[key]
	if reading == nil {
		if c.reading == nil {
			c.reading = map[tagKey]chan struct{}{}
		}
		c.reading[key] = make(chan struct{})
	}
	return nil, false, reading
}

// awaitStep is the period after which a reader that waits for another scan checks whether its own scan has ended.
const awaitStep = 10 * time.Millisecond

func await(ctx context.Context, reading chan struct{}) error {
	timer := time.NewTicker(awaitStep)
	defer timer.Stop()
	for {
		select {
		case <-reading:
			return nil
		case <-timer.C:
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
}

// keepTag ends the reading of a tag, which is nil when that failed, and keeps it as long as there is room, or else as
// long as somebody uses it.
func (p *Part) keepTag(key tagKey, t *tagColumn) (kept bool) {
	p.tags.mu.Lock()
	defer p.tags.mu.Unlock()
	close(p.tags.reading[key])
	delete(p.tags.reading, key)
	if t == nil {
		return false
	}
	size := t.size()
	if !p.cache.takeTags(size) {
		// Other indexes of this part are dropped first: a requested index is worth more.
		p.dropTags()
		if !p.cache.takeTags(size) {
			if p.tags.inUse == nil {
				p.tags.inUse = map[tagKey]weak.Pointer[tagColumn]{}
			}
			p.tags.inUse[key] = weak.Make(t)
			return false
		}
	}
	if p.tags.tags == nil {
		p.tags.tags = map[tagKey]*tagColumn{}
	}
	p.tags.tags[key] = t
	p.tags.bytes += size
	return true
}

// dropTags forgets the tags. The caller holds p.tags.mu, or the part has no readers any more.
func (p *Part) dropTags() {
	p.cache.tags.Add(-p.tags.bytes)
	p.tags.tags, p.tags.bytes = nil, 0
}

// size is the memory held, with postings; keys and values of strings are the same bytes.
func (t *tagColumn) size() int64 {
	n := int64(8*len(t.codes)+8*len(t.valid)+4*t.values.Len()) + t.byKey.Bytes64() + 256
	if t.values.Type.Kind() != vector.Bytes {
		n += t.values.Bytes64(t.values.Len())
	}
	return n
}

// mostTagBytes bounds the distinct values of a tag in a part: their offsets have 32 bits. A variable for the tests.
var mostTagBytes = math.MaxUint32

// readStep is the number of series after which reading a tag checks whether the scan has ended.
const readStep = 16 << 10

func (p *Part) readTag(ctx context.Context, c *schema.Column, of seriesRange, room *tagRoom) (*tagColumn, error) {
	table, err := p.seriesTable(ctx)
	if err != nil {
		return nil, err
	}
	n := of.to - of.from
	if err := room.want(int64(8 * n)); err != nil {
		return nil, err
	}
	t := &tagColumn{of: of, codes: make([]uint32, n), valid: vector.MakeBitmap(n)}
	dict := encoding.NewDictionary(0, 0)
	indexed, err := p.tagIndex(ctx)
	if err != nil {
		return nil, err
	}
	if indexed.worth(c.ID, n) {
		err = p.tagByIndex(ctx, c, indexed.tags[c.ID], t, dict, room)
	} else {
		err = p.tagByKeys(ctx, c, table, t, dict, room)
	}
	if err != nil {
		return nil, err
	}
	t.byKey = dict
	if t.values, err = tagValues(c.Type, dict); err != nil {
		return nil, p.corrupt(err, "series")
	}
	if t.valid.All(n) {
		t.valid = nil
	}
	return t, room.settle(t.size())
}

// tagCode returns the code of a value, which has room when it is new.
func (p *Part) tagCode(c *schema.Column, t *tagColumn, dict *encoding.Dictionary, val []byte, room *tagRoom) (uint32,
	error) {
	if len(dict.Heap)+len(val) > mostTagBytes {
		return 0, p.tooMuchTag(c)
	}
	if err := room.want(int64(8*len(t.codes)) + valueBytes*int64(dict.Len()) + int64(len(dict.Heap)+len(val))); err !=
		nil {
		return 0, err
	}
	return dict.Code(val), nil
}

// valueBytes is the memory of a distinct value of a tag besides its bytes.
const valueBytes = 24

// worth reports whether the index gives a tag of so many series sooner than their keys do.
func (x *tagIndex) worth(id schema.ColumnID, series int) bool {
	if x == nil {
		return false
	}
	t := x.tags[id]
	return t == nil || (t.series+t.values)/keyPostings <= uint64(series)
}

// keyPostings is the number of postings that are read in the time of a key.
var keyPostings = uint64(invariant.Limit(16, 1))

// tagByIndex fills in a tag by the series of its values.
func (p *Part) tagByIndex(ctx context.Context, c *schema.Column, x *indexedTag, t *tagColumn,
	dict *encoding.Dictionary, room *tagRoom) error {
	set := func(value []byte, series []uint32) error {
		code, err := p.tagCode(c, t, dict, value, room)
		if err != nil {
			return err
		}
		if code%readStep == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for _, s := range series {
			i := int(s) - t.of.from
			t.codes[i] = code
			t.valid.Set(i)
		}
		return nil
	}
	if x != nil {
		if err := x.each(ctx, p, t.of, set); err != nil {
			return err
		}
	}
	initial := schema.InitialTag(c.Default) // of series whose key does not name the tag
	if initial == nil {
		return nil
	}
	unnamed := vector.MakeBitmap(len(t.codes))
	unnamed.Fill(len(t.codes))
	for w, named := range t.valid {
		unnamed[w] &^= named
	}
	if x != nil {
		nulls, err := appendSeriesOf(nil, x.nulls, t.of)
		if err != nil {
			return p.corrupt(err, "tag index")
		}
		for _, s := range nulls {
			unnamed.Clear(int(s) - t.of.from)
		}
	}
	rest := unnamed.AppendRows(nil)
	for i := range rest {
		rest[i] += uint32(t.of.from)
	}
	if len(rest) == 0 {
		return nil
	}
	return set(initial, rest)
}

func (p *Part) tooMuchTag(c *schema.Column) error {
	return status.New(status.RuntimeResourcesExhausted,
		"column %s has more than %d bytes of different values in part %s, which is the limit", c.Name,
		mostTagBytes, p.name)
}

// tagByKeys fills in a tag by the keys of the series.
func (p *Part) tagByKeys(ctx context.Context, c *schema.Column, table *seriesTable, t *tagColumn,
	dict *encoding.Dictionary, room *tagRoom) error {
	initial := schema.InitialTag(c.Default) // of series whose key does not name the tag
	of, n := t.of, len(t.codes)
	var last, scratch []byte
	code, any := uint32(0), false
	walk, err := table.walk(of.from)
	for i := 0; i < n && err == nil; i++ {
		if i%readStep == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err = walk.step(); err != nil {
			break
		}
		var val []byte
		var named bool
		if val, named, err = schema.TagOf(walk.key, c.ID, scratch); !named {
			val = initial
		}
		if val == nil {
			continue
		}
		if !any || string(val) != string(last) { // neighbours often have the same
			var failed error
			if code, failed = p.tagCode(c, t, dict, val, room); failed != nil {
				return failed
			}
			any = true
			last = append(last[:0], val...)
		}
		t.codes[i] = code
		t.valid.Set(i)
	}
	if err != nil {
		return p.corrupt(err, "series")
	}
	return nil
}

// tagValues makes a vector of the values of a tag, which are in the form of series keys.
func tagValues(t vector.Type, d *encoding.Dictionary) (*vector.Vector, error) {
	if t.Kind() == vector.Bytes {
		return &vector.Vector{Type: t, Views: d.Views, Heap: d.Heap}, nil
	}
	tags := make([][]byte, d.Len())
	for i := range tags {
		tags[i] = d.Bytes(i)
	}
	return schema.TagVector(t, tags)
}

// postings returns the series with a value, rising, numbered from the begin of the range.
func (t *tagColumn) postings(code uint32) []uint32 {
	t.posting.Do(func() {
		t.first = make([]uint32, t.values.Len()+1)
		for i, c := range t.codes {
			if t.valid == nil || t.valid.Get(i) {
				t.first[c+1]++
			}
		}
		for c := range t.values.Len() {
			t.first[c+1] += t.first[c]
		}
		t.list = make([]uint32, t.first[t.values.Len()])
		next := slices.Clone(t.first)
		for i, c := range t.codes {
			if t.valid == nil || t.valid.Get(i) {
				t.list[next[c]] = uint32(i)
				next[c]++
			}
		}
	})
	return t.list[t.first[code]:t.first[code+1]]
}

// seriesOf returns the series whose values pass. Where many do, their codes are looked at instead of the postings.
func (t *tagColumn) seriesOf(passes vector.Bitmap) *roaring.Bitmap {
	if few := passes.Count(); few <= t.values.Len()/16 || few == 1 {
		set := roaring.New()
		for _, code := range passes.AppendRows(nil) {
			set.AddMany(t.postings(code))
		}
		return set
	}
	keep := t.presentBits()
	filter.KeepCodes(keep, t.codes, passes)
	return roaring.FromDense(keep, false)
}

// present returns the series that have the tag.
func (t *tagColumn) present() *roaring.Bitmap { return roaring.FromDense(t.presentBits(), false) }

func (t *tagColumn) presentBits() vector.Bitmap {
	b := vector.MakeBitmap(len(t.codes))
	if t.valid == nil {
		b.Fill(len(t.codes))
	}
	copy(b, t.valid)
	return b
}

// block makes dst the tag of n rows beginning at row first: Const when they belong to one series.
func (t *tagColumn) block(dst *vector.Vector, table *seriesTable, first, n int) {
	s := table.at(first)
	if _, to := table.rows(s); to >= first+n {
		t.one(dst, s)
		return
	}
	t.begin(dst)
	nulls := false
	for row := first; row < first+n; s++ {
		_, to := table.rows(s)
		to = min(to, first+n)
		from := len(dst.Codes)
		dst.Codes = slices.Grow(dst.Codes, to-row)[:from+to-row]
		code := t.code(s)
		for i := range dst.Codes[from:] {
			dst.Codes[from+i] = code
		}
		nulls = nulls || !t.has(s)
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

// begin makes dst codes, none yet, in memory that it has.
func (t *tagColumn) begin(dst *vector.Vector) {
	*dst = vector.Vector{Type: t.values.Type, Form: vector.Dict, Values: t.values, Codes: dst.Codes[:0],
		Valid: dst.Valid[:0]}
}

// one makes dst the tag of a series.
func (t *tagColumn) one(dst *vector.Vector, series int) {
	if !t.has(series) {
		*dst = *vector.ConstNull(t.values.Type)
		return
	}
	var one vector.Vector
	one.Gather(t.values, []uint32{t.code(series)})
	one.Form = vector.Const
	*dst = one
}

// rows makes dst the tag of some rows, which rise and are numbered from row first on: Const when they belong to one
// series.
func (t *tagColumn) rows(dst *vector.Vector, table *seriesTable, first int, rows []uint32) {
	s := table.at(first + int(rows[0]))
	if _, to := table.rows(s); to > first+int(rows[len(rows)-1]) {
		t.one(dst, s)
		return
	}
	t.begin(dst)
	valid := dst.Valid.Emptied(len(rows))
	nulls := false
	for i, row := range rows {
		for {
			if _, to := table.rows(s); first+int(row) < to {
				break
			}
			s++
		}
		dst.Codes = append(dst.Codes, t.code(s))
		if t.has(s) {
			valid.Set(i)
		} else {
			nulls = true
		}
	}
	if dst.Valid = nil; nulls {
		dst.Valid = valid
	}
	if dst.Type.Kind() == vector.Bool {
		t.blockBools(dst, len(rows))
	}
}

func (t *tagColumn) blockValid(dst *vector.Vector, table *seriesTable, first, n int) {
	dst.Valid = vector.MakeBitmap(n)
	s := table.at(first)
	for row := first; row < first+n; s++ {
		_, to := table.rows(s)
		to = min(to, first+n)
		if t.has(s) {
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
