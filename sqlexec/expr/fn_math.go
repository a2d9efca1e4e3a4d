package expr

import (
	"math"
	"math/rand/v2"

	"varve/engine/vector"
)

// mapFloat is a kernel over floats.
func mapFloat(f func(x float64) float64) kernel {
	return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for _, x := range a[0].Floats[:n] {
			out.Floats = append(out.Floats, f(x))
		}
		return nil
	}
}

func mapFloats(f func(x, y float64) float64) kernel {
	return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for i, x := range a[0].Floats[:n] {
			out.Floats = append(out.Floats, f(x, a[1].Floats[i]))
		}
		return nil
	}
}

func init() {
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "ln": math.Log, "log2": math.Log2, "log10": math.Log10,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh,
		"atanh":   math.Atanh,
		"cot":     func(x float64) float64 { return 1 / math.Tan(x) },
		"degrees": func(x float64) float64 { return x * 180 / math.Pi },
		"radians": func(x float64) float64 { return x * math.Pi / 180 },
	} {
		simple(1, sig{f64}, f64, mapFloat(f), name)
	}
	simple(2, sig{f64, f64}, f64, mapFloats(math.Pow), "power", "pow")
	simple(2, sig{f64, f64}, f64, mapFloats(math.Atan2), "atan2")
	simple(2, sig{f64, f64}, f64, mapFloats(func(x, y float64) float64 {
		if math.IsNaN(x) {
			return y
		}
		return x
	}), "nanvl")
	simple(1, sig{f64, f64}, f64, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if len(a) == 1 {
				out.Floats = append(out.Floats, math.Log10(a[0].Floats[i]))
			} else {
				out.Floats = append(out.Floats, math.Log(a[1].Floats[i])/math.Log(a[0].Floats[i]))
			}
		}
		return nil
	}, "log")
	keepType("abs", func(x int64) int64 {
		if x < 0 {
			return -x
		}
		return x
	}, math.Abs, "abs")
	keepType("ceil", nil, math.Ceil, "ceil", "ceiling")
	keepType("floor", nil, math.Floor, "floor")
	keepType("sign", func(x int64) int64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	}, func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	}, "signum", "sign")
	rounding("round", math.Round)
	rounding("trunc", math.Trunc)
	simple(1, sig{f64}, flag, mapBool(func(a []*vector.Vector, i int) bool { return math.IsNaN(a[0].Floats[i]) }),
		"isnan")
	simple(1, sig{f64}, flag, mapBool(func(a []*vector.Vector, i int) bool { return math.IsInf(a[0].Floats[i], 0) }),
		"isinf")
	simple(1, sig{f64}, flag,
		mapBool(func(a []*vector.Vector, i int) bool { return a[0].Floats[i]-a[0].Floats[i] == 0 }), "isfinite")
	simple(1, sig{f64}, flag, mapBool(func(a []*vector.Vector, i int) bool { return a[0].Floats[i] == 0 }), "iszero")
	register(&Function{max: 0, bind: func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return []Expr{&Const{Value: vector.ConstFloat(f64, math.Pi)}}, f64,
			mapFloat(func(x float64) float64 { return x }), nil
	}}, "pi")
	register(&Function{volatile: true, max: 0, bind: func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return nil, f64, func(n int, _ []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for range n {
				out.Floats = append(out.Floats, rand.Float64())
			}
			return nil
		}, nil
	}}, "random", "rand")
	clamp := func(lo, hi int) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			t, err := commonOf("clamp", args)
			if err != nil {
				return nil, t, nil, err
			}
			for _, a := range args {
				if a.Type().IsText() != t.IsText() && a.Type() != vector.NullType {
					return nil, t, nil, planError("function 'clamp' takes values of one kind, found %s and %s",
						args[0].Type(), a.Type())
				}
			}
			args, err = c.castAll(args, t)
			return args, t, chooser(func(a []*vector.Vector, i int) int {
				best := 0
				if a[0].IsNull(i) {
					return -1
				}
				if lo > 0 && !a[lo].IsNull(i) && Compare(a[0], i, a[lo], i) < 0 {
					best = lo
				}
				if hi > 0 && !a[hi].IsNull(i) && Compare(a[best], i, a[hi], i) > 0 {
					best = hi
				}
				return best
			}), err
		}
	}
	register(&Function{min: 3, max: 3, bind: clamp(1, 2)}, "clamp")
	register(&Function{min: 2, max: 2, bind: clamp(1, 0)}, "clamp_min")
	register(&Function{min: 2, max: 2, bind: clamp(0, 1)}, "clamp_max")
	gcd := func(x, y int64) int64 {
		for y != 0 {
			x, y = y, x%y
		}
		return max(x, -x)
	}
	simple(2, sig{i64, i64}, i64,
		mapInt(func(a []*vector.Vector, i int) int64 { return gcd(a[0].Ints[i], a[1].Ints[i]) }), "gcd")
	simple(2, sig{i64, i64}, i64, mapInt(func(a []*vector.Vector, i int) int64 {
		x, y := a[0].Ints[i], a[1].Ints[i]
		if x == 0 || y == 0 {
			return 0
		}
		r := x / gcd(x, y) * y
		return max(r, -r)
	}), "lcm")
	simple(1, sig{i64}, i64, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i, x := range a[0].Ints[:n] {
			if (x < 0 || x > 20) && (valid == nil || valid.Get(i)) {
				return execError("factorial of %d does not fit BIGINT", x)
			}
			r := int64(1)
			for k := int64(2); k <= x && k <= 20; k++ {
				r *= k
			}
			out.Ints = append(out.Ints, r)
		}
		return nil
	}, "factorial")
}

