package expr

import (
	"encoding/json"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"varve/engine/timefmt"
	"varve/engine/vector"
)

var castFunction = &Function{Name: "cast", makesNull: true}

// castKernel converts values; a value that does not convert is an error, or NULL with Try.
func castKernel(c *Cast) (kernel, error) {
	from, to := c.Arg.Type(), c.To
	if from == vector.NullType {
		return func(n int, _ []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			setNull(out, to, n)
			return nil
		}, nil
	}
	one := converter(from, to, c.zone)
	try := c.Try
	byRow := func(n int, args []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		src := args[0]
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.AppendNulls(i, 1)
				continue
			}
			if !one(src, i, out) {
				if !try {
					return execError("Cast error: Cannot cast value '%s' of type %s to %s", AppendText(nil, src, i), from, to)
				}
				out.AppendNulls(i, 1)
				continue
			}
			if out.Valid != nil {
				out.Valid = growBit(out.Valid, i)
			}
		}
		return nil
	}
	return castLoop(from, to, byRow), nil
}

// retypes tells whether a cast changes no value's form: integers that widen, counts of a time's unit, JSON as text.
func retypes(from, to vector.Type) bool {
	switch {
	case signed(from) && signed(to), unsigned(from) && unsigned(to), float(from) && float(to):
		return width(from) <= width(to) && (from.ID != vector.TypeFloat64 || to.ID == vector.TypeFloat64)
	case signed(from):
		return to.IsTimestamp() || to.ID == vector.TypeDate || to.ID == vector.TypeTime || to.ID == vector.TypeDuration
	case to == vector.Int64Type:
		return from.Kind() == vector.Int64
	case to.IsText():
		return from.ID == vector.TypeJSON
	}
	return to.ID == vector.TypeBinary && from.IsText()
}

// castLoop gives the conversions of numbers that fail for no value, or for few, a loop of their own.
func castLoop(from, to vector.Type, byRow kernel) kernel {
	switch {
	case from.IsInteger() && float(to):
		return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			out.Floats = resized(out.Floats, n)
			if from.Kind() == vector.Int64 {
				toFloats(out.Floats, a[0].Ints[:n])
			} else {
				toFloats(out.Floats, a[0].Uints[:n])
			}
			if to.ID == vector.TypeFloat32 {
				for i, x := range out.Floats {
					out.Floats[i] = float64(float32(x))
				}
			}
			return nil
		}
	case from.IsTimestamp() && to.IsTimestamp():
		coarse, fine := from.UnitsPerSecond(), to.UnitsPerSecond()
		return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			x := a[0].Ints[:n]
			out.Ints = resized(out.Ints, n)
			if coarse >= fine {
				for i, t := range x {
					out.Ints[i] = floorDiv(t, coarse/fine)
				}
				return nil
			}
			factor := fine / coarse
			var bad int64
			for i, t := range x {
				y := t * factor
				out.Ints[i] = y
				bad |= y/factor ^ t
			}
			if bad == 0 {
				return nil
			}
			out.Ints = out.Ints[:0] // a row, perhaps one without a value, does not fit
			return byRow(n, a, valid, out)
		}
	}
	return byRow
}

func toFloats[T int64 | uint64](out []float64, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = float64(x[i])
	}
}

// growBit sets bit i, which may be the first of a new word.
func growBit(b vector.Bitmap, i int) vector.Bitmap {
	if i>>6 == len(b) {
		b = append(b, 0)
	}
	b.Set(i)
	return b
}

