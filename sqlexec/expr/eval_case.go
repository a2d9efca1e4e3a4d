package expr

import (
	"math/bits"
	"slices"

	"varve/engine/vector"
)

// caseNode computes conditions and results over whole batches as long as that is sound and not much more than is
// needed: over the rows that reach them where most do not, or where some value of a row that does not reach them fails.
type caseNode struct {
	e          *Case
	when, then []node // the last of then is ELSE, if there is one
	constant   []*Const
	labels     *vector.Vector // results that are all constant texts: these, as a dictionary
	label      []uint32       // the code of each result
	numbers    bool           // results are all constant numbers, and every row has one
	rest, hit  vector.Bitmap  // rows that no branch has taken yet; rows that a branch takes
	branches   []branch
	rows       [][]uint32 // buffers of the branches' rows
	flat       vector.Vector
	out        vector.Vector
}

// branch is the rows that take one result. v has a value for each of them, or for every row of the batch.
type branch struct {
	rows  []uint32
	v     *vector.Vector
	dense bool // v has the rows of the batch
	which int  // the result's number
}

func (c *compiler) caseOf(e *Case) (node, error) {
	results := e.Then
	if e.Else != nil {
		results = append(results[:len(results):len(results)], e.Else)
	}
	n := &caseNode{e: e, rows: make([][]uint32, len(results))}
	var err error
	if n.when, err = c.nodes(e.When); err != nil {
		return nil, err
	}
	if n.then, err = c.nodes(results); err != nil {
		return nil, err
	}
	for _, r := range results {
		k, ok := r.(*Const)
		if !ok {
			k = nil
		}
		n.constant = append(n.constant, k)
	}
	n.dictionary()
	switch e.T.Kind() {
	case vector.Int64, vector.Uint64, vector.Float64:
		n.numbers = e.Else != nil && !slices.ContainsFunc(n.constant, func(k *Const) bool {
			return k == nil || k.Value.IsNull(0) || k.Value.Type != e.T
		})
	}
	return n, nil
}

// dictionary makes labels of results that are all constant texts.
func (c *caseNode) dictionary() {
	if c.e.T.Kind() != vector.Bytes {
		return
	}
	labels, codes := &vector.Vector{Type: c.e.T}, map[string]uint32{}
	for _, k := range c.constant {
		if k == nil || k.Value.IsNull(0) {
			return
		}
		text := string(k.Value.Bytes(0))
		code, ok := codes[text]
		if !ok {
			code = uint32(len(codes))
			codes[text] = code
			labels.Append(int(code), k.Value, 0, 1)
		}
		c.label = append(c.label, code)
	}
	c.labels = labels
}

// fewRows: a result for fewer rows than this part of a batch is computed for these alone.
const fewRows = 4

func (c *caseNode) eval(b *vector.Batch) (*vector.Vector, error) {
	c.rest, c.hit = wordsOf(c.rest, b.N), wordsOf(c.hit, b.N)
	c.rest.Fill(b.N)
	c.branches = c.branches[:0]
	left := b.N
	for i, w := range c.when {
		if left == 0 {
			break
		}
		if err := c.test(b, w, left); err != nil {
			return nil, err
		}
		n := c.hit.Count()
		if n == 0 {
			continue
		}
		for w := range c.hit {
			c.rest[w] &^= c.hit[w]
		}
		left -= n
		if c.numbers {
			c.put(i, b.N, left+n == b.N)
			continue
		}
		if err := c.take(b, i, c.hit); err != nil {
			return nil, err
		}
	}
	if c.numbers && left < b.N {
		return &c.out, nil
	}
	if left > 0 && len(c.then) > len(c.when) {
		if err := c.take(b, len(c.when), c.rest); err != nil {
			return nil, err
		}
		left = 0
	}
	return c.result(b.N, left > 0), nil
}

// test sets hit to the rows of rest whose condition is true; left is the number of rows in rest.
func (c *caseNode) test(b *vector.Batch, when node, left int) error {
	if left*fewRows >= b.N {
		if v, err := when.eval(b); err == nil {
			v = flatten(v, b.N, &c.flat)
			copy(c.hit, v.Bools)
			c.hit.And(v.Valid)
			c.hit.And(c.rest)
			return nil
		}
	}
	rows := c.rest.AppendRows(nil)
	v, err := when.eval(rowsOf(b, rows))
	if err != nil {
		return err
	}
	clear(c.hit)
	for k, r := range rows {
		if !v.IsNull(k) && v.Bool(k) {
			c.hit.Set(int(r))
		}
	}
	return nil
}

// put sets the rows of hit, of n rows, to result i, a constant number; first: all other rows get the one of ELSE.
func (c *caseNode) put(i, n int, first bool) {
	x, other := c.constant[i].Value, c.constant[len(c.constant)-1].Value
	c.out.Type = c.e.T
	switch c.e.T.Kind() {
	case vector.Int64:
		c.out.Ints = blended(c.out.Ints, c.hit, x.Ints[0], other.Ints[0], n, first)
	case vector.Uint64:
		c.out.Uints = blended(c.out.Uints, c.hit, x.Uints[0], other.Uints[0], n, first)
	default:
		c.out.Floats = blended(c.out.Floats, c.hit, x.Floats[0], other.Floats[0], n, first)
	}
}

