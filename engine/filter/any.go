package filter

import (
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// alternatives compiles the conjunctions of an AnyOf. Their comparisons get numbers behind those of the program's own
// conjunction, so that runs address all comparisons alike.
func (p *Program) alternatives(c *condition) error {
	c.any = make([][]int, len(c.Any))
	for a, and := range c.Any {
		for i := range and {
			one, err := compile(&and[i], nil)
			if err != nil {
				return err
			}
			c.any[a] = append(c.any[a], len(p.conds))
			p.conds = append(p.conds, one)
			if one.Op == AnyOf {
				if err := p.alternatives(one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Alternatives gives the conjunctions of an AnyOf, each as the numbers of its conditions; nil: i is a comparison.
func (p *Program) Alternatives(i int) [][]int { return p.conds[i].any }

// EvalAny takes the rows out of keep that pass none of the alternatives of condition i. eval does the same for one
// comparison; it is asked only about rows that no earlier alternative let pass.
func (p *Program) EvalAny(i int, keep vector.Bitmap, eval func(i int, keep vector.Bitmap) error) error {
	c := p.conds[i]
	if cap(c.passes) < len(keep) {
		c.passes, c.left = make(vector.Bitmap, len(keep)), make(vector.Bitmap, len(keep))
	}
	passed, left := c.passes[:len(keep)], c.left[:len(keep)]
	clear(passed)
	for _, and := range c.any {
		for w := range left {
			left[w] = keep[w] &^ passed[w]
		}
		for _, at := range and {
			if none(left) {
				break
			}
			var err error
			if p.conds[at].any != nil {
				err = p.EvalAny(at, left, eval)
			} else {
				err = eval(at, left)
			}
			if err != nil {
				return err
			}
		}
		for w := range passed {
			passed[w] |= left[w]
		}
	}
	copy(keep, passed)
	return nil
}

// JudgeAny combines what judge says about the comparisons of condition i, an AnyOf.
func (p *Program) JudgeAny(i int, judge func(i int) Verdict) Verdict {
	verdict := None
	for _, and := range p.conds[i].any {
		switch p.judgeAnd(and, judge) {
		case All:
			return All
		case Some:
			verdict = Some
		}
	}
	return verdict
}

func (p *Program) judgeAnd(and []int, judge func(i int) Verdict) Verdict {
	verdict := All
	for _, at := range and {
		v := None
		if p.conds[at].any != nil {
			v = p.JudgeAny(at, judge)
		} else {
			v = judge(at)
		}
		switch v {
		case None:
			return None
		case Some:
			verdict = Some
		}
	}
	return verdict
}

// AppendColumns appends the columns that a looks at, each once.
func (a And) AppendColumns(dst []schema.ColumnID) []schema.ColumnID {
	for i := range a {
		dst = a[i].AppendColumns(dst)
	}
	return dst
}

// AppendColumns appends the columns that c looks at, each once.
func (c *Cond) AppendColumns(dst []schema.ColumnID) []schema.ColumnID {
	if c.Op == AnyOf {
		for _, and := range c.Any {
			dst = and.AppendColumns(dst)
		}
		return dst
	}
	if !slices.Contains(dst, c.Column) {
		dst = append(dst, c.Column)
	}
	return dst
}
