package sst

import (
	"context"
	"errors"
	"fmt"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// The text sizes of a column: how many bytes its texts have together, for each stretch of rows that are of one series
// and in one block (a run of rows, in the order of the part):
//
//	version 1B | numbers: bytes of each stretch, plus one; 0: not known
//
// Stretches are not stored: they follow from the first rows of blocks and series.

// textSizesVersion is the form of the section. Readers that do not know a form read the texts.
const textSizesVersion = 1

// A part has text sizes only where stretches are long: fewStretches of them at any length, and one more for every
// stretchRows rows.
const (
	fewStretches = 1024
	stretchRows  = 64
)

// textSizes gathers the text sizes of a column while its part is written.
type textSizes struct {
	on   bool // the column is one of texts, and stretches are long so far
	list []uint64
}

// hasSizes reports whether the texts of a column are measured. Replaced rows have texts, too, so only tables that keep
// all rows have sizes.
func (w *Writer) hasSizes(c *schema.Column) bool {
	return !w.o.Hidden && c.Semantic == schema.Field && c.Type.IsText()
}

// measure notes the sizes of the open block, which has n rows, the last of the part so far.
func (w *Writer) measure(n int) {
	if w.unsized {
		return
	}
	begin, starts := w.total-uint64(n), w.series.first
	w.stretches = w.stretches[:0]
	for i := len(starts) - 1; i >= 0 && starts[i] > begin; i-- {
		if starts[i] < w.total { // the last series may have no row yet
			w.stretches = append(w.stretches, int(starts[i]-begin))
		}
	}
	w.stretches = append(w.stretches, 0)
	if !w.countStretches(len(w.stretches)) {
		return
	}
	for _, c := range w.cols {
		if !c.sizes.on {
			continue
		}
		for i := len(w.stretches) - 1; i >= 0; i-- {
			to := n
			if i > 0 {
				to = w.stretches[i-1]
			}
			c.sizes.list = append(c.sizes.list, textBytes(&c.buf, w.stretches[i], to)+1)
		}
	}
}

// countStretches counts the stretches of a block; false: there are too many, and the part has no text sizes.
func (w *Writer) countStretches(n int) bool {
	if w.stretchCount += n; w.stretchCount <= fewStretches+int(w.total/stretchRows) {
		return true
	}
	w.unsized = true
	for _, c := range w.cols {
		c.sizes.list = nil
	}
	return false
}

// textBytes is the bytes of the rows [from, to) of a Flat vector of texts.
func textBytes(v *vector.Vector, from, to int) (size uint64) {
	for i := from; i < to; i++ {
		if !v.IsNull(i) {
			size += uint64(v.Views[i].Len)
		}
	}
	return size
}

// spliceSizes takes over the sizes of a block of a part with one series. Damaged ones are not known.
func (w *Writer) spliceSizes(ctx context.Context, p *Part, src *spliced, block int) error {
	if w.unsized || !w.countStretches(1) {
		return nil
	}
	for i, c := range w.cols {
		if !c.sizes.on {
			continue
		}
		if src.sizes[i] == nil {
			list, err := p.textSizes(ctx, src.cols[i], len(p.blocks))
			if err != nil && !errors.Is(err, ErrCorrupt) {
				return err
			}
			if list == nil { // what is not known is read
				list = make([]uint64, len(p.blocks))
			}
			src.sizes[i] = list
		}
		c.sizes.list = append(c.sizes.list, src.sizes[i][block])
	}
	return nil
}

// finishSizes writes the text sizes of a column.
func (w *Writer) finishSizes(c *columnWriter) (err error) {
	if c.sizes.on && !w.unsized {
		section := w.encoders[0].AppendUints([]byte{textSizesVersion}, c.sizes.list)
		c.entry.sizesRef, err = w.putSection(section)
	}
	return err
}

// textSizes reads the sizes of a column of a part with some stretches, as they are stored; nil: it has none.
func (p *Part) textSizes(ctx context.Context, c *column, stretches int) ([]uint64, error) {
	if !c.sizesRef.present() {
		return nil, nil
	}
	what := fmt.Sprintf("text sizes of column %q", c.name)
	b, release, err := p.section(ctx, c.sizesRef, what)
	if err != nil {
		return nil, err
	}
	defer release()
	if b[0] != textSizesVersion {
		return nil, nil
	}
	var d encoding.Decoder
	list, rest, err := d.Uints(b[1:], stretches)
	if err == nil && (len(list) != stretches || len(rest) > 0) {
		err = fmt.Errorf("%d sizes of %d stretches, %d bytes behind them", len(list), stretches, len(rest))
	}
	if err != nil {
		return nil, p.corrupt(err, what)
	}
	return list, nil
}

// eachStretch calls f with the block and the number of rows of each stretch of a series. near is a guess of the first
// block, the result one for the next series.
func (p *Part) eachStretch(t *seriesTable, series, near int, f func(block, rows int)) (block int) {
	block = near
	for from, to := t.rows(series); from < to; {
		block = p.blockOf(from, block)
		b := &p.blocks[block]
		end := min(to, b.first+b.rows)
		f(block, end-from)
		from = end
	}
	return block
}

// stretches is the number of stretches of a part.
func (p *Part) stretches(t *seriesTable) (n int) {
	block := 0
	for i := range t.len() {
		block = p.eachStretch(t, i, block, func(int, int) { n++ })
	}
	return n
}

// Measure asks for the bytes of a text column by series.
type Measure struct {
	Column schema.ColumnID
	Time   scan.Range
	// Bucket is a number of a time, which does not fall as times rise. Bytes of different buckets are apart.
	Bucket func(t int64) int64
	// Group is the number of the group of the series with a key; below zero: it is not wanted.
	Group func(key []byte) (group int, err error)
	// Add adds rows of a group and bucket, with the bytes of their texts.
	Add func(group int, bucket, rows, bytes int64) error
}

// Measure calls m.Add for the stretches of rows whose sizes the part knows and whose blocks lie within the time and a
// bucket, and returns the other blocks that may have rows, each once. Blocks with stretches of zero bytes are among
// those: their texts may be NULL.
func (p *Part) Measure(ctx context.Context, m *Measure) (rest []int, err error) {
	return using(p, func() ([]int, error) { return p.measure(ctx, m) })
}

func (p *Part) measure(ctx context.Context, m *Measure) (rest []int, err error) {
	t, err := p.seriesTable(ctx)
	if err != nil {
		return nil, err
	}
	sizes, err := p.knownSizes(ctx, t, m.Column)
	if err != nil {
		return nil, err
	}
	walk, err := t.walk(0)
	if err != nil {
		return nil, p.corrupt(err, "series")
	}
	at, block := 0, 0
	for i := range t.len() {
		if err := walk.step(); err != nil {
			return nil, p.corrupt(err, "series")
		}
		if i%heedEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		group, err := m.Group(walk.key)
		if err != nil {
			return nil, err
		}
		block = p.eachStretch(t, i, block, func(block, rows int) {
			b := &p.blocks[block]
			at++
			if group < 0 || err != nil || !m.Time.Overlaps(b.minTime, b.maxTime) || p.isAside(block) {
				return
			}
			bucket := m.Bucket(b.minTime)
			if sizes.whole.Get(block) && m.Time.Covers(b.minTime, b.maxTime) && m.Bucket(b.maxTime) == bucket {
				err = m.Add(group, bucket, int64(rows), int64(sizes.list[at-1]-1))
			} else if len(rest) == 0 || rest[len(rest)-1] != block {
				rest = append(rest, block)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// heedEvery is the number of series after which the context is asked.
const heedEvery = 1 << 12

// knownSizes is the text sizes of a column.
type knownSizes struct {
	list  []uint64
	whole vector.Bitmap // blocks whose stretches all have a known size that is not zero bytes
}

// knownSizes reads the sizes of a column. Damage of the sizes alone costs time and no answer.
func (p *Part) knownSizes(ctx context.Context, t *seriesTable, id schema.ColumnID) (s knownSizes, err error) {
	s.whole = vector.MakeBitmap(len(p.blocks))
	c, err := p.column(ctx, id)
	if err != nil || c == nil || !c.typ.IsText() {
		return s, err
	}
	if s.list, err = p.textSizes(ctx, c, p.stretches(t)); err != nil && !errors.Is(err, ErrCorrupt) {
		return s, err
	}
	if s.list == nil {
		return s, nil
	}
	s.whole.Fill(len(p.blocks))
	at, block := 0, 0
	for i := range t.len() {
		block = p.eachStretch(t, i, block, func(block, _ int) {
			if s.list[at] <= 1 {
				s.whole.Clear(block)
			}
			at++
		})
	}
	return s, nil
}

// sizesCheck compares the text sizes of a column with its texts, block by block.
type sizesCheck struct {
	t    *seriesTable
	left []uint64 // sizes of the blocks that are not yet compared; nil: there is nothing to compare
}

// beginSizes reads the text sizes of a column.
func (c *checker) beginSizes(col *column) (s sizesCheck) {
	var err error
	if s.t, err = c.p.seriesTable(c.p.ctx); err != nil || !col.sizesRef.present() {
		return s // said already
	}
	if s.left, err = c.p.textSizes(c.p.ctx, col, c.p.stretches(s.t)); err != nil {
		c.add(fmt.Errorf("%w: %w", ErrPassedOver, err))
	}
	return s
}

// sizes compares the sizes of a block with its texts, which are Flat; nil: they are damaged.
func (c *checker) sizes(col *column, s *sizesCheck, v *vector.Vector, block int) {
	if s.left == nil {
		return
	}
	b := &c.p.blocks[block]
	end := b.first + b.rows
	for from, i := b.first, s.t.at(b.first); from < end; i++ {
		_, to := s.t.rows(i)
		to = min(to, end)
		got := s.left[0]
		s.left = s.left[1:]
		if v != nil && got != 0 && got != textBytes(v, from-b.first, to-b.first)+1 {
			c.add(c.p.corrupt(fmt.Errorf("text sizes do not match the texts of series %d", i), c.p.where(col, block)))
			v = nil
		}
		from = to
	}
}
