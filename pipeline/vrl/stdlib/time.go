package stdlib

import (
	"errors"
	"math"
	"sync"
	"time"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// timeFunctions read, write and convert instants.
var timeFunctions = []vrl.Function{
	{Name: "now", Returns: vrl.Of(vrl.Timestamp), Run: func(f *vrl.Frame, _ []value.Value) (value.Value, *vrl.Failure) {
		return value.Timestamp(f.Now().UnixNano()), nil
	}},
	{Name: "parse_timestamp", Params: []vrl.Param{arg("value", vrl.String|vrl.Timestamp), arg("format", vrl.String),
		opt("timezone", vrl.String)},
		Fails: vrl.Always, Returns: vrl.Of(vrl.Timestamp), Compile: compileParseTimestamp},
	{Name: "format_timestamp", Params: []vrl.Param{arg("value", vrl.Timestamp), arg("format", vrl.String),
		opt("timezone", vrl.String)},
		Fails: vrl.Always, Returns: vrl.Of(vrl.String), Compile: compileFormatTimestamp},
	{Name: "to_unix_timestamp", Params: []vrl.Param{arg("value", vrl.Timestamp), unixUnit},
		Returns: vrl.Of(vrl.Integer), Compile: compileToUnix},
	{Name: "from_unix_timestamp", Params: []vrl.Param{arg("value", vrl.Integer), unixUnit}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.Timestamp), Compile: compileFromUnix},
}

var unixUnit = word("unit", "seconds", "seconds", "milliseconds", "microseconds", "nanoseconds")

// unixUnits are the nanoseconds of each unit.
var unixUnits = map[string]int64{"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1}

// layouts caches formats that are not constants. It holds at most maxLayouts; past that, formats are compiled each
// time.
var layouts = struct {
	sync.RWMutex
	known map[string]*timefmt.Layout
}{known: map[string]*timefmt.Layout{}}

const maxLayouts = 1024

// layoutOf compiles a format, or finds it compiled.
func layoutOf(format string) (*timefmt.Layout, error) {
	layouts.RLock()
	l := layouts.known[format]
	layouts.RUnlock()
	if l != nil {
		return l, nil
	}
	format = string(append([]byte(nil), format...)) // the event's memory goes
	l, err := timefmt.CompileStrict(format)
	if err != nil {
		return nil, err
	}
	layouts.Lock()
	if len(layouts.known) < maxLayouts {
		layouts.known[format] = l
	}
	layouts.Unlock()
	return l, nil
}

// constantLayout returns the format of a call if it is known at compile time; bad reports that it is known but not a
// valid format.
func constantLayout(c *vrl.Call) (l *timefmt.Layout, bad error) {
	format, ok := c.Const("format")
	if !ok || format.Kind() != value.StringKind {
		return nil, nil
	}
	return timefmt.CompileStrict(format.Str())
}

// constantZone is the zone of a call if it is known and good.
func constantZone(c *vrl.Call) *time.Location {
	name, ok := c.Const("timezone")
	if !ok || name.Kind() != value.StringKind {
		return nil
	}
	loc, err := timefmt.Zone(name.Str())
	if err != nil {
		return nil // local is that of the run, and of others the call says so when it runs
	}
	return loc
}

// localZone names the zone of the run.
const localZone = "local"

// zoneOf is the zone of an argument; known is it when that is a constant.
func zoneOf(f *vrl.Frame, known *time.Location, name value.Value, byDefault *time.Location) (*time.Location,
	*vrl.Failure) {
	switch {
	case known != nil:
		return known, nil
	case name.IsNull():
		return byDefault, nil
	case name.Str() == localZone || name.Str() == "":
		return f.Zone(), nil
	}
	loc, err := timefmt.Zone(name.Str())
	if err != nil {
		_, fl := f.Fail("unable to parse timezone: %s", name)
		return nil, fl
	}
	return loc, nil
}

func compileParseTimestamp(c *vrl.Call) (vrl.Run, error) {
	constant, bad := constantLayout(c)
	zone := constantZone(c)
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		v := args[0]
		if v.Kind() == value.TimestampKind {
			return v, nil
		}
		l, err := constant, bad
		if l == nil && err == nil {
			l, err = layoutOf(args[1].Str())
		}
		if err != nil {
			return f.Fail("Invalid timestamp %q: bad or unsupported format string", v)
		}
		loc, fl := zoneOf(f, zone, args[2], f.Zone())
		if fl != nil {
			return value.Null, fl
		}
		return parseTime(f, l, v, loc)
	}, nil
}

// parseTime reads a text by a layout.
func parseTime(f *vrl.Frame, l *timefmt.Layout, v value.Value, loc *time.Location) (value.Value, *vrl.Failure) {
	ns, _, err := l.Parse(v.Str(), loc)
	switch {
	case err == nil:
		return value.Timestamp(ns), nil
	case errors.Is(err, timefmt.ErrIncomplete):
		return f.Fail("Invalid timestamp %q: input is not enough for unique date and time", v)
	case errors.Is(err, timefmt.ErrRange):
		return f.Fail("Invalid timestamp %q: input is out of range", v)
	}
	return f.Fail("Invalid timestamp %q: input contains invalid characters", v)
}

func compileFormatTimestamp(c *vrl.Call) (vrl.Run, error) {
	constant, bad := constantLayout(c)
	zone := constantZone(c)
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		l, err := constant, bad
		if l == nil && err == nil {
			l, err = layoutOf(args[1].Str())
		}
		if err != nil {
			return f.Fail("invalid format")
		}
		loc, fl := zoneOf(f, zone, args[2], time.UTC)
		if fl != nil {
			return value.Null, fl
		}
		return f.Arena.End(l.Append(f.Arena.Begin(), args[0].Nanos(), loc)), nil
	}, nil
}

// unitOf is the constant unit of a call, in nanoseconds.
func unitOf(c *vrl.Call) int64 {
	unit, _ := c.Const("unit")
	return unixUnits[unit.Str()]
}

func compileToUnix(c *vrl.Call) (vrl.Run, error) {
	unit := unitOf(c)
	return func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		return value.Int(timefmt.FloorDiv(args[0].Nanos(), unit)), nil
	}, nil
}

func compileFromUnix(c *vrl.Call) (vrl.Run, error) {
	unit := unitOf(c)
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		n := args[0].Int()
		if n > math.MaxInt64/unit || n < math.MinInt64/unit {
			return f.Fail("unable to coerce %s into timestamp", args[0])
		}
		return value.Timestamp(n * unit), nil
	}, nil
}
