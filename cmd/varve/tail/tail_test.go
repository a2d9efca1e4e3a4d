package tail

import (
	"fmt"
	"slices"
	"testing"
)

// TestSeen: of equal rows as many are new as there are more than before, and what is long past is forgotten.
func TestSeen(t *testing.T) {
	var s seen
	for _, c := range []struct {
		rows []string
		want []int
	}{
		{[]string{"a", "b", "a"}, []int{0, 1, 2}},
		{[]string{"a", "b", "a"}, nil},
		{[]string{"a", "a", "a", "b"}, []int{2}},
		{[]string{"b", "c", "b"}, []int{1, 2}},
		{nil, nil},
	} {
		if got := s.fresh(c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.rows, got, c.want)
		}
	}
	for i := range 5 * window {
		s.fresh([]string{fmt.Sprint(i)})
	}
	if len(s.order) > 2*window || len(s.counts) > 2*window {
		t.Errorf("%d rows are remembered", len(s.order))
	}
	if got := s.fresh([]string{fmt.Sprint(5*window - 1), fmt.Sprint(4*window + 1), "a"}); !slices.Equal(got, []int{2}) {
		t.Errorf("got %v", got)
	}
}

func TestLevelColor(t *testing.T) {
	for level, want := range map[string]string{
		"": plain, "x": plain, "25": plain, "-1": plain, "ERROR": red, "Warning": yellow, "info": green, "ERROR2": red, "fatal": alarm, "T": gray,
		"0": alarm, "3": red, "6": green, "7": gray, "9": green, "17": red, "24": alarm,
	} {
		if got := levelColor(level); got != want {
			t.Errorf("%q: got %q, want %q", level, got, want)
		}
	}
}
