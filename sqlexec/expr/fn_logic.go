package expr

import (
	"slices"
	"strings"

	"varve/engine/convert"
	"varve/engine/vector"
)

// castAll casts all arguments to one type.
func (c *Context) castAll(args []Expr, t vector.Type) ([]Expr, error) {
	out := make([]Expr, len(args))
	for i, a := range args {
		var err error
		if out[i], err = c.Cast(a, t, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func init() {
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		f := &Function{infix: op, min: 2, max: 2, bind: bindCompare(op)}
		switch op {
		case "=":
			register(f, "=", "==")
		case "<>":
			register(f, "<>", "!=")
		default:
			register(f, op)
		}
	}
	distinct := func(want bool) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, err := c.comparable("IS DISTINCT FROM", args)
			return args, vector.BoolType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				return eachBool(n, out, func(i int) bool {
					x, y := a[0].IsNull(i), a[1].IsNull(i)
					if x || y {
						return (x != y) == want
					}
					return (Compare(a[0], i, a[1], i) != 0) == want
				})
			}, err
		}
	}
	register(&Function{lazy: true, infix: "IS DISTINCT FROM", min: 2, max: 2, bind: distinct(true)}, "is distinct from")
	register(&Function{lazy: true, infix: "IS NOT DISTINCT FROM", min: 2, max: 2, bind: distinct(false)},
		"is not distinct from")
	register(&Function{lazy: true, makesNull: true, infix: "AND", min: 2, max: -1, bind: bindLogic}, "and")
	register(&Function{lazy: true, makesNull: true, infix: "OR", min: 2, max: -1, bind: bindLogic}, "or")
	register(&Function{around: [2]string{"NOT "}, min: 1, max: 1, bind: bindNot}, "not")
	registerNullTest("is null", "isnull")
	registerNullTest("is not null")
	registerTruthTest("is true", false, true, false)
	registerTruthTest("is not true", true, false, true)
	registerTruthTest("is false", false, false, true)
	registerTruthTest("is not false", true, true, false)
	registerTruthTest("is unknown", true, false, false)
	registerTruthTest("is not unknown", false, true, true)
	registerChoices()
}

func bindNot(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	args, err := c.castAll(args, vector.BoolType)
	return args, vector.BoolType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		out.Bools = append(out.Bools, a[0].Bools[:vector.Words(n)]...)
		invert(out.Bools, nil, n)
		return nil
	}, err
}

// eachBool fills a BOOLEAN result.
func eachBool(n int, out *vector.Vector, f func(i int) bool) error {
	out.Bools = vector.MakeBitmap(n)
	for i := range n {
		if f(i) {
			out.Bools.Set(i)
		}
	}
	return nil
}

// tested prints a test behind its argument.
func tested(name string) [2]string { return [2]string{"", " " + strings.ToUpper(name)} }

// registerNullTest registers a test for NULL, which compiles to a nullNode.
func registerNullTest(names ...string) {
	register(&Function{around: tested(names[0]), lazy: true, min: 1, max: 1,
		bind: func(_ *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			return args, vector.BoolType, nil, nil
		}}, names...)
}

// registerTruthTest registers x IS [NOT] TRUE, FALSE, UNKNOWN by their results for NULL, true and false.
func registerTruthTest(name string, onNull, onTrue, onFalse bool) {
	null, yes, no := -vector.Bit(onNull), -vector.Bit(onTrue), -vector.Bit(onFalse)
	register(&Function{around: tested(name), lazy: true, min: 1, max: 1,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, err := c.castAll(args, vector.BoolType)
			return args, vector.BoolType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				for w, x := range a[0].Bools[:vector.Words(n)] {
					valid := ^uint64(0)
					if a[0].Valid != nil {
						valid = a[0].Valid[w]
					}
					out.Bools = append(out.Bools, ^valid&null|valid&(x&yes|^x&no))
				}
				clearTail(out.Bools, n)
				return nil
			}, err
		}}, name)
}

