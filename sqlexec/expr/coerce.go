package expr

import "varve/engine/vector"

// width orders the numeric types by their size: signed 1..4, unsigned 1..4, floats.
func width(t vector.Type) int {
	switch t.ID {
	case vector.TypeInt8, vector.TypeUint8:
		return 1
	case vector.TypeInt16, vector.TypeUint16:
		return 2
	case vector.TypeInt32, vector.TypeUint32:
		return 3
	}
	return 4
}

func signed(t vector.Type) bool   { return t.ID >= vector.TypeInt8 && t.ID <= vector.TypeInt64 }
func unsigned(t vector.Type) bool { return t.ID >= vector.TypeUint8 && t.ID <= vector.TypeUint64 }
func float(t vector.Type) bool    { return t.ID == vector.TypeFloat32 || t.ID == vector.TypeFloat64 }

var signedTypes = [...]vector.Type{{}, vector.Int8Type, vector.Int16Type, vector.Int32Type, vector.Int64Type}

// common returns the type that values of a and b are cast to when they are compared or united. aLit and bLit report
// literals: a text literal beside a time takes the type of the time. ok is false if there is no such type.
func common(a, b vector.Type, aLit, bLit bool) (t vector.Type, ok bool) {
	switch {
	case a == b || b == vector.NullType:
		return a, true
	case a == vector.NullType:
		return b, true
	case a.IsNumber() && b.IsNumber():
		return commonNumber(a, b), true
	case a.IsText() && timelike(b), b.IsText() && timelike(a):
		if a.IsText() {
			a = b
		}
		return a, true
	case a.IsTimestamp() && b.IsTimestamp():
		return vector.Timestamp(max(a.Precision, b.Precision)), true
	case a.ID == vector.TypeDate && b.IsTimestamp():
		return b, true
	case b.ID == vector.TypeDate && a.IsTimestamp():
		return a, true
	case a.IsTimestamp() && b.IsInteger() && bLit:
		return a, true
	case b.IsTimestamp() && a.IsInteger() && aLit:
		return b, true
	case a.ID == vector.TypeDuration && b == vector.Interval, a == vector.Interval && b.ID == vector.TypeDuration:
		return vector.Interval, true
	case a.ID == b.ID:
		return vector.Type{ID: a.ID, Precision: max(a.Precision, b.Precision), Scale: max(a.Scale, b.Scale)}, true
	case bytesLike(a) && bytesLike(b):
		return vector.StringType, true
	case a.IsText() && b.IsNumber(), b.IsText() && a.IsNumber():
		return vector.StringType, true
	case a.IsText() && b.ID == vector.TypeBool, b.IsText() && a.ID == vector.TypeBool:
		return vector.StringType, true
	}
	return vector.Type{}, false
}

func bytesLike(t vector.Type) bool {
	return t.ID == vector.TypeString || t.ID == vector.TypeBinary || t.ID == vector.TypeJSON
}

func timelike(t vector.Type) bool {
	switch t.ID {
	case vector.TypeTimestamp, vector.TypeDate, vector.TypeTime, vector.TypeInterval, vector.TypeDuration:
		return true
	}
	return false
}

// commonNumber: integers widen, a signed with an unsigned becomes a wider signed one, anything with a float Float64.
func commonNumber(a, b vector.Type) vector.Type {
	switch {
	case a == b:
		return a
	case float(a) || float(b):
		if a == vector.Float32Type && (b == a || b.IsInteger() && width(b) < 3) ||
			b == vector.Float32Type && a.IsInteger() && width(a) < 3 {
			return vector.Float32Type
		}
		return vector.FloatType
	case a.ID == vector.TypeDecimal && b.ID == vector.TypeDecimal:
		whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
		s := max(a.Scale, b.Scale)
		return vector.Type{ID: vector.TypeDecimal, Precision: min(whole+s, 38), Scale: s}
	case a.ID == vector.TypeDecimal || b.ID == vector.TypeDecimal:
		if b.ID == vector.TypeDecimal {
			a, b = b, a
		}
		if t, ok := decimalWith(a, b); ok {
			return t
		}
		return vector.FloatType
	case signed(a) == signed(b):
		if width(a) >= width(b) {
			return a
		}
		return b
	}
	if unsigned(a) {
		a, b = b, a
	}
	return signedTypes[min(4, max(width(a), width(b)+1))]
}

// comparedAs returns the type that a and b are cast to for an exact comparison. It is common, with two exceptions: a
// UInt64 and a signed integer, neither of which holds all values of the other, and decimals with integers are compared
// as decimals.
func comparedAs(a, b Expr) (vector.Type, bool) {
	x, y := a.Type(), b.Type()
	switch {
	case literalFits(b, a):
		return x, true
	case literalFits(a, b):
		return y, true
	case x == vector.Uint64Type && signed(y), y == vector.Uint64Type && signed(x):
		return vector.Type{ID: vector.TypeDecimal, Precision: 20}, true
	}
	return common(x, y, IsConst(a), IsConst(b))
}

// integerDigits bounds the digits of an integer.
const integerDigits = 20

// decimalWith returns the decimal type that holds the values of a decimal type and an integer type; ok is false if
// there is none.
func decimalWith(d, i vector.Type) (t vector.Type, ok bool) {
	return vector.Type{ID: vector.TypeDecimal, Precision: 38, Scale: d.Scale},
		i.IsInteger() && d.Scale+integerDigits <= 38
}

// CommonType returns the type to which the values of all expressions widen: the branches of a CASE, the rows of VALUES,
// the sides of a UNION. It fails with PlanQuery if there is none.
func CommonType(list []Expr) (vector.Type, error) { return commonOf("values", list) }
