package listen

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLines: of each kind ten lines come in ten seconds, then one that says how many were left out; the next ten
// seconds begin anew, and what is left to say is said at the end.
func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &lines{log: slog.New(slog.NewTextHandler(&out, nil)), kinds: map[string]*window{}}
		written := func(want ...string) {
			t.Helper()
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			got := strings.Split(strings.TrimSpace(out.String()), "\n")
			out.Reset()
			if len(got) != len(want) {
				t.Fatalf("%d lines, want %d: %q", len(got), len(want), got)
			}
			for i := range got {
				if !strings.HasSuffix(got[i], want[i]) {
					t.Errorf("line %q, want %q", got[i], want[i])
				}
			}
		}
		var ten []string
		for i := range 10 {
			ten = append(ten, fmt.Sprintf("msg=closed n=%d", i))
		}
		for round := range 2 {
			for i := range 1000 {
				l.warn("closed", "n", i)
			}
			l.warn("cut", "n", round)
			written(append(ten, fmt.Sprintf("msg=cut n=%d", round))...)
			<-time.After(linesWindow)
			written("msg=closed left_out=990 within=10s")
		}
		for i := range 12 {
			l.warn("closed", "n", i)
		}
		written(ten...)
		l.close()
		written("msg=closed left_out=2 within=10s")
		<-time.After(2 * linesWindow)
		l.warn("closed", "n", 7)
		written("msg=closed n=7")
	})
}
