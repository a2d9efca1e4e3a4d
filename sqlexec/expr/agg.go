package expr

import (
	"slices"
	"strings"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
)

// Agg is a bound aggregate.
type Agg struct {
	Name     string
	Args     []Expr
	Distinct bool
	Order    []SortKey
	Filter   Expr
	T        vector.Type
	AggProperties
	make   func() Accumulator
	keeps  keeping
	params []float64  // constant parameters, such as a percentile
	family *sumFamily // of a sum that shares its state with others; nil: none
	addend int        // its number in the family
}

// Type is the result's type.
func (a *Agg) Type() vector.Type { return a.T }

// String is the aggregate as result columns are named: count(*), sum(t.x).
func (a *Agg) String() string {
	args := join(a.Args) + a.addendText()
	if a.Counts && len(a.Args) == 0 {
		args = "*"
	}
	if a.Distinct {
		args = "DISTINCT " + args
	}
	s := a.Name + "(" + args + ")"
	if len(a.Order) > 0 {
		s = strings.TrimSuffix(s, ")") + " ORDER BY ..)"
	}
	if a.Filter != nil {
		s += " FILTER (WHERE " + a.Filter.String() + ")"
	}
	return s
}

// Accumulator is the state of one aggregate for many groups. One goroutine at a time.
type Accumulator interface {
	// Add takes n rows: groups[i] is the group of row i, args the argument vectors followed by the order keys, of any
	// form. keep, if not nil, holds the rows that count.
	Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error
	// Grow makes room for groups [0, n).
	Grow(n int)
	// Merge takes groups of another accumulator of the same aggregate: its group from[i] is to[i] here. They rise, and
	// are not used there any more; groups that are not among them stay.
	Merge(o Accumulator, from, to []uint32) error
	// Result returns a value for each of n groups.
	Result(n int) (*vector.Vector, error)
	// Bytes is about the memory held.
	Bytes() int64
}

// New makes an empty state.
func (a *Agg) New() Accumulator {
	switch {
	case a.Distinct && a.Counts && len(a.Args) == 1:
		return newCountDistinct(a.Args[0].Type())
	case a.Distinct:
		return newDistinct(a)
	case a.family != nil:
		return newSharedSums(a.family, a.addend)
	}
	return a.make()
}

// Inputs are the expressions whose vectors Add takes: arguments, then order keys.
func (a *Agg) Inputs() []Expr {
	all := append([]Expr{}, a.Args...)
	for _, k := range a.Order {
		all = append(all, k.Expr)
	}
	return all
}

// Map is the aggregate with every expression replaced by f's answer.
func (a *Agg) Map(f func(Expr) Expr) *Agg {
	n := *a
	n.Args = make([]Expr, len(a.Args))
	for i, e := range a.Args {
		n.Args[i] = f(e)
	}
	n.Order = append([]SortKey(nil), a.Order...)
	for i := range n.Order {
		n.Order[i].Expr = f(n.Order[i].Expr)
	}
	if a.Filter != nil {
		n.Filter = f(a.Filter)
	}
	return &n
}

var aggNames = map[string]string{
	"mean": "avg", "stddev_samp": "stddev", "std": "stddev_pop", "var_samp": "var", "variance": "var_pop",
	"quantile_cont": "percentile_cont", "covar": "covar_samp",
	"every":         "bool_and",
	"quantile_disc": "percentile_disc", "max_by": "arg_max", "argmax": "arg_max", "min_by": "arg_min",
	"argmin": "arg_min", "countif": "count_if",
	"json_group_array": "json_agg", "jsonb_agg": "json_agg", "json_group_object": "json_object_agg",
	"jsonb_object_agg": "json_object_agg",
	"any_value":        "first_value", "first": "first_value", "last": "last_value", "group_concat": "string_agg",
}

var aggregates = map[string]func(c *Context, a *Agg) error{}