// blended makes the rows of hit x and, with first, all others other.
func blended[T int64 | uint64 | float64](out []T, hit vector.Bitmap, x, other T, n int, first bool) []T {
	if first {
		out = vector.Sized(out, n)
		for i := range out {
			out[i] = other
		}
	}
	for w, m := range hit {
		for rows := out[w*64 : min(w*64+64, n)]; m != 0; m &= m - 1 {
			rows[bits.TrailingZeros64(m)] = x
		}
	}
	return out
}

// take computes result i for the given rows.
func (c *caseNode) take(b *vector.Batch, i int, rows vector.Bitmap) error {
	c.rows[i] = rows.AppendRows(c.rows[i][:0])
	br := branch{rows: c.rows[i], which: i}
	if c.labels != nil {
		c.branches = append(c.branches, br)
		return nil
	}
	_, column := c.then[i].(*columnNode)
	if c.constant[i] != nil || column || len(br.rows)*fewRows >= b.N {
		if v, err := c.then[i].eval(b); err == nil {
			br.v, br.dense = v, true
			c.branches = append(c.branches, br)
			return nil
		}
	}
	v, err := c.then[i].eval(rowsOf(b, br.rows))
	br.v = v
	c.branches = append(c.branches, br)
	return err
}

// result puts the branches together; missing tells that some rows have none.
func (c *caseNode) result(n int, missing bool) *vector.Vector {
	t := c.e.T
	if len(c.branches) == 1 && !missing && c.branches[0].dense {
		return c.branches[0].v
	}
	if c.labels != nil {
		return c.labelled(n, missing)
	}
	c.out = vector.Vector{Type: t, Ints: c.out.Ints[:0], Uints: c.out.Uints[:0], Floats: c.out.Floats[:0]}
	return unite(&c.out, n, c.branches, missing)
}

// labelled takes the numbers of constant texts as the codes of a dictionary.
func (c *caseNode) labelled(n int, missing bool) *vector.Vector {
	out := &c.out
	codes := vector.Sized(out.Codes, n)
	if missing {
		clear(codes)
	}
	for _, br := range c.branches {
		code := c.label[br.which]
		for _, r := range br.rows {
			codes[r] = code
		}
	}
	*out = vector.Vector{Type: c.e.T, Form: vector.Dict, Codes: codes, Values: c.labels}
	if missing {
		out.Valid = validRows(n, c.branches, true)
	}
	return out
}

// scattered puts the branches' numbers where their rows are.
func scattered[T int64 | uint64 | float64](out []T, branches []branch, of func(*vector.Vector) []T) []T {
	for _, br := range branches {
		v := br.v
		switch {
		case v.Form == vector.Const:
			x := of(v)[0]
			for _, r := range br.rows {
				out[r] = x
			}
		case v.Form == vector.Dict:
			if v.Values.Len() == 0 {
				continue // all NULL
			}
			values := of(v.Values)
			for k, r := range br.rows {
				out[r] = values[v.Codes[br.at(k)]]
			}
		case br.dense:
			values := of(v)
			for _, r := range br.rows {
				out[r] = values[r]
			}
		default:
			values := of(v)
			for k, r := range br.rows {
				out[r] = values[k]
			}
		}
	}
	return out
}

// at is the place in v of the branch's k'th row.
func (b *branch) at(k int) int {
	if b.dense {
		return int(b.rows[k])
	}
	return k
}

// validRows are the rows that a branch gives a value; nil when all have one.
func validRows(n int, branches []branch, missing bool) vector.Bitmap {
	for _, br := range branches {
		missing = missing || br.v != nil && br.v.Valid != nil
	}
	if !missing {
		return nil
	}
	valid := vector.MakeBitmap(n)
	for i := range branches {
		br := &branches[i]
		for k, r := range br.rows {
			if br.v == nil || !br.v.IsNull(br.at(k)) {
				valid.Set(int(r))
			}
		}
	}
	return valid
}

// rowsOf is b cut down to some rows; b itself when these are all.
func rowsOf(b *vector.Batch, rows []uint32) *vector.Batch {
	if len(rows) == b.N {
		return b
	}
	out := &vector.Batch{N: len(rows)}
	for _, c := range b.Cols {
		v := &vector.Vector{}
		v.Gather(c, rows)
		out.Cols = append(out.Cols, v)
	}
	return out
}

// assemble puts the branches' values where their rows are; rows without a branch are NULL.
func assemble(t vector.Type, n int, branches []branch) *vector.Vector {
	if len(branches) == 1 && len(branches[0].rows) == n {
		return branches[0].v
	}
	all := &vector.Vector{Type: t}
	at := make([]uint32, n)
	count := 0
	for _, br := range branches {
		v := br.v
		if v.Form == vector.Const { // once for all rows
			all.Append(count, v, 0, 1)
			for _, r := range br.rows {
				at[r] = uint32(count) + 1
			}
			count++
			continue
		}
		if br.dense {
			v = &vector.Vector{}
			v.Gather(br.v, br.rows)
		}
		all.Append(count, v, 0, len(br.rows))
		for k, r := range br.rows {
			at[r] = uint32(count+k) + 1
		}
		count += len(br.rows)
	}
	missing := false
	for _, a := range at {
		missing = missing || a == 0
	}
	if missing {
		all.AppendNulls(count, 1)
	}
	for i, a := range at {
		if a == 0 {
			at[i] = uint32(count)
		} else {
			at[i] = a - 1
		}
	}
	out := &vector.Vector{}
	out.Gather(all, at)
	return out
}
