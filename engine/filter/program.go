package filter

import (
	"varve/engine/schema"
	"varve/engine/vector"
)

// Program is a compiled conjunction. It holds scratch memory: one goroutine at a time.
type Program struct {
	// Conds are the conditions of the conjunction: tests, and choices among conjunctions of such.
	Conds  []*Tree[*Test]
	memory memory
}

// Compile prepares a conjunction for evaluation. It fails on a malformed regular expression and on arguments whose
// count does not fit the operator.
func Compile(a And) (*Program, error) {
	p := &Program{}
	var err error
	p.Conds, err = treesOf(a, &p.memory)
	return p, err
}

func treesOf(a And, m *memory) ([]*Tree[*Test], error) {
	if len(a) == 0 {
		return nil, nil
	}
	trees := make([]*Tree[*Test], len(a))
	for i := range a {
		if a[i].Op != AnyOf {
			c, err := compileCond(&a[i], nil)
			if err != nil {
				return nil, err
			}
			trees[i] = &Tree[*Test]{Leaf: &Test{c: c, memory: m}}
			continue
		}
		choice := &Tree[*Test]{Kind: OneOf}
		for _, and := range a[i].Any {
			of, err := treesOf(and, m)
			if err != nil {
				return nil, err
			}
			one := &Tree[*Test]{Kind: AllOf, Of: of}
			if len(of) == 1 {
				one = of[0]
			}
			choice.Of = append(choice.Of, one)
		}
		trees[i] = choice
	}
	return trees, nil
}

// Eval evaluates the conjunction on n rows. On entry keep holds the rows to test, on return the rows that pass; it has
// Words(n) words. col gives the vector of a column, of any form, with the condition's type.
func (p *Program) Eval(n int, col func(schema.ColumnID) *vector.Vector, keep vector.Bitmap) {
	for i, c := range p.Conds {
		if i > 0 && isEmpty(keep) {
			return
		}
		_ = c.Keep(keep, func(t *Test, keep vector.Bitmap) error { // which does not fail
			t.Eval(n, col(t.Column()), keep)
			return nil
		})
	}
}

// Eval evaluates the conjunction on n rows, compiling it first: see Program.Eval.
func (a And) Eval(n int, col func(schema.ColumnID) *vector.Vector, keep vector.Bitmap) error {
	p, err := Compile(a)
	if err != nil {
		return err
	}
	p.Eval(n, col, keep)
	return nil
}
