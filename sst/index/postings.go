package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/vector"
	"varve/sst/encoding"
)

// Postings have, for every value of a part's dictionary, the blocks that contain it.
//
// They name blocks, not rows: postings of rows would cost two bytes a row and column (an array container holds 16 bits
// for each), more than the codes themselves, and a block that survives is tested on its codes in microseconds.
//
// Blocks with values outside the dictionary are listed apart: any value may be in them.
//
//	uvarint values | (uvarint size | roaring bitmap, portable format)* | the same for the blocks that are unknown
//
// Parts of version 1 have postings only where no block is unknown, and lack the last bitmap.
type Postings struct {
	blocks  []*roaring.Bitmap
	unknown *roaring.Bitmap
}

// NewPostings are postings without values.
func NewPostings() *Postings { return &Postings{unknown: roaring.New()} }

// Add notes the codes that occur in a block. Blocks come in rising order.
func (p *Postings) Add(block int, codes []uint32) {
	for _, c := range codes {
		for int(c) >= len(p.blocks) {
			p.blocks = append(p.blocks, roaring.New())
		}
		p.blocks[c].Add(uint32(block))
	}
}

// AddUnknown notes that a block may hold any value.
func (p *Postings) AddUnknown(block int) { p.unknown.Add(uint32(block)) }

// Append appends the encoded postings.
func (p *Postings) Append(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(len(p.blocks)))
	for _, b := range append(slices.Clip(p.blocks), p.unknown) {
		b.RunOptimize()
		raw, err := b.ToBytes()
		if err != nil {
			return nil, fmt.Errorf("postings: %w", err)
		}
		dst = binary.AppendUvarint(dst, uint64(len(raw)))
		dst = append(dst, raw...)
	}
	return dst, nil
}

// ReadPostings reads the postings of n values over the given number of blocks; partial: with the blocks that are
// unknown.
func ReadPostings(src []byte, n, blocks int, partial bool) (*Postings, error) {
	count, k := binary.Uvarint(src)
	if k <= 0 || count != uint64(n) {
		return nil, fmt.Errorf("%w: postings of %d values, want %d", encoding.ErrMalformed, count, n)
	}
	src = src[k:]
	p := &Postings{blocks: make([]*roaring.Bitmap, n), unknown: roaring.New()}
	var err error
	for i := range p.blocks {
		if p.blocks[i], src, err = readBlocks(src, blocks); err != nil {
			return nil, fmt.Errorf("%w: posting %d: %w", encoding.ErrMalformed, i, err)
		}
		if p.blocks[i].IsEmpty() {
			return nil, fmt.Errorf("%w: posting %d is empty", encoding.ErrMalformed, i)
		}
	}
	if partial {
		if p.unknown, src, err = readBlocks(src, blocks); err != nil {
			return nil, fmt.Errorf("%w: unknown blocks: %w", encoding.ErrMalformed, err)
		}
	}
	if len(src) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the postings", encoding.ErrMalformed, len(src))
	}
	return p, nil
}

// readBlocks reads one bitmap of block numbers, which follows its size.
func readBlocks(src []byte, blocks int) (b *roaring.Bitmap, rest []byte, err error) {
	size, k := binary.Uvarint(src)
	if k <= 0 || size > uint64(len(src)-k) {
		return nil, nil, errors.New("longer than its section")
	}
	src = src[k:]
	b = roaring.New()
	read, err := b.ReadFrom(bytes.NewReader(src[:size]))
	if err == nil {
		err = b.Validate()
	}
	if err != nil || read != int64(size) || !b.IsEmpty() && int(b.Maximum()) >= blocks {
		return nil, nil, fmt.Errorf("%d bytes for at most %d blocks (%v)", size, blocks, err)
	}
	return b, src[size:], nil
}

// Blocks keeps of candidates the blocks in which any of the passing values may occur.
func (p *Postings) Blocks(passing vector.Bitmap, candidates vector.Bitmap) {
	lists := []*roaring.Bitmap{p.unknown}
	for i, b := range p.blocks {
		if passing.Get(i) {
			lists = append(lists, b)
		}
	}
	union := vector.MakeBitmap(len(candidates) * 64)
	for it := roaring.FastOr(lists...).Iterator(); it.HasNext(); {
		union.Set(int(it.Next()))
	}
	candidates.And(union)
}

// Unknown reports whether the block did not go by the dictionary and may hold any value.
func (p *Postings) Unknown(block int) bool { return p.unknown.Contains(uint32(block)) }

// Holds reports whether value i is noted for the block.
func (p *Postings) Holds(i, block int) bool { return p.blocks[i].Contains(uint32(block)) }

// Len is the number of values.
func (p *Postings) Len() int { return len(p.blocks) }

// Count is the number of blocks of value i.
func (p *Postings) Count(i int) int { return int(p.blocks[i].GetCardinality()) }
