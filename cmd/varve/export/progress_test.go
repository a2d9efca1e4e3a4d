package export

import (
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/client"
)

// TestProgress: a line each ten seconds where lines are kept, one that is drawn over on a terminal, nothing when it is
// to be quiet.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name            string
		terminal, quiet bool
		want            string
	}{
		{"lines", false, false,
			"varve: 2,500,000 of 10,000,000 rows (25 %), 1.5 GiB, 150,000 rows/s, 50s left\nvarve: note\n"},
		{"terminal", true, false,
			"1,600,000 of 10,000,000 rows (16 %), 1.0 KiB, 150,000 rows/s, 56s left\r\x1b[K2,500,000 of 10,000,000 rows (25 %), 1.5 GiB, 150,000 rows/s, 50s left\r\x1b[Kvarve: note\n"},
		{"quiet", false, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			n := newNotes(&out, c.quiet)
			n.said = n.begun
			n.total, n.had = 10_000_000, 1_000_000
			if c.terminal {
				n.Width = 100
			}
			now := n.begun
			n.now = func() time.Time { return now }
			now = now.Add(4 * time.Second)
			n.progress(1_600_000, 1024)
			n.progress(1_600_001, 1025)
			now = now.Add(6 * time.Second)
			n.progress(2_500_000, 3<<29)
			n.progress(2_500_001, 3<<29)
			n.Say("%s", "note")
			n.Wipe()
			if out.String() != c.want {
				t.Errorf("got %q, want %q", out.String(), c.want)
			}
		})
	}
	for n, want := range map[int64]string{0: "0", -1234: "-1,234", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := client.Number(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