// converter appends one converted value to out; false when it does not convert.
func converter(from, to vector.Type, zone *time.Location) func(v *vector.Vector, i int, out *vector.Vector) bool {
	switch {
	case to.IsText():
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			at := len(out.Heap)
			out.Heap = AppendText(out.Heap, v, i)
			out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
			return true
		}
	case from.IsText():
		return parser(to, zone)
	case to.ID == vector.TypeDecimal || from.ID == vector.TypeDecimal:
		return decimalConverter(from, to)
	case from.ID == vector.TypeDuration && to == vector.Interval:
		unit := from.UnitsPerSecond()
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			day := 86400 * unit
			days := v.Ints[i] / day
			if days != int64(int32(days)) {
				return false
			}
			pushBytes(out, AppendIntervalBytes(nil, 0, int32(days), v.Ints[i]%day*(1e9/unit)))
			return true
		}
	case to.ID == vector.TypeBool:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			return appendBool(out, i, number(v, i) != 0)
		}
	case to.Kind() == vector.Float64:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			out.Floats = append(out.Floats, narrow(number(v, i), to))
			return true
		}
	case to.IsTimestamp() || to.ID == vector.TypeDate || to.ID == vector.TypeTime || to.ID == vector.TypeDuration:
		return timeConverter(from, to)
	case to.IsInteger():
		return integerConverter(to)
	case bytesLike(from) && bytesLike(to):
		return appendBytes(to)
	}
	return func(*vector.Vector, int, *vector.Vector) bool { return false }
}

func appendBool(out *vector.Vector, i int, x bool) bool {
	for len(out.Bools) <= i>>6 {
		out.Bools = append(out.Bools, 0)
	}
	if x {
		out.Bools.Set(i)
	}
	return true
}

// number is a numeric or boolean value as float64.
func number(v *vector.Vector, i int) float64 {
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return 1
		}
		return 0
	case vector.Int64:
		return float64(v.Int(i))
	case vector.Uint64:
		return float64(v.Uint(i))
	}
	return v.Float(i)
}

func narrow(f float64, t vector.Type) float64 {
	if t.ID == vector.TypeFloat32 {
		return float64(float32(f))
	}
	return f
}

// bounds of the integer types.
func intBounds(t vector.Type) (lo int64, hi uint64) {
	w := uint(8) << (width(t) - 1)
	if unsigned(t) {
		return 0, math.MaxUint64 >> (64 - w)
	}
	return math.MinInt64 >> (64 - w), uint64(math.MaxInt64) >> (64 - w)
}

func integerConverter(to vector.Type) func(*vector.Vector, int, *vector.Vector) bool {
	lo, hi := intBounds(to)
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		switch v.Type.Kind() {
		case vector.Float64:
			f := math.Trunc(v.Float(i))
			if f != f || f < float64(lo) || f > float64(hi) || hi > 1<<53 && f >= float64(hi) { // float64(hi) is one more
				return false
			}
			if f < 0 {
				return appendInteger(out, to, int64(f))
			}
			return appendUnsigned(out, to, uint64(f))
		case vector.Uint64:
			u := v.Uint(i)
			return u <= hi && appendUnsigned(out, to, u)
		case vector.Bool:
			return appendUnsigned(out, to, uint64(number(v, i)))
		}
		x := v.Int(i)
		if x < lo || x > 0 && uint64(x) > hi {
			return false
		}
		return appendInteger(out, to, x)
	}
}

func appendInteger(out *vector.Vector, to vector.Type, x int64) bool {
	if to.Kind() == vector.Uint64 {
		out.Uints = append(out.Uints, uint64(x))
	} else {
		out.Ints = append(out.Ints, x)
	}
	return true
}

func appendUnsigned(out *vector.Vector, to vector.Type, u uint64) bool {
	return appendInteger(out, to, int64(u))
}

func appendBytes(to vector.Type) func(*vector.Vector, int, *vector.Vector) bool {
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		b := v.Bytes(i)
		if to.ID == vector.TypeJSON && !json.Valid(b) {
			return false
		}
		pushBytes(out, b)
		return true
	}
}

func pushBytes(out *vector.Vector, b []byte) {
	out.Views = append(out.Views, vector.View{Off: uint32(len(out.Heap)), Len: uint32(len(b))})
	out.Heap = append(out.Heap, b...)
}

// timeConverter converts among timestamps, dates, times of day and counts of units.
func timeConverter(from, to vector.Type) func(*vector.Vector, int, *vector.Vector) bool {
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		var x int64
		switch {
		case from.Kind() == vector.Uint64:
			if v.Uint(i) > math.MaxInt64 {
				return false
			}
			x = int64(v.Uint(i))
		case from.Kind() == vector.Float64:
			x = int64(v.Float(i))
		default:
			x = v.Int(i)
		}
		y, ok := convertTime(x, from, to)
		if ok {
			out.Ints = append(out.Ints, y)
		}
		return ok
	}
}

