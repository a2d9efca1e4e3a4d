package processor

import "strconv"

// AppendDecimal appends the shortest decimal text of x that reads back as it, without exponent: 1 for 1.0.
func AppendDecimal(dst []byte, x float64) []byte { return strconv.AppendFloat(dst, x, 'f', -1, 64) }
