package expr

import (
	"math"
	"math/big"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
)

func init() {
	for _, op := range []string{"+", "-", "*", "/", "%"} {
		f := &Function{infix: op, min: 2, max: 2, bind: bindArith(op)}
		if op == "%" {
			register(f, "%", "mod")
			continue
		}
		register(f, op)
	}
	register(&Function{around: [2]string{"(- ", ")"}, min: 1, max: 1, bind: bindNegate}, "negate")
	for _, op := range []string{"&", "|", "^", "<<", ">>"} {
		register(&Function{infix: op, min: 2, max: 2, bind: bindBits(op)}, op)
	}
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, err := c.castAll(args, vector.Int64Type)
		return args, vector.Int64Type, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for _, x := range a[0].Ints[:n] {
				out.Ints = append(out.Ints, ^x)
			}
			return nil
		}, err
	}}, "bitwise_not")
}

// numeric returns an argument's type for arithmetic; text that is a literal number becomes one.
func (c *Context) numeric(op string, a, b Expr) (vector.Type, error) {
	x, y := a.Type(), b.Type()
	for _, t := range []*vector.Type{&x, &y} {
		switch {
		case *t == vector.NullType:
		case t.IsText():
			*t = vector.FloatType
		case !t.IsNumber():
			return x, planError("Cannot compute %s %s %s of types %s and %s", a, op, b, a.Type(), b.Type())
		}
	}
	switch {
	case x == vector.NullType && y == vector.NullType:
		return vector.Int64Type, nil
	case x == vector.NullType:
		return y, nil
	case y == vector.NullType:
		return x, nil
	}
	if x.ID == vector.TypeDecimal && (y.ID == vector.TypeDecimal || y.IsInteger()) ||
		y.ID == vector.TypeDecimal && x.IsInteger() {
		return decimalResult(op, x, y), nil
	}
	switch { // a whole literal is an Int64, but the other operand may be a UInt64 that no Int64 holds
	case x == vector.Uint64Type && literalFits(b, a):
		return x, nil
	case y == vector.Uint64Type && literalFits(a, b):
		return y, nil
	}
	return commonNumber(x, y), nil
}

// literalFits reports whether lit is an integer literal that fits the integer type of e, which is no constant of a type
// of its own.
func literalFits(lit, e Expr) bool {
	k, ok := lit.(*Const)
	if other, constant := e.(*Const); constant && other.Typed {
		return false
	}
	return ok && !k.Typed && e.Type().IsInteger() && fits(k.Value, e.Type())
}

// fits reports whether an integer constant is in the range of an integer type.
func fits(v *vector.Vector, t vector.Type) bool {
	if v.IsNull(0) || !v.Type.IsInteger() {
		return false
	}
	lo, hi := convert.IntBounds(t)
	if v.Type.Kind() == vector.Uint64 {
		return v.Uint(0) <= hi
	}
	x := v.Int(0)
	return x >= lo && (x < 0 || uint64(x) <= hi)
}

func decimalOf(t vector.Type) (precision, scale uint8) {
	if t.ID == vector.TypeDecimal {
		return t.Precision, t.Scale
	}
	return 20, 0
}

func decimalResult(op string, x, y vector.Type) vector.Type {
	_, s1 := decimalOf(x)
	_, s2 := decimalOf(y)
	s := max(s1, s2)
	switch op {
	case "*":
		s = min(s1+s2, 38)
	case "/":
		s = min(max(s1+4, s2), 38)
	}
	return vector.Type{ID: vector.TypeDecimal, Precision: 38, Scale: s}
}

func bindArith(op string) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if a, t, k, ok, err := c.bindTimeArith(op, args); ok || err != nil {
			return a, t, k, err
		}
		t, err := c.numeric(op, args[0], args[1])
		if err != nil {
			return nil, t, nil, err
		}
		if t.ID == vector.TypeDecimal {
			return bindDecimal(c, op, args, t)
		}
		args, err = c.castAll(args, t)
		if err != nil {
			return nil, t, nil, err
		}
		switch t.Kind() {
		case vector.Int64:
			return args, t, integerKernel[int64](op, t), nil
		case vector.Uint64:
			return args, t, integerKernel[uint64](op, t), nil
		}
		return args, t, floatKernel(op, t), nil
	}
}

// integers returns the values of an integer vector.
func integers[T int64 | uint64](v *vector.Vector) *[]T {
	var p any = &v.Ints
	if v.Type.Kind() == vector.Uint64 {
		p = &v.Uints
	}
	return p.(*[]T)
}

// integerKernel computes in 64 bits; results of narrow types wrap around.
func integerKernel[T int64 | uint64](op string, t vector.Type) kernel {
	shift := uint(64 - 8<<(width(t)-1))
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		x, y := (*integers[T](a[0]))[:n], (*integers[T](a[1]))[:n]
		res := integers[T](out)
		r := vector.Sized(*res, n)
		*res = r
		if !calculate(op, r, x, y) {
			if err := divide(r, x, y, valid, op == "%"); err != nil {
				return err
			}
		}
		if shift > 0 {
			for i := range r {
				r[i] = r[i] << shift >> shift
			}
		}
		return nil
	}
}

// calculate adds, subtracts or multiplies; false: op is none of that.
func calculate[T int64 | uint64 | float64](op string, r, x, y []T) bool {
	x, y = x[:len(r)], y[:len(r)]
	switch op {
	case "+":
		for i := range r {
			r[i] = x[i] + y[i]
		}
	case "-":
		for i := range r {
			r[i] = x[i] - y[i]
		}
	case "*":
		for i := range r {
			r[i] = x[i] * y[i]
		}
	default:
		return false
	}
	return true
}

