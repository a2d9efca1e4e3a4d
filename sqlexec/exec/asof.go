package exec

import (
	"bytes"
	"context"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// AsofSpec is what an ASOF join needs to know: each row of the left side gets the row of the right side that has equal
// keys and the nearest time.
type AsofSpec struct {
	LKeys, RKeys []expr.Expr
	LTime, RTime expr.Expr
	// Backwards: partners lie at or after a row's time; times fall on both sides then.
	Backwards bool
	Strict    bool // the partner's time differs
	Outer     bool // left rows without a partner stay
	Right     []vector.Type
}

// Asof merges two sides that are sorted by keys and time, so that each row is looked at once. All rows are worker 0's.
// f, if not nil, takes down the rows of both sides; who measures the source takes down the rest.
func Asof(ctx context.Context, spec AsofSpec, left, right Stream, f *Figures) Source {
	return &asofSource{AsofSpec: spec, ctx: ctx, left: left, right: right, f: f}
}

type asofSource struct {
	AsofSpec
	ctx         context.Context
	left, right Stream
	f           *Figures
}

// Reader begins the merge.
func (s *asofSource) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	return &asofReader{
		spec:  &s.AsofSpec,
		left:  newAsofSide(measureInput(Pull(s.ctx, s.left, nil), s.f), s.LKeys, s.LTime, s.Backwards),
		right: newAsofSide(measureInput(Pull(s.ctx, s.right, nil), s.f), s.RKeys, s.RTime, s.Backwards),
	}
}

// asofSide is one sorted side: a batch of it, and the key of each row as bytes that compare as the rows are sorted.
type asofSide struct {
	in      Reader
	list    []expr.Expr // the keys, then the time
	desc    bool        // times fall
	program *expr.Program
	values  []*vector.Vector

	b     vector.Batch
	row   int // the current row of b
	heap  []byte
	ends  []int  // ends[2*i] is where row i's keys end in heap, ends[2*i+1] where its time does
	known []bool // neither a key nor the time is NULL
}

func newAsofSide(in Reader, keys []expr.Expr, time expr.Expr, desc bool) *asofSide {
	list := append(append([]expr.Expr(nil), keys...), time)
	return &asofSide{in: in, list: list, desc: desc, values: make([]*vector.Vector, len(list))}
}

// next reads the next batch that has rows.
func (s *asofSide) next() (bool, error) {
	if s.program == nil {
		var err error
		if s.program, err = expr.Compile(s.list); err != nil {
			return false, err
		}
	}
	s.row, s.b.N = 0, 0
	for s.b.N == 0 {
		if ok, err := s.in.Next(&s.b); err != nil || !ok {
			s.b.N = 0
			return false, err
		}
	}
	if err := s.program.Eval(&s.b, s.values); err != nil {
		return false, err
	}
	s.heap, s.ends, s.known = s.heap[:0], s.ends[:0], s.known[:0]
	time := len(s.values) - 1
	for i := range s.b.N {
		known := !s.values[time].IsNull(i)
		for _, v := range s.values[:time] {
			s.heap = expr.AppendSortKey(s.heap, v, i, false, false)
			known = known && !v.IsNull(i)
		}
		s.ends = append(s.ends, len(s.heap))
		s.heap = expr.AppendSortKey(s.heap, s.values[time], i, s.desc, s.desc)
		s.ends, s.known = append(s.ends, len(s.heap)), append(s.known, known)
	}
	return true, nil
}

// key is row i's keys, and all of its key with the time.
func (s *asofSide) key(i int) (keys, all []byte) {
	from := 0
	if i > 0 {
		from = s.ends[2*i-1]
	}
	return s.heap[from:s.ends[2*i]], s.heap[from:s.ends[2*i+1]]
}

// asofReader merges. The candidate is the last row of the right side that does not come behind the current left row:
// the partner of it, if their keys are equal.
type asofReader struct {
	spec        *AsofSpec
	left, right *asofSide
	ended       bool // the right side has no more rows

	cand    *vector.Batch // batch of the candidate; nil: no candidate
	candRow int
	candKey []byte        // its keys
	carried *vector.Batch // the candidate alone, once its batch is gone

	rows, partners []uint32 // pairs that wait: rows of the left batch, and of cand
	alone          []uint32 // rows of the left batch without a partner
	ready          []*vector.Batch
}

// Next returns the next batch.
func (r *asofReader) Next(out *vector.Batch) (bool, error) {
	for len(r.ready) == 0 {
		if ok, err := r.left.next(); err != nil || !ok {
			return false, err
		}
		for i := range r.left.b.N {
			if err := r.match(i); err != nil {
				return false, err
			}
		}
		r.flush()
		if len(r.alone) > 0 {
			b := gather(&r.left.b, r.alone)
			b.Cols = append(b.Cols, nulls(r.spec.Right)...)
			r.ready, r.alone = append(r.ready, b), r.alone[:0]
		}
	}
	*out, r.ready = *r.ready[0], r.ready[1:]
	return true, nil
}

// match finds the partner of row i of the left batch.
func (r *asofReader) match(i int) error {
	if !r.left.known[i] {
		if r.spec.Outer {
			r.alone = append(r.alone, uint32(i))
		}
		return nil
	}
	keys, all := r.left.key(i)
	if err := r.advance(all); err != nil {
		return err
	}
	switch {
	case r.cand != nil && bytes.Equal(r.candKey, keys):
		r.rows, r.partners = append(r.rows, uint32(i)), append(r.partners, uint32(r.candRow))
	case r.spec.Outer:
		r.alone = append(r.alone, uint32(i))
	}
	return nil
}

// advance makes the last right row that does not come behind a key the candidate.
func (r *asofReader) advance(key []byte) error {
	limit := 0 // rows that compare below it come before the key
	if !r.spec.Strict {
		limit = 1
	}
	s := r.right
	for !r.ended {
		if s.row >= s.b.N {
			r.carry()
			ok, err := s.next()
			if err != nil {
				return err
			}
			if r.ended = !ok; r.ended {
				break
			}
		}
		keys, all := s.key(s.row)
		if bytes.Compare(all, key) >= limit {
			break
		}
		if s.known[s.row] {
			if r.cand != &s.b {
				r.flush()
			}
			r.cand, r.candRow, r.candKey = &s.b, s.row, append(r.candKey[:0], keys...)
		}
		s.row++
	}
	return nil
}

// carry keeps the candidate when its batch is about to go.
func (r *asofReader) carry() {
	r.flush()
	if r.cand == nil || r.cand == r.carried {
		return
	}
	r.carried = copied(r.cand, []uint32{uint32(r.candRow)})
	r.cand, r.candRow = r.carried, 0
}

// flush makes a batch of the pairs that wait.
func (r *asofReader) flush() {
	if len(r.rows) == 0 {
		return
	}
	b := gather(&r.left.b, r.rows)
	b.Cols = append(b.Cols, copied(r.cand, r.partners).Cols...)
	r.ready, r.rows, r.partners = append(r.ready, b), r.rows[:0], r.partners[:0]
}

// copied is the rows of a batch with the given numbers, in a batch that shares nothing with it: the right side goes on
// to later batches before what it found is passed on.
func copied(b *vector.Batch, rows []uint32) *vector.Batch {
	out := &vector.Batch{N: len(rows)}
	for _, c := range b.Cols {
		v := &vector.Vector{Type: c.Type}
		v.AppendRows(0, c, rows)
		out.Cols = append(out.Cols, v)
	}
	return out
}

// Close ends both sides.
func (r *asofReader) Close() {
	r.left.in.Close()
	r.right.in.Close()
}
