package promql

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"varve/engine/status"
)

// units are the units of durations, the largest first, as they must come.
var units = [...]struct {
	name string
	size time.Duration
}{
	{"y", 365 * 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour},
	{"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

// ParseDuration reads a number of seconds with a fraction, or 1h30m.
func ParseDuration(text string) (sum time.Duration, ok bool) {
	if sec, err := strconv.ParseFloat(text, 64); err == nil {
		ns := sec * float64(time.Second)
		return time.Duration(ns), math.Abs(ns) < math.MaxInt64
	}
	rest := text
	for _, u := range units {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		after, has := strings.CutPrefix(rest[n:], u.name)
		if n == 0 || !has || u.name == "m" && strings.HasPrefix(after, "s") {
			continue
		}
		count, err := strconv.ParseInt(rest[:n], 10, 64)
		if err != nil || count > (math.MaxInt64-int64(sum))/int64(u.size) {
			return 0, false
		}
		sum += time.Duration(count) * u.size
		rest = after
	}
	return sum, text != "" && rest == ""
}

// The first and last time that can be named, ms, and how clients write them that mean all there is.
const (
	FirstTime = math.MinInt64/1_000_000 + 1
	LastTime  = math.MaxInt64/1_000_000 - 1

	firstText = "-292273086-05-16T16:47:06Z"
	lastText  = "292277025-08-18T07:12:54.999999999Z"
)

// ParseTime reads a time, ms: seconds since the epoch with a fraction, or RFC 3339. One that cannot be named is the
// nearest that can, and an error of code InvalidArguments.
func ParseTime(text string) (ms int64, err error) {
	switch text {
	case firstText:
		return FirstTime, nil
	case lastText:
		return LastTime, nil
	}
	sec, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax) || math.IsNaN(sec):
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return 0, status.New(status.InvalidArguments, "cannot parse %.100q to a valid timestamp", text)
		}
		ms = t.UnixMilli()
	case sec >= LastTime/1000 || err != nil && sec > 0:
		ms = LastTime + 1
	case sec <= FirstTime/1000:
		ms = FirstTime - 1
	default:
		whole, fraction := math.Modf(sec) // sec*1000 would round up just below half a millisecond
		ms = int64(whole)*1000 + int64(math.Round(fraction*1000))
	}
	if ms < FirstTime || ms > LastTime {
		return min(max(ms, FirstTime), LastTime),
			status.New(status.InvalidArguments, "the time %.100q is not between the years 1677 and 2262", text)
	}
	return ms, nil
}
