package pipeline

import (
	"math"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/flatten"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// conversion says how a conversion went.
type conversion uint8

const (
	fits       conversion = iota
	misfit                // on_failure decides
	impossible            // an error whatever on_failure says
)

var errNoTime = status.New(status.InvalidArguments, "Time index must be non null.")

// put takes the column's value of an event into its builder. now is the clock in nanoseconds.
func (c *column) put(e *processor.Event, b *vector.ColumnBuilder, now func() int64) error {
	v, has := e.Get(c.slot)
	if !has {
		return c.absent(b, now)
	}
	if v.IsNull() {
		return c.null()
	}
	x, how := c.convert(v)
	if how != fits {
		if how == impossible || c.failure == failEntry {
			return c.mismatch(v)
		}
		if c.failure == failIgnore {
			return c.null()
		}
		if x, how = c.zero(); how != fits {
			return status.New(status.InvalidArguments, "Type: Default value not supported for Epoch")
		}
	}
	c.set(b, x)
	return nil
}

// null leaves the row without a value.
func (c *column) null() error {
	if c.time {
		return errNoTime
	}
	return nil
}

// absent is the value of a field that is not there.
func (c *column) absent(b *vector.ColumnBuilder, now func() int64) error {
	switch {
	case c.failure == failDefault && !c.fallback.IsNull():
		c.set(b, c.fallback)
	case c.failure == failDefault && c.time && c.typ.IsTimestamp():
		b.SetInt(timefmt.FloorDiv(now(), nanosPer(c.typ)))
	default:
		return c.null()
	}
	return nil
}

// zero is the value that on_failure: default gives if no default is set.
func (c *column) zero() (value.Value, conversion) {
	switch {
	case !c.fallback.IsNull():
		return c.fallback, fits
	case c.typ.IsTimestamp() || c.typ == vector.JSONType:
		return value.Null, misfit
	}
	switch c.typ.Kind() {
	case vector.Bool:
		return value.Bool(false), fits
	case vector.Float64:
		return value.Float(0), fits
	case vector.Bytes:
		return value.String(""), fits
	}
	return value.Int(0), fits
}

// set puts a converted value. Unsigned integers are kept as integers of the same bits.
func (c *column) set(b *vector.ColumnBuilder, v value.Value) {
	switch c.typ.Kind() {
	case vector.Bool:
		b.SetBool(v.Bool())
	case vector.Int64:
		b.SetInt(v.Int())
	case vector.Uint64:
		b.SetUint(uint64(v.Int()))
	case vector.Float64:
		b.SetFloat(v.Float())
	default:
		setText(b, c.typ, v)
	}
}

// setText puts a value as text: as it is into strings, as JSON into JSON columns.
func setText(b *vector.ColumnBuilder, t vector.Type, v value.Value) {
	switch {
	case t == vector.JSONType:
		b.SetHeap(value.AppendJSON(b.Heap(), v))
	case v.Kind() == value.StringKind:
		b.SetString(v.Str())
	case v.Kind() == value.IntKind:
		b.SetHeap(strconv.AppendInt(b.Heap(), v.Int(), 10))
	case v.Kind() == value.FloatKind:
		b.SetHeap(processor.AppendDecimal(b.Heap(), v.Float()))
	default:
		b.SetHeap(strconv.AppendBool(b.Heap(), v.Bool()))
	}
}

// convert brings a value that is not null into the form of the column.
func (c *column) convert(v value.Value) (value.Value, conversion) {
	kind := v.Kind()
	if kind == value.RegexKind || v.IsContainer() && c.typ != vector.JSONType {
		return v, impossible
	}
	switch {
	case c.typ.IsTimestamp():
		switch kind {
		case value.TimestampKind:
			return value.Int(timefmt.FloorDiv(v.Nanos(), nanosPer(c.typ))), fits
		case value.IntKind:
			return v, fits
		}
		return v, misfit
	case kind == value.TimestampKind:
		return v, impossible
	case c.typ == vector.StringType:
		return v, fits
	case c.typ == vector.JSONType:
		if v.IsContainer() {
			return v, fits
		}
		if kind == value.StringKind {
			return v, misfit
		}
		return v, impossible
	case kind == value.StringKind:
		x, ok := parseText(c.typ, v.Str())
		if !ok {
			return v, misfit
		}
		return x, fits
	}
	return convertNumber(c.typ, v)
}

// convertNumber brings an integer, float or boolean into a boolean, integer or float column.
func convertNumber(t vector.Type, v value.Value) (value.Value, conversion) {
	n, x := v.Int(), float64(0) // a boolean is 0 or 1
	if v.Kind() == value.FloatKind {
		x = v.Float()
	} else {
		x = float64(n)
	}
	switch t.Kind() {
	case vector.Bool:
		return value.Bool(x != 0), fits
	case vector.Float64:
		return value.Float(narrow(t, x)), fits
	}
	if v.Kind() == value.FloatKind {
		return truncate(t, x)
	}
	if lo, hi := convert.IntBounds(t); n < lo || n >= 0 && uint64(n) > hi {
		return v, misfit
	}
	return value.Int(n), fits
}

// truncate cuts a float toward zero into an integer column.
func truncate(t vector.Type, x float64) (value.Value, conversion) {
	x = math.Trunc(x)
	lo, hi := convert.IntBounds(t)
	switch {
	case x < float64(lo) || x > float64(hi) || hi >= math.MaxInt64 && x >= float64(hi):
		return value.Float(x), misfit
	case x >= math.MaxInt64:
		return value.Int(int64(uint64(x))), fits
	}
	return value.Int(int64(x)), fits
}

// narrow is x as the column holds it: float32 columns hold what fits them.
func narrow(t vector.Type, x float64) float64 {
	if t == vector.Float32Type {
		return float64(float32(x))
	}
	return x
}

// parseText reads text as a value of a boolean, integer, float or string column.
func parseText(t vector.Type, text string) (v value.Value, ok bool) {
	switch t.Kind() {
	case vector.Bytes:
		return value.String(text), true
	case vector.Bool:
		return value.Bool(text == "true"), text == "true" || text == "false"
	case vector.Float64:
		return parseFloat(t, text)
	case vector.Uint64:
		n, ok := parseUint(text)
		_, hi := convert.IntBounds(t)
		return value.Int(int64(n)), ok && n <= hi
	}
	n, ok := parseInt(text)
	lo, hi := convert.IntBounds(t)
	return value.Int(n), ok && n >= lo && (n < 0 || uint64(n) <= hi)
}

// parseUint reads decimal digits after an optional plus sign.
func parseUint(text string) (n uint64, ok bool) {
	text = strings.TrimPrefix(text, "+")
	if len(text) > 19 { // may not fit: leave it to the library
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	}
	for i := range len(text) {
		c := text[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, text != ""
}

// parseInt reads decimal digits after an optional sign.
func parseInt(text string) (n int64, ok bool) {
	if text == "" || len(text) > 18 {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	if text[0] == '-' {
		if len(text) == 1 || text[1] == '+' {
			return 0, false
		}
		u, ok := parseUint(text[1:])
		return -int64(u), ok
	}
	u, ok := parseUint(text)
	return int64(u), ok
}

// parseFloat reads a decimal float: no hexadecimal digits, no NaN.
func parseFloat(t vector.Type, text string) (v value.Value, ok bool) {
	if strings.ContainsAny(text, "xX_pP") {
		return value.Null, false
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != x {
		return value.Null, false
	}
	return value.Float(narrow(t, x)), true
}

// mismatch is the error of a value that does not fit.
func (c *column) mismatch(v value.Value) error {
	name := coerceName(c.typ)
	invalid := func(format string, args ...any) error {
		return status.New(status.InvalidArguments, format, args...)
	}
	switch kind := v.Kind(); {
	case v.IsContainer():
		return invalid("Can not coerce %s to json type. we only consider object and array to be json types.", name)
	case kind == value.TimestampKind || kind == value.RegexKind:
		return invalid("Failed to coerce value: Timestamp can only be coerced to another type")
	case c.typ.IsTimestamp():
		word := map[value.Kind]string{value.FloatKind: "Float", value.BoolKind: "Boolean",
			value.StringKind: "String"}[kind]
		return invalid("Type: %s value not supported for Epoch", word)
	case kind == value.StringKind:
		return invalid("Failed to coerce string value '%s' to type '%s'", flatten.Cut(v.Str()), name)
	case c.typ == vector.JSONType:
		return invalid("Can not coerce json type to BINARY")
	case kind == value.FloatKind:
		return invalid("Failed to coerce value: integer value `%s` is out of range for %s",
			processor.AppendDecimal(nil, math.Trunc(v.Float())), name)
	}
	return invalid("Failed to coerce value: integer value `%d` is out of range for %s", v.Int(), name)
}

// tried says what was to become of a value that does not fit.
func (c *column) tried(v value.Value) string {
	text := "transform to the column " + c.name + " of type " + WireName(c.typ)
	if c.typ.IsTimestamp() {
		switch v.Kind() {
		case value.StringKind:
			return text + "; a date processor reads times from text"
		case value.FloatKind:
			return text + "; an epoch processor reads fractions"
		}
	}
	return text
}

// nanosPer is the unit of a timestamp type in nanoseconds.
func nanosPer(t vector.Type) int64 { return 1e9 / t.UnitsPerSecond() }
