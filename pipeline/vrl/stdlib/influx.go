package stdlib

import (
	"math"
	"strconv"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// influxFunctions read the line protocol.
var influxFunctions = []vrl.Function{
	{Name: "parse_influxdb", Params: stringParam, Fails: vrl.Always,
		Returns: vrl.ArrayOf(vrl.ObjectOf(knownField("name", vrl.Of(vrl.String)),
			knownField("tags", vrl.ObjectOfAny(vrl.Of(vrl.String)).Or(vrl.Null)),
			knownField("timestamp", vrl.Of(vrl.Timestamp, vrl.Null)), knownField("kind", vrl.Of(vrl.String)),
			knownField("gauge", vrl.ObjectOf(knownField("value", vrl.Of(vrl.Float)))))), Run: parseInflux},
}

// parseInflux makes one metric of each field of each line.
func parseInflux(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := f.Arena.Array(8)
	for line := range strings.Lines(args[0].Str()) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if fl := influxLine(f, list, line); fl != nil {
			return value.Null, fl
		}
	}
	return list.Of(), nil
}

func influxFail(f *vrl.Frame, why string) *vrl.Failure {
	_, fl := f.Fail("InfluxDB line protocol parsing error: %s", value.String(why))
	return fl
}

// influxLine reads one line: measurement and tags, fields, time.
func influxLine(f *vrl.Frame, list *value.Array, s string) *vrl.Failure {
	a := f.Arena
	series, rest := influxCut(s, ' ')
	measurement, tagText := influxCut(series, ',')
	if measurement == "" {
		return influxFail(f, "Invalid measurement was provided")
	}
	var tags *value.Object
	for tagText != "" {
		var pair string
		pair, tagText = influxCut(tagText, ',')
		key, v := influxCut(pair, '=')
		if key == "" || v == "" {
			return influxFail(f, "Tag set malformed")
		}
		if tags == nil {
			tags = a.Object(4)
		}
		tags.Set(a, influxText(a, key), value.String(influxText(a, v)))
	}
	fields, stamp := influxCut(strings.TrimLeft(rest, " "), ' ')
	if fields == "" {
		return influxFail(f, "No fields were provided")
	}
	at := value.Null
	if stamp = strings.TrimSpace(stamp); stamp != "" {
		ns, why := decimal(stamp)
		if why != "" {
			return influxFail(f, "Unable to parse timestamp value '"+stamp+"'")
		}
		at = value.Timestamp(ns)
	}
	for fields != "" {
		var pair string
		pair, fields = influxCut(fields, ',')
		key, text := influxCut(pair, '=')
		if key == "" || text == "" {
			return influxFail(f, "Unable to parse field value")
		}
		x, why := influxNumber(text)
		if why != "" {
			_, fl := f.Fail("Error while converting InfluxDB line protocol metric: %s", value.String(why))
			return fl
		}
		gauge := a.Object(1)
		gauge.Append(a, "value", value.Float(x))
		o := a.Object(5)
		o.Append(a, "gauge", gauge.Of())
		o.Append(a, "kind", value.String("absolute"))
		o.Append(a, "name", a.Concat(influxText(a, measurement), "_", influxText(a, key)))
		if tags != nil {
			o.Append(a, "tags", tags.Of().Share())
		}
		if !at.IsNull() {
			o.Append(a, "timestamp", at)
		}
		list.Push(a, o.Of())
		if fl := f.Spend(1); fl != nil {
			return fl
		}
	}
	return nil
}

// influxCut splits at the first separator that is neither behind a backslash nor in double quotes.
func influxCut(s string, separator byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == separator && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// influxText resolves the backslashes before blanks, commas, equals signs and backslashes.
func influxText(a *value.Arena, s string) string { return cefText(a, s, ` ,=\`) }

// influxNumber reads a field: floats, integers with i or u behind, booleans. Strings have no place in a metric.
func influxNumber(s string) (x float64, why string) {
	switch s {
	case "t", "T", "true", "True", "TRUE":
		return 1, ""
	case "f", "F", "false", "False", "FALSE":
		return 0, ""
	}
	if s[0] == '"' {
		return 0, "field set values of type string are not supported"
	}
	switch s[len(s)-1] {
	case 'i':
		n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
		if err != nil {
			return 0, "unable to parse integer value '" + s + "'"
		}
		return float64(n), ""
	case 'u':
		n, err := strconv.ParseUint(s[:len(s)-1], 10, 64)
		if err != nil {
			return 0, "unable to parse unsigned integer value '" + s + "'"
		}
		return float64(n), ""
	}
	x, ok := floatOf(s)
	if !ok || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, "unable to parse floating-point value '" + s + "'"
	}
	return x, ""
}
