package sst

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"varve/engine/filter"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
	"varve/sst/index"
)

// indexing is how the blocks of a column are indexed beyond their zones.
type indexing struct {
	filters bool    // blocks get token filters
	asked   bool    // by DDL: also where a filter is large beside its page
	rate    float64 // of false positives
	values  int     // of the part's dictionary at most, and with it of the postings
}

// indexingOf derives it from the indexes of the column. Strings need no explicit index: dictionary and postings serve
// columns of few values, filters the others. Of two rates the stricter holds.
func indexingOf(c *schema.Column) indexing {
	x := indexing{filters: c.Type.ID == vector.TypeString || c.Type.ID == vector.TypeJSON, values: encoding.MaxShared}
	for _, i := range c.Indexes {
		x.filters, x.asked = true, true
		if i.Kind == schema.Inverted {
			x.values = encoding.MaxInverted
		}
		if rate, err := strconv.ParseFloat(i.Options["false_positive_rate"], 64); err == nil && rate > 0 &&
			(x.rate == 0 || rate < x.rate) {
			x.rate = rate
		}
	}
	if x.rate == 0 {
		x.rate = index.DefaultRate
	}
	switch c.Type.Kind() {
	case vector.Bytes, vector.Int64, vector.Uint64:
	default:
		x.filters = false
	}
	return x
}

// fits reports whether a block with filter f (nil: none) has the indexes that are required now, so that it can be taken
// over unchanged. Parts of version 1 had no filters, and DDL may have added a filter, or changed the rate, since the
// block was written.
func (x *indexing) fits(f []byte, version uint32) bool {
	if f == nil {
		return !x.filters || version > 1 && !x.asked
	}
	return !x.filters || index.HashesOf(f) == index.Hashes(x.rate)
}

// kept returns the filter of a block that is taken over; nil if it would no longer be built.
func (x *indexing) kept(f, page []byte) []byte {
	if !x.filters || x.large(f, page) {
		return nil
	}
	return f
}

// large reports whether reading the filter would save too little beside reading its page, so it is kept only where DDL
// asked for it.
func (x *indexing) large(f, page []byte) bool { return !x.asked && len(f)*filterShare > len(page) }

// filterShare: a filter without an explicit index takes at most one byte for so many bytes of its page.
const filterShare = 2

// appendFilter appends the filter of the block whose page was encoded last. Blocks that zones or postings decide have
// none.
func (c *columnWriter) appendFilter(e *blockEncoder, page []byte, n int) {
	mark := len(c.filters.buf)
	if c.indexing.filters && (len(e.SharedCodes()) == 0 || c.dict == nil) {
		if e.gather(&c.buf, page, n) {
			c.filters.buf = e.tokens.AppendFilter(c.filters.buf, c.indexing.rate)
			if c.indexing.large(c.filters.buf[mark:], page) {
				c.filters.buf = c.filters.buf[:mark]
			}
		}
	}
	block := len(c.filters.lengths)
	c.filters.seal(mark, func(b []byte) uint32 { return pageSum(c.entry.id, block|filterMark, b) })
}

// filterMark keeps a filter from passing for the page of its block: the checksum covers it.
const filterMark = 1 << 31

// blockEncoder is the memory of one worker of a writer.
type blockEncoder struct {
	*encoding.Encoder
	tokens index.Tokens
	dec    encoding.Decoder // of blocks that are spliced
}

// gather fills tokens with those of n rows that were encoded as page; false when the block needs no filter.
func (e *blockEncoder) gather(v *vector.Vector, page []byte, n int) bool {
	d, err := encoding.Describe(page)
	if err != nil || d.Encoding.Single() {
		return false
	}
	kind := index.GramTokens
	if v.Type.Kind() != vector.Bytes || v.Type.ID != vector.TypeString && v.Type.ID != vector.TypeJSON {
		kind = index.ValueTokens
	}
	if encoding.Whole(page) {
		kind = index.ValueTokens // looked for as a whole: one token instead of five
	}
	e.tokens.Reset(kind)
	if d.Encoding == encoding.Hex && kind == index.GramTokens && v.Valid == nil {
		e.tokens.AddDigits(v.Views[:n], v.Heap)
		return true
	}
	if texts, heap, ok := e.WordTexts(); ok && kind == index.GramTokens && index.ASCII(v.Heap) {
		e.tokens.AddStrings(texts, heap)
		return true
	}
	if d.Encoding == encoding.Local && v.Type.Kind() == vector.Bytes {
		e.tokens.AddStrings(e.LocalValues())
	} else {
		e.tokens.AddColumn(v, n)
	}
	return true
}

