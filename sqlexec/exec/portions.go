package exec

import (
	"slices"

	"varve/engine/vector"
)

// portionBytes is about how many bytes of texts a step is given at a time: what a step makes of a batch before it
// counts it, a sort key or a copy of each row, is bounded by that.
const portionBytes = 1 << 20

// inPortions passes batches on, those with long texts a few rows at a time. Memory that the rows of a Const or Dict
// vector share counts once.
func inPortions(next Step) Step {
	return func(b *vector.Batch) error {
		if !hasLongTexts(b) {
			return next(b)
		}
		return portions(b, rowTexts, next)
	}
}

// inCopies is for a step that makes copies of rows which share nothing, as sort keys are, and that gets its batches in
// portions.
func inCopies(next Step) Step {
	return func(b *vector.Batch) error {
		if sharedTexts(b) <= portionBytes {
			return next(b)
		}
		return portions(b, copiedTexts, next)
	}
}

// hasLongTexts reports whether the texts of a batch are more than a portion.
func hasLongTexts(b *vector.Batch) bool {
	bytes := int64(0)
	for _, c := range b.Cols {
		switch {
		case c.Type.Kind() != vector.Bytes:
		case c.Form == vector.Flat:
			bytes += lengths(c.Views[:b.N])
		case c.Form == vector.Const || len(c.Values.Heap) > portionBytes:
			bytes += vectorBytes(c, b.N)
		}
	}
	return bytes > portionBytes
}

// lengths is the sum of the lengths of texts, four at a time: each batch of each query comes by here.
func lengths(views []vector.View) int64 {
	var a, b, c, d int64
	for ; len(views) >= 4; views = views[4:] {
		a += int64(views[0].Len)
		b += int64(views[1].Len)
		c += int64(views[2].Len)
		d += int64(views[3].Len)
	}
	for _, w := range views {
		a += int64(w.Len)
	}
	return a + b + c + d
}

// sharedTexts is the bytes of the texts of a batch that rows may share, once for each row.
func sharedTexts(b *vector.Batch) (bytes int64) {
	for _, c := range b.Cols {
		switch {
		case c.Type.Kind() != vector.Bytes:
		case c.Form == vector.Const:
			bytes += int64(b.N) * int64(len(c.Bytes(0)))
		case c.Form == vector.Dict && int64(len(c.Values.Heap))*int64(b.N) > portionBytes:
			bytes += codedBytes(c, b.N)
		}
	}
	return bytes
}

// portions passes the rows of a batch on, a portion at a time.
func portions(b *vector.Batch, of rowSize, next Step) error {
	for from := 0; from < b.N; {
		to := portionEnd(b, from, of)
		if err := next(sliceOf(b, from, to)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// portionEnd is where the portion ends that begins with a row: one row at least, and what follows as far as its texts
// fit.
func portionEnd(b *vector.Batch, from int, of rowSize) int {
	bytes := of(b.Cols, from)
	to := from + 1
	for ; to < b.N; to++ {
		if bytes += of(b.Cols, to); bytes > portionBytes {
			break
		}
	}
	return to
}

// rowSize is the bytes of the texts of a row.
type rowSize func(cols []*vector.Vector, row int) int64

// rowTexts counts the texts of a row that it does not share with the previous row.
func rowTexts(cols []*vector.Vector, i int) (bytes int64) {
	for _, c := range cols {
		switch {
		case c.Type.Kind() != vector.Bytes || c.Form == vector.Const || c.IsNull(i):
		case c.Form == vector.Dict && i > 0 && c.Codes[i] == c.Codes[i-1]:
		default:
			bytes += int64(len(c.Bytes(i)))
		}
	}
	return bytes
}

// copiedTexts counts all of a row's texts.
func copiedTexts(cols []*vector.Vector, i int) (bytes int64) {
	for _, c := range cols {
		if c.Type.Kind() == vector.Bytes && !c.IsNull(i) {
			bytes += int64(len(c.Bytes(i)))
		}
	}
	return bytes
}

// longestRow is an upper bound of the text size of every row of a batch, in bytes: the sum of the longest texts of all
// columns.
func longestRow(b *vector.Batch) (bytes int64) {
	for _, c := range b.Cols {
		if c.Type.Kind() == vector.Bytes {
			bytes += int64(longestText(c, b.N))
		}
	}
	return bytes
}

func longestText(v *vector.Vector, n int) (bytes uint32) {
	switch {
	case v.Form == vector.Const:
		return uint32(len(v.Bytes(0)))
	case v.Form == vector.Flat:
		return longestOf(v.Views[:n])
	case len(v.Values.Views) <= n:
		return longestOf(v.Values.Views)
	}
	for _, c := range v.Codes[:n] {
		bytes = max(bytes, v.Values.Views[c].Len)
	}
	return bytes
}

func longestOf(views []vector.View) (bytes uint32) {
	for _, w := range views {
		bytes = max(bytes, w.Len)
	}
	return bytes
}

// longRow is the text size of a row, in bytes, above which its results get a batch of their own, so that its texts are
// in the batch only once.
const longRow = 16 << 10

// longHere reports whether this row or the next one has long texts, so that their results must not share a batch.
func longHere(b *vector.Batch, row int) bool {
	return copiedTexts(b.Cols, row) > longRow || row+1 < b.N && copiedTexts(b.Cols, row+1) > longRow
}

// repeat is the rows of a batch with the given numbers; the texts of one row that is repeated are Const.
func repeat(to, from *vector.Batch, rows []uint32) {
	gatherRows(to, from, rows)
	if len(rows) < 2 || slices.ContainsFunc(rows, func(r uint32) bool { return r != rows[0] }) {
		return
	}
	for i, c := range from.Cols {
		if c.Type.Kind() == vector.Bytes && c.Form == vector.Flat {
			to.Cols[i] = constOf(c, int(rows[0]))
		}
	}
}

// constOf is the text of a row of a Flat vector, Const.
func constOf(v *vector.Vector, row int) *vector.Vector {
	if v.IsNull(row) {
		return vector.ConstNull(v.Type)
	}
	return &vector.Vector{Type: v.Type, Form: vector.Const, Views: v.Views[row : row+1], Heap: v.Heap}
}
