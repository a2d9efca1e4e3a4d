package vrl_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// logged runs a script over events, one after the other each some time later, and gives the lines it logs.
func logged(t *testing.T, source string, level slog.Level, events int, step time.Duration) []string {
	t.Helper()
	p, err := vrl.Compile(source, stdlib.Library, vrl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	f := vrl.NewFrame(new(value.Arena))
	f.Journal = vrl.NewJournal(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})), "p")
	now := time.Unix(1000, 0)
	f.Clock = func() time.Time { return now }
	for range events {
		f.Arena.Reset()
		v := f.Arena.Object(1).Of()
		if _, err := p.Run(f, &v); err != nil {
			t.Fatal(err)
		}
		now = now.Add(step)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// TestLogIsBounded: texts are cut, and many calls write no more lines than a pipeline may, whatever rate they ask for.
func TestLogIsBounded(t *testing.T) {
	long := logged(t, `log("ab" * 8000000)`, slog.LevelInfo, 1, 0)
	if len(long) != 1 || len(long[0]) > 2*vrl.MaxLogText || !strings.Contains(long[0], "ab... (16000000 bytes)") ||
		!strings.Contains(long[0], "pipeline=p") {
		t.Errorf("a long text: %d lines, %.300s", len(long), long[0])
	}
	if text := vrl.CutLog(strings.Repeat("ä", vrl.MaxLogText)); !strings.HasPrefix(text,
		strings.Repeat("ä", vrl.MaxLogText/2)+"... (2048 bytes)") {
		t.Errorf("letters of two bytes: %.20s", text[vrl.MaxLogText-10:])
	}
	calls := strings.Repeat("log(\"x\", rate_limit_secs: 0)\n", 100)
	if lines := logged(t, calls, slog.LevelInfo, 10, time.Millisecond); len(lines) != vrl.LogLines {
		t.Errorf("1,000 calls in 10 ms write %d lines, want %d", len(lines), vrl.LogLines)
	}
	lines := logged(t, calls, slog.LevelInfo, 2, vrl.LogSpan)
	if len(lines) != 2*vrl.LogLines || !strings.Contains(lines[vrl.LogLines], "left_out=80") {
		t.Errorf("two spans: %d lines, the first of the second %s", len(lines), lines[min(vrl.LogLines, len(lines)-1)])
	}
}

// TestLogHasLevels: the logger decides what is written.
func TestLogHasLevels(t *testing.T) {
	const source = "log(1, level: \"trace\")\nlog(2, level: \"debug\")\nlog(3, level: \"warn\")\nlog({\"a\":4}, level: \"error\")"
	for level, want := range map[slog.Level]int{slog.LevelDebug - 4: 4, slog.LevelDebug: 3, slog.LevelInfo: 2,
		slog.LevelError: 1} {
		if got := logged(t, source, level, 1, 0); len(got) != want {
			t.Errorf("level %v: %q", level, got)
		}
	}
	if got := logged(t, source, slog.LevelError, 1, 0); !strings.Contains(got[0], `msg="{\"a\":4}"`) {
		t.Errorf("an object: %q", got)
	}
	p, err := vrl.Compile("log(1)", stdlib.Library, vrl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := value.Null
	if _, err := p.Run(vrl.NewFrame(new(value.Arena)), &v); err != nil {
		t.Errorf("without a journal: %v", err)
	}
}