// filterIndex says where the filters of a column lie. They are checked when they are first asked.
type filterIndex struct {
	blockRefs
	checked []atomic.Bool
	damaged []atomic.Bool
}

// filter returns the filter of a block, until release; nil when it has none, or one that cannot be read: the block is
// then read.
func (p *Part) filter(ctx context.Context, c *column, x *pageIndex, block int) (body []byte, release func()) {
	f := x.filters
	if f == nil || !f.has(block) || f.damaged[block].Load() {
		return nil, noRelease
	}
	if f.checked[block].Load() {
		b, release, err := p.file.read(ctx, f.at(block))
		if err != nil {
			return nil, noRelease
		}
		body, _ := unseal(b)
		return body, release
	}
	read, err := p.readFilter(ctx, c, f, block)
	if err != nil {
		f.damaged[block].Store(!unread(err))
		return nil, noRelease
	}
	f.checked[block].Store(true)
	return read.body, read.release
}

// lent is bytes of a part until they are released.
type lent struct {
	body    []byte
	release func()
}

// checkedFilter returns the filter of a block that has one after checking it.
func (p *Part) checkedFilter(ctx context.Context, c *column, f *filterIndex, block int) (lent, error) {
	b, release, err := p.file.read(ctx, f.at(block))
	if err == nil {
		body, want := unseal(b)
		got := pageSum(c.id, block|filterMark, body)
		if got == want {
			return lent{body, release}, nil
		}
		release()
		err = fmt.Errorf("checksum %08x, want %08x", got, want)
	}
	return lent{}, p.corrupt(err, fmt.Sprintf("column %q: filter of block %d at %d", c.name, block, f.off[block]))
}

// tokens are the hashes that a value must bring into a filter to pass a condition: by alternative, as a whole value, as
// words, and as words and grams.
type tokens struct {
	exact bool
	value []uint64      // by alternative, when exact
	words [][]uint64    // by alternative
	parts []wordsByGram // by alternative
}

// wordsByGram are the hashes of words and grams in a filter that has both.
type wordsByGram struct{ words, grams []uint64 }

// tokensOf hashes what a test looks for; nil when filters cannot help.
func tokensOf(test *filter.Test) *tokens {
	needles, ok := test.Needles()
	if !ok {
		return nil
	}
	t := &tokens{exact: true}
	for _, n := range needles {
		t.exact = t.exact && n.Exact
		t.value = append(t.value, index.Hash(index.ValueTokens, n.Whole))
		words := make([]uint64, len(n.Words))
		var parts wordsByGram
		for i, w := range n.Words {
			words[i] = index.Hash(index.WordTokens, w)
			if index.InGrams(w) {
				parts.grams = index.AppendGrams(parts.grams, w)
			} else {
				parts.words = append(parts.words, words[i])
			}
		}
		for _, p := range n.Parts {
			parts.grams = index.AppendGrams(parts.grams, p)
		}
		t.words, t.parts = append(t.words, words), append(t.parts, parts)
	}
	return t
}

// mayPass is false when no value of the filter's block can pass; a filter of a kind that is not known says nothing.
func (t *tokens) mayPass(f []byte) bool {
	switch index.KindOf(f) {
	case index.ValueTokens:
		return !t.exact || slices.ContainsFunc(t.value, func(h uint64) bool { return index.MayHold(f, h) })
	case index.WordTokens:
		return slices.ContainsFunc(t.words, func(words []uint64) bool { return mayHoldAll(f, words) })
	case index.GramTokens:
		return slices.ContainsFunc(t.parts, func(p wordsByGram) bool {
			return mayHoldAll(f, p.words) && index.MayHoldGrams(f, p.grams)
		})
	}
	return true
}

func mayHoldAll(f []byte, words []uint64) bool {
	for _, h := range words {
		if !index.MayHold(f, h) {
			return false
		}
	}
	return true
}
