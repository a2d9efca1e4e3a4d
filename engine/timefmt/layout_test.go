package timefmt

import (
	"testing"
	"time"
)

func TestLayoutParse(t *testing.T) {
	for _, c := range []struct{ layout, zone, in, want string }{
		{"%Y-%m-%dT%H:%M:%S%:z", "", "2014-5-17T04:34:56+00:00", "2014-05-17T04:34:56Z"},
		{"%Y-%m-%dT%H:%M:%SZ", "", "2014-5-17T12:34:56Z", "2014-05-17T12:34:56Z local"},
		{"%Y-%m-%dT%H:%M:%S%z", "", "2014-5-17T12:34:56-0930", "2014-05-17T22:04:56Z"},
		{"%Y-%m-%dT%H:%M:%S", "Asia/Tokyo", "2014-5-17T13:34:56", "2014-05-17T04:34:56Z local"},
		{"%Y-%m-%dT%H:%M:%S%.3fZ", "Asia/Shanghai", "2024-06-27T06:13:36.991Z", "2024-06-26T22:13:36.991Z local"},
		{"%d/%b/%Y:%H:%M:%S %z", "", "01/Aug/2024:14:22:47 +0800", "2024-08-01T06:22:47Z"},
		{"%Y-%m-%d %H:%M:%S%.3f", "", "2024-05-25", ""},
		{"%Y-%m-%d %H:%M:%S%.3f", "", "2024-05-25 20:16:37.217", "2024-05-25T20:16:37.217Z local"},
		{"%Y-%m-%d %H:%M:%S%.3f", "", "2024-05-25 20:16:37", "2024-05-25T20:16:37Z local"},
		{"%Y-%m-%d %H:%M:%S%.3f", "", "2024-05-25 20:16:37.1234567891", "2024-05-25T20:16:37.123456789Z local"},
		{"%Y-%m-%d %H:%M:%S%z", "", "2019-01-16 02:42:01+08:00", "2019-01-15T18:42:01Z"},
		{"%Y-%m-%dT%H:%M:%S%.9f%#z", "", "2025-06-27T15:02:23.082253908Z", "2025-06-27T15:02:23.082253908Z"},
		{"%Y-%m-%dT%H:%M:%S%#z", "", "2025-06-27T15:02:23+08", "2025-06-27T07:02:23Z"},
		{"%Y-%m-%dT%H:%M:%S%z", "", "2025-06-27T15:02:23Z", ""},
		{"%Y-%m-%dT%H:%M:%S%z", "", "2025-06-27T15:02:23+08", ""},
		{"%+", "", "2025-06-27T15:02:23.5+02:00", "2025-06-27T13:02:23.5Z"},
		{"%s", "", "1722580862", "2024-08-02T06:41:02Z"},
		{"%s%.f", "", "-1.5", "1969-12-31T23:59:59.5Z"},
		{"%c", "", "Thu Aug  1 14:22:47 2024", "2024-08-01T14:22:47Z local"},
		{"%c", "", "Fri Aug  1 14:22:47 2024", ""}, // it was a Thursday
		{"%A, %d %B %Y %I:%M %p", "", "thursday, 1 AUGUST 2024 12:05 am", "2024-08-01T00:05:00Z local"},
		{"%D %r", "", "08/01/24 02:22:47 PM", "2024-08-01T14:22:47Z local"},
		{"%D %I:%M", "", "08/01/24 02:22", ""}, // no half
		{"%y%j", "", "24214", "2024-08-01T00:00:00Z local"},
		{"%Y-%U-%w", "", "2024-30-4", "2024-08-01T00:00:00Z local"},
		{"%Y-%W-%u", "", "2024-31-4", "2024-08-01T00:00:00Z local"},
		{"%G-W%V-%u", "", "2024-W31-4", "2024-08-01T00:00:00Z local"},
		{"%F %T %Z", "", "2024-08-01 14:22:47 CEST", "2024-08-01T14:22:47Z local"},
		{"%Y%m%d%H%M%S%3f", "", "20240801142247123", "2024-08-01T14:22:47.123Z local"},
		{"%Y%m%d%H%M%S%3f", "", "2024080114224712", ""},
		{"%H:%M:%S%f %F", "", "14:22:47 123 2024-08-01", "2024-08-01T14:22:47.000000123Z local"},
		{"%Y  %m", "", "2024 08", ""}, // no day
		{"%F\t%R", "", "2024-08-01 \n 14:22", "2024-08-01T14:22:00Z local"},
		{"%F", "", "2024-02-30", ""}, {"%F", "", "2024-08-01x", ""}, {"%F %T", "", "2024-08-01 24:00:00", ""},
		{"%F", "", "", ""},
		{"%F %T", "America/New_York", "2024-11-03 01:30:00", ""},
		{"%F %T", "America/New_York", "2024-03-10 02:30:00", ""},
		{"%Y-%m-%d", "", "9999-01-01", ""}, // beyond nanoseconds
		{"%F %T%z", "", "2024-08-01 14:22:47+2400", ""}, {"%F %T%z", "", "2024-08-01 14:22:47+0860", ""},
		{"100%% %F", "", "100% 2024-08-01", "2024-08-01T00:00:00Z local"},
		{"%C%y-%m-%d", "", "1924-08-01", "1924-08-01T00:00:00Z local"},
	} {
		l, err := Compile(c.layout)
		if err != nil {
			t.Fatalf("Compile(%q): %v", c.layout, err)
		}
		loc := time.UTC
		if c.zone != "" {
			if loc, err = Zone(c.zone); err != nil {
				t.Fatal(err)
			}
		}
		ns, hasOffset, err := l.Parse(c.in, loc)
		got := ""
		if err == nil {
			got = time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
			if !hasOffset {
				got += " local"
			}
		}
		if got != c.want {
			t.Errorf("%q.Parse(%q) = %q, %v, want %q", c.layout, c.in, got, err, c.want)
		}
	}
}

