package expr

import (
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
	for _, op := range []struct {
		name string
		test func(d int) bool
	}{
		{"=", func(d int) bool { return d == 0 }}, {"<>", func(d int) bool { return d != 0 }},
		{"<", func(d int) bool { return d < 0 }}, {"<=", func(d int) bool { return d <= 0 }},
		{">", func(d int) bool { return d > 0 }}, {">=", func(d int) bool { return d >= 0 }},
	} {
		f := &Function{infix: op.name, min: 2, max: 2, bind: bindCompare(op.name, op.test)}
		switch op.name {
		case "=":
			register(f, "=", "==")
		case "<>":
			register(f, "<>", "!=")
		default:
			register(f, op.name)
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
	register(&Function{lazy: true, infix: "IS NOT DISTINCT FROM", min: 2, max: 2, bind: distinct(false)}, "is not distinct from")
	register(&Function{lazy: true, makesNull: true, infix: "AND", min: 2, max: -1, bind: bindLogic(true)}, "and")
	register(&Function{lazy: true, makesNull: true, infix: "OR", min: 2, max: -1, bind: bindLogic(false)}, "or")
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, err := c.castAll(args, vector.BoolType)
		return args, vector.BoolType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			return eachBool(n, out, func(i int) bool { return !a[0].Bools.Get(i) })
		}, err
	}}, "not")
	isTest("is null", func(null, _ bool) bool { return null })
	isTest("is not null", func(null, _ bool) bool { return !null })
	isTest("is true", func(null, x bool) bool { return !null && x })
	isTest("is not true", func(null, x bool) bool { return null || !x })
	isTest("is false", func(null, x bool) bool { return !null && !x })
	isTest("is not false", func(null, x bool) bool { return null || x })
	isTest("is unknown", func(null, _ bool) bool { return null })
	isTest("is not unknown", func(null, _ bool) bool { return !null })
	registerChoices()
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

// isTest registers x IS [NOT] NULL, TRUE, FALSE, UNKNOWN.
func isTest(name string, test func(null, x bool) bool) {
	onBool := name != "is null" && name != "is not null"
	names := []string{name}
	if name == "is null" {
		names = append(names, "isnull")
	}
	register(&Function{lazy: true, min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		var err error
		if onBool {
			args, err = c.castAll(args, vector.BoolType)
		}
		return args, vector.BoolType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			return eachBool(n, out, func(i int) bool {
				null := a[0].IsNull(i)
				return test(null, onBool && !null && a[0].Bools.Get(i))
			})
		}, err
	}}, names...)
}

// comparable casts two arguments to the type they are compared in.
func (c *Context) comparable(op string, args []Expr) ([]Expr, error) {
	a, b := args[0], args[1]
	t, ok := common(a.Type(), b.Type(), IsConst(a), IsConst(b))
	if !ok {
		return nil, planError("Cannot compare %s with %s: %s %s %s", a.Type(), b.Type(), a, op, b)
	}
	// Text beside a time is read in the zone of the request.
	out := make([]Expr, 2)
	for i, e := range args {
		var err error
		if k, ok := e.(*Const); ok && e.Type().IsText() && t.IsTimestamp() && !k.Value.IsNull(0) {
			x, err := ParseTime(k.Value.Str(0), t, c.zone())
			if err != nil {
				return nil, planError("cannot read '%s' as %s", k.Value.Str(0), t)
			}
			out[i] = &Const{vector.ConstInt(t, x)}
			continue
		}
		if out[i], err = c.Cast(e, t, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func bindCompare(name string, test func(int) bool) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	// results for less, equal, greater
	lt, eq, gt := test(-1), test(0), test(1)
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, err := c.comparable(name, args)
		if err != nil {
			return nil, vector.BoolType, nil, err
		}
		t := args[0].Type()
		return args, vector.BoolType, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			out.Bools = vector.MakeBitmap(n)
			switch {
			case t.Kind() == vector.Int64:
				compareSlices(out.Bools, a[0].Ints[:n], a[1].Ints[:n], lt, eq, gt)
			case t.Kind() == vector.Uint64:
				compareSlices(out.Bools, a[0].Uints[:n], a[1].Uints[:n], lt, eq, gt)
			default:
				for i := range n {
					if valid != nil && !valid.Get(i) {
						continue
					}
					if d := Compare(a[0], i, a[1], i); d < 0 && lt || d == 0 && eq || d > 0 && gt {
						out.Bools.Set(i)
					}
				}
			}
			return nil
		}, nil
	}
}

// compareSlices sets the bits of rows whose comparison is wanted, a word of 64 rows at a time.
func compareSlices[T int64 | uint64](hit []uint64, a, b []T, lt, eq, gt bool) {
	less, equal, greater := b2i(lt), b2i(eq), b2i(gt)
	for w := range hit {
		x := a[w*64 : min(w*64+64, len(a))]
		y := b[w*64:][:len(x)]
		var m uint64
		for i := range x {
			m |= (less&b2i(x[i] < y[i]) | equal&b2i(x[i] == y[i]) | greater&b2i(x[i] > y[i])) << i
		}
		hit[w] = m
	}
}

