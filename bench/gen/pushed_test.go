package gen

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// TestPushedShape: each row comes once, with the labels of its stream, its time and a line that its needle finds; half
// of the lines are objects.
func TestPushedShape(t *testing.T) {
	const rows = 2000
	s := set(t, "pushed", rows)
	lines := map[string]map[string]string{} // by labels: by time
	bytes := 0
	for from := int64(0); from < rows; from += 777 {
		var body struct {
			Streams []struct {
				Stream map[string]string
				Values [][2]string
			}
		}
		if err := json.Unmarshal(s.Append(nil, from, min(from+777, rows)), &body); err != nil {
			t.Fatal(err)
		}
		for _, one := range body.Streams {
			labels := one.Stream["format"] + " " + one.Stream["app"] + " " + one.Stream["host"]
			if lines[labels] == nil {
				lines[labels] = map[string]string{}
			}
			last := int64(0)
			for _, v := range one.Values {
				at, err := strconv.ParseInt(v[0], 10, 64)
				if err != nil || at <= last {
					t.Fatalf("time %q after %d: %v", v[0], last, err)
				}
				last, bytes = at, bytes+len(v[1])
				lines[labels][v[0]] = v[1]
			}
		}
	}
	if len(lines) != PushedStreams {
		t.Errorf("%d streams, want %d", len(lines), PushedStreams)
	}
	total := 0
	for labels, list := range lines {
		total += len(list)
		for _, line := range list {
			var object map[string]any
			err := json.Unmarshal([]byte(line), &object)
			if strings.HasPrefix(labels, "json ") != (err == nil) {
				t.Fatalf("line %q of %s", line, labels)
			}
		}
	}
	if total != rows {
		t.Errorf("%d lines, want %d", total, rows)
	}
	within(t, "bytes a line", float64(bytes)/rows, 200, 270)
	for _, i := range []int64{0, 777, 1999} {
		found := 0
		for _, list := range lines {
			for _, line := range list {
				found += strings.Count(line, s.Needle(i))
			}
		}
		if found != 1 {
			t.Errorf("the needle of row %d is in %d lines", i, found)
		}
	}
}
