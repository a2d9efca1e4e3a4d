package processor

import (
	"math"
	"strconv"
	"strings"

	"varve/engine/status"
	"varve/pipeline/value"
)

// Resolution is the unit of an epoch time.
type Resolution uint8

// The units.
const (
	Second Resolution = iota
	Millisecond
	Microsecond
	Nanosecond
)

// String is the unit's name.
func (r Resolution) String() string {
	return [...]string{"second", "millisecond", "microsecond", "nanosecond"}[r]
}

// Nanos is the unit in nanoseconds.
func (r Resolution) Nanos() int64 { return [...]int64{1e9, 1e6, 1e3, 1}[r] }

// Precision is the number of decimal digits of a second.
func (r Resolution) Precision() uint8 { return uint8(3 * r) }

// ParseResolution reads a unit by any of its names.
func ParseResolution(text string) (r Resolution, ok bool) {
	switch text {
	case "s", "sec", "second":
		return Second, true
	case "ms", "milli", "millisecond":
		return Millisecond, true
	case "us", "micro", "microsecond":
		return Microsecond, true
	case "ns", "nano", "nanosecond":
		return Nanosecond, true
	}
	return 0, false
}

// epoch makes times of numbers.
type epoch struct {
	fields
	resolution Resolution
}

func newEpoch(s Settings, names *Names) (Processor, error) {
	p := &epoch{resolution: Millisecond}
	for x, err := range p.own(s, names) {
		if err != nil {
			return nil, err
		}
		if x.Key != "resolution" {
			continue
		}
		text, err := x.String()
		if err != nil {
			return nil, err
		}
		var ok bool
		if p.resolution, ok = ParseResolution(text); !ok {
			return nil, x.Invalid("Invalid resolution: %s", text)
		}
	}
	return p, nil
}

func (p *epoch) Run(e *Event) error {
	for i := range p.list {
		f := &p.list[i]
		v, has := e.Get(f.input)
		if !has || v.IsNull() {
			if p.ignoreMissing {
				continue
			}
			return missing("epoch", f.name)
		}
		t, err := p.time(v)
		if err != nil {
			return About(err, f.name, v, "read as "+p.resolution.String()+"s since 1970")
		}
		e.Set(f.target, t)
	}
	return nil
}

func (p *epoch) time(v value.Value) (value.Value, error) {
	n := int64(0)
	switch v.Kind() {
	case value.TimestampKind:
		return v, nil
	case value.IntKind:
		n = v.Int()
	case value.StringKind:
		var err error
		if n, err = strconv.ParseInt(v.Str(), 10, 64); err != nil {
			if ns, ok := p.decimal(v.Str()); ok {
				return value.Timestamp(ns), nil
			}
			return v, status.Wrap(err, status.InvalidArguments, "Failed to parse %s to int: %s", shorten(v.Str()),
				numberReason(v.Str(), err))
		}
	case value.FloatKind:
		// The shortest text of a float is what its writer meant: 1742814853.1 is not 1742814853.0999999.
		if ns, ok := p.decimal(strconv.FormatFloat(v.Float(), 'f', -1, 64)); ok {
			return value.Timestamp(ns), nil
		}
		n = truncate(v.Float())
	default:
		return v, status.New(status.InvalidArguments, "Processor epoch: unsupported value %s", shorten(plainText(v)))
	}
	unit := p.resolution.Nanos()
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return v, status.New(status.InvalidArguments, "Invalid epoch value '%d' for resolution '%s'", n, p.resolution)
	}
	return value.Timestamp(n * unit), nil
}

// decimal reads a decimal number of units, with or without a fraction, as nanoseconds; what is finer is cut off. ok is
// false for other texts and for times out of range.
func (p *epoch) decimal(text string) (ns int64, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	unit := p.resolution.Nanos()
	if err != nil || n >= math.MaxInt64/unit || n <= math.MinInt64/unit || strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	part, scale := int64(0), unit
	for i := 0; i < len(fraction) && scale > 1; i++ {
		scale /= 10
		part += int64(fraction[i]-'0') * scale
	}
	if whole[0] == '-' {
		part = -part
	}
	return n*unit + part, true
}

// truncate cuts a float toward zero, at the ends of 64 bits.
func truncate(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	}
	return int64(x)
}

// numberReason says why text is no integer.
func numberReason(text string, err error) string {
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		return "number out of range"
	}
	if text == "" {
		return "cannot parse integer from empty string"
	}
	return "invalid digit found in string"
}