func TestLayoutErrors(t *testing.T) {
	for _, s := range []string{"%", "%Q", "%-", "%.4f", "%4f", "%é", "%-b", "%:"} {
		if l, err := Compile(s); err == nil {
			t.Errorf("Compile(%q) = %v, want an error", s, l.items)
		}
	}
}

func TestLayoutAppend(t *testing.T) {
	at := time.Date(2024, 8, 1, 4, 5, 6, 78900000, time.UTC).UnixNano()
	tokyo, err := Zone("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		layout string
		loc    *time.Location
		want   string
	}{
		{"%Y-%m-%d %H:%M:%S.%3f", nil, "2024-08-01 04:05:06.078"},
		{"%Y-%m-%d %H:%M:%S.%3f", tokyo, "2024-08-01 13:05:06.078"},
		{"%C %y %G %g %q", nil, "20 24 2024 24 3"},
		{"%b %B %h %a %A", nil, "Aug August Aug Thu Thursday"},
		{"%d|%e|%-d|%_d|%_m|%0e", nil, "01| 1|1| 1| 8|01"},
		{"%w %u %U %W %V %j", nil, "4 4 30 31 31 214"},
		{"%D %x %F %v", nil, "08/01/24 08/01/24 2024-08-01  1-Aug-2024"},
		{"%H %k %I %l %p %P", nil, "04  4 04  4 AM am"},
		{"%H %k %I %l %p %P", tokyo, "13 13 01  1 PM pm"},
		{"%f %.f %.3f %.6f %.9f %3f %6f %9f", nil, "078900000 .078900 .078 .078900 .078900000 078 078900 078900000"},
		{"%R %T %X %r", nil, "04:05 04:05:06 04:05:06 04:05:06 AM"},
		{"%Z %z %:z %::z %:::z %#z", nil, "UTC +0000 +00:00 +00:00:00 +00 +0000"},
		{"%Z %z %:z %::z %:::z %#z", tokyo, "JST +0900 +09:00 +09:00:00 +09 +0900"},
		{"%c|%+|%s|%%|%t|%n|", nil, "Thu Aug  1 04:05:06 2024|2024-08-01T04:05:06.078900+00:00|1722485106|%|\t|\n|"},
	} {
		l, err := Compile(c.layout)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(l.Append(nil, at, c.loc)); got != c.want {
			t.Errorf("%q prints %q, want %q", c.layout, got, c.want)
		}
	}
}

func TestLayoutParseAllocates(t *testing.T) {
	shanghai, err := Zone("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ layout, in string }{
		{"%Y-%m-%dT%H:%M:%S%.3f%z", "2024-06-27T06:13:36.991+0800"}, {"%a %b %e %T %Y", "Thu Aug  1 14:22:47 2024"},
		{"%F", "bad"},
	} {
		l, err := Compile(c.layout)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { l.Parse(c.in, shanghai) }); n != 0 {
			t.Errorf("%q allocates %v times", c.layout, n)
		}
	}
}

func FuzzLayout(f *testing.F) {
	f.Add("%Y-%m-%dT%H:%M:%S%.3f%z", "2024-06-27T06:13:36.991+0800")
	f.Add("%c %j %U %G %V %p %s %Z", "Thu Aug  1 14:22:47 2024 214 30 2024 31 PM 1 X")
	f.Fuzz(func(t *testing.T, layout, text string) {
		l, err := Compile(layout)
		if err != nil {
			return
		}
		sec, nanos, _, err := l.ParseSeconds(text, nil)
		if err != nil {
			return
		}
		l.AppendSeconds(nil, sec, nanos, nil)
		ParseTimestamp(text, nil)
		ParseInterval(text)
		ParseDuration(text)
	})
}

func BenchmarkLayoutParse(b *testing.B) {
	l, err := Compile("%Y-%m-%dT%H:%M:%S%.3f%z")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := l.Parse("2024-06-27T06:13:36.991+0800", time.UTC); err != nil {
			b.Fatal(err)
		}
	}
}
