package expr

import (
	"strconv"
	"strings"

	"varve/engine/vector"
)

// textScale is the scale of texts that are compared with whole numbers: exact for 28 digits before the point.
const textScale = 10

// exactFloat bounds the whole numbers that Float64 represents exactly.
const exactFloat = 1 << 53

// Numbers prepares a comparison of a number and a text: the text is read as the number. A literal that is not a number
// is an error here; a value of a column is an error when it is read.
func (c *Context) Numbers(a, b Expr) (Expr, Expr, error) {
	var err error
	switch {
	case a.Type().IsText() && b.Type().IsNumber():
		a, err = c.numberOf(a, b)
	case b.Type().IsText() && a.Type().IsNumber():
		b, err = c.numberOf(b, a)
	}
	return a, b, err
}

// numberOf reads a text as a number to compare with another.
func (c *Context) numberOf(text, other Expr) (Expr, error) {
	k, literal := text.(*Const)
	switch {
	case !literal:
		return c.Cast(text, textNumber(other), false)
	case k.Value.IsNull(0):
		return text, nil
	}
	s := strings.TrimSpace(k.Value.Str(0))
	if _, fraction, ok := strings.Cut(s, "."); ok && other.Type().ID == vector.TypeDecimal &&
		strings.Trim(fraction, "0123456789") == "" && len(fraction) <= 38 {
		exact := vector.Type{ID: vector.TypeDecimal, Precision: 38, Scale: uint8(len(fraction))}
		if e, err := c.Cast(text, exact, true); err == nil && !e.Nullable() {
			return e, nil
		}
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(i), nil
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return &Const{Value: vector.ConstUint(vector.Uint64Type, u)}, nil
	}
	e, err := c.Cast(text, vector.FloatType, true)
	if err == nil && e.Nullable() {
		err = planError("cannot read '%s' as a number, which %s is", k.Value.Str(0), other)
	}
	return e, err
}

// textNumber is the type that texts are read as to be compared with a number: a double where that is enough.
func textNumber(e Expr) vector.Type {
	t := e.Type()
	if k, ok := e.(*Const); ok && t == vector.Int64Type && !k.Value.IsNull(0) && k.Value.Int(0) >= -exactFloat &&
		k.Value.Int(0) <= exactFloat {
		return vector.FloatType
	}
	if t.ID == vector.TypeDecimal || t.IsInteger() && width(t) == 4 {
		return vector.Type{ID: vector.TypeDecimal, Precision: 38, Scale: textScale}
	}
	return vector.FloatType
}
