package exec

import (
	"context"
	"math"

	"varve/engine/status"
	"varve/engine/vector"
)

// chunkRows is the number of rows of a chunk of kept rows. One slice that grew over all of them would be copied over
// and over, for longer than a cancelled query may go on.
const chunkRows = 1 << 16

// maxTexts bounds the bytes of the texts of one column of a batch: they are found by 32-bit offsets.
const maxTexts = math.MaxUint32

// fullBytes is the size at which a column makes its chunk full: a slice that grows has room for more than what is
// counted, and is in memory twice while it is copied.
const fullBytes = 4 << 20

// full reports whether a chunk takes no more rows, however few it has.
func full(b *vector.Batch) bool {
	for _, c := range b.Cols {
		if len(c.Heap) >= fullBytes {
			return true
		}
	}
	return b.N == chunkRows
}

// Rows keeps copies of rows in chunks. One goroutine at a time.
type Rows struct {
	types  []vector.Type
	chunks []*vector.Batch
	n      int
}

// NewRows is an empty list.
func NewRows(types []vector.Type) *Rows { return &Rows{types: types} }

// Len is the number of rows.
func (l *Rows) Len() int { return l.n }

// Add copies rows [from, to) of a batch.
func (l *Rows) Add(b *vector.Batch, from, to int) {
	for from < to {
		if len(l.chunks) == 0 || full(l.chunks[len(l.chunks)-1]) {
			l.chunks = append(l.chunks, vector.NewBatch(l.types...))
		}
		last := l.chunks[len(l.chunks)-1]
		end := min(to, from+chunkRows-last.N)
		last.Append(b, from, end)
		l.n += end - from
		from = end
	}
}

// Together puts the rows of several lists, in order, into one batch and empties the lists. Several goroutines copy
// columns; the budget has room for the rows that are in memory twice meanwhile.
func Together(ctx context.Context, lists []*Rows, workers int, budget *Budget) (*vector.Batch, error) {
	out := vector.NewBatch(lists[0].types...)
	var chunks []*vector.Batch
	for _, l := range lists {
		chunks = append(chunks, l.chunks...)
		out.N += l.n
		l.chunks, l.n = nil, 0
	}
	if len(chunks) == 1 {
		return chunks[0], nil
	}
	err := Spread(ctx, len(out.Cols), workers, func(c int) error {
		v, texts := out.Cols[c], 0
		for _, b := range chunks {
			texts += len(b.Cols[c].Heap)
		}
		if texts > maxTexts {
			return tooManyTexts(int64(texts))
		}
		twice := int64(out.N)*8 + int64(texts)
		if err := budget.Reserve(twice); err != nil {
			return err
		}
		defer budget.Release(twice)
		reserveRows(v, out.N, texts)
		n := 0
		for _, b := range chunks {
			if err := ctx.Err(); err != nil {
				return err
			}
			v.AppendAll(n, b.Cols[c], b.N)
			b.Cols[c] = nil
			n += b.N
		}
		return nil
	})
	return out, err
}

// reserveRows makes room for rows, and for the bytes of their texts.
func reserveRows(v *vector.Vector, rows, texts int) {
	switch v.Type.Kind() {
	case vector.Bool:
		v.Bools = make(vector.Bitmap, 0, vector.Words(rows))
	case vector.Int64:
		v.Ints = vector.Room[int64](rows)
	case vector.Uint64:
		v.Uints = vector.Room[uint64](rows)
	case vector.Float64:
		v.Floats = vector.Room[float64](rows)
	default:
		v.Views, v.Heap = vector.Room[vector.View](rows), vector.Room[byte](texts)
	}
}

// tooManyTexts is the error for a column whose texts take so many bytes.
func tooManyTexts(bytes int64) error {
	return status.New(status.RuntimeResourcesExhausted,
		"a query keeps %d MiB of texts of one column, which may have %d MiB; select fewer columns or rows", bytes>>20,
		maxTexts>>20)
}
