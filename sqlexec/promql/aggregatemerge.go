package promql

import (
	"context"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
)

// merge adds the groups of another accumulator, whose series follow the series of this one.
func (a *accumulator) merge(ctx context.Context, o *accumulator) error {
	a.notes.Merge(o.notes)
	for k, from := range o.chunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case from == nil:
		case k >= len(a.chunks):
			a.chunks = append(a.chunks, make([]*cellChunk, k+1-len(a.chunks))...)
			a.chunks[k] = from
		case a.chunks[k] == nil:
			a.chunks[k] = from
		default:
			for i := range a.each {
				to, more := a.chunks[k].group(i, a.g), from.group(i, a.g)
				a.mergeFloats(&to, &more)
				if more.hist != nil {
					a.mergeHistograms(a.histograms(int32(k*a.each+i)), more.hist)
				}
			}
		}
	}
	return nil
}

func (a *accumulator) mergeFloats(to, from *cells) {
	switch a.op {
	case parser.SUM:
		addFloats(to.sum, to.lost, from.sum, from.floats)
		addFloats(to.sum, to.lost, from.lost, from.floats)
	case parser.AVG:
		to.mergeMeans(from)
	case parser.MIN:
		addBest(to.sum, to.floats, from.sum, from.floats, less)
	case parser.MAX:
		addBest(to.sum, to.floats, from.sum, from.floats, greater)
	case parser.COUNT:
		for i := range from.floats.steps {
			to.sum[i] += from.sum[i]
		}
	case parser.STDDEV, parser.STDVAR:
		to.mergeSquares(from)
	}
	to.floats.or(from.floats)
}

func (a *accumulator) mergeHistograms(to, from *histogramCells) {
	for i := range from.has.steps {
		if to.at[i] == nil {
			to.at[i] = from.at[i]
		} else if from.at[i] == nil {
			continue
		} else if err := to.at[i].merge(from.at[i]); err != nil {
			a.note(annotations.NewMixedExponentialCustomHistogramsWarning("", a.pos))
		}
	}
	to.has.or(from.has)
}

// merge adds the histograms of another cell.
func (c *histogramCell) merge(o *histogramCell) (err error) {
	c.hints |= o.hints
	switch {
	case c.invalid || o.invalid:
		c.invalid = true
		return nil
	case c.mean != nil:
		err = c.mean.merge(o.mean)
	default:
		err = c.sum.Merge(o.sum)
	}
	c.invalid = err != nil
	return err
}

// merge is the mean of both by their numbers.
func (m *histogramMean) merge(o *histogramMean) error {
	n := m.n + o.n
	if !m.incremental && !o.incremental {
		next := m.sum.Clone()
		if err := next.Merge(o.sum); err != nil {
			return err
		}
		if !next.Overflow() {
			m.sum, m.n = next, n
			return nil
		}
	}
	if !m.incremental {
		m.sum.Divide(m.n)
	}
	if !o.incremental {
		o.sum.Divide(o.n)
	}
	m.sum.Scale(m.n / n)
	o.sum.Scale(o.n / n)
	m.n, m.incremental = n, true
	return m.sum.Merge(o.sum)
}

func (c *cells) mergeMeans(o *cells) {
	for i := range o.floats.steps {
		if c.n[i] == 0 {
			c.sum[i], c.lost[i], c.n[i] = o.sum[i], o.lost[i], o.n[i]
			if o.incremental.has(i) {
				c.incremental.set(i)
			}
			continue
		}
		n := c.n[i] + o.n[i]
		sum := kahan{c.sum[i], c.lost[i]}.add(o.sum[i]).add(o.lost[i])
		if c.incremental.has(i) || o.incremental.has(i) || isInf(sum.sum) {
			a, b := c.meanAt(i), o.meanAt(i)
			sum = kahan{a.sum * (c.n[i] / n),
				a.lost * (c.n[i] / n)}.add(b.sum * (o.n[i] / n)).add(b.lost * (o.n[i] / n))
			c.incremental.set(i)
		}
		c.sum[i], c.lost[i], c.n[i] = sum.sum, sum.lost, n
	}
}

// meanAt is the mean of a step, whatever form it has.
func (c *cells) meanAt(i int) kahan {
	if c.incremental.has(i) {
		return kahan{c.sum[i], c.lost[i]}
	}
	return kahan{c.sum[i] / c.n[i], c.lost[i] / c.n[i]}
}

// mergeSquares puts the squared distances of two parts together (Chan).
func (c *cells) mergeSquares(o *cells) {
	for i := range o.floats.steps {
		if c.n[i] == 0 {
			c.sum[i], c.squares[i], c.n[i] = o.sum[i], o.squares[i], o.n[i]
			continue
		}
		n := c.n[i] + o.n[i]
		delta := o.sum[i] - c.sum[i]
		c.squares[i] += o.squares[i] + delta*delta*c.n[i]*o.n[i]/n
		c.sum[i] += delta * o.n[i] / n
		c.n[i] = n
	}
}

func isInf(v float64) bool { return v-v != 0 && v == v }
