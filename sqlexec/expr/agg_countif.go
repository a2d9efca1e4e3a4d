package expr

import (
	"slices"

	"varve/engine/vector"
)

func init() {
	aggregates["count_if"] = func(c *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		if t := a.Args[0].Type(); t != flag && t != vector.NullType {
			return planError("aggregate 'count_if' takes a boolean, found %s", t)
		}
		counted, err := c.Call("nullif", a.Args[0], &Const{Value: vector.ConstBool(false)})
		a.Args, a.T = slices.Clone(a.Args), i64
		a.Args[0] = counted
		a.keeps = keepsFigures
		a.make = func() Accumulator { return &counts{args: 1} }
		return err
	}
}
