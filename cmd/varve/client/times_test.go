package client

import (
	"errors"
	"testing"
	"time"
)

// TestParseTime: what the dashboard's picker takes, at 07:15:30.25 UTC on the 23rd of November 2026.
func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 23, 7, 15, 30, 25e7, time.UTC)
	for _, c := range []struct{ name, zone, text, want string }{
		{"now", "UTC", "now", "2026-11-23T07:15:30.25Z"},
		{"before now", "UTC", "now-15m", "2026-11-23T07:00:30.25Z"},
		{"blanks", "UTC", " now - 1h ", "2026-11-23T06:15:30.25Z"},
		{"without now", "UTC", "-2h", "2026-11-23T05:15:30.25Z"},
		{"fraction", "UTC", "-1.5h", "2026-11-23T05:45:30.25Z"},
		{"ahead", "UTC", "+10m", "2026-11-23T07:25:30.25Z"},
		{"several", "UTC", "now-1d-2h", "2026-11-22T05:15:30.25Z"},
		{"a length is so long ago", "UTC", "10m", "2026-11-23T07:05:30.25Z"},
		{"lengths are", "UTC", "1h30m", "2026-11-23T05:45:30.25Z"},
		{"microseconds", "UTC", "-500us", "2026-11-23T07:15:30.2495Z"},
		{"today", "Europe/Berlin", "today", "2026-11-22T23:00:00Z"},
		{"yesterday", "Asia/Kathmandu", "yesterday", "2026-11-21T18:15:00Z"},
		{"yesterday and more", "UTC", "yesterday+6h", "2026-11-22T06:00:00Z"},
		{"time of yesterday", "America/New_York", "yesterday 14:00", "2026-11-22T19:00:00Z"},
		{"time of today", "Europe/Berlin", "03:46", "2026-11-23T02:46:00Z"},
		{"time with an offset", "Europe/Berlin", "03:46 +05:30", "2026-11-22T22:16:00Z"},
		{"no such time", "UTC", "25:00", ""},
		{"date and time", "+02:00", "2026-11-21 03:46", "2026-11-21T01:46:00Z"},
		{"date", "UTC", "2026-11-21", "2026-11-21T00:00:00Z"},
		{"nanoseconds", "Europe/Berlin", "2026-11-21T03:46:26.123456789Z", "2026-11-21T03:46:26.123456789Z"},
		{"offset", "UTC", "2026-11-21T03:46:26,5+01:00", "2026-11-21T02:46:26.5Z"},
		{"no such day", "UTC", "2026-02-30", ""},
		{"no such month", "UTC", "2026-13-01", ""},
		{"clocks that go forward leave out an hour", "Europe/Berlin", "2026-03-29 02:30", "2026-03-29T01:30:00Z"},
		{"clocks that go back have one twice, the first counts", "Europe/Berlin", "2026-10-25 02:30",
			"2026-10-25T00:30:00Z"},
		{"seconds", "UTC", "1763700000", "2025-11-21T04:40:00Z"},
		{"seconds and a fraction", "UTC", "1763700000.5", "2025-11-21T04:40:00.5Z"},
		{"milliseconds", "UTC", "1763700000123", "2025-11-21T04:40:00.123Z"},
		{"microseconds since", "UTC", "1763700000123456", "2025-11-21T04:40:00.123456Z"},
		{"nanoseconds since", "UTC", "1763700000123456789", "2025-11-21T04:40:00.123456789Z"},
		{"too few digits", "UTC", "12345678", ""},
		{"past 64 bits", "UTC", "9999999999999999999", ""},
		{"access log", "UTC", `127.0.0.1 - - [21/Nov/2026:03:46:26 +0100] "GET / HTTP/1.1" 200`,
			"2026-11-21T02:46:26Z"},
		{"syslog", "UTC", "Nov 21 03:46:26 web-1 sshd[1]: x", "2026-11-21T03:46:26Z"},
		{"syslog of the year before", "UTC", "Dec 31 23:59:59 web-1", "2025-12-31T23:59:59Z"},
		{"log line", "UTC", "level=info ts=2026-11-21T03:46:26.000Z caller=x", "2026-11-21T03:46:26Z"},
		{"word", "UTC", "hello", ""},
		{"unknown unit", "UTC", "now-5 parsecs", ""},
		{"too long a time", "UTC", "-99999999999w", ""},
		{"hundreds of days", "UTC", "now-1000d", "2024-02-27T07:15:30.25Z"},
		{"hundreds of days ago", "UTC", "107d", "2026-08-08T07:15:30.25Z"},
		{"decades", "UTC", "now-2000w-12.5h", "1988-07-24T18:45:30.25Z"},
		{"longer than a length of 64 bits", "UTC", "-150000d", "1616-03-17T07:15:30.25Z"},
		{"there and back", "UTC", "now-150000d+150000d", "2026-11-23T07:15:30.25Z"},
		{"far ahead", "UTC", "now+110000d", "2328-01-25T07:15:30.25Z"},
		{"parts of a second", "UTC", "now-1000.000001s", "2026-11-23T06:58:50.249999Z"},
		{"before the years with four digits", "UTC", "now-800000d", ""},
		{"behind them", "UTC", "now+3000000d", ""},
		{"nothing", "UTC", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone, err := Zone(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if at, ok := ParseTime(c.text, zone, now); ok {
				got = at.UTC().Format(time.RFC3339Nano)
			}
			if got != c.want {
				t.Errorf("%q in %s: got %s, want %s", c.text, c.zone, got, c.want)
			}
		})
	}
}

func TestTimesOfFlags(t *testing.T) {
	for _, text := range []string{"", "all"} {
		if at, err := Instant("--since", text, time.UTC, time.Now()); at != nil || err != nil {
			t.Errorf("%q: got %v %v", text, at, err)
		}
	}
	var usage *UsageError
	if _, err := Instant("--since", "x", time.UTC, time.Now()); !errors.As(err, &usage) {
		t.Errorf("got %v", err)
	}
	if _, err := Zone("Mars/Olympus"); !errors.As(err, &usage) {
		t.Errorf("got %v", err)
	}
	if zone, err := Zone(""); err != nil || zone != time.Local {
		t.Errorf("got %v %v", zone, err)
	}
}
