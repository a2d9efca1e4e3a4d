package expr

import (
	"math"
	"strings"
	"testing"
)

// TestPartOf: the parts of a text are those that strings.Split gives, from both ends.
func TestPartOf(t *testing.T) {
	for _, s := range []string{"", "a", ",", "a,b", ",a,,b,", "aaaa", "aaa", "é,ü", "a, b, c"} {
		for _, sep := range []string{"", ",", "aa", ", ", "é"} {
			parts := []string{s}
			if sep != "" {
				parts = strings.Split(s, sep)
			}
			for _, k := range []int64{math.MinInt64, -7, -3, -2, -1, 0, 1, 2, 3, 7, math.MaxInt64} {
				at, want := k, ""
				if k < 0 {
					at = k + int64(len(parts)) + 1
				}
				if at >= 1 && at <= int64(len(parts)) {
					want = parts[at-1]
				}
				if got := partOf([]byte(s), []byte(sep), k); string(got) != want {
					t.Errorf("part %d of %q cut at %q is %q, want %q", k, s, sep, got, want)
				}
			}
		}
	}
}