// b2i compiles to one conditional set: no branch.
func b2i(b bool) uint64 {
	var x uint64
	if b {
		x = 1
	}
	return x
}

// bindLogic is AND (all) or OR of BOOLEANs in three-valued logic, on whole words: a row is known when it is decided by
// one argument, or when all arguments are known.
func bindLogic(all bool) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		for _, a := range args {
			if t := a.Type(); t != vector.BoolType && t != vector.NullType {
				return nil, vector.BoolType, nil, planError("AND and OR need boolean expressions, found %s of type %s", a, t)
			}
		}
		args, err := c.castAll(args, vector.BoolType)
		return args, vector.BoolType, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			words := vector.Words(n)
			out.Bools = vector.MakeBitmap(n)
			var known vector.Bitmap
			for w := range words {
				decided, value, unknown := uint64(0), uint64(0), uint64(0)
				if all {
					value = ^uint64(0)
				}
				for _, v := range a {
					valid := ^uint64(0)
					if v.Valid != nil {
						valid = v.Valid[w]
					}
					unknown |= ^valid
					if all {
						decided |= valid & ^v.Bools[w]
						value &= v.Bools[w] | ^valid
					} else {
						decided |= valid & v.Bools[w]
						value |= v.Bools[w] & valid
					}
				}
				null := unknown &^ decided
				out.Bools[w] = value &^ null
				if null != 0 && known == nil {
					known = vector.MakeBitmap(n)
					known.Fill(n)
				}
				if known != nil {
					known[w] &^= null
				}
			}
			if tail := uint(n) & 63; tail != 0 {
				out.Bools[words-1] &= 1<<tail - 1
			}
			out.Valid = known
			return nil
		}, err
	}
}

// registerChoices: coalesce, nullif, if, greatest, least and their names.
func registerChoices() {
	first := func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		t, err := commonOf("coalesce", args)
		if err != nil {
			return nil, t, nil, err
		}
		args, err = c.castAll(args, t)
		return args, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			return choose(n, out, func(i int) *vector.Vector {
				for _, v := range a {
					if !v.IsNull(i) {
						return v
					}
				}
				return nil
			})
		}, err
	}
	register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: first}, "coalesce")
	register(&Function{lazy: true, makesNull: true, min: 2, max: 2, bind: first}, "ifnull", "nvl")
	register(&Function{lazy: true, makesNull: true, min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		pair, err := c.comparable("nullif", args)
		if err != nil {
			return nil, vector.Type{}, nil, err
		}
		all := append([]Expr{args[0]}, pair...)
		return all, args[0].Type(), func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			return choose(n, out, func(i int) *vector.Vector {
				if a[0].IsNull(i) || !a[2].IsNull(i) && Compare(a[1], i, a[2], i) == 0 {
					return nil
				}
				return a[0]
			})
		}, nil
	}}, "nullif")
	ifElse := func(test func(v *vector.Vector, i int) bool, boolean bool) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
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
			return append([]Expr{cond}, out...), t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				return choose(n, out, func(i int) *vector.Vector {
					v := a[2]
					if test(a[0], i) {
						v = a[1]
					}
					if v.IsNull(i) {
						return nil
					}
					return v
				})
			}, nil
		}
	}
	register(&Function{lazy: true, makesNull: true, min: 3, max: 3, bind: ifElse(func(v *vector.Vector, i int) bool {
		return !v.IsNull(i) && v.Bools.Get(i)
	}, true)}, "if")
	register(&Function{lazy: true, makesNull: true, min: 3, max: 3, bind: ifElse(func(v *vector.Vector, i int) bool { return !v.IsNull(i) }, false)}, "nvl2")
	extreme := func(sign int) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			t, err := commonOf("greatest", args)
			if err != nil {
				return nil, t, nil, err
			}
			args, err = c.castAll(args, t)
			return args, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				return choose(n, out, func(i int) (best *vector.Vector) {
					for _, v := range a {
						if !v.IsNull(i) && (best == nil || Compare(v, i, best, i)*sign > 0) {
							best = v
						}
					}
					return best
				})
			}, err
		}
	}
	register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: extreme(1)}, "greatest")
	register(&Function{lazy: true, makesNull: true, min: 1, max: -1, bind: extreme(-1)}, "least")
}

// choose builds a result row by row from row i of the vector that pick gives; nil means NULL.
func choose(n int, out *vector.Vector, pick func(i int) *vector.Vector) error {
	res := vector.Vector{Type: out.Type}
	for i := range n {
		if v := pick(i); v != nil {
			res.Append(i, v, i, i+1)
		} else {
			res.AppendNulls(i, 1)
		}
	}
	*out = res
	return nil
}
