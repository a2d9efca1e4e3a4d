package pipeline

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestScriptsLogToTheManager: what scripts log goes to the manager's logger, with the pipeline's name, and has one
// bound whichever worker runs them.
func TestScriptsLogToTheManager(t *testing.T) {
	m := managerWith(t,
		map[string]string{"p": "version: 2\nprocessors:\n  - vrl: {source: \"log(.a, rate_limit_secs: 0)\\n.\"}\n" +
			roomTail})
	var out bytes.Buffer
	m.journals.logger = slog.New(slog.NewTextHandler(&out, nil))
	for range 3 {
		if _, _, err := collect(m, Request{}, strings.Repeat(`{"ts":1,"a":"x"}`+"\n", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Count(out.String(), "msg=x pipeline=p\n")
	if lines < 20 || lines > 100 || lines != strings.Count(out.String(), "\n") {
		t.Errorf("3,000 calls write %d lines:\n%.1000s", lines, out.String())
	}
}
