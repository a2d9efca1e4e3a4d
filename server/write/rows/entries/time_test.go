package entries

import (
	"math"
	"testing"
)

// TestTimesEndWithTheRange: a number past the last nanosecond that fits 64 bits is no time, also if only its fraction
// is past it.
func TestTimesEndWithTheRange(t *testing.T) {
	for _, c := range []struct {
		text string
		ns   int64
		ok   bool
	}{
		{"1.5", 1_500_000_000, true},
		{"-1.5", -1_500_000_000, true},
		{"9223372036.854775807", math.MaxInt64, true},
		{"9223372036.854775808", 0, false},
		{"9223372036.9", 0, false},
		{"-9223372036.854775808", math.MinInt64, true},
		{"-9223372036.9", 0, false},
		{"9223372037", 0, false},
		{"9223372036854775807", math.MaxInt64, true},
	} {
		if ns, ok := Time([]byte(c.text)); ok != c.ok || ok && ns != c.ns {
			t.Errorf("Time(%s) = %d, %v; want %d, %v", c.text, ns, ok, c.ns, c.ok)
		}
	}
}
