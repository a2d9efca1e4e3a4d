package promql

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"15": 15 * time.Second, "0.5": 500 * time.Millisecond, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute,
		"100ms": 100 * time.Millisecond,
		"1m5ms": time.Minute + 5*time.Millisecond, "1y2w3d4h5m6s7ms": 365*24*time.Hour + 17*24*time.Hour + 4*time.Hour +
			5*time.Minute + 6*time.Second + 7*time.Millisecond, "-5": -5 * time.Second,
	} {
		if got, ok := ParseDuration(text); !ok || got != want {
			t.Errorf("%s: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "m", "5x", "30m1h", "1h1h", "NaN", "1e300", "999999999y", "1 h"} {
		if got, ok := ParseDuration(text); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"1.5": 1500, "1435781451.781": 1435781451781, "2015-07-01T20:10:51.781Z": 1435781451781,
		"2015-07-01T22:10:51.781+02:00": 1435781451781,
		firstText:                       FirstTime, lastText: LastTime, "0.0005": 1, "1.0005": 1000, "-1.0005": -1000,
		"1.0006": 1001,
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("%s: %d %v, want %d", text, got, err, want)
		}
	}
	for text, part := range map[string]string{
		"": "cannot parse", "NaN": "cannot parse", "yesterday": "cannot parse", "2015-07-01": "cannot parse",
		"1e300": "2262", "1e999": "2262", "-Inf": "1677",
		"9223372036.855": "2262", "2262-04-12T00:00:00Z": "2262", "9999-12-31T23:59:59Z": "2262",
		"0001-01-01T00:00:00Z": "1677", "-62135596800": "1677",
	} {
		if got, err := ParseTime(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is taken for %d: %v", text, got, err)
		}
	}
}