// convertTime converts one value; integers count units of the target.
func convertTime(x int64, from, to vector.Type) (int64, bool) {
	switch {
	case from.IsNumber():
		return x, true
	case from.ID == vector.TypeDate && to.IsTimestamp():
		return scale(x*86400, 1, to.UnitsPerSecond())
	case from.IsTimestamp() && to.ID == vector.TypeDate:
		return floorDiv(x, from.UnitsPerSecond()*86400), true
	case from.IsTimestamp() && to.ID == vector.TypeTime:
		day := from.UnitsPerSecond() * 86400
		return scale(x-floorDiv(x, day)*day, from.UnitsPerSecond(), to.UnitsPerSecond())
	case from.ID == vector.TypeDate && to.ID == vector.TypeDate:
		return x, true
	case from.UnitsPerSecond() > 0 && to.UnitsPerSecond() > 0:
		return scale(x, from.UnitsPerSecond(), to.UnitsPerSecond())
	}
	return 0, false
}

// scale converts a count of units; ok is false when it overflows. Coarser units round down.
func scale(x, from, to int64) (int64, bool) {
	if to >= from {
		f := to / from
		y := x * f
		return y, y/f == x
	}
	return floorDiv(x, from/to), true
}

func floorDiv(x, d int64) int64 {
	q := x / d
	if x%d != 0 && (x < 0) != (d < 0) {
		q--
	}
	return q
}

// parser reads text as a value of a type. Times without a zone are UTC, as casts want it.
func parser(to vector.Type, _ *time.Location) func(*vector.Vector, int, *vector.Vector) bool {
	switch {
	case to.IsInteger():
		return func(v *vector.Vector, i int, out *vector.Vector) bool { return parseInteger(v.Str(i), to, out) }
	case to.Kind() == vector.Float64:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			f, err := strconv.ParseFloat(strings.TrimSpace(v.Str(i)), 64)
			if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(v.Str(i), "_xX") {
				return false
			}
			out.Floats = append(out.Floats, narrow(f, to))
			return true
		}
	case to.ID == vector.TypeBool:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			switch strings.ToLower(strings.TrimSpace(v.Str(i))) {
			case "true", "t", "yes", "y", "on", "1":
				return appendBool(out, i, true)
			case "false", "f", "no", "n", "off", "0":
				return appendBool(out, i, false)
			}
			return false
		}
	case to.ID == vector.TypeInterval:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			m, d, ns, err := timefmt.ParseInterval(v.Str(i))
			if err == nil {
				pushBytes(out, AppendIntervalBytes(nil, m, d, ns))
			}
			return err == nil
		}
	case to.ID == vector.TypeDecimal:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			text := strings.TrimSpace(v.Str(i))
			if !isDecimal(text) {
				return false
			}
			r, ok := new(big.Rat).SetString(text)
			return ok && pushDecimal(out, r, to)
		}
	case to.ID == vector.TypeTime:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			sec, nanos, err := timefmt.ParseTimestamp("1970-01-01 "+strings.TrimSpace(v.Str(i)), time.UTC)
			x, ok := joinTime(sec, nanos, to.UnitsPerSecond())
			if err == nil && ok {
				out.Ints = append(out.Ints, x)
			}
			return err == nil && ok
		}
	case to.Kind() == vector.Int64:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			x, err := ParseTime(v.Str(i), to, time.UTC)
			if err == nil {
				out.Ints = append(out.Ints, x)
			}
			return err == nil
		}
	case to.ID == vector.TypeJSON:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			b, ok := compactJSON(v.Bytes(i))
			if ok {
				pushBytes(out, b)
			}
			return ok
		}
	}
	return func(v *vector.Vector, i int, out *vector.Vector) bool { // binary: the bytes of the text
		pushBytes(out, v.Bytes(i))
		return true
	}
}

func parseInteger(s string, to vector.Type, out *vector.Vector) bool {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "_xXoObB") {
		return false
	}
	lo, hi := intBounds(to)
	if unsigned(to) {
		u, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 64)
		return err == nil && u <= hi && appendUnsigned(out, to, u)
	}
	x, err := strconv.ParseInt(s, 10, 64)
	return err == nil && x >= lo && (x < 0 || uint64(x) <= hi) && appendInteger(out, to, x)
}

