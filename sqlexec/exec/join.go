package exec

import (
	"context"
	"fmt"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// JoinKind is what a join does with rows that find a partner or none.
type JoinKind uint8

// The joins. Rows of the probe side are streamed, the build side is kept.
const (
	Inner JoinKind = iota // pairs
	Outer                 // pairs, and probe rows without a partner with NULLs
	Semi                  // probe rows with a partner, once
	Anti                  // probe rows without a partner
)

// JoinSpec describes a join. Probe and Build keys are compared pairwise; none: every pair. Residual is a further
// condition over the columns of the probe side, then the build side.
type JoinSpec struct {
	Kind         JoinKind
	Probe, Build []expr.Expr
	Residual     expr.Expr // nil: none
	ProbeTypes   []vector.Type
	BuildTypes   []vector.Type
	NullEqual    bool // NULL keys are equal, as set operations need
	Budget       *Budget
}

// Join is a join: its Sink takes the build side, then its Operator probes.
type Join struct {
	spec JoinSpec

	parts []*vector.Batch
	rows  *vector.Batch
	head  map[string]int32 // key to its first build row
	next  []int32          // the next build row of the same key; -1: none
}

// NewJoin makes a join.
func NewJoin(spec JoinSpec) (*Join, error) {
	list := append(append([]expr.Expr(nil), spec.Probe...), spec.Build...)
	if spec.Residual != nil {
		list = append(list, spec.Residual)
	}
	if _, err := expr.Compile(list); err != nil {
		return nil, err
	}
	return &Join{spec: spec}, nil
}

// Build is the sink for the build side. Its source is empty: the rows are in the join.
func (j *Join) Build() Sink { return (*joinBuild)(j) }

// Probe is the operator for the probe side.
func (j *Join) Probe() Operator { return (*joinProbe)(j) }

type joinBuild Join

func (j *joinBuild) String() string { return "JoinBuild: " + texts(j.spec.Build, ", ") }

// Step keeps rows.
func (j *joinBuild) Step(int) Step {
	own := vector.NewBatch(j.spec.BuildTypes...)
	j.parts = append(j.parts, own)
	return func(b *vector.Batch) error {
		if own.N+b.N > maxRows/2 {
			return status.New(status.RuntimeResourcesExhausted, "a join keeps more than %d rows", maxRows/2)
		}
		own.Append(b, 0, b.N)
		return j.spec.Budget.Reserve(batchBytes(b) + int64(b.N)*48)
	}
}

// Finish indexes the rows by key.
func (j *joinBuild) Finish(ctx context.Context) (Source, error) {
	j.rows = j.parts[0]
	for _, p := range j.parts[1:] {
		j.rows.Append(p, 0, p.N)
	}
	j.parts = nil
	if len(j.spec.Build) == 0 {
		return Values(&vector.Batch{}), nil
	}
	j.head = make(map[string]int32, j.rows.N)
	j.next = make([]int32, j.rows.N)
	tail := make(map[string]int32)
	program := mustCompile(j.spec.Build)
	keys := make([]*vector.Vector, len(j.spec.Build))
	var part vector.Batch
	var buf []byte
	for from := 0; from < j.rows.N; from += vector.Size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slice(&part, j.rows, from, min(from+vector.Size, j.rows.N))
		if err := program.Eval(&part, keys); err != nil {
			return nil, err
		}
		for i := range part.N {
			row := int32(from + i)
			j.next[row] = -1
			var ok bool
			if buf, ok = appendKeys(buf[:0], keys, i, j.spec.NullEqual); !ok {
				continue
			}
			if last, seen := tail[string(buf)]; seen { // rows of a key keep their order
				j.next[last] = row
			} else {
				j.head[string(buf)] = row
			}
			tail[string(buf)] = row
		}
	}
	return Values(&vector.Batch{}), nil
}

// slice makes part rows [from, to) of b.
func slice(part, b *vector.Batch, from, to int) {
	part.N, part.Cols = to-from, part.Cols[:0]
	for _, c := range b.Cols {
		part.Cols = append(part.Cols, c.Slice(from, to))
	}
}

// appendKeys appends the key of row i; ok is false when it has a NULL that equals nothing.
func appendKeys(dst []byte, keys []*vector.Vector, i int, nullEqual bool) ([]byte, bool) {
	for _, k := range keys {
		if !nullEqual && k.IsNull(i) {
			return dst, false
		}
		dst = expr.AppendKey(dst, k, i)
	}
	return dst, true
}

type joinProbe Join

