package filter

import "varve/engine/vector"

// Tree is a condition over leaves: one leaf, a conjunction or a choice. The leaves are tests, or the form that a run
// gives them. It holds scratch memory: one goroutine at a time.
type Tree[L any] struct {
	Kind TreeKind
	Leaf L
	Of   []*Tree[L] // of conjunctions and choices

	passed, left vector.Bitmap // scratch of choices: rows that some condition has let pass; those in question
}

// TreeKind says what a tree is.
type TreeKind uint8

// The kinds. A conjunction of nothing is true, a choice among nothing false.
const (
	Leaf TreeKind = iota
	AllOf
	OneOf
)

// Keep removes the rows that do not pass from keep. eval does the same for a leaf; it is called only for rows that the
// answer depends on, and its error ends the evaluation.
func (t *Tree[L]) Keep(keep vector.Bitmap, eval func(leaf L, keep vector.Bitmap) error) error {
	switch t.Kind {
	case Leaf:
		return eval(t.Leaf, keep)
	case OneOf:
		return t.keepChoice(keep, eval)
	}
	for i, one := range t.Of {
		if i > 0 && isEmpty(keep) {
			break
		}
		if err := one.Keep(keep, eval); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree[L]) keepChoice(keep vector.Bitmap, eval func(leaf L, keep vector.Bitmap) error) error {
	if cap(t.passed) < len(keep) {
		t.passed, t.left = make(vector.Bitmap, len(keep)), make(vector.Bitmap, len(keep))
	}
	passed, left := t.passed[:len(keep)], t.left[:len(keep)]
	clear(passed)
	for _, one := range t.Of {
		for w := range left {
			left[w] = keep[w] &^ passed[w]
		}
		if isEmpty(left) {
			break
		}
		if err := one.Keep(left, eval); err != nil {
			return err
		}
		for w := range passed {
			passed[w] |= left[w]
		}
	}
	copy(keep, passed)
	return nil
}

// Judge combines what judge says about the leaves.
func (t *Tree[L]) Judge(judge func(leaf L) Verdict) Verdict {
	if t.Kind == Leaf {
		return judge(t.Leaf)
	}
	// One condition that every row passes decides a choice, as one that none passes does a conjunction.
	verdict, decides := All, None
	if t.Kind == OneOf {
		verdict, decides = None, All
	}
	for _, one := range t.Of {
		switch v := one.Judge(judge); v {
		case decides:
			return v
		case Some:
			verdict = Some
		}
	}
	return verdict
}

// Most returns the greatest value of f over the leaves; 0 without leaves.
func (t *Tree[L]) Most(f func(leaf L) int) (most int) {
	if t.Kind == Leaf {
		return f(t.Leaf)
	}
	for _, one := range t.Of {
		most = max(most, one.Most(f))
	}
	return most
}

// Map returns the same condition over the results of f for the leaves.
func Map[L, M any](t *Tree[L], f func(leaf L) (M, error)) (*Tree[M], error) {
	out := &Tree[M]{Kind: t.Kind}
	var err error
	if t.Kind == Leaf {
		out.Leaf, err = f(t.Leaf)
		return out, err
	}
	out.Of = make([]*Tree[M], len(t.Of))
	for i, one := range t.Of {
		if out.Of[i], err = Map(one, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func isEmpty(b vector.Bitmap) bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}
