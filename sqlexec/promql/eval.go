package promql

import (
	"context"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/util/annotations"
)

// evaluator evaluates one query. One goroutine at a time; scans give parts to workers and wait for them.
type evaluator struct {
	ctx          context.Context
	store        Storage
	lookback     int64 // ms
	subqueryStep int64 // ms
	workers      int
	instant      bool  // one step: the order of rows is the order of the answer
	queryEnd     int64 // ms
	zeroIsNaN    bool  // see Query.ZeroIsNaN
	notes        *annotations.Annotations
	limits       *queryLimits

	known map[sharedKey]nodeMatrix // what was evaluated of shared nodes
	sets  []SeriesSet              // to be closed with the query
}

func (e *evaluator) close() {
	for _, s := range e.sets {
		s.Close()
	}
}

// note adds an annotation.
func (e *evaluator) note(err error) { e.notes.Add(err) }

// eval yields the rows of a node at the steps of a grid. Rows without any value are left out, but for scalars, which
// have one row with a value at each step.
func (e *evaluator) eval(x node, g grid) (nodeMatrix, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	own := x.base()
	if g.n > 1 && own.same {
		m, err := e.eval(x, g.first())
		if err != nil {
			return nil, err
		}
		return e.spread(m, g)
	}
	if own.shared {
		if m, ok := e.known[sharedKey{own.class, g}]; ok {
			return slices.Clone(m), e.limits.reserve(int64(len(m)) * rowBytes)
		}
	}
	held, bytes := e.limits.samples.Load(), e.limits.bytes.Load()
	m, err := x.eval(e, g)
	if err != nil {
		return nil, err
	}
	e.limits.keep(m, held, bytes) // what the node's arguments held is free
	if own.shared {
		if e.known == nil {
			e.known = map[sharedKey]nodeMatrix{}
		}
		e.known[sharedKey{own.class, g}] = slices.Clone(m)
		return m, e.limits.reserve(int64(len(m)) * rowBytes)
	}
	return m, nil
}

// scalar makes the row of a scalar.
func (e *evaluator) scalar(g grid, f func(i int) float64) (nodeMatrix, error) {
	r, err := newArena(e.limits, g).row()
	if err != nil {
		return nil, err
	}
	for i := range r.vals {
		r.vals[i] = f(i)
	}
	r.has.fill(g.n)
	return nodeMatrix{r}, e.limits.hold(int64(g.n))
}

// values evaluates a scalar to one value a step.
func (e *evaluator) values(x node, g grid) ([]float64, error) {
	m, err := e.eval(x, g)
	if err != nil {
		return nil, err
	}
	return m[0].vals, nil
}

// spread repeats the one step of rows at all steps of a grid.
func (e *evaluator) spread(m nodeMatrix, g grid) (nodeMatrix, error) {
	a := newArena(e.limits, g)
	out := make(nodeMatrix, len(m))
	err := e.eachRow(m, func(i int) error {
		r, err := a.row()
		if err != nil {
			return err
		}
		r.identity = m[i].identity
		h := m[i].histogram(0)
		for s := range r.vals {
			r.vals[s] = m[i].vals[0]
			if h != nil {
				r.putHistogram(s, h)
			}
		}
		r.has.fill(g.n)
		out[i] = r
		return e.limits.hold(r.weight())
	})
	return out, err
}

// unary negates.
func (e *evaluator) unary(n *unaryNode, g grid) (nodeMatrix, error) {
	m, err := e.eval(n.of, g)
	if err != nil || !n.negates {
		return m, err
	}
	return e.mapRows(m, g, func(in, out *row) {
		for i, v := range in.vals {
			out.vals[i] = -v
		}
		copy(out.has, in.has)
		for i, h := range in.histograms() {
			if h != nil && in.has.has(i) {
				out.putHistogram(i, h.Clone().Scale(-1))
			}
		}
	})
}

