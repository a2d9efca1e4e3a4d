package stdlib

import (
	"strings"
	"time"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// klogFunctions read the logs of programs that log with glog or klog.
var klogFunctions = []vrl.Function{
	{Name: "parse_glog", Params: stringParam, Fails: vrl.Always, Returns: klogType,
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return parseGoogleLog(f, args[0].Str(), true)
		}},
	{Name: "parse_klog", Params: stringParam, Fails: vrl.Always, Returns: klogType,
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return parseGoogleLog(f, args[0].Str(), false)
		}},
}

var klogType = vrl.ObjectOf(append(fieldsOf(vrl.Of(vrl.String, vrl.Null), "level", "file", "message"),
	knownField("timestamp", vrl.Of(vrl.Timestamp, vrl.Null)), knownField("id", vrl.Of(vrl.Integer, vrl.Null)),
	knownField("line", vrl.Of(vrl.Integer, vrl.Null)))...)

var klogLevels = map[byte]string{'I': "info", 'W': "warning", 'E': "error", 'F': "fatal"}

// parseGoogleLog reads "Lyyyymmdd hh:mm:ss.uuuuuu id file:line] message"; klog has no year: it is the current one, or
// the last for December when it is January.
func parseGoogleLog(f *vrl.Frame, s string, withYear bool) (value.Value, *vrl.Failure) {
	name := "klog"
	if withYear {
		name = "glog"
	}
	fail := func() (value.Value, *vrl.Failure) {
		return f.Fail("failed parsing %s message: the line is not of the format", value.String(name))
	}
	s = strings.TrimSpace(s)
	if s == "" || klogLevels[s[0]] == "" {
		return fail()
	}
	date, rest := token(s[1:])
	clock, rest := token(rest)
	id, rest := token(rest)
	place, message, ok := strings.Cut(rest, "] ")
	if !ok {
		place, ok = strings.CutSuffix(rest, "]")
	}
	colon := strings.LastIndexByte(place, ':')
	day, good := klogDay(f, date, withYear)
	seconds, nanos, clockOK := clockTime(clock)
	thread, whyThread := decimal(id)
	if !ok || colon < 1 || !good || !clockOK || whyThread != "" || strings.ContainsAny(place, " \t") {
		return fail()
	}
	line, why := decimal(place[colon+1:])
	if why != "" {
		return fail()
	}
	at, ok := value.Time(day.Add(time.Duration(seconds)*time.Second + time.Duration(nanos)))
	if !ok {
		return fail()
	}
	a := f.Arena
	o := a.Object(6)
	o.Append(a, "file", value.String(place[:colon]))
	o.Append(a, "id", value.Int(thread))
	o.Append(a, "level", value.String(klogLevels[s[0]]))
	o.Append(a, "line", value.Int(line))
	o.Append(a, "message", value.String(strings.TrimSpace(message)))
	o.Append(a, "timestamp", at)
	return o.Of(), nil
}

// klogDay reads yyyymmdd or mmdd.
func klogDay(f *vrl.Frame, s string, withYear bool) (day time.Time, ok bool) {
	n, why := decimal(s)
	if why != "" || withYear && len(s) != 8 || !withYear && len(s) != 4 {
		return time.Time{}, false
	}
	month, dayOfMonth, year := int(n/100%100), int(n%100), int(n/10000)
	if month < 1 || month > 12 || dayOfMonth < 1 {
		return time.Time{}, false
	}
	if !withYear {
		year = yearNear(f.Now().In(f.Zone()), month)
	}
	return time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, f.Zone()),
		dayOfMonth <= timefmt.DaysInMonth(year, month)
}
