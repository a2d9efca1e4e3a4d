package promql

import (
	"errors"
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/engine/vector"
	"varve/sqlexec/promql/histogram"
)

// binary evaluates a binary operator.
func (e *evaluator) binary(n *binaryNode, g grid) (nodeMatrix, error) {
	left, err := e.eval(n.left, g)
	if err != nil {
		return nil, err
	}
	right, err := e.eval(n.right, g)
	if err != nil {
		return nil, err
	}
	scalarLeft := n.left.base().kind == parser.ValueTypeScalar
	scalarRight := n.right.base().kind == parser.ValueTypeScalar
	op := &operation{e: e, g: g, n: n, op: n.op, pos: n.pos, kernel: n.kernel}
	if e.zeroIsNaN && n.op == parser.DIV {
		op.kernel = eachPair(divideNaN)
	}
	switch {
	case scalarLeft && scalarRight:
		r, err := newArena(e.limits, g).row()
		if err != nil {
			return nil, err
		}
		switch {
		case n.op.IsComparisonOperator():
			compareFloats(n.op, r.has, left[0].vals, right[0].vals)
			for i := range r.has.steps {
				r.vals[i] = 1
			}
		case op.kernel != nil:
			op.kernel(r.vals, left[0].vals, right[0].vals)
		default:
			return nil, execution("operator %q is not allowed between two scalars", parser.ItemTypeStr[n.op])
		}
		r.has.fill(g.n)
		return nodeMatrix{r}, nil
	case scalarRight:
		return op.withScalar(left, right[0].vals, false)
	case scalarLeft:
		return op.withScalar(right, left[0].vals, true)
	}
	switch n.op {
	case parser.LAND:
		return op.keepMatched(left, right, true)
	case parser.LUNLESS:
		return op.keepMatched(left, right, false)
	case parser.LOR:
		return op.union(left, right)
	}
	return op.match(left, right)
}

// operation is a binary operator at work.
type operation struct {
	e      *evaluator
	g      grid
	n      *binaryNode
	op     parser.ItemType
	pos    posrange.PositionRange
	kernel func(dst, a, b []float64) // nil for operators that compute nothing of two floats
	last   []lastNote                // one for each step; nil if all notes are kept
	order  int                       // of the row at work
}

// kernels compute whole rows, whatever is present.
var kernels = map[parser.ItemType]func(dst, a, b []float64){
	parser.ADD: func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	},
	parser.SUB: func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
	},
	parser.MUL: func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	},
	parser.DIV: func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] / b[i]
		}
	},
	parser.MOD:   eachPair(math.Mod),
	parser.POW:   eachPair(math.Pow),
	parser.ATAN2: eachPair(math.Atan2),
}