// mapRows makes a new row of each, the name marked to go. Rows that come out empty are left out.
func (e *evaluator) mapRows(m nodeMatrix, g grid, f func(in, out *row)) (nodeMatrix, error) {
	a := newArena(e.limits, g)
	out := make(nodeMatrix, 0, len(m))
	err := e.eachRow(m, func(i int) error {
		r, err := a.row()
		if err != nil {
			return err
		}
		r.identity = m[i].identity
		r.dropName = true
		if f(&m[i], &r); r.has.empty() {
			a.reuse(r)
		} else {
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

// sift changes rows in place and removes rows that are left without a value.
func (e *evaluator) sift(m nodeMatrix, change func(i int, r *row)) (nodeMatrix, error) {
	out := m[:0]
	for i := range m {
		if i%askSeries == 0 && e.ctx.Err() != nil {
			return nil, e.ctx.Err()
		}
		r := &m[i]
		if change(i, r); !r.has.empty() {
			out = append(out, *r)
		}
	}
	clear(m[len(out):])
	return out, nil
}

// eachRow visits rows while the query runs.
func (e *evaluator) eachRow(m nodeMatrix, visit func(i int) error) error {
	for i := range m {
		if i%chunkRows == 0 && e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}

// join puts rows of equal label sets together. Two values of a kind at one step are an error.
func (e *evaluator) join(m nodeMatrix, g grid) (nodeMatrix, error) {
	if len(m) < 2 {
		return m, nil
	}
	room := int64(len(m)) * joinBytes
	if err := e.limits.reserve(room); err != nil {
		return nil, err
	}
	defer e.limits.release(room)
	first := make(map[labelsKey]int, len(m))
	var text []byte
	var out nodeMatrix // nil until rows are joined
	for i := range m {
		if i%askSeries == 0 && e.ctx.Err() != nil {
			return nil, e.ctx.Err()
		}
		text = m[i].labels().appendKey(text[:0])
		key := keyOf(text)
		at, seen := first[key]
		switch {
		case seen:
			if out == nil {
				out = append(make(nodeMatrix, 0, len(m)), m[:i]...)
			}
			if err := out[at].merge(&m[i], g); err != nil {
				return nil, err
			}
		case out != nil:
			first[key] = len(out)
			out = append(out, m[i])
		default:
			first[key] = i
		}
	}
	if out == nil {
		return m, nil
	}
	return out, nil
}

// joinBytes is about the memory of a row that is compared with others.
const joinBytes = 48

// labelsKey identifies the text of a label set, which may be long, by hashes of it. The seeds are random in each
// process, so that no client can choose two texts with equal hashes.
type labelsKey [2]uint64

var labelSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOf(text []byte) labelsKey {
	return labelsKey{maphash.Bytes(labelSeeds[0], text), maphash.Bytes(labelSeeds[1], text)}
}

// merge makes a row of two that have no step in common, or a float and a histogram at it: then the histogram stays.
// Whether the name goes is said by the one that comes first in time, as in the reference.
func (r *row) merge(o *row, g grid) error {
	mine, theirs := r.has.first(), o.has.first()
	if theirs >= 0 && (mine < 0 || theirs < mine) {
		r.dropName = o.dropName
	}
	merged := row{identity: r.identity, vals: make([]float64, g.n), has: make(bitmap, g.words())}
	for _, in := range []*row{r, o} {
		for i := range in.has.steps {
			if merged.has.has(i) {
				was, is := merged.histogram(i), in.histogram(i)
				if (was == nil) == (is == nil) {
					return errSameLabels
				}
				if is == nil {
					continue
				}
			}
			merged.copyStep(in, i)
		}
	}
	*r = merged
	return nil
}

var errSameLabels = execution("vector cannot contain metrics with the same labelset")

func moreNotes(n int, kind string) string {
	return strconv.Itoa(n) + " more " + kind + " annotations omitted"
}
