package expr

import "varve/engine/vector"

// Pending stands for the answer of a subquery that has not run: for its value or, with Op, for what a comparison of
// Args with its rows gives. It is part of plans that are only shown; it cannot be evaluated.
type Pending struct {
	Name string // of the subquery, in the plan
	T    vector.Type
	Null bool
	Op   string // "IN", "> ALL"; empty: the value
	Args []Expr
}

// Type is the type of the answer.
func (p *Pending) Type() vector.Type { return p.T }

// Nullable reports whether the answer may be NULL.
func (p *Pending) Nullable() bool { return p.Null }

// String is the name of the subquery, with what is compared with it before it.
func (p *Pending) String() string {
	name := "(" + p.Name + ")"
	switch {
	case p.Op == "":
		return name
	case len(p.Args) == 0:
		return p.Op + " " + name
	case len(p.Args) == 1:
		return p.Args[0].String() + " " + p.Op + " " + name
	}
	return "(" + join(p.Args) + ") " + p.Op + " " + name
}