// comparable casts two arguments to the type they are compared in.
func (c *Context) comparable(op string, args []Expr) ([]Expr, error) {
	a, b, err := c.Numbers(args[0], args[1])
	if err != nil {
		return nil, err
	}
	t, ok := comparedAs(a, b)
	if !ok {
		return nil, planError("Cannot compare %s with %s: %s %s %s", a.Type(), b.Type(), a, op, b)
	}
	// Text beside a time is read in the zone of the request.
	out := make([]Expr, 2)
	for i, e := range []Expr{a, b} {
		if k, ok := e.(*Const); ok && e.Type().IsText() && t.IsTimestamp() && !k.Value.IsNull(0) {
			x, err := convert.ParseTime(k.Value.Str(0), t, c.zone())
			if err != nil {
				return nil, planError("cannot read '%s' as %s", k.Value.Str(0), t)
			}
			out[i] = &Const{Value: vector.ConstInt(t, x)}
			continue
		}
		if out[i], err = c.Cast(e, t, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bindCompare binds a comparison of two columns; one with a constant compiles to a condNode where that is possible.
// Less and equal are computed, the others are these with the sides exchanged, negated or both.
func bindCompare(name string) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	swap, not := name == ">" || name == "<=", name == "<>" || name == "<=" || name == ">="
	decide := lessOf
	if name == "=" || name == "<>" {
		decide = equalOf
	}
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		units := instantsOf(args[0].Type(), args[1].Type())
		if units == nil {
			var err error
			if args, err = c.comparable(name, args); err != nil {
				return nil, vector.BoolType, nil, err
			}
		}
		return args, vector.BoolType, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			x, y := a[0], a[1]
			if units != nil {
				x, y = units.order(x.Ints[:n], y.Ints[:n])
			}
			if swap {
				x, y = y, x
			}
			out.Bools = wordsOf(out.Bools, n)
			decide(out.Bools, x, y, valid, n)
			if not {
				invert(out.Bools, nil, n)
			}
			return nil
		}, nil
	}
}

// bindLogic binds AND and OR, which compile to a logicNode.
func bindLogic(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	for _, a := range args {
		if t := a.Type(); t != vector.BoolType && t != vector.NullType {
			return nil, vector.BoolType, nil,
				planError("AND and OR need boolean expressions, found %s of type %s", a, t)
		}
	}
	args, err := c.castAll(args, vector.BoolType)
	return args, vector.BoolType, nil, err
}

// registerChoices registers coalesce, nullif, if, greatest, least and their names.
func registerChoices() {
	first := func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		t, err := commonOf("coalesce", args)
		if err != nil {
			return nil, t, nil, err
		}
		args, err = c.castAll(args, t)
		return args, t, chooser(func(a []*vector.Vector, i int) int {
			for k, v := range a {
				if !v.IsNull(i) {
					return k
				}
			}
			return -1
		}), err
	}
	register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: first, branches: firstBranch}, "coalesce")
	register(&Function{lazy: true, makesNull: true, min: 2, max: 2, bind: first, branches: firstBranch}, "ifnull",
		"nvl")
	register(&Function{lazy: true, makesNull: true, min: 2, max: 2,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			pair, err := c.comparable("nullif", args)
			if err != nil {
				return nil, vector.Type{}, nil, err
			}
			all := append([]Expr{args[0]}, pair...)
			return all, args[0].Type(), chooser(func(a []*vector.Vector, i int) int {
				if !a[1].IsNull(i) && !a[2].IsNull(i) && Compare(a[1], i, a[2], i) == 0 {
					return -1
				}
				return 0
			}), nil
		}}, "nullif")
	ifElse := func(test func(v *vector.Vector, i int) bool, boolean bool) func(*Context, []Expr) ([]Expr, vector.Type,
		kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			t, err := commonOf("if", args[1:])
			if err != nil {
				return nil, t, nil, err
			}
			out, err := c.castAll(args[1:], t)
			if err != nil {
				return nil, t, nil, err
			}
			cond := args[0]
			if boolean {
				if cond, err = c.Cast(cond, vector.BoolType, false); err != nil {
					return nil, t, nil, err
				}
			}
			return append([]Expr{cond}, out...), t, chooser(func(a []*vector.Vector, i int) int {
				if test(a[0], i) {
					return 1
				}
				return 2
			}), nil
		}
	}
	register(&Function{lazy: true, makesNull: true, min: 3, max: 3, branches: ifBranch,
		bind: ifElse(func(v *vector.Vector, i int) bool {
			return !v.IsNull(i) && v.Bools.Get(i)
		}, true)}, "if")
	register(&Function{lazy: true, makesNull: true, min: 3, max: 3, branches: nvl2Branch,
		bind: ifElse(func(v *vector.Vector, i int) bool { return !v.IsNull(i) }, false)}, "nvl2")
	extreme := func(sign int) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			t, err := commonOf("greatest", args)
			if err != nil {
				return nil, t, nil, err
			}
			args, err = c.castAll(args, t)
			return args, t, chooser(func(a []*vector.Vector, i int) int {
				best := -1
				for k, v := range a {
					if !v.IsNull(i) && (best < 0 || Compare(v, i, a[best], i)*sign > 0) {
						best = k
					}
				}
				return best
			}), err
		}
	}
	register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: extreme(1)}, "greatest")
	register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: extreme(-1)}, "least")
}

