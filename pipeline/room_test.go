package pipeline

import (
	"runtime"
	"strings"
	"testing"

	"varve/engine/status"
)

const roomTail = "transform: [{field: ts, type: 'epoch, ms', index: time}]\n"

// TestLargeEntriesAreCounted: what large entries take is counted before it is made; who finds no room may come again,
// and is not skipped.
func TestLargeEntriesAreCounted(t *testing.T) {
	long := strings.Repeat("a", 1000)
	for name, c := range map[string]struct{ processor, entry string }{
		"gsub": {"gsub: {field: a, pattern: a, replacement: '" + strings.Repeat("b", 10_000) + "'}",
			`{"ts":1,"a":"` + long + `"}`},
		"regex": {"gsub: {field: a, pattern: '[a]', replacement: '" + strings.Repeat("b", 10_000) + "'}",
			`{"ts":1,"a":"` + long + `"}`},
		"join": {"join: {field: a, separator: '" + strings.Repeat("b", 10_000) + "'}",
			`{"ts":1,"a":[1` + strings.Repeat(",1", 1000) + `]}`},
		"script": {`vrl: {source: ".a = string!(.a) * 10000\n."}`, `{"ts":1,"a":"` + long + `"}`},
		"caught": {`vrl: {source: "x, err = string(.a) * 10000\n.a = 1\n."}`, `{"ts":1,"a":"` + long + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			m := managerWith(t, map[string]string{"p": "processors:\n  - " + c.processor + "\n" + roomTail})
			full := status.New(status.RegionBusy, "no room")
			hold := func(bytes int64) error {
				if bytes > 4<<20 {
					return full
				}
				return nil
			}
			for _, skip := range []bool{false, true} {
				if _, out, err := collect(m, Request{SkipError: skip, Hold: hold}, c.entry); status.Of(err) !=
					status.RegionBusy {
					t.Errorf("skip_error %v: %+v %v", skip, out, err)
				}
			}
			held := int64(0)
			hold = func(bytes int64) error { held = bytes; return nil }
			if _, out, err := collect(m, Request{Hold: hold}, c.entry); err != nil || out.Rows != 1 {
				t.Errorf("with room: %+v %v", out, err)
			}
			if held < 8<<20 {
				t.Errorf("%d bytes were counted", held)
			}
		})
	}
}

// TestJoinMeasuresBefore: a long separator between many numbers is refused before the text is made.
func TestJoinMeasuresBefore(t *testing.T) {
	m := managerWith(t, map[string]string{"p": "processors:\n  - join: {field: a, separator: '" +
		strings.Repeat("b", 10_000) + "'}\n" + roomTail})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := collect(m, Request{}, `{"ts":1,"a":[1`+strings.Repeat(",1", 100_000)+`]}`)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "the values of an entry take more than 64 MiB") {
		t.Errorf("error %v", err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 512 {
		t.Errorf("a text of 1,000 MB took %d MiB before it was refused", took)
	}
}
