package exec

import "varve/engine/vector"

// portionBytes is about how many bytes of texts a step is given at a time: what a step makes of a batch before it counts it, a
// sort key or a copy of each row, is bounded by that.
const portionBytes = 1 << 20

// inPortions passes batches on, those with long texts a few rows at a time.
func inPortions(next Step) Step {
	return func(b *vector.Batch) error {
		if !hasLongTexts(b) {
			return next(b)
		}
		for from := 0; from < b.N; {
			to := portionEnd(b, from)
			if err := next(sliceOf(b, from, to)); err != nil {
				return err
			}
			from = to
		}
		return nil
	}
}

// hasLongTexts reports whether the texts of a batch are more than a portion.
func hasLongTexts(b *vector.Batch) bool {
	bytes := int64(0)
	for _, c := range b.Cols {
		if c.Type.Kind() == vector.Bytes {
			bytes += vectorBytes(c, b.N) - int64(b.N)*8
		}
	}
	return bytes > portionBytes
}

// portionEnd is where the portion ends that begins with a row: one row at least, and what follows as far as its texts fit.
func portionEnd(b *vector.Batch, from int) int {
	bytes := rowTexts(b.Cols, from)
	to := from + 1
	for ; to < b.N; to++ {
		if bytes += rowTexts(b.Cols, to); bytes > portionBytes {
			break
		}
	}
	return to
}

// rowTexts is the bytes of the texts of a row. That of a dictionary counts once for all of its rows, which share it wherever
// they are copied to together.
func rowTexts(cols []*vector.Vector, i int) (bytes int64) {
	for _, c := range cols {
		if c.Type.Kind() == vector.Bytes && c.Form != vector.Const && !c.IsNull(i) {
			if c.Form == vector.Dict && i > 0 && !c.IsNull(i-1) && c.Codes[i] == c.Codes[i-1] {
				continue
			}
			bytes += int64(len(c.Bytes(i)))
		}
	}
	return bytes
}