// firstBranch is coalesce as CASE.
func firstBranch(c *Context, name string, args []Expr, t vector.Type) (Expr, error) {
	e := &Case{T: t, Shown: name + "(" + join(args) + ")", Else: args[len(args)-1]}
	for _, a := range args[:len(args)-1] {
		some, err := c.Call("is not null", a)
		if err != nil {
			return nil, err
		}
		e.When, e.Then = append(e.When, some), append(e.Then, a)
	}
	return c.fold(e)
}

// ifBranch is if(condition, a, b) as CASE.
func ifBranch(c *Context, name string, args []Expr, t vector.Type) (Expr, error) {
	return c.fold(&Case{T: t, Shown: name + "(" + join(args) + ")", When: args[:1], Then: args[1:2], Else: args[2]})
}

// nvl2Branch is nvl2(x, a, b) as CASE.
func nvl2Branch(c *Context, name string, args []Expr, t vector.Type) (Expr, error) {
	some, err := c.Call("is not null", args[0])
	if err != nil {
		return nil, err
	}
	return c.fold(&Case{T: t, Shown: name + "(" + join(args) + ")", When: []Expr{some}, Then: args[1:2], Else: args[2]})
}

// chooser is a kernel that gives row i of the argument whose number pick gives; -1 means NULL.
func chooser(pick func(a []*vector.Vector, i int) int) kernel {
	return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		branches := make([]branch, len(a))
		for k, v := range a {
			branches[k] = branch{v: v, dense: true}
		}
		missing := false
		for i := range n {
			if k := pick(a, i); k >= 0 {
				branches[k].rows = append(branches[k].rows, uint32(i))
			} else {
				missing = true
			}
		}
		branches = slices.DeleteFunc(branches, func(b branch) bool { return len(b.rows) == 0 })
		switch v := unite(out, n, branches, missing); {
		case v == out:
		case len(branches) == 1: // may be an argument, whose memory is not ours
			out.Append(0, v, 0, n)
		default:
			*out = *v
		}
		return nil
	}
}

// unite puts branches together in out, or gives a vector of its own; missing tells that some rows have none.
func unite(out *vector.Vector, n int, branches []branch, missing bool) *vector.Vector {
	t := out.Type
	switch t.Kind() {
	case vector.Int64:
		out.Ints = scattered(vector.Sized(out.Ints, n), branches, func(v *vector.Vector) []int64 { return v.Ints })
	case vector.Uint64:
		out.Uints = scattered(vector.Sized(out.Uints, n), branches, func(v *vector.Vector) []uint64 { return v.Uints })
	case vector.Float64:
		out.Floats = scattered(vector.Sized(out.Floats, n), branches,
			func(v *vector.Vector) []float64 { return v.Floats })
	default:
		return assemble(t, n, branches)
	}
	out.Valid = validRows(n, branches, missing)
	return out
}