// keepType registers a function that gives integers for integers and floats for the rest; ints nil: for integers, too.
func keepType(name string, ints func(int64) int64, floats func(float64) float64, names ...string) {
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		t := args[0].Type()
		switch {
		case t.IsInteger() && t.Kind() == vector.Int64 && ints != nil:
			shift := uint(64 - 8<<(width(t)-1)) // results of narrow types wrap around
			return args, t, mapInt(func(a []*vector.Vector, i int) int64 {
				return ints(a[0].Ints[i]) << shift >> shift
			}), nil
		case t.ID == vector.TypeDecimal && name == "abs":
			return args, t, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
				x := readInt128(a[0].Bytes(i))
				if x.Hi < 0 {
					x, _ = Int128{^x.Hi, ^x.Lo}.Add(Int128{0, 1}) // 38 digits have an opposite
				}
				dst, _ = x.Append(dst)
				return dst
			}), nil
		case t.ID == vector.TypeDecimal && ints == nil:
			return bindRounding(c, name, args)
		case unsigned(t) && name == "abs":
			return args, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				out.Append(0, a[0], 0, n)
				return nil
			}, nil
		case t.IsNumber() || t == vector.NullType || t.IsText():
			args, err := c.castAll(args, f64)
			return args, f64, mapFloat(floats), err
		}
		return nil, t, nil, planError("function '%s' takes a number, found %s", name, t)
	}}, names...)
}

// rounding registers a function that rounds to a number of digits after the point: decimals stay what they are.
func rounding(name string, f func(float64) float64) {
	float := simpleBind(sig{f64, i64}, f64, name, digits(f))
	register(&Function{min: 1, max: 2, makesNull: true,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			if args[0].Type().ID == vector.TypeDecimal {
				return bindRounding(c, name, args)
			}
			return float(c, args)
		}}, name)
}

// digits rounds to a number of digits after the point.
func digits(f func(float64) float64) kernel {
	return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for i, x := range a[0].Floats[:n] {
			if len(a) == 1 {
				out.Floats = append(out.Floats, f(x))
				continue
			}
			p := math.Pow(10, float64(a[1].Ints[i]))
			r := f(x*p) / p
			if math.IsNaN(r) || math.IsInf(r, 0) {
				r = x
			}
			out.Floats = append(out.Floats, r)
		}
		return nil
	}
}