func divisionByZero() error {
	return status.Because(execError("Divide by zero error"), status.DivisionByZero)
}

func divide[T int64 | uint64](r, x, y []T, valid vector.Bitmap, rest bool) error {
	for i := range r {
		switch {
		case y[i] == 0:
			r[i] = 0
			if valid == nil || valid.Get(i) {
				return divisionByZero()
			}
		case rest:
			r[i] = x[i] % y[i]
		default:
			r[i] = x[i] / y[i]
		}
	}
	return nil
}

func floatKernel(op string, t vector.Type) kernel {
	single := t.ID == vector.TypeFloat32
	return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		x, y := a[0].Floats[:n], a[1].Floats[:n]
		r := vector.Sized(out.Floats, n)
		out.Floats = r
		switch {
		case calculate(op, r, x, y):
		case op == "/":
			for i := range r {
				r[i] = x[i] / y[i]
			}
		default:
			for i := range r {
				r[i] = math.Mod(x[i], y[i])
			}
		}
		if single {
			for i := range r {
				r[i] = float64(float32(r[i]))
			}
		}
		return nil
	}
}

func bindDecimal(c *Context, op string, args []Expr, t vector.Type) ([]Expr, vector.Type, kernel, error) {
	out := make([]Expr, 2)
	scales := [2]uint8{}
	for i, a := range args {
		_, s := decimalOf(a.Type())
		scales[i] = s
		var err error
		if out[i], err = c.Cast(a, vector.Type{ID: vector.TypeDecimal, Precision: 38, Scale: s}, false); err != nil {
			return nil, t, nil, err
		}
	}
	return out, t, func(n int, a []*vector.Vector, valid vector.Bitmap, res *vector.Vector) error {
		for i := range n {
			if valid != nil && !valid.Get(i) {
				res.AppendNulls(i, 1)
				continue
			}
			x := rat(a[0].Bytes(i), scales[0])
			y := rat(a[1].Bytes(i), scales[1])
			switch op {
			case "+":
				x.Add(x, y)
			case "-":
				x.Sub(x, y)
			case "*":
				x.Mul(x, y)
			default:
				if y.Sign() == 0 {
					return divisionByZero()
				}
				if op == "/" {
					x.Quo(x, y)
				} else {
					q := new(big.Rat).Quo(x, y)
					whole := new(big.Rat).SetInt(new(big.Int).Quo(q.Num(), q.Denom()))
					x.Sub(x, whole.Mul(whole, y))
				}
			}
			if !convert.PushDecimal(res, x, t) {
				return execError("Decimal overflow in %s", op)
			}
			if res.Valid != nil {
				res.Valid = res.Valid.With(i)
			}
		}
		return nil
	}, nil
}

func rat(b []byte, scale uint8) *big.Rat {
	r := new(big.Rat).SetInt(convert.DecimalInt(b))
	return r.Quo(r, new(big.Rat).SetInt(powerOfTen(int64(scale))))
}

func bindNegate(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	t := args[0].Type()
	switch {
	case t == vector.NullType:
		t = vector.Int64Type
	case t == vector.Interval:
		return args, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				m, d, ns := convert.Interval(a[0].Bytes(i))
				out.PushBytes(convert.AppendIntervalBytes(nil, -m, -d, -ns))
			}
			return nil
		}, nil
	case t.ID == vector.TypeDuration:
		return []Expr{args[0]}, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for _, x := range a[0].Ints[:n] {
				out.Ints = append(out.Ints, -x)
			}
			return nil
		}, nil
	case unsigned(t):
		// 9223372036854775808 is read as unsigned; its negation is the smallest signed number.
		if k, ok := args[0].(*Const); ok && k.Value.Uint(0) == 1<<63 {
			return []Expr{Int(math.MinInt64)}, vector.Int64Type,
				func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
					out.Ints = append(out.Ints, a[0].Ints[:n]...)
					return nil
				}, nil
		}
		t = vector.Int64Type
	case !t.IsNumber():
		return nil, t, nil, planError("Unary operator '-' is not possible on %s", t)
	case t.ID == vector.TypeDecimal:
		return bindDecimal(c, "-", []Expr{Int(0), args[0]}, vector.Type{ID: t.ID, Precision: 38, Scale: t.Scale})
	}
	args, err := c.castAll(args, t)
	if t.Kind() == vector.Float64 {
		return args, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for _, x := range a[0].Floats[:n] {
				out.Floats = append(out.Floats, -x)
			}
			return nil
		}, err
	}
	shift := uint(64 - 8<<(width(t)-1))
	return args, t, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for _, x := range a[0].Ints[:n] {
			out.Ints = append(out.Ints, (-x)<<shift>>shift)
		}
		return nil
	}, err
}

func bindBits(op string) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		for _, a := range args {
			if t := a.Type(); !t.IsInteger() && t != vector.NullType {
				return nil, t, nil, planError("operator %s needs integers, found %s", op, t)
			}
		}
		args, err := c.castAll(args, vector.Int64Type)
		return args, vector.Int64Type, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				x, y := a[0].Ints[i], a[1].Ints[i]
				switch op {
				case "&":
					x &= y
				case "|":
					x |= y
				case "^":
					x ^= y
				case "<<":
					x <<= uint64(y) & 63
				default:
					x >>= uint64(y) & 63
				}
				out.Ints = append(out.Ints, x)
			}
			return nil
		}, err
	}
}
