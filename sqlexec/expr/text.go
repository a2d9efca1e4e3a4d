package expr

import (
	"math/big"

	"varve/engine/convert"
	"varve/engine/vector"
)

// AppendText appends row i of v as CAST(.. AS STRING) gives it. The row is not NULL.
func AppendText(dst []byte, v *vector.Vector, i int) []byte {
	if v.Type.ID == vector.TypeList {
		return appendList(dst, v.Type.Elem(), v.Bytes(i))
	}
	return convert.AppendText(dst, v, i)
}

// appendList: [a, b], the elements as text, nothing for NULL.
func appendList(dst []byte, elem vector.Type, list []byte) []byte {
	v := &vector.Vector{Type: elem}
	n := AppendElements(v, 0, list)
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if !v.IsNull(i) {
			dst = AppendText(dst, v, i)
		}
	}
	return append(dst, ']')
}

// AppendFloat appends the shortest text that reads back; whole numbers keep .0, large ones an exponent.
func AppendFloat(dst []byte, f float64, bits int) []byte { return convert.AppendFloat(dst, f, bits) }

// Interval reads the 16 bytes of an INTERVAL.
func Interval(b []byte) (months, days int32, ns int64) { return convert.Interval(b) }

// AppendIntervalBytes appends the 16 bytes of an INTERVAL.
func AppendIntervalBytes(dst []byte, months, days int32, ns int64) []byte {
	return convert.AppendIntervalBytes(dst, months, days, ns)
}

// DecimalInt is the unscaled value of a DECIMAL.
func DecimalInt(b []byte) *big.Int { return convert.DecimalInt(b) }

// AppendDecimal appends the 16 bytes of an unscaled DECIMAL value; ok is false when it does not fit 38 digits.
func AppendDecimal(dst []byte, n *big.Int) ([]byte, bool) { return convert.AppendDecimal(dst, n) }

func marshalJSON(x any) ([]byte, error) { return convert.MarshalJSON(x) }
