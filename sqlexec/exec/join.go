package exec

import (
	"fmt"
	"sync"
	"sync/atomic"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// JoinKind decides which rows a join gives: those with a partner, those without, or both. Rows of the probe side are
// streamed, the build side is kept.
type JoinKind uint8

// The joins. Rows of the build side that are given without a partner, or without their partners, come after all others.
const (
	Inner      JoinKind = iota // pairs
	Outer                      // pairs, and probe rows without a partner with NULLs
	BuildOuter                 // pairs, and build rows without a partner with NULLs
	FullOuter                  // pairs, and the rows of both sides without a partner
	Semi                       // probe rows with a partner, once
	Anti                       // probe rows without a partner
	BuildSemi                  // build rows with a partner, once
	BuildAnti                  // build rows without a partner
)

// pairs reports whether pairs are given.
func (k JoinKind) pairs() bool { return k <= FullOuter }

// rest reports whether build rows are given after the last pair.
func (k JoinKind) rest() bool {
	return k == BuildOuter || k == FullOuter || k == BuildSemi || k == BuildAnti
}

// NeedsPartner reports whether probe rows without a partner leave nothing: then the probe side may be filtered by what
// the build side holds.
func (k JoinKind) NeedsPartner() bool {
	return k != Outer && k != FullOuter && k != Anti
}

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

// Join is a join: its Sink takes the build side, then its Operator probes. A build side that does not fit into memory
// goes to files, see joinSpill.
type Join struct {
	spec     JoinSpec
	level    int   // how often the rows were cut into partitions before they came here
	share    int64 // bytes that the build rows may take; 0: not known yet
	block    *joinBlock
	reversed bool // the build side's columns come first

	held    atomic.Int64  // bytes that are reserved for the build side
	keepers []*joinKeeper // of the workers, until their rows are put together
	rows    *vector.Batch
	pairs   *vector.Batch    // rows as pairs have them: those with few texts have codes
	table   *joinTable       // nil: no keys, every pair
	keys    []*vector.Vector // of all build rows, Flat
	spill   atomic.Pointer[joinSpill]

	mu      sync.Mutex // protects probers, and the beginning of spill
	probers []*prober  // of all workers, where build rows are marked
	lanes   int        // workers that probe
	figures *Figures   // take down what goes to files; nil: nobody asks
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
	for i, p := range spec.Probe {
		if b := spec.Build[i]; p.Type().Kind() != b.Type().Kind() {
			return nil, status.New(status.PlanQuery, "a join cannot compare %s with %s", p.Type(), b.Type())
		}
	}
	return &Join{spec: spec}, nil
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
	vectors  []*vector.Vector
	hasher   *joinHasher
	first    []uint32       // by probe row: its first partner + 1; 0: none
	dict     *vector.Vector // the dictionary of codes
	codes    []uint32       // by code: the first partner + 1, or unknown
	residual *expr.Program
	in       *vector.Batch
	left     []uint32
	right    []uint32
	matched  vector.Bitmap // probe rows that found a partner
	marked   vector.Bitmap // build rows that found a partner; nil: not needed
	l, r     vector.Batch  // gathered sides
	passed   vector.Batch  // pairs that passed the residual
	alone    vector.Batch  // probe rows without a partner
	out      vector.Batch
	cond     []*vector.Vector
	keep     vector.Bitmap
	rows     []uint32
}

// Step looks every row's key up.
func (j *joinProbe) Step(next Step) Step {
	p := j.prober(next)
	if j.spill.Load() == nil {
		return p.step
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lanes++
	return inCopies((&joinLane{j: j, prober: p}).step)
}

// prober makes the state of a worker.
func (j *joinProbe) prober(next Step) *prober {
	p := &prober{j: j, next: next, keys: mustCompile(j.spec.Probe, j.spec.Budget), cond: make([]*vector.Vector, 1),
		vectors: make([]*vector.Vector, len(j.spec.Probe)), hasher: newJoinHasher(len(j.spec.Probe))}
	if j.spec.Residual != nil {
		p.residual = mustCompile([]expr.Expr{j.spec.Residual}, j.spec.Budget)
	}
	if j.spec.Kind.rest() {
		p.marked = vector.MakeBitmap(j.rows.N)
		j.mu.Lock()
		j.probers = append(j.probers, p)
		j.mu.Unlock()
	}
	return p
}

func (p *prober) step(b *vector.Batch) error {
	p.begin(b)
	var err error
	switch {
	case p.j.table == nil:
		err = p.everyPair()
	default:
		if err = p.keys.Eval(b, p.vectors); err == nil {
			p.lookup()
			err = p.partners()
		}
	}
	if err != nil {
		return err
	}
	return p.finish()
}

func (p *prober) begin(b *vector.Batch) {
	p.in = b
	p.matched = p.matched.Emptied(b.N)
	if k := p.j.block; k != nil {
		k.restore(p.matched, b.N)
	}
}

// everyPair is a join without keys. Each row with long texts is joined with all rows of the other side separately.
func (p *prober) everyPair() error {
	rows := p.j.rows
	if expr.ValueBytes(rows.Cols, rows.N) > longRow*int64(rows.N) {
		for r := range rows.N {
			for i := range p.in.N {
				if err := p.pair(uint32(i), uint32(r)); err != nil {
					return err
				}
			}
			if err := p.flush(); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range p.in.N {
		for r := range p.j.rows.N {
			if err := p.pair(uint32(i), uint32(r)); err != nil {
				return err
			}
		}
		if longHere(p.in, i) {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknownCode marks a code whose key was not looked up yet.
const unknownCode = 1<<32 - 1

// lookup fills first. Where the one key is of a dictionary, each of its values is looked up once.
func (p *prober) lookup() {
	n, t := p.in.N, p.j.table
	p.first = vector.Sized(p.first, n)
	v := p.vectors[0]
	if kind := p.j.spec.Kind; t.direct != nil && p.residual == nil && (kind == Semi || kind == Anti) {
		t.direct.lookup(v, n, p.first) // which row it is does not matter
		return
	}
	if len(p.vectors) > 1 || v.Form != vector.Dict || v.Valid != nil {
		t.lookup(p.hasher, p.vectors, n, p.first)
		return
	}
	if p.dict != v.Values {
		p.dict = v.Values
		p.codes = vector.Sized(p.codes, v.Values.Len())
		for i := range p.codes {
			p.codes[i] = unknownCode
		}
	}
	for i, c := range v.Codes[:n] {
		if p.codes[c] == unknownCode {
			p.codes[c] = t.find(hashAt(p.dict, int(c)), p.vectors, i)
		}
		p.first[i] = p.codes[c]
	}
}

// partners turns the first partners into pairs, or into marks if one partner is enough.
func (p *prober) partners() error {
	kind, next := p.j.spec.Kind, p.j.table.next
	switch {
	case p.residual == nil && (kind == Semi || kind == Anti):
		for i, first := range p.first {
			if first != 0 {
				p.matched.Set(i)
			}
		}
		return nil
	case p.residual == nil && !kind.pairs():
		for _, first := range p.first {
			for ; first != 0 && !p.marked.Get(int(first-1)); first = next[first-1] {
				p.marked.Set(int(first - 1)) // its chain was marked with it
			}
		}
		return nil
	case p.residual == nil && !p.j.table.chained:
		p.left, p.right = vector.Sized(p.left, p.in.N)[:0], vector.Sized(p.right, p.in.N)[:0]
		for i, first := range p.first {
			if first != 0 {
				p.left, p.right = append(p.left, uint32(i)), append(p.right, first-1)
			}
		}
		return p.flush()
	}
	for i, first := range p.first {
		for ; first != 0; first = next[first-1] {
			if err := p.pair(uint32(i), first-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// pair notes a pair of equal keys and passes a full batch of them on.
func (p *prober) pair(l, r uint32) error {
	p.left, p.right = append(p.left, l), append(p.right, r)
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
	if err := p.j.spec.Budget.Err(); err != nil {
		return err
	}
	defer func() { p.left, p.right = p.left[:0], p.right[:0] }()
	pairs := p.j.spec.Kind.pairs()
	if !pairs && p.residual == nil {
		p.mark()
		return nil
	}
	repeat(&p.r, p.j.pairs, p.right)
	left := p.in.Cols
	if len(p.left) != p.in.N || !identity(p.left) {
		repeat(&p.l, p.in, p.left)
		left = p.l.Cols
	}
	p.out.N, p.out.Cols = len(p.left), p.j.beside(p.out.Cols[:0], left, p.r.Cols)
	out := &p.out
	if p.residual != nil {
		if err := p.residual.Eval(out, p.cond); err != nil {
			return err
		}
		p.keep = truth(p.keep, p.cond[0], out.N)
		p.rows = p.keep.AppendRows(p.rows[:0])
		if len(p.rows) < out.N && pairs {
			gatherRows(&p.passed, out, p.rows)
			out = &p.passed
		}
		for i, r := range p.rows { // r is not less than i
			p.left[i], p.right[i] = p.left[r], p.right[r]
		}
		p.left, p.right = p.left[:len(p.rows)], p.right[:len(p.rows)]
	}
	p.mark()
	if !pairs || len(p.left) == 0 {
		return nil
	}
	return p.next(out)
}

// identity reports whether rows are 0, 1, 2, ...
func identity(rows []uint32) bool {
	for i, r := range rows {
		if r != uint32(i) {
			return false
		}
	}
	return true
}

// mark notes which rows of both sides have found a partner.
func (p *prober) mark() {
	for _, l := range p.left {
		p.matched.Set(int(l))
	}
	if p.marked != nil {
		for _, r := range p.right {
			p.marked.Set(int(r))
		}
	}
}

// finish passes on what the kind wants of the probe rows without or with a partner.
func (p *prober) finish() error {
	if err := p.flush(); err != nil {
		return err
	}
	if k := p.j.block; k != nil {
		if k.note(p.matched, p.in.N); !k.last {
			return nil
		}
	}
	switch p.j.spec.Kind {
	case Outer, FullOuter, Anti:
		p.rows = appendAbsent(p.rows[:0], p.matched, p.in.N)
	case Semi:
		p.rows = p.matched.AppendRows(p.rows[:0])
	default:
		return nil
	}
	switch {
	case len(p.rows) == 0:
		return nil
	case p.j.spec.Kind >= Semi && len(p.rows) == p.in.N:
		return p.next(p.in)
	}
	gatherRows(&p.l, p.in, p.rows)
	var others []*vector.Vector
	if p.j.spec.Kind.pairs() {
		others = nulls(p.j.spec.BuildTypes)
	}
	p.alone.N, p.alone.Cols = p.l.N, p.j.beside(p.alone.Cols[:0], p.l.Cols, others)
	return p.next(&p.alone)
}

// nulls are columns of NULL.
func nulls(types []vector.Type) []*vector.Vector {
	out := make([]*vector.Vector, len(types))
	for i, t := range types {
		out[i] = vector.ConstNull(t)
	}
	return out
}

// beside appends the columns of both sides in the order that the join gives them.
func (j *joinProbe) beside(dst, probe, build []*vector.Vector) []*vector.Vector {
	if j.reversed {
		probe, build = build, probe
	}
	return append(append(dst, probe...), build...)
}

// appendAbsent appends the numbers of the first n rows that are not in the set.
func appendAbsent(dst []uint32, set vector.Bitmap, n int) []uint32 {
	for i := range n {
		if !set.Get(i) {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}

// Rest returns the build rows that the kind wants without their partners, and all that is joined from files.
func (j *joinProbe) Rest() Source {
	if s := j.spill.Load(); s != nil {
		return &joinPairs{j: (*Join)(j), s: s}
	}
	if !j.spec.Kind.rest() {
		return nil
	}
	marked := vector.MakeBitmap(j.rows.N)
	for _, p := range j.probers {
		for i, w := range p.marked {
			marked[i] |= w
		}
	}
	return &joinRest{j: j, marked: marked}
}

// joinRest is a source of build rows. Workers take turns.
type joinRest struct {
	j      *joinProbe
	marked vector.Bitmap
	next   atomic.Int64
}

// Reader hands a worker its share.
func (s *joinRest) Reader(int) Reader { return &joinRestReader{s: s} }

type joinRestReader struct {
	s    *joinRest
	rows []uint32
	side vector.Batch
}

func (r *joinRestReader) Next(b *vector.Batch) (bool, error) {
	j := r.s.j
	for {
		from := int(r.s.next.Add(vector.Size)) - vector.Size
		if from >= j.rows.N {
			return false, nil
		}
		r.rows = r.rows[:0]
		for i := from; i < min(from+vector.Size, j.rows.N); i++ {
			if r.s.marked.Get(i) == (j.spec.Kind == BuildSemi) {
				r.rows = append(r.rows, uint32(i))
			}
		}
		if len(r.rows) == 0 {
			if err := j.spec.Budget.Err(); err != nil {
				return false, err
			}
			continue
		}
		gatherRows(&r.side, j.pairs, r.rows)
		var others []*vector.Vector
		if j.spec.Kind.pairs() {
			others = nulls(j.spec.ProbeTypes)
		}
		b.N, b.Cols = r.side.N, j.beside(b.Cols[:0], others, r.side.Cols)
		return true, nil
	}
}

func (r *joinRestReader) Close() {}