// AggregateNames lists the aggregates by all of their names, sorted.
func AggregateNames() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range aggregates {
			if !yield(name) {
				return
			}
		}
		for name := range aggNames {
			if !yield(name) {
				return
			}
		}
	})
}

// IsAggregate reports whether an aggregate of that name exists.
func IsAggregate(name string) bool { return aggregates[fullName(name)] != nil }

// fullName is the name that an aggregate is bound by.
func fullName(name string) string {
	if n, ok := aggNames[name]; ok {
		return n
	}
	return name
}

// Aggregate binds an aggregate call; count without arguments counts rows.
func (c *Context) Aggregate(name string, args []Expr, distinct bool, order []SortKey, filter Expr) (*Agg, error) {
	full := fullName(name)
	bind := aggregates[full]
	if bind == nil {
		return nil, status.Because(planError("Invalid function '%s'.", name), status.NoFunction)
	}
	a := &Agg{Name: name, Args: args, Distinct: distinct, Order: order, Filter: filter,
		AggProperties: propertiesByName[full]}
	if err := bind(c, a); err != nil {
		return nil, err
	}
	if distinct && len(a.Args) == 0 {
		return nil, planError("%s(DISTINCT) needs an argument", name)
	}
	a.Distinct = a.Distinct && !a.Once
	return a, nil
}

// need checks the number of arguments.
func (a *Agg) need(lo, hi int) error {
	if len(a.Args) < lo || len(a.Args) > hi {
		return planError("aggregate '%s' takes %s, found %d", a.Name, arity(&Function{min: lo, max: hi}), len(a.Args))
	}
	return nil
}

// float casts argument i to Float64.
func (a *Agg) float(c *Context, i int) error {
	t := a.Args[i].Type()
	if !t.IsNumber() && t != vector.NullType {
		return planError("aggregate '%s' takes numbers, found %s", a.Name, t)
	}
	return a.cast(c, i, f64)
}

// ranked casts argument i, the values of a percentile, to Float64: numbers and durations.
func (a *Agg) ranked(c *Context, i int) error {
	if a.Args[i].Type().ID == vector.TypeDuration {
		return a.cast(c, i, f64)
	}
	return a.float(c, i)
}

func (a *Agg) cast(c *Context, i int, to vector.Type) error {
	e, err := c.Cast(a.Args[i], to, false)
	if err == nil {
		a.Args = slices.Clone(a.Args)
		a.Args[i] = e
	}
	return err
}

// constant takes a constant number out of the arguments.
func (a *Agg) constant(i int) (float64, error) {
	k, ok := a.Args[i].(*Const)
	if !ok || k.Value.IsNull(0) || !k.Value.Type.IsNumber() || k.Value.Type.ID == vector.TypeDecimal {
		return 0, planError("aggregate '%s': argument %d must be a constant number", a.Name, i+1)
	}
	return convert.Number(k.Value, 0), nil
}

// eachRow calls f for every row that counts: kept and with a value in v (nil: no look at values).
func eachRow(n int, v *vector.Vector, keep vector.Bitmap, f func(i int)) {
	if keep == nil && (v == nil || v.Valid == nil) {
		for i := range n {
			f(i)
		}
		return
	}
	for i := range n {
		if keep != nil && !keep.Get(i) || v != nil && v.IsNull(i) {
			continue
		}
		f(i)
	}
}

// sameRows reports whether two aggregates with equal arguments see the same values.
func (a *Agg) sameRows(b *Agg) bool {
	return sameColumn(a.Args[0], b.Args[0]) &&
		(a.Filter == nil && b.Filter == nil || a.Filter != nil && a.Filter == b.Filter)
}

// sameColumn reports whether two expressions are the same column, or casts of it to the same type.
func sameColumn(a, b Expr) bool {
	switch a := a.(type) {
	case *Column:
		b, ok := b.(*Column)
		return ok && a.Index == b.Index
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.To == b.To && a.Try == b.Try && sameColumn(a.Arg, b.Arg)
	}
	return false
}
