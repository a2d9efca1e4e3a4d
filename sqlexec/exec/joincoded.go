package exec

import (
	"context"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Texts of build rows that are few, such as the teams of hosts, come with their codes: operators above a join look at
// each text once, and a batch of pairs gathers 4 bytes a row.

// fewTexts is the number of distinct texts up to which a column of build rows is coded: others have more among their
// first rows, as a rule.
const fewTexts = 1024

// maxCodedTexts bounds the texts of a dictionary, and those of a batch that is coded, in bytes: a dictionary of a join
// takes them once more.
const maxCodedTexts = 1 << 20

// codedRoom is how many times the memory of codes has to be free: they save time, and who needs memory comes first.
const codedRoom = 16

// code makes dictionaries of the columns of build rows that have few texts and no NULLs.
func (j *Join) code(ctx context.Context, workers int) error {
	j.pairs = j.rows
	if j.block != nil || j.rows.N < 2 {
		return nil
	}
	coded := &vector.Batch{N: j.rows.N, Cols: make([]*vector.Vector, len(j.rows.Cols))}
	err := Spread(ctx, len(coded.Cols), workers, func(i int) (err error) {
		coded.Cols[i], err = j.coded(ctx, j.rows.Cols[i], j.rows.N)
		return err
	})
	if err == nil {
		j.pairs = coded
	}
	return err
}

// coded returns a column of n rows with codes, or as it is.
func (j *Join) coded(ctx context.Context, v *vector.Vector, n int) (*vector.Vector, error) {
	if !v.Type.IsText() || v.Form != vector.Flat || v.HasNull(0, n) {
		return v, nil
	}
	codeBytes := 4 * int64(n)
	// a dictionary has room to grow
	bytes := codeBytes + 2*min(int64(len(v.Heap)), maxCodedTexts) + 16*int64(min(n, fewTexts))
	if j.reserve(codedRoom*bytes) != nil {
		return v, nil // there is no room for codes
	}
	j.release((codedRoom - 1) * bytes)
	in, codes := expr.NewInterner(v.Type), vector.Room[uint32](n)[:n]
	for from := 0; from < n; from += vector.Size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+vector.Size, n)
		texts := int64(len(in.Values.Heap))
		for _, view := range v.Views[from:to] {
			texts += int64(view.Len)
		}
		if texts <= maxCodedTexts {
			in.Intern(v.Slice(from, to), to-from, codes[from:to])
		}
		if texts > maxCodedTexts || in.Len() > fewTexts {
			j.release(bytes)
			return v, nil
		}
	}
	kept := codeBytes + int64(cap(in.Values.Heap)) + 16*int64(cap(in.Values.Views))
	j.release(max(0, bytes-kept))
	return &vector.Vector{Type: v.Type, Form: vector.Dict, Codes: codes, Values: in.Values}, nil
}
