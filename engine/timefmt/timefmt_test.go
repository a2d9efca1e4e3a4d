package timefmt

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

func TestCivil(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		days := rnd.Int64N(8_000_000) - 4_000_000
		want := time.Unix(days*secondsPerDay, 0).UTC()
		y, m, d := Civil(days)
		if y != want.Year() || m != int(want.Month()) || d != want.Day() {
			t.Fatalf("Civil(%d) = %d-%d-%d, want %s", days, y, m, d, want)
		}
		if got := Days(y, m, d); got != days {
			t.Fatalf("Days(%d, %d, %d) = %d, want %d", y, m, d, got, days)
		}
		iy, iw := want.ISOWeek()
		if gy, gw := ISOWeek(days); gy != iy || gw != iw {
			t.Fatalf("ISOWeek(%d) = %d, %d, want %d, %d", days, gy, gw, iy, iw)
		}
		if Weekday(days) != int(want.Weekday()) || YearDay(y, m, d) != want.YearDay() {
			t.Fatalf("day %d: weekday %d, year day %d", days, Weekday(days), YearDay(y, m, d))
		}
	}
}

func TestParseTimestamp(t *testing.T) {
	shanghai, err := Zone("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	newYork, err := Zone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   string
		loc  *time.Location
		want string // RFC 3339 in UTC, or empty for an error
	}{
		{"2024-01-02 03:04:05", nil, "2024-01-02T03:04:05Z"},
		{"2024-01-02T03:04:05", nil, "2024-01-02T03:04:05Z"},
		{"  2024-01-02T03:04:05.5Z ", shanghai, "2024-01-02T03:04:05.5Z"},
		{"2024-01-02 03:04:05.123456789123", nil, "2024-01-02T03:04:05.123456789Z"},
		{"2024-01-02 03:04:05+08:00", nil, "2024-01-01T19:04:05Z"},
		{"2024-01-02 03:04:05 +0800", nil, "2024-01-01T19:04:05Z"},
		{"2024-01-02 03:04:05-08", nil, "2024-01-02T11:04:05Z"},
		{"2024-01-02 03:04:05", shanghai, "2024-01-01T19:04:05Z"},
		{"2024-01-02", nil, "2024-01-02T00:00:00Z"},
		{"2024-1-2 3:04", nil, "2024-01-02T03:04:00Z"},
		{"+2024-01-02 03:04:05", nil, "2024-01-02T03:04:05Z"},
		{"-0001-01-02 03:04:05", nil, "-0001-01-02T03:04:05Z"},
		{"2016-12-31 23:59:60", nil, "2017-01-01T00:00:00Z"},
		{"2024-11-03 01:30:00", newYork, "2024-11-03T05:30:00Z"}, // twice; the first
		{"2024-03-10 02:30:00", newYork, "2024-03-10T07:30:00Z"}, // never; an hour later
		{"", nil, ""}, {"x", nil, ""}, {"2024", nil, ""}, {"2024-13-01", nil, ""}, {"2024-02-30", nil, ""},
		{"2024-01-02 24:00:00", nil, ""}, {"2024-01-02 03:04:05+8", nil, ""}, {"2024-01-02 03", nil, ""},
		{"2024-01-02 03:04:05.", nil, ""}, {"20240102", nil, ""}, {"2024-01-02 03:04:05 x", nil, ""},
		{"999999-01-01", nil, ""},
	} {
		sec, nanos, err := ParseTimestamp(c.in, c.loc)
		got := ""
		if err == nil {
			got = time.Unix(sec, int64(nanos)).UTC().Format(time.RFC3339Nano)
		}
		if got != c.want {
			t.Errorf("ParseTimestamp(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestAppendTimestamp(t *testing.T) {
	for _, c := range []struct {
		v         int64
		precision uint8
		want      string
	}{
		{0, 0, "1970-01-01T00:00:00"}, {1704164645, 0, "2024-01-02T03:04:05"},
		{1704164645500, 3, "2024-01-02T03:04:05.500"},
		{1704164645500000, 6, "2024-01-02T03:04:05.500"}, {1704164645000001, 6, "2024-01-02T03:04:05.000001"},
		{1704164645000000001, 9, "2024-01-02T03:04:05.000000001"}, {-1, 3, "1969-12-31T23:59:59.999"},
		{7384095849600, 0, "+235962-09-07T08:00:00"}, {-62198755200, 0, "-0001-01-01T00:00:00"},
	} {
		got := string(AppendTimestamp(nil, c.v, c.precision))
		if got != c.want {
			t.Errorf("AppendTimestamp(%d, %d) = %s, want %s", c.v, c.precision, got, c.want)
		}
		sec, nanos, err := ParseTimestamp(got, nil)
		if units := unitsPerSecond(c.precision); err != nil || sec*units+int64(nanos)/(nanosPerSec/units) != c.v {
			t.Errorf("ParseTimestamp(%s) = %d, %d, %v, want %d", got, sec, nanos, err, c.v)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"1d", "1day"}, {"7d", "7days"}, {"90m", "1h 30m"}, {"12h", "12h"}, {"1month 2d", "1month 2days"},
		{"7days", "7days"},
		{"1hour 12min 5s", "1h 12m 5s"}, {"1M", "1month"}, {"2w", "14days"}, {"1y", "1year"}, {"0s", "0s"}, {"0", "0s"},
		{"1m 30s", "1m 30s"}, {"1500ms", "1s 500ms"}, {"1us", "1us"}, {"5ns", "5ns"}, {"60s", "1m"},
		{" 1 day ", "1day"},
		{"365d", "11months 30days 3h 50m 24s"}, {"1y2months3d", "1year 2months 3days"},
		{"", ""}, {"1", ""}, {"d", ""}, {"1 parsec", ""}, {"-1d", ""}, {"1.5d", ""}, {"99999999999999999999s", ""},
		{"300y", ""}, {"1D", ""},
	} {
		ns, err := ParseDuration(c.in)
		got := ""
		if err == nil {
			got = FormatDuration(ns)
		}
		if got != c.want {
			t.Errorf("duration %q = %q, %v, want %q", c.in, got, err, c.want)
		}
		if again, err2 := ParseDuration(got); err == nil && (err2 != nil || again != ns) {
			t.Errorf("duration %q reads back as %d, %v, want %d", got, again, err2, ns)
		}
	}
	if got := FormatDuration(-90 * nsSecond); got != "-1m 30s" {
		t.Errorf("negative duration: %q", got)
	}
}

func TestInterval(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"1 day 2 hours", "1 days 2 hours"}, {"5 minutes", "5 mins"}, {"1.5 year", "18 mons"}, {"-1h5m", "-55 mins"},
		{"1y2mon3w4d5h6m7s8ms9us10ns", "14 mons 25 days 5 hours 6 mins 7.008009010 secs"}, {"1 Month", "1 mons"},
		{"14 mons 3 days 4 hours 5 mins 6.000100000 secs", "14 mons 3 days 4 hours 5 mins 6.000100000 secs"},
		{"1 day 03:04:05.5", "1 days 3 hours 4 mins 5.500000000 secs"}, {"-03:04", "-3 hours -4 mins"},
		{"0 secs", "0 secs"},
		{"1.5 months", "1 mons 15 days"}, {"1.5 days", "1 days 12 hours"}, {"- 2 weeks", "-14 days"},
		{"0.001s", "0.001000000 secs"},
		{"1 year -1 day", "12 mons -1 days"}, {"p1dt1h", "25 hours"}, {"P3Y3M700DT1H", "45241 hours"},
		{"-PT1.5S", "-1.500000000 secs"}, {"1 century", "1200 mons"},
		{"", ""}, {"5", ""}, {"day", ""}, {"1 dog", ""}, {"1 day x", ""}, {"3000000000 days", ""},
		{"9223372036854775807h", ""}, {"p", ""}, {"pt", ""}, {"1:99", ""},
		{"99999999999999999999 days", ""}, {"1..5 d", ""}, {".d", ""},
	} {
		m, d, n, err := ParseInterval(c.in)
		got := ""
		if err == nil {
			got = string(appendInterval(nil, m, d, n))
		}
		if got != c.want {
			t.Errorf("interval %q = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

// appendInterval prints an interval: 14 mons 3 days 4 hours 5 mins 6.000100000 secs. Zero parts are left out, all zero
// is 0 secs.
func appendInterval(dst []byte, months, days int32, ns int64) []byte {
	if months == 0 && days == 0 && ns == 0 {
		return append(dst, "0 secs"...)
	}
	start := len(dst)
	part := func(n int64, name string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendInt(dst, n, 10), name...)
	}
	part(int64(months), " mons")
	part(int64(days), " days")
	part(ns/nsHour, " hours")
	part(ns/nsMinute%60, " mins")
	rest := ns % nsMinute
	if rest == 0 {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	if rest < 0 {
		dst, rest = append(dst, '-'), -rest
	}
	dst = strconv.AppendInt(dst, rest/nsSecond, 10)
	dst = append(dst, '.')
	return append(appendPadded(dst, rest%nsSecond, 9, '0'), " secs"...)
}

func TestZone(t *testing.T) {
	for _, c := range []struct {
		name string
		want int // seconds east on 2024-07-01; -1 for an error
	}{
		{"UTC", 0}, {"Asia/Shanghai", 8 * 3600}, {"+08:00", 8 * 3600}, {"+1:00", 3600}, {"-0930", -34200},
		{"America/New_York", -4 * 3600},
		{"+00:00", 0}, {"+8", 8 * 3600}, {"", -1}, {"Local", -1}, {"Nowhere/City", -1}, {"+15:00", 15 * 3600},
		{"+23:00", 23 * 3600}, {"-23:59", -86340}, {"+24:00", -1}, {"+23:60", -1}, {"+08:60", -1}, {"+x", -1},
		{"../etc/passwd", -1},
	} {
		z, err := Zone(c.name)
		got := -1
		if err == nil {
			got = int(offsetAt(1719800000, z))
		}
		if got != c.want {
			t.Errorf("Zone(%q): offset %d, %v, want %d", c.name, got, err, c.want)
		}
		if again, _ := Zone(c.name); again != z {
			t.Errorf("Zone(%q): not the same pointer twice", c.name)
		}
	}
}