// ParseTime reads text as a timestamp or date of type t, in its unit; text without a zone is in loc.
func ParseTime(text string, t vector.Type, loc *time.Location) (int64, error) {
	sec, nanos, err := timefmt.ParseTimestamp(text, loc)
	if err != nil {
		return 0, err
	}
	if t.ID == vector.TypeDate {
		return floorDiv(sec, 86400), nil
	}
	x, ok := joinTime(sec, nanos, t.UnitsPerSecond())
	if !ok {
		return 0, execError("timestamp '%s' does not fit %s", text, t)
	}
	return x, nil
}

func joinTime(sec int64, nanos int32, unit int64) (int64, bool) {
	if unit == 0 {
		return 0, false
	}
	x := sec * unit
	if x/unit != sec {
		return 0, false
	}
	y := x + int64(nanos)/(1e9/unit)
	return y, y >= x || nanos < 0
}

func pushDecimal(out *vector.Vector, r *big.Rat, t vector.Type) bool {
	n := new(big.Int).Mul(r.Num(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil))
	q, rest := new(big.Int).QuoRem(n, r.Denom(), new(big.Int))
	if rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom()) >= 0 { // half away from zero
		q.Add(q, big.NewInt(int64(n.Sign())))
	}
	if new(big.Int).Abs(q).Cmp(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)) >= 0 {
		return false
	}
	b, ok := AppendDecimal(nil, q)
	if ok {
		pushBytes(out, b)
	}
	return ok
}

// decimalConverter converts from and to DECIMAL through exact fractions.
func decimalConverter(from, to vector.Type) func(*vector.Vector, int, *vector.Vector) bool {
	read := func(v *vector.Vector, i int) *big.Rat {
		switch v.Type.Kind() {
		case vector.Int64:
			return new(big.Rat).SetInt64(v.Int(i))
		case vector.Uint64:
			return new(big.Rat).SetUint64(v.Uint(i))
		case vector.Bool:
			return new(big.Rat).SetInt64(int64(number(v, i)))
		case vector.Float64:
			r, _ := new(big.Rat).SetString(strconv.FormatFloat(v.Float(i), 'g', -1, 64)) // nil for NaN and infinities
			return r
		}
		r := new(big.Rat).SetInt(DecimalInt(v.Bytes(i)))
		return r.Quo(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(from.Scale)), nil)))
	}
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		r := read(v, i)
		if r == nil {
			return false
		}
		switch {
		case to.ID == vector.TypeDecimal:
			return pushDecimal(out, r, to)
		case to.Kind() == vector.Float64:
			f, _ := r.Float64()
			out.Floats = append(out.Floats, narrow(f, to))
			return true
		case to.ID == vector.TypeBool:
			return appendBool(out, i, r.Sign() != 0)
		case to.IsInteger():
			q := new(big.Int).Quo(r.Num(), r.Denom())
			return parseInteger(q.String(), to, out)
		}
		return false
	}
}

// isDecimal tells whether a text is a decimal number of digits, with a point and an exponent of at most three digits if it
// likes: fractions, hexadecimal and other forms that package big reads are none.
func isDecimal(s string) bool {
	const longest = 400
	if len(s) > longest {
		return false
	}
	mantissa, exponent, scientific := s, "", false
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		mantissa, exponent, scientific = s[:at], s[at+1:], true
	}
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	unsigned := func(s string) string { return strings.TrimPrefix(strings.TrimPrefix(s, "+"), "-") }
	mantissa = unsigned(mantissa)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !digits(whole+fraction) || len(s)-len(mantissa)-len(exponent) > 2 {
		return false
	}
	e := unsigned(exponent)
	return !scientific || e != "" && len(e) <= 3 && digits(e) && len(exponent)-len(e) <= 1
}

// compactJSON is JSON text without blanks, keys sorted; ok is false when it is none.
func compactJSON(src []byte) ([]byte, bool) {
	d := json.NewDecoder(strings.NewReader(string(src)))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF { // something follows
		return nil, false
	}
	b, err := marshalJSON(x)
	return b, err == nil
}

func marshalJSON(x any) ([]byte, error) {
	var s strings.Builder
	e := json.NewEncoder(&s)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(s.String(), "\n")), nil
}