// divideNaN is a / b, and NaN where b is zero.
func divideNaN(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

func eachPair(f func(a, b float64) float64) func(dst, a, b []float64) {
	return func(dst, a, b []float64) {
		for i := range dst {
			dst[i] = f(a[i], b[i])
		}
	}
}

// compareFloats sets the bits of the steps at which a comparison holds.
func compareFloats(op parser.ItemType, out bitmap, a, b []float64) {
	b = b[:len(a)]
	switch op {
	case parser.EQLC:
		for i := range a {
			out[i>>6] |= vector.Bit(a[i] == b[i]) << (i & 63)
		}
	case parser.NEQ:
		for i := range a {
			out[i>>6] |= vector.Bit(a[i] != b[i]) << (i & 63)
		}
	case parser.GTR:
		for i := range a {
			out[i>>6] |= vector.Bit(a[i] > b[i]) << (i & 63)
		}
	case parser.LSS:
		for i := range a {
			out[i>>6] |= vector.Bit(a[i] < b[i]) << (i & 63)
		}
	case parser.GTE:
		for i := range a {
			out[i>>6] |= vector.Bit(a[i] >= b[i]) << (i & 63)
		}
	case parser.LTE:
		for i := range a {
			out[i>>6] |= vector.Bit(a[i] <= b[i]) << (i & 63)
		}
	}
}

// changesName reports whether the answer of an operator is another thing than its operands.
func changesName(op parser.ItemType) bool {
	switch op {
	case parser.ADD, parser.SUB, parser.MUL, parser.DIV, parser.MOD, parser.POW, parser.ATAN2:
		return true
	}
	return false
}

// withScalar puts rows and a scalar together; swapped says that the scalar stands on the left.
func (o *operation) withScalar(m nodeMatrix, scalar []float64, swapped bool) (nodeMatrix, error) {
	a := newArena(o.e.limits, o.g)
	out := make(nodeMatrix, 0, len(m))
	s := &row{vals: scalar}
	err := o.e.eachRow(m, func(i int) error {
		r, err := a.row()
		if err != nil {
			return err
		}
		in := &m[i]
		r.identity = in.identity
		r.dropName = in.dropName || changesName(o.op) || o.n.returnBool
		if swapped {
			o.combine(&r, s, in, in.has, in)
		} else {
			o.combine(&r, in, s, in.has, in)
		}
		if r.has.empty() {
			a.reuse(r)
			return nil
		}
		out = append(out, r)
		return o.e.limits.adjust(r.histogramBytes())
	})
	if err != nil {
		return nil, err
	}
	return out, o.e.limits.hold(int64(len(out)) * int64(o.g.n))
}

// combine fills a row from two rows at the steps of has. A comparison keeps the values of kept: the left side, or the
// vector if the other side is a scalar. It returns the steps at which the operator holds for the values of both sides.
func (o *operation) combine(out, left, right *row, has bitmap, kept *row) bitmap {
	if left.hist != nil || right.hist != nil {
		return o.combineMixed(out, left, right, has, kept)
	}
	switch {
	case o.op.IsComparisonOperator():
		compareFloats(o.op, out.has, left.vals, right.vals)
		if o.n.returnBool {
			for i := range out.vals {
				out.vals[i] = float64(out.has[i>>6] >> (i & 63) & 1)
			}
			copy(out.has, has)
			return has
		}
		for i := range out.has {
			out.has[i] &= has[i]
		}
		copy(out.vals, kept.vals)
	case o.kernel != nil:
		o.kernel(out.vals, left.vals, right.vals)
		copy(out.has, has)
	default: // trims floats
		for i := range has.steps {
			o.note(i, annotations.NewIncompatibleTypesInBinOpInfo("float", parser.ItemTypeStr[o.op], "float", o.pos))
		}
		return make(bitmap, len(has))
	}
	return has
}

// note records a fault at a step. Among the rows of matching vectors, only the last row with a note keeps it.
func (o *operation) note(i int, err error) {
	if o.last == nil {
		o.e.note(err)
	} else if o.last[i].order <= o.order {
		o.last[i] = lastNote{o.order, err}
	}
}

// lastNote is the note of a step and the place of its row.
type lastNote struct {
	order int
	err   error
}

// combineMixed is combine where histograms are about.
func (o *operation) combineMixed(out, left, right *row, has bitmap, kept *row) bitmap {
	fits := slices.Clone(has)
	a, b, dst := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	for i := range has.steps {
		lh, rh := left.histogram(i), right.histogram(i)
		if lh == nil && rh == nil {
			a[0], b[0] = left.vals[i], right.vals[i]
			switch {
			case o.op.IsComparisonOperator():
				holds := bitmap{0}
				compareFloats(o.op, holds, a, b)
				o.keep(out, kept, i, holds.has(0))
			case o.kernel != nil:
				o.kernel(dst, a, b)
				out.put(i, dst[0])
			default:
				o.note(i, annotations.NewIncompatibleTypesInBinOpInfo("float", parser.ItemTypeStr[o.op], "float",
					o.pos))
				fits.unset(i)
			}
			continue
		}
		if lh != nil && rh != nil && (o.op == parser.EQLC || o.op == parser.NEQ) {
			o.keep(out, kept, i, lh.Equal(rh) == (o.op == parser.EQLC))
			continue
		}
		h, err := o.histograms(i, left.vals[i], right.vals[i], lh, rh)
		if err != nil {
			if errors.Is(err, histogram.ErrIncompatible) {
				err = annotations.NewIncompatibleBucketLayoutInBinOpWarning(parser.ItemTypeStr[o.op], o.pos)
			}
			o.note(i, err)
			fits.unset(i)
			continue
		}
		out.putHistogram(i, h)
	}
	return fits
}

// keep is what a comparison makes of a step.
func (o *operation) keep(out, kept *row, i int, holds bool) {
	switch {
	case o.n.returnBool:
		out.put(i, float64(vector.Bit(holds)))
	case holds:
		out.copyStep(kept, i)
	}
}

// histograms computes an operator with a histogram on at least one side.
func (o *operation) histograms(i int, a, b float64, ah, bh *histogram.Histogram) (*histogram.Histogram, error) {
	kind := func(h *histogram.Histogram) string {
		if h != nil {
			return "histogram"
		}
		return "float"
	}
	switch {
	case o.op == parser.MUL && ah == nil:
		return bh.Clone().Scale(a).Compact(), nil
	case o.op == parser.MUL && bh == nil:
		return ah.Clone().Scale(b).Compact(), nil
	case o.op == parser.DIV && ah != nil && bh == nil:
		return ah.Clone().Divide(b).Compact(), nil
	case o.op == parser.TRIM_UPPER && ah != nil && bh == nil:
		return ah.TrimAbove(b), nil
	case o.op == parser.TRIM_LOWER && ah != nil && bh == nil:
		return ah.TrimBelow(b), nil
	case (o.op == parser.ADD || o.op == parser.SUB) && ah != nil && bh != nil:
		return o.addHistograms(i, ah, bh)
	}
	return nil, annotations.NewIncompatibleTypesInBinOpInfo(kind(ah), parser.ItemTypeStr[o.op], kind(bh), o.pos)
}

// addHistograms adds or subtracts. Two counters have no result if one was reset and the other was not.
func (o *operation) addHistograms(i int, a, b *histogram.Histogram) (*histogram.Histogram, error) {
	sum := histogram.NewSum(a)
	do, name := sum.Add, annotations.HistogramAdd
	if o.op == parser.SUB {
		do, name = sum.Subtract, annotations.HistogramSub
	}
	if err := do(b); err != nil {
		return nil, err
	}
	if sum.Collision {
		return nil, annotations.NewHistogramCounterResetCollisionWarning(o.pos, name)
	}
	if sum.Reconciled {
		o.note(i, annotations.NewMismatchedCustomBucketsHistogramsInfo(o.pos, name))
	}
	out := sum.Result().Compact()
	if o.op == parser.SUB {
		out.Hint = histogram.Gauge
	}
	return out, nil
}