func (j *joinProbe) String() string {
	return fmt.Sprintf("JoinProbe: %s = %s", texts(j.spec.Probe, ", "), texts(j.spec.Build, ", "))
}

// prober is a worker's state: pairs of row numbers that wait for the residual and for output.
type prober struct {
	j        *joinProbe
	next     Step
	keys     *expr.Program
	residual *expr.Program
	in       *vector.Batch
	left     []uint32
	right    []uint32
	matched  vector.Bitmap // probe rows that found a partner
	l, r     vector.Batch  // gathered sides
	out      vector.Batch
	cond     []*vector.Vector
	keep     vector.Bitmap
	rows     []uint32
}

// Step looks every row's key up.
func (j *joinProbe) Step(next Step) Step {
	p := &prober{j: j, next: next, keys: mustCompile(j.spec.Probe), cond: make([]*vector.Vector, 1)}
	if j.spec.Residual != nil {
		p.residual = mustCompile([]expr.Expr{j.spec.Residual})
	}
	keys := make([]*vector.Vector, len(j.spec.Probe))
	var buf []byte
	return func(b *vector.Batch) error {
		if err := p.keys.Eval(b, keys); err != nil {
			return err
		}
		p.begin(b)
		for i := range b.N {
			if len(keys) == 0 {
				for r := range j.rows.N {
					if err := p.pair(i, r); err != nil {
						return err
					}
				}
				continue
			}
			var ok bool
			if buf, ok = appendKeys(buf[:0], keys, i, j.spec.NullEqual); !ok {
				continue
			}
			r, ok := j.head[string(buf)]
			for ; ok && r >= 0; r = j.next[r] {
				if err := p.pair(i, int(r)); err != nil {
					return err
				}
				if p.residual == nil && j.spec.Kind >= Semi { // one partner is enough
					break
				}
			}
		}
		return p.finish()
	}
}

func (p *prober) begin(b *vector.Batch) {
	p.in = b
	if w := vector.Words(b.N); cap(p.matched) < w {
		p.matched = make(vector.Bitmap, w)
	} else {
		p.matched = p.matched[:w]
		clear(p.matched)
	}
}

// pair notes a pair of equal keys and passes a full batch of them on.
func (p *prober) pair(l, r int) error {
	p.left, p.right = append(p.left, uint32(l)), append(p.right, uint32(r))
	if len(p.left) < vector.Size {
		return nil
	}
	return p.flush()
}

// flush decides the residual for the pairs and, where pairs are wanted, passes them on.
func (p *prober) flush() error {
	if len(p.left) == 0 {
		return nil
	}
	defer func() { p.left, p.right = p.left[:0], p.right[:0] }()
	pairs := p.j.spec.Kind <= Outer
	if pairs || p.residual != nil {
		gatherRows(&p.l, p.in, p.left)
		gatherRows(&p.r, p.j.rows, p.right)
		p.out.N, p.out.Cols = len(p.left), append(append(p.out.Cols[:0], p.l.Cols...), p.r.Cols...)
	}
	out := &p.out
	left := p.left
	if p.residual != nil {
		if err := p.residual.Eval(out, p.cond); err != nil {
			return err
		}
		p.keep = truth(p.keep, p.cond[0], out.N)
		p.rows = p.keep.AppendRows(p.rows[:0])
		if len(p.rows) < out.N && pairs {
			cut := &vector.Batch{}
			gatherRows(cut, out, p.rows)
			out = cut
		}
		kept := make([]uint32, len(p.rows))
		for i, r := range p.rows {
			kept[i] = p.left[r]
		}
		left = kept
	}
	for _, l := range left {
		p.matched.Set(int(l))
	}
	if !pairs || len(left) == 0 {
		return nil
	}
	return p.next(out)
}

// finish passes on what is decided at the end of a probe batch: rows without or with a partner.
func (p *prober) finish() error {
	if err := p.flush(); err != nil {
		return err
	}
	kind := p.j.spec.Kind
	if kind == Inner {
		return nil
	}
	if kind != Semi { // rows without a partner
		all := vector.MakeBitmap(p.in.N)
		all.Fill(p.in.N)
		for i := range all {
			p.matched[i] = all[i] &^ p.matched[i]
		}
	}
	rows := p.matched.AppendRows(nil)
	if len(rows) == 0 {
		return nil
	}
	out := &vector.Batch{}
	gatherRows(out, p.in, rows)
	if kind == Outer {
		for _, t := range p.j.spec.BuildTypes {
			out.Cols = append(out.Cols, vector.ConstNull(t))
		}
	}
	return p.next(out)
}
