package vrl

import (
	"strings"
	"time"

	"varve/engine/timefmt"
	"varve/pipeline/value"
)

// klogFunctions read the logs of programs that log with glog or klog.
var klogFunctions = []Function{
	{Name: "parse_glog", Params: stringParam, Fails: Always, Returns: klogType, Run: func(f *Frame, args []value.Value) (value.Value, *Failure) {
		return parseGoogleLog(f, args[0].Str(), true)
	}},
	{Name: "parse_klog", Params: stringParam, Fails: Always, Returns: klogType, Run: func(f *Frame, args []value.Value) (value.Value, *Failure) {
		return parseGoogleLog(f, args[0].Str(), false)
	}},
}

var klogType = ObjectOf(append(fieldsOf(Of(String, Null), "level", "file", "message"), Known{"timestamp", Of(Timestamp, Null)}, Known{"id", Of(Integer, Null)}, Known{"line", Of(Integer, Null)})...)

var klogLevels = map[byte]string{'I': "info", 'W': "warning", 'E': "error", 'F': "fatal"}

// parseGoogleLog reads "Lyyyymmdd hh:mm:ss.uuuuuu id file:line] message"; klog has no year: it is the current one, or the
// last for December when it is January.
func parseGoogleLog(f *Frame, s string, withYear bool) (value.Value, *Failure) {
	name := "klog"
	if withYear {
		name = "glog"
	}
	fail := func() (value.Value, *Failure) {
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
func klogDay(f *Frame, s string, withYear bool) (day time.Time, ok bool) {
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
	return time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, f.Zone()), dayOfMonth <= timefmt.DaysInMonth(year, month)
}
